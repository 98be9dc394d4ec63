"""spaCy documents of sentences that were parsed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from transition_parser.base.errors import needs_extra
from transition_parser.graphs.amr import named
from transition_parser.text.columns import UNKNOWN

with needs_extra("spacy", "documents of spaCy"):
    import spacy
    from spacy.parts_of_speech import IDS
    from spacy.tokens import Doc, Span, Token
    from spacy.util import filter_spans
    from spacy.vocab import Vocab

AMRS = "transition_amr"  # the name in keys of `user_data`


@cache
def vocabulary(language: str) -> Vocab:
    """Return the vocabulary of a blank pipeline of a language, which all documents of this language share."""
    try:
        return spacy.blank(language).vocab
    except ImportError:  # spaCy does not know the language
        return spacy.blank("xx").vocab


def document_of(parse: Any, vocab: Vocab | None, root: str = "root") -> Doc:
    """Return a document of a `Parse`. Its tokens are the words, without spaces in `do` `n't`.

    root: the relation of the root
    """
    words, spaces = parse.sentence.words, []
    for token, its_words in parse.sentence.token_rows():
        spelled = "".join(word.form for word in its_words) == token.form
        spaces += [*[not spelled] * (len(its_words) - 1), token.space_after]
    document = Doc(
        vocab or vocabulary(parse.language or "en"),
        words=parse.forms,
        spaces=spaces,
        pos=[row.upos if row.upos in IDS else "" for row in words],
        tags=[value_of(row.xpos) for row in words],
        lemmas=[value_of(row.lemma) for row in words],
        morphs=[value_of(row.feats) for row in words],
        heads=[head - 1 if head else i for i, head in enumerate(parse.heads)],
        deps=[root if deprel == "root" else deprel for deprel in parse.deprels],
    )
    set_sentence_starts(document, [0])
    return document


def document_of_amr(parse: Any, vocab: Vocab | None) -> Doc:
    """Return a document of one sentence, whose tokens are the words of an `AmrParse`, with its AMR (`set_amr`)."""
    spaces = [end < start for (_, end), (start, _) in pairwise(parse.sentence.spans)] or [True] * (len(parse) - 1)
    document = Doc(vocab or vocabulary("en"), words=parse.forms, spaces=[*spaces, False])
    set_sentence_starts(document, [0])
    set_amr(document[:], list(document), parse)
    return document


def set_amr(sentence: Span, words: Sequence[Token], parse: Any) -> None:
    """Keep an `AmrParse` in `user_data`, by offsets that spaCy moves, and make its names entities where none are."""
    document, start = sentence.doc, sentence.start_char
    places = [(word.idx - start, word.idx + len(word) - start) for word in words]
    document.user_data["._.", AMRS, start, sentence.end_char] = {"amr": str(parse.annotated()), "words": places}
    names = []
    for node, name, _ in named(parse.graph):
        if tokens := [words[word] for word in parse.alignments[name]]:
            wiki, label = parse.wiki.get(node, "-").strip('"-'), parse.graph.labels[node]
            names.append(Span(document, tokens[0].i, tokens[-1].i + 1, label, kb_id=wiki))
    free = [name for name in filter_spans(names) if not any(token.ent_type for token in name)]
    document.set_ents(free, default="unmodified")


def set_sentence_starts(document: Doc, starts: list[int]) -> None:
    """Set the tokens at which sentences start; spaCy's own are wrong for some non-projective trees."""
    values = np.full(len(document), -1, dtype=np.int64)
    values[starts] = 1
    if (document.to_array("SENT_START").astype(np.int64) != values).any():
        document.from_array(["SENT_START"], values.astype(np.uint64))


def value_of(cell: str) -> str:
    """Return the value of a CoNLL-U cell, an empty string for `_`."""
    return "" if cell == UNKNOWN else cell
