"""Which verbs of a sentence are imperatives, by a logistic regression that `run/moods.py` makes for a model of AMRs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from transition_parser.base.errors import input_error
from transition_parser.base.model_files import read_json
from transition_parser.text.columns import IMPERATIVE, OTHER, UNSURE
from transition_parser.text.frames import packaged

FILE_NAME = "moods.json"
_LEAST, _MOST = -3.0, -0.75  # log-odds below which a mood is `other`, and above which `imperative`; chosen on EWT dev
_PLACES = ((0,), (-1,), (-2,), (1,), (2,), (-1, 0), (0, 1), (-2, -1), (-1, 1), (-3, -2, -1))  # of words read together
_BEFORE = frozenset(  # words before verbs that have a subject or are infinitives
    "i you he she it we they who that which there this to will would can could may might must shall should 'll 'd do "
    "did does not n't ca wo".split()
).union('.!?:;,()"')
_NEAR = 8


class Moods(NamedTuple):
    """The weights of the log-odds that a word is an imperative."""

    bias: float
    vector: Sequence[float]  # the weights of the encoder's output
    features: Mapping[str, float]  # feature of the words around (`features_of`) → its weight

    @classmethod
    def load(cls, folder: str | os.PathLike) -> Moods | None:
        """Read `moods.json` from `folder`; None where there is none."""
        path = Path(folder, FILE_NAME)
        if not path.is_file():
            return None
        values = read_json(path, "run/moods.py writes it")
        try:
            features = {feature: float(weight) for feature, weight in values["features"].items()}
            return cls(float(values["bias"]), [*map(float, values["vector"])], features)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise input_error("does not hold a bias, a vector and features: run run/moods.py again", path) from None

    def predicted(self, encoded: Tensor, sentences: Sequence[Sequence[str]]) -> Iterator[list[str]]:
        """Yield the moods of the words of each sentence, from the encoded words (B, P, dim)."""
        if encoded.size(-1) != len(self.vector):
            problem = f"has {len(self.vector)} weights for vectors of {encoded.size(-1)}: run run/moods.py again"
            raise input_error(problem, FILE_NAME)
        odds = (encoded.float() @ torch.tensor(self.vector, device=encoded.device) + self.bias).tolist()
        for words, of_words in zip(sentences, odds, strict=True):
            forms = [word.lower() for word in words]
            yield [self._mood(forms, place, of_words[place]) for place in range(len(forms))]

    def _mood(self, forms: Sequence[str], place: int, odds: float) -> str:
        if forms[place] not in packaged().rolesets:
            return OTHER
        odds += sum(self.features.get(feature, 0.0) for feature in features_of(forms, place))
        return IMPERATIVE if odds > _MOST else UNSURE if odds > _LEAST else OTHER


def features_of(forms: Sequence[str], place: int) -> Iterator[str]:
    """Yield the features of a word: words around it, the ends of the sentence, and what its clause has before it."""
    around = ["<s>", "<s>", "<s>", *forms, "</s>", "</s>"]
    for number, places in enumerate(_PLACES):
        yield " ".join([str(number), *(around[place + 3 + offset] for offset in places)])
    before = next((form for form in reversed(forms[max(place - _NEAR, 0) : place]) if form in _BEFORE), "<s>")
    yield from (f"first {forms[0]}", f"last {forms[-1]}", f"near {before}")
