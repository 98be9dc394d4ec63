"""The aligner: rules on tiny graphs, EM on a toy corpus, a token for every node of any graph."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import run_here
from tests.helpers.strategies import graphs
from transition_parser.base.errors import InputError
from transition_parser.graphs.bank import parse_entry, read_bank
from transition_parser.preprocess.aligner.aligner import (
    MOST,
    WordConceptTable,
    align_entry,
    aligned,
    entry_tokens,
    train_table,
)
from transition_parser.preprocess.aligner.rules import numbers
from transition_parser.preprocess.aligner.words import Words


def entry(sentence: str, penman: str, key: str = "tok"):
    return parse_entry([f"# ::{key} {sentence}", *penman.splitlines()])


@pytest.mark.parametrize("marked", [*read_bank(Path(__file__).with_name("alignments.amr"))], ids=lambda entry: entry.id)
def test_rules(marked):
    """Nodes without marks in the file may have any words."""
    found = align_entry(marked, keep=False).alignments
    assert any(marked.alignments)
    assert all(not wanted or tokens == wanted for tokens, wanted in zip(found, marked.alignments, strict=True))


@pytest.mark.parametrize(
    ("text", "value", "tokens"),
    [
        ("six", 6, (0,)),
        ("about twenty five", 25, (1, 2)),
        ("twenty-five", 25, (0,)),
        ("fifty @-@ three", 53, (0, 1, 2)),
        ("1.5 billion", 1.5e9, (0, 1)),
        ("32,000", 32000, (0,)),
        ("two hundred and fifty thousand men", 250000, (0, 1, 2, 3, 4)),
        ("a hundred and twenty degrees", 120, (1, 2, 3)),
        ("half", 0.5, (0,)),
        ("50%", 50, (0,)),
    ],
)
def test_numbers(text, value, tokens):
    assert (value, tokens) in numbers(Words.from_tokens(text.split()))


def test_em_of_a_corpus():
    toy = [
        ("he got away", "(e / escape-01 :ARG0 (h / he))"),
        ("she got away", "(e / escape-01 :ARG0 (s / she))"),
        ("they all got away", "(e / escape-01 :ARG0 (t / they :mod (a / all)))"),
        ("she went away", "(g / go-02 :ARG0 (s / she) :direction (a / away))"),
    ]
    table = train_table([entry(*pair) for pair in toy])
    assert align_entry(entry("we got away", "(e / escape-01 :ARG0 (w / we))"), table).alignments[0] == (1,)
    assert train_table([]).strengths == {}


def test_what_is_aligned_stays():
    given = entry("Dogs bark", "(b / bark-01~e.0 :ARG0 (d / dog))")
    assert align_entry(given).alignments == ((0,), (0,))
    assert align_entry(given, keep=False).alignments == ((1,), (0,))


def test_tokens():
    plain = entry("Dogs don't bark.", "(b / bark-01 :polarity - :ARG0 (d / dog))", key="snt")
    assert entry_tokens(plain) == ["Dogs", "do", "n't", "bark", "."]
    done = align_entry(plain)
    assert entry_tokens(done) == entry_tokens(plain) and done.alignments == ((3,), (2,), (0,))
    marked = entry("Dogs don't bark.", "(b / bark-01~e.2 :ARG0 (d / dog))", key="snt")
    assert entry_tokens(marked) == ["Dogs", "don't", "bark."]
    with pytest.raises(InputError, match="the entry has no sentence"):
        entry_tokens(parse_entry(["# ::id a", "(d / dog)"]))


def test_processes_change_nothing():
    entries = [
        entry("Dogs bark at night", "(b / bark-01 :ARG0 (d / dog) :time (d2 / date-entity :dayperiod (n / night)))")
    ]
    entries = [replace(entries[0], line=number) for number in range(130)]
    table = train_table(entries)
    assert list(aligned(entries, table, processes=2)) == list(aligned(entries, table))


LABELS = (
    "dog bark-01 and multi-sentence name thing person have-degree-91 date-entity amr-unknown cause-01 "
    "temporal-quantity you have-org-role-91 ordinal-entity xyz-91 at-last more"
).split()
CONSTANTS = ("-", "+", "imperative", "interrogative", "6", "-1", "0.5", '"Dogs"', '"16:00"', '""')
ROLES = "ARG0 ARG1 ARG2 op1 op2 snt1 name quant unit polarity mode value time mod month year".split()


def test_agreement_with_gold(corpora):
    """Against LEAMR's gold alignments of subgraphs (Blodgett and Schneider 2021)."""
    layers = json.loads((corpora / "alignment" / "dev.json").read_text(encoding="utf-8"))
    bank = [replace(e, metadata={**e.metadata, "tok": e.text}) for e in read_bank(corpora / "alignment" / "dev.amr")]
    pairs = []
    for done in aligned(bank):
        tokens_of = dict(zip(done.paths, map(set, done.alignments), strict=True))
        gold: dict[str, set[int]] = {}
        for item in layers[done.id]["subgraph"] if done.id in layers else ():
            for node in item["nodes"] if item["type"] in ("subgraph", "dupl-subgraph") else ():
                gold.setdefault(node, set()).update(item["tokens"])
        pairs += [(tokens_of[node], tokens) for node, tokens in gold.items()]
    assert sum(ours == gold for ours, gold in pairs) >= 0.93 * len(pairs) > 0
    assert sum(bool(ours & gold) for ours, gold in pairs) >= 0.97 * len(pairs)


