"""Exported models: folders without pickle.

`config.json` has the architecture, its options, and the SHA-256 of every file, so that a damaged folder is never taken
for a model. Names and shapes of weights are compared with the model first, and weights that do not fit are refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from transition_parser.base.errors import InputError, errors_at, input_error
from transition_parser.base.files import new_files
from transition_parser.base.model_files import (
    OBJECT,
    TEXT,
    TEXTS,
    TRUTH,
    Key,
    check_keys,
    is_whole,
    read_versioned,
    sha256_of,
    short_repr,
    write_json,
)
from transition_parser.data.resources import SEGMENTER_FILES, Resources
from transition_parser.kernels.encoders import LARGEST, quantize_weights
from transition_parser.modules.boundaries import BoundaryNetwork, EncoderPieces, NetworkLabeler
from transition_parser.modules.calibration import Calibration
from transition_parser.modules.precision import check_finite
from transition_parser.storage.cards import CONFIG, version_of
from transition_parser.text.characters import Characters
from transition_parser.text.learned_segmentation import Habits, LearnedSegmenter, MultiWords

WEIGHTS = "model.safetensors"
FORMAT_VERSION = 1
_KEYS = {
    "architecture": TEXT,
    "model": OBJECT,
    "calibration": OBJECT._replace(required=False),
    "files": OBJECT,
    "sha256": TEXT,
}


@dataclass(frozen=True)
class Exported:
    """The description of an exported model."""

    architecture: str
    options: Mapping[str, Any]  # as they were exported; they are not checked
    calibration: Calibration | None = None
    version: str = field(default="", compare=False)  # see `version_of`; "" before it is written


def write_config(folder: str | os.PathLike, exported: Exported) -> None:
    """Write `config.json` with the checksums of the model's files."""
    calibration = exported.calibration
    values = {
        "format_version": FORMAT_VERSION,
        "architecture": exported.architecture,
        "model": dict(exported.options),
        **({} if calibration is None else {"calibration": calibration.as_json()}),
        "files": {path.name: sha256_of(path) for path in model_files(Path(folder))},
    }
    write_json(Path(folder, CONFIG), {**values, "sha256": sha256_of_json(values)})


def read_config(folder: str | os.PathLike) -> Exported:
    """Return the description of an exported model, whose files are as they were exported."""
    folder = Path(folder)
    path = folder / CONFIG
    values = read_versioned(path, "is this a folder that `transition-parser export` wrote?", FORMAT_VERSION, _KEYS)
    version = version_of(values)
    if values.pop("sha256") != sha256_of_json(values):
        raise input_error("has been changed after the export (its SHA-256 is wrong): export the model again", path)
    sums, paths = values["files"], {path.name: path for path in model_files(folder)}
    for name in sorted(paths.keys() ^ sums.keys()):
        problem = "is not there, but was exported" if name in sums else "was not exported with the model"
        raise input_error(f"{problem}: export the model again", folder / name)
    for name, file in paths.items():
        if not file.is_file():
            raise input_error("is missing, or is not a regular file: export the model again", file)
        if sha256_of(file) != sums[name]:
            problem = f"its SHA-256 is not the one in {CONFIG}: the file is damaged, or from another model"
            raise input_error(f"{problem}; export the model again", file)
    calibration = values.get("calibration")
    with errors_at(path):
        found = None if calibration is None else Calibration.of_json(calibration)
    return Exported(values["architecture"], values["model"], found, version)


def model_files(folder: Path) -> list[Path]:
    """Return the files of an exported model that `load_model` reads, without `config.json`."""
    return [*Resources.files(folder), folder / WEIGHTS]


