"""BERT (Devlin et al. 2019) and MPNet (Song et al. 2020) with low-rank adapters (Hu et al. 2022), under BERT's names.

On CPUs a BERT reads sentences one after another without padding, with attention by kernels. MPNet adds a bias for the
distance of two pieces to the scores of attention, which the kernels lack: PyTorch computes it, in padded batches.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from transition_parser.kernels import encoders, loader
from transition_parser.modules.layers import Dropout, HeadMask, replace_layers, scaled_dot_product_attention

_BUCKETS, _FARTHEST = 32, 128  # kinds of distances that MPNet knows; all from the farthest on are one
_UNUSED = 2  # MPNet's first positions, which no piece has
# parts of BERT's names of weights → those of MPNet's files
_OF_MPNET = {
    "attention.self.query": "attention.attn.q", "attention.self.key": "attention.attn.k",
    "attention.self.value": "attention.attn.v", "attention.output.dense": "attention.attn.o",
    "attention.output.LayerNorm": "attention.LayerNorm",
}  # fmt: skip

Attend = Callable[[Tensor, Tensor, Tensor], Tensor]  # queries, keys, values → what is read, all (…, width)


class BertConfig(NamedTuple):
    """The options of a BERT or an MPNet, under their names in its `config.json`."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int
    type_vocab_size: int = 2
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    layer_norm_eps: float = 1e-12
    pad_token_id: int | None = 0
    hidden_act: str = "gelu"
    model_type: str = "bert"

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> BertConfig | None:
        """Return the configuration; None for another kind of encoder. Raises `ValueError` where a number is missing."""
        kind = values.get("model_type")
        if (
            kind not in ("bert", "mpnet")
            or values.get("hidden_act") != "gelu"
            or values.get("position_embedding_type", "absolute") != "absolute"
            or values.get("is_decoder")
            or (kind == "mpnet" and values.get("relative_attention_num_buckets", _BUCKETS) != _BUCKETS)
        ):
            return None
        config = {name: values[name] for name in cls._fields if name in values}
        missing = [name for name in cls._fields if name not in cls._field_defaults and name not in config]
        numbers = {name: value for name, value in config.items() if name not in ("hidden_act", "model_type")}
        wrong = [name for name, n in numbers.items() if type(n) not in (int, float) and name != "pad_token_id"]
        if missing or wrong or config["hidden_size"] % config["num_attention_heads"]:
            raise ValueError(f"config.json has no valid {(missing + wrong or ['num_attention_heads'])[0]}")
        if kind == "mpnet":
            config |= {"type_vocab_size": 0, "max_position_embeddings": config["max_position_embeddings"] - _UNUSED}
        return cls(**config)


