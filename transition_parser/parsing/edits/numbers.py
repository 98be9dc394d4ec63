"""Times of day, numbers of several words (*half a million*), temperatures, rates, and quantities."""

from __future__ import annotations

import re
from itertools import combinations, compress, pairwise

from transition_parser.graphs.amr import Edge, quoted
from transition_parser.parsing.edits.draft import Draft
from transition_parser.text import word_list
from transition_parser.text.measures import (
    UNITS,
    SpanValue,
    fractions,
    measures,
    numbers_of_several_words,
    shares,
    times_of_day,
)

_FIELDS = frozenset("day dayperiod month weekday year timezone".split())
_DAY = r"[12]\d|3[01]|[1-9]"
_YEAR = re.compile(r"[12]\d{3}")
_ORDINALS = word_list("edits: ordinals")
_SEASONS = ("spring", "summer", "autumn", "fall", "winter")
# the concepts that have dates in other roles than `:time`
_BOUNDS = ("after", "around", "before", "by", "since", "until")  # prepositions that are nodes above dates
_OF_DATES = "be-temporally-at-91 date-interval amr-choice and or between after before until by since around".split()
_OF_NUMBERS = ("quant", "mod", "op1", "op2", "value", "time")  # roles of a number, or of a part that was lost
_MONEY = frozenset(word_list("edits: of money"))
_OF_RATES = (("rate-entity-91", "ARG2"), ("rate-entity-91", "ARG3"))  # *per kilo*, *every year*
_BEFORE_PLURALS = ("for", "over", "in", "within", "after")
_FREQUENCIES = {"once": "1", "twice": "2"}


def mend_dates(draft: Draft) -> None:
    """Give years, centuries, seasons, days and decades their dates: *built in 1889*, *the 21st*, *the 1930s*."""
    for edge in [edge for edge in draft.edges if edge.role in ("weekday", "dayperiod", "season")]:
        label = draft.labels[edge.target]
        if label in _SEASONS:
            draft.set_role(edge, "season")
        elif said := re.fullmatch(rf"({_DAY})(?:st|nd|rd|th)|(\d{{3,4}})s", label):  # *the 21st*, *the 1930s*
            draft.drop_edge(edge)
            if (part := "decade" if said[2] else "day") not in draft.below(edge.source):
                draft.add_below(edge.source, part, said[1] or said[2])
    for edge in [edge for edge in draft.edges if edge.role in _FIELDS]:  # *by Friday evening*: of the date, not of *by*
        date = draft.below(edge.source).get("op1", edge.source)
        if draft.labels[edge.source] != draft.labels[date] == "date-entity" and edge.role not in draft.below(date):
            draft.replace_edge(edge, edge._replace(source=date))
    for edge in [edge for edge in draft.edges if edge.role == "ord" and "month" in draft.below(edge.source)]:
        weekday = draft.below(edge.source).get("weekday", edge.target)
        if draft.place(weekday) == draft.place(edge.target) + 1 > 0:  # *the third Sunday of May*
            continue
        day = draft.labels[draft.below(edge.target).get("value", edge.target)]
        if re.fullmatch(_DAY, day) and "day" not in draft.below(edge.source):  # *the first of May*
            draft.add_below(edge.source, "day", day)
            draft.removed |= {edge.target, *draft.below(edge.target).values()}
    for edge in [edge for edge in draft.edges if draft.labels[edge.source] == "date-interval"]:
        if edge.target in draft.constants and _YEAR.fullmatch(draft.labels[edge.target]):  # *from 1861 to 1865*
            date = draft.new_node("date-entity", False, edge.target)
            draft.replace_edge(edge, edge._replace(target=date), Edge(date, "year", edge.target))
    for place, (form, following) in enumerate(pairwise(draft.forms)):
        if form == "in" and _YEAR.fullmatch(following):
            _mend_date(draft, place + 1, place + 2, "year", following)
        elif following == "century":
            number = str(_ORDINALS.index(form) + 1) if form in _ORDINALS else form[:-2]
            _mend_date(draft, place, place + 2, "century", number)


