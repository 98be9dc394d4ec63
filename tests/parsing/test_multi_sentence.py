"""One AMR for a text, from the parses of its sentences."""

import json

import pytest

from tests.conftest import run_here
from tests.parsing.test_parses import DERIVATION, WIKI, parse_of
from transition_parser.base.errors import InputError
from transition_parser.graphs.bank import parse_bank, parse_entry
from transition_parser.parsing.formalisms.amr import multi_sentence

LIKES = "She likes New York", DERIVATION
SLEEP = "Dogs sleep", "SHIFT COPY_LEMMA SHIFT COPY_SENSE01 ROOT LA(ARG0) REDUCE CLOSE"
TWO = (
    "Go ! Stop",
    "SHIFT COPY_SENSE01 SHIFT PRED(multi-sentence) ROOT LA(snt) REDUCE SHIFT COPY_SENSE01 RA(snt) REDUCE CLOSE",
)


def test_sentences_are_members_in_order():
    parses = [parse_of(*LIKES, {"id": "a"}, WIKI), parse_of(*TWO), parse_of(*SLEEP)]
    whole = multi_sentence(parses, "letter")
    assert str(whole.annotated(alignment_markers=True, scores=True)).endswith(
        "(m / multi-sentence\n      :snt1 (l / like-01~e.1\n            :ARG0 (s / she~e.0)\n"
        '            :ARG1 (c / city~e.2,3\n                  :wiki "New_York_City"\n'
        '                  :name (n / name~e.2,3\n                        :op1 "New"~e.2,3\n'
        '                        :op2 "York"~e.2,3)))\n'
        "      :snt2 (g / go-01~e.4)\n      :snt3 (s2 / stop-01~e.6)\n"
        "      :snt4 (s3 / sleep-01~e.8\n            :ARG0 (d / dog~e.7)))\n\n"
    )
    assert whole.text == "She likes New York Go ! Stop Dogs sleep" and whole.sentence.id == "letter"
    data = whole.to_dict()
    assert [len(data["nodes"]), len(data["edges"])] == [len(whole.node_scores), len(whole.edge_scores)]
    assert all(data["nodes"][edge["source"] - 1]["score"] for edge in data["edges"]) and whole.to_networkx()
    assert whole.probability == pytest.approx(parses[0].probability * parses[1].probability * parses[2].probability)
    (again,) = parse_bank([f"{line}\n".encode() for line in str(whole.annotated()).split("\n")])
    assert again.alignments == whole.annotated().alignments


def test_one_sentence_keeps_its_graph():
    parse = parse_of(*SLEEP, {"id": "a"})
    whole = multi_sentence([parse], "letter")
    assert (whole.graph, whole.sentence.id, whole.forms) == (parse.graph, "letter", parse.forms)
    assert multi_sentence([parse]).sentence.id is None
    with pytest.raises(InputError):
        multi_sentence([])
    with pytest.raises(InputError, match="parses of AMRs are needed"):
        multi_sentence([object()])


def test_the_command(tmp_path):
    one, rows = tmp_path / "one b.txt", tmp_path / "rows.jsonl"
    one.write_text("It rained.\n\nWe left. Bye!\n", encoding="utf-8")
    rows.write_text('{"text": "It rained. We left."}\n{"text": null}\n', encoding="utf-8")
    options = ("parse", "en-amr", "--multi-sentence", "--precision", "fp32")
    blocks = run_here(*options, one, "-", stdin="Why?").stdout.strip().split("\n\n")
    both = [parse_entry(block.split("\n")) for block in blocks]
    assert [entry.id for entry in both] == ["one_b", "stdin"]
    assert both[0].text == "It rained. We left. Bye!" and both[0].penman.count(":snt") == 3
    assert "multi-sentence" not in both[1].penman
    done = run_here(*options, rows, "--column", "text").stdout
    first, second = (json.loads(line)["amr"] for line in done.splitlines())
    assert first.count(" :snt") == 2 and first.count("# ::snt ") == 1 and second == ""
    for more in (("--shard", "1/2"), ("--beam", "2", "--nbest", "2")):
        assert "--multi-sentence" in run_here(*options, one, *more, status=2).stderr
    assert "is for AMRs" in run_here("parse", "en-ewt", "--multi-sentence", one, status=2).stderr
