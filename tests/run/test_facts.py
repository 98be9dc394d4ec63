"""PropBank's annotation and frames as they are read, and the facts that they give: nodes and edges."""

import json

import pytest
from facts import facts_of
from propbank import Argument, Example, Predicate, read_annotations, read_frames, spread

from transition_parser.base.errors import InputError
from transition_parser.graphs.conllu import Row, Sentence
from transition_parser.parsing.given import GivenEdge, GivenNode


def sentence(*words: str) -> Sentence:
    """A sentence of words that are written form/UPOS/head/relation, with a star after the UPOS of an imperative."""
    rows = [one.rsplit("/", 3) for one in words]
    return Sentence(
        tuple(
            Row(str(i), form, upos=upos.rstrip("*"), feats="Mood=Imp" * ("*" in upos), head=head, deprel=rel)
            for i, (form, upos, head, rel) in enumerate(rows, 1)
        )
    )


def predicate(word: int, roleset: str, **arguments: tuple[int, int]) -> Predicate:
    labels = {label.replace("_", "-"): span for label, span in arguments.items()}
    return Predicate(word, roleset, tuple(Argument(label, span) for label, span in labels.items()))


def found(of: Sentence, *predicates: Predicate, without: tuple[str, ...] = ()) -> dict:
    """The given nodes and edges, as text, and the words without a node."""
    inventory = {one.roleset for one in predicates if not one.is_light} - {*without}
    facts, _ = facts_of(of, predicates, inventory)
    if facts is None:
        return {}
    nodes = {node.span[0]: node.concept for node in facts.nodes.values()}
    edges = {(int(edge.source[1:]), edge.role): edge.target for edge in facts.edges}
    return {"nodes": nodes, "edges": edges, "none": {*facts.none}}


BOYS = sentence("The/DET/2/det", "boys/NOUN/3/nsubj", "want/VERB/0/root", "to/PART/5/mark", "go/VERB/3/xcomp")


def test_a_predicate_is_a_node_and_an_argument_an_edge_to_its_head():
    facts, left_out = facts_of(
        BOYS,
        [predicate(2, "want.01", ARG0=(0, 1), ARG1=(3, 4)), predicate(4, "go.02", ARG0=(0, 1))],
        {"want.01", "go.02"},
    )
    assert facts is not None and not +left_out
    assert facts.nodes == {"p2": GivenNode((2, 2), "want-01"), "p4": GivenNode((4, 4), "go-02")}
    assert facts.edges == (
        GivenEdge("p2", "ARG0", (1, 1)),
        GivenEdge("p2", "ARG1", "p4"),
        GivenEdge("p4", "ARG0", (1, 1)),
    )


