"""PropBank's annotation of the sentences of corpora, as `preprocess` writes it."""

import pytest

from tests.conftest import SAMPLE, SAMPLE_AMR, run_here
from transition_parser.base.errors import InputError
from transition_parser.graphs.conllu import read_conllu
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.preprocess.propbank import PropBank, head_of

SLEEPS = "# sent_id = sample-01\n3\tsleeps\tsleep.01\tARG0:1-2\tARGM-LOC:4-6\n3\tsleeps\tsleep.02\n\n"
SELLS = "# sent_id = sample-02\n2\tsells\tsell.01\tARG0:1-1\tARG1:3-4\tV:2-2\tR-ARG0:8-8\n\n"
NOTHING = "# sent_id = sample-03\n\n"
LINES = ["- - sleep.01|ARG0:2|ARGM-LOC:6 - - - -", "- sell.01|ARG0:1|ARG1:4 - - - - - -", " ".join("-" * 9)]


@pytest.fixture
def annotation(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text(SLEEPS + SELLS + NOTHING)
    return path


def test_the_head_of_a_span_is_the_word_nearest_to_the_root():
    tree = DependencyTree((2, 5, 2, 3, 0, 5), ("det", "nsubj", "acl", "obj", "root", "punct"))
    assert [head_of(tree, span) for span in ((0, 3), (2, 3), (3, 3), (0, 5), (3, 5))] == [2, 3, 4, 5, 5]
    assert head_of(DependencyTree((0, 1, 1), ("root", "obj", "obl")), (1, 2)) == 2


def test_sentences_are_known_by_their_words(annotation):
    propbank = PropBank.read([annotation], [SAMPLE])
    forms = [sentence.forms for sentence in read_conllu(SAMPLE)]
    assert [propbank.line(some) for some in forms[:3]] == LINES
    assert propbank.line(forms[3]) == " ".join("_" * len(forms[3]))
    assert propbank.line(["The", "cat"]) == "_ _"


def test_words_with_white_space_are_known_as_banks_write_them(tmp_path):
    (tmp_path / "a.tsv").write_text("# sent_id = a\n2\tpaid\tpay.01\tARG1:1-1\n")
    rows = ("1\t10 000\t_\tNUM\t_\t_\t2\tobj\t_\t_", "2\tpaid\tpay\tVERB\t_\t_\t0\troot\t_\t_")
    (tmp_path / "t.conllu").write_text("# sent_id = a\n" + "\n".join(rows) + "\n\n")
    propbank = PropBank.read([tmp_path / "a.tsv"], [tmp_path / "t.conllu"])
    assert propbank.line(["10000", "paid"]) == propbank.line(["10 000", "paid"]) == "- pay.01|ARG1:1"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (SLEEPS.replace("\tsleeps", "\tslept"), "a.tsv:1: sentence sample-01: word 3 is 'slept' here, but 'sleeps'"),
        (SLEEPS.replace("4-6", "4-8"), "a.tsv:1: sentence sample-01: ARGM-LOC ends at word 8 of 7"),
        (SLEEPS + NOTHING.replace("03", "none"), "a.tsv:5: sentence sample-none: no tree has this `# sent_id`"),
    ],
)
def test_annotation_that_does_not_fit_the_trees_is_an_error(text, problem, tmp_path):
    (tmp_path / "a.tsv").write_text(text)
    with pytest.raises(InputError, match=problem):
        PropBank.read([tmp_path / "a.tsv"], [SAMPLE])


def preprocess(kind: str, sample, dest, *options, status: int = 0):
    system = ("--system", "arc-hybrid-swap") if kind == "dependency" else ()
    corpora = ("--train", sample, "--valid", sample, *system, "--pieces", "400", "--dest", dest)
    return run_here("preprocess", kind, *corpora, *options, status=status)


def test_trees_have_the_column(annotation, tmp_path):
    preprocess("dependency", SAMPLE, tmp_path / "data", "--propbank", annotation)
    for split in ("train", "valid"):
        found = (tmp_path / "data" / f"{split}.propbank").read_text().splitlines()
        assert found[:3] == LINES and set("".join(found[3:])) == {"_", " "}
    preprocess("dependency", SAMPLE, tmp_path / "data")
    assert not (tmp_path / "data" / "train.propbank").exists()  # a file of the earlier run


def test_amrs_have_the_column(annotation, tmp_path):
    preprocess("amr", SAMPLE_AMR, tmp_path / "data", "--propbank", annotation, "--propbank-trees", SAMPLE, "--domains")
    found = (tmp_path / "data" / "train.propbank").read_text().splitlines()
    assert found[:2] == LINES[:2] and len(found) == len((tmp_path / "data" / "train.src").read_text().splitlines())
    assert set("".join(found[2:])) == {"_", " "} and (tmp_path / "data" / "train.domain").exists()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--propbank", "a.tsv"), "--propbank needs --propbank-trees CONLLU"),
        (("--propbank-trees", SAMPLE), "--propbank-trees needs --propbank TSV"),
    ],
)
def test_amrs_need_the_trees_of_the_annotation(options, problem, tmp_path):
    assert problem in preprocess("amr", SAMPLE_AMR, tmp_path / "data", *options, status=2).stderr


def test_annotation_of_other_sentences_is_an_error(tmp_path):
    (tmp_path / "a.tsv").write_text(NOTHING)
    options = ("--propbank", tmp_path / "a.tsv", "--propbank-trees", SAMPLE)
    done = preprocess("amr", SAMPLE_AMR, tmp_path / "data", *options, status=2)
    assert f"sample.amr: no sentence is annotated in {tmp_path / 'a.tsv'}" in done.stderr
    assert not (tmp_path / "data").exists()
