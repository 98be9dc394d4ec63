"""Reading AMR banks: what is read, and that whatever can't be read is said."""

from pathlib import Path

import pytest

from tests.conftest import ROOT
from transition_parser.base.errors import InputError
from transition_parser.graphs.bank import AmrEntry, jamr_lines, parse_bank, read_bank

SAMPLE = ROOT / "tests" / "data" / "sample.amr"
DOG = "# ::id dog\n# ::snt A dog barks .\n(b / bark-01\n      :ARG0 (d / dog))\n"
CAT = DOG.replace("dog", "cat").replace("(d", "(c")


def entries(text: str, **options) -> list[AmrEntry]:
    return list(parse_bank(text.encode().splitlines(keepends=True), "bank.amr", **options))


def entry(graph: str, *comments: str) -> AmrEntry:
    (only,) = entries("\n".join((*comments, graph)) + "\n")
    return only


def problem(text: str, **options) -> str:
    with pytest.raises(InputError) as caught:
        entries(text, **options)
    return str(caught.value)


def test_sample_is_written_as_it_was_read():
    written = "".join(map(str, read_bank(SAMPLE)))
    header, _, rest = SAMPLE.read_text(encoding="utf-8").partition("\n\n")
    assert header.startswith("# ") and written == rest + "\n"


def test_metadata():
    e = entry("(h / hi)", "# ::id a.1 ::date 2012-11-18T16:26:36 ::preferred", "# ::snt Hi", "# ::save-date Tue, 2013")
    assert e.metadata == {
        "id": "a.1",
        "date": "2012-11-18T16:26:36",
        "preferred": "",
        "snt": "Hi",
        "save-date": "Tue, 2013",
    }
    assert e.id == "a.1" and e.text == "Hi" and e.tokens is None and (e.path, e.line) == ("bank.amr", 1)


@pytest.mark.parametrize("text", ["Use std ::vector :: here", "::id is a key", "a # b", "x ::tok y"])
def test_colons_in_sentences(text):
    assert entry("(h / hi)", f"# ::snt {text}").metadata == {"snt": text}
    assert entry("(h / hi)", f"# ::tok {text}").tokens == text.split()
    assert entry("(h / hi)", f"# ::id a ::snt {text}").metadata == {"id": "a", "snt": text}


def test_text():
    assert entry("(h / hi)", "# ::tok Hi .", "# ::snt Hi.").text == "Hi."
    assert entry("(h / hi)", "# ::tok Hi .").text == "Hi ."
    with pytest.raises(
        InputError, match=r"bank.amr:1: sentence a: the entry has no sentence: add `# ::snt` or `# ::tok`"
    ):
        assert entry("(h / hi)", "# ::id a", "# ::snt").text


def test_entry_without_graph():
    text = f"# ::id a\n# ::snt Hi .\n\n{DOG}"
    assert problem(text) == "bank.amr:1: sentence a: the entry has no graph: write (a / amr-empty) for an empty one"
    assert "no graph" in problem("# ::id a\n")
    assert "no graph" in problem("# ::tok Hi\n")
    first, second = entries(text, graphs=False)
    assert first.graph is None and first.text == "Hi ." and str(first) == "# ::id a\n# ::snt Hi .\n\n"
    assert second.graph is None and second.id == "dog"


def test_line_ends_and_byte_order_mark():
    plain = entries(f"{DOG}\n{CAT}")
    for text in ("\ufeff" + DOG + "\n" + CAT, f"{DOG}\n{CAT}".replace("\n", "\r\n"), f"{DOG}\n{CAT}".rstrip("\n")):
        assert [(e.metadata, e.graph, e.penman) for e in entries(text)] == [
            (e.metadata, e.graph, e.penman) for e in plain
        ]


def test_carriage_returns_that_end_lines_are_refused(tmp_path):
    """Such a file reads as one line; programs with other ideas of lines could not read what is written of it."""
    path = tmp_path / "old.amr"
    path.write_bytes(f"{DOG}\n{CAT}".replace("\n", "\r").encode())
    for graphs in (True, False):
        with pytest.raises(
            InputError, match=r"old.amr:1: a carriage return \(CR\) inside the line: .*convert the file"
        ):
            list(read_bank(path, graphs=graphs))
    path.write_bytes(f"{DOG}\n{CAT}".replace("# ::snt", "# ::x\r# ::snt", 1).encode())
    left_out: list[InputError] = []
    (kept,) = read_bank(path, left_out)
    assert kept.penman == entries(CAT)[0].penman and "CR" in str(left_out[0]) and "\n" not in str(left_out[0])


