"""The 13 scores of the CoNLL 2018 shared task, as its official script `conll18_ud_eval.py` counts them.

Subtypes of relations are ignored, punctuation counts, and features are universal ones only.
Source: Zeman et al. 2018, sec. 5; https://universaldependencies.org/conll18/evaluation.html
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from transition_parser.graphs.dependency_score import CONTENT_RELATIONS, Comparison, Score
from transition_parser.graphs.word_alignment import AlignedWord

FUNCTION_RELATIONS = frozenset("aux cop mark det clf case cc".split())
_NO_LEMMA = "_"
_NOT_ALIGNED = object()
Key = Callable[[AlignedWord, "_Side"], Hashable]  # a word is right if its key equals its gold word's
_HEADER = "Metric     | Precision |    Recall |  F1 Score | AligndAcc"


@dataclass(frozen=True)
class AlignedScore(Score):
    """A score of words, or of the segmentation into tokens, sentences and words.

    aligned: the number of the gold words in this score that are aligned; None for scores of the segmentation
    """

    aligned: int | None = None

    @property
    def aligned_accuracy(self) -> float | None:
        """The share of the aligned words that are right, in percent."""
        if self.aligned is None:
            return None
        return 100.0 * self.right / self.aligned if self.aligned else 0.0


class _Side:
    """One of the two files. It replaces a word by its gold word, so that keys of both files can be compared."""

    def __init__(self, comparison: Comparison, is_gold: bool) -> None:
        self.comparison, self.is_gold = comparison, is_gold

    def gold_of(self, word: AlignedWord | None) -> object:
        """Return the gold word of a word, `_NOT_ALIGNED` if there is none. Return None for None, which is the root."""
        if word is None or self.is_gold:
            return word
        return self.comparison.gold_of(word) or _NOT_ALIGNED

    def lemma(self, word: AlignedWord) -> str:
        """Return the lemma, but `_` if the gold word has no lemma, so that any lemma is right."""
        gold = word if self.is_gold else self.comparison.gold_of(word)
        return _NO_LEMMA if gold is not None and gold.lemma == _NO_LEMMA else word.lemma


def _relation(word: AlignedWord) -> str:
    return word.relation.partition(":")[0]


def _is_content(word: AlignedWord) -> bool:
    return _relation(word) in CONTENT_RELATIONS


def _arc(word: AlignedWord, side: _Side) -> tuple[Hashable, ...]:
    return side.gold_of(word.parent), _relation(word)


def _tagged_arc(word: AlignedWord, side: _Side) -> tuple[Hashable, ...]:
    return (*_arc(word, side), word.upos, word.universal_features)


def _with_function_words(word: AlignedWord, side: _Side) -> Hashable:
    """Return the key of MLAS: the arc, UPOS and features of a word and of the function words that depend on it."""
    function_words = (child for child in word.children if _relation(child) in FUNCTION_RELATIONS)
    of_them = ((side.gold_of(c), _relation(c), c.upos, c.universal_features) for c in function_words)
    return (*_tagged_arc(word, side), *of_them)


_OF_ALL_WORDS: Mapping[str, Key] = {
    "UPOS": lambda word, side: word.upos,
    "XPOS": lambda word, side: word.xpos,
    "UFeats": lambda word, side: word.universal_features,
    "AllTags": lambda word, side: (word.upos, word.xpos, word.universal_features),
    "Lemmas": lambda word, side: side.lemma(word),
    "UAS": lambda word, side: side.gold_of(word.parent),
    "LAS": _arc,
}
# score → the names in `Comparison.annotated` of the columns that it compares
COLUMNS_OF: Mapping[str, Sequence[str]] = {
    "UPOS": ["upos"],
    "XPOS": ["xpos"],
    "UFeats": ["ufeats"],
    "AllTags": ["upos", "xpos", "ufeats"],
    "Lemmas": ["lemmas"],
    "MLAS": ["upos", "ufeats"],
    "BLEX": ["lemmas"],
}
_OF_CONTENT_WORDS: Mapping[str, Key] = {
    "CLAS": _arc,
    "MLAS": _with_function_words,
    "BLEX": lambda word, side: (*_arc(word, side), side.lemma(word)),
}


def conll18(comparison: Comparison) -> dict[str, AlignedScore]:
    """Return official name → score, in the official order.

    The options `full_labels` and `skip_punctuation` of the comparison do not change these scores.
    """
    tokens, sentences = comparison.spans("tokens"), comparison.spans("sentences")
    words = AlignedScore(len(comparison.gold), len(comparison.system), len(comparison.pairs))
    return {
        "Tokens": AlignedScore(tokens.gold, tokens.system, tokens.right),
        "Sentences": AlignedScore(sentences.gold, sentences.system, sentences.right),
        "Words": words,
        **{name: _score(comparison, key, lambda word: True) for name, key in _OF_ALL_WORDS.items()},
        **{name: _score(comparison, key, _is_content) for name, key in _OF_CONTENT_WORDS.items()},
    }


def _score(comparison: Comparison, key: Key, counts: Callable[[AlignedWord], bool]) -> AlignedScore:
    gold_side, system_side = _Side(comparison, True), _Side(comparison, False)
    pairs = [pair for pair in comparison.pairs if counts(pair[0])]
    return AlignedScore(
        sum(map(counts, comparison.gold)),
        sum(map(counts, comparison.system)),
        sum(key(gold, gold_side) == key(system, system_side) for gold, system in pairs),
        len(pairs),
    )


def table(scores: Mapping[str, AlignedScore]) -> str:
    """Return the scores as the table that the official script prints with `--verbose`."""
    lines = [_HEADER, "+".join(["-" * 11] * 5)]
    for name, score in scores.items():
        aligned = score.aligned_accuracy
        cells = "".join(f"{value:10.2f} |" for value in (score.precision, score.recall, score.f1))
        lines.append(f"{name:11}|{cells}{'' if aligned is None else f'{aligned:10.2f}'}")
    return "\n".join(lines)


def as_data(scores: Mapping[str, AlignedScore]) -> dict[str, dict[str, float | None]]:
    """Return the scores as plain data, in percent with two decimals.

    The keys are `precision`, `recall`, `f1` and `aligned_accuracy`, which is None for scores of the segmentation.
    """
    return {
        name: {
            "precision": round(score.precision, 2),
            "recall": round(score.recall, 2),
            "f1": round(score.f1, 2),
            "aligned_accuracy": None if score.aligned_accuracy is None else round(score.aligned_accuracy, 2),
        }
        for name, score in scores.items()
    }
