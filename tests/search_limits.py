"""The limits of search over AMR derivations, checked action by action."""

from collections.abc import Sequence

from transition_parser.graphs.amr import edge_of
from transition_parser.transitions import Action
from transition_parser.transitions.amr_limits import SearchLimits, _Use
from transition_parser.transitions.amr_naming import Word
from transition_parser.transitions.amr_roles import role_given
from transition_parser.transitions.amr_state import AmrState, with_action

_ANY_WORD = Word("", "")  # roles do not depend on the words


def why_beyond(limits: SearchLimits, actions: Sequence[Action]) -> str | None:
    """Return the first limit that the derivation exceeds, in words; None where search can find the derivation."""
    use = _Use.from_actions(actions)
    swaps, nodes = limits.of_sentence(use.words)
    what = f"in a sentence of {use.words} words"
    for count, limit, name in ((use.swaps, swaps, f"SWAPs {what}"), (use.nodes, nodes, f"nodes {what}")):
        if count > limit:
            return f"{count} {name}, at most {limit}"
    for span in use.spans:
        if span.total() > limits.span:
            return f"{span.total()} nodes from one span, at most {limits.span}"
        for action, count in span.items():
            if count > limits.most(action):
                return f"{action} {count} times from one span, at most {limits.most(action)}"
    return _why_doubled(limits, use.words, actions)


def doubles(limits: SearchLimits, state: AmrState, action: Action) -> bool:
    """Return True where the legal action gives a node a role of `once` that the node already has."""
    given = role_given(action)
    if given is None or given[1] not in limits.once:
        return False
    place, role = given
    return (state.stack[place], role) in {edge_of(*edge)[:2] for edge in state.edges}


def _why_doubled(limits: SearchLimits, words: int, actions: Sequence[Action]) -> str | None:
    state = AmrState.initial([_ANY_WORD] * words)
    for action in actions:
        if doubles(limits, state, action):
            return f"{action} gives a node a role that it has"
        state = with_action(state, action)
    return None
