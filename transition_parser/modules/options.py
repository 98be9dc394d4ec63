"""The options of a model: one dataclass that gives the flags, the defaults and the checks of `config.json`."""

from __future__ import annotations

import argparse
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar, Self, get_type_hints

from transition_parser.base.errors import InputError


def option(
    default: Any,
    help: str,
    *,
    least: float | None = None,
    most: float | None = None,
    below: float | None = None,
    choices: Sequence[str] = (),
) -> Any:
    """Return a field of `ModelOptions`: least ≤ value ≤ most, value < below, one of `choices` if there are any."""
    limits = {"least": least, "most": most, "below": below, "choices": tuple(choices)}
    return field(default=default, metadata={"help": help, **limits})


MOST_LAYERS, WIDEST, FARTHEST = 100, 1 << 16, 1 << 14  # larger numbers count as typing errors


def layers_option(default: int, help: str, least: int = 1) -> Any:
    return option(default, help, least=least, most=MOST_LAYERS)


def size_option(default: int, help: str, least: int = 1, most: int = WIDEST) -> Any:
    """Return a field of `ModelOptions` for a width or a number of heads."""
    return option(default, help, least=least, most=most)


def fairseq_option(default: Any, help: str) -> Any:
    """Return a field of a dataclass of options of fairseq."""
    return field(default=default, metadata={"help": help})


def share_option(default: float, help: str) -> Any:
    """Return a field of `ModelOptions` for a fraction or a probability from 0 to 1."""
    return option(default, help, least=0.0, most=1.0)


def dropout_option(default: float, help: str) -> Any:
    return option(default, help, least=0.0, below=1.0)


@dataclass(frozen=True)
class ModelOptions:
    """The base class of the options of a model; fields in `not_in_flags` are in `config.json` alone."""

    not_in_flags: ClassVar[frozenset[str]] = frozenset()

    def contradictions(self) -> str | None:
        """Return a message about options that contradict each other; None where none do."""
        return None

    def indivisible(self, side: str) -> str | None:
        """Return a message if the attention heads of `side` (encoder or decoder) do not divide its width, else None."""
        dim, heads = getattr(self, f"{side}_embed_dim"), getattr(self, f"{side}_attention_heads")
        return f"--{side}-attention-heads {heads} does not divide --{side}-embed-dim {dim}" if dim % heads else None

    def check(self) -> ModelOptions:
        """Return these options. Raises `InputError` for values out of range and for contradicting options."""
        kinds = _kinds(type(self))
        for item in fields(self):
            if problem := _problem(getattr(self, item.name), kinds[item.name], item.metadata):
                raise InputError(f"{flag_of(item.name)} {problem}")
        if problem := self.contradictions():
            raise InputError(problem)
        return self

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Add a flag for each option, None if left out, so that the architecture's default replaces it later."""
        kinds = _kinds(cls)
        for item in fields(cls):
            flag, kind, help = flag_of(item.name), kinds[item.name], item.metadata["help"]
            if item.name in cls.not_in_flags:
                continue
            if kind is bool:
                parser.add_argument(flag, action="store_true", default=None, help=help)
            else:
                parser.add_argument(flag, type=kind, choices=item.metadata["choices"] or None, help=help)

    @classmethod
    def of_namespace(cls, args: object, defaults: Mapping[str, Any]) -> ModelOptions:
        """Make checked options from flags; a value that is None or missing comes from `defaults` or the field."""
        values = {}
        for item in fields(cls):
            given = getattr(args, item.name, None)
            values[item.name] = defaults.get(item.name, item.default) if given is None else given
        return cls(**values).check()

    @classmethod
    def of_config(cls, values: object) -> ModelOptions:
        """Make options from `config.json`, by default as in the field. Raises `InputError` for unknown keys."""
        if not isinstance(values, dict):
            raise InputError("the model's options must be a JSON object")
        kinds = _kinds(cls)
        for name in values:
            if name not in kinds:
                raise InputError(f"unknown option {name!r}")
        cls(**values).check()
        return cls(**{name: kinds[name](value) for name, value in values.items()})

    def completed(self) -> Self:
        """Return the options, with values filled in that are known only when a model is made for training."""
        return self

    def unread(self, files: Collection[str]) -> Collection[str]:
        """Return the given files of a data folder that a model with these options does not read."""
        return files

    def as_config(self) -> dict[str, Any]:
        return asdict(self)


def _kinds(cls: type) -> dict[str, type]:
    hints = get_type_hints(cls)
    return {item.name: hints[item.name] for item in fields(cls)}


def flag_of(name: str) -> str:
    """Return the command-line flag of an option."""
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
