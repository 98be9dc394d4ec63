"""Facts about AMRs that PropBank's annotation of a sentence, and its tree with features, give.

A predicate gives a node with the concept of its roleset. An argument ARG0 … ARG5 gives an edge to a node of the word
that heads the argument in the tree. Where the tree leaves this word open, the edge goes to any node of the argument.
An imperative without a subject (Mood=Imp) gives `:mode imperative` and the node `you`.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from propbank import Predicate, Span

from transition_parser.base.errors import InputError
from transition_parser.graphs.conllu import Sentence
from transition_parser.parsing.edits.pronouns import SUBJECTS
from transition_parser.parsing.given import End, Given, GivenEdge, GivenNode
from transition_parser.text.frames import packaged

ROLES = frozenset(f"ARG{number}" for number in range(6))
AUXILIARIES = frozenset({"be.03", "have.01", "do.01"})  # rolesets of auxiliaries, which have no node
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
_PERSONS = {**SUBJECTS, "mine": "i"}
_SPEAKERS = frozenset({"i", "we", "you"})
_LET_US = frozenset({"us", "'s", "s", "’s"})
_SUBJECTS = frozenset({"nsubj", "csubj", "expl"})  # an imperative with one of these is left alone


def facts_of(
    sentence: Sentence, predicates: Iterable[Predicate], inventory: Collection[str]
) -> tuple[Given | None, Counter[str]]:
    """Return the facts that the annotation of a sentence gives, and reason → number of those that were left out.

    These have no nodes or edges: rolesets that AMR does not use, light verbs and auxiliaries, words with two rolesets,
    arguments with other labels than ARG0 … ARG5, arguments that are a relative pronoun or an expletive, arguments that
    give a predicate two edges to the same words, and later pronouns of the same third person, who may be others. If
    the other facts contradict each other, all edges are left out.

    sentence: a sentence with its tree and UPOS tags
    inventory: the rolesets that AMR uses
    """
    facts = _Facts(sentence, list(predicates), inventory)
    return facts.given(), facts.left_out


class _Facts:
    """The tree of a sentence (words count from 0, the head of the root is -1), and what its predicates give."""

    def __init__(self, sentence: Sentence, predicates: Sequence[Predicate], inventory: Collection[str]) -> None:
        tree = sentence.tree()
        self.forms = [form.lower() for form in sentence.forms]
        self.upos = [row.upos for row in sentence.words]
        self.feats = [row.feats.split("|") for row in sentence.words]
        self.heads = [head - 1 for head in tree.heads]
        self.relations = [relation.partition(":")[0] for relation in tree.relations]
        self.left_out: Counter[str] = Counter()
        self.light: dict[int, int | None] = {}  # light verb → the noun that it supports, None if unknown
        framed: dict[int, list[Predicate]] = defaultdict(list)
        for one in predicates:
            spans = dict(one.arguments)
            if one.is_light:
                self.light.setdefault(one.word, spans["ARGM-PRR"][1] if "ARGM-PRR" in spans else None)
            elif self.upos[one.word] != "AUX":
                if one.roleset in inventory:
                    framed[one.word].append(one)
                else:
                    self.left_out["predicate whose roleset AMR does not use"] += 1
            if "ARGM-LVB" in spans and spans["ARGM-LVB"][0] == spans["ARGM-LVB"][1]:
                self.light[spans["ARGM-LVB"][0]] = one.word
        self.predicates: dict[int, Predicate] = self._single(framed, "predicate of a word with two rolesets")
        auxiliaries = {one.word for one in predicates if one.roleset in AUXILIARIES and self.upos[one.word] == "AUX"}
        self.none = frozenset({*self.light, *auxiliaries}.difference(self.predicates))
        first: dict[str, int] = {}
        self.first = {  # personal pronoun → the first pronoun of the same person, whose node both share
            word: first.setdefault(_PERSONS[form], word)
            for word, form in enumerate(self.forms)
            if form in _PERSONS and self.relations[word] != "expl" and self.upos[word] == "PRON"
        }

    def given(self) -> Given | None:
        nodes = {f"p{word}": GivenNode((word, word), one.concept) for word, one in self.predicates.items()}
        edges = tuple(edge for one in self.predicates.values() for edge in self._edges(one))
        more_nodes, more_edges = self._imperatives()
        nodes |= more_nodes
        if not nodes and not self.none:
            return None
        for some in dict.fromkeys(((*edges, *more_edges), (*more_edges,), ())):
            try:
                given = Given(nodes=nodes, edges=some, none=self.none, top=self._top())
                given.check(len(self.forms))
                return given
            except InputError:
                self.left_out["sentence whose edges contradict each other" if some else "sentence"] += 1
        return None

    def _imperatives(self) -> tuple[dict[str, GivenNode], list[GivenEdge]]:
        """Return the modes of imperatives, their `:polite +`, and the node `you` that they share with pronouns."""
        heads = [w if self.upos[w] != "AUX" else self.heads[w] for w, of in enumerate(self.feats) if "Mood=Imp" in of]
        verbs = [head for head in dict.fromkeys(heads) if head >= 0 and self._is_main(head)]
        nodes: dict[str, GivenNode] = {}
        edges: list[GivenEdge] = []
        you: End | None = next(
            ((word, word) for word in self.first.values() if _PERSONS[self.forms[word]] == "you"), None
        )
        for verb in verbs:
            below = [w for w, head in enumerate(self.heads) if head == verb]
            relations = {self.relations[w] for w in below}
            if not _SUBJECTS.isdisjoint(relations):
                continue
            if self.forms[verb] == "let" and _LET_US.intersection(self.forms[w] for w in below):
                continue
            please = next((w for w in below if self.forms[w] == "please"), None)
            copula = next((w for w in below if self.relations[w] == "cop" and w not in self.none), None)
            head = self.light.get(verb, verb)  # `take care` is `care`
            predicate = self.predicates.get(verb if head is None else head)
            if predicate is None and copula is None:
                continue
            # the aligner, too, gives `please` all nodes of a request
            word = next(w for w in (please, copula, head, verb) if w is not None)
            if you is None and "vocative" not in relations:
                you = f"y{verb}"
                nodes[you] = GivenNode((word, word), "you")
            source: End = f"p{predicate.word}" if predicate else (verb, verb)
            for role, sign in [("mode", "imperative"), *([("polite", "+")] if please is not None else [])]:
                nodes[f"{role}{verb}"] = GivenNode((word, word), sign)
                edges.append(GivenEdge(source, role, f"{role}{verb}"))
            role = self._role_of_subject(predicate) if predicate else None
            if role and you is not None and "vocative" not in relations:  # who is called may be the subject
                edges.append(GivenEdge(source, role, you))
        return nodes, edges

    def _top(self) -> str | None:
        """Return the node of an imperative that is the root and is joined to no other clause."""
        root = self.relations.index("root")
        below = {self.relations[w] for w, head in enumerate(self.heads) if head == root}
        is_top = (
            root in self.predicates and "Mood=Imp" in self.feats[root] and below.isdisjoint(("conj", "parataxis", "cc"))
        )
        return f"p{root}" if is_top else None

    def _is_main(self, word: int) -> bool:
        while self.relations[word] in ("conj", "parataxis", "ccomp"):
            word = self.heads[word]
        return self.relations[word] == "root"

    @staticmethod
    def _role_of_subject(predicate: Predicate) -> str | None:
        """Return ARG0, or ARG1 for a frame without ARG0, unless the predicate has such an argument already."""
        lemma, _, sense = predicate.concept.rpartition("-")
        roles = packaged().roles(lemma, sense)
        role = next((f"ARG{number}" for number in (0, 1) if number in roles), None)
        return role if role not in dict(predicate.arguments) else None

    def _single(self, groups: Mapping, problem: str) -> dict:
        """Return the only member of each group of one. The members of larger groups are left out for `problem`."""
        self.left_out[problem] += sum(len(group) for group in groups.values() if len(group) > 1)
        return {key: group[0] for key, group in groups.items() if len(group) == 1}

    def _edges(self, predicate: Predicate) -> list[GivenEdge]:
        found: dict[Span, list[GivenEdge]] = defaultdict(list)
        for label, span in predicate.arguments:
            if label not in ROLES:
                continue
            target = self._narrowed(span)
            if target is None or target == (predicate.word, predicate.word):
                self.left_out["argument without a node of its own"] += 1
                continue
            word, end = target[0], target
            if target[0] == target[1] and word in self.first:
                end = (self.first[word], self.first[word])
                is_clear = _PERSONS[self.forms[word]] in _SPEAKERS or self.forms[word].endswith(("self", "selves"))
                if end != target and not is_clear:
                    self.left_out["pronoun that may be someone else's"] += 1
                    continue
            elif target[0] == target[1] and word in self.predicates and self.upos[word] != "NOUN":
                # a noun's argument may be a node above its predicate: `owner` is `person :ARG0-of own-01`
                end = f"p{word}"
            found[target].append(GivenEdge(f"p{predicate.word}", label, end))
        return [*self._single(found, "argument of the same words as another").values()]

    def _narrowed(self, span: Span) -> Span | None:
        """Return the words of an argument that its node may come from, None where it has no node of its own."""
        inside = range(span[0], span[1] + 1)
        heads = [w for w in inside if self.heads[w] not in inside and self.upos[w] not in _FUNCTION]
        if len(heads) != 1:
            return span if any(self.upos[w] not in _FUNCTION for w in inside) else None
        (head,) = heads
        if len(inside) == 1 and (self.relations[head] == "expl" or self._is_relative(head)):
            return None
        if head in self.light:
            noun = self.light[head]
            return (noun, noun) if noun is not None and noun in inside else span
        conjuncts = self._below(head, "conj", inside)
        if conjuncts:
            coordinators = [w for other in conjuncts for w in self._below(other, "cc", inside)]
            coordinators = [w for w in coordinators if self.forms[w] in _COORDINATORS]
            return (coordinators[-1], coordinators[-1]) if coordinators else (head, max(conjuncts))
        is_quantity = self.upos[head] in ("NUM", "SYM") or self.forms[head] in _PARTITIVES
        if is_quantity and any(self.heads[w] == head for w in inside):
            return span
        # modals and copulas may have a node above the head's
        above = [w for w in self._below(head, "aux", inside) if self.forms[w] in _MODALS]
        if self.upos[head] in _NOMINAL:
            above += self._below(head, "cop", inside)
        return min([head, *above]), max([head, *above])

    def _below(self, head: int, relation: str, inside: Iterable[int]) -> list[int]:
        return [w for w in inside if self.heads[w] == head and self.relations[w] == relation]

    def _is_relative(self, word: int) -> bool:
        """Return True for a pronoun or adverb that opens a relative clause."""
        if self.forms[word] not in _RELATIVES:
            return False
        while word >= 0 and self.relations[word] not in ("acl", "root", "ccomp", "advcl", "csubj"):
            word = self.heads[word]
        return word >= 0 and self.relations[word] == "acl"