class Bert(nn.Module):
    """The layers of a BERT or an MPNet. Its weights are random until they are loaded."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.config, width = config, config.hidden_size
        self.embeddings = nn.ModuleDict(
            {
                "word_embeddings": nn.Embedding(config.vocab_size, width, config.pad_token_id),
                "position_embeddings": nn.Embedding(config.max_position_embeddings, width),
                **({"token_type_embeddings": nn.Embedding(types, width)} if (types := config.type_vocab_size) else {}),
                "LayerNorm": nn.LayerNorm(width, config.layer_norm_eps),
                "dropout": Dropout(config.hidden_dropout_prob),
            }
        )
        layers = nn.ModuleList(BertLayer(config) for _ in range(config.num_hidden_layers))
        self.encoder = nn.ModuleDict({"layer": layers})
        self.has_distances = config.model_type == "mpnet"
        if self.has_distances:
            self.encoder["relative_attention_bias"] = nn.Embedding(_BUCKETS, config.num_attention_heads)

    def load(self, weights: Mapping[str, Tensor]) -> None:
        """Load weights by their names in a file, which may have a prefix, and gamma and beta in norms."""
        old = {"gamma": "weight", "beta": "bias"}
        given = {
            re.sub("(gamma|beta)$", lambda end: old[end[0]], re.sub(r"^(bert|mpnet)\.", "", name)): value.float()
            for name, value in weights.items()
        }
        if self.has_distances:
            positions = "embeddings.position_embeddings.weight"
            given[positions] = given[positions][_UNUSED:]
            for ours, theirs in _OF_MPNET.items():
                given = {name.replace(theirs, ours): value for name, value in given.items()}
        self.load_state_dict({name: given[name] for name in self.state_dict()})

    def get_input_embeddings(self) -> nn.Module:
        return self.embeddings["word_embeddings"]

    def forward(self, ids: Tensor, mask: Tensor) -> list[Tensor]:
        """Return the embeddings and the hidden states of each layer, (W, L, width), of W padded windows of pieces."""
        bias, config = HeadMask.from_visible(mask[:, None, None]).bias, self.config
        if self.has_distances:
            bias = bias + self._distance_bias(ids.size(1))
        dropout = config.attention_probs_dropout_prob if self.training else 0.0

        def attend(*states: Tensor) -> Tensor:
            query, keys, values = (x.unflatten(2, (config.num_attention_heads, -1)).transpose(1, 2) for x in states)
            return scaled_dot_product_attention(query, keys, values, bias, dropout).transpose(1, 2).flatten(2)

        return self._states(ids, torch.arange(ids.size(1), device=ids.device), attend)

    def _distance_bias(self, count: int) -> Tensor:
        """Return what is added to the scores of `count` pieces with each other, (heads, count, count)."""
        table = self.encoder["relative_attention_bias"]
        places, half = torch.arange(count, device=table.weight.device), _BUCKETS // 2
        distance = places - places[:, None]
        far = distance.abs()
        near = half // 2  # from here on buckets are wider and wider
        wide = (far.clamp_min(1).float() / near).log() / math.log(_FARTHEST / near) * (half - near)
        bucket = torch.where(far < near, far, (near + wide.long()).clamp_max(half - 1)) + half * (distance > 0)
        return table(bucket).permute(2, 0, 1)

    def reads_rows(self) -> bool:
        """Return True if `read_row` can be called: not in training or for MPNet; kernels have no dropout and bias."""
        if torch.is_grad_enabled() or self.training or self.has_distances:
            return False
        if torch.is_autocast_enabled("cpu") and torch.get_autocast_dtype("cpu") is not torch.bfloat16:
            return False
        like = self.embeddings["position_embeddings"].weight
        return loader.supports(like, self.config.hidden_size // self.config.num_attention_heads)

    def read_row(self, ids: Tensor, positions: Tensor, ends: Tensor, longest: int) -> list[Tensor]:
        """Return the embeddings and the hidden states of each layer, (N, width), of N pieces of windows.

        ends: (S + 1,) int32; 0 and the end of each window. Pieces after the last end are padding.
        """
        heads, first, lengths = self.config.num_attention_heads, ends[:-1], ends.diff()

        def attend(query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
            return encoders.self_attention(query, keys, values, heads, first, lengths, longest)

        return self._states(ids, positions, attend)

    def _states(self, ids: Tensor, positions: Tensor, attend: Attend) -> list[Tensor]:
        tables = self.embeddings
        places = tables["position_embeddings"](positions)
        x = tables["word_embeddings"](ids).to(places.dtype)
        if "token_type_embeddings" in tables:
            x = x + tables["token_type_embeddings"](torch.zeros_like(ids))
        x = tables["dropout"](tables["LayerNorm"](x + places))
        states = [x]
        for layer in self.encoder["layer"]:
            states.append(layer(states[-1], attend))
        return states


class BertLayer(nn.Module):
    """A layer of self-attention and feed-forward, each followed by a norm."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        width, inner = config.hidden_size, config.intermediate_size

        def added(size: int) -> nn.ModuleDict:  # what adds a result to its input
            norm = nn.LayerNorm(width, config.layer_norm_eps)
            return nn.ModuleDict({"dense": nn.Linear(size, width), "LayerNorm": norm})

        of_words = nn.ModuleDict({name: nn.Linear(width, width) for name in ("query", "key", "value")})
        self.attention = nn.ModuleDict({"self": of_words, "output": added(width)})
        self.intermediate, self.output = Intermediate(width, inner), added(inner)
        self.dropout = Dropout(config.hidden_dropout_prob)

    def forward(self, x: Tensor, attend: Attend) -> Tensor:
        of_words = self.attention["self"]
        read = attend(of_words["query"](x), of_words["key"](x), of_words["value"](x))
        x = self._added(self.attention["output"], read, x)
        return self._added(self.output, self.intermediate(x), x)

    def _added(self, parts: Any, x: Tensor, before: Tensor) -> Tensor:
        return parts["LayerNorm"](self.dropout(parts["dense"](x)) + before)


class Intermediate(nn.Module):
    """The inner part of a feed-forward; `packing` computes its product and GELU in one."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.dense, self.intermediate_act_fn = nn.Linear(width, inner), nn.GELU()

    def forward(self, x: Tensor) -> Tensor:
        return self.intermediate_act_fn(self.dense(x))


class Adapted(nn.Module):
    """A linear layer with a low-rank adapter, at first 0 (Hu et al. 2022, sec. 4.1, α = r; names as in peft)."""

    def __init__(self, layer: nn.Linear, rank: int) -> None:
        super().__init__()
        self.base_layer = layer
        self.lora_A = nn.ModuleDict({"default": nn.Linear(layer.in_features, rank, bias=False)})
        self.lora_B = nn.ModuleDict({"default": nn.Linear(rank, layer.out_features, bias=False)})
        nn.init.zeros_(self.lora_B["default"].weight)

    def forward(self, x: Tensor) -> Tensor:
        return self.base_layer(x) + self.lora_B["default"](self.lora_A["default"](x))

    def merged(self) -> nn.Linear:
        with torch.no_grad():
            self.base_layer.weight += self.lora_B["default"].weight @ self.lora_A["default"].weight
        return self.base_layer


def add_adapters(network: nn.Module, rank: int) -> None:
    replace_layers(network, nn.Linear, lambda layer: Adapted(layer, rank))


def merge_adapters(model: nn.Module) -> None:
    """Merge adapters into the weights that they adapt, so that parsing needs none."""
    replace_layers(model, Adapted, Adapted.merged)
