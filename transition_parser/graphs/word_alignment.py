"""The words of two CoNLL-U files of the same text, aligned by their characters as the CoNLL 2018 shared task does it.

Source: https://universaldependencies.org/conll18/evaluation.html
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from transition_parser.base.errors import input_error
from transition_parser.graphs.conllu import Sentence

# the features that the shared task scores
UNIVERSAL_FEATURES = frozenset(
    "PronType NumType Poss Reflex Foreign Abbr Gender Animacy Number Case Definite Degree VerbForm Mood Tense Aspect "
    "Voice Evident Polarity Person Polite".split()
)


@dataclass(eq=False)
class AlignedWord:
    """A word at the characters `start` up to `end` (excluded) of `TextFile.text`.

    All words of a multiword token (a range such as `1-2` in CoNLL-U) have the `start` and `end` of that token.
    """

    form: str
    start: int
    end: int
    relation: str
    upos: str
    xpos: str
    lemma: str
    feats: str
    in_range: bool
    parent: AlignedWord | None = None
    children: list[AlignedWord] = field(default_factory=list)
    length: int = 0  # how many words the sentence of the word has

    @property
    def depth(self) -> int:
        """The number of arcs between the word and the root, 1 for a word that depends on the root."""
        word, depth = self, 1
        while word.parent is not None:
            word, depth = word.parent, depth + 1
        return depth

    @property
    def universal_features(self) -> tuple[str, ...]:
        """The features of the word that the shared task scores, in alphabetical order."""
        return tuple(sorted(one for one in self.feats.split("|") if one.partition("=")[0] in UNIVERSAL_FEATURES))


Pair = tuple[AlignedWord, AlignedWord]


class TextFile:
    """The words, tokens and sentences of a file, with their positions in its text.

    text: the characters of all tokens, without spaces
    tokens, sentences: (start, end) of each token and each sentence in `text`, with `end` excluded
    _rows: for each token its sentence and its index in `Sentence.rows`
    """

    def __init__(self, sentences: Iterable[Sentence], full_labels: bool) -> None:
        self.words: list[AlignedWord] = []
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
                forms.append("".join(c for c in row.form if unicodedata.category(c) != "Zs") or row.form)
                start = self.tokens[-1][1] if self.tokens else 0
                self.tokens.append((start, start + len(forms[-1])))
                self._rows.append((sentence, number))
            if row.is_range:
                covered = row.span[1]
            if row.is_word:
                relation = row.deprel if self._full_labels else row.deprel.split(":")[0]
                form = row.form if in_range else forms[-1]
                columns = (row.upos, row.xpos, row.lemma, row.feats)
                self.words.append(AlignedWord(form, *self.tokens[-1], relation, *columns, in_range))
        self.sentences.append((self.tokens[first_token][0], self.tokens[-1][1]))
        for word, head in zip(self.words[first_word:], tree.heads, strict=True):
            word.length = len(tree)
            if head:
                word.parent = self.words[first_word + head - 1]
                word.parent.children.append(word)

    def place(self, character: int) -> tuple[str | None, int | None, str | None]:
        """Return the file, line and sentence id of the token at a character, or of the last token if there is none."""
        token = min(bisect_right(self.tokens, character, key=itemgetter(0)), len(self.tokens)) - 1
        sentence, row = self._rows[token]
        line = None if sentence.line is None else sentence.line + len(sentence.comments) + row
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
    composed, other = (unicodedata.normalize("NFC", text) for text in (ours, theirs))
    mend = ""
    if composed[:1] == other[:1]:
        mend = f", other Unicode forms of {composed!r}: write both files in the same form, such as NFC"
        ours, theirs = (" ".join(f"U+{ord(c):04X}" for c in text[:3]) for text in (ours, theirs))
    else:
        ours, theirs = repr(ours), repr(theirs)
    problem = f"the texts differ from character {first} on (spaces not counted): gold{where} has {ours}"
    raise input_error(f"{problem}, the system has {theirs}{mend}", *system.place(first))


def align(gold: Sequence[AlignedWord], system: Sequence[AlignedWord]) -> list[Pair]:
    """Return the pairs of words that cover the same characters.

    Inside multi-word ranges, the pairs are the longest common subsequence of the lower-cased forms.
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
