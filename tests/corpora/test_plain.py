"""The corpus of plain English: well-formed AMRs of frames that exist, apart from all that models are scored by."""

import hashlib
import re

import pytest

from tests.conftest import ROOT
from tests.data.test_yardstick import plain
from transition_parser.graphs.amr import CONJUNCTIONS
from transition_parser.graphs.bank import read_bank
from transition_parser.parsing.edits.concepts import exists
from transition_parser.text.frames import packaged

PLAIN = ROOT / "corpora" / "plain"
PARTS = {"dev": range(6), "test": range(6, 12), "train": range(12, 100)}  # the hashes of their sentences, modulo 100
CONSTANT = re.compile(r'[-+]|-?\d+(\.\d+)?|".+"|imperative|expressive', re.DOTALL)
FRAME = re.compile(r".+-\d\d+")


@pytest.fixture(scope="module", params=PARTS)
def part(request):
    return request.param, list(read_bank(PLAIN / f"{request.param}.amr"))


def test_ids_are_numbered_and_sentences_are_in_the_part_of_their_hash(part):
    name, entries = part
    assert [entry.id for entry in entries] == [f"plain-{name}-{number:04}" for number in range(1, len(entries) + 1)]
    for entry in entries:
        assert int(hashlib.md5(entry.metadata["snt"].encode()).hexdigest(), 16) % 100 in PARTS[name], entry.id


def test_frames_exist_and_have_the_roles(part):
    for entry in part[1]:
        graph = entry.graph
        for node, label in enumerate(graph.labels):
            if node in graph.constants:
                assert CONSTANT.fullmatch(label), (entry.id, label)
            elif FRAME.fullmatch(label):
                assert exists(label), (entry.id, label)
                lemma, _, sense = label.rpartition("-")
                known = packaged().roles(lemma, sense) if sense in packaged().senses(lemma) else range(10)
                roles = {int(edge.role[3:]) for edge in graph.edges if edge.source == node and edge.role[:3] == "ARG"}
                assert roles.issubset(known), (entry.id, label, roles)


def test_frames_alone_have_core_roles_and_lists_their_members(part):
    for entry in part[1]:
        for edge in entry.graph.edges:
            label = entry.graph.labels[edge.source]
            assert edge.role[:3] != "ARG" or FRAME.fullmatch(label), (entry.id, label, edge.role)
        for node, label in enumerate(entry.graph.labels):
            if label in CONJUNCTIONS and label != "contrast-01":
                roles = [edge.role for edge in entry.graph.edges if edge.source == node and edge.role[:2] == "op"]
                assert sorted(roles) == sorted(f"op{number}" for number in range(1, len(roles) + 1)), entry.id


def test_no_sentence_is_scored_or_there_twice():
    texts = [plain(entry.metadata["snt"]) for name in PARTS for entry in read_bank(PLAIN / f"{name}.amr", graphs=False)]
    different = {*texts}
    assert len(different) == len(texts)
    for path in (ROOT / "tests" / "data").iterdir():
        for line in path.read_text(encoding="utf-8").splitlines() if path.suffix in (".amr", ".conllu", ".txt") else ():
            assert plain(line.removeprefix("# ::snt ").removeprefix("# text = ")) not in different, (path, line)


def test_no_corpus_has_them(corpora):
    texts = {plain(entry.metadata["snt"]) for name in PARTS for entry in read_bank(PLAIN / f"{name}.amr", graphs=False)}
    for path in [*corpora.rglob("dev.amr"), *corpora.rglob("test.amr")]:
        for line in re.findall(r"^# ::snt *(.*)", path.read_text(encoding="utf-8"), re.MULTILINE):
            assert plain(line) not in texts, (path, line)
