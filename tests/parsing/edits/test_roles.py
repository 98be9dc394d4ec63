"""A semantic role labeler changes senses, roles and arguments where it is sure, and nothing else."""

import math
from collections.abc import Sequence

import pytest
import torch

from tests.parsing.edits.helpers import draft_of, on_one_line
from transition_parser.modules.semantic_roles import ROLES, Readings, RoleLabeler
from transition_parser.parsing.edits.draft import Draft
from transition_parser.parsing.edits.roles import label_roles

FRAMES = ("ask-01", "ask-02", "go-02", "go-on-15", "leave-11", "leave-15", "run-01", "run-02")
NO_ARGUMENT = ROLES


class Certain(RoleLabeler):
    """A labeler that knows the sense of each word, and the roles of pairs of words with their probabilities."""

    def __init__(self, senses: dict[int, str], roles: dict[tuple[int, int], tuple[int, float]]) -> None:
        shapes = self.shapes(len(FRAMES), inputs=4, width=1)
        super().__init__(FRAMES, {name: torch.zeros(shape) for name, shape in shapes.items()})
        self.of_words, self.of_pairs = senses, roles

    def linear(self, vectors, name):
        return vectors  # the places of the words

    def senses(self, heads, frames):
        known = [self.of_words.get(int(place)) for place in heads[:, 0]]
        return torch.tensor([3.0 * (self.frames[i] == sense) for i, sense in zip(frames, known, strict=True)])

    def roles(self, heads, others, pairs, dropout=None):
        found = torch.full((pairs.size(1), ROLES + 2), -20.0)
        for row, (head, other, *_) in enumerate(pairs.t().tolist()):
            places = int(heads[head, 0]), int(others[other, 0])
            role, probability = self.of_pairs.get(places, (NO_ARGUMENT, 0.99))
            found[row, ROLES + 1] = math.log(1 - probability)
            found[row, role] = math.log(probability)
        return found


def draft(text: str, graph: str, readings: Readings, tree: str = "") -> Draft:
    one = draft_of(text, graph, tree=tree)
    one.readings = readings
    return one


def label(text: str, graph: str, senses=None, roles=None, tree: str = "") -> str:
    readings = Readings(Certain(senses or {}, roles or {}), torch.arange(300.0)[:, None], 0, [])
    return labeled([draft(text, graph, readings, tree)])[0]


def labeled(drafts: Sequence[Draft]) -> list[str]:
    label_roles(drafts)
    return [on_one_line(one.result()) for one in drafts]


LEFT = "(l / leave-11~1 :ARG0 (h / he~0) :ARG1 (t / town~2))"


@pytest.mark.parametrize(
    ("senses", "expected"),
    [
        ({1: "leave-15"}, "(l / leave-15 :ARG0 (h / he) :ARG1 (t / town))"),
        ({1: "leave-11"}, "the same"),
        ({1: "run-01"}, "the same"),  # no sense of this lemma
        ({}, "the same"),
    ],
)
def test_senses(senses, expected):
    roles = {(1, 0): (0, 0.9), (1, 2): (1, 0.9)}
    assert label("he left town", LEFT, senses, roles) == expected


def test_a_frame_beside_another_node_of_its_word_keeps_its_sense():
    graph = "(p / person~0 :ARG0-of (l / leave-11~0) :ARG0-of (r / run-01~1))"
    assert "leave-11" in label("leavers run", graph, {0: "leave-15", 1: "run-02"})


@pytest.mark.parametrize(
    ("graph", "sense", "expected"),
    [
        ("(g / go-02~1 :ARG0 (h / he~0))", "go-on-15", "(g / go-on-15 :ARG0 (h / he))"),
        ("(g / go-on-15~1 :ARG0 (h / he~0))", "go-02", "(g / go-02 :ARG0 (h / he))"),
        ("(g / go-02~1 :ARG0 (h / he~0) :direction (o / on~2))", "go-on-15", "(g / go-on-15 :ARG0 (h / he))"),
        ("(g / go-02~1 :ARG0 (h / he~0 :location (o / on~2)))", "go-on-15", "the same"),  # the particle is of *he*
        ("(g / go-on-15~1 :ARG0 (h / he~0) :direction (o / on~2))", "go-on-15", "(g / go-on-15 :ARG0 (h / he))"),
    ],
)
def test_particles_belong_to_senses(graph, sense, expected):
    assert label("he goes on", graph, {1: sense}, {(1, 0): (0, 0.9)}) == expected


@pytest.mark.parametrize(
    ("graph", "roles", "expected"),
    [
        (LEFT, {(1, 0): (1, 0.9), (1, 2): (0, 0.9)}, "(l / leave-11 :ARG1 (h / he) :ARG0 (t / town))"),
        (LEFT, {(1, 0): (0, 0.9), (1, 2): (2, 0.9)}, "(l / leave-11 :ARG0 (h / he) :ARG2 (t / town))"),
        (LEFT, {(1, 0): (0, 0.9), (1, 2): (0, 0.99)}, "the same"),  # a role has one argument
        (LEFT, {(1, 0): (0, 0.9), (1, 2): (NO_ARGUMENT, 0.99)}, "the same"),  # edges stay
        ("(w / wibble-01~1 :ARG0 (h / he~0))", {(1, 0): (1, 0.99)}, "the same"),  # an unknown frame
    ],
)
def test_roles(graph, roles, expected):
    assert label("he left town", graph, roles=roles) == expected