def _mend_date(draft: Draft, first: int, end: int, role: str, number: str) -> None:
    """Give a date the year or century that the words of a span say, unless a date has it."""
    sources = {draft.labels[edge.source] for edge in draft.edges if draft.labels[edge.target] == number}
    if number.isdigit() and sources.isdisjoint(("date-entity", "date-interval")):
        date = _put_date(draft, first, end, role, number)
        before = draft.frames_in(0, first)
        for edge in [edge for edge in draft.edges if edge[1:] == ("time", date) and before]:
            draft.replace_edge(edge, edge._replace(source=before[-1]))


def _put_date(draft: Draft, first: int, end: int, role: str, value: str) -> int:
    """Put a date with a value in the place of all nodes of a span, in a date that has others of them, or as `:time`."""
    date = draft.put(first, end, "date-entity", "time", _FIELDS)
    for edge in [edge for edge in draft.edges if edge.target == date]:
        if draft.labels[edge.source] == "date-entity":
            draft.merge(date, edge.source)
            date = edge.source
        elif draft.labels[edge.source] not in _OF_DATES:
            draft.replace_edge(edge, edge._replace(role="time"))
    draft.add_below(date, role, value)
    return date


def mend_times(draft: Draft) -> None:
    """Give each time of day that the words say its date, which has the day, too."""
    known = {draft.labels[t]: t for s, role, t in draft.edges if (draft.labels[s], role) == ("date-entity", "time")}
    said = {quoted(one.value): one for one in times_of_day(draft.forms)}
    others = (time for label, time in known.items() if label not in said and time in draft.constants)
    guessed = [time for time in others if _is_guessed(draft, draft.place(time))]
    for value in [value for value in said if value not in known]:
        if guessed:
            draft.labels[guessed.pop()] = value
            continue
        date, it = _put_date(draft, *said[value][:2], "time", value), draft.top
        if draft.labels[it] == "it" and Edge(it, "time", date) in draft.edges:  # *it's twenty past eight already*
            for edge in [edge for edge in draft.edges if edge.source == it]:
                of_date = Edge(date, "domain", it) if edge.target == date else edge._replace(source=date)
                draft.replace_edge(edge, of_date)
            draft.top = date
    for date, _, time in [edge for edge in draft.edges if edge.role == "time" and draft.labels[edge.target] in said]:
        place = said[draft.labels[time]].first - 1
        for edge in [edge for edge in draft.edges if edge[1:] == ("time", date) and draft.forms[place] in _BOUNDS]:
            known_bounds = [node for node in draft.at(place) if draft.labels[node] == draft.forms[place]]
            bound = known_bounds[0] if known_bounds else draft.new_node(draft.forms[place], False, date)
            draft.replace_edge(edge, edge._replace(target=bound), Edge(bound, "op1", date))  # *by a quarter to nine*
    dates = {*draft.nodes_of("date-entity")}
    for edge in [edge for edge in draft.edges if edge.role == "time" and dates.issuperset(edge[::2])]:
        draft.replace_edge(edge)
        draft.merge(edge.target, edge.source)  # *on Tuesday at 11:30*
    for one, other in combinations([edge for edge in draft.edges if edge.role == "time" and edge.target in dates], 2):
        below, of_other = draft.below(one.target), draft.below(other.target)
        if one.source == other.source and "time" in below | of_other and below.keys().isdisjoint(of_other):
            draft.replace_edge(other)
            draft.merge(other.target, one.target)  # *at 7 p.m. on Friday*


def _is_guessed(draft: Draft, place: int) -> bool:
    """Return True for the word of a verb or preposition, which says no time."""
    return place in draft.frames or draft.forms[place] in _BOUNDS


def mend_numbers(draft: Draft) -> None:
    """Give nouns and units the numbers that the words before them say, temperatures scales, shares their wholes."""
    _mend_frequencies(draft)
    _mend_measures(draft)
    _mend_shares(draft)
    for said in numbers_of_several_words(draft.forms):
        if said.value not in draft.labels:
            _count(draft, said)


def _mend_frequencies(draft: Draft) -> None:
    """Give the rate of *once* or *twice* its number, and the verb that it has taken as `:ARG1` its rate."""
    for node in draft.nodes_of("rate-entity-91"):
        verb, number = draft.below(node).get("ARG1", -1), _FREQUENCIES.get(draft.forms[draft.place(node)])
        if number and verb >= 0 and draft.is_frame(verb):
            draft.replace_edge(Edge(node, "ARG1", verb), Edge(verb, "frequency", node))
            draft.add_below(node, "ARG1", number)


