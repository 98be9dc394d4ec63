"""`doc.noun_chunks` of trees with the relations of Universal Dependencies."""

from __future__ import annotations

import pickle

import pytest
import spacy
from spacy.lang.en.syntax_iterators import noun_chunks as chunks_of_spacy
from spacy.tokens import Doc
from spacy.vocab import Vocab

from transition_parser.integrations import spacy as integration  # noqa: F401  registers the components
from transition_parser.integrations.spacy_documents import NounChunks, noun_chunks

CONFIG = {"model": "en-ewt", "precision": "fp32", "threads": 1}


def tree(vocab: Vocab, text: str) -> Doc:
    """A document of `word/UPOS/head/relation` items; heads are counted from 1, 0 is the root."""
    words, tags, heads, relations = zip(*(item.split("/") for item in text.split()))
    places = [int(head) - 1 if head != "0" else i for i, head in enumerate(heads)]
    return Doc(vocab, words=list(words), pos=list(tags), heads=places, deps=list(relations))


@pytest.mark.parametrize(
    "written, chunks",
    [
        (
            "The/DET/3/det old/ADJ/3/amod house/NOUN/8/nsubj of/ADP/6/case my/PRON/6/nmod:poss friend/NOUN/3/nmod "
            "has/AUX/8/aux burned/VERB/0/root",
            ["The old house", "my friend"],
        ),
        (
            "She/PRON/5/nsubj is/AUX/5/cop really/ADV/5/advmod a/DET/5/det doctor/NOUN/0/root ./PUNCT/5/punct",
            ["She", "a doctor"],
        ),
        (
            "John/PROPN/3/nsubj Smith/PROPN/1/flat saw/VERB/0/root cats/NOUN/3/obj and/CCONJ/7/cc "
            "big/ADJ/7/amod dogs/NOUN/4/conj",
            ["John Smith", "cats", "big dogs"],
        ),
        (
            "Mary/PROPN/3/nmod:poss 's/PART/1/case dog/NOUN/6/compound and/CCONJ/5/cc cat/NOUN/3/conj "
            "food/NOUN/7/nsubj stinks/VERB/0/root",
            ["Mary 's dog and cat food"],
        ),
        ("There/PRON/2/expl rained/VERB/0/root hard/ADV/2/advmod", []),
    ],
)
def test_chunks_are_nominals_with_what_modifies_them_from_the_left(written, chunks):
    document = tree(Vocab(), written)
    found = [document[first:end].text for first, end, _ in noun_chunks(document)]
    assert found == chunks


def test_a_pipeline_with_the_component_has_noun_chunks_of_our_trees():
    nlp = spacy.blank("en")
    before = nlp.make_doc("We bought the red house of his parents.")
    nlp.add_pipe("transition_parser", config=CONFIG)
    chunks = ["We", "the red house", "his parents"]
    assert [chunk.text for chunk in nlp("We bought the red house of his parents.").noun_chunks] == chunks
    assert [chunk.text for chunk in nlp(before).noun_chunks] == chunks
    assert all(chunk.label_ == "NP" for chunk in nlp(before).noun_chunks)
    kept = Doc(nlp.vocab).from_bytes(nlp(before).to_bytes())
    assert [chunk.text for chunk in kept.noun_chunks] == chunks
    assert pickle.loads(pickle.dumps(nlp.vocab)).get_noun_chunks == nlp.vocab.get_noun_chunks


def test_languages_without_an_iterator_of_their_own_get_ours():
    nlp = spacy.blank("xx")
    nlp.add_pipe("transition_parser", config=CONFIG)
    assert [chunk.text for chunk in nlp("We saw a house.").noun_chunks] == ["We", "a house"]


def test_nothing_changes_in_pipelines_without_the_component():
    assert spacy.blank("en").vocab.get_noun_chunks is chunks_of_spacy


def test_trees_of_spacys_own_parser_keep_spacys_iterator():
    nlp = spacy.blank("en")
    for name in ("first", "second"):
        nlp.add_pipe("transition_parser", name=name, config=CONFIG)
    assert nlp.vocab.get_noun_chunks == NounChunks(chunks_of_spacy)
    document = tree(nlp.vocab, "We/PRON/2/nsubj saw/VERB/0/ROOT a/DET/4/det house/NOUN/2/dobj")
    assert [chunk.text for chunk in document.noun_chunks] == ["We", "a house"]


def test_documents_without_a_tree_have_no_noun_chunks():
    with pytest.raises(ValueError, match="E029"):
        list(noun_chunks(Doc(Vocab(), words=["a"])))
