"""A draft beside the dependency tree of its sentence: which nodes belong to which word, and who is whose subject."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise

from transition_parser.graphs.amr import CONJUNCTIONS
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.parsing.edits.draft import Draft
from transition_parser.parsing.edits.pronouns import PRONOUNS, SUBJECTS
from transition_parser.text import word_list

# relations of words that only serve their head, such as *has* or *after*
_SERVING = frozenset("aux cop mark case det cc fixed flat compound nummod amod advmod goeswith appos".split())
ROLE_FRAMES = ("have-rel-role-91", "have-org-role-91")  # frames of relatives and offices
# *teacher*: a person who teaches
AGENTS = ("person", "thing", "company", "organization", "molecular-physical-entity")
_LISTS = (*CONJUNCTIONS, "nor", "contrast-01")
_BY_SUBJECT = frozenset(word_list("edits: by subject"))
_BY_OBJECT = frozenset(("from", "of", "into"))  # marks of clauses: *forbid them from using it*, *accuse him of lying*
_AFTER_OBJECTS = _BY_OBJECT | {"for"}  # *thank him for coming*, *use it for cutting*
_RELATIVE = ("who", "which", "that", "whom")
_APART = frozenset(", ; : ( ) -- - – —".split())  # marks around an apposition
_STATEMENT, _QUESTION = (6, 2), (10, 3)  # the least words and frames of sentences with clauses
_MOST = 6  # steps from a verb up to the one that has its subject


def has_clauses(draft: Draft) -> bool:
    """Return True for a sentence that probably has several clauses, or a clause with several modifiers."""
    words, frames = _QUESTION if "amr-unknown" in draft.labels else _STATEMENT
    frames -= "if" in draft.forms or "unless" in draft.forms  # *if I were you , I would go*
    return len(draft.words) >= words and sum(map(draft.is_frame, range(len(draft.labels)))) >= frames


class TreeView:
    """A draft and the tree of its sentence. Words count from 0, and the head of the root is -1.

    relations: of each word to its head, without subtypes; `full` has them
    nodes: the nodes of each word, without names and constants; a node of several words is a node of each
    """

    def __init__(self, draft: Draft, tree: DependencyTree) -> None:
        self.draft, self.heads = draft, [head - 1 for head in tree.heads]
        full = [*tree.relations]
        for word, head in enumerate(self.heads):  # *lend the couple the money* has no apposition
            if full[word] == "appos" and full[head] == "obj" and not _APART.intersection(draft.forms[head:word]):
                full[word], self.heads[word] = "obj", self.heads[head]
        objects = [
            (head, word)
            for word, head in enumerate(self.heads)
            if full[word] == "obj" and draft.forms[word] not in _RELATIVE
        ]
        receivers = {
            word for (head, word), (other, _) in pairwise(sorted(objects)) if head == other
        }  # *sold you pills*
        self.full = ["iobj" if word in receivers else relation for word, relation in enumerate(full)]
        self.relations = [relation.partition(":")[0] for relation in self.full]
        self.nodes: list[list[int]] = [[] for _ in self.heads]
        for node, places in enumerate(draft.alignments):
            label = draft.labels[node]
            if node not in draft.constants and label != "name":
                for place in places:  # an added pronoun has the place of its verb
                    if SUBJECTS.get(draft.forms[place]) == (label if label in PRONOUNS else None):
                        self.nodes[place].append(node)
        for word in [word for word, relation in enumerate(self.relations) if relation == "conj"]:
            head = self._finite(word)
            if word not in (head, *self.ancestors(head)):
                self.heads[word] = head
        self.dependents: list[list[int]] = [[] for _ in self.heads]
        for word, head in enumerate(self.heads):
            if head >= 0:
                self.dependents[head].append(word)

    def _finite(self, word: int) -> int:
        """Return the head of a conjunct, for a finite verb another one: *told* in *told us to go and left*."""
        head, forms = self.heads[word], self.draft.forms
        served = {self.heads[one] for one, relation in enumerate(self.relations) if relation in ("aux", "mark")}
        if word in served or not self.is_finite(word):
            return head
        while self.relations[head] in ("xcomp", "advcl", "acl") and forms[head] != forms[word]:
            if self.is_finite(head):
                return head
            above = self.heads[head]
            is_of_noun = self.relations[head] == "acl" and self.heads[above] >= 0
            head = self.heads[above] if is_of_noun else above  # *accused him of stealing eggs and left*
        return head

    def is_finite(self, word: int) -> bool:
        """Return True for a verb that may be finite by its form, or a past participle: *went*, not *going* or *go*."""
        form = self.draft.forms[word]
        return form != self.draft.words[word].lemma and not form.endswith("ing")

    # --- words -----------------------------------------------------------------------------------------

    def ancestors(self, word: int) -> Iterator[int]:
        """Yield the words above a word, the nearest first."""
        while (word := self.heads[word]) >= 0:
            yield word

    def subtree(self, word: int) -> set[int]:
        """Return a word and all words below it."""
        found, todo = set[int](), [word]
        while todo:
            found.add(one := todo.pop())
            todo += self.dependents[one]
        return found

    def clause(self, verb: int) -> set[int]:
        """Return a verb and the words below it, without the clauses that are joined with it or modify words of it."""
        others = [one for one in self.dependents[verb] if self.relations[one] in ("conj", "advcl", "parataxis")]
        words = self.subtree(verb)
        others += [one for one in words if self.relations[one] == "acl" and one != verb]
        return words.difference(*map(self.subtree, others))

    def are_joined(self, one: int, other: int) -> bool:
        """Return True for two different words that a conjunction joins."""
        firsts = [self.heads[word] if self.relations[word] == "conj" else word for word in (one, other)]
        return one != other and firsts[0] == firsts[1]

    def dependent(self, word: int, *relations: str) -> int:
        """Return the first dependent with one of some relations, with or without subtypes, -1 for none."""
        below = self.dependents[word]
        return next((one for one in below if self.relations[one] in relations or self.full[one] in relations), -1)

    def is_passive(self, verb: int) -> bool:
        """Return True for a verb in the passive, with an auxiliary or without (*a letter written by her*)."""
        return self.dependent(verb, "nsubj:pass", "aux:pass") >= 0 or self._is_participle(verb)

    def _is_participle(self, verb: int) -> bool:
        """Return True for a past participle that modifies a noun or a clause: *suspected*, not *suspecting*."""
        is_modifier = self.full[verb] in ("acl", "advcl")
        return self.is_finite(verb) and is_modifier and self.dependent(verb, "nsubj", "aux", "cop", "mark", "obj") < 0

    def subject(self, verb: int, steps: int = _MOST) -> int:
        """Return the word that is the subject of a verb, which may be an infinitive or one of several, -1 for none."""
        own, above = self.dependent(verb, "nsubj"), self.heads[verb]
        if own >= 0:
            is_relative = self.full[verb] == "acl:relcl" and self.draft.forms[own] in _RELATIVE
            return above if is_relative else own
        if above < 0 or not steps:
            return -1
        if self.relations[verb] == "conj" and self.is_passive(verb) == self.is_passive(above):
            return self.subject(above, steps - 1)
        if self.full[verb] == "acl":
            is_active = self.draft.forms[verb].endswith("ing") and self.dependent(verb, "mark") < 0
            is_blamed = bool(self._marks(verb) & _BY_OBJECT) and self.is_argument(verb, self.heads[above])
            return above if is_active or is_blamed or self._is_participle(verb) else -1
        return self._controller(verb, steps - 1)

    def _marks(self, verb: int) -> set[str]:
        """Return the words that begin the clause of a verb: *that*, *to*, *by*."""
        return {self.draft.forms[one] for one in self.dependents[verb] if self.relations[one] == "mark"}

    def is_argument(self, verb: int, above: int) -> bool:
        """Return True for a clause that is an argument of the verb above it: *blame him for lying*, not a purpose."""
        frames = self.draft.frames.get(above, -1), self.draft.frames.get(verb, -1)
        return any(edge[::2] == frames and edge.role[:3] == "ARG" for edge in self.draft.edges)

    def _controller(self, verb: int, steps: int) -> int:
        """Return the subject of a clause without one: the subject or the object of the verb above it."""
        form, above, relation = self.draft.forms[verb], self.heads[verb], self.relations[verb]
        asked, marks = self.dependent(above, "iobj"), self._marks(verb)
        asked = asked if asked >= 0 else self.dependent(above, "obj")  # *what did you advise him to do*
        is_first = asked < above and self.draft.forms[asked] not in ("who", "whom", "that")
        asked = -1 if is_first else asked  # *what do you want to do*
        subject = self.subject(above, steps)
        if relation == "xcomp" or (relation == "ccomp" and "to" in marks):
            return subject if asked < 0 or self.draft.words[above].lemma in _BY_SUBJECT else asked
        auxiliary = self.dependent(verb, "aux", "cop")  # *having left*, *being old*
        is_active = (form if auxiliary < 0 else self.draft.forms[auxiliary]).endswith("ing")
        if relation == "advcl" and (is_active or self._is_participle(verb)):
            is_apart = self.draft.forms[min(self.subtree(verb)) - 1] == ","
            if asked < 0 or verb < asked or is_apart or marks - _AFTER_OBJECTS:
                return subject
            return asked if marks & _BY_OBJECT or self.is_argument(verb, above) else -1
        return subject if relation == "advcl" and verb < above and "to" in marks else -1

    # --- nodes of words --------------------------------------------------------------------------------

    def is_list(self, node: int) -> bool:
        return self.draft.labels[node] in _LISTS

    def places(self, node: int) -> tuple[int, ...]:
        """Return the words of a node."""
        origin = self.draft.node_origins[node]
        return self.draft.alignments[origin] if origin >= 0 else ()

    def word(self, node: int) -> int:
        """Return the word of a node whose head is no word of it, -1 for none."""
        places = self.places(node)
        return next((place for place in places if self.heads[place] not in places), -1)

    def node(self, word: int) -> int:
        """Return the node that stands for all nodes of a word, -1 for none."""
        group = [node for node in self.nodes[word] if node not in self.draft.removed]
        inner = [edge for edge in self.draft.edges if edge.source in group and edge.target in group]
        agents = [edge.target for edge in inner if self.draft.labels[edge.target] in AGENTS]
        agents += [edge.target for edge in inner if edge.role == "ARG0" and not self.draft.is_frame(edge.target)]
        below = {edge.target for edge in inner}
        return next(iter([*agents, *(node for node in group if node not in below), *group]), -1)

    def argument(self, word: int) -> int:
        """Return the node of a word as an argument: of the list that it begins, or the only node of a pronoun.

        *It* and *they* may be two things.

        A quantity stands for what it counts: *thousands of people*.
        """
        lists = [node for node in self.lists(word) if self.is_list(node)]
        label = SUBJECTS.get(self.draft.forms[word], "")
        mentions = sum(SUBJECTS.get(form) == label for form in self.draft.forms)
        same = self.draft.nodes_of(label) if mentions == 1 or label not in ("it", "they") else []
        own = self.node(word)
        counted = [edge.source for edge in self.draft.edges if edge.role == "quant" and edge.target == own >= 0]
        if len(counted) == 1 and self.is_in(counted[0], self.subtree(word)):
            return counted[0]
        return lists[0] if lists else own if own >= 0 or len(same) != 1 else same[0]

    def lists(self, word: int) -> Iterator[int]:
        """Yield the nodes of the conjunctions that join a word with others after it."""
        for other in self.dependents[word]:
            for conjunction in self.dependents[other] if self.relations[other] == "conj" else ():
                if self.relations[conjunction] == "cc":
                    yield from self.nodes[conjunction]

    def unit(self, word: int) -> set[int]:
        """Return the nodes of a word, of the words that only serve it, and of the lists that it is in or begins."""
        found, todo = {*self.lists(word)}, [word]
        while todo:
            one = todo.pop()
            found.update(self.nodes[one])
            todo += [other for other in self.dependents[one] if self.relations[other] in _SERVING]
        members = [edge for edge in self.draft.edges if self.is_list(edge.source) and edge.role[:2] in ("op", "AR")]
        found |= {edge.source for edge in members if edge.target in found}
        return found - self.draft.removed

    def is_in(self, node: int, words: Collection[int]) -> bool:
        """Return True where some of the words have a node, or mention its pronoun."""
        mentioned = {SUBJECTS.get(self.draft.forms[word]) for word in words}
        return not {*words}.isdisjoint(self.places(node)) or self.draft.labels[node] in mentioned
