"""Commands get `:mode imperative` and *you*, other verbs lose them; *thanks* and *see you* get *I* and *you*."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from transition_parser.graphs.amr import Edge
from transition_parser.parsing.edits.draft import Draft
from transition_parser.parsing.edits.pronouns import SEPARATORS, SUBJECTS
from transition_parser.text import word_list
from transition_parser.text.columns import IMPERATIVE, OTHER, UNSURE

_OPENERS, _SAME_PAST, _WISHES = (frozenset(word_list(f"edits: {name}")) for name in ("openers", "same past", "wishes"))
# what is before the verb of a command: `please` or a condition, another command, the beginning of a sentence
_ADVERBS = r"(just |also |always |never |simply |do not |do n't )*$"
_ASKED = re.compile(
    rf"(^|([-.!?:;(\"*),/]|and|or|so|but|then|also|attached|further) )(please|pls|plz) (, )?{_ADVERBS}"
    rf"|^((if|when|once|after|before) [^,]* , (then )?|if [^,]* then ){_ADVERBS}"
)
_WITH_YOU = re.compile(
    r"\b(if|unless|when|whenever|because|since|while|until|before|after|that|whether) you (\w+ )?(n't |not )?$"
)
_BEFORE_GREETINGS = (*SEPARATORS, "", ".", "!", "ok", "okay", "no", "yes", "so", "well", "bye", "many")
_GREETINGS = {"thank": "thank-01", "thanks": "thank-01", "see": "see-01"}


def mark_commands(draft: Draft) -> None:
    """Mark commands, by the moods that the model predicts; without them *please* marks some, and no mode is removed."""
    moods = _moods(draft)
    is_request = draft.forms[0] in ("can", "could", "will", "would") and draft.forms[1] == "you"
    if not (is_request and any(edge.role == "polite" for edge in draft.edges)):
        draft.removed.update(_false_modes(draft, moods))
    for node, roles, label in [*_commands(draft, moods)]:
        draft.add_argument(node, roles, label)
    _let_us(draft)


def _moods(draft: Draft) -> Sequence[str]:
    """Return the moods of the words; a verb in a list with an imperative is one too: *come and hold it*."""
    moods = (draft.readings.moods if draft.readings else None) or [UNSURE] * len(draft.words)
    lists = {one for place, node in draft.frames.items() if moods[place] == IMPERATIVE for one in draft.lists_of(node)}
    for place, node in draft.frames.items() if lists else ():
        is_base = draft.forms[place] == draft.words[place].lemma and draft.forms[place - 1] not in ("to", *SUBJECTS)
        if is_base and not draft.dependents(place, "nsubj") and not lists.isdisjoint(draft.lists_of(node)):
            moods = [*moods[:place], IMPERATIVE, *moods[place + 1 :]]
    return moods


def _opens(form: str) -> bool:
    """Return True for a word or a mark that may be before a command."""
    return form in _OPENERS or not re.search(r"\w", form)


def _let_us(draft: Draft) -> None:
    """Make the verb after *let's* a command to *we*."""
    for place, form in enumerate(draft.forms[:-1]):
        begins = place == 0 or _opens(draft.forms[place - 1])
        if form != "let" or draft.forms[place + 1] not in ("'s", "s", "us", "’s") or not begins:
            continue
        after = [verb for verb in draft.frames if place + 1 < verb < place + 6]
        if not after or draft.forms[place + 1 : place + 3] == ["us", "know"]:
            continue
        verb = draft.frames[min(after)]
        for node in {node for node, places in enumerate(draft.alignments) if place in places} - {verb}:
            if draft.labels[node].startswith("let-"):
                draft.removed.update({draft.below(node).get("mode", node)} & draft.constants)
                for edge in [edge for edge in draft.edges if edge.source == node and edge.target != verb]:
                    is_own = edge.role in ("ARG0", "ARG1", "mode") or edge.role in draft.below(verb)
                    draft.replace_edge(edge, *() if is_own else [edge._replace(source=verb)])
                draft.merge(node, verb)
        for node in {*draft.at(place + 1)} - {verb}:
            draft.labels[node] = "we"
        _make_we(draft, verb)
        draft.removed.discard(draft.below(verb).get("mode", -1))
        draft.add_argument(verb, ("mode",) if "mode" not in draft.below(verb) else (), "imperative")


def _make_we(draft: Draft, verb: int) -> None:
    """Make *we* the subject of a verb, and no *you* that the words do not have."""
    if "you" not in draft.forms:
        for node in draft.nodes_of("you"):
            draft.labels[node] = "we"
    first, *others = draft.nodes_of("we") or [-1]
    for node in others:
        draft.merge(node, first)
    if "we" not in draft.around(verb).values():
        below = draft.below(verb)
        known = draft.core_roles(verb)
        role = next((role for role in ("ARG0", "ARG1") if role not in below and int(role[3]) in known), None)
        if role is not None:
            draft.add_edge(verb, role, first if first >= 0 else draft.new_node("we", False, verb))


