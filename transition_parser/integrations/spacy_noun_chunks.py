"""Base noun phrases of documents whose trees have the relations of Universal Dependencies, for `doc.noun_chunks`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from spacy.errors import Errors
from spacy.tokens import Doc, Span, Token
from spacy.vocab import Vocab

Chunks = Iterator[tuple[int, int, int]]  # indices of the first token and of the token after the last; id of the label
SyntaxIterator = Callable[[Doc | Span], Chunks]

LABEL = "NP"
NOMINALS = {"NOUN", "PROPN", "PRON"}
# relations without their subtypes; an `nmod` is a phrase of its own if it follows its head, else a modifier
HEADS = {"nsubj", "obj", "iobj", "obl", "nmod", "appos", "root", "dislocated", "vocative", "parataxis"}
LEFT_MODIFIERS = {"det", "amod", "nummod", "compound", "nmod", "flat", "acl"}
RIGHT_PARTS = {"flat", "goeswith", "fixed"}
_ROOT_OF_SPACY = "ROOT"  # the relation of roots in the trees of spaCy's own parsers


def noun_chunks(doclike: Doc | Span) -> Chunks:
    """Yield the base noun phrases of a document or span, which do not overlap."""
    document = doclike.doc
    if not document.has_annotation("DEP"):
        raise ValueError(Errors.E029)
    label = document.vocab.strings.add(LABEL)
    end = 0
    for token in doclike:
        if token.pos_ in NOMINALS and _heads_a_phrase(token):
            first, last = _first(token), _last(token)
            if first >= end:
                end = last + 1
                yield first, end, label


def _relation(token: Token) -> str:
    """Return the relation of a token without its subtype."""
    return token.dep_.partition(":")[0]


def _heads_a_phrase(token: Token) -> bool:
    """Return True if the token is the head of a phrase, or is coordinated with the head of a phrase."""
    while _relation(token) == "conj" and token.head.i < token.i:
        token = token.head
    if _relation(token) == "nmod":
        return token.i > token.head.i
    return _relation(token) in HEADS


def _first(token: Token) -> int:
    """Return the index of the first token of the phrase whose head is `token`."""
    first = token.i
    for child in reversed(list(token.lefts)):
        if _relation(child) not in LEFT_MODIFIERS:
            break
        first = min(first, child.left_edge.i)
    return first


def _last(token: Token) -> int:
    """Return the index of the last token of the phrase whose head is `token`."""
    last = token.i
    for child in token.rights:
        if _relation(child) not in RIGHT_PARTS:
            break
        last = max(last, child.right_edge.i)
    return last


@dataclass(frozen=True)
class NounChunks:
    """The syntax iterator of a vocabulary: `noun_chunks` for trees of Universal Dependencies."""

    others: SyntaxIterator | None  # the earlier iterator of the vocabulary, for trees of spaCy's own parsers

    def __call__(self, doclike: Doc | Span) -> Chunks:
        """Yield the base noun phrases of a document or span."""
        by_spacy = self.others is not None and any(token.dep_ == _ROOT_OF_SPACY for token in doclike.doc)
        return self.others(doclike) if by_spacy and self.others else noun_chunks(doclike)


def register(vocab: Vocab) -> None:
    """Make `NounChunks` the syntax iterator of a pipeline's vocabulary, unless one is set already."""
    if not isinstance(vocab.get_noun_chunks, NounChunks):
        vocab.get_noun_chunks = NounChunks(vocab.get_noun_chunks)
