"""What differs between trees and AMRs, without a network."""

import pytest

from tests.conftest import SAMPLE, SAMPLE_AMR, python
from transition_parser.base.errors import InputError
from transition_parser.parsing.formalisms import AMR, FORMALISMS, OF_SYSTEM, TREES, formalism_of_files, read, score
from transition_parser.transitions import SYSTEMS

SAMPLES = {TREES: SAMPLE, AMR: SAMPLE_AMR}


def test_scores_of_files_and_of_parses_are_the_same(tmp_path):
    for formalism, path in SAMPLES.items():
        gold = [*read(path)]
        figures = formalism.scoring.score(path, path)
        assert score(path, gold) == score(gold, path) == score(gold, gold) == figures
    trees = [*read(SAMPLE)]
    assert score(trees, trees, full_labels=True, conll18=True)["conll18"]["LAS"]["f1"] == 100
    assert "concepts" in score(SAMPLE_AMR, SAMPLE_AMR, fine_grained=True)
    with pytest.raises(InputError, match="fine_grained is no option of trees"):
        score(trees, trees, fine_grained=True)


def test_each_system_is_of_one_formalism():
    assert sorted(name for formalism in FORMALISMS for name in formalism.systems) == sorted(SYSTEMS)
    assert all(OF_SYSTEM[name] is formalism for formalism in FORMALISMS for name in formalism.systems)
    assert all(formalism.default_system in formalism.systems for formalism in FORMALISMS)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.conllu", "# x\n\n1\tHi\t_\t_\t_\t_\t0\troot\t_\t_\n", TREES),
        ("a.txt", "# ::id a\n(h / hi)\n", AMR),
        ("a.amr", "", AMR),
        ("a.amr", "1\tHi", AMR),
        ("a.txt", "no graph of any kind", TREES),
        ("a.txt", "", TREES),
    ],
)
def test_what_files_hold(tmp_path, name, text, expected):
    path = tmp_path / name
    path.write_text(text)
    assert formalism_of_files(path) is expected
    assert formalism_of_files(path, "/dev/null") is expected


def test_files_of_two_kinds():
    assert formalism_of_files(SAMPLE_AMR, SAMPLE_AMR) is AMR
    with pytest.raises(InputError, match=r"sample\.amr: AMR, but .*sample\.conllu is CoNLL-U: give files of one kind"):
        formalism_of_files(SAMPLE, "/dev/null", SAMPLE_AMR)


def test_commands_for_graphs_load_no_torch(tmp_path):
    commands = [
        *(["score", str(path), str(path)] for path in (SAMPLE, SAMPLE_AMR)),
        *(["draw", str(path), "-o", "x.svg"] for path in (SAMPLE, SAMPLE_AMR)),
        ["oracle", str(SAMPLE), "--system", "arc-eager"],
        ["oracle", str(SAMPLE_AMR), "--system", "amr"],
    ]
    code = f"""
import sys
sys.modules["torch"] = sys.modules["fairseq"] = None  # importing them is an error
from transition_parser.cli.main import main
sys.exit(max([main(command) for command in {commands!r}]))"""
    assert python("-c", code, cwd=tmp_path).stderr == ""
