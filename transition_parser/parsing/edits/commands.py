"""Commands get `:mode imperative` and *you*, other verbs lose them; *thanks* and *see you* get *I* and *you*.

What is let in or out enters or exits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from transition_parser.graphs.amr import CONJUNCTIONS, Edge
from transition_parser.parsing.edits.draft import Draft
from transition_parser.parsing.edits.pronouns import BEFORE_VERBS, PRONOUNS, SEPARATORS, SUBJECTS
from transition_parser.text import word_list
from transition_parser.text.columns import IMPERATIVE, OTHER, UNSURE

_AUXILIARIES = frozenset(word_list("edits: auxiliaries"))
_WISHES = frozenset(word_list("edits: wishes"))
_BEGINNINGS = (*SEPARATORS, "", ".", "!", "ok", "okay", "no", "yes", "so", "well", "bye", "many")
_MARKS = frozenset((*SEPARATORS, ".", "!", "?", ":", ";", "-", "please"))
_LETTABLE = frozenset(word_list("edits: lettable"))
_WAYS = {"in": "enter-01", "out": "exit-01"}
_AFTER_WAYS = frozenset((*SEPARATORS, "", *word_list("edits: after ways")))
_MUCH = frozenset(("bunch", "lot", "million", "much", "ton"))
_GREETINGS = {"thank": "thank-01", "thanks": "thank-01", "see": "see-01"}


def mark_commands(draft: Draft) -> None:
    """Mark commands, by the moods that the model predicts; without them no verb changes but that of *let's*."""
    forms, moods, together = draft.forms, _moods(draft), {*_let_us(draft)}
    lone = (place for place, mood in enumerate(moods) if mood == IMPERATIVE and place not in draft.aligned)
    end = next(lone, len(forms))  # imperatives without a node (*take care*) may have given others their modes
    modes = [edge for edge in draft.edges if edge.role == "mode" and draft.labels[edge.target] == "imperative"]
    for source, _, mode in modes if not any(edge.role == "polite" for edge in draft.edges) else ():
        is_wrong = source not in together and _mood(draft, source, moods) == OTHER
        if -1 < draft.place(source) < end and is_wrong and not _begins(draft, source):
            draft.removed.add(mode)
    is_question = forms[0] in _AUXILIARIES and forms[1] in SUBJECTS and forms[-2] == "?"  # *do you drive or walk?*
    for place, node in sorted(draft.frames.items()) if not is_question else ():
        form, subject = forms[place], draft.below(node).get("ARG0", node)
        may_command = (
            form == draft.words[place].lemma and form not in _WISHES and node not in {*together, *draft.removed}
        )
        if not may_command or _mood(draft, node, moods) != IMPERATIVE or _has_subject(draft, place, moods):
            continue
        if subject != node and draft.labels[subject] != "you" and draft.change((Edge(node, "ARG0", subject), None)):
            subject = node
        _command(draft, node, "you" if subject == node else "")
    for node in together:
        for let in [one for one in draft.nodes_of("let-01") if draft.below(one).get("ARG1") == node]:
            for edge in [edge for edge in draft.edges if edge.source == let and edge.target != node]:
                draft.drop_edge(edge)  # *let us not quarrel*
            draft.merge(let, node)
        _command(draft, node, "we")
    _mend_requests(draft)


def _begins(draft: Draft, verb: int) -> bool:
    """Return True for a verb in its base form that begins a statement, with an unspoken *you*."""
    first, is_heard = draft.forms[0], draft.labels[draft.below(verb).get("ARG0", verb)] == "you"
    is_base = draft.place(verb) == 0 and first == draft.words[0].lemma and first not in _WISHES
    return is_base and is_heard and draft.forms[1] != "you" and draft.forms[-2] != "?"


