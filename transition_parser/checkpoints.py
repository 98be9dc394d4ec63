"""Models on disk: fairseq's checkpoints, their averages, and exported folders without pickle."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from transition_parser.compat import allow_fairseq_checkpoints, quiet_penman
from transition_parser.data.resources import Resources
from transition_parser.errors import InputError, input_error
from transition_parser.files import new_files, replacing
from transition_parser.models.registry import Architecture, architecture_of
from transition_parser.modules.contract import ParserModel
from transition_parser.modules.options import ModelOptions

CONFIG, WEIGHTS = "config.json", "model.safetensors"
FORMAT_VERSION = 1
OLD_ARCHITECTURE = "stack_transformer"  # of exports that name none
PRETRAINED = Path(__file__).with_name("pretrained")


def load_model(path: str | os.PathLike) -> tuple[ParserModel, Resources]:
    """A model ready for parsing, from a checkpoint file, an exported folder, or the name of a
    model that comes with the package (`en-ewt`). Raises `InputError` for anything else."""
    quiet_penman()
    path = Path(path)
    if not path.exists() and (PRETRAINED / path.name).is_dir() and path.name == str(path):
        path = PRETRAINED / path.name
    if path.is_dir():
        return _load_exported(path)
    return _from_state(load_checkpoint(path), path)[:2]


def load_checkpoint(path: str | os.PathLike) -> dict:
    """The contents of a fairseq checkpoint, read under torch's `weights_only` protection."""
    if not Path(path).is_file():
        names = sorted(p.name for p in PRETRAINED.glob("*") if p.is_dir())
        known = f" or a model of the package ({', '.join(names)})" if names else ""
        raise input_error(f"no such checkpoint file, exported folder{known}", path)
    allow_fairseq_checkpoints()
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises many kinds for a file that is no checkpoint
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise input_error(f"not a checkpoint that can be read safely: {reason}", path) from None
    if not isinstance(state, dict) or "model" not in state or not state.get("cfg"):
        raise input_error("not a checkpoint of fairseq-train", path)
    return state


def average_checkpoints(paths: Sequence[str | os.PathLike], output: str | os.PathLike) -> None:
    """Writes a checkpoint whose weights are the means of those of `paths`, for fairseq's programs and ours."""
    with replacing(output) as temporary:
        torch.save(_mean(paths), temporary)


def export_checkpoint(paths: Sequence[str | os.PathLike], output: str | os.PathLike, half: bool = False) -> None:
    """Writes a model as a folder without pickle: `model.safetensors`, `config.json`, dictionaries, `spm.model`,
    `parser.json`. Of several checkpoints the mean is exported.

    half: store the weights in half precision; they are computed with in single precision all the same.
    """
    first = Path(paths[0])
    state = _mean(paths)
    model, _resources, folder = _from_state(state, first)
    architecture, options = _described(state, first)
    weights = {name: (value.half() if half else value).contiguous() for name, value in _distinct(model).items()}
    config = {"format_version": FORMAT_VERSION, "architecture": architecture.name, "model": options.as_config()}
    text = json.dumps(config, indent=1)
    with new_files(output) as temporary:
        save_file(weights, temporary / WEIGHTS)
        (temporary / CONFIG).write_text(text + "\n", encoding="utf-8")
        Resources.copy(folder, temporary)


def _mean(paths: Sequence[str | os.PathLike]) -> dict:
    """The last of the checkpoints with the mean weights of all, and without the state of the optimizer.

    Source: Junczys-Dowmunt et al. 2016, as in Fernandez Astudillo et al. 2020, table 1.
    """
    mean: dict[str, torch.Tensor] = {}
    for path in paths:
        state = load_checkpoint(path)
        weights = state["model"]
        if mean and mean.keys() != weights.keys():
            raise input_error(f"the checkpoint has other parameters than {paths[0]}", path)
        for name, value in weights.items():
            share = value.double() / len(paths)
            if name in mean and mean[name].shape != share.shape:
                raise input_error(f"{name} has another shape than in {paths[0]}", path)
            mean[name] = mean[name] + share if name in mean else share
    state["model"] = {name: value.to(weights[name].dtype) for name, value in mean.items()}
    state.pop("last_optimizer_state", None)
    return state


