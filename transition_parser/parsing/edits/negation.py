"""Negations in words, which AMR takes apart: *unsafe* is `safe-01 :polarity -`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from transition_parser.parsing.edits.draft import Draft
from transition_parser.parsing.edits.pronouns import SUBJECTS
from transition_parser.text import word_list
from transition_parser.text.frames import packaged
from transition_parser.text.lemmas import lemmatize
from transition_parser.transitions.amr_state import lemma_of

_AUXILIARIES = {*word_list("edits: auxiliaries"), *word_list("edits: copulas"), "has", "have", "had"} - {"'s"}


def negate(draft: Draft) -> None:
    """Add the polarity of words with a negative prefix, and the verb that *nor does she* leaves out."""
    negative = {edge.source for edge in draft.edges if edge.role == "polarity"}
    for place, form in enumerate(draft.forms):
        nodes = draft.at(place)
        if (word := _negated().fullmatch(form)) and negative.isdisjoint(nodes):
            _take_apart(draft, nodes, *word.groups())
        if form in ("nor", "neither") and draft.forms[place + 1] in _AUXILIARIES:
            _repeat(draft, place)
            _repeat_for_pronoun(draft, place)


def _repeat(draft: Draft, place: int) -> None:
    """Repeat the negated verb before *nor* or *neither* for the subject after it: *nor does she*."""
    for one in [node for node in draft.nodes_of("and") if len(draft.members(node)) == 2]:
        before, after = sorted(draft.members(one), key=lambda edge: draft.place(edge.target))
        verb, subject, below = before.target, after.target, draft.below(before.target)
        if not (draft.is_frame(verb) and -1 < draft.place(verb) < place < draft.place(subject)):
            continue
        auxiliary = subject if draft.is_frame(subject) and draft.place(subject) == place + 1 else None
        if auxiliary is not None:
            others = [edge.target for edge in draft.edges if edge.source == auxiliary and edge.role in ("ARG0", "ARG1")]
            subject = others[0] if len(others) == 1 else auxiliary
        role = _role_of_subject(draft, verb)
        if role and subject not in below.values() and not draft.is_frame(subject):
            again = draft.new_node(draft.labels[verb], False, subject)
            draft.replace_edge(after, after._replace(target=again))
            for edge in [edge for edge in draft.edges if edge.source in (subject, auxiliary)]:
                if edge.role == "polarity" or edge.source == auxiliary:
                    draft.drop_edge(edge)
            _say_again(draft, verb, again, role, subject)
            draft.removed.update(() if auxiliary is None else (auxiliary,))
            draft.removed.discard(subject)


def _repeat_for_pronoun(draft: Draft, place: int) -> None:
    """Repeat the negated verb for a pronoun that search has lost: *and neither do I*."""
    label = SUBJECTS.get([*draft.forms, ""][place + 2])
    for one in [node for node in draft.nodes_of("and") if len(draft.members(node)) == 1]:
        verb, own = draft.members(one)[0].target, draft.below(one)
        role, is_negated = _role_of_subject(draft, verb), "polarity" in draft.below(verb)
        if label and role and draft.is_frame(verb) and is_negated and draft.place(verb) < place:
            again, same = draft.new_node(draft.labels[verb], False), draft.nodes_of(label)
            subject = same[0] if same else draft.new_node(label, False)
            for edge in [edge for edge in draft.edges if edge[:2] == (subject, "polarity")]:
                draft.drop_edge(edge)
            _say_again(draft, verb, again, role, subject)
            draft.add_edge(one, "op2", again)
            draft.removed.update({own.get("polarity", one)} & draft.constants)


def _role_of_subject(draft: Draft, verb: int) -> str:
    """Return the role of what stands before a verb, empty for none."""
    below, place = draft.below(verb), draft.place(verb)
    return next((role for role in ("ARG0", "ARG1") if role in below and draft.place(below[role]) < place), "")


def _say_again(draft: Draft, verb: int, again: int, role: str, subject: int) -> None:
    """Give a new node the arguments of a verb, with another subject in a role, and a polarity."""
    for own, target in draft.below(verb).items():
        if target not in draft.constants:
            draft.add_edge(again, own, subject if own == role else target)
    draft.add_below(again, "polarity", "-")


@cache
def _negated() -> re.Pattern[str]:
    """Return the pattern of words with a negative prefix. Many words that begin with `in` or `im` have none."""
    stems = "|".join(word_list("edits: negated"))
    return re.compile(rf"(?!inpatient)(un|non-?|dis|i[nmlr](?={stems}))(?!(?:like|less|rest|ruly|sense)$)([a-z]{{4,}})")


def _take_apart(draft: Draft, nodes: Sequence[int], prefix: str, stem: str) -> None:
    """Negate the frame of a word without its prefix; it replaces a concept that has no frame (`unsafe`)."""
    evoked = packaged().evoked(lemmatize([stem]), [stem])
    base = evoked.lemma or evoked.alias
    is_other = stem != base and _OTHER_GRAPHS.fullmatch(stem)
    if prefix == "un" and not is_other and not (base and _is_negated(stem, base)):
        return
    for node in nodes:
        lemma = lemma_of(draft.labels[node])
        if lemma == base or lemma[:4] == stem[:4]:
            draft.add_below(node, "polarity", "-")
            return
        if base and not is_other and prefix != "dis" and lemma.startswith(prefix) and lemma not in packaged().rolesets:
            draft.labels[node] = f"{base}-{packaged().senses(base)[0]}"
            draft.add_below(node, "polarity", "-")
            return


_OTHER_GRAPHS = re.compile(r".*(ers?|ors?|[ai]ble)")  # `non-smoker` is a person, `unbelievable` not possible


def _is_negated(stem: str, lemma: str) -> bool:
    """Return True if `un` negates a word, by a lemma of its frame: an adjective, a participle (`unpaid`) or a noun.

    It reverses a verb (`undock`).
    """
    aliases = {a for roleset in packaged().rolesets[lemma].split("\t") for a in roleset.split("|")[-1].split()}
    bases = (stem, stem.removesuffix("ly"), f"{stem.removesuffix('ily')}y")
    is_participle = lemmatize([stem]) == [lemma] and stem not in (lemma, f"{lemma}s")
    return is_participle or f"{stem}/n" in aliases or any(f"{base}/j" in aliases for base in bases)