@pytest.mark.parametrize("mark", ["~e.0,2", "~0,2", "~a.2,0", "~e.2,0,2"])
def test_alignment_marks(mark):
    e = entry(f"(b / bark-01{mark} :polarity~e.1 -{mark} :ARG0 (d / dog~e.1) :ARG1 d~e.0)", "# ::tok a b c")
    assert e.graph.labels == ("bark-01", "-", "dog")
    assert e.alignments == ((0, 2), (0, 2), (1,))
    assert [edge.role for edge in e.graph.edges] == ["polarity", "ARG0", "ARG1"]


WANT = '(w / want-01 :ARG0 (b / boy) :ARG1 (g / go-02 :ARG0 b :ARG4 (c / city :name (n / name :op1 "Rome"))))'
TOK = "# ::tok the boy wants to go to Rome"


def aligned(alignments: str) -> dict[str, tuple[int, ...]]:
    e = entry(WANT, TOK, f"# ::alignments {alignments} ::annotator Aligner v.03")
    assert e.metadata["annotator"] == "Aligner v.03"
    return {label: tokens for label, tokens in zip(e.graph.labels, e.alignments, strict=True) if tokens}


def test_jamr_lines():
    (entry,) = entries(
        "# ::id a\n# ::tok I saw myself who left\n# ::alignments 0-1|0.0 2-3|0.0 1-2|0 4-5|0.0.0\n"
        "(s / see-01 :ARG0 (i / i :ARG0-of (l / leave-11 :ARG1 i :mode -)) :ARG1 i)"
    )
    lines = jamr_lines(entry)
    assert lines == [
        "# ::alignments 0-1|0.0 1-2|0 2-3|0.0 4-5|0.0.0",
        *("# ::node\t0\tsee-01\t1-2", "# ::node\t0.0\ti\t0-1,2-3", "# ::node\t0.0.0\tleave-11\t4-5"),
        "# ::node\t0.0.0.0\t-\t",
    ]
    text = "\n".join(["# ::tok I saw myself who left", *lines, entry.penman]) + "\n"
    (again,) = entries(text)
    assert (again.graph, again.alignments) == (entry.graph, entry.alignments) and again.alignments[1] == (0, 2)


def test_jamr_alignments():
    found = aligned("2-3|0 0-2|0.0 4-5|0.1 6-7|0.1.0+0.1.0.0+0.1.0.0.0")  # a re-entrant b has no number
    rome = {label: (6,) for label in ("city", "name", '"Rome"')}
    assert found == {"want-01": (2,), "boy": (0, 1), "go-02": (4,), **rome}


def test_isi_alignments():
    found = aligned("2-1 0-1.1 1-1.1 4-1.2 5-1.2.2.r 6-1.2.2.1.1 1-1.2.1 3-*")
    assert found == {"want-01": (2,), "boy": (0, 1), "go-02": (4,), '"Rome"': (6,)}


@pytest.mark.parametrize(
    "alignments, said",
    [
        ("2-3|0.7", "no node 0.7"),
        ("0-99999999|0", "not a range: the sentence has 7 tokens"),
        ("3-3|0", "not a range"),
        ("5-2|0", "not a range"),
        ("x-1", "has x-1: write"),
        ("²-3|0", "write 0-1|0.0 (JAMR) or 5-1.2 (ISI)"),
        ("7-1", "want-01 is aligned to token 7, but the sentence has 7 tokens (counted from 0)"),
    ],
)
def test_bad_alignment_lists(alignments, said):
    assert said in problem(f"# ::id w\n{TOK}\n# ::alignments {alignments}\n{WANT}\n")


@pytest.mark.parametrize("digits", [10, 4300, 4301])
def test_an_alignment_of_many_digits(digits):
    for sentence in ("", "# ::snt A dog barks .\n"):
        message = problem(f"# ::id w\n{sentence}(b / bark-01~e.{'9' * digits})\n")
        assert "no sentence has as many tokens as this alignment says" in message and len(message) < 300
    jamr = f"# ::alignments 0-{'1' * min(digits, 9)}|0"
    assert "10,000 tokens are allowed at most" in problem(f"# ::id w\n{jamr}\n{WANT}\n")


