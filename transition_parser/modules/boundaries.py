"""The network of learned segmenters: the boundaries of tokens and sentences among the characters of a text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, layer_norm

from transition_parser.modules.four_bits import FourBitTable, PieceTokenizer
from transition_parser.modules.pretrained import EncoderFiles
from transition_parser.text.characters import CATEGORIES, EDGE, Characters, categories
from transition_parser.text.learned_segmentation import Boundary

_FLAGS = (Boundary.END, Boundary.SEVERAL, Boundary.SENTENCE)


class EncoderPieces(NamedTuple):
    """The pieces of a pretrained encoder in four bits, with their vectors."""

    name: str
    sha256: str
    tokenizer: PieceTokenizer
    table: FourBitTable

    @classmethod
    def of(cls, name: str | None, sha256: str = "") -> Self | None:
        """Return the pieces, None without a name and for encoders of other kinds. Raises as `EncoderFiles`."""
        if not name or (files := EncoderFiles(name, sha256)).packed is None:
            return None
        return cls(name, files.sha256, files.packed.tokenizer(), files.packed.pieces())


class BoundaryNetwork(nn.Module):
    """Dilated convolutions over characters (Strubell et al. 2017), which see `context` characters on each side."""

    def __init__(
        self,
        characters: int,
        size: int,
        layers: int,
        dropout: float = 0.0,
        table: FourBitTable | None = None,
        domains: int = 0,
    ) -> None:
        super().__init__()
        self.domains = nn.Embedding(domains, size) if domains else None
        # what each domain multiplies the results of a layer by, less 1
        self.scales = nn.ModuleList(nn.Embedding(domains, size) for _ in range(layers if domains else 0))
        for scale in self.scales:
            nn.init.zeros_(scale.weight)
        self.table = table  # the vectors of pieces, which are not trained; a character reads that of its piece
        if table is not None:
            self.pieces, self.edges = nn.Linear(table.width, size, bias=False), nn.Embedding(4, size)
        self.characters = nn.Embedding(characters, size)
        self.categories = nn.Embedding(CATEGORIES, size)
        self.layers = nn.ModuleList(nn.Conv1d(size, size, 3, dilation=1 << layer) for layer in range(layers))
        self.dropout = nn.Dropout1d(dropout)
        self.out = nn.Linear(size, len(_FLAGS))
        self.context = (1 << layers) - 1

    def forward(self, ids: Tensor, kinds: Tensor, codes: Tensor, domains: Tensor | None = None) -> Tensor:
        """Return the scores of the flags END, SEVERAL and SENTENCE, (B, T − 2 `context`, 3), from tensors (B, T).

        domains: the number of each character's domain, or −1; None: no particular domain, the mean of all
        """
        x = self.characters(ids) + self.categories(kinds)
        if self.domains is not None:
            x = x + _of_domains(self.domains, domains)
        if self.table is not None:
            pieces, places = torch.unique_consecutive(codes >> 2, return_inverse=True)
            vectors = self.pieces(layer_norm(self.table(pieces), (self.table.width,))) * (pieces > 0)[:, None]
            x = x + vectors[places] + self.edges(codes & 3)
        x = self.dropout(x.transpose(1, 2))
        for layer, scale in zip_longest(self.layers, self.scales):
            (reach,) = layer.dilation
            read = layer(x)
            if scale is not None:
                domains = domains if domains is None else domains[:, reach:-reach]
                read = read * (1 + _of_domains(scale, domains)).transpose(1, 2)
            x = x[:, :, reach:-reach] + self.dropout(torch.relu(read))
        return self.out(x.transpose(1, 2))


def _of_domains(table: nn.Embedding, domains: Tensor | None) -> Tensor:
    """Return the vectors of domains (B, T) as (B, T, size), or the mean of all, (1, 1, size), for None, as for −1."""
    mean = table.weight.mean(0, keepdim=True)
    return mean[None] if domains is None else embedding(domains + 1, torch.cat([mean, table.weight]))


class NetworkLabeler:
    """A `Labeler` of `text.learned_segmentation` that labels characters by a `BoundaryNetwork`."""

    def __init__(
        self,
        network: BoundaryNetwork,
        known: Characters,
        pieces: EncoderPieces | None = None,
        domains: Sequence[str] = (),
        domain: str | None = None,
    ) -> None:
        self.network, self.known, self.pieces = network.eval(), known, pieces
        self.domains, self.domain = domains, domain

    def of_domain(self, domain: str | None) -> Self:
        return type(self)(self.network, self.known, self.pieces, self.domains, domain)

    @property
    def context(self) -> int:
        """The number of characters on each side that a label may depend on; pieces depend on characters around them."""
        return self.network.context * (1 if self.pieces is None else 2)

    def inputs(self, text: str) -> tuple[list[int], ...]:
        """Return the numbers of the characters, of their categories and of their pieces (0 without pieces)."""
        codes = [0] * len(text) if self.pieces is None else self.pieces.tokenizer.codes(text)
        return self.known.ids(text), categories(text), codes

    def __call__(self, text: str, first: int, end: int) -> bytes:
        """Return the labels of the characters `first` ≤ i < `end`. Beyond the text, the network reads `EDGE`."""
        reach, start = self.network.context, max(first - self.context, 0)
        low, high = max(first - reach, 0), min(end + reach, len(text))
        left, right = [EDGE] * (reach - (first - low)), [EDGE] * (reach - (high - end))
        numbers = self.inputs(text[start : end + self.context])
        padded = [torch.tensor([[*left, *one[low - start : high - start], *right]]) for one in numbers]
        domains = None
        if self.domain is not None:
            domains = torch.full_like(padded[0], self.domains.index(self.domain))
        with torch.inference_mode():
            return labels_of(self.network(*padded, domains)[0])


def labels_of(scores: Tensor) -> bytes:
    """Return the label of each of T characters from its flag scores, (T, 3). Without the flag END a label is 0."""
    flags = (scores > 0).to(torch.uint8)
    values = (flags * flags.new_tensor([int(flag) for flag in _FLAGS])).sum(1, dtype=torch.uint8) * flags[:, 0]
    return bytes(values.tolist())


def flags_of(labels: bytes) -> Tensor:
    """Return the three flags of each of T labels, (T, 3) float, 1 where the flag is set."""
    values = torch.tensor(list(labels), dtype=torch.uint8)[:, None]
    return (values & torch.tensor([int(flag) for flag in _FLAGS], dtype=torch.uint8) > 0).float()
