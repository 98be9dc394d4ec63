"""Scores of trees, tags and lemmas as the CoNLL 2018 shared task defines them.

Words of the two files are aligned by their characters, so that tokenizations may differ.
Source: Zeman et al. 2018, sec. 5; https://universaldependencies.org/conll18/evaluation.html
"""

from __future__ import annotations

import os
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter, itemgetter
from typing import Any, Literal

from transition_parser.base.errors import input_error
from transition_parser.graphs.conllu import Row, Sentence, read_conllu

# the features that the shared task scores
UNIVERSAL_FEATURES = frozenset(
    "PronType NumType Poss Reflex Foreign Abbr Gender Animacy Number Case Definite Degree VerbForm Mood Tense Aspect "
    "Voice Evident Polarity Person Polite".split()
)


@dataclass(eq=False)
class AlignedWord:
    """A word, and its place in `TextFile.text`: `start` up to `end` (excluded). Words of a range have its place."""

    row: Row
    form: str
    start: int
    end: int
    relation: str
    in_range: bool
    parent: AlignedWord | None = None
    children: list[AlignedWord] = field(default_factory=list)

    @property
    def universal_features(self) -> tuple[str, ...]:
        """The features of the word that the shared task scores, in alphabetical order."""
        return tuple(sorted(one for one in self.row.feats.split("|") if one.partition("=")[0] in UNIVERSAL_FEATURES))


Pair = tuple[AlignedWord, AlignedWord]
# Spaces, as in the shared task, and marks that do not show, such as U+200F: a tokenizer may leave them out of a token.
_UNCOUNTED = frozenset(("Zs", "Cf"))


class TextFile:
    """The words, tokens and sentences of a file, with (start, end) in the counted characters of all tokens."""

    def __init__(self, sentences: Iterable[Sentence], full_labels: bool) -> None:
        self.words: list[AlignedWord] = []
        self.tokens: list[tuple[int, int]] = []
        self.sentences: list[tuple[int, int]] = []
        self._rows: list[tuple[Sentence, Row]] = []  # of each token: its sentence, and its row
        forms, end = list[str](), 0
        for sentence in sentences:
            tree, first_word, first_token = sentence.tree(), len(self.words), len(self.tokens)
            for row, words in sentence.token_rows():
                form = "".join(c for c in row.form if unicodedata.category(c) not in _UNCOUNTED) or row.form
                self.tokens.append((end, end + len(form)))
                forms.append(form)
                end += len(form)
                self._rows.append((sentence, row))
                for own in words:
                    relation = own.deprel if full_labels else own.deprel.split(":")[0]
                    shown = own.form if row.is_range else form
                    self.words.append(AlignedWord(own, shown, *self.tokens[-1], relation, row.is_range))
            self.sentences.append((self.tokens[first_token][0], self.tokens[-1][1]))
            for word, head in zip(self.words[first_word:], tree.heads, strict=True):
                if head:
                    word.parent = self.words[first_word + head - 1]
                    word.parent.children.append(word)
        self.text = "".join(forms)

    def place(self, character: int) -> tuple[str | None, int | None, str | None]:
        """Return the file, line and sentence id of the token at a character, or of the last token if there is none."""
        token = min(bisect_right(self.tokens, character, key=itemgetter(0)), len(self.tokens)) - 1
        sentence, row = self._rows[token]
        line = None if sentence.line is None else sentence.line + len(sentence.comments) + sentence.rows.index(row)
        return sentence.path, line, sentence.id


def check_same_text(gold: TextFile, system: TextFile) -> None:
    """Raise `InputError` at the first character in which the two files differ."""
    if gold.text == system.text:
        return
    first = next(
        (i for i, (a, b) in enumerate(zip(gold.text, system.text, strict=False)) if a != b),
        min(len(gold.text), len(system.text)),
    )
    path, line, name = gold.place(first)
    where = f" ({path}:{line}{f', sentence {name}' if name else ''})" if path else ""
    ours, theirs = gold.text[first : first + 20], system.text[first : first + 20]
    show = repr if unicodedata.normalize("NFC", ours) != unicodedata.normalize("NFC", theirs) else ascii
    problem = f"the texts differ from character {first} on (spaces not counted): gold{where} has {show(ours)}"
    raise input_error(f"{problem}, the system has {show(theirs)}", *system.place(first))


