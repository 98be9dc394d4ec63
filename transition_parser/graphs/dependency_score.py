"""Scores of trees, tags and lemmas as the CoNLL 2018 shared task defines them.

Words of the two files are aligned by their characters, so that tokenizations may differ.
Source: Zeman et al. 2018, sec. 5; https://universaldependencies.org/conll18/evaluation.html
"""

from __future__ import annotations

import os
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter, itemgetter
from typing import Literal

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
        self._full_labels = full_labels
        forms: list[str] = []
        for sentence in sentences:
            self._add(sentence, forms)
        self.text = "".join(forms)

    def _add(self, sentence: Sentence, forms: list[str]) -> None:
        tree = sentence.tree()
        first_word, first_token = len(self.words), len(self.tokens)
        for row, words in sentence.token_rows():
            form = "".join(c for c in row.form if unicodedata.category(c) not in _UNCOUNTED) or row.form
            start = self.tokens[-1][1] if self.tokens else 0
            forms.append(form)
            self.tokens.append((start, start + len(form)))
            self._rows.append((sentence, row))
            for own in words:
                relation = own.deprel if self._full_labels else own.deprel.split(":")[0]
                shown = own.form if row.is_range else form
                self.words.append(AlignedWord(own, shown, *self.tokens[-1], relation, row.is_range))
        self.sentences.append((self.tokens[first_token][0], self.tokens[-1][1]))
        for word, head in zip(self.words[first_word:], tree.heads, strict=True):
            if head:
                word.parent = self.words[first_word + head - 1]
                word.parent.children.append(word)

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
COLUMNS = {"upos": "upos", "lemmas": "lemma", "xpos": "xpos", "ufeats": "feats"}  # score → column
PTB_PUNCTUATION = frozenset(["``", "''", ":", ",", "."])  # XPOS tags


@dataclass(frozen=True)
class Score:
    """Numbers of words, tokens or sentences in the two files. The scores are in percent."""

    gold: int
    system: int
    right: int  # in the system's file
    aligned: int | None = field(default=None, compare=False)  # gold words; None where the score does not tell

    @property
    def precision(self) -> float:
        return 100.0 * self.right / self.system if self.system else 0.0

    @property
    def recall(self) -> float:
        return 100.0 * self.right / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        return 200.0 * self.right / (self.gold + self.system) if self.right else 0.0

    @property
    def aligned_accuracy(self) -> float | None:
        """The share of the aligned words that are right."""
        return self.aligned if self.aligned is None else 100.0 * self.right / max(self.aligned, 1)


def _plain(word: AlignedWord) -> str:
    """Return the relation of a word without its subtype."""
    return word.relation.partition(":")[0]


