"""The edits of AMRs after search, in their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps

from transition_parser.parsing.edits.addresses import mend_addresses
from transition_parser.parsing.edits.commands import mark_commands
from transition_parser.parsing.edits.comparison import mend_comparisons
from transition_parser.parsing.edits.dates import mend_dates
from transition_parser.parsing.edits.draft import Draft
from transition_parser.parsing.edits.empty import remove_empty
from transition_parser.parsing.edits.lists import gather_members
from transition_parser.parsing.edits.lost_names import add_names
from transition_parser.parsing.edits.names import type_names
from transition_parser.parsing.edits.negation import negate
from transition_parser.parsing.edits.numbers import mend_numbers
from transition_parser.parsing.edits.pronouns import mend_pronouns
from transition_parser.parsing.edits.quantities import mend_quantities
from transition_parser.parsing.edits.questions import mend_questions
from transition_parser.parsing.edits.roles import label_roles
from transition_parser.parsing.edits.subjects import mend_subjects
from transition_parser.parsing.edits.times import mend_times

Edit = Callable[[Sequence[Draft]], None]  # it changes the drafts of a batch


def _each(edit: Callable[[Draft], None]) -> Edit:
    @wraps(edit)
    def edit_each(drafts: Sequence[Draft]) -> None:
        for draft in drafts:
            edit(draft)

    return edit_each


EDITS: Sequence[Edit] = (
    _each(remove_empty),  # first: what says nothing is nobody's argument or member
    _each(negate),  # the labeller knows `safe`, not `unsafe`
    label_roles,  # all others trust the roles
    _each(add_names),  # before commands: a name replaces the subject of a false one
    _each(mend_comparisons),
    _each(mend_questions),
    _each(mend_subjects),  # a verb that has its subject now is no command
    _each(mark_commands),
    _each(mend_addresses),  # before dates, for which search takes some addresses
    _each(mend_times),  # before dates and quantities, for which search takes some times
    _each(mend_numbers),
    _each(mend_dates),  # a date that loses its only number is empty
    _each(mend_quantities),
    _each(mend_pronouns),  # after commands, which add *you*, and dates, some of which become pronouns
    _each(gather_members),  # members share their arguments, such as pronouns
    _each(type_names),  # last: members that were added have names, too
)
