"""A small network that labels the boundaries of tokens and sentences in text, character by character."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from transition_parser.text.characters import CATEGORIES, EDGE, Characters, categories
from transition_parser.text.learned_segmentation import Boundary

_FLAGS = (Boundary.END, Boundary.SEVERAL, Boundary.SENTENCE)


class BoundaryNetwork(nn.Module):
    """Dilated convolutions over characters, without padding: a label depends on `context` characters on each side.

    Source: iterated dilated convolutions, Strubell et al. 2017, without their iteration.
    """

    def __init__(self, characters: int, size: int, layers: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.characters = nn.Embedding(characters, size)
        self.categories = nn.Embedding(CATEGORIES, size)
        self.layers = nn.ModuleList(nn.Conv1d(size, size, 3, dilation=1 << layer) for layer in range(layers))
        self.dropout = nn.Dropout1d(dropout)
        self.out = nn.Linear(size, len(_FLAGS))
        self.context = (1 << layers) - 1

    def forward(self, ids: Tensor, kinds: Tensor) -> Tensor:
        """Return the scores of the flags END, SEVERAL and SENTENCE of `Boundary`, (B, T − 2 `context`, 3)."""
        x = self.dropout((self.characters(ids) + self.categories(kinds)).transpose(1, 2))
        for layer in self.layers:
            (reach,) = layer.dilation
            x = x[:, :, reach:-reach] + self.dropout(torch.relu(layer(x)))
        return self.out(x.transpose(1, 2))


class NetworkLabeller:
    """A `Labeller` of `text.learned_segmentation` that labels characters by a `BoundaryNetwork`."""

    def __init__(self, network: BoundaryNetwork, known: Characters) -> None:
        self.network, self.known = network.eval(), known

    @property
    def context(self) -> int:
        """The number of characters on each side that a label may depend on."""
        return self.network.context

    def __call__(self, text: str, first: int, end: int) -> bytes:
        """Return the labels of the characters `first` ≤ i < `end`. Beyond the text, the network reads `EDGE`."""
        low, high = max(first - self.context, 0), min(end + self.context, len(text))
        read = text[low:high]
        edges = (self.context - (first - low), self.context - (high - end))
        with torch.inference_mode():
            scores = self.network(_padded(self.known.ids(read), edges), _padded(categories(read), edges))[0]
            return labels_of(scores)


def labels_of(scores: Tensor) -> bytes:
    """Return the label of each of T characters from its flag scores, (T, 3). Without the flag END a label is 0."""
    flags = (scores > 0).to(torch.uint8)
    values = (flags * flags.new_tensor([int(flag) for flag in _FLAGS])).sum(1, dtype=torch.uint8) * flags[:, 0]
    return bytes(values.tolist())


def flags_of(labels: bytes) -> Tensor:
    """Return the three flags of each of T labels, (T, 3) float, 1 where the flag is set."""
    values = torch.tensor(list(labels), dtype=torch.uint8)[:, None]
    return (values & torch.tensor([int(flag) for flag in _FLAGS], dtype=torch.uint8) > 0).float()


def _padded(numbers: list[int], edges: tuple[int, int]) -> Tensor:
    return torch.tensor([[EDGE] * edges[0] + numbers + [EDGE] * edges[1]])
