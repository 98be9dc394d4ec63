"""The grammar of sentences with AMRs: what it makes can be read, parsed and learned, and bad grammars are errors."""

import json
import random
import re

import amr_grammar
import pytest

from tests.conftest import ROOT, run, run_here
from transition_parser.base.errors import InputError
from transition_parser.graphs.bank import read_bank
from transition_parser.text.frames import packaged

SCRIPT = ROOT / "run" / "recipes" / "amr_grammar.py"
_FRAME = re.compile(r"(.+)-(\d\d)")


def sentence(tmp_path, text: str) -> tuple[str, str]:
    path = tmp_path / "grammar.txt"
    path.write_text(text)
    words, graph = amr_grammar.Grammar(path).sentence(random.Random(1))
    return words, " ".join(graph.split())


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("grammar") / "made.amr"
    run(SCRIPT, "-n", "400", "-o", path)
    return path


def test_every_sentence_is_built_by_the_machine(made):
    found = json.loads(run_here("oracle", made, "--check", "--system", "amr", "--json").stdout)
    assert found["sentences"] == found["exact"] == 400 and not found["illegal_steps"]


def test_frames_have_the_roles_that_the_grammar_gives_them(made):
    frames = packaged()
    for entry in read_bank(made):
        graph = entry.graph
        for edge in graph.edges:
            source, role = graph.labels[edge.source], re.fullmatch(r"ARG(\d)", edge.role)
            match = _FRAME.fullmatch(source)
            if role and match and int(match[2]) < 90:
                assert int(role[1]) in frames.roles(match[1], match[2]), (entry.id, source, edge.role)


def test_the_seed_says_which_sentences(made, tmp_path):
    for seed, is_same in ((1, True), (2, False)):
        other = tmp_path / f"{seed}.amr"
        run(SCRIPT, "-n", "400", "--seed", seed, "-o", other)
        assert (other.read_bytes() == made.read_bytes()) is is_same
    assert len({entry.metadata["snt"] for entry in read_bank(made)}) == 400


def test_sentences_without_names_may_be_as_people_type_them(made, tmp_path):
    for share in (0, 1):
        path = tmp_path / f"{share}.amr"
        run(SCRIPT, "-n", "100", "--typed", share, "-o", path)
        for entry in read_bank(path):
            is_typed = bool(share) and not any(label.startswith('"') for label in entry.graph.labels)
            text = entry.metadata["snt"]
            assert text[0].isupper() is not is_typed or not text[0].isalpha()
            assert not (is_typed and text != text.lower())


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("[S]\nIt ended <at> . => (e / end-01 :time <at>)\n[at]\nin May => (d / date-entity :month 5)",
         ("It ended in May .", "(e / end-01 :time (d / date-entity :month 5))")),
        ("[S]\n<who> saw herself => (s / see-01 :ARG0 <who> :ARG1 <who>)\n[who]\nAnna => (p / person :name <name>)",
         ("Anna saw herself", '(s / see-01 :ARG0 (p / person :name (n / name :op1 "Anna")) :ARG1 p)')),
        ("[S]\n<a> , <a:2> => (a / and :op1 <a> :op2 <a:2>)\n[a]\nit => (i / it)",
         ("It , it", "(a / and :op1 (i / it) :op2 (i2 / it))")),
        ("[S]\nin <c> => <c> :mod (o / old)\n[c]\nthe Hague => (c / city :name <name>)",
         ("In the Hague", '(c / city :name (n / name :op1 "Hague") :mod (o / old))')),
        ("[S]\n<int:7-7> million <words:42-42> <grouped:5000-5000> => (t / x :op1 <int:7-7>000000 :op2 <words:42-42>)",
         ("7 million forty-two 5,000", "(x / x :op1 7000000 :op2 42)")),
        ("[S]\n<ordinal:112-112> <ordinal:101-101> => (t / x :op1 <ordinal:112-112>)",
         ("112th 101st", "(x / x :op1 112)")),
        ("[S]\nsaw <and:c:3-3> => (s / see-01 :ARG1 <and:c:3-3>)\n[c]\nAa | Aa => (c / aa)\nBb => bb\nCc => (c / cc)",
         ("Saw Bb , Aa and Cc", "(s / see-01 :ARG1 (a / and :op1 (b / bb) :op2 (a2 / aa) :op3 (c / cc)))")),
        ("[S]\nbe <or:b:2-2> => (b / be-01 :ARG1 <or:b:2-2>)\n[b]\nx => (x / x)\ny => (y / y)",
         ("Be y or x", "(b / be-01 :ARG1 (o / or :op1 (y / y) :op2 (x / x)))")),
        ("[S]\nhe <and:d:2-2> => <and:d:2-2> :mode imperative :ARG0 (h / he :mod (o / old))\n"
         "[d]\nsang => sing-01\nate it => eat-01 :ARG1 (i / it)",
         ("He ate it and sang", "(a / and :op1 (e / eat-01 :ARG1 (i / it) :mode imperative :ARG0 "
          "(h / he :mod (o / old))) :op2 (s / sing-01 :mode imperative :ARG0 h))")),
        ('[S]\n" my <a> saw me => (s / see-01 :ARG0 (d / <a> :poss (i / i)) :ARG1 (j / i))\n[a]\na old dog => dog',
         ('" My an old dog saw me', "(s / see-01 :ARG0 (d / dog :poss (i / i)) :ARG1 i)")),
    ],
)  # fmt: skip
def test_slots_are_filled(rules, expected, tmp_path):
    assert sentence(tmp_path, rules) == expected


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ("She left . => (l / leave-11)", r"grammar.txt:1: expected \[slot\] or WORDS => AMR"),
        ("[S]\nShe left .", "grammar.txt:2: expected"),
        ("[a]\nx => (x / x)", r"grammar.txt: has no rules of \[S\]"),
        ("[S]\n<b> => <b>", "has no rules of <b>"),
        ("[S]\nx => (x / x :mod <b>)", "grammar.txt:2: a slot of the AMR is not among the words"),
        ("[S]\nx => (x / x :mod (x / y))", "grammar.txt:2: a variable of the AMR is defined twice"),
        ("[S]\na <S> => <S>", "the rules of <S> never end"),
        ("[S]\n<b> => <b>\n[b]", "has no rules of <b>"),
        ("[S]\n<and:b> => <and:b>", "has no rules of <b>"),
        ("[S]\n<or:b> => <or:b>\n[b]\nx => (x / x)", "the rules of <b> are too few for a conjunction"),
        ("[S]\n<int:9> => (x / x)", "<int:9> needs two numbers"),
        ("[S]\n<int:9-3> => (x / x)", "<int:9-3> needs two numbers"),
        ("[S]\n<and:a:3-2> => <and:a:3-2>\n[a]\nx => x", "<and:3-2> needs two numbers"),
        ("[S]\n<and:a:2-3> => <and:a:2-3>", "has no rules of <a>"),
        ("[S]\n<and:a:2-3> => <and:a:2-3>\n[a]\nx => x", "the rules of <a> are too few for a conjunction"),
        ("[S]\n<words:1-400> => (x / x)", "<words:1-400> goes beyond 99"),
        ("[S]\nx => (x / x", "grammar.txt: the AMR of 'x' can't be read"),
        ("[S]\n<a> => (x / x)\n[a]\n => -", r"grammar.txt: the rules of \[S\] make a sentence without words"),
    ],
)
def test_bad_grammars_are_errors(rules, problem, tmp_path):
    with pytest.raises(InputError, match=problem):
        sentence(tmp_path, rules)


