"""Sentences that were found in text, as they are parsed and written."""

import pytest
from hypothesis import given

from tests.text.test_learned_segmentation import SEGMENTER
from tests.text.test_tokens import TEXTS, shown
from transition_parser.base.errors import InputError, ParserWarning
from transition_parser.graphs.bank import AmrEntry, read_bank
from transition_parser.graphs.conllu import Sentence, parse_conllu
from transition_parser.parsing.texts import Reading, read_sentences, sentences_from
from transition_parser.text.segmentation import ENGLISH

TEXT = "We can't\nsleep.  Why? (Noise.)\n\nGo now."
KINDS = pytest.mark.parametrize("kind", [Sentence, AmrEntry])

WRITTEN = """\
# newpar
# sent_id = 1
# text = We can't sleep.
1\tWe\t_\t_\t_\t_\t_\t_\t_\t_
2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\t_
2\tca\t_\t_\t_\t_\t_\t_\t_\t_
3\tn't\t_\t_\t_\t_\t_\t_\t_\t_
4\tsleep\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
5\t.\t_\t_\t_\t_\t_\t_\t_\t_

# sent_id = 2
# text = Why?
1\tWhy\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
2\t?\t_\t_\t_\t_\t_\t_\t_\t_

# sent_id = 3
# text = (Noise.)
1\t(\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
2\tNoise\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
3\t.\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
4\t)\t_\t_\t_\t_\t_\t_\t_\t_

# newpar
# sent_id = 4
# text = Go now.
1\tGo\t_\t_\t_\t_\t_\t_\t_\t_
2\tnow\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
3\t.\t_\t_\t_\t_\t_\t_\t_\t_

"""


def read(path, kind, layout=None, **options):
    return read_sentences(path, Reading(kind, layout, **options))


def test_what_is_written_of_a_text():
    assert "".join(map(str, sentences_from(TEXT, Reading(Sentence)))) == WRITTEN


@KINDS
@given(text=TEXTS)
def test_spans_are_where_the_words_are(kind, text):
    if "\0" in text:
        return
    sentences = sentences_from(text, Reading(kind))
    for sentence in sentences:
        assert [text[start:end] for start, end in sentence.spans] == sentence.forms
    assert "".join(shown(form) for sentence in sentences for form in sentence.forms) == shown(text)


@given(text=TEXTS)
def test_what_is_written_can_be_read_and_gives_the_text_back(text):
    if "\0" in text:
        return
    written = "".join(map(str, sentences_from(text, Reading(Sentence))))
    for sentence in parse_conllu(line.encode() for line in written.split("\n")):
        texts = [c.removeprefix("# text = ") for c in sentence.comments if c.startswith("# text")]
        covered, spelt = 0, ""
        for row in sentence.rows:
            if row.is_range or int(row.id) > covered:
                spelt += row.form + " " * (row.misc == "_")
                covered = row.span[1] if row.is_range else int(row.id)
        assert [spelt.strip()] == texts


@KINDS
def test_the_sentences_of_several_texts_are_numbered_through(kind):
    sentences = sentences_from(["Go. Stop.", "Wait."], Reading(kind))
    assert [sentence.id for sentence in sentences] == ["1", "2", "3"]
    assert [sentence.spans[0] for sentence in sentences] == [(0, 2), (4, 8), (0, 4)]


