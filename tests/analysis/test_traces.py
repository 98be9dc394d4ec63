"""Traces: what they say of each step is what search saw there, for every architecture."""

import json
import math
import re

import pytest

from tests.conftest import SAMPLE, SAMPLE_AMR
from tests.helpers.crosses import USUAL, mostly_slow
from tests.helpers.small_models import MODELS, SYSTEMS, encode, make_model, runs_with, task_of
from transition_parser import Parser
from transition_parser.analysis.traces import MOST_CANDIDATES, Trace, steps_of, trace
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.oracles.static import oracle
from transition_parser.parsing.search import search
from transition_parser.transitions import make_system

WORDS = ["She", "sells", "sea", "shells", "."]
CASES = [
    (kind, system) for system in ("arc-hybrid-swap", "arc-eager", "amr") for kind in MODELS if runs_with(kind, system)
]


@pytest.fixture(scope="module")
def resources(tmp_path_factory):
    return {system: task_of(system, tmp_path_factory).resources for system in SYSTEMS}


def made(found: Trace, name: str) -> list[list]:
    """What grew, of each derivation."""
    return [[item for step in d.steps for item in step.configuration[name]] for d in found.derivations]


def check_graphs(found: Trace) -> None:
    """What the steps have made is the graph."""
    if found.formalism == "trees":
        for arcs, derivation in zip(made(found, "arcs"), found.derivations, strict=True):
            words = derivation.graph["words"]
            due = (((word["head"] or len(words) + 1) - 1, word["id"] - 1, word["deprel"]) for word in words)
            assert sorted(arcs) == sorted(due)
        return
    for nodes, edges, derivation in zip(made(found, "nodes"), made(found, "edges"), found.derivations, strict=True):
        headed = {target for _, _, target in edges}
        kept = [label for number, label, constant, _, _ in nodes if not constant or number in headed]
        graph = derivation.graph
        assert sorted(kept) == sorted(node["concept"] for node in graph["nodes"])
        roles = sorted(_without_number(role) for _, role, _ in edges)
        assert roles == sorted(_without_number(edge["role"]) for edge in graph["edges"])


def _without_number(role: str) -> str:
    """The role as it stays when gaps in the numbers of lists are closed."""
    return re.sub(r"^(op|snt)\d+$", r"\1", role)


@pytest.mark.parametrize(("kind", "system"), mostly_slow(CASES, *((kind, system) for system, kind in USUAL)))
@pytest.mark.parametrize("beam", mostly_slow([1, 3], 3))
def test_the_actions_taken_have_the_probabilities_of_search(resources, kind, system, beam):
    model = make_model(kind, resources[system]).plain
    edits = system != "amr"  # they change what the steps have made
    parser = Parser(model, resources[system], beam=beam, precision="fp32", edits=edits)
    sentence = parser.formalism.sentence.from_words(WORDS)
    found = trace(parser, sentence)
    if parser.model.searches_directly:  # the actions of the oracle, which have no scores
        (derivation,), expected = found.derivations, []
        assert {step.log_probability for step in derivation.steps[:-1]} == {None}
    else:
        (expected,) = search(parser.model, encode(parser, [WORDS]), beam, beam, parser.formalism.lenpen)
        table = resources[system].table
        assert [[step.action for step in d.steps] for d in found.derivations] == [
            [*map(table.tokens.__getitem__, hypothesis.tokens), None] for hypothesis in expected
        ]
    for derivation, hypothesis in zip(found.derivations, expected, strict=bool(expected)):
        assert derivation.mean_log_probability == pytest.approx(hypothesis.score, abs=1e-5)
        steps = derivation.steps[:-1]
        assert [step.log_probability for step in steps] == pytest.approx(hypothesis.step_scores, abs=1e-4)
        for step in steps:
            probabilities = {c.action: c.probability for c in step.candidates}
            assert probabilities[step.action] == pytest.approx(math.exp(step.log_probability), abs=1e-6)
            assert sum(probabilities.values()) + step.rest == pytest.approx(1, abs=1e-4)
            assert len(step.candidates) <= MOST_CANDIDATES + 1
            assert {c.action: c.legal for c in step.candidates}[step.action]
    (parse,) = parser.parse([WORDS])
    if not parser.model.searches_directly:
        assert [str(action) for action in parse.actions] == [step.action for step in found.derivations[0].steps[:-1]]
    check_graphs(found)
    assert json.loads(json.dumps(found.as_data()))["forms"] == WORDS


@pytest.mark.parametrize(("model", "path"), [("en-ewt", SAMPLE), ("en-amr", SAMPLE_AMR)])
def test_a_trace_is_of_the_parse_that_the_parser_gives_in_a_batch(model, path):
    parser = Parser.load(model, beam=3)
    sentences = list(parser.read(path))[:6]
    found, parses = [trace(parser, one) for one in sentences], parser.parse(sentences)
    assert [trace.derivations[0].graph["written"] for trace in found] == [str(parse.annotated()) for parse in parses]
    if model == "en-amr":  # edits change what the steps have made
        parser = Parser.load(model, beam=3, edits=False)
    for one in (trace(parser, sentence) for sentence in sentences):
        check_graphs(one)
        assert 1 <= len(one.derivations) <= 3


@pytest.mark.parametrize("system", ["arc-hybrid-swap", "arc-standard-swap"])
def test_steps_of_a_tree_whose_arcs_cross(system):
    """A hearing is scheduled on the issue today (Nivre 2009)"""
    heads = (2, 3, 0, 3, 2, 7, 5, 4)
    tree = DependencyTree(heads, tuple("root" if head == 0 else f"r{head}" for head in heads))
    words = "A hearing is scheduled on the issue today".split()
    machine = make_system(system)
    steps = list(steps_of(machine, words, list(oracle(machine, words, tree))))
    arcs = [arc for step in steps for arc in step.configuration["arcs"]]
    assert sorted((word + 1, (head + 1) % 9) for head, word, _ in arcs) == list(enumerate(heads, 1))
    assert any(step.action == "SWAP" for step in steps) and steps[-1].action is None
    assert all(len({*s.configuration["stack"]} & {*s.configuration["buffer"]}) == 0 for s in steps)
