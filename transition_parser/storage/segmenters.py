"""Learned segmenters on disk: `segmenter.json` and `segmenter.safetensors` of a model folder or a data folder."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import cast

from safetensors.torch import save

from transition_parser.base.errors import input_error
from transition_parser.base.files import new_files
from transition_parser.base.model_files import (
    TEXTS,
    TRUTH,
    WHOLE_NUMBER,
    Key,
    check_keys,
    check_version,
    is_whole,
    read_json,
    shown,
)
from transition_parser.data.resources import SEGMENTER_FILES
from transition_parser.modules.boundary_labeller import BoundaryNetwork, NetworkLabeller
from transition_parser.storage.exports import CONFIG, Exported, read_config, write_config
from transition_parser.storage.weights import stored_weights, with_weights
from transition_parser.text.characters import Characters
from transition_parser.text.learned_segmentation import LearnedSegmenter, MultiWords

DESCRIPTION, WEIGHTS = SEGMENTER_FILES
FORMAT_VERSION = 1
_MAKE = "make it with `transition-parser segmenter`"
_MOST_LAYERS = 12  # the context doubles with each layer
_WORDS = Key(
    "an object of lists of words",
    lambda value: (
        isinstance(value, dict) and all(isinstance(w, list) and {*map(type, w)} <= {str} for w in value.values())
    ),
)
_KEYS = {
    "format_version": WHOLE_NUMBER,
    "characters": TEXTS,
    "size": Key("a whole number, 1 or more", lambda value: is_whole(value) and value >= 1),
    "layers": Key(
        f"a whole number from 1 to {_MOST_LAYERS}", lambda value: is_whole(value) and 1 <= value <= _MOST_LAYERS
    ),
    "holds_blanks": TRUTH,
    "forms": _WORDS,
    "suffixes": _WORDS,
    "prefixes": _WORDS,
}


def described(folder: Path) -> Exported | None:
    """Return the description of an exported model; None for another folder. Raises `InputError` for a file."""
    if folder.exists() and not folder.is_dir():
        raise input_error("is a file, not a folder to write into", folder)
    return read_config(folder) if (folder / CONFIG).is_file() else None


def save_segmenter(segmenter: LearnedSegmenter, folder: str | os.PathLike) -> None:
    """Write a segmenter into a folder, which is created if it is missing."""
    model = described(Path(folder))
    labeller = cast(NetworkLabeller, segmenter.labeller)
    weights = {name: value.half().contiguous() for name, value in labeller.network.state_dict().items()}
    description = {
        "format_version": FORMAT_VERSION,
        "characters": list(labeller.known.known),
        "size": labeller.network.out.in_features,
        "layers": len(labeller.network.layers),
        "holds_blanks": segmenter.holds_blanks,
        **segmenter.multiwords._asdict(),
    }
    text = json.dumps(description, ensure_ascii=False, indent=0)
    with new_files(folder) as temporary:
        (temporary / DESCRIPTION).write_text(text + "\n", encoding="utf-8")
        (temporary / WEIGHTS).write_bytes(save(weights))
        if model is not None:
            write_config(temporary, *model, beside=folder)


def load_segmenter(folder: str | os.PathLike) -> LearnedSegmenter | None:
    """Return the segmenter of a folder, None if it has none. Raises `InputError` for a damaged segmenter."""
    path, weights = Path(folder, DESCRIPTION), Path(folder, WEIGHTS)
    if not os.path.lexists(path) and not os.path.lexists(weights):
        return None
    values = read_json(path, _MAKE)
    check_version(values, (FORMAT_VERSION,), path)
    check_keys(values, _KEYS, path)
    for character in values["characters"]:
        if len(character) != 1:
            raise input_error(f"'characters' holds {shown(character)}, which is not one character", path)
    if not weights.is_file():
        raise input_error(f"not found, or not a regular file: {_MAKE}", weights)
    known = Characters(values["characters"])
    make = partial(BoundaryNetwork, len(known), values["size"], values["layers"])
    network = with_weights(make, stored_weights(weights), weights, path)
    tables = ({key: tuple(words) for key, words in values[name].items()} for name in MultiWords._fields)
    return LearnedSegmenter(NetworkLabeller(network, known), MultiWords(*tables), values["holds_blanks"])
