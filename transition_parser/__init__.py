"""A fairseq plug-in that turns sentences into graphs by predicting the actions of a state machine.

Parsing loads torch; the graphs, their files and scores, the transition systems and the oracles do not need it. Only
training needs fairseq.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from transition_parser.base import __version__

if TYPE_CHECKING:
    from transition_parser.cli.train import train
    from transition_parser.parsing.formalisms import read, score
    from transition_parser.parsing.parser import Parser
    from transition_parser.parsing.parses import AmrParse, Parse

__all__ = ["AmrParse", "Parse", "Parser", "__version__", "read", "score", "train"]
_MODULES = {
    **dict.fromkeys(("AmrParse", "Parse"), "parsing.parses"),
    **dict.fromkeys(("read", "score"), "parsing.formalisms"),
    "Parser": "parsing.parser",
    "train": "cli.train",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
