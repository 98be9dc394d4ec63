"""Lemmas from spaCy's tables."""

import subprocess
import sys

import pytest

from tests.conftest import ROOT
from transition_parser.text.lemmas import lemmatise


@pytest.mark.parametrize(
    ("words", "lemmas"),
    [
        ("was is are 'm been", "be be be be be"),
        ("found left felt lay said went", "find leave feel lie say go"),
        ("planets volcanoes children knives", "planet volcano child knife"),
        ("happier dropped", "happy drop"),
        ("did n't wo ca 's", "do not will can 's"),
        ("Roses TEXAS Xyzzy", "rose texas xyzzy"),
        ("42 3.5 -- , 1922", "42 3.5 -- , 1922"),
    ],
)
def test_lemmas(words, lemmas):
    assert lemmatise(words.split()) == lemmas.split()


def test_no_words():
    assert lemmatise([]) == []


def test_without_spacy():
    code = "import sys; from transition_parser.text.lemmas import lemmatise as f; f('a'); print('spacy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "False\n"
