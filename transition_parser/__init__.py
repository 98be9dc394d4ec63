"""A fairseq plug-in that turns sentences into graphs by predicting the actions of a state machine.

`from transition_parser import Parser` loads torch; the graphs, the transition systems
and the oracles do not need it. Only training needs fairseq.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from transition_parser.base import __version__

if TYPE_CHECKING:
    from transition_parser.parsing.parser import Parser
    from transition_parser.parsing.parses import AmrParse, Parse

__all__ = ["AmrParse", "Parse", "Parser", "__version__"]


def __getattr__(name: str) -> object:
    if name == "Parser":
        from transition_parser.parsing.parser import Parser

        return Parser
    if name in ("AmrParse", "Parse"):
        from transition_parser.parsing import parses

        return getattr(parses, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