def _mend_requests(draft: Draft) -> None:
    """Let the only command be polite, not a time or thing in it: *wake me at ten, please*; none asks for an answer."""
    living = [edge.source for edge in draft.edges if draft.labels[edge.target] == "imperative" and edge.role == "mode"]
    commands = {node for node in living if draft.below(node).get("mode") not in draft.removed}
    for edge in [edge for edge in draft.edges if edge.role == "polite" and len(commands) == 1]:
        if not draft.is_frame(edge.source) and draft.labels[edge.source] not in CONJUNCTIONS:
            draft.replace_edge(edge, edge._replace(source=min(commands)))
    for edge in [edge for edge in draft.edges if edge.role == "polarity" and edge.source in commands]:
        if draft.labels[edge.target] == "amr-unknown":  # *can you pick up the twins?*
            draft.drop_edge(edge)


def _command(draft: Draft, node: int, subject: str) -> None:
    """Give a verb `:mode imperative`, and the subject that it lacks."""
    if draft.labels[draft.below(node).get("mode", node)] != "imperative" or draft.below(node)["mode"] in draft.removed:
        draft.add_argument(node, ("mode",), "imperative")
    if subject and subject not in draft.around(node).values():
        draft.add_argument(node, ("ARG0", "ARG1"), subject)


def _moods(draft: Draft) -> Sequence[str]:
    """Return the moods of the words; a verb in a list with an imperative is one too: *come and hold it*."""
    moods = (draft.readings.moods if draft.readings else None) or [UNSURE] * len(draft.words)
    lists = {one for place, node in draft.frames.items() if moods[place] == IMPERATIVE for one in draft.lists_of(node)}
    for place, node in draft.frames.items() if lists else ():
        if not draft.dependents(place, "nsubj") and not lists.isdisjoint(draft.lists_of(node)):
            moods = [*moods[:place], IMPERATIVE, *moods[place + 1 :]]
    return moods


def _mood(draft: Draft, node: int, moods: Sequence[str]) -> str:
    """Return the mood of a node's word.

    *To buy and sell*, *rather than sell it*, *nurses let him go* and *children under six travel free* are no commands.
    """
    place, subject = draft.place(node), draft.below(node).get("ARG0", node)
    first, may_hear = draft.place(subject), draft.labels[subject] == "you" or "name" in draft.below(subject)
    has_subject = False
    if -1 < first < place and not (may_hear and first < place - 1):
        between = draft.forms[first:place]
        has_subject = _MARKS.isdisjoint(between) and (len(between) > 1 or between[0].endswith("s"))
    has_subject |= draft.forms[place - 1] == "than"
    firsts = [draft.place(draft.below(one).get("op1", node)) for one in draft.lists_of(node)]
    return OTHER if has_subject or any(draft.forms[first - 1] == "to" for first in firsts) else moods[place]


def _let_us(draft: Draft) -> Iterator[int]:
    """Yield the verbs after *let's*."""
    for place, form in enumerate(draft.forms[:-1]):
        inside, verbs = draft.inside(place + 2, place + 6), {*draft.frames.values()}
        after = [node for node in inside if node in verbs or (draft.is_frame(node) and len(draft.alignments[node]) > 1)]
        after.sort(key=draft.place)
        following, third = [*draft.forms, ""][place + 1 : place + 3]
        is_us = following == "us" and third != "know" and draft.forms[place - 1] in _BEGINNINGS
        if form != "let" or not after or not (is_us or following in ("'s", "’s")):
            continue
        lists = [edge.target for one in draft.lists_of(after[0]) for edge in draft.members(one)]
        if "you" not in draft.forms:
            for node in draft.nodes_of("you"):
                draft.labels[node] = "we"
        yield from [one for one in lists if one in after] or after[:1]  # *let's rest and eat*


