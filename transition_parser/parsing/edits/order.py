"""The edits of AMRs after search, in their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps

from transition_parser.parsing.edits.arguments import add_arguments, mend_owners
from transition_parser.parsing.edits.commands import mark_commands, mend_greetings, mend_permissions
from transition_parser.parsing.edits.comparison import may_compare, mend_comparisons
from transition_parser.parsing.edits.concepts import mend_concepts
from transition_parser.parsing.edits.copulas import mend_copulas
from transition_parser.parsing.edits.draft import Draft
from transition_parser.parsing.edits.names import mend_addresses, type_names
from transition_parser.parsing.edits.negation import negate
from transition_parser.parsing.edits.numbers import mend_dates, mend_numbers, mend_quantities, mend_times
from transition_parser.parsing.edits.pronouns import mend_pronouns
from transition_parser.parsing.edits.questions import mend_direct_questions, mend_questions
from transition_parser.parsing.edits.roles import label_roles
from transition_parser.parsing.edits.tree_view import has_clauses
from transition_parser.text.languages import language_of

Edit = Callable[[Sequence[Draft]], None]  # it changes the drafts of a batch


def _each(edit: Callable[[Draft], None]) -> Edit:
    @wraps(edit)
    def edit_each(drafts: Sequence[Draft]) -> None:
        for draft in drafts:
            edit(draft)

    return edit_each


EDITS: Mapping[str, Edit] = {
    "negation": _each(negate),  # the labeler knows `safe`, not `unsafe`
    "concepts": _each(mend_concepts),  # after negation: `unsafe-01`
    "roles": label_roles,  # all others trust the roles
    "arguments": _each(add_arguments),  # after roles, which add pronouns
    "owners": _each(mend_owners),
    "copulas": _each(mend_copulas),  # after arguments, which add subjects
    "comparisons": _each(mend_comparisons),
    "questions": _each(mend_questions),
    "commands": _each(mark_commands),
    "permissions": _each(mend_permissions),
    "direct questions": _each(mend_direct_questions),  # after commands: *can you tell me …?* is none
    "greetings": _each(mend_greetings),  # after commands: *see you* is none
    "addresses": _each(mend_addresses),
    "dates": _each(mend_dates),
    "times": _each(mend_times),  # before quantities, for which search takes some times
    "numbers": _each(mend_numbers),
    "quantities": _each(mend_quantities),
    "pronouns": _each(mend_pronouns),  # after commands, which add *you*
    "types of names": _each(type_names),  # last: members that were added have names, too
}
# the edits that read the dependency tree of a sentence → True for a draft whose tree they ask for
OF_TREES: Mapping[str, Callable[[Draft], bool]] = {
    "arguments": has_clauses,
    "owners": has_clauses,
    "comparisons": may_compare,
}
_OF_ANY_LANGUAGE = ("roles", "quantities")  # the edits without words of English


def edits_of(language: str | None) -> Mapping[str, Edit]:
    """Return the edits for the sentences of a language: all for English, and for a model that states no language."""
    is_english = language is None or language_of(language) == "en"
    return {name: edit for name, edit in EDITS.items() if is_english or name in _OF_ANY_LANGUAGE}
