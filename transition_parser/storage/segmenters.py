"""Learned segmenters: the network, and its files `segmenter.json` and `segmenter.safetensors` in a folder."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self, cast

import torch
from safetensors.torch import save
from torch import Tensor, nn
from torch.nn.functional import embedding, layer_norm

from transition_parser.base.errors import input_error
from transition_parser.base.files import new_files
from transition_parser.base.model_files import (
    TEXT,
    TEXTS,
    TRUTH,
    Key,
    check_keys,
    is_whole,
    read_versioned,
    short_repr,
    write_json,
)
from transition_parser.data.resources import SEGMENTER_FILES
from transition_parser.modules.four_bits import FourBitTable, PieceTokenizer
from transition_parser.modules.pretrained import EncoderFiles
from transition_parser.storage.exports import CONFIG, Exported, read_config, write_config
from transition_parser.storage.weights import stored_weights, with_weights
from transition_parser.text.characters import CATEGORIES, EDGE, Characters, categories
from transition_parser.text.learned_segmentation import (
    Boundary,
    Habits,
    LearnedSegmenter,
    MultiWords,
    SegmenterOfDomains,
)

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
        files = EncoderFiles(name, sha256) if name else None
        if files is None or files.packed is None:
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
            weight = self.domains.weight
            mean = weight.mean(0, keepdim=True)
            x = x + (mean if domains is None else embedding(domains + 1, torch.cat([mean, weight])))
        if self.table is not None:
            pieces, places = torch.unique_consecutive(codes >> 2, return_inverse=True)
            vectors = self.pieces(layer_norm(self.table(pieces), (self.table.width,))) * (pieces > 0)[:, None]
            x = x + vectors[places] + self.edges(codes & 3)
        x = self.dropout(x.transpose(1, 2))
        for layer in self.layers:
            (reach,) = layer.dilation
            x = x[:, :, reach:-reach] + self.dropout(torch.relu(layer(x)))
        return self.out(x.transpose(1, 2))


class NetworkLabeller:
    """A `Labeller` of `text.learned_segmentation` that labels characters by a `BoundaryNetwork`."""

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


DESCRIPTION, WEIGHTS = SEGMENTER_FILES
FORMAT_VERSION = 1
_MAKE = "make it with `transition-parser segmenter`"
_MOST_LAYERS = 12  # the context doubles with each layer
_WORDS = Key(
    "an object of lists of words",
    lambda value: (
        isinstance(value, dict) and all(isinstance(w, list) and {*map(type, w)} <= {str} for w in value.values())
    ),
)
_KEYS_OF_HABITS = {"holds_blanks": TRUTH, "forms": _WORDS, "suffixes": _WORDS, "prefixes": _WORDS}
_OBJECTS = Key(
    "an object of objects, one or more",
    lambda value: isinstance(value, dict) and bool(value) and {*map(type, value.values())} == {dict},
)
_KEYS = {
    "characters": TEXTS,
    "size": Key("a whole number, 1 or more", lambda value: is_whole(value) and value >= 1),
    "layers": Key(
        f"a whole number from 1 to {_MOST_LAYERS}", lambda value: is_whole(value) and 1 <= value <= _MOST_LAYERS
    ),
    "domains": _OBJECTS._replace(required=False),
    **{name: key._replace(required=False) for name, key in _KEYS_OF_HABITS.items()},
    **dict.fromkeys(("pretrained", "pretrained_sha256"), TEXT._replace(required=False)),
}


def described(folder: Path) -> Exported | None:
    """Return the description of an exported model; None for another folder. Raises `InputError` for a file."""
    if folder.exists() and not folder.is_dir():
        raise input_error("is a file, not a folder to write into", folder)
    return read_config(folder) if (folder / CONFIG).is_file() else None


def save_segmenter(segmenter: LearnedSegmenter | SegmenterOfDomains, folder: str | os.PathLike) -> None:
    """Write a segmenter into a folder, which is created if it is missing."""
    model = described(Path(folder))
    labeller = cast(NetworkLabeller, segmenter.labeller)
    weights = {name: value.half().contiguous() for name, value in labeller.network.state_dict().items()}
    description = {
        "format_version": FORMAT_VERSION,
        "characters": list(labeller.known.known),
        "size": labeller.network.out.in_features,
        "layers": len(labeller.network.layers),
    }
    if isinstance(segmenter, SegmenterOfDomains):
        description["domains"] = {name: _described_habits(segmenter.habits[name]) for name in labeller.domains}
    else:
        description |= _described_habits(Habits(segmenter.multiwords, segmenter.holds_blanks))
    if labeller.pieces is not None:
        description |= {"pretrained": labeller.pieces.name, "pretrained_sha256": labeller.pieces.sha256}
    with new_files(folder) as temporary:
        write_json(temporary / DESCRIPTION, description, indent=0, ensure_ascii=False)
        (temporary / WEIGHTS).write_bytes(save(weights))
        if model is not None:
            write_config(temporary, *model, beside=folder)


def _described_habits(habits: Habits) -> dict[str, Any]:
    return {"holds_blanks": habits.holds_blanks, **habits.multiwords._asdict()}


def _habits_of(values: Mapping[str, Any]) -> Habits:
    tables = ({key: tuple(words) for key, words in values[name].items()} for name in MultiWords._fields)
    return Habits(MultiWords(*tables), values["holds_blanks"])


def load_segmenter(folder: str | os.PathLike) -> LearnedSegmenter | SegmenterOfDomains | None:
    """Return the segmenter of a folder, None if it has none. Raises `InputError` for a damaged segmenter."""
    path, weights = Path(folder, DESCRIPTION), Path(folder, WEIGHTS)
    if not os.path.lexists(path) and not os.path.lexists(weights):
        return None
    values = read_versioned(path, _MAKE, FORMAT_VERSION, _KEYS)
    domains = values.get("domains")
    for of_domain in (values,) if domains is None else domains.values():
        check_keys({name: of_domain[name] for name in _KEYS_OF_HABITS if name in of_domain}, _KEYS_OF_HABITS, path)
    for character in values["characters"]:
        if len(character) != 1:
            raise input_error(f"'characters' holds {short_repr(character)}, which is not one character", path)
    if not weights.is_file():
        raise input_error(f"not found, or not a regular file: {_MAKE}", weights)
    known = Characters(values["characters"])
    pieces = EncoderPieces.of(values.get("pretrained"), values.get("pretrained_sha256", ""))
    count = 0 if domains is None else len(domains)
    table = pieces and pieces.table
    make = partial(BoundaryNetwork, len(known), values["size"], values["layers"], table=table, domains=count)
    network = with_weights(make, stored_weights(weights), weights, path)
    labeller = NetworkLabeller(network, known, pieces, (*(domains or ()),))
    if domains is not None:
        return SegmenterOfDomains(labeller, {name: _habits_of(one) for name, one in domains.items()})
    return LearnedSegmenter(labeller, *_habits_of(values))
