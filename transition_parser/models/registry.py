"""The registry of the architectures that `--arch` and `config.json` name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from transition_parser.base.errors import InputError
from transition_parser.data.resources import Resources
from transition_parser.modules.contract import ParserModel
from transition_parser.modules.options import ModelOptions

Build = Callable[[Any, Resources], ParserModel]  # the first argument is an instance of `Architecture.options`


@dataclass(frozen=True)
class Architecture:
    """A published model at one size."""

    name: str
    model: str
    options: type[ModelOptions]
    build: Build
    defaults: Mapping[str, Any] = field(default_factory=dict)  # where they differ from the defaults of `options`


ARCHITECTURES: dict[str, Architecture] = {}
_listeners: list[Callable[[Architecture], None]] = []


def register(
    model: str, options: type[ModelOptions], build: Build, architectures: Mapping[str, Mapping[str, Any]]
) -> None:
    """Register a model under the names of its architectures (name → defaults); the first is that of the model."""
    for name, defaults in architectures.items():
        if name in ARCHITECTURES:
            raise ValueError(f"the architecture {name} is already registered")
        ARCHITECTURES[name] = Architecture(name, model, options, build, dict(defaults))
        for listener in _listeners:
            listener(ARCHITECTURES[name])


def on_registration(listener: Callable[[Architecture], None]) -> None:
    """Call `listener` for each architecture that is registered already, and for each that is registered later."""
    for architecture in ARCHITECTURES.values():
        listener(architecture)
    _listeners.append(listener)


def architecture_of(name: object) -> Architecture:
    import transition_parser.models  # noqa: F401  (registers the architectures of the package)

    if not isinstance(name, str) or name not in ARCHITECTURES:
        raise InputError(
            f"unknown architecture {name!r:.60}: this program has {', '.join(ARCHITECTURES)}; architectures of your "
            "own need --user-dir"
        )
    return ARCHITECTURES[name]