def _from_state(state: dict, path: Path) -> tuple[ParserModel, Resources, Path]:
    """The model of a checkpoint, with its resources and the folder they are from."""
    folder = _data_folder(state, path)
    model, resources = _build(*_described(state, path), folder)
    known = (state.get("task_state") or {}).get("fingerprint")
    if known and known != resources.fingerprint:
        raise input_error(
            f"the checkpoint was trained on another state of {folder}: put the dictionaries, spm.model and "
            "parser.json that it was trained with beside it",
            path,
        )
    try:
        model.load_state_dict(state["model"])
    except RuntimeError as error:
        reason = str(error).splitlines()[-1].strip()
        raise input_error(f"the checkpoint does not fit {folder}: {reason}", path) from None
    return model.eval(), resources, folder


def _load_exported(folder: Path) -> tuple[ParserModel, Resources]:
    for name in (CONFIG, WEIGHTS):
        if not (folder / name).is_file():
            raise input_error(f"{name} is missing: is this a folder that `transition-parser export` wrote?", folder)
    try:
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        version, values = config["format_version"], config["model"]
    except (ValueError, KeyError, TypeError) as error:
        raise input_error(f"no model description: {error}", folder / CONFIG) from None
    if version != FORMAT_VERSION:
        raise input_error(f"format version {version}, not {FORMAT_VERSION}", folder / CONFIG)
    try:
        architecture = architecture_of(config.get("architecture", OLD_ARCHITECTURE))
        options = architecture.options.of_config(values)
    except InputError as error:
        raise input_error(str(error), folder / CONFIG) from None
    model, resources = _build(architecture, options, folder)
    try:
        weights = {name: value.float() for name, value in load_file(folder / WEIGHTS).items()}
        model.load_state_dict(weights | _tied(model, weights))
    except (SafetensorError, RuntimeError, KeyError) as error:
        reason = str(error).splitlines()[0]
        raise input_error(f"the weights do not fit the model: {reason}", folder / WEIGHTS) from None
    return model.eval(), resources


def _build(architecture: Architecture, options: ModelOptions, folder: Path) -> tuple[ParserModel, Resources]:
    resources = Resources.load(folder)
    return architecture.build(options, resources), resources


def _distinct(model: ParserModel) -> dict[str, torch.Tensor]:
    """The weights of a model, those that stand under several names under the first alone."""
    names = _first_names(model)
    return {name: value for name, value in model.state_dict().items() if names.get(name, name) == name}


def _tied(model: ParserModel, weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The weights of `_distinct` under their other names."""
    return {name: weights[first] for name, first in _first_names(model).items() if name != first and first in weights}


def _first_names(model: ParserModel) -> dict[str, str]:
    """For each name of a parameter the first name that it has."""
    first: dict[int, str] = {}
    return {name: first.setdefault(id(value), name) for name, value in model.named_parameters(remove_duplicate=False)}


def _described(state: dict, path: Path) -> tuple[Architecture, ModelOptions]:
    """The architecture of a checkpoint, and its options."""
    args = state["cfg"]["model"]
    if not isinstance(args, argparse.Namespace):
        raise input_error("the checkpoint is of another architecture than this plug-in's", path)
    try:
        architecture = architecture_of(getattr(args, "arch", None))
        return architecture, architecture.options.of_namespace(args, architecture.defaults)
    except InputError as error:
        raise input_error(str(error), path) from None


def _data_folder(state: dict, path: Path) -> Path:
    """The checkpoint's own folder if it holds the files, else the data folder it was trained on."""
    task = state["cfg"]["task"]
    data = Path(str(task["data"] if isinstance(task, dict) else task.data))
    for folder in (path.parent, data):
        if (folder / "parser.json").is_file():
            return folder
    raise InputError(
        f"{path}: neither {path.parent} nor the data folder {data} holds parser.json: "
        "put the files of the data folder beside the checkpoint"
    )