@KINDS
@pytest.mark.parametrize("segmenter", [ENGLISH, SEGMENTER])
@pytest.mark.parametrize(
    "text",
    [
        "Go on.\r\nStop it.\r\n\r\nWait.",
        "\ufeffThe boy left.\nGo on.\n",
        "\ufeff\r\nThe boy left.\r\n",
        "\r\n\r\nJ.\r\nSmith left etc.\r\nand No.\r\n5 stayed. \r\nGo\r\n",
        "Go.\rStop.\r\n\x0b\r\nWait.\x85No.\u2028Yes.\n",
        "Go.\n\n\U0001f600 Stop.\r\n\r\nNo.\r\n",
    ],
)
def test_places_are_those_in_the_file_as_it_is_and_in_the_same_string(kind, segmenter, text, tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes(text.encode())
    as_text = sentences_from(text, Reading(kind, segmenter=segmenter))
    for found in (as_text, list(read(path, kind, layout="raw", segmenter=segmenter))):
        assert [s.spans for s in found] == [s.spans for s in as_text]
        assert [str(s) for s in found] == [str(s) for s in as_text]
        for sentence in found:
            assert [text[start:end] for start, end in sentence.spans] == sentence.forms


@KINDS
@pytest.mark.parametrize("layout", ["tokens", "tokenize"])
def test_carriage_returns_inside_lines_of_sentences_are_refused(kind, layout, tmp_path):
    path = tmp_path / "x.txt"
    path.write_bytes(b"Go .\r\nStop .\r\n")
    assert [sentence.forms for sentence in read(path, kind, layout)] == [["Go", "."], ["Stop", "."]]
    path.write_bytes(b"Go .\nGo .\rStop .\r")
    with pytest.raises(InputError, match=r"x.txt:2: a carriage return \(CR\) inside the line: .*convert the file"):
        list(read(path, kind, layout))


@KINDS
@pytest.mark.parametrize("content", [b"", b" \n\n"])
def test_a_file_without_text_has_no_sentences(kind, content, tmp_path):
    (tmp_path / "x.txt").write_bytes(content)
    with pytest.warns(ParserWarning, match="x.txt: the file holds no sentences"):
        assert list(read(tmp_path / "x.txt", kind)) == []


@KINDS
def test_text_is_raw_unless_it_is_said_to_be_tokenized(kind, tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("Go. Don't\nstop .\n")
    assert [s.forms for s in read(path, kind)] == [["Go", "."], ["Do", "n't", "stop", "."]]
    assert [s.forms for s in read(path, kind, layout="tokens")] == [["Go.", "Don't"], ["stop", "."]]
    assert [s.forms for s in read(path, kind, layout="tokenize")] == [["Go", ".", "Do", "n't"], ["stop", "."]]


ROW = "1 The the DET DT Definite=Def 2 det _ _"
CONLLU = f"# sent_id = a\n{ROW}\n2 boy boy NOUN NN _ 0 root _ _\n\n"
BANK = "# ::id a ::date b\n# ::snt The boy\n(b / boy)\n\n"
NO_MARKUP = [
    "1 The cat sat on the 5 mats of gold\n",
    "# ::notes\n(a / b)\n",
    "# ::id card\nShow it.\n",
    "1\tGo\n",
    "a\tb\n",
]


@pytest.mark.parametrize(("kind", "text"), [(Sentence, BANK), (AmrEntry, CONLLU.replace(" ", "\t"))])
def test_a_file_of_other_graphs_is_refused_with_the_option_that_reads_it(kind, text, tmp_path):
    (tmp_path / "x.txt").write_text(text)
    with pytest.raises(InputError, match=r"x.txt: the file is .*--raw, in Python the layout"):
        list(read(tmp_path / "x.txt", kind))


@KINDS
@pytest.mark.parametrize("layout", ["tokens", "tokenize"])
def test_lines_have_ids_numbers_and_places(kind, layout, tmp_path):
    text = "\ufeff\r\nGo on .\r\n \t\r\n\nDon't\tstop .\n\nNo"
    (tmp_path / "x.txt").write_bytes(text.encode())
    found = list(read(tmp_path / "x.txt", kind, layout))
    assert [(s.id, s.line) for s in found] == [("1", 2), ("2", 5), ("3", 7)]
    assert all(f"line = {s.line}" in str(s) or s.metadata["line"] == str(s.line) for s in found)
    for sentence in found:
        assert [text[start:end] for start, end in sentence.spans] == sentence.forms


@KINDS
def test_words_on_lines_of_their_own(kind, tmp_path):
    """What follows a tab is no word; blanks inside a word are a part of it, which CoNLL-U allows."""
    text = "\ufeff\r\nGo\tVERB\tgo\r\n on \r\n \t\n\nDon't\n.\n\nNo"
    (tmp_path / "x.txt").write_bytes(text.encode())
    found = list(read(tmp_path / "x.txt", kind, layout="vertical"))
    assert [(s.id, s.line, s.forms) for s in found] == [
        ("1", 2, ["Go", "on"]),
        ("2", 6, ["Don't", "."]),
        ("3", 9, ["No"]),
    ]
    for sentence in found:
        assert [text[start:end] for start, end in sentence.spans] == sentence.forms
        assert sentence.text == " ".join(sentence.forms)
    (tmp_path / "y.txt").write_text("No\n\nin\nNew York\n")
    if kind is Sentence:
        assert [*read(tmp_path / "y.txt", kind, layout="vertical")][1].forms == ["in", "New York"]
        return
    with pytest.raises(InputError, match=r"y.txt:3: word 2 is 'New York': words must not be empty or contain blanks"):
        list(read(tmp_path / "y.txt", kind, layout="vertical"))


@KINDS
@pytest.mark.parametrize("blank", "\u00a0\u2003\u3000\u0085\u2028\x0b\x1c")
def test_tokens_are_divided_at_blanks_and_tabs_alone(kind, blank, tmp_path):
    path, tokens = tmp_path / "x.txt", [f"10{blank}000", "men", blank, "go", f"{blank}now", "."]
    path.write_bytes((" \t".join(tokens) + "\n").encode())
    (sentence,) = read(path, kind, layout="tokens")
    assert sentence.forms == tokens and sentence.text == " ".join(tokens)
    if kind is AmrEntry:
        bank = tmp_path / "x.amr"
        bank.write_text(f"# ::id a ::snt x\n# ::tok {' '.join(tokens)}\n(g / go-01~e.3)\n", newline="")
        for entry in (*read(bank, kind), *read_bank(bank)):
            assert entry.forms == tokens
        assert sentences_from([["a", tokens[0]]], Reading(AmrEntry))[0].forms == ["a", tokens[0]]


@KINDS
def test_one_warning_says_where_sentences_are_divided(kind, tmp_path):
    path = tmp_path / "long.txt"
    path.write_text("Go. Stop it. 1 2 3 4 5 6 7 8 9")
    with pytest.warns(ParserWarning) as warned:
        found = list(read(path, kind, layout="raw", longest=4))
    assert [sentence.forms for sentence in found[2:]] == [["1", "2", "3", "4"], ["5", "6", "7", "8"], ["9"]]
    assert len(warned) == 1
    assert str(warned[0].message).startswith(f"{path}: sentence 3 is longer than 4 words and is divided there")


@KINDS
@pytest.mark.parametrize("layout", ["tokens", "tokenize"])
def test_a_line_that_is_one_long_sentence_is_refused(kind, layout, tmp_path):
    path = tmp_path / "long.txt"
    path.write_text("a b c\nb c d e f")
    with pytest.raises(InputError, match=rf"{path}:2: the sentence has more than 4 words.*--longest N"):
        list(read(path, kind, layout, longest=4))
    path.write_text("a\n\na\nb\nc\nd\n")
    with pytest.raises(InputError, match=rf"{path}:3: the sentence has more than 3 words"):
        list(read(path, kind, layout="vertical", longest=3))


@KINDS
@pytest.mark.parametrize("text", [*NO_MARKUP, "# Title\n\nGo on.\n", "a\tb\tc\td\te\tf\tg\th\ti\n"])
def test_text_is_not_taken_for_markup(kind, text, tmp_path):
    (tmp_path / "x.txt").write_text(text)
    for layout in (None, "tokens", "tokenize", "raw"):
        forms = [form for sentence in read(tmp_path / "x.txt", kind, layout) for form in sentence.forms]
        assert "".join(forms) == "".join(text.split()), layout