LARGE = [
    (" ".join(["w"] * (MOST + 1)), "(a / b)", "1,001 words"),
    ("w" + "-w" * MOST, "(a / b)", "1,001 words"),
    ("w", "(a / b " + " ".join(f":x {number}" for number in range(MOST)) + ")", "1,001 nodes"),
    ("w", f'(a / b :x "{" ".join(["s"] * MOST)}")', "1,001 nodes"),
    ("w", "(a / b :x (c / d) " + " ".join(f":op{number} c" for number in range(MOST)) + ")", "1,001 edges"),
]


@pytest.mark.parametrize("command", [["align", "{bank}", "-"], ["oracle", "{bank}", "--system", "amr"]])
def test_a_large_entry_of_a_bank_is_named_or_left_out(command, tmp_path):
    words, penman, said = LARGE[3]
    bank = tmp_path / "bank.amr"
    bank.write_text(f"# ::id small\n# ::snt w\n(w / w)\n\n# ::id large\n# ::snt {words}\n{penman}\n")
    arguments = [part.format(bank=bank) for part in command]
    refused = run_here(*arguments, status=2).stderr
    assert f"{bank}:5: " in refused and said in refused and refused.count("\n") == 1
    assert said in run_here(*arguments, "--skip-bad").stderr


WORDS = st.lists(
    st.sampled_from("dogs bark and not Dogs 6 June ? . , six 2012-06-07 @-@ the at last o'clock un- '".split()),
    min_size=1,
)


@given(graphs(LABELS, ROLES, CONSTANTS, most=9, further=0), WORDS)
def test_every_node_gets_tokens(graph, words):
    given = parse_entry([f"# ::tok {' '.join(words)}", "(d / dog)"])
    found = replace(given, graph=graph, alignments=((),) * len(graph))
    alignments = align_entry(found, WordConceptTable({})).alignments
    assert len(alignments) == len(graph)
    for tokens in alignments:
        assert tokens and tokens == tuple(range(tokens[0], tokens[-1] + 1))
        assert tokens[0] >= 0 and tokens[-1] < len(words)


@pytest.mark.slow
def test_whole_corpora(corpora):
    for path in sorted((corpora / "amr").glob("*/*.amr")):
        entries = list(read_bank(path, skip_bad=[]))
        table, are_given = train_table(entries), any(any(entry.alignments) for entry in entries)
        for keep in (True, False) if are_given else (True,):
            for old, new in zip(entries, aligned(entries, table, keep), strict=True):
                words = len(entry_tokens(old))
                assert len(new.alignments) == len(new.graph), old.id
                assert all(tokens and tokens[-1] < words for tokens in new.alignments), old.id
                if keep:
                    assert all(not a or a == b for a, b in zip(old.alignments, new.alignments)), old.id
