"""The names of models: of the package, in the user's folders, and in installed packages."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.metadata import entry_points
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

from transition_parser.base.errors import InputError

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