@pytest.mark.parametrize(
    ("words", "predicates", "nodes", "edges"),
    [
        ("Open/VERB*/0/root the/DET/3/det door/NOUN/1/obj", [predicate(0, "open.01", ARG1=(1, 2))],
         {"p0": "open-01", "y0": "you", "mode0": "imperative"},
         {("p0", "ARG1", (2, 2)), ("p0", "mode", "mode0"), ("p0", "ARG0", "y0")}),
        # who waits is ARG1; `please` is polite; an adjective leaves the role of `you` open
        ("Please/INTJ/2/discourse wait/VERB*/0/root", [predicate(1, "wait.01")],
         {"p1": "wait-01", "y1": "you", "mode1": "imperative", "polite1": "+"},
         {("p1", "mode", "mode1"), ("p1", "polite", "polite1"), ("p1", "ARG1", "y1")}),
        ("Be/AUX*/2/cop careful/ADJ/0/root", [],
         {"y1": "you", "mode1": "imperative"}, {((1, 1), "mode", "mode1")}),
        # imperatives that are joined share `you`, and so do pronouns; a verb without a frame is left alone
        ("Sit/VERB*/0/root and/CCONJ/3/cc read/VERB*/1/conj", [predicate(2, "read.01")],
         {"p2": "read-01", "y2": "you", "mode2": "imperative"}, {("p2", "mode", "mode2"), ("p2", "ARG0", "y2")}),
        ("Sit/VERB*/0/root and/CCONJ/3/cc read/VERB*/1/conj", [predicate(0, "sit.01"), predicate(2, "read.01")],
         {"p0": "sit-01", "p2": "read-01", "y0": "you", "mode0": "imperative", "mode2": "imperative"},
         {("p0", "mode", "mode0"), ("p0", "ARG1", "y0"), ("p2", "mode", "mode2"), ("p2", "ARG0", "y0")}),
        ("Do/AUX*/2/aux sell/VERB/0/root your/PRON/4/nmod:poss car/NOUN/2/obj", [predicate(1, "sell.01")],
         {"p1": "sell-01", "mode1": "imperative"}, {("p1", "mode", "mode1"), ("p1", "ARG0", (2, 2))}),
        # who is called may be the subject; a light verb gives its mode to the noun; speech may be inside a clause
        ("Ann/PROPN/2/vocative go/VERB*/0/root", [predicate(1, "go.02")],
         {"p1": "go-02", "mode1": "imperative"}, {("p1", "mode", "mode1")}),
        ("Take/VERB*/0/root care/NOUN/1/obj", [predicate(1, "care.03", ARGM_LVB=(0, 0))],
         {"p1": "care-03", "y0": "you", "mode0": "imperative"}, {("p1", "mode", "mode0"), ("p1", "ARG0", "y0")}),
        ("Run/VERB*/2/ccomp said/VERB/0/root", [predicate(0, "run.02")],
         {"p0": "run-02", "y0": "you", "mode0": "imperative"}, {("p0", "mode", "mode0"), ("p0", "ARG0", "y0")}),
        # a subject, `let us` and a verb without a frame are left alone
        ("You/PRON/2/nsubj go/VERB*/0/root", [], {}, set()),
        ("Let/VERB*/0/root 's/PRON/1/obj go/VERB/1/xcomp", [], {}, set()),
        ("Run/VERB*/2/ccomp said/VERB/0/root Ann/PROPN/2/nsubj", [], {}, set()),
        ("Do/AUX*/0/root", [], {}, set()),
    ],
)  # fmt: skip
def test_an_imperative_has_its_mode_and_you(words, predicates, nodes, edges):
    facts, _ = facts_of(sentence(*words.split()), predicates, {one.roleset for one in predicates})
    assert {variable: node.concept for variable, node in facts.nodes.items()} == nodes if facts else not nodes
    assert {*facts.edges} == {GivenEdge(*edge) for edge in edges} if facts else not edges
    assert not facts or all(facts.nodes[one].span == (0, 0) for one in facts.nodes if "Please" in words and one != "p1")


LIGHT = predicate(2, "make.LV", ARGM_PRR=(4, 4))