def test_a_bad_grammar_is_one_line_and_writes_nothing(tmp_path):
    (tmp_path / "grammar.txt").write_text("x")
    command = (SCRIPT, tmp_path / "grammar.txt", "-o", tmp_path / "out.amr")
    done = run(*command, status=2)
    (tmp_path / "grammar.txt").write_bytes(b"\xff")
    assert "is not UTF-8 text" in run(*command, status=2).stderr
    assert "-n must be 1 or more" in run(*command[:1], "-n", "0", "-o", tmp_path / "out.amr", status=2).stderr
    assert done.stderr.startswith("amr_grammar.py: error: ") and done.stderr.count("\n") == 1
    assert not (tmp_path / "out.amr").exists()


def test_excluded_sentences_are_left_out(made, tmp_path):
    few = tmp_path / "few.amr"
    run(SCRIPT, "-n", "100", "-o", few, "--exclude", made)
    assert not {entry.metadata["snt"] for entry in read_bank(few)} & {
        entry.metadata["snt"] for entry in read_bank(made)
    }


def test_conjunctions_have_different_members_in_their_order(tmp_path):
    members = [f"m{number}" for number in range(40)]
    rules = "\n".join(f"{member} => (m / {member})" for member in members)
    path = tmp_path / "grammar.txt"
    path.write_text(f"[S]\n<and:m> => <and:m>\nx <or:m> => (x / x :ARG0 <or:m>)\n[m]\n{rules}\n", encoding="utf-8")
    out = tmp_path / "out.amr"
    run(SCRIPT, path, "-n", "200", "--typed", "0", "-o", out)
    sizes = set()
    for entry in read_bank(out):
        *rest, last = entry.metadata["snt"].lower().removeprefix("x ").replace(" or ", " and ").split(" and ")
        said = [*rest[0].removesuffix(" ,").split(" , "), last]
        assert [label for label in entry.graph.labels if label.startswith("m")] == said
        assert [edge.role for edge in entry.graph.edges if edge.role != "ARG0"] == [
            f"op{number}" for number in range(1, len(said) + 1)
        ]
        assert len({*said}) == len(said)
        sizes.add(len(said))
    assert sizes == {*range(2, 13)}
