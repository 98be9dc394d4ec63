"""Random damage to the files of a model, as seeds that say what they do."""

from __future__ import annotations

import copy
import json
import shutil
from argparse import Namespace
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save
from torch import Tensor

from tests.helpers.mutations import mutated_bytes

VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 3, 64, 10**7, 10**30, 0.5, -0.5, 1.0, float("nan"), float("inf"), "", "x", "all",
    "amr", "arc-eager", "../../x", "\0", "é\n", [], {}, [[]], ["x"], {"x": 1},
]  # fmt: skip


def mutate(folder: Path, random: Random) -> str:
    """Damages one file of an exported folder, and says how."""
    file = random.choice(sorted(path for path in folder.iterdir() if path.name != "README.md"))
    own = {".json": json_value, ".safetensors": odd_tensors}.get(file.suffix, changed_bytes)
    change = random.choice([own, own, own, own, changed_bytes, changed_bytes, put_aside])
    return f"{change.__name__} {file.name}: {change(file, random)}"


def changed_bytes(file: Path, random: Random) -> str:
    """Some bytes, tokens or lines."""
    before = file.read_bytes()
    file.write_bytes(mutated_bytes(before, random))
    return f"{len(before)} bytes, then {file.stat().st_size}"


def put_aside(file: Path, random: Random) -> str:
    """Something else has its name, or nothing."""
    kind = random.choice(["gone", "folder", "loop", "other file"])
    other = random.choice(sorted(path for path in file.parent.iterdir() if path != file and path.is_file()))
    file.unlink()
    if kind == "folder":
        file.mkdir()
    elif kind == "loop":
        file.symlink_to(file)
    elif kind == "other file":
        shutil.copy(other, file)
    return kind


def json_value(file: Path, random: Random) -> str:
    """One value or key."""
    values = json.loads(file.read_text(encoding="utf-8"))
    if random.random() < 0.1:
        changed = random.choice(["[" * 100_000, '{"a":' * 100_000, "null", "5", '"x"', "[]", "{}", "{", "\ufeff{}"])
        file.write_text(changed, encoding="utf-8")
        return f"all is {changed[:10]}"
    said = damaged(values, random)
    text = json.dumps(values)
    if random.random() < 0.1:
        key = random.choice(sorted(values)) if values else "x"
        text = text[:-1] + f', "{key}": {json.dumps(values.get(key))}}}'
        said += f", and {key} twice"
    file.write_text(text, encoding="utf-8")
    return said


def damaged(values: dict | list, random: Random) -> str:
    """Changes one thing somewhere inside `values`."""
    path: list = []
    while True:
        keys = sorted(values) if isinstance(values, dict) else list(range(len(values)))
        if not keys:
            break
        key = random.choice(keys)
        path.append(key)
        inner = values[key]
        if not isinstance(inner, (dict, list)) or random.random() < 0.3:
            break
        values = inner
    return f"{path} {_changed_at(values, path[-1] if keys else None, random)}"


def _changed_at(values: dict | list, key: Any, random: Random) -> str:
    kind = random.choice(["value", "value", "value", "delete", "extra", "rename"])
    value = copy.deepcopy(random.choice(VALUES))
    if kind == "extra" or key is None:
        if isinstance(values, dict):
            values[f"extra{random.randrange(9)}"] = value
        else:
            values.append(value)
    elif kind == "delete":
        del values[key]
    elif kind == "rename" and isinstance(values, dict):
        values[f"{key}x"] = values.pop(key)
    else:
        values[key] = value
    return f"{kind} {value!r:.40}"


def mutate_signed(folder: Path, sign: Callable[[Path], None], random: Random) -> str:
    """Gives one file of an exported folder odd contents, and the folder the checksums of them; says how."""
    kinds = {".json": json_value, ".safetensors": odd_tensors}
    suffix = random.choice([".json", ".safetensors", ".safetensors"])
    file = random.choice(sorted(path for path in folder.iterdir() if path.suffix == suffix))
    said = kinds[file.suffix](file, random)
    with suppress(KeyError, TypeError, ValueError, AttributeError, RecursionError):  # config.json itself is odd
        sign(folder)
    return f"{file.name}: {said}"


