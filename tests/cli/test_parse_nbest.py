"""`parse --nbest`: files with several parses of each sentence."""

import re
from pathlib import Path

import pytest

from tests.conftest import SAMPLE, run_here
from transition_parser.graphs.bank import read_bank
from transition_parser.graphs.conllu import read_conllu

OPTIONS = ("--precision", "fp32", "--beam", "4")


@pytest.fixture(scope="module")
def parsed(checkpoint, amr_checkpoint, amr_dev, tmp_path_factory) -> dict[str, tuple[Path, Path, Path, Path]]:
    """Of trees and AMRs: model, input, its parses, and those with alternatives."""
    folder = tmp_path_factory.mktemp("nbest")
    found = {}
    for name, model, sample in (("conllu", checkpoint, SAMPLE), ("amr", amr_checkpoint, amr_dev)):
        paths = [folder / f"{kind}.{name}" for kind in ("one", "several")]
        for path, options in zip(paths, ((), ("--nbest", "3")), strict=True):
            run_here("parse", model, sample, *OPTIONS, *options, "-o", path)
        found[name] = (model, sample, *paths)
    return found


def read(path: Path) -> list:
    return list(read_conllu(path) if path.suffix == ".conllu" else read_bank(path))


@pytest.mark.parametrize("name", ["conllu", "amr"])
def test_the_parses_of_a_sentence_follow_one_another(parsed, name):
    *_, one, several = parsed[name]
    plain, found = read(one), read(several)
    firsts = [sentence for sentence in found if not sentence.is_alternative]
    assert [(s.id, s.forms) for s in firsts] == [(s.id, s.forms) for s in plain]
    assert len(found) > 2 * len(firsts)
    places = re.findall(r"^# (?:nbest = |::nbest )(\d)/(\d)", several.read_text(encoding="utf-8"), re.M)
    assert len(places) == len(found)
    rank = 0
    for sentence, place in zip(found, places, strict=True):
        rank = rank + 1 if sentence.is_alternative else 1
        assert int(place[0]) == rank <= int(place[1]) <= 3
        assert (sentence.id is None) == (rank > 1 or plain[0].id is None)
        if not sentence.is_alternative:
            current = sentence
        assert sentence.forms == current.forms


@pytest.mark.parametrize("name", ["conllu", "amr"])
def test_score_compares_the_first_of_each_sentence(parsed, name):
    _, sample, one, several = parsed[name]
    assert run_here("score", sample, several, "--json").stdout == run_here("score", sample, one, "--json").stdout


def test_what_opens_paragraphs_comes_once():
    done = run_here("parse", "en-ewt", "-", "--raw", "--beam", "3", "--nbest", "3", stdin="She sleeps.\n\nHe reads.\n")
    assert done.stdout.count("# newpar") == done.stdout.count("# sent_id") == 2
    assert done.stdout.count("# nbest = ") == done.stdout.count("# score = ") == done.stdout.count("# text = ") > 2


def test_comments_of_an_earlier_parse_are_replaced(parsed, tmp_path):
    model, _, one, several = parsed["conllu"]
    again = tmp_path / "again.conllu"
    run_here("parse", model, several, *OPTIONS, "-o", again)
    assert "nbest" not in again.read_text(encoding="utf-8") and "# score" not in again.read_text(encoding="utf-8")
    firsts = [sentence for sentence, before in zip(read(again), read(several)) if not before.is_alternative]
    assert [sentence.rows for sentence in firsts] == [sentence.rows for sentence in read(one)]


def test_node_scores_are_in_the_order_of_nodes():
    done = run_here("parse", "en-amr", "-", "--scores", stdin="The teacher gave the book to Anna.\n")
    (scores,) = re.findall(r"^# ::node_scores (.*)$", done.stdout, re.M)
    assert len(scores.split()) == len(re.findall(r"^# ::node\t", done.stdout, re.M)) > 3
    assert all(0 <= float(score) <= 1 for score in scores.split())
