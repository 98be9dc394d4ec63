"""run/bench/structures.py: what counts as an imperative."""

import sys

import pytest

from tests.helpers.scripts import module
from transition_parser import AmrParse
from transition_parser.graphs.bank import AmrEntry, parse_entry
from transition_parser.graphs.conllu import Row, Sentence

structures = module("bench/structures.py")


@pytest.mark.parametrize("option", ["--rounds", "-o"])
@pytest.mark.parametrize("name", ["lists", "names", "structures", "given"])
def test_what_is_counted_has_no_options_of_measured_speed(name, option, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [name, "en-amr", option, "3", *["x"] * (name in ("structures", "given"))])
    with pytest.raises(SystemExit):
        module(f"bench/{name}.py").main()
    assert f"unrecognized arguments: {option}" in capsys.readouterr().err


def test_which_words_are_imperatives():
    some = [("VERB", "Mood=Imp|VerbForm=Fin"), ("PRON", "_"), ("AUX", "Mood=Imp"), ("VERB", "Mood=Ind")]
    rows = (Row(str(number), "word", upos=upos, feats=feats) for number, (upos, feats) in enumerate(some, 1))
    assert structures.imperatives(Sentence(tuple(rows))) == {0}


def test_which_nodes_are_imperatives():
    entry = parse_entry(["(a / and~1 :op1 (g / go-02~0 :mode imperative~0) :op2 (s / sleep-01~2))"])
    alignments = tuple(map(tuple, entry.alignments))
    parse = AmrParse(AmrEntry.from_words(["Go", "and", "sleep"]), entry.graph, alignments, {}, (), 0.0)
    assert structures.imperatives_of(parse) == {0}