def _mend_measures(draft: Draft) -> None:
    """Give the temperatures, durations and prices that the words say a quantity, and temperatures their scale."""
    for (first, end, value), kind, unit in measures(draft.forms):
        if kind == "temperature" or {value, value.rstrip("0")}.isdisjoint(draft.labels):
            known = draft.nodes_of(f"{kind}-quantity")
            empty = [node for node in known if draft.below(node).keys().isdisjoint(("quant", "unit"))]
            role = "duration" if kind == "temporal" else "ARG2"
            node = empty[0] if empty else draft.put(first, end, f"{kind}-quantity", role)
            draft.add_below(node, "quant", value)
            draft.add_below(node, "scale" if kind == "temperature" else "unit", unit)
    for scale in {"celsius", "fahrenheit"}.intersection(draft.forms):  # *one hundred degrees Celsius*
        for node in [node for node in draft.nodes_of("temperature-quantity") if "scale" not in draft.below(node)]:
            draft.add_below(node, "scale", scale)


def _mend_shares(draft: Draft) -> None:
    """Give shares their wholes and the percentages that the words say: *one in five teenagers*, *two thirds of*."""
    for node in draft.nodes_of("include-91"):
        _mend_whole(draft, node)
    for _, end, value in shares(draft.forms):
        for node in draft.nodes_of("include-91"):
            part, whole, share = (draft.below(node).get(role, node) for role in ("ARG1", "ARG2", "ARG3"))
            if not {draft.place(part), draft.place(whole)}.isdisjoint((end, end + 1)):
                share = draft.add_below(node, "ARG3", "percentage-entity") if share == node else share
                for edge in [edge for edge in draft.edges if edge[:2] in ((part, "quant"), (share, "value"))]:
                    draft.drop_edge(edge)
                draft.add_below(share, "value", value)
    for first, end, value in fractions(draft.forms):
        for source, role, target in draft.edges:
            if (draft.labels[source], role) == ("percentage-entity", "value") and first <= draft.place(target) < end:
                draft.labels[target] = value


def _mend_whole(draft: Draft, node: int) -> None:
    """Let the whole of a share be of the kind of its part, not what the part does: *two thirds of the men left*."""
    part, whole = (draft.below(node).get(role, -1) for role in ("ARG1", "ARG2"))
    if min(part, whole) >= 0 and draft.is_frame(whole) and part in draft.below(whole).values():
        kind = draft.new_node(draft.labels[part], False, part)
        draft.replace_edge(Edge(node, "ARG2", whole), Edge(node, "ARG2", kind))
        for edge in [edge for edge in draft.edges if edge[:2] == (whole, "quant")]:
            draft.replace_edge(edge, edge._replace(source=kind))  # *one in ten applicants*


def _count(draft: Draft, said: SpanValue) -> None:
    """Make a number the `:quant` of the noun after it, or of a quantity whose unit this noun is."""
    first, end, value = said
    after = [node for place in range(end, end + 3) for node in draft.at(place)]
    is_noun = (not (node in draft.constants or draft.is_frame(node) or draft.labels[node] == "name") for node in after)
    noun = next(compress(after, is_noun), None)
    if noun is None:
        return
    owner = next((edge.source for edge in draft.edges if edge.role == "unit" and edge.target == noun), noun)
    if owner == noun and (unit := draft.labels[noun]) in {*UNITS, "pound"}:
        draft.labels[noun] = UNITS.get(unit, "monetary-quantity")
        draft.add_below(noun, "unit", unit)
    inside = draft.inside(first, end) - {noun, owner}
    parts = inside | draft.constants  # a time that is no part of the number stays
    wrong = [edge for edge in draft.edges if edge.role in _OF_NUMBERS and not inside.isdisjoint(edge[::2])]
    draft.remove_edges([edge for edge in wrong if edge.role != "time" or edge.target in parts].__contains__)
    above = [edge.source for edge in draft.edges if edge.target == owner and edge.source not in inside]
    draft.top = [*above, owner][0] if draft.top in inside else draft.top
    for node in inside:
        draft.merge(node, owner)
    for source in {edge.source for edge in draft.edges if edge.target == owner}:
        for edge in sorted(edge for edge in draft.edges if edge[::2] == (source, owner))[1:]:
            draft.replace_edge(edge)  # *half a million euros were stolen*
    for edge in [edge for edge in draft.edges if edge[:2] == (owner, "ARG1") and not draft.is_frame(owner)]:
        draft.replace_edge(edge, Edge(edge.target, "mod", owner))  # *it is minus ten degrees*: `:domain it`
    for edge in [edge for edge in draft.edges if edge[:2] == (owner, "ARG2") and not draft.is_frame(owner)]:
        draft.drop_edge(edge)  # *a quarter of a million homes* are no part of homes
    about = draft.below(owner).get("quant", owner)  # *about half a million*
    at = (owner, "quant") if about in {owner, *draft.constants, *draft.removed} else (about, "op1")
    draft.remove_edges(lambda edge: edge[:2] == at)
    draft.add_edge(*at, draft.new_node(value, True, noun))


