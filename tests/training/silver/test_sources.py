"""The sentences of silver AMRs and the facts about them."""

from pathlib import Path

import pytest

from transition_parser.base.errors import InputError
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.graphs.propbank import Annotation, Argument, Predicate
from transition_parser.parsing.parses import Parse
from transition_parser.training.silver.exclusion import Excluded
from transition_parser.training.silver.propbank import Example
from transition_parser.training.silver.sources import Sources

GO = Predicate(1, "go.02", (Argument("ARG0", (0, 0)),))


def treebank(path: Path, *texts: str) -> Path:
    """A treebank in which all words hang on the second one."""
    blocks = []
    for number, text in enumerate(texts, 1):
        rows = [f"# sent_id = s{number}"]
        for i, form in enumerate(text.split(), 1):
            head, relation, tag = ("0", "root", "VERB") if i == 2 else ("2", "dep", "NOUN")
            rows.append("\t".join([str(i), form, "_", tag, "_", "_", head, relation, "_", "_"]))
        blocks.append("\n".join(rows) + "\n\n")
    path.write_text("".join(blocks))
    return path


def test_sentences_come_once_with_their_facts(tmp_path):
    found = Sources(inventory={"go.02"})
    path = treebank(tmp_path / "t.conllu", "Boys go home", "Boys go", "Girls go home", "Boys go home", "a " * 41)
    found.add_treebank(path, {"s1": Annotation("s1", (GO,), {1: "go"}, "a.tsv", 1)})
    first, second = found
    assert (first.entry.id, first.entry.text, second.entry.text) == ("t.s1", "Boys go home", "Girls go home")
    assert first.facts is not None and [node.concept for node in first.facts.nodes] == ["go-02"]
    assert second.facts is None
    assert found.counts == {"predicate": 1, "argument": 1, "sentence with facts": 1}


def test_excluded_texts_are_left_out_and_counted(tmp_path):
    found = Sources(Excluded(["Boys gó home."]))
    found.add_treebank(treebank(tmp_path / "t.conllu", "Boys go home", "Girls go home"), {})
    assert [one.entry.text for one in found] == ["Girls go home"]
    assert found.left_out == {"sentence of an excluded text": 1}


def test_annotation_of_other_words_is_an_error(tmp_path):
    annotations = {"s1": Annotation("s1", (GO,), {1: "went"}, "a.tsv", 1)}
    with pytest.raises(InputError, match=r"a\.tsv:1: sentence s1: word 2 is 'went' here, but 'go' in the treebank"):
        Sources().add_treebank(treebank(tmp_path / "t.conllu", "Boys go home"), annotations)


class FakeParser:
    """Makes the second word the head of all others."""

    def parse_stream(self, sentences):
        for one in sentences:
            n = len(one.forms)
            tree = DependencyTree(tuple(0 if i == 1 else 2 for i in range(n)), ("dep", "root", *["dep"] * (n - 2)))
            yield Parse(one, tree, (1.0,) * n, (), 0.0, tuple("VERB" if i == 1 else "NOUN" for i in range(n)))


def test_examples_of_frames_are_parsed_to_find_heads(tmp_path):
    found = Sources(inventory={"go.02"})
    found.add_treebank(treebank(tmp_path / "t.conllu", "Girls go home"), {})
    some = [Example(f"go.02.{i}", (who, "go", "home"), GO) for i, who in enumerate(["Boys", "Girls"], 1)]
    found.add_examples(some, FakeParser())
    assert [one.entry.id for one in found] == ["t.s1", "frames.go.02.1"]
    assert found.found[1].facts is not None and found.found[1].facts.edges[0].target == (0, 0)
