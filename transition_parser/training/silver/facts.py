"""Facts about AMRs that PropBank's annotation of a sentence gives.

A predicate gives a node with the concept of its roleset. An argument ARG0 … ARG5 gives an edge to a node of the word
that heads the argument in the tree. Where the tree leaves this word open, the edge goes to any node of the argument.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from transition_parser.base.errors import InputError
from transition_parser.graphs.conllu import Sentence
from transition_parser.graphs.propbank import Predicate, Span
from transition_parser.parsing.given import End, Given, GivenEdge, GivenNode

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

ROLES = frozenset(f"ARG{number}" for number in range(6))
AUXILIARIES = frozenset({"be.03", "have.01", "do.01"})  # rolesets of auxiliaries, which have no node
SOFT = 4.0  # nats that a parse loses if it contradicts an edge to a third-person pronoun

# UPOS tags of words that join clauses and phrases, and so rarely have a node of their own
_FUNCTION = frozenset({"ADP", "AUX", "CCONJ", "PART", "PUNCT", "SCONJ"})
_NOMINAL = frozenset({"ADP", "ADV", "NOUN", "NUM", "PRON", "PROPN", "SYM"})
_MODALS = frozenset("can ca could may might must should shall ought need".split())
_COORDINATORS = frozenset("and or but nor & + /".split())
_RELATIVES = frozenset("who whom whose which that where when".split())
# heads whose dependent noun is likely to have the node instead: `a lot of people`, `one of them`
_PARTITIVES = frozenset(
    "lot lots kind kinds type types sort sorts bit bunch group number couple piece pieces part some one most all many "
    "few any each none half rest majority pair series variety deal ton tons plenty amount percent much more several "
    "both either neither".split()
)
_PERSONS = {
    **dict.fromkeys("i me my mine myself".split(), "i"),
    **dict.fromkeys("we us our ours ourselves".split(), "we"),
    **dict.fromkeys("you your yours yourself yourselves".split(), "you"),
    **dict.fromkeys("he him his himself".split(), "he"),
    **dict.fromkeys("she her hers herself".split(), "she"),
    **dict.fromkeys("they them their theirs themselves".split(), "they"),
    **dict.fromkeys("it its itself".split(), "it"),
}
_SPEAKERS = frozenset({"i", "we", "you"})


@dataclass(frozen=True)
class Facts:
    """The facts about a sentence, and what was left out of them.

    given: None where there are no facts
    left_out: how many predicates and arguments were left out, by the reason
    """

    given: Given | None
    left_out: Counter[str] = field(default_factory=Counter)


class _Words(NamedTuple):
    """The tree of a sentence and its words. Words count from 0, and the head of the root is -1."""

    forms: list[str]
    upos: list[str]
    heads: list[int]
    relations: list[str]
    children: dict[int, list[int]]

    @classmethod
    def of(cls, sentence: Sentence) -> _Words:
        tree = sentence.tree()
        heads = [head - 1 for head in tree.heads]
        children: dict[int, list[int]] = defaultdict(list)
        for word, head in enumerate(heads):
            children[head].append(word)
        relations = [relation.partition(":")[0] for relation in tree.relations]
        forms = [form.lower() for form in sentence.forms]
        return cls(forms, [row.upos for row in sentence.words], heads, relations, children)

    def below(self, word: int, relation: str, span: Span) -> list[int]:
        """Return the dependents of a word with the given relation, within a span."""
        return [w for w in self.children.get(word, ()) if self.relations[w] == relation and span[0] <= w <= span[1]]

    def is_relative(self, word: int) -> bool:
        """Return True for a pronoun or adverb that opens a relative clause."""
        if self.forms[word] not in _RELATIVES:
            return False
        while word >= 0 and self.relations[word] not in ("acl", "root", "ccomp", "advcl", "csubj"):
            word = self.heads[word]
        return word >= 0 and self.relations[word] == "acl"


def facts_of(sentence: Sentence, predicates: Iterable[Predicate], inventory: Collection[str]) -> Facts:
    """Return the facts that the annotation of a sentence gives.

    These have no nodes or edges: rolesets that AMR does not use, light verbs and auxiliaries, words with two rolesets,
    arguments with other labels than ARG0 … ARG5, arguments that are a relative pronoun or an expletive, and arguments
    that give a predicate two edges to the same words. If the other facts contradict each other, all edges are left out.

    sentence: a sentence with its tree and UPOS tags
    inventory: the rolesets that AMR uses
    """
    return _Mapping(_Words.of(sentence), list(predicates), inventory).facts()


class _Mapping:
    def __init__(self, words: _Words, predicates: Sequence[Predicate], inventory: Collection[str]) -> None:
        self.words = words
        self.left_out: Counter[str] = Counter()
        self.predicates = self._framed(predicates, inventory)
        self.light = _light_verbs(predicates)
        auxiliaries = {one.word for one in predicates if one.roleset in AUXILIARIES and self._is_auxiliary(one)}
        self.none = frozenset({*self.light, *auxiliaries}.difference(self.predicates))
        self.first = self._first_mentions()

    def facts(self) -> Facts:
        nodes = tuple(GivenNode((word, word), one.concept, _variable(word)) for word, one in self.predicates.items())
        if not nodes and not self.none:
            return Facts(None, self.left_out)
        edges = tuple(edge for one in self.predicates.values() for edge in self._edges(one))
        for some in (edges, ()):
            try:
                given = Given(nodes=nodes, edges=some, none=self.none)
                given.check(len(self.words.forms))
                return Facts(given, self.left_out)
            except InputError:
                self.left_out["sentence whose edges contradict each other" if some else "sentence"] += 1
        return Facts(None, self.left_out)

    # --- nodes -------------------------------------------------------------------------------------

    def _framed(self, predicates: Sequence[Predicate], inventory: Collection[str]) -> dict[int, Predicate]:
        """Return word → predicate for the predicates that give AMR a node."""
        wanted: dict[int, list[Predicate]] = {}
        for one in predicates:
            if one.is_light or self._is_auxiliary(one):
                continue
            if one.roleset not in inventory:
                self.left_out["predicate whose roleset AMR does not use"] += 1
            else:
                wanted.setdefault(one.word, []).append(one)
        return self._single(wanted, "predicate of a word with two rolesets")

    def _single(self, groups: Mapping[_Key, Sequence[_Value]], problem: str) -> dict[_Key, _Value]:
        """Return the only member of each group of one. The members of larger groups are left out for `problem`."""
        self.left_out[problem] += sum(len(group) for group in groups.values() if len(group) > 1)
        return {key: group[0] for key, group in groups.items() if len(group) == 1}

    def _is_auxiliary(self, predicate: Predicate) -> bool:
        return self.words.upos[predicate.word] == "AUX"

    def _first_mentions(self) -> dict[int, int]:
        """Return personal pronoun → first pronoun of the same person in the sentence, whose node both share."""
        first: dict[str, int] = {}
        return {
            word: first.setdefault(_PERSONS[form], word)
            for word, form in enumerate(self.words.forms)
            if form in _PERSONS and self.words.relations[word] != "expl" and self.words.upos[word] == "PRON"
        }

    # --- edges -------------------------------------------------------------------------------------

    def _edges(self, predicate: Predicate) -> list[GivenEdge]:
        found: dict[Span, list[GivenEdge]] = {}
        for label, span in predicate.arguments:
            if label not in ROLES:
                continue
            target = self._narrowed(span)
            if target is None or target == (predicate.word, predicate.word):
                self.left_out["argument without a node of its own"] += 1
            else:
                edge = GivenEdge(_variable(predicate.word), label, *self._end(target))
                found.setdefault(target, []).append(edge)
        return [*self._single(found, "argument of the same words as another").values()]

    def _end(self, target: Span) -> tuple[End, float | None]:
        """Return the end of an edge to an argument, and the weight of that fact.

        target: the words that the argument's node may come from
        """
        word, last = target
        if word < last:
            return target, None
        if word in self.first:
            first = self.first[word]
            return (first, first), None if _PERSONS[self.words.forms[first]] in _SPEAKERS else SOFT
        # the argument may be a node above the predicate of a noun: `owner` is `person :ARG0-of own-01`
        is_frame = word in self.predicates and self.words.upos[word] != "NOUN"
        return (_variable(word) if is_frame else target), None

    def _narrowed(self, span: Span) -> Span | None:
        """Return the words of an argument that its node may come from, None where it has no node of its own."""
        words, inside = self.words, range(span[0], span[1] + 1)
        heads = [w for w in inside if not span[0] <= words.heads[w] <= span[1] and words.upos[w] not in _FUNCTION]
        if len(heads) != 1:
            return span if any(words.upos[w] not in _FUNCTION for w in inside) else None
        head = heads[0]
        if span[0] == span[1] and (words.relations[head] == "expl" or words.is_relative(head)):
            return None
        if head in self.light:
            noun = self.light[head]
            return (noun, noun) if noun is not None and noun in inside else span
        others = words.below(head, "conj", span)
        if others:
            return self._coordinated(head, others, span)
        if self._is_open(head, span):
            return span
        return self._with_modals(head, span)

    def _coordinated(self, head: int, others: list[int], span: Span) -> Span:
        """Return the span of the coordinator (`and`) or, if there is none, the span of all conjuncts."""
        found = [
            w for other in others for w in self.words.below(other, "cc", span) if self.words.forms[w] in _COORDINATORS
        ]
        return (found[-1], found[-1]) if found else (head, max(others))

    def _is_open(self, head: int, span: Span) -> bool:
        """Return True if the head is a number or partitive and a dependent in the span may have the node instead."""
        number = self.words.upos[head] in ("NUM", "SYM") or self.words.forms[head] in _PARTITIVES
        return number and any(span[0] <= w <= span[1] for w in self.words.children.get(head, ()))

    def _with_modals(self, head: int, span: Span) -> Span:
        """Return the span of the head and of its modals and copulas, which may have a node above the head's."""
        above = [w for w in self.words.below(head, "aux", span) if self.words.forms[w] in _MODALS]
        if self.words.upos[head] in _NOMINAL:
            above += self.words.below(head, "cop", span)
        return min([head, *above]), max([head, *above])


def _variable(word: int) -> str:
    """Return the variable of the node of a predicate."""
    return f"p{word}"


def _light_verbs(predicates: Iterable[Predicate]) -> dict[int, int | None]:
    """Return word of a light verb → word of the noun that the verb supports, None if the noun is not known."""
    light: dict[int, int | None] = {}
    for one in predicates:
        spans = {label: span for label, span in one.arguments}
        if one.is_light:
            light.setdefault(one.word, spans["ARGM-PRR"][1] if "ARGM-PRR" in spans else None)
        if "ARGM-LVB" in spans and spans["ARGM-LVB"][0] == spans["ARGM-LVB"][1]:
            light[spans["ARGM-LVB"][0]] = one.word
    return light
