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

import importlib.util
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import Any, Literal

from transition_parser.base.errors import InputError, input_error, warn
from transition_parser.base.model_files import TEXT, Key, check_keys, read_json, read_text
from transition_parser.storage.installed import InstalledModel, check_single, installed_models
from transition_parser.transitions.config import ParserConfig

FILE_NAME, CONFIG = "README.md", "config.json"
PRETRAINED = Path(__file__).resolve().parents[1] / "pretrained"
# short name → the package's models, best first; the best one needs a pretrained encoder that may not be installed
BEST = {"en": ("en-ewt-minilm", "en-ewt", "en-fast"), "amr": ("en-amr-minilm", "en-amr")}
TreeModel = Literal["en", "en-ewt", "en-ewt-minilm", "en-fast"]  # models of the package, for the types of `Parser.load`
AmrModel = Literal["amr", "en-amr", "en-amr-minilm"]
OWN_NAMES = frozenset(chain(BEST, *BEST.values()))  # no other model can have one of these names
VARIABLE = "TRANSITION_PARSER_MODELS"  # folders of the user's models, divided as the folders in PATH are
_FENCE = "---"


def _are_scores(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, dict) and "data" in one and all(isinstance(name, str) for name in one) for one in value
    )


CARD = {
    "description": TEXT._replace(required=False),
    "language": TEXT._replace(required=False),
    "license": TEXT._replace(required=False),
    "scores": Key("a list of mappings with names, one of them 'data'", _are_scores, False),
}


@dataclass(frozen=True)
class ModelCard:
    """The card of a model folder.

    name: the name of the model, or its path where it can't be loaded by a name
    path: the folder
    language: from the front matter, None where it is missing
    system: the transition system
    architecture: the architecture of the network
    bytes: size of the files of the folder
    needs: packages that the model needs besides this one
    missing: packages of `needs` that can't be used on this machine
    scores: mappings, each with `data`, `beam` and figures by name
    license: from the front matter, None where it is missing
    description: the purpose of the model, in a few words
    """

    name: str
    path: str
    language: str | None
    system: str
    architecture: str
    bytes: int
    needs: Sequence[str]
    missing: Sequence[str]
    scores: Sequence[Mapping[str, Any]]
    license: str | None
    description: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the card as a dictionary, for `--json`."""
        return asdict(self)


def read_card(folder: str | os.PathLike, name: str | None = None) -> ModelCard:
    """Return the card of an exported model.

    name: the name of the model, by default the name of its folder

    Raises `InputError` where the folder is no model, or its front matter can't be read.
    """
    folder = Path(folder)
    config = read_json(folder / CONFIG, "is this a folder that `transition-parser export` wrote?")
    options = config.get("model")
    if not isinstance(options, dict):
        raise input_error("has no options of a model: is it the config.json of an exported model?", folder / CONFIG)
    front = _front_matter(folder / FILE_NAME)
    encoder = options.get("pretrained") or ""
    needs = (str(encoder),) if encoder else ()
    return ModelCard(
        name or _name_of(folder),
        str(folder),
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
    """Write a card.

    front: its front matter
    text: its text below the title
    """
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


def named_models() -> dict[str, Path]:
    """Return the folders of the models that have a name, by name, without the models of installed packages.

    The models are the package's own, and the models in the folders that the environment variable
    `TRANSITION_PARSER_MODELS` lists. Of two models with one name the first counts. The keys of `BEST` can't be names.
    """
    named: dict[str, Path] = {}
    for folder in (PRETRAINED, *_own_folders()):
        for model in _models_in(folder):
            named.setdefault(_name_of(model), model)
    return {name: model for name, model in named.items() if name not in BEST}


def model_names() -> list[str]:
    """Return the names of `named_models`, and the other names of models that installed packages bring."""
    return list(dict.fromkeys(chain(named_models(), (model.name for model in installed_models()))))


def known_models(folders: Iterable[str | os.PathLike] = ()) -> Iterator[ModelCard]:
    """Yield the cards of the models of the package, of the models in some folders, of the user's models, and of the
    models that installed packages bring.

    A model that can't be loaded by its name has its path as name. The user's models are in the folders that the
    environment variable `TRANSITION_PARSER_MODELS` lists. Warns with a `ParserWarning` where an installed model is
    damaged, or can't be loaded by its name.

    folders: each is a model, or holds models

    Raises `InputError` for a folder without models.
    """
    named = named_models()
    for folder in (PRETRAINED, *map(Path, folders), *_own_folders()):
        found = _models_in(folder)
        if not found and folder != PRETRAINED:
            raise input_error(
                "the folder is not an exported model, and holds none: give a folder that `transition-parser "
                "export` wrote",
                folder,
            )
        for model in found:
            name = _name_of(model)
            yield read_card(model, name if named.get(name) == model else str(model))
    for name, of_name in groupby(installed_models(), lambda model: model.name):
        yield from _installed_cards(list(of_name), name in named)


def _installed_cards(models: Sequence[InstalledModel], is_taken: bool) -> Iterator[ModelCard]:
    """Yield the cards of installed models, which all have one name.

    is_taken: True where the name stands for a model that no package brings
    """
    name, is_free = models[0].name, not is_taken and len(models) == 1
    if name in OWN_NAMES:
        packages = " and ".join(model.package for model in models)
        warn(f"{name} is the name of a model of transition-parser itself: load the model of {packages} by its path")
        is_free = False
    try:
        check_single(models)
    except InputError as error:
        warn(f"{error}, or load each by its path")
    for model in models:
        try:
            folder = model.folder
            yield read_card(folder, name if is_free else str(folder))
        except InputError as error:
            warn(str(error))


def _plain(value: object) -> object:
    """Return a value of the front matter as JSON can hold it: a date, for example, as text."""
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _name_of(folder: Path) -> str:
    return Path(os.path.abspath(folder)).name


def _own_folders() -> list[Path]:
    return [Path(part) for part in os.environ.get(VARIABLE, "").split(os.pathsep) if part]


def _models_in(folder: Path) -> list[Path]:
    """Return the folder alone where it is a model, else the models in it."""
    return [folder] if (folder / CONFIG).exists() else sorted(path.parent for path in folder.glob(f"*/{CONFIG}"))


def _front_matter(path: Path) -> dict[str, Any]:
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
    """Return True where a pretrained encoder (a folder, or a package) and the package that reads it are on this
    machine.
    """
    package = encoder.replace("-", "_")
    if importlib.util.find_spec("transformers") is None:
        return False
    return Path(encoder).is_dir() or (package.isidentifier() and importlib.util.find_spec(package) is not None)
