"""A view of parser states in which the root is always at the bottom of the stack.

Source: Mohammadshahi and Henderson 2020, sec. 4.1.1
"""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from transition_parser.states.states import States


def with_root_at_bottom(states: States, root: Tensor) -> States:
    """Return the states as if the root had been at the bottom of the stack from the first step on.

    In the result the root is neither in the buffer nor above a word of the stack. All other words keep their order.
    Arcs and legality stay as they are.

    states: (…, P); with the fields `stack` and `buffer`
    root: (…); the position of the root, which is the number of words
    """
    assert states.stack is not None and states.buffer is not None
    here = root[..., None]
    rank = states.stack.gather(-1, here)
    below_root = (rank > 0) & (states.stack > rank)
    stack = (states.stack - below_root.to(rank.dtype)).scatter(-1, here, 0)
    bottom = stack.amax(-1, keepdim=True) + 1
    return replace(states, stack=stack.scatter(-1, here, bottom), buffer=states.buffer.scatter(-1, here, 0))