def _is_content(word: AlignedWord) -> bool:
    return _plain(word) in CONTENT_RELATIONS


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
        self._gold_of = {id(system): gold for gold, system in self.pairs} | {id(word): word for word in self.gold}
        self._gold_ends = [word.end for word in self.gold]
        self._gold_starts = [word.start for word in self.gold]
        self._has_features = any(word.row.feats != _NONE for word in self.gold)
        self._left_out: set[int] = set()
        if skip_punctuation:
            self._left_out = {id(word) for word in self.gold if word.row.xpos in PTB_PUNCTUATION}
            self._left_out |= {id(word) for word in self.system if not any(map(self.counts, self._gold_words(word)))}

    def counts(self, word: AlignedWord) -> bool:
        """Return True for a word of either file that is not left out as punctuation."""
        return id(word) not in self._left_out

    def _gold_words(self, word: AlignedWord) -> Sequence[AlignedWord]:
        """Return the gold word that a system's word is aligned with, or else those with the same characters."""
        aligned = self._gold_of.get(id(word))
        if aligned is not None:
            return [aligned]
        return self.gold[bisect_right(self._gold_ends, word.start) : bisect_left(self._gold_starts, word.end)]

    def head_right(self, pair: Pair) -> bool:
        """Return True if the heads of the two words are aligned with each other, or both heads are the root."""
        gold, system = pair
        if system.parent is None:
            return gold.parent is None
        return gold.parent is not None and self._gold_of.get(id(system.parent)) is gold.parent

    def arc_right(self, pair: Pair) -> bool:
        """Return True if the head and the relation of the system's word are right."""
        return pair[0].relation == pair[1].relation and self.head_right(pair)

    def scores(self) -> dict[str, Score]:
        """Return UAS, LAS, CLAS, label accuracy, and the scores of columns that both files have."""
        scores = {
            "uas": self.score(self.head_right, self.counts),
            "las": self.score(self.arc_right, self.counts),
            "clas": self.score(self.arc_right, lambda word: _is_content(word) and self.counts(word)),
            "label_accuracy": self.score(_same("relation"), self.counts),
        }
        for name, column in COLUMNS.items():
            if all(any(getattr(word.row, column) != _NONE for word in words) for words in (self.gold, self.system)):
                right = _same("universal_features" if column == "feats" else f"row.{column}")

                def counted(word: AlignedWord, column: str = column) -> bool:
                    return self.counts(word) and any(self._has(gold, column) for gold in self._gold_words(word))

                scores[name] = self.score(right, counted)
        return scores

    def annotated(self) -> dict[str, int]:
        """Return for `upos`, `lemmas`, `xpos` and `ufeats` how many gold words have the column."""
        return {
            name: sum(self.counts(word) and self._has(word, column) for word in self.gold)
            for name, column in COLUMNS.items()
        }

    def _has(self, word: AlignedWord, column: str) -> bool:
        """Return True if a gold word has the column; `_` is the lemma of `_`, and also stands for no features."""
        if column == "feats":
            return self._has_features
        return getattr(word.row, column) != _NONE or (column == "lemma" and word.form == _NONE)

    @property
    def same_segmentation(self) -> bool:
        """True if the two files have the same sentences, tokens and words."""
        gold, system = self._files
        same = gold.sentences == system.sentences and gold.tokens == system.tokens
        return same and len(self.pairs) == len(self.gold) == len(self.system)

    def segmentation(self) -> dict[str, Score]:
        """Return the scores of tokens, sentences and words."""
        return {
            "tokens_f1": self.spans("tokens"),
            "sentences_f1": self.spans("sentences"),
            "words_f1": self.score(lambda pair: True, self.counts),
        }

    def spans(self, kind: Literal["tokens", "sentences"]) -> Score:
        gold, system = (getattr(file, kind) for file in self._files)
        return Score(len(gold), len(system), len({*gold} & {*system}))

    def gold_of(self, word: AlignedWord) -> AlignedWord | None:
        """Return the gold word that a word is aligned with (a gold word: itself), None if there is none."""
        return self._gold_of.get(id(word))

    def score(self, right: Callable[[Pair], bool], counted: Callable[[AlignedWord], bool]) -> Score:
        """Return the score of the words for which `counted` is true."""
        pairs = [pair for pair in self.pairs if counted(pair[0])]
        gold, system = (sum(map(counted, words)) for words in (self.gold, self.system))
        return Score(gold, system, sum(map(right, pairs)), len(pairs))


def compare_files(
    gold: str | os.PathLike, system: str | os.PathLike, full_labels: bool, skip_punctuation: bool
) -> Comparison:
    """Return the comparison of two CoNLL-U files."""
    of_gold = _read(gold)
    if skip_punctuation and (problem := _why_unmarked(of_gold)):
        raise input_error(problem, gold)
    return Comparison(of_gold, _read(system), full_labels, skip_punctuation)


def marks_punctuation(gold: str | os.PathLike) -> bool:
    """Return True if `skip_punctuation` can find the punctuation of a CoNLL-U file by the XPOS of its words."""
    return _why_unmarked(_read(gold)) is None


