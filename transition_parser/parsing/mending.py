"""Mends of structures that no AMR has, but that search may build because their parts are legal one by one.

An empty date or a quantity without `:quant` becomes its unit or the concept of its word. A pronoun gets its subject
form, a web or e-mail address or telephone number its entity. A number that is no year, month or day becomes another of
them, or leaves the date. All mentions of *i*, *we* or *you* in a sentence are one node. Lists get the members that
search left out of them. Names get the types that words say.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from itertools import pairwise

from transition_parser.graphs.amr import CONJUNCTIONS, AmrGraph, Edge, named, quoted
from transition_parser.parsing.draft import Draft, Edited
from transition_parser.text.known_names import known_type
from transition_parser.text.names import gene_product, noun_before, tables, type_in_context, type_of
from transition_parser.transitions.amr_state import Word, key, lemma_of

SUBJECTS: Mapping[str, str] = {  # without `mine`, which is a noun, too
    form: forms.split()[0]
    for forms in (
        *("i me my myself", "we us our ours ourselves", "you your yours yourself yourselves"),
        *("he him his himself", "she her hers herself", "they them their theirs themselves", "it its itself"),
    )
    for form in forms.split()
}
NO_SUBJECTS = frozenset(form for form, subject in SUBJECTS.items() if form != subject)
_MENTIONS = {form: subject for form, subject in SUBJECTS.items() if form != "it"} | {"mine": "i"}  # it is often empty
_ADDRESSES = {
    "email-address-entity": re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+"),
    "url-entity": re.compile(r"(https?://|www\.)\S+|\S+\.(com|org|net|gov|edu|html?)(/\S*)?"),
    "phone-number-entity": re.compile(r"(\(\d{3}\)|\d{3}-)\d{3}-\d{4}"),
}
_ODD = re.compile(rf"^({'|'.join(NO_SUBJECTS)})$|date-entity$|-quantity$|\S[@./]\S|\d{{3}}-\d{{4}}", re.MULTILINE)
# The valid numbers of a date. Gold AMRs have no year below 100: a smaller year is a misread day of the month.
IN_DATES = {"day": range(1, 32), "month": range(1, 13), "year": range(100, 10_000)}
_SHARED = ("i", "we", "you")  # in 1,000 gold AMRs with one of them, two have it twice
_SEPARATORS = (",", *CONJUNCTIONS)
_NAME = re.compile("[A-Z][a-z]+( [^A-Z@-]|$)")  # no other word of the name follows
_TIME = re.compile(r'"(\d\d?)(:\d\d)"')


def entity_of(text: str) -> str | None:
    """Return the concept of an address or telephone number, None for other texts."""
    return next((entity for entity, pattern in _ADDRESSES.items() if pattern.fullmatch(text)), None)


def mended(graph: AmrGraph, alignments: Sequence[Sequence[int]], words: Sequence[Word]) -> Edited | None:
    """Return the graph with mended structures, None if there is none to mend."""
    lists = [node for node, label in enumerate(graph.labels) if label in CONJUNCTIONS]
    is_shared = any(graph.labels.count(pronoun) > 1 for pronoun in _SHARED)
    if not (lists or is_shared or _ODD.search("\n".join(graph.labels))):
        return None
    odd = {node for node, label in enumerate(graph.labels) if _ODD.search(label)}
    draft, is_named = _Draft(graph), not odd.isdisjoint(graph.constants)
    for node in range(len(graph)):
        if (is_named or node in odd) and node not in graph.constants and node not in draft.removed:
            draft.mend(node, [words[word] for word in alignments[node]])
    draft.share_pronouns()
    for node in lists:
        draft.gather_members(node, alignments, [word.form for word in words])
    return draft.result()


def with_mentions(
    graph: AmrGraph, alignments: Sequence[tuple[int, ...]], words: Sequence[Word]
) -> list[tuple[int, ...]]:
    """Return the alignments; a pronoun's only node also gets all words that mention it and have no node of their own.

    Words in capitals are left out (`US`, `IT`), except `I`. A name of one word that no node has gets this word.
    """
    nodes = {label: node for node, label in enumerate(graph.labels) if label in SUBJECTS}
    aligned, found = {word for each in alignments for word in each}, [*alignments]
    for place, word in enumerate(words) if nodes else ():
        node = nodes.get(_MENTIONS.get(word.form.lower(), ""))
        if node is None or place in aligned or (word.form.isupper() and word.form != "I"):
            continue
        if graph.labels.count(graph.labels[node]) == 1:
            found[node] = tuple(sorted((*found[node], place)))
    lost = {quoted(word.form): place for place, word in enumerate(words) if place not in aligned}
    for node, name, (text, *_) in named(graph) if lost else ():
        at = alignments[text]
        if graph.labels[text] in lost and not {words[place].form for place in at}.difference(_SEPARATORS):
            found[node] = found[name] = found[text] = (lost[graph.labels[text]],)
    return found


def with_types(
    graph: AmrGraph, alignments: Sequence[Sequence[int]], words: Sequence[Word], known: Container[str] = ()
) -> Edited | None:
    """Return the graph with the types of names that their sentence or their own words say; None for no change.

    A noun before a name (*the film Ran*) becomes its type, and their nodes become one. Other names of unsure types get
    the types that everybody knows, or those that their head words or the words around them say. Products of genes, and
    unsure names beside them, get their kinds by their symbols.

    known: the keys of spans of training; names with such words get no types of heads or symbols
    """
    draft, forms, lemmas = _Draft(graph), [word.form for word in words], [word.lemma for word in words]
    names = [*named(graph)]
    has_genes = any(graph.labels[node] in tables()["gene"] for node, *_ in names)
    for node, _, ops in names:
        places, label = sorted(alignments[node]), graph.labels[node]
        name = [graph.labels[op].strip('"') for op in ops]
        if name[1:] and noun_before(forms, places[1:]) == places[0]:  # the noun was taken for a part of the name
            draft.labels[node] = words[places[0]].lemma
            draft.removed.add(ops[0])
        elif (noun := noun_before(forms, places)) is None or not draft.join_noun(node, noun, words, alignments):
            is_known = key([words[place] for place in places]) in known
            is_unsure = bool(places) and label in tables()["unsure"] and not is_known
            is_said = bool(places) and label in lemmas[places[-1] + 1 : places[-1] + 3]  # `the MAPK pathway`
            before = forms[places[0] - 1].lower() if places and places[0] else ""
            is_person = label == "person" and before != "the"  # no name of a person has an article
            said = type_in_context(lemmas, places[0], places[-1] + 1, is_person) if places else None
            kind = None
            if has_genes and places and not (is_known or is_said) and (is_unsure or label in tables()["gene"]):
                kind = gene_product(name, as_other=is_unsure)
            if kind is None and places and not (is_said or label in lemmas):
                kind = known_type(name, label, before, said)
            if kind is None and is_unsure:
                kind = said if said in tables()["work"] else type_of(name, is_person) or said
                kind = kind or ("city" if label in tables()["closed"] else None)
            draft.labels[node] = kind or label
    return draft.result()


class _Draft(Draft):
    def mend(self, node: int, words: Sequence[Word]) -> None:
        below = {edge.role: number for number, edge in enumerate(self.edges) if edge.source == node}
        label, text = self.labels[node], "".join(word.form for word in words)
        if label == "date-entity":
            for role in IN_DATES:
                if role in below:
                    self._mend_date(role, below)
        elif "name" in below:
            self._mend_name(node, below["name"])
        is_empty = not below if label == "date-entity" else label.endswith("-quantity") and "quant" not in below
        if is_empty:
            self._mend_quantity(node, below, words)
        label = self.labels[node] = SUBJECTS.get(self.labels[node], self.labels[node])
        if entity := entity_of(lemma_of(label)) or (entity_of(text) if is_empty and not below else None):
            self.labels[node] = entity
            self._add(node, "value", quoted(text if entity_of(text) else lemma_of(label)))

    def _add(self, node: int, role: str, label: str) -> int:
        """Add a node below another, whose words it gets, and return it."""
        new = self.new_node(label, label.startswith('"'), self.node_origins[node])
        self.add_edge(node, role, new)
        return new

    def share_pronouns(self) -> None:
        """Merge the nodes of each pronoun in `_SHARED` into the first, unless both have the same place in the graph."""
        for pronoun in _SHARED:
            first, *others = self.nodes_of(pronoun) or [-1]
            for node in others:
                places = self._places(first)
                if places.isdisjoint(self._places(node)) and node not in {other for other, _ in places}:
                    self._merge(node, first)

    def gather_members(self, conjunction: int, alignments: Sequence[Sequence[int]], forms: Sequence[str]) -> None:
        """Make members of what stands beside a member: frames that have the list as argument, names without a node.

        The frames must share another argument with the member: *she* in *She wept , coughed and left*.
        """
        first, edges = [min(places, default=-1) for places in alignments], [*enumerate(self.edges)]
        ops = {first[e.target]: i for i, e in edges if e.source == conjunction and e.role[:2] == "op"}
        frames = {first[e.source]: i for i, e in edges if e.target == conjunction and e.role in ("ARG1", "ARG2")}
        words = pairwise(place for place, form in enumerate(forms) if form not in _SEPARATORS)
        divided = [(one, other) for one, other in words if 1 < other - one < 4]  # by a comma, `and` or `or`
        beside_of = [*divided, *((other, one) for one, other in divided)]
        names = {node for node, *_ in named(self.graph)}
        inside = {place for pair in divided for place in pair if place and names}  # `However , Ann and Bob`
        lost = {i for i in inside if _NAME.match(" ".join(forms[i : i + 2]))}.difference(*alignments)
        count, has_parent = len(ops), any(e.target == conjunction for i, e in edges if i not in frames.values())
        for place in sorted(lost.union(frames), reverse=True):
            beside = [self.edges[ops[other]].target for one, other in beside_of if one == place and other in ops]
            frame = self.edges[frames[place]].source if place in frames else -1
            shared = {e.target for e in self.edges if e.source == frame and e.role[:3] == "ARG"} - {conjunction}
            if any(e.source in beside and e.role[:3] == "ARG" and e.target in shared for e in self.edges):
                ops[place], self.top = frames[place], conjunction if self.top == frame else self.top
                for i, e in edges:  # a list without a parent takes the place of the frame
                    if e.target == frame and e.source not in beside and not has_parent:
                        self.edges[i] = e._replace(target=conjunction)
                self.edges[ops[place]] = Edge(conjunction, "op", frame)
            elif frame < 0 and (kinds := [self.labels[one] for one in beside if one in names]):
                ops[place] = len(self.edges)
                name = self._add(self._add(conjunction, "op", kinds[0]), "name", "name")
                self._add(name, "op1", quoted(forms[place]))
        for order, place in enumerate(sorted(ops) if len(ops) > count else (), 1):
            self.edges[ops[place]] = self.edges[ops[place]]._replace(role=f"op{order}")

    def join_noun(self, node: int, noun: int, words: Sequence[Word], alignments: Sequence[Sequence[int]]) -> bool:
        """Make the word `noun` the type of a named node, unless the word has nodes without an edge to this node."""
        of_noun, here = [one for one, places in enumerate(alignments) if tuple(places) == (noun,)], self._places(node)
        if len(of_noun) > 1 or any(one not in dict(here) or here & self._places(one) for one in of_noun):
            return False
        self.labels[node] = words[noun].lemma
        for other in of_noun:
            self._merge(other, node)
        return True

    def _merge(self, node: int, into: int) -> None:
        """Give the edges of `node` to another node, without those between the two."""
        moved = {node: into}
        self.edges = [
            Edge(s, role, t) if {s, t} == {node, into} else Edge(moved.get(s, s), role, moved.get(t, t))
            for s, role, t in self.edges
        ]
        self.top = moved.get(self.top, self.top)
        self.removed.add(node)

    def _places(self, node: int) -> set[tuple[int, str]]:
        """Return the node at the other end of each edge, with its role (without its number for members of a list)."""
        around = [edge for edge in self.edges if node in (edge.source, edge.target)]
        return {(source + target - node, re.sub(r"^(op|snt)\d+$", r"\1", role)) for source, role, target in around}

    def _mend_name(self, node: int, number: int) -> None:
        """Make `:value` of an address in a name: of the node if the name has no other string, else of a new node."""
        name = self.edges[number].target
        touching = [edge for edge in self.edges if name in (edge.source, edge.target)]
        strings = [edge.target for edge in touching if edge.source == name]
        is_own = len(touching) == len(strings) + 1 and name != self.graph.top
        if not (strings and is_own and self.graph.constants.issuperset(strings)):
            return
        for text in strings:
            entity, address = entity_of(self.labels[text].strip('"')), node
            if entity is None or (entity == "url-entity" and len(strings) > 1):
                continue  # a company may have a web address in its name (*Amazon.com Books*)
            if len(strings) == 1:
                self.labels[node] = entity
            else:
                address = self.new_node(entity, False, self.node_origins[text])
                self.add_edge(node, "mod", address)
            self._add(address, "value", self.labels[text])
            self.removed.add(text)
        if self.removed.issuperset(strings):
            self.removed.add(name)

    def _mend_quantity(self, node: int, below: Mapping[str, int], words: Sequence[Word]) -> None:
        unit = self.edges[below["unit"]].target if "unit" in below else -1
        is_leaf = sum(unit in (edge.source, edge.target) for edge in self.edges) == 1 and unit != self.graph.top
        time = _TIME.fullmatch(self.labels[self.edges[below["value"]].target]) if "value" in below else None
        if time and is_leaf:
            hour = int(time[1]) % 12 + 12 * self.labels[unit].startswith("p")
            self.labels[node], self.labels[self.edges[below["value"]].target] = "date-entity", f'"{hour}{time[2]}"'
            self.edges[below["value"]] = self.edges[below["value"]]._replace(role="time")
        elif is_leaf:
            self.labels[node] = self.labels[unit]
        elif "unit" in below:
            if self.neighbours(node).isdisjoint(self.neighbours(unit)):
                self._merge(node, unit)
        else:
            named = [word.lemma for word in words if word.lemma_is_symbol]
            self.labels[node] = "-".join(named) or "thing"
        if is_leaf:
            self.removed.add(unit)

    def _mend_date(self, role: str, below: dict[str, int]) -> None:
        number = below[role]
        edge, value = self.edges[number], self.labels[self.edges[number].target]
        if not self._is_misread(role, number):
            return
        is_day = int(value) in IN_DATES["day"] and (role != "year" or "month" in below)
        right = "day" if is_day else "year" if len(value) == 4 else ""
        other = below.get(right)
        if right and (other is None or self._is_misread(right, other)):
            self.edges[number] = edge._replace(role=right)
            below[right] = below.pop(role)
            if other is not None:
                self.edges[other], below[role] = self.edges[other]._replace(role=role), other
        elif right or role != "year":  # '98
            self.removed.add(edge.target)
            del below[role]

    def _is_misread(self, role: str, number: int) -> bool:
        """Return True for an edge to a number that no date has in this role."""
        target = self.edges[number].target
        value = self.labels[target]
        return target in self.graph.constants and value.isdecimal() and int(value) not in IN_DATES[role]
