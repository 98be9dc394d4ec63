"""Concepts that do not exist become those of their words."""

import pytest

from tests.parsing.edits.helpers import after
from transition_parser import Parser
from transition_parser.graphs.conllu import read_conllu
from transition_parser.parsing.edits.concepts import exists, mend_concepts
from transition_parser.text.lemmas import lemmatize
from transition_parser.transitions.amr_limits import Sort, sort_of


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ("the dog bit him", "(b / bit-01~2 :ARG0 (d / dog~1) :ARG1 (h / he~3))",
         "(b / bite-01 :ARG0 (d / dog) :ARG1 (h / he))"),
        ("an acceptable price", "(p / price-01~2 :ARG1-of (a / acceptable-01~1))",
         "(p / price-01 :ARG1-of (a / accept-01))"),
        ("he is grateful to her", "(g / grateful-01~2 :ARG0 (h / he~0) :ARG1 (s / she~4))",
         "(g / grateful :domain (h / he) :mod (s / she))"),
        ("two fishermen", "(f / fishermen~1 :quant 2~0)", "(f / fisherman :quant 2)"),
        ("its headquarters", "(h / headquarters-yy~1 :poss (i / it~0))", "(h / headquarters :poss (i / it))"),
        ("my patience ended", "(e / end-01~2 :ARG1 (p / patience-01~1 :ARG0 (i / i~0)))",
         "(e / end-01 :ARG1 (p / patience :poss (i / i)))"),
        ("it bores me", "(b / bore-02~1 :ARG0 (i / it~0) :ARG1 (i2 / i~2))", "the same"),
        ("it overwinters", "(o / overwinter-01~1 :ARG0 (i / it~0))", "the same"),
        ("in the bus", "(b / be-located-at-91 :ARG2 (b2 / bus~2))", "the same"),
    ],
)  # fmt: skip
def test_concepts_that_do_not_exist(text, graph, expected):
    assert after(mend_concepts, text, graph) == expected


def is_odd(label: str, lemmas: set[str]) -> bool:
    """Return True for a concept that is no frame, and no singular. Words such as *headquarters* are their own lemma."""
    if sort_of(label, False) is Sort.FRAME:
        return not exists(label)
    return label.endswith(("s", "men", "-yy")) and label not in lemmas and lemmatize([label]) != [label]


@pytest.mark.slow
@pytest.mark.parametrize("model", ["en-amr", "en-amr-minilm"])
def test_all_concepts_of_a_corpus_exist(corpora, model):
    parser = Parser.load(model, precision="fp32")
    sentences = [one.forms for one in read_conllu(corpora / "ud" / "UD_English-EWT" / "dev.conllu")]
    odd = set()
    for parse in parser.parse(sentences):
        lemmas = {*lemmatize(parse.forms)}
        concepts = {label for node, label in enumerate(parse.graph.labels) if node not in parse.graph.constants}
        odd |= {label for label in concepts if is_odd(label, lemmas)}
    assert not odd
