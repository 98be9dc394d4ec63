"""Which columns commands take of a treebank: named ones, and all that it has."""

from argparse import ArgumentParser
from pathlib import Path

import pytest

from tests.conftest import run_here
from transition_parser.base.errors import InputError
from transition_parser.cli.train import _data_options, add_arguments
from transition_parser.parsing.formalisms import AMR, TREES


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
    done = run_here("preprocess", "dependency", *corpora, "--columns", "all")
    assert f"note: {treebank} has no XPOS tags" in done.stderr and done.stderr.count("\n") == 1
    assert (data / "train.feats").read_text() == "Mood=Imp |\n" and not (data / "train.xpos").exists()
    done = run_here("preprocess", "dependency", *corpora, "--columns", "xpos", status=2)
    assert "column XPOS is empty" in done.stderr and "leave xpos out of --columns" in done.stderr


def taken(treebank: Path, flags: set[str], formalism=TREES, *given: str) -> list[str]:
    parser = ArgumentParser()
    add_arguments(parser)
    arguments = parser.parse_args(["CONFIG", "-o", "out", "--train", str(treebank), *given])
    return _data_options(arguments, formalism, flags)["columns"]


def test_training_predicts_the_columns_that_there_are(treebank, capsys):
    assert taken(treebank, {"--tag-loss"}) == ["upos", "lemma", "feats"]
    assert "has no XPOS tags: models can't learn to predict them" in capsys.readouterr().err
    assert taken(treebank, {"--tag-loss"}, TREES, "--columns", "upos", "xpos") == ["upos", "xpos"]
    assert taken(treebank, {"--read-tags"}) == ["upos"] and taken(treebank, set()) == []
    assert taken(treebank, {"--tag-loss", "--read-domain"}, AMR) == ["domain"]
    assert capsys.readouterr().err == ""
    with pytest.raises(InputError, match="--columns upos: AMRs have domain alone"):
        taken(treebank, set(), AMR, "--columns", "upos")
