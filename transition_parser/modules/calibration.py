"""Maps of confidences to calibrated confidences, which `analysis.confidence` fits and models store."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from transition_parser.base.model_files import Key, check_keys

MOST = 1.0 - 1e-7  # the largest confidence, so that log-odds are finite; the smallest is 1 − MOST
LARGEST = 1000.0  # bound of the temperature, of its inverse and of the absolute offset
_TINY = -700.0  # for smaller log-odds the probability is exp(log-odds), as exp(−log-odds) may overflow


class Scaling(NamedTuple):
    """A monotone map of confidences: calibrated log-odds = log-odds of the confidence / temperature + offset."""

    temperature: float = 1.0
    offset: float = 0.0

    def __call__(self, confidence: float) -> float:
        odds = log_odds(confidence) / self.temperature + self.offset
        return math.exp(odds) if odds < _TINY else 1.0 / (1.0 + math.exp(-odds))


def _is_scaling(value: object) -> bool:
    if not isinstance(value, Mapping) or value.keys() != {*Scaling._fields}:
        return False
    temperature, offset = value["temperature"], value["offset"]
    are_numbers = {type(temperature), type(offset)} <= {int, float}
    return are_numbers and 1 / LARGEST <= temperature <= LARGEST and abs(offset) <= LARGEST  # rejects nan, too


_SCALINGS = Key(
    "an object of kinds of confidences, with a temperature and an offset each, in range",
    lambda value: isinstance(value, Mapping) and all(map(_is_scaling, value.values())),
)


class Calibration(NamedTuple):
    """The scaling of each field of a parse that holds confidences, such as `arc_scores`."""

    derivation: Mapping[str, Scaling]  # of confidences that come from one derivation
    beam: Mapping[str, Scaling]  # of confidences that come from all derivations of a beam

    @classmethod
    def of_json(cls, values: Mapping[str, Any]) -> Calibration:
        """Make a calibration from the result of `as_json`. Raises `InputError` for any other value."""
        check_keys(values, dict.fromkeys(cls._fields, _SCALINGS), None)
        return cls(*({kind: Scaling(**one) for kind, one in values[name].items()} for name in cls._fields))

    def as_json(self) -> dict[str, Any]:
        """Return the calibration as `config.json` stores it."""
        return {name: {kind: one._asdict() for kind, one in getattr(self, name).items()} for name in self._fields}


def log_odds(confidence: float) -> float:
    """Return the log-odds of a confidence, as a finite number for 0 and 1 too."""
    if not 1.0 - MOST <= confidence <= MOST:
        confidence = min(max(confidence, 1.0 - MOST), MOST)
    return math.log(confidence / (1.0 - confidence))
