"""Which columns commands take of a treebank: named ones, and all that it has."""

from pathlib import Path

import pytest

from tests.conftest import run_here
from transition_parser.cli.options import columns_to_train
from transition_parser.parsing.formalisms import AMR, TREES
from transition_parser.text.columns import KNOWN

NOT_GIVEN = dict.fromkeys(column.flag for column in KNOWN.values())


@pytest.fixture
def treebank(tmp_path) -> Path:
    """A treebank without XPOS."""
    path = tmp_path / "train.conllu"
    rows = ["1\tGo\tgo\tVERB\t_\tMood=Imp\t0\troot\t_\t_", "2\t!\t!\tPUNCT\t_\t_\t1\tpunct\t_\t_"]
    path.write_text("\n".join(rows) + "\n\n")
    return path


def test_all_columns_that_there_are(treebank, tmp_path):
    data = tmp_path / "data"
    corpora = ("--train", treebank, "--valid", treebank, "--system", "arc-eager", "--pieces", "264", "--dest", data)
    done = run_here("preprocess", "dependency", *corpora, "--all-columns")
    assert f"note: {treebank} has no XPOS tags" in done.stderr and done.stderr.count("\n") == 1
    assert (data / "train.feats").read_text() == "Mood=Imp |\n" and not (data / "train.xpos").exists()
    done = run_here("preprocess", "dependency", *corpora, "--xpos", status=2)
    assert "column XPOS is empty" in done.stderr and "leave out --xpos" in done.stderr


def taken(treebank: Path, flags: set[str], formalism=TREES, **given) -> set[str]:
    found = columns_to_train(NOT_GIVEN | given, flags, formalism, str(treebank))
    return {flag for flag, value in found.items() if value}


def test_training_predicts_the_columns_that_there_are(treebank, capsys):
    assert taken(treebank, {"--tag-loss"}) == {"upos", "lemmas", "feats"}
    assert "has no XPOS tags: models can't learn to predict them" in capsys.readouterr().err
    assert taken(treebank, {"--tag-loss"}, feats=False, xpos=True) == {"upos", "lemmas", "xpos"}
    assert taken(treebank, {"--read-tags"}) == {"upos"} and taken(treebank, set()) == set()
    assert taken(treebank, {"--tag-loss", "--read-domain"}, AMR) == {"domains"}
    assert capsys.readouterr().err == ""