def align(gold: Sequence[AlignedWord], system: Sequence[AlignedWord]) -> list[Pair]:
    """Return the words that cover the same characters; in ranges, the longest common subsequence of forms."""
    pairs: list[Pair] = []
    g = s = 0
    while g < len(gold) and s < len(system):
        if gold[g].in_range or system[s].in_range:
            if not gold[g].in_range and gold[g].start < system[s].start:
                g += 1
            elif not system[s].in_range and system[s].start < gold[g].start:
                s += 1
            first = g, s
            g, s = _range_ends(gold, system, g, s)
            pairs += _common_subsequence(gold[first[0] : g], system[first[1] : s])
        elif (gold[g].start, gold[g].end) == (system[s].start, system[s].end):
            pairs.append((gold[g], system[s]))
            g, s = g + 1, s + 1
        elif gold[g].start <= system[s].start:
            g += 1
        else:
            s += 1
    return pairs


def _range_ends(gold: Sequence[AlignedWord], system: Sequence[AlignedWord], g: int, s: int) -> tuple[int, int]:
    """Return the ends (excluded) of the shortest spans from gold word g and system word s that split no range."""
    end = max(w[i].end for w, i in ((gold, g), (system, s)) if i < len(w) and w[i].in_range)

    def inside(words: Sequence[AlignedWord], i: int) -> bool:
        if i >= len(words):
            return False
        return words[i].start < end if words[i].in_range else words[i].end <= end

    while inside(gold, g) or inside(system, s):
        take_gold = g < len(gold) and (s >= len(system) or gold[g].start <= system[s].start)
        word = gold[g] if take_gold else system[s]
        if word.in_range:
            end = max(end, word.end)
        g, s = (g + 1, s) if take_gold else (g, s + 1)
    return g, s


def _common_subsequence(gold: Sequence[AlignedWord], system: Sequence[AlignedWord]) -> list[Pair]:
    best = [[0] * (len(system) + 1) for _ in range(len(gold) + 1)]
    for g in reversed(range(len(gold))):
        for s in reversed(range(len(system))):
            same = gold[g].form.lower() == system[s].form.lower()
            best[g][s] = 1 + best[g + 1][s + 1] if same else max(best[g + 1][s], best[g][s + 1])
    pairs, g, s = [], 0, 0
    while g < len(gold) and s < len(system):
        if gold[g].form.lower() == system[s].form.lower():
            pairs.append((gold[g], system[s]))
            g, s = g + 1, s + 1
        elif best[g + 1][s] >= best[g][s + 1]:
            g += 1
        else:
            s += 1
    return pairs


CONTENT_RELATIONS = frozenset(
    "nsubj obj iobj csubj ccomp xcomp obl vocative expl dislocated advcl advmod discourse nmod appos "
    "nummod acl amod conj fixed flat compound list parataxis orphan goeswith reparandum root dep".split()
)
_NONE = "_"
# names of the scores that are printed by default → their names in the shared task; with other words also the first ones
SEGMENTATION = {"tokens_f1": "Tokens", "sentences_f1": "Sentences", "words_f1": "Words"}
FIGURES = {
    "uas": "UAS", "las": "LAS", "clas": "CLAS", "upos": "UPOS", "lemmas": "Lemmas", "xpos": "XPOS", "ufeats": "UFeats",
}  # fmt: skip
_COLUMNS = {"UPOS": "upos", "Lemmas": "lemma", "XPOS": "xpos", "UFeats": "feats"}  # score → column
_FUNCTION_RELATIONS = frozenset("aux cop mark det clf case cc".split())
PTB_PUNCTUATION = frozenset(["``", "''", ":", ",", "."])  # XPOS tags


