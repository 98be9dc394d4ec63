"""Bad AMR input: what is wrong and where, in one line, or three with the place; exit status 2, nothing half-written."""

import pytest

from tests.conftest import SAMPLE, SAMPLE_AMR, fails, run_here
from tests.helpers.crosses import mostly_slow
from transition_parser.graphs.bank import read_bank

GOOD = "# ::id a\n# ::tok The cat sleeps\n(s / sleep-01~2\n      :ARG0 (c / cat~1))\n\n"
HEAD = GOOD + "# ::id b\n# ::tok A dog barks\n"
# of each kind of error one; all messages: tests/graphs/test_bank.py. An error of syntax has a caret below the place
BAD = {
    "syntax": (HEAD + "(b / bark-01\n      :ARG0 (d / dog)\n", ":9: sentence b: the text ends within the graph"),
    "variable": (HEAD + "(b / bark-01 :ARG0 d)\n", ":8: sentence b: the variable d (:ARG0 of b) is not defined"),
    "no sentence": (GOOD + "# ::id b\n(b / bark-01)\n", ":6: sentence b: the entry has no sentence: add `# ::snt`"),
    "blank": ("\n\n\n", ": the file holds no "),
}


@pytest.fixture
def write(tmp_path):
    """Writes a bank, and says where."""

    def writer(text: str, name: str = "bad.amr"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return writer


def assert_said(name: str, message: str, path) -> None:
    assert message.startswith(f"transition-parser: error: {path}:") and BAD[name][1] in message
    if name == "syntax":
        _first, line, caret = message.rstrip("\n").split("\n")
        assert line.strip() and caret.strip() == "^" and len(caret) <= len(line) + 1


@pytest.mark.parametrize("name", BAD)
def test_banks(write, tmp_path, name):
    path, lines = write(BAD[name][0]), 3 if name == "syntax" else 1
    message = fails("oracle", path, "--system", "amr", "--out-actions", tmp_path / "out", lines=lines)
    assert_said(name, message, path)
    assert [file.name for file in tmp_path.iterdir()] == ["bad.amr"]


@pytest.mark.parametrize("name", ["no sentence", "blank"])
def test_parse(write, tmp_path, amr_checkpoint, name):
    path, out = write(BAD[name][0]), tmp_path / "out.amr"
    out.write_text("old")
    assert_said(name, fails("parse", amr_checkpoint, path, "-o", out), path)
    assert out.read_text() == "old" and len(list(tmp_path.iterdir())) == 2


def test_parse_does_not_read_the_graphs(write, tmp_path, amr_checkpoint):
    paths = [write(BAD[name][0], f"{name}.amr") for name in ("syntax", "variable")]
    run_here("parse", amr_checkpoint, *paths, "-o", f"{tmp_path / 'out'}/")
    for path in paths:
        assert all(entry.graph.is_connected() for entry in read_bank(tmp_path / "out" / path.name))


@pytest.mark.parametrize("name", ["syntax", "variable", "blank"])
def test_score_and_draw(write, tmp_path, name):
    path, lines = write(BAD[name][0]), 3 if name == "syntax" else 1
    assert_said(name, fails("score", path, SAMPLE_AMR, lines=lines), path)
    entry = () if name == "blank" else ("--id", "b")
    assert_said(name, fails("draw", path, *entry, "-o", tmp_path / "x.svg", lines=lines), path)
    assert len(list(tmp_path.iterdir())) == 1


BAD_ENTRIES = {  # what align, oracle and preprocess refuse, all the same
    "syntax": ("# ::tok a b c", "(b / bark-01"),
    "nowhere": ("# ::tok a b c", "(b / bark-01 :ARG0 d)"),
    "list": ("# ::tok a b c\n# ::alignments 0-1|0.7", "(b / bark-01)"),
    "no_graph": ("# ::tok a b c", ""),
    "no_sentence": ("# ::date 2012-06-07", "(b / bark-01)"),
    "five": ("# ::tok a b c", "(b / bark-01 :a (d / dog) :b d :c d :d d :e d)"),
    "ten_nodes": ("# ::tok a", "(a / and " + " ".join(f":op{i} (x{i} / x)" for i in range(1, 10)) + ")"),
}


def entry_of(name: str) -> str:
    comments, graph = BAD_ENTRIES[name]
    return f"# ::id {name}\n{comments}\n{graph}\n\n"


def command_of(name: str, path, out) -> tuple:
    return {
        "align": ("align", path, out / "x.amr"),
        "oracle": ("oracle", path, "--system", "amr", "--out-actions", out / "x.act"),
        "check": ("oracle", path, "--system", "amr", "--check", "--out-actions", out / "x.act"),
        "preprocess": ("preprocess", "amr", "--train", path, "--valid", path, "--dest", out, "--pieces", "300"),
    }[name]


@pytest.fixture
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("out")


@pytest.mark.parametrize("command", ["align", "oracle", "check", "preprocess"])
def test_one_rule_for_what_is_left_out(write, out, command):
    header = "# a header of the file\n\n"
    path = write(header + GOOD + "".join(map(entry_of, BAD_ENTRIES)) + GOOD.replace("::id a", "::id z"))
    done = run_here(*command_of(command, path, out), "--skip-bad", "--json")
    times = 2 if command == "preprocess" else 1
    assert done.stderr.count("left out: ") == times * len(BAD_ENTRIES)
    assert done.stderr.count(f"{path}:") == times * len(BAD_ENTRIES)
    for name in BAD_ENTRIES:
        assert done.stderr.count(f"sentence {name}: ") == times, name
    assert f"transition-parser: {times * len(BAD_ENTRIES)} entries left out" in done.stderr
    if command == "align":  # what comes out is what the others take
        assert [entry.id for entry in read_bank(out / "x.amr")] == ["a", "z"]
        run_here("oracle", out / "x.amr", "--system", "amr", "--check")
        assert "header" not in (out / "x.amr").read_text() and "no_graph" not in (out / "x.amr").read_text()
    elif command != "preprocess":
        assert len((out / "x.act").read_text().splitlines()) == 2


@pytest.mark.parametrize("command", ["align", "oracle", "check", "preprocess"])
@pytest.mark.parametrize("name", BAD_ENTRIES)
def test_one_rule_for_what_is_refused(write, out, command, name):
    path = write(GOOD + entry_of(name))
    done = run_here(*command_of(command, path, out), status=2)
    assert f"{path}:" in done.stderr and f"sentence {name}: " in done.stderr and done.stdout == ""
    assert list(out.iterdir()) == []
    path = write(entry_of(name))
    done = run_here(*command_of(command, path, out), "--skip-bad", status=2)
    assert "the file holds no AMR that can be used: 1 left out, the first: " in done.stderr
    assert list(out.iterdir()) == []


def test_a_file_of_the_other_kind(amr_checkpoint, checkpoint, tmp_path):
    hint = "the graph does not begin with a parenthesis: is the file an AMR bank?"
    data = ("--dest", tmp_path / "d")
    assert hint in fails("oracle", SAMPLE, "--system", "amr", lines=3)
    assert hint in fails("align", SAMPLE, tmp_path / "x.amr", lines=3)
    assert hint in fails("preprocess", "amr", "--train", SAMPLE, "--valid", SAMPLE, *data, lines=3)
    hint = "is the file CoNLL-U?"
    trees = ("--system", "arc-eager")
    assert hint in fails("oracle", SAMPLE_AMR, *trees)
    assert hint in fails("preprocess", "dependency", "--train", SAMPLE_AMR, "--valid", SAMPLE_AMR, *trees, *data)
    bare = tmp_path / "bare.txt"
    bare.write_text("(b / bark-01)\n")
    assert f"{bare}:1: 1 columns separated by tabs, 10 expected: {hint}" in fails("oracle", bare, *trees)
    assert "is an AMR bank, but the model parses into trees" in fails("parse", checkpoint, SAMPLE_AMR)
    bank, treebank = SAMPLE_AMR.read_text(encoding="utf-8"), SAMPLE.read_text(encoding="utf-8")
    assert "standard input: the file is an AMR bank" in fails("parse", checkpoint, "-", stdin=bank)
    assert "is CoNLL-U, but the model parses into AMRs" in fails("parse", amr_checkpoint, SAMPLE)
    assert "is CoNLL-U, but the model parses into AMRs" in fails("parse", amr_checkpoint, "-", stdin=treebank)
    bare.write_text("".join(line + "\n" for line in treebank.splitlines() if not line.startswith("#")))
    assert "is CoNLL-U, but the model parses into AMRs" in fails("parse", amr_checkpoint, bare)
    assert "give files of one kind" in fails("score", SAMPLE, SAMPLE_AMR)
    assert [file.name for file in tmp_path.iterdir()] == ["bare.txt"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            ("oracle", SAMPLE, "--system", "arc-eager", "--skip-bad"),
            "--skip-bad is for AMRs: --system arc-eager builds",
        ),
        (("score", SAMPLE_AMR, SAMPLE_AMR, "--conll18"), "--conll18 is for trees: "),
        (("score", SAMPLE, SAMPLE, "--seed", "1"), "--seed is for AMRs: "),
    ],
)
def test_options_of_the_other_kind(command, said):
    assert said in fails(*command)


