"""`lexicon.json`: what the AMR training data has seen, span by span."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from transition_parser.errors import input_error
from transition_parser.transitions.action import Action

FILE_NAME = "lexicon.json"
FORMAT_VERSION = 1


@dataclass(frozen=True)
class Lexicon:
    """spans: the lemmas of a span (`transitions.amr.key`) → the actions that named nodes of it.
    wiki: the name of an entity, with and without its concept (`wiki_keys`) → its `:wiki` in training.
    """

    spans: Mapping[str, tuple[Action, ...]] = field(default_factory=dict)
    wiki: Mapping[str, str] = field(default_factory=dict)

    def save(self, folder: str | os.PathLike) -> None:
        """Writes `lexicon.json` into `folder`."""
        values = {
            "format_version": FORMAT_VERSION,
            "spans": {span: [str(action) for action in actions] for span, actions in self.spans.items()},
            "wiki": dict(self.wiki),
        }
        text = json.dumps(values, ensure_ascii=False, indent=0, sort_keys=True)
        Path(folder, FILE_NAME).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: str | os.PathLike) -> Lexicon:
        """Reads `lexicon.json`. Raises `InputError` where it is missing or not of this version."""
        path = Path(folder, FILE_NAME)
        if not path.is_file():
            raise input_error("not found: `transition-parser preprocess amr` writes it", path)
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            if values["format_version"] != FORMAT_VERSION:
                raise ValueError(f"format version {values['format_version']}, this program reads {FORMAT_VERSION}")
            spans = {span: tuple(map(Action.parse, tokens)) for span, tokens in values["spans"].items()}
            return cls(spans, values["wiki"])
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise input_error(f"no lexicon: {error}", path) from None


def wiki_keys(concept: str, strings: tuple[str, ...]) -> tuple[str, str]:
    """Where the wiki of a name is looked up: first with its concept, then without.

    >>> wiki_keys("city", ('"New"', '"York"'))
    ('city "New" "York"', '"New" "York"')
    """
    name = " ".join(strings)
    return f"{concept} {name}", name