@dataclass(frozen=True)
class Score:
    """Numbers of words, tokens or sentences in the two files."""

    gold: int
    system: int
    right: int  # in the system's file
    aligned: int | None = field(default=None, compare=False)  # gold words; None where the score does not tell

    def as_data(self) -> dict[str, float | None]:
        """Return precision, recall, F1 and accuracy on aligned words in percent, with two decimals."""
        parts = {
            "precision": (self.right, self.system),
            "recall": (self.right, self.gold),
            "f1": (2 * self.right, self.gold + self.system),
            "aligned_accuracy": (self.right, self.aligned),
        }
        return {name: of if of is None else round(100.0 * part / max(of, 1), 2) for name, (part, of) in parts.items()}


def _plain(word: AlignedWord) -> str:
    """Return the relation of a word without its subtype."""
    return word.relation.partition(":")[0]


def _lemma_right(pair: Pair) -> bool:
    return pair[0].row.lemma in (_NONE, pair[1].row.lemma)  # where gold has no lemma, any is right


def _same(*names: str) -> Callable[[Pair], bool]:
    values = attrgetter(*names)
    return lambda pair: values(pair[0]) == values(pair[1])


class Comparison:
    """Two files of the same text, aligned word by word; with `skip_punctuation`, punctuation does not count."""

    def __init__(
        self,
        gold: Iterable[Sentence],
        system: Iterable[Sentence],
        full_labels: bool = False,
        skip_punctuation: bool = False,
    ) -> None:
        self._files = TextFile(gold, full_labels), TextFile(system, full_labels)
        check_same_text(*self._files)
        self.gold, self.system = (file.words for file in self._files)
        self.pairs = align(self.gold, self.system)
        self._gold_of = {id(system): gold for gold, system in self.pairs}
        self._skips_punctuation = skip_punctuation

    def _head_right(self, pair: Pair) -> bool:
        """Return True if the heads of the two words are aligned with each other, or both heads are the root."""
        gold, system = pair
        if system.parent is None:
            return gold.parent is None
        return gold.parent is not None and self._gold_of.get(id(system.parent)) is gold.parent

    def _arc_right(self, pair: Pair) -> bool:
        return pair[0].relation == pair[1].relation and self._head_right(pair)

    def _with_function_words(self, pair: Pair) -> bool:
        """Return True if the arc, UPOS and features of a word and of the function words that depend on it are right."""
        gold, system = ([c for c in word.children if _plain(c) in _FUNCTION_RELATIONS] for word in pair)
        pairs = list(zip(gold, system))
        aligned = len(gold) == len(system) and all(self._gold_of.get(id(system)) is gold for gold, system in pairs)
        same = aligned and all(map(_same("row.upos", "universal_features"), [pair, *pairs]))
        return same and self._arc_right(pair) and all(a.relation == b.relation for a, b in pairs)

    def scores(self) -> dict[str, Score]:
        """Return official name → score, in the official order."""
        of_all: dict[str, Callable[[Pair], bool]] = {
            "UPOS": _same("row.upos"),
            "XPOS": _same("row.xpos"),
            "UFeats": _same("universal_features"),
            "AllTags": _same("row.upos", "row.xpos", "universal_features"),
            "Lemmas": _lemma_right,
            "UAS": self._head_right,
            "LAS": self._arc_right,
        }
        of_content_words: dict[str, Callable[[Pair], bool]] = {
            "CLAS": self._arc_right,
            "MLAS": self._with_function_words,
            "BLEX": lambda pair: self._arc_right(pair) and _lemma_right(pair),
        }
        return {
            "Tokens": self._spans("tokens"),
            "Sentences": self._spans("sentences"),
            "Words": Score(len(self.gold), len(self.system), len(self.pairs)),
            **{name: self._score(right) for name, right in of_all.items()},
            **{name: self._score(right, of_content=True) for name, right in of_content_words.items()},
        }

    def lacking(self) -> list[str]:
        """Return the names of the scores of columns that one of the files has for no word."""
        files = self.gold, self.system
        return [
            name
            for name, column in _COLUMNS.items()
            if any(all(getattr(word.row, column) == _NONE for word in words) for words in files)
        ]

    @property
    def same_segmentation(self) -> bool:
        """True if the two files have the same sentences, tokens and words."""
        gold, system = self._files
        same = gold.sentences == system.sentences and gold.tokens == system.tokens
        return same and len(self.pairs) == len(self.gold) == len(self.system)

    def _spans(self, kind: Literal["tokens", "sentences"]) -> Score:
        gold, system = (getattr(file, kind) for file in self._files)
        return Score(len(gold), len(system), len({*gold} & {*system}))

    def _score(self, right: Callable[[Pair], bool], of_content: bool = False) -> Score:
        """Return the score of all words, or of content words, without punctuation that is to be skipped."""

        def counted(word: AlignedWord) -> bool:
            skips = self._skips_punctuation and self._gold_of.get(id(word), word).row.xpos in PTB_PUNCTUATION
            return not skips and (not of_content or _plain(word) in CONTENT_RELATIONS)

        pairs = [pair for pair in self.pairs if counted(pair[0])]
        gold, system = (sum(map(counted, words)) for words in (self.gold, self.system))
        return Score(gold, system, sum(map(right, pairs)), len(pairs))


