"""The yardstick: well-formed, the same sentences in both files, and never trained on."""

import json
import re

import pytest

from tests.conftest import SAMPLE, run_here
from transition_parser.graphs.bank import read_bank
from transition_parser.graphs.conllu import read_conllu

TREES, AMRS = (SAMPLE.with_name(f"yardstick{suffix}") for suffix in (".conllu", ".amr"))


@pytest.fixture(scope="module")
def sentences():
    return list(read_conllu(TREES))


@pytest.fixture(scope="module")
def entries():
    return list(read_bank(AMRS))


def test_both_files_hold_the_same_sentences(sentences, entries):
    ids = [f"yardstick-{number:03}" for number in range(1, 101)]
    assert [sentence.id for sentence in sentences] == [entry.id for entry in entries] == ids
    assert [sentence.text for sentence in sentences] == [entry.metadata["snt"] for entry in entries]
    assert [sentence.forms for sentence in sentences] == [entry.tokens for entry in entries]
    assert len({entry.text for entry in entries}) == 100


@pytest.mark.parametrize(("path", "system"), [(TREES, "arc-hybrid-swap"), (TREES, "arc-standard"), (AMRS, "amr")])
def test_the_oracle_loses_nothing(path, system):
    found = json.loads(run_here("oracle", path, "--system", system, "--check", "--json").stdout)
    assert (found["sentences"], found["exact"], found["illegal_steps"]) == (100, 100, 0)
    assert found.get("skipped", 0) == 0


def test_no_corpus_holds_them(corpora, entries):
    """No treebank and no bank in which a model could have seen them: compared without white space and letter case."""
    texts, files = {plain(entry.text) for entry in entries}, [*corpora.rglob("*.amr"), *corpora.rglob("*.conllu")]
    assert files
    for path in files:
        for line in re.findall(r"^# (?:text =|::snt) *(.*)", path.read_text(encoding="utf-8"), re.MULTILINE):
            assert plain(line) not in texts, (path, line)


def plain(text: str) -> str:
    return "".join(text.split()).casefold()