@pytest.mark.parametrize(
    ("words", "predicates", "expected"),
    [
        # light verbs and auxiliaries have no node
        ("I/PRON/3/nsubj has/AUX/3/aux made/VERB/0/root a/DET/5/det mistake/NOUN/3/obj",
         [predicate(1, "have.01"), LIGHT, predicate(4, "mistake.02", ARG0=(0, 0))],
         {"nodes": {4: "mistake-02"}, "edges": {(4, "ARG0"): (0, 0)}, "none": {1, 2}}),
        # an argument that a light verb heads is the noun
        ("Says/VERB/0/root he/PRON/3/nsubj made/VERB/1/ccomp a/DET/5/det mistake/NOUN/3/obj",
         [predicate(0, "say.01", ARG1=(1, 4)), LIGHT], {"edges": {(0, "ARG1"): (4, 4)}}),
        # a noun may name its light verb
        ("He/PRON/2/nsubj took/VERB/0/root care/NOUN/2/obj",
         [predicate(2, "care.03", ARG0=(0, 0), ARGM_LVB=(1, 1))], {"none": {1}}),
        # a coordination is its conjunction
        ("He/PRON/2/nsubj saw/VERB/0/root the/DET/4/det cat/NOUN/2/obj ,/PUNCT/6/punct dogs/NOUN/4/conj "
         "and/CCONJ/8/cc mice/NOUN/4/conj",
         [predicate(1, "see.01", ARG1=(2, 7))], {"edges": {(1, "ARG1"): (6, 6)}}),
        ("See/VERB/0/root cats/NOUN/1/obj ,/PUNCT/4/punct dogs/NOUN/2/conj",
         [predicate(0, "see.01", ARG1=(1, 3))], {"edges": {(0, "ARG1"): (1, 3)}}),
        # a clause with a modal or a copula may be headed by either
        ("Says/VERB/0/root he/PRON/5/nsubj can/AUX/5/aux not/PART/5/advmod come/VERB/1/ccomp",
         [predicate(0, "say.01", ARG1=(1, 4))], {"edges": {(0, "ARG1"): (2, 4)}}),
        ("Says/VERB/0/root he/PRON/5/nsubj is/AUX/5/cop in/ADP/5/case Rome/PROPN/1/ccomp",
         [predicate(0, "say.01", ARG1=(1, 4))], {"edges": {(0, "ARG1"): (2, 4)}}),
        # a quantity leaves the node open
        ("Saw/VERB/0/root a/DET/3/det lot/NOUN/1/obj of/ADP/5/case cats/NOUN/3/nmod",
         [predicate(0, "see.01", ARG1=(1, 4))], {"edges": {(0, "ARG1"): (1, 4)}}),
        # a noun that is a predicate may have a node above it
        ("The/DET/2/det owners/NOUN/3/nsubj left/VERB/0/root",
         [predicate(1, "own.01"), predicate(2, "leave.01", ARG0=(0, 1))], {"edges": {(2, "ARG0"): (1, 1)}}),
        # relative pronouns, expletives and function words are no arguments
        ("Men/NOUN/0/root who/PRON/3/nsubj left/VERB/1/acl:relcl it/PRON/3/expl out/ADP/3/compound:prt",
         [predicate(2, "leave.01", ARG0=(1, 1), ARG1=(3, 3), ARG2=(4, 4), ARG3=(0, 0))],
         {"edges": {(2, "ARG3"): (0, 0)}}),
        # the pronouns of one person are one node
        ("I/PRON/2/nsubj think/VERB/0/root I/PRON/4/nsubj know/VERB/2/ccomp her/PRON/4/obj",
         [predicate(1, "think.01", ARG0=(0, 0)), predicate(3, "know.01", ARG0=(2, 2), ARG1=(4, 4))],
         {"edges": {(1, "ARG0"): (0, 0), (3, "ARG0"): (0, 0), (3, "ARG1"): (4, 4)}}),
        # a person may be both arguments
        ("We/PRON/2/nsubj hurt/VERB/0/root ourselves/PRON/2/obj",
         [predicate(1, "hurt.01", ARG0=(0, 0), ARG1=(2, 2))], {"edges": {(1, "ARG0"): (0, 0), (1, "ARG1"): (0, 0)}}),
    ],
)  # fmt: skip
def test_which_words_have_the_nodes_of_predicates_and_arguments(words, predicates, expected):
    facts = found(sentence(*words.split()), *predicates)
    assert {name: facts[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("words", "top"),
    [
        ("Please/INTJ/2/discourse wait/VERB*/0/root", "p1"),
        ("We/PRON/2/nsubj wait/VERB/0/root", None),
        ("But/CCONJ/2/cc wait/VERB*/0/root", None),
    ],
)
def test_an_imperative_that_is_joined_to_no_clause_is_the_top(words, top):
    facts, _ = facts_of(sentence(*words.split()), [predicate(1, "wait.01")], {"wait.01"})
    assert facts is not None and facts.top == top


def test_imperatives_keep_their_mode_where_arguments_contradict_each_other():
    of = sentence("Go/VERB*/0/root", "take/VERB/1/xcomp")
    facts, left_out = facts_of(of, [predicate(0, "go.02", ARG4=(1, 1)), predicate(1, "take.LV")], {"go.02"})
    assert facts is not None and [edge.role for edge in facts.edges] == ["mode", "ARG0"]
    assert left_out["sentence whose edges contradict each other"] == 1


def test_a_later_pronoun_of_the_third_person_may_be_of_another():
    of = sentence("He/PRON/2/nsubj", "thinks/VERB/0/root", "he/PRON/4/nsubj", "knows/VERB/2/ccomp")
    facts, left_out = facts_of(of, [predicate(1, "think.01", ARG0=(0, 0)), predicate(3, "know.01", ARG0=(2, 2))],
                               {"think.01", "know.01"})  # fmt: skip
    assert facts is not None and [edge.source for edge in facts.edges] == ["p1"]
    assert left_out["pronoun that may be someone else's"] == 1


ANNOTATION = "# sent_id = a\n2\twant\twant.01\tARG0:1-1\tARG1:3-4\n4\tgo\tgo.02\tARG0:1-1\n\n# sent_id = b\n\n"


def test_annotation_is_read_with_words_from_0(tmp_path):
    (tmp_path / "a.tsv").write_text(ANNOTATION)
    found = read_annotations([tmp_path / "a.tsv"])
    assert [*found] == ["a", "b"] and not found["b"].predicates
    want, go = found["a"].predicates
    assert want == Predicate(1, "want.01", (Argument("ARG0", (0, 0)), Argument("ARG1", (2, 3))))
    assert (go.word, go.concept, go.is_light) == (3, "go-02", False)
    found["a"].check(["Boys", "want", "to", "go"])


@pytest.mark.parametrize(
    ("text", "words", "problem"),
    [
        (ANNOTATION, "Boys like to go", "word 2 is 'want' here, but 'like' in the treebank"),
        (ANNOTATION, "Boys want to", "word 4 is 'go' here, but one of 3 words in the treebank"),
        ("# sent_id = a\n1\tGo\tgo.01\tARG1:2-4\n", "Go home boys", "ARG1 ends at word 4 of 3"),
    ],
)
def test_annotation_of_other_words_is_an_error(text, words, problem, tmp_path):
    (tmp_path / "a.tsv").write_text(text)
    with pytest.raises(InputError, match=f"a.tsv:1: sentence a: .*{problem}"):
        read_annotations([tmp_path / "a.tsv"])["a"].check(words.split())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("2\twant\twant.01\n", "a.tsv:1: a predicate before the first"),
        ("# sent_id = a\n1\twant\n", "a.tsv:2: sentence a: .* is no predicate"),
        ("# sent_id = a\n" + "9" * 5000 + "\twant\twant.01\n", "a.tsv:2: sentence a: .* is no predicate"),
        ("# sent_id = a\n1\twant\twant.01\tARG0:2\n", "'ARG0:2' is no argument"),
        ("# sent_id = a\n1\twant\twant.01\tARG0:3-2\n", "'ARG0:3-2' is no argument"),
        ("# sent_id = a\n\n# sent_id = a\n", "a.tsv:3: sentence a: the sentence is in .*a.tsv:1, too"),
    ],
)
def test_broken_annotation_is_an_error_at_its_line(text, problem, tmp_path):
    (tmp_path / "a.tsv").write_text(text)
    with pytest.raises(InputError, match=problem):
        read_annotations([tmp_path / "a.tsv"])