def _has_subject(draft: Draft, verb: int, moods: Sequence[str]) -> bool:
    """Return True for a verb after *you*, or with a subject in the tree, or before it: *he came and put it down*.

    What may be a command itself (*Peel the potatoes, cut them*) or an address (*Alexa give me that*) is none.
    """
    first = verb
    while draft.forms[first - 1] in BEFORE_VERBS:
        first -= 1
    if draft.tree is None or draft.forms[first - 1] == "you":
        return draft.forms[first - 1] == "you"
    heads, relations = draft.tree.heads, draft.tree.relations
    may_hear = verb == 1 and draft.forms[0][-1] != "s"
    while not (found := draft.dependents(verb, "nsubj")) and relations[verb] == "conj":
        verb = heads[verb] - 1
    return not may_hear and any(moods[one] != IMPERATIVE and draft.forms[one] != "you" for one in found)


def mend_permissions(draft: Draft) -> None:
    """Say what somebody lets others do in *let the cat out* and *let him in*; who lets a flat rents it out."""
    for place, node in draft.frames.items():
        who = draft.below(node).get("ARG1", node)
        words = range(place + 2, min(place + 6, len(draft.words)))
        way = next((word for word in words if draft.forms[word] in _WAYS), 0)
        tenants = [edge for edge in draft.edges if edge.source == node and edge.role in ("destination", "beneficiary")]
        if draft.labels[node] == "let-01" and draft.labels[who] in _LETTABLE and tenants:
            draft.labels[node] = "let-05"
            draft.set_role(tenants[0], "ARG2")
        is_thing = who not in {node, *draft.constants, *draft.at(way)} and not draft.is_frame(who)
        is_last = draft.forms[way + 1] in _AFTER_WAYS and not any(map(draft.below, draft.at(way)))
        if way and draft.labels[node] == "let-01" and is_thing and is_last and not draft.members(who):
            for edge in [edge for edge in draft.edges if edge.target in draft.at(way)]:
                draft.drop_edge(edge)
            done = draft.new_node(_WAYS[draft.forms[way]], False, node)
            draft.replace_edge(Edge(node, "ARG1", who), Edge(node, "ARG1", done), Edge(done, "ARG0", who))


def mend_greetings(draft: Draft) -> None:
    """Give *thanks* and *see you* who says and who hears them; *thanks to* is a cause."""
    for place, form in enumerate(draft.forms[:-1]):
        following, label = draft.forms[place + 1], _GREETINGS.get(form)
        for node in draft.at(place) if (form, following) == ("thanks", "to") else ():
            _cause(draft, node)
        frame = next((node for node in draft.at(place) if draft.labels[node] == label), -1)
        if frame < 0 or (place and draft.forms[place - 1] not in _BEGINNINGS):
            continue
        if (form == "thanks" and following != "to") or (form in ("see", "thank") and following == "you"):
            said, heard = (draft.below(frame).get(role, frame) for role in ("ARG0", "ARG1"))
            if draft.labels[said] not in {label, *PRONOUNS} and draft.labels[heard] == "you":
                draft.replace_edge(Edge(frame, "ARG0", said))
                draft.merge(heard, said)  # *thank you, nurse*
            _say(draft, frame, "ARG1", "you")
            _say(draft, frame, "ARG0", "i")


def _cause(draft: Draft, thanks: int) -> None:
    """Make *thanks to* the cause of its effect."""
    below = draft.below(thanks)
    if below.keys() >= {"ARG0", "ARG1", "ARG2"} and draft.labels[thanks] == "thank-01":
        draft.labels[thanks] = "cause-01"
        draft.drop_edge(Edge(thanks, "ARG0", below["ARG0"]))
        draft.set_role(Edge(thanks, "ARG2", below["ARG2"]), "ARG0")


def _say(draft: Draft, verb: int, role: str, label: str) -> None:
    """Make a pronoun an argument of a verb that is no command, in the place of another pronoun."""
    below = draft.below(verb)
    draft.removed.update({below.get("mode", verb)} & draft.constants)
    old = below.get(role, verb)
    if draft.labels[old] in PRONOUNS - {label}:
        draft.drop_edge(Edge(verb, role, old))
    elif draft.labels[old] in _MUCH and role == "ARG1":
        draft.set_role(Edge(verb, role, old), "degree")  # *thanks a lot*
    elif old != verb:
        return
    draft.add_argument(verb, (role,), label)