def _why_unmarked(sentences: Iterable[Sentence]) -> str | None:
    """Return a problem if no word has an XPOS, or if only UPOS marks punctuation; None for other files."""
    words = [row for sentence in sentences for row in sentence.words]
    if any(row.xpos in PTB_PUNCTUATION for row in words):
        return None
    marks = sum(row.upos == "PUNCT" for row in words)
    tags = " ".join(sorted(PTB_PUNCTUATION))
    if all(row.xpos == _NONE for row in words):
        return f"no word has XPOS, which --punct skip needs to find punctuation ({tags}): leave out --punct skip"
    if marks:
        number = f"{marks} word has" if marks == 1 else f"{marks} words have"
        return f"{number} UPOS PUNCT, but none has XPOS {tags}, which --punct skip needs: leave out --punct skip"
    return None


def _read(path: str | os.PathLike) -> list[Sentence]:
    sentences = [sentence for sentence in read_conllu(path) if not sentence.is_alternative]
    if not sentences:
        raise input_error("the file holds no sentences", path)
    return sentences


FUNCTION_RELATIONS = frozenset("aux cop mark det clf case cc".split())
_HEADER = "Metric     | Precision |    Recall |  F1 Score | AligndAcc"


def conll18(comparison: Comparison) -> dict[str, Score]:
    """Return official name → score, in the official order."""

    def arc(pair: Pair) -> bool:
        return _plain(pair[0]) == _plain(pair[1]) and comparison.head_right(pair)

    def lemma(pair: Pair) -> bool:
        return pair[0].row.lemma in (_NONE, pair[1].row.lemma)  # where gold has no lemma, any is right

    def with_function_words(pair: Pair) -> bool:
        """Return True if the arc, UPOS and features of a word and of the function words that depend on it are right."""
        gold, system = ([c for c in word.children if _plain(c) in FUNCTION_RELATIONS] for word in pair)
        pairs = list(zip(gold, system))
        aligned = len(gold) == len(system) and all(comparison.gold_of(system) is gold for gold, system in pairs)
        return (
            arc(pair) and aligned and all(map(tagged, [pair, *pairs])) and all(_plain(a) == _plain(b) for a, b in pairs)
        )

    tagged = _same("row.upos", "universal_features")
    of_all: dict[str, Callable[[Pair], bool]] = {
        "UPOS": _same("row.upos"),
        "XPOS": _same("row.xpos"),
        "UFeats": _same("universal_features"),
        "AllTags": _same("row.upos", "row.xpos", "universal_features"),
        "Lemmas": lemma,
        "UAS": comparison.head_right,
        "LAS": arc,
    }
    of_content_words = {"CLAS": arc, "MLAS": with_function_words, "BLEX": lambda pair: arc(pair) and lemma(pair)}

    return {
        "Tokens": comparison.spans("tokens"),
        "Sentences": comparison.spans("sentences"),
        "Words": Score(len(comparison.gold), len(comparison.system), len(comparison.pairs)),
        **{name: comparison.score(right, lambda word: True) for name, right in of_all.items()},
        **{name: comparison.score(right, _is_content) for name, right in of_content_words.items()},
    }


def conll18_table(scores: Mapping[str, Score]) -> str:
    """Return the scores as the table that the official script prints with `--verbose`."""
    lines = [_HEADER, "+".join(["-" * 11] * 5)]
    for name, score in scores.items():
        aligned = score.aligned_accuracy
        cells = "".join(f"{value:10.2f} |" for value in (score.precision, score.recall, score.f1))
        lines.append(f"{name:11}|{cells}{'' if aligned is None else f'{aligned:10.2f}'}")
    return "\n".join(lines)


def conll18_data(scores: Mapping[str, Score]) -> dict[str, dict[str, float | None]]:
    """Return the scores as plain data, in percent with two decimals; `aligned_accuracy` is None for segmentation."""
    parts = ("precision", "recall", "f1", "aligned_accuracy")
    values = {name: {part: getattr(score, part) for part in parts} for name, score in scores.items()}
    return {name: {part: v if v is None else round(v, 2) for part, v in of.items()} for name, of in values.items()}