def _false_modes(draft: Draft, moods: Sequence[str]) -> Iterator[int]:
    """Yield the modes of words that are no imperatives, and stand for none without a node (*take care*)."""
    lone = (place for place, mood in enumerate(moods) if mood == IMPERATIVE and place not in draft.aligned)
    end = next(lone, len(draft.words))
    for source, role, target in draft.edges:
        place, is_command = draft.place(source), role == "mode" and draft.labels[target] == "imperative"
        has_subject = place > 0 and draft.forms[place] in _SAME_PAST and not _opens(draft.forms[place - 1])
        is_other = moods[place] == OTHER or has_subject or _is_infinitive(draft, source)
        if is_command and 0 <= place < end and is_other and target != draft.top:
            yield target


def _commands(draft: Draft, moods: Sequence[str]) -> Iterator[tuple[int, Sequence[str], str]]:
    """Yield the mode of commands, and their subject."""
    modes = {*draft.nodes_of("imperative")}
    commands = {edge.source for edge in draft.edges if edge.target in modes}
    for place, node in sorted(draft.frames.items()):
        form, following = draft.forms[place : place + 2]
        is_sure = draft.tree is not None and draft.tree.heads[place] == 0 and _ASKED.search(_before(draft, place))
        mood = OTHER if _is_infinitive(draft, node) else IMPERATIVE if is_sure else moods[place]
        is_past = form in _SAME_PAST and place > 0 and not _opens(draft.forms[place - 1])
        has_subject = is_past or _WITH_YOU.search(" ".join([*draft.forms[max(place - 5, 0) : place], ""]))
        if form != draft.words[place].lemma or has_subject or _has_subject(draft, place, moods):
            continue
        is_wish = form in _WISHES or (form == "let" and following in ("s", "'s", "us"))
        subject = draft.below(node).get("ARG0", node)
        if mood == IMPERATIVE and not is_wish and subject != node and draft.labels[subject] != "you":
            subject = _without_subject(draft, node, subject)
        is_command = mood == IMPERATIVE or (mood == UNSURE and _ASKED.search(_before(draft, place)))
        if is_command and not is_wish and node not in commands:
            commands.add(node)
            yield node, ("mode",), "imperative"
        if node in commands and subject == node and "you" not in draft.around(node).values():
            yield node, ("ARG0", "ARG1"), "you"


def _before(draft: Draft, place: int) -> str:
    return " ".join([*draft.forms[:place], ""])


def _has_subject(draft: Draft, verb: int, moods: Sequence[str]) -> bool:
    """Return True for a verb that the tree gives a subject, also that of a verb before it: *he came and put it down*.

    What may be a command itself (*Peel the potatoes, cut them*) or an address (*Alexa give me that*) is none.
    """
    if draft.tree is None:
        return False
    heads, relations = draft.tree.heads, draft.tree.relations
    may_hear = verb == 1 and draft.forms[1] not in _SAME_PAST and draft.forms[0][-1] != "s"
    while True:
        found = draft.dependents(verb, "nsubj")
        if found or relations[verb] != "conj":
            return not may_hear and any(moods[one] != IMPERATIVE and draft.forms[one] != "you" for one in found)
        lists = draft.lists_of(draft.frames.get(verb, -1))
        verb = heads[verb] - 1
        if lists and lists.isdisjoint(draft.lists_of(draft.frames.get(verb, -1))):
            return False  # a wrong tree: *dry them when they are wet and put them away*


def _is_infinitive(draft: Draft, node: int) -> bool:
    """Return True for a member of a list that begins with an infinitive: *to buy a boat and sail it*."""
    firsts = [draft.place(draft.below(one).get("op1", node)) for one in draft.lists_of(node)]
    return any(place > 0 and draft.forms[place - 1] == "to" and place != draft.place(node) for place in firsts)


def _without_subject(draft: Draft, node: int, subject: int) -> int:
    """Take its subject from an imperative, and return the node itself, if the subject has another place."""
    edge = Edge(node, "ARG0", subject)
    return node if draft.change((edge, None)) else subject


def mend_greetings(draft: Draft) -> None:
    """Give *thanks* and *see you* who says and who hears them."""
    for place, form in enumerate(draft.forms[:-1]):
        following, label = draft.forms[place + 1], _GREETINGS.get(form)
        frames = [node for node in draft.at(place) if draft.labels[node] == label]
        if not frames or (place and draft.forms[place - 1] not in _BEFORE_GREETINGS):
            continue
        if (form == "thanks" and following != "to") or (form in ("see", "thank") and following == "you"):
            _say(draft, frames[0], "ARG1", "you")
            _say(draft, frames[0], "ARG0", "i")


def _say(draft: Draft, verb: int, role: str, label: str) -> None:
    """Make a pronoun an argument of a verb that is no command, in the place of another pronoun."""
    below = draft.below(verb)
    draft.removed.update({below.get("mode", verb)} & draft.constants)
    old, known = below.get(role, -1), draft.nodes_of(label)
    if old >= 0 and draft.labels[old] not in {*SUBJECTS.values()} - {label}:
        if draft.labels[old] != label and role == "ARG1":
            draft.set_role(Edge(verb, role, old), "degree")  # *thanks a lot*
            draft.add_argument(verb, (role,), label)
        return
    if old >= 0 and not known and sum(old in edge[::2] for edge in draft.edges) == 1:
        draft.labels[old] = label
        return
    node = known[0] if known else draft.new_node(label, False, verb)
    if old >= 0:
        draft.replace_edge(Edge(verb, role, old), Edge(verb, role, node))
        draft.removed.update({old} if not draft.neighbors(old) else ())
    else:
        draft.add_edge(verb, role, node)
