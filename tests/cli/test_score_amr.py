"""`transition-parser score` with AMRs."""

import json

import pytest

from tests.conftest import fails, run_here

GOLD = """# ::id a
# ::snt The boy wants to go .
(w / want-01~e.2
      :ARG0 (b / boy~e.1)
      :ARG1 (g / go-01
            :ARG0 b))
"""
SYSTEM = "# ::id a\n(w / want-01 :ARG0 (b / girl) :ARG1 (g / go-02 :ARG0 b :polarity -))\n"
SMATCH = {"precision": 0.625, "recall": 0.7143, "f1": 0.6667}  # 5 of 8, of 7


@pytest.fixture
def files(tmp_path):
    paths = tmp_path / "gold.amr", tmp_path / "system.amr"
    for path, text in zip(paths, (GOLD, SYSTEM), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def test_json(files):
    found = json.loads(run_here("score", *files, "--json").stdout)
    assert found == {"sentences": 1, "smatch": SMATCH}
    same = run_here("score", *files, "--json", "--seed", "5", "--processes", "2").stdout
    assert json.loads(same) == found


def test_entries_with_other_ids(files):
    files[1].write_text(SYSTEM.replace("::id a", "::id 1"), encoding="utf-8")
    assert "--ignore-ids" in fails("score", *files)
    found = json.loads(run_here("score", *files, "--json", "--ignore-ids").stdout)
    assert found["smatch"] == SMATCH


def test_wiki_is_left_out_of_both_files_on_request(tmp_path):
    gold, system, plain = (tmp_path / name for name in ("gold.amr", "system.amr", "plain.amr"))
    named = '# ::id a\n# ::snt It is Rome .\n(c / city{} :name (n / name :op1 ":wiki x"))\n'
    gold.write_text(named.format(' :wiki~e.1 "New \\" Rome"~e.2'), encoding="utf-8")
    system.write_text(named.format("\n:wiki -"), encoding="utf-8")
    plain.write_text(named.format(""), encoding="utf-8")
    for ours, theirs in ((gold, system), (gold, plain), (plain, system)):
        found = json.loads(run_here("score", theirs, ours, "--ignore-wiki", "--fine-grained", "--json").stdout)
        same = json.loads(run_here("score", plain, plain, "--fine-grained", "--json").stdout)
        assert found == same and found["wiki"] is None and found["smatch"]["f1"] == 1
        assert json.loads(run_here("score", theirs, ours, "--json").stdout)["smatch"]["f1"] < 1


def test_alternatives_are_left_out(files):
    files[1].write_text(SYSTEM + "\n# ::nbest 2/2\n(w / want-01)\n", encoding="utf-8")
    assert json.loads(run_here("score", *files, "--json").stdout)["smatch"] == SMATCH


def test_fine_grained(files):
    found = json.loads(run_here("score", *files, "--json", "--fine-grained").stdout)
    names = "unlabeled no_wsd concepts named_entities negation wiki reentrancies srl".split()
    assert list(found) == ["sentences", "smatch", *names]
    assert found["no_wsd"]["precision"] == 0.75  # go-02 is right now
    assert found["concepts"] == {"precision": 0.3333, "recall": 0.3333, "f1": 0.3333}
    assert found["wiki"] is None and found["named_entities"] is None
    assert found["negation"] == {"precision": 0.0, "recall": 0.0, "f1": 0.0}
