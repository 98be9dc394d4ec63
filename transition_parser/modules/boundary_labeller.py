"""A small network that labels the boundaries of tokens and sentences in text, character by character."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from transition_parser.text.boundaries import Boundary
from transition_parser.text.characters import CATEGORIES, EDGE, Characters, categories

_FLAGS = (Boundary.END, Boundary.SEVERAL, Boundary.SENTENCE)


class BoundaryNetwork(nn.Module):
    """Dilated convolutions over characters, without padding: a label depends on `context` characters on each side.

    characters: how many different characters the network knows
    size: the size of embeddings and layers
    layers: the number of layers; each reads twice as far as the one before it
    dropout: the probability that training hides a feature in a whole window

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
        """Return the scores of the flags END, SEVERAL and SENTENCE, (B, T − 2 `context`, 3).

        ids: (B, T), the characters
        kinds: (B, T), their categories
        """
        x = self.dropout((self.characters(ids) + self.categories(kinds)).transpose(1, 2))
        for layer in self.layers:
            (reach,) = layer.dilation
            x = x[:, :, reach:-reach] + self.dropout(torch.relu(layer(x)))
        return self.out(x.transpose(1, 2))


class NetworkLabeller:
    """A labeller of `text.learned_segmentation`.

    network: the network
    known: the characters that the network knows
    """

    def __init__(self, network: BoundaryNetwork, known: Characters) -> None:
        self.network, self.known = network.eval(), known

    @property
    def context(self) -> int:
        """The number of characters on each side that a label may depend on."""
        return self.network.context

    def __call__(self, text: str, first: int, end: int) -> bytes:
        """Return the labels of the characters `first` ≤ i < `end` of a text. Outside the text are edges."""
        low, high = max(first - self.context, 0), min(end + self.context, len(text))
        read = text[low:high]
        edges = (self.context - (first - low), self.context - (high - end))
        with torch.inference_mode():
            scores = self.network(_padded(self.known.ids(read), edges), _padded(categories(read), edges))[0]
            return labels_of(scores)


def labels_of(scores: Tensor) -> bytes:
    """Return the label of each character from the scores of the flags (T, 3). Other flags need the flag END."""
    flags = (scores > 0).to(torch.uint8)
    values = (flags * flags.new_tensor([int(flag) for flag in _FLAGS])).sum(1, dtype=torch.uint8) * flags[:, 0]
    return bytes(values.tolist())


def flags_of(labels: bytes) -> Tensor:
    """Return the flags (T, 3) of labels, as numbers 0 and 1."""
    values = torch.tensor(list(labels), dtype=torch.uint8)[:, None]
    return (values & torch.tensor([int(flag) for flag in _FLAGS], dtype=torch.uint8) > 0).float()


def _padded(numbers: list[int], edges: tuple[int, int]) -> Tensor:
    return torch.tensor([[EDGE] * edges[0] + numbers + [EDGE] * edges[1]])