def test_options_that_only_one_kind_has(checkpoint, tmp_path):
    for options in (["--alignments"], ["--alignments", "marks"], ["--no-wiki"]):
        assert "is a model of trees" in fails("parse", checkpoint, SAMPLE, *options)
    amr = ("preprocess", "amr", "--train", SAMPLE_AMR, "--valid", SAMPLE_AMR, "--dest", tmp_path / "d")
    for option in (("--columns", "upos"), ("--system", "arc-eager")):
        assert "usage: " in run_here(*amr, *option, status=2).stderr
    trees = ("preprocess", "dependency", "--train", SAMPLE, "--valid", SAMPLE, "--dest", tmp_path / "d")
    for option in (("--system", "amr"), ("--system", "arc-eager", "--skip-bad")):
        assert "usage: " in run_here(*trees, *option, status=2).stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("beam", mostly_slow(["1", "3"], "1"))
def test_a_sentence_of_300_tokens(amr_checkpoint, tmp_path, beam):
    words = "the dog wants New York and".split() * 50
    out = tmp_path / "out.amr"
    run_here("parse", amr_checkpoint, "-", "-o", out, "--beam", beam, "--tokens", stdin=" ".join(words) + "\nHi .\n")
    long, short = read_bank(out)
    assert long.forms == words and short.forms == ["Hi", "."]
    assert long.graph.is_connected() and all(0 <= token < 300 for node in long.alignments for token in node)
    run_here("oracle", out, "--system", "amr", "--check")