def score(
    gold: str | os.PathLike,
    system: str | os.PathLike,
    full_labels: bool = False,
    punct: str | None = None,
    conll18: bool = False,
) -> dict[str, Any]:
    """Return the scores of a CoNLL-U file by name, in percent, as `score --json` prints them.

    punct: "skip" to leave out punctuation
    conll18: True to add all scores of the shared task
    """
    if punct == "skip" and not marks_punctuation(gold):
        tags = " ".join(sorted(PTB_PUNCTUATION))
        problem = f"no word has an XPOS by which --punct skip finds punctuation ({tags}): leave out --punct skip"
        raise input_error(problem, gold)
    found = Comparison(_read(gold), _read(system), full_labels, punct == "skip")
    scores, lacking = found.scores(), found.lacking()
    names = FIGURES if found.same_segmentation else {**SEGMENTATION, **FIGURES}
    figures: dict[str, Any] = {name: scores[of].as_data()["f1"] for name, of in names.items() if of not in lacking}
    figures["words"] = scores["UAS"].gold
    if conll18:
        figures["conll18"] = {name: of.as_data() for name, of in scores.items()}
    return figures


def marks_punctuation(gold: str | os.PathLike) -> bool:
    """Return True if `skip_punctuation` can find the punctuation of a CoNLL-U file by the XPOS of its words."""
    return any(row.xpos in PTB_PUNCTUATION for sentence in _read(gold) for row in sentence.words)


def _read(path: str | os.PathLike) -> list[Sentence]:
    sentences = [sentence for sentence in read_conllu(path) if not sentence.is_alternative]
    if not sentences:
        raise input_error("the file holds no sentences", path)
    return sentences


_HEADER = "Metric     | Precision |    Recall |  F1 Score | AligndAcc"


def table(figures: Mapping[str, Any]) -> str:
    """Return the figures of `score` as a text for people; with `conll18`, as the official script prints them."""
    if "conll18" in figures:
        lines = [_HEADER, "+".join(["-" * 11] * 5)]
        for name, parts in figures["conll18"].items():
            *cells, aligned = ("" if value is None else f"{value:10.2f}" for value in parts.values())
            lines.append(f"{name:11}|{''.join(f'{cell} |' for cell in cells)}{aligned}")
        return "\n".join(lines)
    width, lacking = max(map(len, figures)), [official for name, official in FIGURES.items() if name not in figures]
    lines = [f"{name:<{width}}  {value}" for name, value in figures.items()]
    if lacking:
        lines.append(f"not scored, because one of the files has none: {', '.join(lacking)}")
    return "\n".join(lines)
