"""The options of a model: one dataclass, from which the flags, the defaults and the checks of `config.json` come."""

from __future__ import annotations

import argparse
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar, get_type_hints

from transition_parser.base.errors import InputError


def option(
    default: Any,
    help: str,
    *,
    least: float | None = None,
    most: float | None = None,
    below: float | None = None,
    choices: Sequence[str] = (),
    since_later: bool = False,
) -> Any:
    """A field of `ModelOptions`. least ≤ value ≤ most, value < below; choices: the strings that are allowed.
    since_later: a `config.json` may lack it, and means the default."""
    limits = {"least": least, "most": most, "below": below, "choices": tuple(choices), "since_later": since_later}
    return field(default=default, metadata={"help": help, **limits})


@dataclass(frozen=True)
class ModelOptions:
    """Subclasses add fields by `option`, of type bool, int, float or str, and `contradictions`.

    not_in_flags: fields that are given in `config.json` alone.
    """

    not_in_flags: ClassVar[frozenset[str]] = frozenset()

    def contradictions(self) -> str | None:
        """What contradicts each other in these options; None where nothing does."""
        return None

    def check(self) -> ModelOptions:
        """Raises `InputError` for values out of range and options that contradict each other; returns itself."""
        for name, kind in _kinds(type(self)).items():
            problem = _problem(getattr(self, name), kind, _metadata(type(self), name))
            if problem:
                raise InputError(f"{_flag(name)} {problem}")
        problem = self.contradictions()
        if problem:
            raise InputError(problem)
        return self

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """A flag for each option. What is not given is None, for the defaults of the architecture to fill in."""
        for name, kind in _kinds(cls).items():
            if name in cls.not_in_flags:
                continue
            metadata = _metadata(cls, name)
            if kind is bool:
                parser.add_argument(_flag(name), action="store_true", default=None, help=metadata["help"])
            else:
                parser.add_argument(
                    _flag(name), type=kind, choices=metadata["choices"] or None, metavar=None, help=metadata["help"]
                )

    @classmethod
    def of_namespace(cls, args: object, defaults: Mapping[str, Any]) -> ModelOptions:
        """From parsed flags; what is missing or None comes from `defaults`, then from the fields. Checked."""
        values = {}
        for item in fields(cls):
            given = getattr(args, item.name, None)
            values[item.name] = defaults.get(item.name, item.default) if given is None else given
        return cls(**values).check()

    @classmethod
    def of_config(cls, values: object) -> ModelOptions:
        """From the values of `config.json`. Raises `InputError` for missing and unknown keys, wrong types, values out
        of range."""
        if not isinstance(values, dict):
            raise InputError("the model's options are not a JSON object")
        kinds = _kinds(cls)
        for name in values:
            if name not in kinds:
                raise InputError(f"unknown option {name!r}")
        for item in fields(cls):
            if item.name not in values:
                if item.metadata["since_later"]:
                    continue
                raise InputError(f"the option {item.name!r} is missing")
            problem = _problem(values[item.name], kinds[item.name], item.metadata)
            if problem:
                raise InputError(f"the option {item.name!r} {problem}")
        return cls(**{name: kinds[name](value) for name, value in values.items()}).check()

    def completed(self) -> ModelOptions:
        """With what is not given but found out when a model is made for training."""
        return self

    def weights_elsewhere(self) -> int:
        """How many weights, at most, a model of these options has that are not stored with it."""
        return 0

    def unread(self, files: Collection[str]) -> Collection[str]:
        """Which of these files of a data folder a model of these options does not read."""
        return files

    def as_config(self) -> dict[str, Any]:
        """The values for `config.json`, which `of_config` reads."""
        return asdict(self)


def _kinds(cls: type) -> dict[str, type]:
    hints = get_type_hints(cls)
    return {item.name: hints[item.name] for item in fields(cls)}


def _metadata(cls: type, name: str) -> Mapping[str, Any]:
    return next(item.metadata for item in fields(cls) if item.name == name)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _problem(value: object, kind: type, limits: Mapping[str, Any]) -> str | None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    fits = whole or isinstance(value, float) if kind is float else whole if kind is int else isinstance(value, kind)
    if not fits:
        return f"must be of type {kind.__name__}, not {value!r:.60}"
    if limits["choices"] and value not in limits["choices"]:
        return f"must be one of {', '.join(limits['choices'])}, not {value!r:.60}"
    if isinstance(value, float) and not math.isfinite(value):
        return f"must be a finite number, not {value}"
    if limits["least"] is not None and value < limits["least"]:
        return f"must be {limits['least']} or more, not {value}"
    if limits["most"] is not None and value > limits["most"]:
        return f"must be {limits['most']} or less, not {value}"
    if limits["below"] is not None and value >= limits["below"]:
        return f"must be less than {limits['below']}, not {value}"
    return None
