"""The first layers of a pretrained encoder, as layers of a `Transformer`.

Source: Mohammadshahi and Henderson 2020, sec. 4.4
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from transition_parser.base.errors import InputError
from transition_parser.models.graph2graph.layers import Layer, Sizes, Transformer
from transition_parser.modules.pretrained import LR_SCALE
from transition_parser.modules.pretrained_encoder import EncoderFiles, WordPieces
from transition_parser.modules.word_inputs import WordInput
from transition_parser.text.columns import Annotations

_MOST_PIECES = 32  # the largest number of pieces of a word that are read


class PretrainedLayers:
    """A pretrained BERT encoder, whose weights are copied.

    layers: the number of layers to copy, counted from the first layer

    Raises `InputError` for an encoder that is not on this machine, does not match `sha256`, is not a BERT with GELU, or
    has fewer layers than `layers`.
    """

    def __init__(self, name: str, sha256: str, layers: int) -> None:
        files = EncoderFiles(name)
        files.check(name, sha256)
        self.network, self.tokenizer = files.load()
        config: Any = self.network.config
        if config.model_type != "bert" or config.hidden_act != "gelu":
            raise InputError(
                f"{name!r} is of the kind {config.model_type}: only layers of BERT (with GELU) can be read"
            )
        if layers > config.num_hidden_layers:
            problem = f"the pretrained encoder has only {config.num_hidden_layers}; --fresh-layers adds new ones"
            raise InputError(f"--encoder-layers {layers}: {problem}")
        self.layers = layers
        self.sizes = Sizes(
            config.hidden_size, config.intermediate_size, config.num_attention_heads, config.layer_norm_eps
        )
        self.positions = config.max_position_embeddings

    @property
    def embeddings(self) -> Any:
        """The encoder's module of embeddings in the library `transformers`."""
        return self.network.embeddings

    def copy_to(self, transformer: Transformer) -> None:
        """Copy the weights of positions, segments and the first `layers` layers into a `Transformer`.

        A segment that the encoder lacks starts as the encoder's last segment.
        """
        source = self.embeddings
        transformer.positions.weight.data.copy_(source.position_embeddings.weight)
        segments = source.token_type_embeddings.weight.data
        for row in range(transformer.segments.num_embeddings):
            transformer.segments.weight.data[row] = segments[min(row, len(segments) - 1)]
        transformer.norm.load_state_dict(source.LayerNorm.state_dict())
        for ours, theirs in zip(transformer.layers, self.network.encoder.layer[: self.layers], strict=False):
            _copy_layer(theirs, ours)

    def mean(self) -> Tensor:
        """Return (width,), the mean of the vectors of all pieces, for slots that the encoder has no piece for."""
        return self.embeddings.word_embeddings.weight.data.mean(0)

    def special_tokens(self) -> Tensor:
        """Return (3, width), the vectors of CLS, SEP and once more SEP."""
        ids = [self.tokenizer.cls_token_id, self.tokenizer.sep_token_id, self.tokenizer.sep_token_id]
        return self.embeddings.word_embeddings.weight.data[ids]


def _copy_layer(theirs: Any, ours: Layer) -> None:
    attention = theirs.attention
    pairs = [
        (ours.query, [attention.self.query]),
        (ours.key_value, [attention.self.key, attention.self.value]),
        (ours.out, [attention.output.dense]),
        (ours.norms[0], [attention.output.LayerNorm]),
        (ours.inner, [theirs.intermediate.dense]),
        (ours.outer, [theirs.output.dense]),
        (ours.norms[1], [theirs.output.LayerNorm]),
    ]
    for to, parts in pairs:
        to.weight.data.copy_(torch.cat([part.weight for part in parts]))
        to.bias.data.copy_(torch.cat([part.bias for part in parts]))


def learn_at(modules: Iterable[nn.Module], scale: float) -> None:
    """Let modules learn at `scale` times the learning rate, except for vectors of relations, which are new."""
    for module in modules:
        for name, parameter in module.named_parameters():
            if "relation_" not in name:
                setattr(parameter, LR_SCALE, scale)


class PieceInput(WordInput):
    """An input that reads words by the pieces of a pretrained encoder. The first piece stands for the word.

    Up to `_MOST_PIECES` pieces of a word are read.

    further: True to read a word's further pieces too
    learns: True if the embeddings of pieces are trained; else the state dictionary does not hold them
    """

    def __init__(self, source: PretrainedLayers, further: bool, learns: bool) -> None:
        super().__init__()
        self.pieces = WordPieces(source.tokenizer, _MOST_PIECES if further else 1)
        weight = source.embeddings.word_embeddings.weight.data
        self.embed = nn.Embedding(*weight.shape)
        self.embed.weight.data.copy_(weight)
        self.embed.weight.requires_grad = learns
        if not learns:
            self.register_state_dict_post_hook(_leave_out)
            self.register_load_state_dict_pre_hook(_fill_in)

    def read(self, sentences: Sequence[Sequence[str]], annotations: Annotations) -> dict[str, Tensor]:
        """Return tensors of the pieces of B sentences, by name; no sentence has more than M further pieces.

        lengths: (B,); number of words
        first: (B, P); ids of the first pieces of words; P is the number of words and root of the longest sentence
        position: (B, P + 1); positions of first pieces, where CLS has 0, the root follows the words and SEP follows the
            root
        more: (B, M); ids of further pieces, 0 at padding
        owner: (B, M); the word that each further piece belongs to, −1 at padding
        more_position: (B, M); positions of further pieces
        """
        pieces = self.pieces.of({word for words in sentences for word in words})
        wide = max((len(words) for words in sentences), default=0) + 1
        first, position = [[0] * wide for _ in sentences], [[0] * (wide + 1) for _ in sentences]
        more: list[list[tuple[int, int, int]]] = [[] for _ in sentences]
        for row, words in enumerate(sentences):
            place = 1
            for i, word in enumerate(words):
                ids = pieces[word]
                first[row][i], position[row][i] = ids[0], place
                more[row] += [(piece, i, place + k) for k, piece in enumerate(ids[1:], 1)]
                place += len(ids)
            position[row][len(words) :] = range(place, place + wide + 1 - len(words))
        most = max(map(len, more), default=0)
        filled = torch.tensor([[*row, *[(0, -1, 0)] * (most - len(row))] for row in more], dtype=torch.long)
        filled = filled.view(len(more), most, 3)
        return {
            "lengths": torch.tensor([len(words) for words in sentences], dtype=torch.long),
            "first": torch.tensor(first, dtype=torch.long).view(len(sentences), wide),
            "position": torch.tensor(position, dtype=torch.long).view(len(sentences), wide + 1),
            "more": filled[..., 0].contiguous(),
            "owner": filled[..., 1].contiguous(),
            "more_position": filled[..., 2].contiguous(),
        }

    def forward(self, inputs: Mapping[str, Tensor], x: Tensor) -> Tensor:
        """Return (B, P, width), the vectors to add to words; 0 for roots."""
        is_word = torch.arange(x.size(1), device=x.device) < inputs["lengths"][:, None]
        return self.embed(inputs["first"]) * is_word[..., None].to(self.embed.weight.dtype)


def _leave_out(_module: PieceInput, values: dict, prefix: str, _metadata: Any) -> None:
    """Delete the embeddings of pieces from a state dictionary."""
    del values[f"{prefix}embed.weight"]


def _fill_in(module: PieceInput, values: dict, prefix: str, *_: Any) -> None:
    """Add the embeddings that `_leave_out` deleted to a state dictionary that is loaded."""
    values[f"{prefix}embed.weight"] = module.embed.weight.detach()
