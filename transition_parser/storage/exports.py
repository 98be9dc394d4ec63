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
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from transition_parser.base.errors import InputError, errors_at, input_error
from transition_parser.base.model_files import OBJECT, TEXT, read_versioned, sha256_of, short_repr, write_json
from transition_parser.data.resources import Resources
from transition_parser.kernels.encoders import LARGEST, quantize_weights
from transition_parser.modules.calibration import Calibration
from transition_parser.storage.cards import CONFIG, version_of

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


def check_finite(weights: Mapping[str, Tensor], path: str | os.PathLike | None = None) -> None:
    """Raise `InputError` with the name of the first tensor that holds NaN or an infinite number."""
    for name, value in weights.items():
        # a finite sum has only finite terms, and summing takes a hundredth of the time of testing each term
        if not value.sum().isfinite() and not value.isfinite().all():
            kind = "NaN" if value.isnan().any() else "an infinite number"
            raise input_error(
                f"{short_repr(name)} holds {kind}: the training has diverged, or the file is damaged", path
            )


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