@pytest.mark.parametrize(
    "graph, said",
    [
        ("(b / bark-01 :ARG0 (d / dog)", "the text ends within the graph"),
        ("(b / bark-01 :ARG0 (d / dog)))", "text after the end of the graph: is there a parenthesis too many"),
        ("(b / bark-01) :ARG0 x", "text after the end of the graph"),
        ("(b / bark-01)(d / dog)", "text after the end of the graph"),
        ("(b / bark-01) # a remark", "text after the end of the graph"),
        ("b / bark-01)", "the graph does not begin with a parenthesis: is the file an AMR bank?"),
        ("  A dog barks.", "the graph does not begin with a parenthesis"),
        ("((b / bark-01))", "a variable is expected here"),
        ('(n / name :op1 "Rex)', "a node, a variable or a constant is expected here"),
        ("(n / name :op1 New York)", "a role or a closing parenthesis is expected here"),
        ("(b / bark-01 / dog)", "a role or a closing parenthesis is expected here"),
    ],
)
def test_broken_syntax(graph, said):
    message = problem(f"{DOG}\n# ::id x\n# ::snt A dog barks .\n{graph}\n")
    first, line, caret = message.split("\n")
    assert first.startswith("bank.amr:8: sentence x: ") and said in first
    assert line == f"  {graph}" and caret.strip() == "^" and len(caret) <= len(line) + 1


@pytest.mark.parametrize(
    "graph, said",
    [
        ("(b / bark-01 :ARG0 d)", "the variable d (:ARG0 of b) is not defined"),
        ("(b / bark-01 :ARG0 (b / boy))", "the variable b is defined twice"),
        ("(b / bark-01 :ARG0 (d))", "the variable d has no concept: write (d / concept)"),
        ("(b / bark-01 :ARG0 (d / ))", "the variable d has no concept"),
        ("(b / bark-01 :ARG0 ())", "a node without a variable"),
        ("(b / bark-01 :ARG0)", ":ARG0 of b has no value"),
        ("(b / bark-01 :ARG0 :ARG1 6)", ":ARG0 of b has no value"),
        ("(b / bark-01 :wiki)", ":wiki of b has no value"),
        ("(b / bark-01 : (d / dog))", "a role of b has no name"),
        ("(b / bark-01 :-of (d / dog))", "a role of b has no name"),
    ],
)
def test_broken_graph(graph, said):
    assert problem(f"{DOG}\n# ::id x\n{graph}\n").startswith(f"bank.amr:7: sentence x: {said}")


def test_blank_line_missing_between_entries():
    assert "the entry has two `# ::id`: is a blank line missing" in problem(DOG + CAT)
    assert "two `# ::snt`" in problem("# ::snt a\n# ::snt b\n(a / a)\n")
    assert "two `# ::id`" in problem("# ::id a ::id b\n(a / a)\n")
    assert "text after the end of the graph" in problem("(b / bark-01)\n(d / dog)\n")


def test_skip_bad_counts_each_entry():
    bad: list[InputError] = []
    text = "\n".join((DOG, "# ::id a\n# ::snt a\n(a / b\n", CAT, "# ::id c\n# ::snt c\n", "(d / e :ARG0 f)\n"))
    assert [e.id for e in entries(text, skip_bad=bad)] == ["dog", "cat"]
    assert [str(error).split(": ")[0] for error in bad] == ["bank.amr:8", "bank.amr:15", "bank.amr:18"]


def banks(corpora: Path) -> list[Path]:
    return sorted((corpora / "amr").glob("*/*.amr"))


BROKEN = {"wiser-dialogue-amr/train.amr": 3, "wiser-dialogue-amr/dev.amr": 1}


@pytest.mark.slow
def test_whole_corpora(corpora):
    for path in banks(corpora):
        bad: list[InputError] = []
        read = list(read_bank(path, bad))
        text = path.read_text(encoding="utf-8")
        assert len(read) + len(bad) == text.count("# ::snt "), path
        assert len(bad) == BROKEN.get("/".join(path.parts[-2:]), 0), bad
        for e in read:
            assert str(e).strip() in text
            again = entry(e.graph.to_penman(e.alignments, e.wiki))
            assert sorted(again.graph.labels) == sorted(e.graph.labels), e.id
            assert len(again.graph.edges) == len(e.graph.edges) and sorted(again.alignments) == sorted(e.alignments)
