"""Broken files: an `InputError` or nothing, and what is accepted is read as what it says.

Bytes, tokens and lines of the samples are changed at random, with a seed. What is accepted must come back the same when
it is written and read again, through oracle and replay too, and the commands end with status 0 or 2.
"""

import contextlib
import io
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.conftest import SAMPLE, SAMPLE_AMR
from tests.helpers.mutations import mutated_bytes
from transition_parser.base.errors import InputError
from transition_parser.cli.main import main
from transition_parser.graphs.bank import AmrEntry, parse_bank, read_bank
from transition_parser.graphs.conllu import Sentence, parse_conllu, read_conllu
from transition_parser.graphs.smatch import count_entries
from transition_parser.oracles.amr_check import check_entry
from transition_parser.oracles.static import NonProjectiveError, oracle
from transition_parser.preprocess.aligner.aligner import aligned, with_sentences
from transition_parser.preprocess.amr import rewritten
from transition_parser.transitions import TREE_SYSTEMS, make_system

ROUNDS = [pytest.param(300, id="few"), pytest.param(5_000, id="many", marks=pytest.mark.slow)]


def mutations(sample: Path, seed: int, rounds: int) -> Iterator[bytes]:
    """Yields a few sentences of the sample, with some changes."""
    rng = random.Random(seed)
    blocks = [block + b"\n\n" for block in sample.read_bytes().strip().split(b"\n\n")]
    for _ in range(rounds):
        first = rng.randrange(len(blocks) - 3)
        yield mutated_bytes(b"".join(blocks[first : first + rng.randint(1, 3)]), rng)


def accepted(read, data: bytes) -> list:
    """What a reader makes of data, nothing for an `InputError`, which must name the file."""
    try:
        return list(read(io.BytesIO(data), "file"))
    except InputError as error:
        assert str(error).startswith("file:"), error
        return []


@pytest.mark.parametrize("rounds", ROUNDS)
def test_trees(rounds):
    good = 0
    for data in mutations(SAMPLE, 1, rounds):
        sentences = accepted(parse_conllu, data)
        good += bool(sentences)
        assert rows_of(accepted(parse_conllu, "".join(map(str, sentences)).encode())) == rows_of(sentences), data
        for sentence in sentences:
            check_tree(sentence)
    assert 0.1 * rounds < good < 0.9 * rounds


def rows_of(sentences: list[Sentence]) -> list:
    return [(sentence.rows, sentence.comments, sentence.id) for sentence in sentences]


def check_tree(sentence: Sentence) -> None:
    """A tree that is valid comes back from its column, and from its derivation."""
    try:
        tree = sentence.tree()
    except InputError as error:
        assert str(error).startswith("file:")
        return
    assert sentence.with_tree(tree).tree() == tree
    for name in TREE_SYSTEMS:
        system = make_system(name, tree.relations[tree.root - 1])
        with contextlib.suppress(NonProjectiveError, ValueError):
            actions = list(oracle(system, sentence.forms, tree))
            assert system.replay(sentence.forms, actions) == tree


@pytest.mark.parametrize("rounds", ROUNDS)
def test_banks(rounds):
    assert 0.1 * rounds < check_banks(SAMPLE_AMR, rounds) < 0.9 * rounds


def check_banks(path: Path, rounds: int) -> int:
    """Returns how many mutations of a bank are read."""
    good = 0
    for data in mutations(path, 2, rounds):
        entries = accepted(parse_bank, data)
        left_out: list[InputError] = []
        some = accepted(partial(parse_bank, skip_bad=left_out), data)
        assert all(str(error).startswith("file:") for error in left_out)
        assert not entries or (left_out == [] and some == entries)
        good += bool(entries)
        for entry in some:
            check_graph(entry)
        for entry in aligned(with_sentences(some, [])):
            check_derivation(entry)
    return good


def check_graph(entry: AmrEntry) -> None:
    """The graph comes back when it is written, as it was and anew."""
    (again,) = parse_bank(io.BytesIO(rewritten(entry).encode()))
    assert meaning(again) == meaning(entry)
    for key in ("id", "snt", "tok"):
        assert again.metadata.get(key) == entry.metadata.get(key)
    (as_it_was,) = parse_bank(io.BytesIO(str(entry).encode()))
    assert meaning(as_it_was) == meaning(entry) and as_it_was.metadata == entry.metadata
    with contextlib.suppress(InputError):
        assert count_entries(entry, again).f1 > 0


