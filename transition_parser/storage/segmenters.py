"""The files of learned segmenters, `segmenter.json` and `segmenter.safetensors` in a folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

from safetensors.torch import save

from transition_parser.base.errors import input_error
from transition_parser.base.files import new_files
from transition_parser.base.model_files import (
    TEXT,
    TEXTS,
    TRUTH,
    Key,
    check_keys,
    is_whole,
    read_versioned,
    short_repr,
    write_json,
)
from transition_parser.data.resources import SEGMENTER_FILES
from transition_parser.modules.boundaries import BoundaryNetwork, EncoderPieces, NetworkLabeler
from transition_parser.storage.exports import stored_weights, with_weights
from transition_parser.text.characters import Characters
from transition_parser.text.learned_segmentation import Habits, LearnedSegmenter, MultiWords

DESCRIPTION, WEIGHTS = SEGMENTER_FILES
FORMAT_VERSION = 1
_MAKE = "`transition-parser train` makes it"
_MOST_SIZE, _MOST_LAYERS = 4096, 12  # the context doubles with each layer
_WORDS = Key(
    "an object of lists of words",
    lambda value: (
        isinstance(value, dict) and all(isinstance(w, list) and {*map(type, w)} <= {str} for w in value.values())
    ),
)
_KEYS_OF_HABITS = {"holds_blanks": TRUTH, "forms": _WORDS, "suffixes": _WORDS, "prefixes": _WORDS}
_OBJECTS = Key(
    "an object of objects, one or more",
    lambda value: isinstance(value, dict) and bool(value) and {*map(type, value.values())} == {dict},
)
_KEYS = {
    "characters": TEXTS,
    "size": Key(f"a whole number from 1 to {_MOST_SIZE}", lambda value: is_whole(value) and 1 <= value <= _MOST_SIZE),
    "layers": Key(
        f"a whole number from 1 to {_MOST_LAYERS}", lambda value: is_whole(value) and 1 <= value <= _MOST_LAYERS
    ),
    "domains": _OBJECTS._replace(required=False),
    **{name: key._replace(required=False) for name, key in _KEYS_OF_HABITS.items()},
    **dict.fromkeys(("pretrained", "pretrained_sha256"), TEXT._replace(required=False)),
}


def save_segmenter(segmenter: LearnedSegmenter, folder: str | os.PathLike) -> None:
    """Write a segmenter into a folder, which is created if it is missing."""
    labeler = cast(NetworkLabeler, segmenter.labeler)
    weights = {name: value.half().contiguous() for name, value in labeler.network.state_dict().items()}
    description = {
        "format_version": FORMAT_VERSION,
        "characters": list(labeler.known.known),
        "size": labeler.network.out.in_features,
        "layers": len(labeler.network.layers),
    }
    of_domains = {
        name: {"holds_blanks": habits.holds_blanks, **habits.multiwords._asdict()}
        for name, habits in segmenter.of_domains.items()
    }
    description |= of_domains.get(None, {"domains": of_domains})
    if labeler.pieces is not None:
        description |= {"pretrained": labeler.pieces.name, "pretrained_sha256": labeler.pieces.sha256}
    with new_files(folder) as temporary:
        write_json(temporary / DESCRIPTION, description, indent=0, ensure_ascii=False)
        (temporary / WEIGHTS).write_bytes(save(weights))


def _habits_of(values: Mapping[str, Any]) -> Habits:
    tables = ({key: tuple(words) for key, words in values[name].items()} for name in MultiWords._fields)
    return Habits(MultiWords(*tables), values["holds_blanks"])


def load_segmenter(folder: str | os.PathLike) -> LearnedSegmenter | None:
    """Return the segmenter of a folder, None if it has none. Raises `InputError` for a damaged segmenter."""
    path, weights = Path(folder, DESCRIPTION), Path(folder, WEIGHTS)
    if not os.path.lexists(path) and not os.path.lexists(weights):
        return None
    values = read_versioned(path, _MAKE, FORMAT_VERSION, _KEYS)
    domains = values.get("domains", {})
    of_domains: dict[str | None, Any] = {**domains} or {None: values}
    for of_domain in of_domains.values():
        check_keys({name: of_domain[name] for name in _KEYS_OF_HABITS if name in of_domain}, _KEYS_OF_HABITS, path)
    for character in values["characters"]:
        if len(character) != 1:
            raise input_error(f"'characters' holds {short_repr(character)}, which is not one character", path)
    if not weights.is_file():
        raise input_error(f"not found, or not a regular file: {_MAKE}", weights)
    known = Characters(values["characters"])
    pieces = EncoderPieces.of(values.get("pretrained"), values.get("pretrained_sha256", ""))
    table = pieces and pieces.table
    make = partial(BoundaryNetwork, len(known), values["size"], values["layers"], table=table, domains=len(domains))
    network = with_weights(make, stored_weights(weights), weights, path)
    labeler = NetworkLabeler(network, known, pieces, (*domains,))
    return LearnedSegmenter(labeler, {name: _habits_of(one) for name, one in of_domains.items()})
