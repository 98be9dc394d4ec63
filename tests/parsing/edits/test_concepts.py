"""Concepts that do not exist become those of their words."""

import pytest

from transition_parser import Parser
from transition_parser.graphs.conllu import read_conllu
from transition_parser.parsing.edits.concepts import exists
from transition_parser.text import word_list
from transition_parser.text.lemmas import lemmatize
from transition_parser.transitions import Action, Kind
from transition_parser.transitions.amr_limits import Sort, sort_of
from transition_parser.transitions.amr_state import is_constant


@pytest.mark.parametrize("model", ["en-amr", "en-amr-minilm"])
def test_all_frames_of_a_lexicon_exist(model):
    labels = {
        action.parts[-1 if action.kind is Kind.DEPENDENT else 0]
        for actions in Parser.load(model).resources.table.system.lexicon.values()
        for action in map(Action.parse, actions)
    }
    frames = {label for label in labels if sort_of(label, is_constant(label)) is Sort.FRAME}
    assert len(frames) > 500 and all(map(exists, frames))


def is_odd(label: str, lemmas: set[str]) -> bool:
    """Return True for a concept that is no frame, and no singular. Words such as *headquarters* are their own lemma."""
    if sort_of(label, False) is Sort.FRAME:
        return not exists(label)
    is_plural = label.endswith(("s", "men", "-yy")) and label not in (*lemmas, *word_list("edits: plurals"))
    return is_plural and lemmatize([label]) != [label]


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
