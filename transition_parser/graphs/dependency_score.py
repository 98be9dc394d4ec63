"""Scores of trees, tags and lemmas as the CoNLL 2018 shared task defines them.

Words of the two files are aligned by their characters, so that tokenisations may differ.
Source: Zeman et al. 2018, sec. 5; https://universaldependencies.org/conll18/evaluation.html
"""

from __future__ import annotations

import math
import os
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter

from transition_parser.base.errors import input_error
from transition_parser.graphs.conllu import Sentence, read_conllu

CONTENT_RELATIONS = frozenset(
    "nsubj obj iobj csubj ccomp xcomp obl vocative expl dislocated advcl advmod discourse nmod appos "
    "nummod acl amod conj fixed flat compound list parataxis orphan goeswith reparandum root dep".split()
)
_NONE = "_"
_ROOT = "root"
_DISTANCES = {"1": 1, "2": 2, "3-6": 6, "7-14": 14, "15 or more": math.inf}  # name → largest distance in words
PTB_PUNCTUATION = frozenset(["``", "''", ":", ",", "."])  # XPOS tags


@dataclass(frozen=True)
class Score:
    """Numbers of words.

    gold: how many the gold file has
    system: how many the system's file has
    right: how many are right
    """

    gold: int
    system: int
    right: int

    @property
    def f1(self) -> float:
        """F1 in percent. With equal tokenisation, F1 is the share of right words."""
        return 200.0 * self.right / (self.gold + self.system) if self.right else 0.0


@dataclass(eq=False)
class _Word:
    """A word with the characters that it covers. The words of a range share the characters of the range."""

    form: str
    start: int
    end: int
    relation: str
    upos: str
    xpos: str
    lemma: str
    in_range: bool
    parent: _Word | None = None
    length: int = 0  # how many words the sentence of the word has


Pair = tuple[_Word, _Word]


class _File:
    """The words, tokens and sentences of a file, with their positions in its text.

    text: the characters of all tokens, without spaces
    tokens, sentences: the first character of each in `text`, and the character after its last
    _rows: for each token its sentence and its row there
    """

    def __init__(self, sentences: Iterable[Sentence], full_labels: bool) -> None:
        self.words: list[_Word] = []
        self.tokens: list[tuple[int, int]] = []
        self.sentences: list[tuple[int, int]] = []
        self._rows: list[tuple[Sentence, int]] = []
        self._full_labels = full_labels
        forms: list[str] = []
        for sentence in sentences:
            self._add(sentence, forms)
        self.text = "".join(forms)

    def _add(self, sentence: Sentence, forms: list[str]) -> None:
        tree = sentence.tree()
        first_word, first_token, covered = len(self.words), len(self.tokens), 0
        for number, row in enumerate(sentence.rows):
            if not (row.is_word or row.is_range):
                continue
            in_range = row.is_word and int(row.id) <= covered
            if not in_range:
                forms.append(_without_spaces(row.form))
                start = self.tokens[-1][1] if self.tokens else 0
                self.tokens.append((start, start + len(forms[-1])))
                self._rows.append((sentence, number))
            if row.is_range:
                covered = row.span[1]
            if row.is_word:
                relation = row.deprel if self._full_labels else row.deprel.split(":")[0]
                self.words.append(_Word(row.form, *self.tokens[-1], relation, row.upos, row.xpos, row.lemma, in_range))
        self.sentences.append((self.tokens[first_token][0], self.tokens[-1][1]))
        for word, head in zip(self.words[first_word:], tree.heads, strict=True):
            word.parent = self.words[first_word + head - 1] if head else None
            word.length = len(tree)

    def place(self, character: int) -> tuple[str | None, int | None, str | None]:
        """Return the file, the line and the sentence id of a character; of the last token for the end of the text."""
        token = min(bisect_right(self.tokens, character, key=itemgetter(0)), len(self.tokens)) - 1
        sentence, row = self._rows[token]
        line = None if sentence.line is None else sentence.line + len(sentence.comments) + row
        return sentence.path, line, sentence.id


