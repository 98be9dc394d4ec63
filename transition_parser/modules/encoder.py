"""Encoders: they read subword pieces and return one vector per word, by a Transformer or a recurrent network."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import NamedTuple, Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.data.resources import Resources
from transition_parser.kernels import encoders, loader
from transition_parser.kernels.encoders import has_fast_bf16
from transition_parser.modules.layers import (
    Dropout,
    EncoderLayer,
    HeadMask,
    Int8Linear,
    LocalLayer,
    gather_rows,
    linear,
    linear_of,
    padded,
    sinusoids,
)
from transition_parser.modules.words import WordInputs, WordOptions, WordTensors


@dataclass(frozen=True, eq=False)
class EncoderOut:
    """The encoded words of B sentences. An encoder with further outputs returns a subclass with further fields."""

    words: Tensor  # (B, P, dim); the words of each sentence, its root after the last word, and padding
    mask: Tensor  # (B, P) bool; True at words and at the root
    lengths: Tensor  # (B,); the number of words, without the root
    features: Tensor | None = None  # (B, P, F) of `ActionTable.features`, for the machine; set by `ParserModel.encode`
    read: Tensor | None = None  # (B, P, E); the encoder's input vectors, if they are read beside `words`
    domains: Tensor | None = None  # (B,) ids of the sentences' domains, 0 for none; set by `ParserModel.encode`
    tags: Tensor | None = None  # (B, P) ids of the words' UPOS tags, once they are predicted

    @property
    def tagged(self) -> Tensor:
        """The words as `TagHeads` read them, (B, P, dim or dim + E)."""
        return self.words if self.read is None else torch.cat([self.words, self.read.to(self.words.dtype)], -1)

    def rows(self, sentences: Tensor) -> Self:
        """Return the output for N rows, without `read`, which search does not need."""
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "read"}
        return type(self)(**{k: None if v is None else v.index_select(0, sentences) for k, v in values.items()})


class ReadingSettings(NamedTuple):
    """The settings by which an encoder reads words."""

    opens: Tensor  # (V,) bool; True for the pieces that open a word, and for `</s>`
    padding: int  # the id of `<pad>`
    inputs: WordInputs | None = None  # inputs of words besides their pieces
    pieces: bool = True  # False for an encoder that does not read pieces

    @classmethod
    def from_resources(cls, resources: Resources, options: WordOptions | None = None, dim: int = 0) -> ReadingSettings:
        """Make the settings that the options ask for; without options, words are read by their pieces alone."""
        options = options or WordOptions()
        dictionary, opens = resources.source_dictionary, resources.opens_word()
        opens[dictionary.eos()] = True
        return cls(opens, dictionary.pad(), WordInputs(options, dim, resources), not options.no_pieces)


class WordReader(nn.Module):
    """A module that reads a word as the mean of its pieces' embeddings, and joins the other inputs."""

    keeps_read = False  # True: `EncoderOut` has the vectors of words as they are read, too, for the heads of tags

    def __init__(self, reading: ReadingSettings, *, dim: int, any_width: bool = False) -> None:
        super().__init__()
        opens, self.padding, inputs, pieces = reading
        self.inputs = inputs or WordInputs(dim=dim)
        joined = self.inputs.width
        self.read_width = joined if any_width else dim
        self.project = None if joined == self.read_width else linear(joined, dim)
        self.register_buffer("opens", opens, persistent=False)
        self.scale = math.sqrt(dim)
        self.embed, self.root = None, None
        if pieces:
            self.embed = nn.Embedding(len(opens), dim, self.padding)
            nn.init.normal_(self.embed.weight, std=dim**-0.5)
            nn.init.zeros_(self.embed.weight[self.padding])
        else:  # only the root gets a vector here: the other inputs are for words
            self.root = nn.Parameter(torch.randn(self.read_width))

    def read(self, src_tokens: Tensor, words: WordTensors | None) -> tuple[Tensor, Tensor]:
        """Return words and roots (B, P, read_width), and their mask (B, P), of piece ids (B, S), padded anywhere."""
        x, mask = self._pool(src_tokens)
        joined = self.inputs(x, words)
        if self.project is not None:
            joined = self.project(joined)
        if self.inputs.concatenated and self.root is not None:
            joined = joined + x  # x is the vector of the root alone
        return joined, mask

    def _pool(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Return the means of the pieces of each word (without pieces: the root), and a mask of words and roots."""
        real = tokens != self.padding
        word = (self.opens[tokens] & real).long().cumsum(1)  # number of the word, from 1; 0 before the first word
        count = word.max(1).values
        width = int(count.max())
        real = real & (word > 0)
        mask = torch.arange(width, device=tokens.device) < count[:, None]
        if self.embed is None:
            assert self.root is not None
            is_root = torch.arange(width, device=tokens.device) == count[:, None] - 1
            return is_root[..., None] * self.root, mask
        first = torch.arange(len(tokens), device=tokens.device)[:, None] * width
        sizes = (first + word - 1)[real].bincount(minlength=len(tokens) * width)
        means = F.embedding_bag(tokens[real], self.embed.weight, sizes.cumsum(0) - sizes, mode="mean")
        return (means * self.scale).unflatten(0, mask.shape), mask


class WordEncoder(WordReader):
    """An encoder whose words attend to each other, by layers of a Transformer."""

    def __init__(
        self,
        reading: ReadingSettings,
        *,
        dim: int,
        heads: int,
        inner: int,
        layers: int,
        local_layers: int = 0,
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        activation_dropout: float = 0.0,
        word_dropout: float = 0.0,
    ) -> None:
        super().__init__(reading, dim=dim)
        self.head_width = dim // heads
        self.dropout = Dropout(dropout)
        self.word_dropout = Dropout(word_dropout, whole=True)
        self.local = nn.ModuleList(LocalLayer(dim, dropout) for _ in range(local_layers))
        self.layers = nn.ModuleList(
            EncoderLayer(dim, heads, inner, dropout, attention_dropout, activation_dropout) for _ in range(layers)
        )
        self.norm = nn.LayerNorm(dim)

    def forward(self, src_tokens: Tensor, words: WordTensors | None = None) -> EncoderOut:
        x, mask = self.read(src_tokens, words)
        read = x if self.keeps_read else None
        x = self.dropout(self.word_dropout(x) + sinusoids(1, x.size(1), x.size(2), x.device).to(x.dtype))
        lengths = mask.sum(1)
        training = self.training or torch.is_grad_enabled()
        if not training and loader.supports(x, self.head_width):
            return EncoderOut(self._infer(x, mask, lengths), mask, lengths - 1, read=read)
        for layer in self.local:
            x = layer(x, mask)
        visible = HeadMask.from_visible(mask[:, None, None, :])._replace(alive=None)
        for layer in self.layers:
            x = layer(x, visible)
        return EncoderOut(self.norm(x), mask, lengths - 1, read=read)

    def _infer(self, x: Tensor, mask: Tensor, lengths: Tensor) -> Tensor:
        """Return the output of all layers and of the last norm by kernels; x may be changed in place."""
        batch, width, _ = x.shape
        for layer in self.local:
            x = layer(x, mask)
        rows = padded(x.flatten(0, 1))
        first, lengths = width * torch.arange(batch, dtype=torch.int32), lengths.int()
        for layer in self.layers:
            rows = layer.infer(rows, first, lengths, width)
        return self.norm(rows)[: batch * width].unflatten(0, (batch, width))


class LSTM(nn.LSTM):
    """PyTorch's LSTM, computed in fp32 under autocast to bf16 on a CPU without native bf16, where PyTorch has none."""

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        if input.device.type == "cpu" and torch.is_autocast_enabled("cpu") and not has_fast_bf16(input.device):
            with torch.autocast("cpu", enabled=False):
                return super().forward(input.float(), hx)
        return super().forward(input, hx)


CELLS = {"gru": nn.GRU, "lstm": LSTM}


class RecurrentEncoder(WordReader):
    """An encoder of words (of any width) and roots by a bidirectional GRU or LSTM."""

    def __init__(
        self,
        reading: ReadingSettings,
        *,
        dim: int,
        hidden: int,
        layers: int,
        cell: str = "gru",
        dropout: float = 0.0,
        word_dropout: float = 0.0,
    ) -> None:
        super().__init__(reading, dim=dim, any_width=True)
        self.word_dropout, self.dropout = Dropout(word_dropout, whole=True), Dropout(dropout)
        widths = [self.read_width, *[2 * hidden] * (layers - 1)]
        self.ahead, self.back = (
            nn.ModuleList(CELLS[cell](width, hidden, batch_first=True) for width in widths) for _ in range(2)
        )
        self._kernels: list[encoders.RecurrentLayer | None] = [None] * layers

    def use_int8(self) -> None:
        """Let one kernel with int8 weights compute each layer of LSTMs, if it can. `quantize` calls this."""
        self._use_kernels(Int8Linear)

    def use_kernels(self) -> None:
        """Let one kernel compute each layer of LSTMs, if it can. The weights must not change any more."""
        if not any(self._kernels):
            self._use_kernels(lambda linear: linear)

    def _use_kernels(self, make: Callable[[nn.Linear], nn.Module]) -> None:
        if isinstance(self.ahead[0], LSTM):
            every = map(self._linears, range(len(self.ahead)))
            self._kernels = [encoders.recurrent_layer("lstm", [*map(make, linears)]) for linears in every]

    def _linears(self, number: int) -> list[nn.Linear]:
        """Return the products of the words and of the states of a layer of LSTMs ahead, then those back."""
        pair = self.ahead[number], self.back[number]
        parts = [((x.weight_ih_l0, x.bias_ih_l0 + x.bias_hh_l0), (x.weight_hh_l0, None)) for x in pair]
        return [linear_of(*part) for two in parts for part in two]

    def forward(self, src_tokens: Tensor, words: WordTensors | None = None) -> EncoderOut:
        return self.scan(*self.read_words(src_tokens, words))

    def read_words(self, src_tokens: Tensor, words: WordTensors | None) -> tuple[Tensor, Tensor]:
        x, mask = self.read(src_tokens, words)
        return self.word_dropout(x), mask

    def scan(self, x: Tensor, mask: Tensor) -> EncoderOut:
        """Return the encoded words; the arguments are the results of `read_words`."""
        lengths = mask.sum(1)
        mirrored = (lengths[:, None] - 1 - torch.arange(x.size(1), device=x.device)).clamp_min(0)
        for number, kernel in enumerate(self._kernels):
            x = self.dropout(x)
            if kernel is not None and loader.supports(x) and not torch.is_grad_enabled():
                x = kernel(x, lengths)
            else:  # padding is after the words in both directions, so that no word sees it
                back = gather_rows(self.back[number](gather_rows(x, mirrored))[0], mirrored)
                x = torch.cat([self.ahead[number](x)[0], back], -1)
        return EncoderOut(self.dropout(x), mask, lengths - 1)
