import pytest

from tests.conftest import SAMPLE
from transition_parser.base.errors import InputError
from transition_parser.graphs.conllu import read_conllu
from transition_parser.oracles.static import Coverage, run_oracle
from transition_parser.transitions import SYSTEMS, TREE_SYSTEMS, make_system


def cover(path, name: str, **options) -> Coverage:
    coverage = Coverage()
    for _ in run_oracle(read_conllu(path), make_system(name), coverage, check=True, **options):
        pass
    return coverage


@pytest.mark.parametrize("name", TREE_SYSTEMS)
def test_the_sample_comes_back(name):
    coverage = cover(SAMPLE, name)
    report = coverage.report(True)
    assert coverage.lossless and report["illegal_steps"] == 0
    assert report["uas"] == report["las"] == 100.0
    assert report["sentences"] == 64 and report["nonprojective"] == 14
    assert report["skipped"] == (14 if SYSTEMS[name].projective_only else 0)
    assert report["exact"] == 64 - report["skipped"]


def test_a_wrong_replay_is_counted(monkeypatch):
    """The check is no formality: an oracle that forgets its last action is found out."""
    from transition_parser.oracles import static

    original = static.oracle
    monkeypatch.setattr(static, "oracle", lambda *args: list(original(*args))[:-1])
    coverage = cover(SAMPLE, "arc-hybrid-swap")
    assert not coverage.lossless
    assert coverage.exact == 0 and coverage.illegal_steps == 64


def test_nonprojective_trees_can_be_an_error():
    with pytest.raises(InputError, match=r"sample\.conllu:\d+: sentence sample-03: .*SWAP"):
        cover(SAMPLE, "arc-eager", nonprojective="error")


@pytest.mark.slow
@pytest.mark.parametrize("name", TREE_SYSTEMS)
def test_all_treebanks_come_back(name, corpora):
    files = sorted(corpora.glob("ud/*/*.conllu"))
    assert len(files) >= 18
    for path in files:
        assert cover(path, name).lossless, path
