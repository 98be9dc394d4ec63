"""Characters that do not show, and grapheme clusters, in texts of all Unicode categories."""

import random
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from operator import attrgetter

import pytest
import regex

from tests.text.test_learned_segmentation import SEGMENTER
from transition_parser.graphs.bank import AmrEntry
from transition_parser.graphs.conllu import Sentence
from transition_parser.parsing.parser import Parser
from transition_parser.parsing.texts import Reading, sentences_from, whole_sentences
from transition_parser.text.lemmas import apply_rule, lemmatize, rule_of
from transition_parser.text.pieces import normalize
from transition_parser.text.segmentation import ENGLISH

FORMS, SPANS = attrgetter("forms"), attrgetter("spans")
KINDS = pytest.mark.parametrize("kind", [Sentence, AmrEntry])
INVISIBLE = (
    "\ufeff \u200b \u200c \u200d \u200e \u200f \u2060 \u00ad \ufe0f \u202a \u202e \u2066 \u2069 \U000e0001".split(" ")
)
CLUSTERS = "🇩🇪 🇫🇷 1️⃣ #️⃣ 👍🏽 👩‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ❤️ कि क्षि தமி กำ e\u0301 한 ☝🏿".split(" ")
WORDS = "don't e-mail U.S. Mr. gonna cannot wont a@b.com 5/12 ... :) He left. She Id".split(" ")
OF_CATEGORIES = defaultdict(list)
for number in range(sys.maxunicode + 1):
    OF_CATEGORIES[unicodedata.category(chr(number))].append(chr(number))
del OF_CATEGORIES["Cs"]


def random_texts(count: int) -> Iterator[str]:
    """Texts of characters of all categories, words, clusters and invisible characters."""
    draw = random.Random(count)
    categories = [*OF_CATEGORIES.values()]
    for _ in range(count):
        parts = []
        for _ in range(draw.randrange(1, 25)):
            some = draw.choice([INVISIBLE, CLUSTERS, WORDS, [" ", " ", "\n"], ["a", "B"], *[None] * 3])
            parts.append(draw.choice(some or draw.choice(categories)))
        yield "".join(parts).replace("\0", "")


def shows(character: str) -> bool:
    return not character.isspace() and not regex.match(r"[\p{Cf}\p{Default_Ignorable_Code_Point}]", character)


def is_format(text: str) -> bool:
    return any(unicodedata.category(character) == "Cf" for character in text)


@pytest.mark.parametrize("count", [300, pytest.param(25_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("segmenter", [ENGLISH, SEGMENTER])
@KINDS
def test_tokens_of_random_texts(kind, segmenter, count):
    for text in random_texts(count):
        found = sentences_from(text, Reading(kind, segmenter=segmenter))
        forms, spans = ([item for s in found for item in items(s)] for items in (FORMS, SPANS))
        if segmenter is ENGLISH or kind is AmrEntry:  # else words may not spell their tokens
            assert forms == [text[start:end] for start, end in spans] and all(any(map(shows, form)) for form in forms)
        clusters = [*regex.finditer(r"\r|\X", text)]
        inside = {place for match in clusters for place in range(match.start() + 1, match.end())}
        assert not {start for start, _end in spans} & inside
        covered = {place for span in spans for place in range(*span)}
        for match in clusters:
            if any(map(shows, match[0])) and not any(map(str.isspace, match[0])):
                assert match.start() in covered, ascii(text)
        lemmas = [apply_rule(form, rule) for form in forms for rule in ("l0+|1+", f"={form}", rule_of(form, form))]
        assert not any(map(is_format, [*map(normalize, forms), *lemmatize(forms), *lemmas]))


@KINDS
def test_a_mark_behind_a_byte_order_mark_is_a_character(kind):
    (sentence,) = sentences_from("\ufeff\u0b40 Bob", Reading(kind))
    assert sentence.spans == ((1, 2), (3, 6))


@KINDS
@pytest.mark.parametrize("c", INVISIBLE)
def test_invisible_characters_belong_to_no_token(kind, c):
    for text in (
        f"{c}Bob left{c} the house.{c} She ran{c}.{c}\n{c}\n{c}Go",
        f"{c} Bob{c} left the house . {c} She ran.{c}\n\nGo",
    ):
        plain = [["Bob", "left", "the", "house", "."], ["She", "ran", "."], ["Go"]]
        found = sentences_from(text, Reading(kind))
        assert [sentence.forms for sentence in found] == plain
        assert [[text[start:end] for start, end in sentence.spans] for sentence in found] == plain
        assert c not in "".join(map(str, found))
    (inside,) = whole_sentences([f"The exam{c}ple isn't{c} (he{c}re)."], Reading(kind))
    words = ["The", f"exam{c}ple", *(["isn't"] if kind is Sentence else []), "is", "n't", "(", f"he{c}re", ")", "."]
    written = [row.form for row in inside.rows] if kind is Sentence else inside.forms
    assert written == words


@KINDS
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_clusters_stay_whole(kind, cluster):
    for text in (f"I saw {cluster} here", f"I saw {cluster}, here", f"{cluster} I saw", f"I saw ({cluster})"):
        (sentence,) = sentences_from(text, Reading(kind))
        assert cluster in sentence.forms
    (sentence,) = sentences_from(f"I saw {cluster}{cluster}.", Reading(kind))
    assert "".join(sentence.forms[2:-1]) == 2 * cluster


@pytest.mark.parametrize("model", ["en-fast", "en-amr"])
def test_parses_of_texts_with_invisible_characters(model):
    parser = Parser.load(model)
    texts = ["\u200bBob left.\ufeff", "They ate an exam\u00adple at the hou\u200bse.\u200b", *random_texts(20)]
    for parse in parser.parse(texts):
        named = parse.graph.labels if model == "en-amr" else filter(None, parse.lemmas)
        assert not any(map(is_format, named))
    plain, marked = (parser.parse(f"Bob{c} left the hou{c}se{c}.{c}")[0].annotated() for c in ("", "\u200b"))
    assert str(marked).replace("\u200b", "") == str(plain)