@pytest.mark.parametrize(
    ("text", "graph", "roles", "expected"),
    [
        ("we asked Ann to go", "(a / ask-02~1 :ARG0 (w / we~0) :ARG1 (g / go-02~4) :ARG2 (p / person~2))",
         {(1, 0): (0, 0.9), (1, 4): (1, 0.9), (1, 2): (2, 0.9), (4, 2): (0, 0.9)},
         "(a / ask-02 :ARG0 (w / we) :ARG1 (g / go-02 :ARG0 p) :ARG2 (p / person))"),
        ("we asked Ann to go", "(a / ask-02~1 :ARG1 (g / go-02~4))", {(1, 4): (1, 0.9), (1, 0): (0, 0.9)},
         "(a / ask-02 :ARG1 (g / go-02) :ARG0 (w / we))"),  # a pronoun without a node
        ("we asked Ann to go", "(a / ask-02~1 :ARG1 (g / go-02~4))", {(1, 4): (1, 0.9), (1, 0): (0, 0.2)}, "the same"),
        ("US ran", "(r / run-02~1)", {(1, 0): (0, 0.9)}, "the same"),
        ("I ran", "(r / run-02~1)", {(1, 0): (0, 0.9)}, "(r / run-02 :ARG0 (i / i))"),
        ("we ran home", "(r / run-02~1 :ARG0 (w / we~0) :location (h / home~2))", {(1, 0): (0, 0.9), (1, 2): (2, 0.9)},
         "(r / run-02 :ARG0 (w / we) :ARG2 (h / home))"),  # a role of no frame
        ("we ran home", "(r / run-02~1 :ARG0 (w / we~0) :location (h / home~2))", {(1, 0): (0, 0.9), (1, 2): (2, 0.5)},
         "the same"),  # another label is as probable
        ("we ran home", "(r / run-02~1 :ARG0 (w / we~0) :location (h / home~2))", {(1, 0): (0, 0.9), (1, 2): (0, 0.9)},
         "the same"),
        ("and we ran home", "(a / and~0 :op1 (r / run-02~2) :op2 (w / we~1) :op3 (h / home~3))",
         {(2, 1): (0, 0.4), (2, 3): (0, 0.5)},
         "(a / and :op1 (r / run-02 :ARG0 h) :op2 (w / we) :op3 (h / home))"),  # the surer one
        ("run and leave it", "(a / and~1 :op1 (r / run-02~0) :op2 (l / leave-11~2 :ARG1 (i / it~3)))",
         {(0, 3): (1, 0.2), (2, 3): (1, 0.9)},
         "(a / and :op1 (r / run-02 :ARG1 (i / it)) :op2 (l / leave-11 :ARG1 i))"),  # shared, so less is enough
        ("leave your town", "(l / leave-11~0 :ARG1 (t / town~2))", {(0, 2): (1, 0.9), (0, 1): (2, 0.9)}, "the same"),
        ("we asked his dog to go", "(a / ask-02~1 :ARG0 (w / we~0) :ARG1 (g / go-02~5 :ARG0 (d / dog~3)))",
         {(1, 0): (0, 0.9), (1, 5): (1, 0.9), (1, 3): (2, 0.9), (5, 3): (0, 0.9)}, "the same"),  # below *go* alone
        ("run with me", "(r / run-02~0 :ARG1 (i / i~2))", {(0, 2): (1, 0.9)}, "(r / run-02 :accompanier (i / i))"),
        ("we ran", "(w / we~0 :ARG0-of (r / run-02~1))", {(1, 0): (1, 0.9)}, "(w / we :ARG1-of (r / run-02))"),
    ],
)  # fmt: skip
def test_arguments_that_search_left_out(text, graph, roles, expected):
    assert label(text, graph, roles=roles) == expected


def test_an_object_of_a_lower_verb_is_no_argument_of_the_verb_above():
    graph, roles = "(a / ask-01~1 :ARG0 (h / he~0) :ARG1 (l / leave-11~3))", {(1, 4): (2, 0.9), (3, 4): (1, 0.9)}
    expected = "(a / ask-01 :ARG0 (h / he) :ARG1 (l / leave-11 :ARG1 (w / we)))"
    assert label("he asked to leave us", graph, roles=roles, tree="2:nsubj 0:root 4:mark 2:xcomp 4:obj") == expected


def test_long_sentences():
    words = " ".join(["run"] * 300)
    nodes = " ".join(f":op{i} (r{i} / run-01~{i})" for i in range(1, 300))
    assert label(words, f"(a / and~0 {nodes})") == "the same"


def test_sentences_of_a_batch_are_labeled_as_they_are_alone():
    torch.manual_seed(1)
    shapes = RoleLabeler.shapes(len(FRAMES), inputs=4, width=8)
    labeler = RoleLabeler(FRAMES, {name: torch.randn(shape) for name, shape in shapes.items()})
    graphs = (
        LEFT,
        "(c / cat~1)",
        "(g / go-02~1 :ARG0 (h / he~0))",
        "(r / run-01~2 :ARG0 (a / ask-01~1 :ARG1 (h / he~0)))",
    )
    vectors, texts = torch.randn(20, 4), ("he left town", "a cat", "he goes on", "he asked runners")
    readings = [Readings(labeler, vectors, 5 * n, []) for n in range(4)]

    def sentences() -> list[Draft]:
        return [*map(draft, texts, graphs, readings)]

    alone = [labeled([one])[0] for one in sentences()]
    assert labeled(sentences()) == alone and len(set(alone)) > 2
    assert labeled(sentences()[::-1]) == alone[::-1]
