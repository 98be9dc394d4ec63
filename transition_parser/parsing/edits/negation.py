"""Negations in words, which AMR takes apart: *unsafe* is `safe-01 :polarity -`, *unable* `possible-01 :polarity -`."""

from __future__ import annotations

import re
from functools import cache

from transition_parser.parsing.edits.draft import Draft
from transition_parser.text import word_list
from transition_parser.text.frames import packaged
from transition_parser.text.lemmas import lemmatize
from transition_parser.transitions.amr_state import lemma_of

_OTHER_GRAPHS = re.compile(r".*(ers?|ors?|[ai]ble)")  # `non-smoker` is a person, `unbelievable` not possible


def negate(draft: Draft) -> None:
    """Add the polarity of words with a negative prefix, and that of *unable* and *nor*.

    A concept whose lemma has no frame (`unsafe`, `unmodified-01`) becomes the first frame of the word
    without the prefix.
    """
    parts = {place: found for place, form in enumerate(draft.forms) if (found := _negated().fullmatch(form))}
    negative = {edge.source for edge in draft.edges if edge.role == "polarity"}
    for node, places in enumerate(draft.alignments) if parts else ():
        if len(places) != 1 or node in draft.constants or places[0] not in parts:
            continue
        (prefix, stem), lemma = parts[places[0]].groups(), lemma_of(draft.labels[node])
        of_word = [one for one, others in enumerate(draft.alignments) if tuple(others) == tuple(places)]
        if not negative.isdisjoint(of_word):
            continue
        if lemma.startswith(prefix):
            concept = None if lemma in packaged().rolesets else _frame_of(prefix, stem)
        elif lemma[:4] == stem[:4] or lemma in _evoked_by(stem):
            is_whole = prefix == "dis" and draft.words[places[0]].lemma in packaged().rolesets  # `discover`, `cover-01`
            concept = None if is_whole else draft.labels[node]
            if prefix == "un" and not _is_negated(stem, lemma):
                concept = None
        else:
            concept = None
        if concept is not None:
            draft.labels[node] = concept
            possible = (one for one in of_word if lemma_of(draft.labels[one]) == "possible")  # `undetectable`
            source = next(possible, node)
            negative.add(source)
            draft.add_edge(source, "polarity", draft.new_node("-", True, node))
    for place, form in enumerate(draft.forms):
        if form in _WORDS:
            _WORDS[form](draft, place)


@cache
def _negated() -> re.Pattern[str]:
    """Return the pattern of words with a negative prefix. Many words that begin with `in` or `im` have none."""
    stems = "|".join(word_list("edits: negated"))
    return re.compile(rf"(?!inpatient)(un|non-?|dis|i[nmlr](?={stems}))(?!(?:like|less|rest|ruly|sense)$)([a-z]{{4,}})")


def _unable(draft: Draft, place: int) -> None:
    """Make *unable to open* `possible-01 :polarity - :ARG1 open-01`."""
    verb = draft.frames.get(place + 2) if draft.forms[place + 1] == "to" else None
    negation = next((e for e in draft.edges if e.role == "polarity" and draft.place(e.target) == place), None)
    if verb is None or negation is None or draft.labels[negation.source].startswith("possible"):
        return
    possible = draft.new_node("possible-01", False, negation.target)
    draft.replace_edge(negation)
    for edge in [edge for edge in draft.edges if edge.target == verb]:
        draft.replace_edge(edge, edge._replace(target=possible))
    draft.move_top(verb, possible)
    draft.add_edge(possible, "ARG1", verb)
    draft.add_edge(possible, "polarity", negation.target)


def _nor(draft: Draft, place: int) -> None:
    """Negate each of two frames that *neither … nor*, or *not …, nor* join; join things by *or*."""
    for node, label in enumerate(draft.labels):
        members = [edge.target for edge in draft.members(node)]
        is_of_frames = {*members} <= {*draft.frames.values()}
        if label == "nor" and members and not is_of_frames:
            draft.labels[node] = "or"
        if label not in ("and", "or", "nor") or len(members) != 2 or not is_of_frames:
            continue
        if not draft.place(members[0]) < place < draft.place(members[1]):
            continue
        draft.labels[node] = "and"
        for member in members:
            if "polarity" not in draft.below(member):
                draft.add_edge(member, "polarity", draft.new_node("-", True, member))


_WORDS = {"unable": _unable, "nor": _nor}


def _evoked_by(stem: str) -> list[str]:
    """Return the lemmas of the frames that a word evokes; none where it has another graph than its frame."""
    evoked = packaged().evoked(lemmatize([stem]), [stem])
    lemma = evoked.lemma or evoked.alias
    return [] if lemma is None or (_OTHER_GRAPHS.fullmatch(stem) and lemma != stem) else [lemma]


def _frame_of(prefix: str, stem: str) -> str | None:
    """Return the first frame that a word evokes without its negative prefix, None where that may be no negation."""
    if prefix == "dis" or not (lemmas := _evoked_by(stem)):
        return None
    if prefix == "un" and not _is_negated(stem, lemmas[0]):
        return None
    return f"{lemmas[0]}-{packaged().senses(lemmas[0])[0]}"


def _is_negated(stem: str, lemma: str) -> bool:
    """Return True if `un` negates a word, by a lemma of its frame: an adjective, a participle (`unpaid`) or a noun.

    It reverses a verb (`undock`), and `unprofessional` has nothing of `profess`.
    """
    rolesets = packaged().rolesets.get(lemma, "").split("\t")
    aliases = {alias for roleset in rolesets for alias in roleset.split("|")[-1].split()}
    bases = (stem, stem.removesuffix("ly"), f"{stem.removesuffix('ily')}y")
    if stem == lemma not in packaged().rolesets or any(f"{base}/j" in aliases for base in bases):
        return True
    if stem.endswith("ing"):
        return False
    is_verb = lemmatize([stem]) == [lemma]
    is_able = _OTHER_GRAPHS.fullmatch(stem) is not None  # `undetectable` is `possible-01 :polarity -`
    return is_able or (stem not in (lemma, f"{lemma}s") if is_verb else f"{stem}/n" in aliases)