class Comparison:
    """Two files of the same text, aligned word by word.

    sentences: the sentences of the gold file
    full_labels: True to compare whole relations, not only the part before the colon
    skip_punctuation: True to leave out punctuation in both files. The gold file alone decides: punctuation are its
        words with one of the five punctuation tags of the Penn Treebank as XPOS, and the system's words that are
        aligned with them. A system's word that is not aligned is punctuation if all gold words that share characters
        with it are.
    """

    def __init__(
        self,
        gold: Iterable[Sentence],
        system: Iterable[Sentence],
        full_labels: bool = False,
        skip_punctuation: bool = False,
    ) -> None:
        self.sentences = list(gold)
        self._files = _File(self.sentences, full_labels), _File(system, full_labels)
        _check_same_text(*self._files)
        self.gold, self.system = (file.words for file in self._files)
        self.pairs = _align(self.gold, self.system)
        self._gold_of = {id(system): gold for gold, system in self.pairs}
        self._gold_ends = [word.end for word in self.gold]
        self._gold_starts = [word.start for word in self.gold]
        self._left_out: set[int] = set()
        if skip_punctuation:
            self._left_out = {id(word) for word in self.gold if word.xpos in PTB_PUNCTUATION}
            self._left_out |= {id(word) for word in self.system if not any(map(self.counts, self._gold_words(word)))}

    def counts(self, word: _Word) -> bool:
        """Return True for a word of either file that is not left out as punctuation."""
        return id(word) not in self._left_out

    def _gold_words(self, word: _Word) -> Sequence[_Word]:
        """Return the gold word that a word is aligned with, or else all gold words that share characters with it."""
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
        """Return True if the heads are right and the relations are the same."""
        return pair[0].relation == pair[1].relation and self.head_right(pair)

    def scores(self) -> dict[str, Score]:
        """Return UAS, LAS, CLAS (content words only) and label accuracy.

        Scores of UPOS and lemmas follow if both files have them.
        """

        def content(word: _Word) -> bool:
            return word.relation.split(":")[0] in CONTENT_RELATIONS

        def label(pair: Pair) -> bool:
            return pair[0].relation == pair[1].relation

        scores = {
            "uas": self._score(self.head_right),
            "las": self._score(self.arc_right),
            "clas": self._score(self.arc_right, content),
            "label_accuracy": self._score(label),
        }
        if self._both_have("upos"):
            scores["upos"] = self._score(lambda pair: pair[0].upos == pair[1].upos)
        if self._both_have("lemma"):  # any lemma is right for a gold word without a lemma
            scores["lemmas"] = self._score(lambda pair: pair[0].lemma in (_NONE, pair[1].lemma))
        return scores

    def _both_have(self, column: str) -> bool:
        return all(any(getattr(word, column) != _NONE for word in words) for words in (self.gold, self.system))

    @property
    def same_segmentation(self) -> bool:
        """True if the two files have the same sentences, tokens and words."""
        gold, system = self._files
        same = gold.sentences == system.sentences and gold.tokens == system.tokens
        return same and len(self.pairs) == len(self.gold) == len(self.system)

    def segmentation(self) -> dict[str, Score]:
        """Return the scores of tokens, sentences and words.

        Tokens and sentences are right if they cover the same characters. Words are right if they are aligned.
        """

        def same(gold: Sequence[tuple[int, int]], system: Sequence[tuple[int, int]]) -> Score:
            return Score(len(gold), len(system), len({*gold} & {*system}))

        gold, system = self._files
        return {
            "tokens_f1": same(gold.tokens, system.tokens),
            "sentences_f1": same(gold.sentences, system.sentences),
            "words_f1": self._score(lambda pair: True),
        }

    def by_relation(self) -> dict[str, Score]:
        """Return LAS of the words with each relation, most frequent gold relation first."""
        frequent = Counter(word.relation for word in self.gold if self.counts(word))

        def las(relation: str) -> Score:
            return self._score(self.arc_right, lambda word: word.relation == relation)

        return {relation: las(relation) for relation, _ in frequent.most_common()}

    def by_length(self, step: int = 10) -> dict[str, Score]:
        """Return LAS of the words of gold sentences with 1 to 10, 11 to 20, … words."""
        number = {id(word): (self._gold_words(word)[0].length - 1) // step for word in (*self.gold, *self.system)}

        def las(one: int) -> Score:
            return self._score(self.arc_right, lambda word: number[id(word)] == one)

        return {f"{one * step + 1}-{(one + 1) * step}": las(one) for one in sorted({*number.values()})}

    def by_distance(self) -> dict[str, Score]:
        """Return LAS by the distance of a word from its head in words.

        The key is `root` for words whose head is the root. An arc of the system between two aligned words is as long
        as between their gold words. Other arcs have their length in their own file.
        """
        place = {id(word): i for words in (self.gold, self.system) for i, word in enumerate(words)}

        def distance(word: _Word) -> str:
            if word.parent is None:
                return _ROOT
            ends = self._gold_of.get(id(word)), self._gold_of.get(id(word.parent))
            first, last = ends if None not in ends else (word, word.parent)
            away = abs(place[id(first)] - place[id(last)])
            return next(name for name, most in _DISTANCES.items() if away <= most)

        def las(name: str) -> Score:
            return self._score(self.arc_right, lambda word: distance(word) == name)

        there = {distance(word) for word in (*self.gold, *self.system)}
        return {name: las(name) for name in (_ROOT, *_DISTANCES) if name in there}

    @property
    def counted_pairs(self) -> list[Pair]:
        """The aligned words, as (gold, system), except punctuation that is left out."""
        return [pair for pair in self.pairs if self.counts(pair[0])]

    def gold_of(self, word: _Word) -> _Word | None:
        """Return the gold word that a system's word is aligned with, None if there is none."""
        return self._gold_of.get(id(word))

    def _score(self, right: Callable[[Pair], bool], counted: Callable[[_Word], bool] = lambda word: True) -> Score:
        def keep(word: _Word) -> bool:
            return counted(word) and self.counts(word)

        return Score(
            sum(map(keep, self.gold)),
            sum(map(keep, self.system)),
            sum(keep(pair[0]) and right(pair) for pair in self.pairs),
        )


def compare_files(
    gold: str | os.PathLike, system: str | os.PathLike, full_labels: bool, skip_punctuation: bool
) -> Comparison:
    """Return the comparison of two CoNLL-U files.

    Raises `InputError` for a malformed file, and for files whose texts differ. If punctuation is to be skipped,
    raises `InputError` for a gold file that does not say which words are punctuation.
    """
    of_gold = _read(gold)
    if skip_punctuation:
        _check_tags(of_gold, gold)
    return Comparison(of_gold, _read(system), full_labels, skip_punctuation)


def _check_tags(sentences: Iterable[Sentence], path: str | os.PathLike) -> None:
    """Raise `InputError` if no word has an XPOS, or if punctuation has no tag of the Penn Treebank."""
    words = [row for sentence in sentences for row in sentence.words]
    if any(row.xpos in PTB_PUNCTUATION for row in words):
        return
    marks = sum(row.upos == "PUNCT" for row in words)
    tags = " ".join(sorted(PTB_PUNCTUATION))
    if all(row.xpos == _NONE for row in words):
        raise input_error(
            f"no word has XPOS, which --punct skip needs to find punctuation ({tags}): leave out --punct skip", path
        )
    if marks:
        number = f"{marks} word has" if marks == 1 else f"{marks} words have"
        raise input_error(
            f"{number} UPOS PUNCT, but none has XPOS {tags}, which --punct skip needs: leave out --punct skip", path
        )


def _read(path: str | os.PathLike) -> list[Sentence]:
    sentences = [sentence for sentence in read_conllu(path) if not sentence.is_alternative]
    if not sentences:
        raise input_error("the file holds no sentences", path)
    return sentences


def _without_spaces(form: str) -> str:
    kept = "".join(c for c in form if unicodedata.category(c) != "Zs")
    return kept or form


def _check_same_text(gold: _File, system: _File) -> None:
    if gold.text == system.text:
        return
    first = next(
        (i for i, (a, b) in enumerate(zip(gold.text, system.text, strict=False)) if a != b),
        min(len(gold.text), len(system.text)),
    )
    path, line, name = gold.place(first)
    where = f" ({path}:{line}{f', sentence {name}' if name else ''})" if path else ""
    problem = (
        f"the texts differ from character {first} on (spaces not counted): gold{where} has "
        f"{gold.text[first : first + 20]!r}, the system has {system.text[first : first + 20]!r}"
    )
    raise input_error(problem, *system.place(first))


def _align(gold: Sequence[_Word], system: Sequence[_Word]) -> list[Pair]:
    """Return the pairs of words that cover the same characters.

    Inside ranges, the pairs are the longest common subsequence of forms.
    """
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


def _range_ends(gold: Sequence[_Word], system: Sequence[_Word], g: int, s: int) -> tuple[int, int]:
    """Return the ends of the smallest stretches from word g of gold and word s of system on that cut no range."""
    end = max(w[i].end for w, i in ((gold, g), (system, s)) if i < len(w) and w[i].in_range)

    def inside(words: Sequence[_Word], i: int) -> bool:
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


def _common_subsequence(gold: Sequence[_Word], system: Sequence[_Word]) -> list[Pair]:
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