def meaning(entry: AmrEntry, alignments: bool = True) -> tuple:
    """What an entry says, however its nodes are numbered: constants go by what they are."""
    graph = entry.graph
    tokens = entry.alignments if alignments else [()] * len(graph)
    names = [
        f"{variable} / {label} {aligned}" if variable else f"{label} {aligned}"
        for variable, label, aligned in zip(entry.variables, graph.labels, tokens, strict=True)
    ]
    edges = sorted((names[source], role, names[target]) for source, role, target in graph.edges)
    return names[graph.top], sorted(names), edges, {names[node]: value for node, value in entry.wiki.items()}


def check_derivation(entry: AmrEntry) -> None:
    """Oracle and replay give the graph back, or say why there is no derivation."""
    assert all(entry.alignments)
    done = check_entry(entry, make_system("amr"))
    if done.derived.error is not None:
        assert str(done.derived.error).startswith("file:")
    else:
        assert done.exact and done.smatch.f1 == 1


RUNS = [pytest.param(12, id="few"), pytest.param(250, id="many", marks=pytest.mark.slow)]  # of commands, which write


@pytest.mark.slow
def test_banks_of_corpora(corpora):
    for path in sorted((corpora / "amr").rglob("*.amr")):
        check_banks(path, 300)


def status(*command) -> int:
    """The exit status of a command, which must be 0, or 2 with one message."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(part) for part in command])
    assert code in (0, 2) and "Traceback" not in err.getvalue(), err.getvalue()
    assert code == 0 or err.getvalue().startswith("transition-parser: error: "), err.getvalue()
    return code


@pytest.mark.parametrize("runs", RUNS)
def test_commands_on_trees(tmp_path, runs):
    path, dest = tmp_path / "a.conllu", tmp_path / "data"
    good = 0
    for data in mutations(SAMPLE, 3, runs):
        path.write_bytes(data)
        status("oracle", path, "--system", "arc-eager", "--check")
        good += status("oracle", path, "--system", "arc-hybrid-swap", "--check") == 0
        status("score", path, path)
        status("score", path, SAMPLE)
        options = ("--system", "arc-hybrid-swap", "--pieces", "400", "--dest", dest, "--columns", "upos")
        if status("preprocess", "dependency", "--train", SAMPLE, "--valid", path, *options) == 0:
            sentences = list(read_conllu(path))
            for name in ("valid.src", "valid.act", "valid.upos"):
                assert len((dest / name).read_text(encoding="utf-8").split("\n")) == len(sentences) + 1
            tags = [line.split() for line in (dest / "valid.upos").read_text(encoding="utf-8").split("\n")]
            assert [len(line) for line in tags[:-1]] == [len(sentence.words) for sentence in sentences]
    assert 0 < good < runs


@pytest.mark.parametrize("runs", RUNS)
def test_commands_on_banks(tmp_path, runs):
    path, dest, out = tmp_path / "a.amr", tmp_path / "data", tmp_path / "b.amr"
    good = 0
    for data in mutations(SAMPLE_AMR, 4, runs):
        path.write_bytes(data)
        status("score", path, path)
        code = status("oracle", path, "--system", "amr", "--check")
        skipping = status("oracle", path, "--system", "amr", "--check", "--skip-bad")
        good += code == 0
        assert code == 2 or skipping == 0
        assert status("align", path, out) == code == status("oracle", path, "--system", "amr")
        assert status("align", path, out, "--skip-bad") == skipping
        if skipping == 0:
            kept = {entry.line: entry for entry in read_bank(path, [])}
            again = [entry for entry in read_bank(out)]
            assert [meaning(entry, False) for entry in again] == [
                meaning(entry, False) for entry in kept.values() if entry.id in {e.id for e in again}
            ]
        command = ("preprocess", "amr", "--pieces", "400", "--dest", dest, "--train", SAMPLE_AMR, "--valid", path)
        assert status(*command) == code
        if code == 0:
            written = list(read_bank(dest / "valid.amr"))
            assert [meaning(e, False) for e in written] == [meaning(e, False) for e in read_bank(out)]
    assert 0 < good < runs