def odd_tensors(file: Path, random: Random) -> str:
    """One array that is odd, or other metadata. The rest stays."""
    with safe_open(file, "pt") as opened:
        values, metadata = {name: opened.get_tensor(name) for name in opened.keys()}, opened.metadata() or {}  # noqa: SIM118
    if metadata and random.random() < 0.2:
        key = random.choice(sorted(metadata))
        texts = [json.dumps(value) for value in VALUES]
        metadata[key] = random.choice([*texts, "{", "[" * 100_000, "[" * 500 + "]" * 500, '["x", "x"]', "9" * 5000])
        said = f"{key} {metadata[key]:.20}"
    else:
        said = odd_weights(values, random)
    file.write_bytes(save({name: value.contiguous() for name, value in values.items()}, metadata or None))
    return said


def odd_weights(values: dict[str, Tensor], random: Random) -> str:
    """Gives one tensor another shape, type, range or name, or takes it away."""
    name = random.choice(sorted(values))
    kind = random.choice([*ODD, "renamed", "without", "extra"])
    if kind in ODD:
        values[name] = ODD[kind](values[name])
    elif kind == "extra":
        values[f"{name}.extra"] = values[name].clone()
    else:
        value = values.pop(name)
        if kind == "renamed":
            values[f"{name}x"] = value
    return f"{name} {kind}"


def _with_number(number: float) -> Callable[[Tensor], Tensor]:
    def changed(value: Tensor) -> Tensor:
        numbers = value.double() if value.is_floating_point() else value.long()
        numbers.view(-1)[-1:] = number if value.is_floating_point() or abs(number) < 2**63 else 1
        return numbers.to(value.dtype) if value.is_floating_point() else numbers

    return changed


ODD: dict[str, Callable[[Tensor], Tensor]] = {
    "none": lambda value: value[:0],
    "a number": lambda value: value.flatten()[0] if value.numel() else torch.tensor(0),
    "in one row": lambda value: value.flatten(),
    "in a column": lambda value: value[:, None],
    "turned": lambda value: value.transpose(0, -1) if value.dim() else value,
    "in another order": lambda value: value.flip(0),
    "less one": lambda value: value[:-1],
    "one more": lambda value: torch.cat([value, value[:1]]),
    "in five dimensions": lambda value: value[None, None, None],
    **{str(kind): lambda value, kind=kind: value.to(kind) for kind in (
        torch.bool, torch.uint8, torch.int16, torch.int64, torch.half, torch.bfloat16, torch.double, torch.complex64
    )},
    **{f"with {number}": _with_number(number) for number in (-1, 1, -(2**62), 2**62, 1 << 20, 2**31, 1e300)},
    "with NaN": lambda value: _with_number(float("nan"))(value) if value.is_floating_point() else value[:0],
    "all 0": torch.zeros_like,
    "all 1": torch.ones_like,
}  # fmt: skip


def mutate_state(state: dict, random: Random) -> str:
    """Changes the contents of a checkpoint, and says how."""
    part = random.choice(["model", "model", "cfg.model", "cfg.model", "cfg", "task", "task_state", "top", "object"])
    value = copy.deepcopy(random.choice(VALUES))
    if part == "model":
        return odd_weights(state["model"], random)
    if part == "cfg.model":
        options = vars(state["cfg"]["model"])
        said = damaged(options, random)
        state["cfg"]["model"] = random.choice([Namespace(**options), Namespace(**options), options])
        return f"cfg.model: {said}"
    if part == "cfg":
        key = random.choice(["model", "task"])
        state["cfg"][key] = value
        return f"cfg: {key} is {value!r}"
    if part == "task":
        state["cfg"]["task"]["data"] = value
        return f"data folder {value!r}"
    if part == "task_state":
        state["task_state"] = random.choice([value, {"fingerprint": value}])
        return f"task_state {state['task_state']!r}"
    if part == "top":
        key = random.choice(["model", "cfg", "task_state", "args", "extra_state", "last_optimizer_state"])
        state[key] = value
        return f"{key} is {value!r}"
    state[random.choice(["args", "cfg", "model", "extra_state"])] = Path("x")  # a class that is not read
    return "an object"