def frame(id: str = "go.01", amr: tuple[str, ...] = ("2019",), **example: object) -> str:
    some = [{"text": "Boys go home", "rel": "1", "args": [["ARG1", "0", "0"]], **example}]
    return json.dumps({"id": id, "amr": amr, "examples": some}) + "\n"


def test_frames_are_those_that_amr_uses(tmp_path):
    (tmp_path / "f").write_text(frame() + frame("go.04", amr=()))
    inventory, found = read_frames(tmp_path / "f")
    assert inventory == {"go.01"}
    arguments = (Argument("ARG1", (0, 0)),)
    assert found == [Example("go.01.1", ("Boys", "go", "home"), Predicate(1, "go.01", arguments))]


@pytest.mark.parametrize(
    "example",
    [
        {"rel": "3"},
        {"rel": None},
        {"rel": "?"},
        {"text": "Boys want *PRO* to go", "rel": "4"},
        {"text": "", "rel": "0"},
    ],
)
def test_examples_that_cannot_be_used_are_left_out(example, tmp_path):
    (tmp_path / "f").write_text(frame(**example))
    assert not read_frames(tmp_path / "f")[1]


@pytest.mark.parametrize(
    "text", ["go\n", "{}\n", "[]\n", "", frame(amr=()), '{"id": "a.01", "amr": 1, "examples": [2]}']
)
def test_a_file_that_holds_no_frames_is_an_error(text, tmp_path):
    (tmp_path / "f").write_text(text)
    with pytest.raises(InputError, match="roleset"):
        read_frames(tmp_path / "f")


def examples(*rolesets: str) -> list[Example]:
    return [Example(f"{i}", (str(i), "a", "b"), Predicate(1, one)) for i, one in enumerate(rolesets)]


def test_examples_cover_rolesets_evenly():
    some = examples("a.01", "a.01", "a.01", "b.01", "c.01", "c.01")

    def taken(most: int, each: int = 2) -> str:
        return "".join(one.id for one in spread(some, most, 3, 3, each))

    assert taken(9) == "01345" and taken(9, each=1) == "034"
    assert taken(3) == "034" and taken(4) == "0134" and taken(2) == "03"
    assert not spread(some, 9, 4, 9, 2) and not spread(some, 9, 1, 2, 2)


def test_arguments_without_a_place_are_left_out_and_brackets_restored(tmp_path):
    arguments = [["ARG0", "?", "?"], ["ARG1", "0", "9"], ["ARG2", "2", "4"]]
    (tmp_path / "f").write_text(frame(text="Boys go -LRB- home -RRB-", args=arguments))
    (example,) = read_frames(tmp_path / "f")[1]
    assert example.words[2:] == ("(", "home", ")") and example.predicate.arguments == (Argument("ARG2", (2, 4)),)