def sha256_of_json(values: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a JSON object. White space and the order of keys do not matter."""
    text = json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


# --- weights ----------------------------------------------------------------------------------


M = TypeVar("M", bound=nn.Module)
FLOATS = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
_SCALE = ".scale"  # `NAME.scale` holds one factor for each row of the 8-bit tensor `NAME`
_INT8 = "I8"  # the type of 8-bit tensors in safetensors
_FEWEST_COLUMNS = 64  # fewest columns of an 8-bit tensor: with fewer, its scales would need much of the space


def packed_weights(weights: Mapping[str, Tensor], bits: int, path: str | os.PathLike) -> dict[str, Tensor]:
    """Return the tensors to store for float32 weights; `stored_weights` reads them."""
    if bits == 32:
        return dict(weights)
    found: dict[str, Tensor] = {}
    for name, value in weights.items():
        if bits == 8 and value.dim() == 2 and value.size(1) >= _FEWEST_COLUMNS:
            integers, largest = quantize_weights(value)
            found |= {name: integers, f"{name}{_SCALE}": largest[:, 0] / LARGEST}
        else:
            found[name] = value.half()
    try:
        check_finite({name: value for name, value in found.items() if value.is_floating_point()}, path)
    except InputError:
        raise input_error(f"some weights are too large for {bits} bits: export them with --bits 32", path) from None
    return found


def stored_weights(path: str | os.PathLike) -> dict[str, Tensor]:
    """Return the weights of a safetensors file; 8-bit tensors with their scales become float32."""
    try:
        with safe_open(path, framework="pt") as file:
            kinds = {name: file.get_slice(name).get_dtype() for name in file.keys()}  # noqa: SIM118  (not a dict)
            values = {name: file.get_tensor(name) for name in kinds}
    except (SafetensorError, OSError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise input_error(f"the file is not a safetensors file, or is damaged: {reason}", path) from None
    for name in [name for name, kind in kinds.items() if kind == _INT8]:
        scales, integers = f"{name}{_SCALE}", values[name]
        if kinds.get(scales) not in FLOATS or integers.dim() != 2 or values[scales].shape != integers.shape[:1]:
            raise input_error(
                f"{short_repr(name)} is of type {_INT8}, but {short_repr(scales)} has no scale of each row", path
            )
        values[name] = integers.float() * values.pop(scales).float()[:, None]
        del kinds[name]
    for name in values.keys() & kinds.keys():
        if kinds[name] not in FLOATS:
            raise input_error(f"{short_repr(name)} is of type {kinds[name]}, not one of {', '.join(FLOATS)}", path)
    return values


def checked_weights(values: object, path: str | os.PathLike) -> dict[str, Tensor]:
    """Return the weights of a checkpoint, which are checked, but not changed."""
    if not isinstance(values, dict) or not values:
        raise input_error("the checkpoint's 'model' is not a dictionary of weights", path)
    for name, value in values.items():
        if not (isinstance(name, str) and _is_plain(value)):
            problem = f"is not a plain tensor of {', '.join(FLOATS)} with a name"
            raise input_error(f"the checkpoint's {short_repr(name)} {problem}", path)
    check_finite(values, path)
    return dict(values)


def own_names(model: nn.Module) -> dict[str, str]:
    """Return name of a weight → first name of the same tensor; the names differ if the tensor has several names."""
    first: dict[int, str] = {}
    return {name: first.setdefault(id(value), name) for name, value in model.state_dict(keep_vars=True).items()}


def with_weights(make: Callable[[], M], weights: Mapping[str, Tensor], path: str | os.PathLike, described: object) -> M:
    """Return the module that `make` makes, with weights, as float32."""
    with _drawing_nothing():
        model = make()
    set_weights(model, weights, path, described)
    return model


def set_weights(
    model: nn.Module, weights: Mapping[str, Tensor], path: str | os.PathLike, described: object = "the model"
) -> None:
    """Load weights into a module, as float32."""
    wanted, names = model.state_dict(), own_names(model)
    hint = f"do the weights belong to the options and dictionaries of {described}?"
    for name, first in names.items():
        if name not in weights and name == first:
            raise input_error(f"{short_repr(name)} is missing: {hint}", path)
    for name, value in weights.items():
        if name not in wanted:
            raise input_error(f"{short_repr(name)} is not a weight of the model: {hint}", path)
        shape, due = tuple(value.shape), tuple(wanted[name].shape)
        if shape != due:
            raise input_error(f"{short_repr(name)} has the shape {shape}, but the model needs {due}: {hint}", path)
    weights = {name: value.float() for name, value in weights.items()}
    check_finite(weights, path)
    for name, first in names.items():
        if name in weights and not torch.equal(weights[name], weights[first]):
            raise input_error(f"{short_repr(name)} and {short_repr(first)} must be equal, but differ", path)
    model.load_state_dict({name: weights[first] for name, first in names.items()})


_DRAWN = ("uniform_", "normal_", "kaiming_uniform_", "xavier_uniform_", "xavier_normal_", "orthogonal_")
_LOCK = threading.Lock()


@contextmanager
def _drawing_nothing() -> Iterator[None]:
    """Let modules that this thread makes have any initial weights: drawing them takes half of the time of loading."""
    thread = threading.get_ident()

    def unless_here(draw: Callable) -> Callable:
        return lambda tensor, *args, **options: (
            tensor if threading.get_ident() == thread else draw(tensor, *args, **options)
        )

    with _LOCK:
        drawn = {name: getattr(nn.init, name) for name in _DRAWN}
        vars(nn.init).update({name: unless_here(draw) for name, draw in drawn.items()})
        try:
            yield
        finally:
            vars(nn.init).update(drawn)


def _is_plain(value: object) -> bool:
    """Return True for a tensor of floats on the CPU with all its numbers."""
    if not isinstance(value, Tensor) or value.dtype not in FLOATS.values() or value.is_nested:
        return False
    is_dense = value.device.type == "cpu" and value.layout is torch.strided
    return is_dense and value.numel() * value.element_size() <= value.untyped_storage().nbytes()


# --- learned segmenters -----------------------------------------------------------------------


_SEGMENTER, _SEGMENTER_WEIGHTS = SEGMENTER_FILES
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
_KEYS_OF_SEGMENTER = {
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
        write_json(temporary / _SEGMENTER, description, indent=0, ensure_ascii=False)
        (temporary / _SEGMENTER_WEIGHTS).write_bytes(save(weights))


def _habits_of(values: Mapping[str, Any]) -> Habits:
    tables = ({key: tuple(words) for key, words in values[name].items()} for name in MultiWords._fields)
    return Habits(MultiWords(*tables), values["holds_blanks"])


def load_segmenter(folder: str | os.PathLike) -> LearnedSegmenter | None:
    """Return the segmenter of a folder, None if it has none. Raises `InputError` for a damaged segmenter."""
    path, weights = Path(folder, _SEGMENTER), Path(folder, _SEGMENTER_WEIGHTS)
    if not os.path.lexists(path) and not os.path.lexists(weights):
        return None
    values = read_versioned(path, _MAKE, FORMAT_VERSION, _KEYS_OF_SEGMENTER)
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
