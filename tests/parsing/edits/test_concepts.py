"""Concepts that do not exist become those of their words."""

import pytest

from tests.parsing.edits.helpers import after
from transition_parser import Parser
from transition_parser.graphs.amr import AmrGraph
from transition_parser.graphs.conllu import read_conllu
from transition_parser.parsing.edits.concepts import exists, mend_concepts
from transition_parser.parsing.edits.draft import Draft
from transition_parser.text.lemmas import lemmatize
from transition_parser.transitions import Kind
from transition_parser.transitions.amr_limits import Sort, sort_of
from transition_parser.transitions.amr_state import is_constant


@pytest.mark.parametrize(
    ("text", "graph", "expected"),
    [
        ("he used to sing", "(u / use-03~1 :time-of (s / sing-01~3 :ARG0 (h / he~0)))", "(s / sing-01 :ARG0 (h / he))"),
        ("he used it", "(u / use-03~1 :ARG0 (h / he~0) :ARG1 (i / it~2))", "the same"),
        ("the dog bit him", "(b / bit-01~2 :ARG0 (d / dog~1) :ARG1 (h / he~3))",
         "(b / bite-01 :ARG0 (d / dog) :ARG1 (h / he))"),
        ("an acceptable price", "(p / price-01~2 :ARG1-of (a / acceptable-01~1))",
         "(p / price-01 :ARG1-of (a / accept-01))"),
        ("he is grateful to her", "(g / grateful-01~2 :ARG0 (h / he~0) :ARG1 (s / she~4))",
         "(g / grateful :domain (h / he) :mod (s / she))"),
        ('an inhibitor of it works',
         "(w / work-09~4 :ARG1 (i / inhibit-01~1 :ARG0 (m / molecular-physical-entity~1) :ARG1 (i2 / it~3)))",
         "(w / work-09 :ARG1 (m / molecular-physical-entity :ARG0-of (i / inhibit-01 :ARG1 (i2 / it))))"),
        ("she wants to inhibit him",
         "(w / want-01~1 :ARG0 (p / person~0) :ARG1 (i / inhibit-01~3 :ARG0 p :ARG1 (h / he~4)))", "the same"),
        ('he spells " necessary "', "(s / spell-01~1 :ARG0 (h / he~0) :ARG1 (n / need-01~3))",
         "(s / spell-01 :ARG0 (h / he) :ARG1 (n / necessary))"),
        ('" I need it "', "(n / need-01~2 :ARG0 (i / i~1) :ARG1 (i2 / it~3))", "the same"),
        ("the old one .", "(o / one~2 :mod (o2 / old~1) :mod (x / .~3))", "(o / one :mod (o2 / old))"),
        ("two fishermen", "(f / fishermen~1 :quant 2~0)", "(f / fisherman :quant 2)"),
        ("its headquarters", "(h / headquarters-yy~1 :poss (i / it~0))", "(h / headquarters :poss (i / it))"),
        ("my patience ended", "(e / end-01~2 :ARG1 (p / patience-01~1 :ARG0 (i / i~0)))",
         "(e / end-01 :ARG1 (p / patience :poss (i / i)))"),
        ("her birth", "(b / birth-01~1 :ARG1 (s / she~0))", "(b / bear-02 :ARG1 (s / she))"),
        ("they favour it", "(f / favour-01~1 :ARG0 (t / they~0) :ARG1 (i / it~2))",
         "(f / favor-01 :ARG0 (t / they) :ARG1 (i / it))"),
        ("he sued them", "(s / sue-01~1 :ARG0 (h / he~0) :ARG1 (t / they~2))",
         "(s / sue-02 :ARG0 (h / he) :ARG1 (t / they))"),
        ("it is deep", "(d / deep-02~2 :ARG1 (i / it~0))", "the same"),
        ("it bores me", "(b / bore-02~1 :ARG0 (i / it~0) :ARG1 (i2 / i~2))", "the same"),
        ("it overwinters", "(o / overwinter-01~1 :ARG0 (i / it~0))", "the same"),
        ("in the bus", "(b / be-located-at-91 :ARG2 (b2 / bus~2))", "the same"),
    ],
)  # fmt: skip
def test_concepts_that_do_not_exist(text, graph, expected):
    assert after(mend_concepts, text, graph) == expected


@pytest.mark.parametrize("model", ["en-amr", "en-amr-minilm"])
def test_no_frame_of_a_lexicon_is_left_that_does_not_exist(model):
    system, found = Parser.load(model).resources.table.system, {}
    for span, actions in system.lexicon.items():
        for action in actions:
            label = action.parts[-1 if action.kind is Kind.DEPENDENT else 0]
            if sort_of(label, is_constant(label)) is Sort.FRAME:
                found[label] = span.split(" ")
    assert not all(map(exists, found))
    for label, words in found.items():
        draft = Draft(AmrGraph((label,), frozenset(), (), 0), [tuple(range(len(words)))], system.read(words))
        mend_concepts(draft)
        assert sort_of(draft.labels[0], False) is not Sort.FRAME or exists(draft.labels[0])


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
