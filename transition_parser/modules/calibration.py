"""Maps of confidences to calibrated confidences, which `analysis.confidence` fits and models store."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from transition_parser.base.errors import InputError
from transition_parser.base.model_files import short_repr

MOST = 1.0 - 1e-7  # the largest confidence, so that log-odds are finite; the smallest is 1 − MOST
LARGEST = 1000.0  # bound of the temperature, of its inverse and of the absolute offset
_TINY = -700.0  # for smaller log-odds the probability is exp(log-odds), as exp(−log-odds) may overflow


class Scaling(NamedTuple):
    """A monotone map of confidences: calibrated log-odds = log-odds of the confidence / temperature + offset."""

    temperature: float = 1.0
    offset: float = 0.0

    @classmethod
    def of_json(cls, kind: str, value: Any) -> Scaling:
        """Make the scaling of a kind of confidence from `config.json`. Raises `InputError` for any other value."""
        known = isinstance(value, Mapping) and value.keys() == set(cls._fields)
        if not known or not all(isinstance(x, int | float) and not isinstance(x, bool) for x in value.values()):
            problem = f"must be a temperature and an offset, not {short_repr(value)}"
            raise InputError(f"the calibration of {short_repr(kind)} {problem}")
        if not (1 / LARGEST <= value["temperature"] <= LARGEST and abs(value["offset"]) <= LARGEST):  # rejects nan, too
            raise InputError(f"the calibration of {short_repr(kind)} is out of range: {short_repr(value)}")
        return cls(float(value["temperature"]), float(value["offset"]))

    def __call__(self, confidence: float) -> float:
        odds = log_odds(confidence) / self.temperature + self.offset
        return math.exp(odds) if odds < _TINY else 1.0 / (1.0 + math.exp(-odds))


class Calibration(NamedTuple):
    """The scaling of each field of a parse that holds confidences, such as `arc_scores`."""

    derivation: Mapping[str, Scaling]  # of confidences that come from one derivation
    beam: Mapping[str, Scaling]  # of confidences that come from all derivations of a beam

    @classmethod
    def of_json(cls, values: Mapping[str, Any]) -> Calibration:
        """Make a calibration from the result of `as_json`. Raises `InputError` for any other value."""
        if values.keys() != set(cls._fields):
            raise InputError(
                f"'calibration' must have the keys {' and '.join(cls._fields)}, not {short_repr([*values])}"
            )
        for scalings in values.values():
            if not isinstance(scalings, Mapping):
                raise InputError(f"the scalings of 'calibration' must be a JSON object, not {short_repr(scalings)}")
        return cls(*({kind: Scaling.of_json(kind, x) for kind, x in values[name].items()} for name in cls._fields))

    def as_json(self) -> dict[str, Any]:
        """Return the calibration as `config.json` stores it."""
        return {
            name: {field: scaling._asdict() for field, scaling in getattr(self, name).items()} for name in self._fields
        }


def log_odds(confidence: float) -> float:
    """Return the log-odds of a confidence, as a finite number for 0 and 1 too."""
    if not 1.0 - MOST <= confidence <= MOST:
        confidence = min(max(confidence, 1.0 - MOST), MOST)
    return math.log(confidence / (1.0 - confidence))