def mend_quantities(draft: Draft) -> None:
    """Give quantities and dates what they count, or make them the concepts of their units or words.

    Those of rates are one (*5 euros per kilo*, *every year*), and those of plural units several (*for hours*).
    """
    for quantity, role, unit in [edge for edge in draft.edges if edge.role == "unit"]:
        is_weight = draft.labels[unit] == "pound" and _is_weight(draft, quantity, unit)
        kind = "mass-quantity" if is_weight else draft.labels[quantity]
        draft.labels[quantity] = UNITS.get(draft.labels[unit], kind)
        if "quant" in draft.below(quantity):  # other relations of a unit are its quantity's
            for edge in [one for one in draft.edges if one.target == unit and one.role != role]:
                if edge.source != quantity:
                    draft.replace_edge(edge, edge._replace(target=quantity))
    for node, label in enumerate(draft.graph.labels):
        if node in draft.constants or node in draft.removed:
            continue
        below = draft.below(node)
        roles = {edge.role[:3] for edge in draft.edges if edge.target == node}
        is_empty = label == "date-entity" and not below and not roles >= {"ARG", "tim"}  # *tell me when it opens*
        if is_empty or (label.endswith("-quantity") and "quant" not in below):
            _mend(draft, node, below)


def _is_weight(draft: Draft, quantity: int, pound: int) -> bool:
    """Return True for pounds that are no money: *two pounds of apples*, *it weighs about two pounds*."""
    of, what = [*draft.forms, "", ""][draft.place(pound) + 1 :][:2]
    near = {other for one in draft.neighbors(quantity) for other in (one, *draft.neighbors(one))}
    is_of = draft.place(pound) >= 0 and of == "of" and what not in _MONEY
    return is_of or not near.isdisjoint(draft.nodes_of("weigh-01"))


def _is_indefinite(draft: Draft, unit: int) -> bool:
    """Return True for a unit of time in the plural after a preposition: *for years*, not *in the years*."""
    place = draft.place(unit)
    is_plural = place > 0 and not draft.below(unit) and draft.forms[place] != draft.words[place].lemma
    return is_plural and draft.forms[place][-1] == "s" and draft.forms[place - 1] in _BEFORE_PLURALS


def _mend(draft: Draft, node: int, below: dict[str, int]) -> None:
    """Give a quantity without a number the number that it must have, or make it what it is a quantity of."""
    unit = below.get("unit", -1)
    above = {(draft.labels[edge.source], edge.role) for edge in draft.edges if edge.target == node}
    if unit >= 0 and not above.isdisjoint(_OF_RATES):
        draft.add_below(node, "quant", "1")
    elif unit >= 0 and below.keys() == {"unit"} and _is_indefinite(draft, unit):  # *for hours*
        whole = draft.new_node(draft.labels[node], False, node)
        draft.labels[node] = "multiple"
        draft.replace_edge(Edge(node, "unit", unit), Edge(node, "op1", whole), Edge(whole, "unit", unit))
        draft.add_below(whole, "quant", "1")
    elif unit >= 0:
        if draft.neighbors(node).isdisjoint(draft.neighbors(unit)):
            draft.labels[node] = draft.labels[unit]
            draft.merge(unit, node)
    else:
        words = (draft.words[place] for place in draft.alignments[node])
        draft.labels[node] = "-".join(word.lemma for word in words if word.lemma_is_symbol) or "thing"
