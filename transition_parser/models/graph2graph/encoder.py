"""The options of the Graph2Graph Transformer, and what it reads: slots (words, root, …, pieces), an encoder, a graph.

B sentences, N sentences or states, L slots, P words and root. Source: Mohammadshahi and Henderson 2020, sec. 4.4
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.base.errors import InputError
from transition_parser.data.resources import Resources
from transition_parser.kernels import encoders
from transition_parser.kernels.encoders import Int8Stack
from transition_parser.modules.bert import DEPENDENT_OF, FIRST_OF, HEAD_OF, PIECE_OF, Bert, BertConfig, Visible, Windows
from transition_parser.modules.encoder import EncoderOut, ReadingSettings, WordReader
from transition_parser.modules.layers import Dropout
from transition_parser.modules.options import FARTHEST, dropout_option, layers_option, option, size_option
from transition_parser.modules.pretrained import LAYERS, LR_SCALE, WHOLE, EncoderFiles, WordPieces, store_only
from transition_parser.modules.word_inputs import CONCAT, WordInput
from transition_parser.modules.words import TaggedWordOptions, WordOptions, WordTensors
from transition_parser.text.columns import DOMAIN, Annotations

_MOST_READINGS = 20  # a larger number is taken for a typing error
# a size in the config.json of an encoder → its option
SIZES = {
    "hidden_size": "encoder_embed_dim",
    "intermediate_size": "encoder_ffn_embed_dim",
    "num_attention_heads": "encoder_attention_heads",
    "max_position_embeddings": "longest",
}


@dataclass(frozen=True)
class Graph2GraphOptions(WordOptions):
    """The options of all models; `pretrained` gives the sizes, and the first layers below `fresh_layers`."""

    pretrained_training: str = option(
        WHOLE,
        "training of the pretrained encoder; whole: all weights; layers: all but the embeddings of pieces",
        choices=(LAYERS, WHOLE),
    )
    encoder_layers: int = layers_option(6, "layers of the Transformer")
    fresh_layers: int = layers_option(
        0, "with --pretrained: layers that start at random, above the layers of the encoder", least=0
    )
    encoder_embed_dim: int = size_option(768, "width of the Transformer, without --pretrained", least=2)
    encoder_ffn_embed_dim: int = size_option(3072, "feed-forward width of the Transformer, without --pretrained")
    encoder_attention_heads: int = size_option(12, "attention heads of the Transformer, without --pretrained")
    longest: int = size_option(
        512, "positions that have embeddings of their own, without --pretrained", least=4, most=FARTHEST
    )
    relation_width: int = size_option(100, "width of the hidden layer that scores relations")
    dropout: float = dropout_option(0.1, "dropout of words and in the Transformer")
    classifier_dropout: float = dropout_option(0.05, "dropout of the hidden layers of the classifiers")

    def contradictions(self) -> str | None:
        if not self.pretrained and (problem := self.indivisible("encoder")):
            return problem
        if self.pretrained_layers != "last4":
            return "--pretrained-layers is for other models: these read the first --encoder-layers of the encoder"
        if self.fresh_layers and not self.pretrained:
            return "--fresh-layers is for --pretrained: without it all layers start at random, see --encoder-layers"
        if self.join_inputs == CONCAT and self.pretrained:
            return (
                "--join-inputs concat: the layers of --pretrained read vectors as wide as the encoder's own pieces, "
                "which other inputs are added to: leave out one of the two"
            )
        if self.no_pieces and self.pretrained:
            return "--no-pieces: with --pretrained words are read by the pieces of the encoder: leave out one of both"
        return super().contradictions()

    def completed(self) -> Self:
        options = super().completed()
        if not self.pretrained:
            return options
        config = EncoderFiles(self.pretrained).config()
        sizes = {ours: config[theirs] for theirs, ours in SIZES.items() if isinstance(config.get(theirs), int)}
        return replace(options, **sizes)


@dataclass(frozen=True)
class ActionOptions(Graph2GraphOptions):
    exist_width: int = size_option(500, "width of the hidden layer that scores kinds of actions")


@dataclass(frozen=True)
class RefiningOptions(Graph2GraphOptions, TaggedWordOptions):
    """The options of the model that finds whole trees; widths are as in Mohammadshahi and Henderson 2021."""

    arc_width: int = size_option(500, "width of the vectors that stand for a word as head and as dependent")
    refine: int = option(
        1, "how many times the model reads again, with the tree that it has predicted", least=0, most=_MOST_READINGS
    )
    tag_lr_scale: float = option(
        1.0,
        "what predicts columns, and inputs of words besides pieces, learn at this multiple of the learning rate "
        "(--optimizer adam_by_part)",
        least=0.0,
    )


@dataclass(frozen=True)
class FeedbackOptions(ActionOptions):
    """The options of models whose decoders read the sentence after each action; their encoders only embed it."""

    sampled_states: int = size_option(
        0, "random states of each derivation that an update learns from; 0: all", least=0, most=FARTHEST
    )

    def contradictions(self) -> str | None:
        if self.tag_loss:
            return "there is no encoder before the decoder to predict tags from: no --tag-loss here"
        return super().contradictions()


@dataclass(frozen=True)
class StateTransformerOptions(FeedbackOptions):
    composition: bool = option(False, "compose words with their dependents (state_transformer always does)")
    composition_width: int = size_option(768, "width of the hidden layer of composition")
    history_layers: int = layers_option(2, "layers of the LSTM over the actions so far")
    history_width: int = size_option(768, "width of the LSTM over the actions so far")
    no_composition_skip: bool = option(
        False, "the vectors of composition replace the vectors of words (appendix A of the paper)"
    )
    segment_positions: bool = option(
        False, "positions begin anew in each segment: stack, buffer, deleted list (appendix A of the paper)"
    )
    no_graph_output: bool = option(
        False, "choose actions by the vector of CLS, not by the vectors of their words (StateCLSTr, G2CLSTr)"
    )


_MOST_PIECES = 32  # the largest number of pieces of a word that are read
_FIRST_PIECES = 1 << 15  # a mean is taken of the first pieces: all of MiniLM's, the frequent ones of XLM-R


class Transformer(Bert):
    """A BERT over the sum of embeddings of words, positions (the last for all farther ones) and segments."""

    def __init__(self, config: BertConfig, graph: bool) -> None:
        super().__init__(config, graph)
        for name in ("position_embeddings", "token_type_embeddings"):
            nn.init.normal_(self.embeddings[name].weight, std=0.02)
        self.width = config.hidden_size
        self._int8: Int8Stack | None = None  # set if one kernel computes all layers

    @property
    def layers(self) -> Any:
        return self.encoder["layer"]

    def use_int8(self) -> None:
        """Let one kernel compute all layers, if it can. `layers.quantize` calls this method."""
        heads = self.config.num_attention_heads
        if encoders.supports_int8(self.width, self.config.intermediate_size, heads):
            self._int8 = Int8Stack([layer.int8() for layer in self.layers], heads)

    def forward(self, words: Tensor, position: Tensor, segment: Tensor, visible: Visible) -> Tensor:
        """Return (N, K, width), the vectors of the wanted slots, for embeddings, positions and segments (N, L, …)."""
        layout = self.layout(visible, self._int8 is not None)
        x, position, segment = (some.flatten(0, 1).index_select(0, layout.cells) for some in (words, position, segment))
        x = self.embed(x, position.clamp(0, self.config.max_position_embeddings - 1), segment)
        if self._int8 is not None and isinstance(layout.parts, Windows):
            x = encoders.int8_layers(x.float(), self._int8, *layout.parts, layout.asking).to(x.dtype)
        else:
            for layer in self.layers[:-1]:
                x = layer(x, layout.parts)
            x = self.layers[-1](x, layout.parts, layout.asking)
        return x.index_select(0, layout.found.flatten()).unflatten(0, layout.found.shape)


class PretrainedLayers:
    """The first `layers` layers of a BERT with GELU, to be given away. Raises `InputError` for another encoder."""

    def __init__(self, name: str, sha256: str, layers: int) -> None:
        files = EncoderFiles(name, sha256)
        self.network, self.tokenizer = files.load()
        config: Any = self.network.config
        if config.model_type != "bert" or config.hidden_act != "gelu":
            raise InputError(
                f"{name!r} is of the kind {config.model_type}: only layers of BERT (with GELU) can be read"
            )
        if layers > config.num_hidden_layers:
            problem = f"the pretrained encoder has only {config.num_hidden_layers}; --fresh-layers adds new ones"
            raise InputError(f"--encoder-layers {layers}: {problem}")
        self.layers, self.config, self.embeddings = layers, config, self.network.embeddings

    def give_to(self, transformer: Transformer) -> None:
        """Give positions, segments (the last one again where the encoder has too few) and the first layers."""
        source, own = self.embeddings, transformer.embeddings
        for table, given in (
            (own["position_embeddings"].weight.data, source.position_embeddings.weight),
            (own["token_type_embeddings"].weight.data, source.token_type_embeddings.weight),
        ):
            table[: len(given)] = given[: len(table)]
            table[len(given) :] = given[-1]
        own["LayerNorm"].load_state_dict(source.LayerNorm.state_dict())
        for ours, theirs in zip(transformer.layers, self.network.encoder.layer[: self.layers], strict=False):
            ours.load_state_dict(theirs.state_dict(), strict=False, assign=True)  # a copy would double memory

    def mean(self) -> Tensor:
        """Return (width,), the mean of the vectors of pieces, for slots that the encoder has no piece for."""
        ids = torch.arange(min(_FIRST_PIECES, self.network.config.vocab_size))
        # all vectors at once would have 50 MB
        sums = [self._vectors(some).sum(0, dtype=torch.float64) for some in ids.split(1 << 10)]
        return (torch.stack(sums).sum(0) / len(ids)).float()

    def special_tokens(self) -> Tensor:
        """Return (3, width), the vectors of CLS, SEP and once more SEP."""
        ids = [self.tokenizer.first, self.tokenizer.last, self.tokenizer.last]
        return self._vectors(torch.tensor(ids))

    def _vectors(self, ids: Tensor) -> Tensor:
        return self.embeddings.word_embeddings(ids).detach()


def learn_at(modules: Iterable[nn.Module], scale: float) -> None:
    """Let modules learn at `scale` times the learning rate, except for vectors of relations, which are new."""
    for module in modules:
        for name, parameter in module.named_parameters():
            if "relation_" not in name:
                setattr(parameter, LR_SCALE, scale)


class PieceInput(WordInput):
    """An input of words by their first pieces in a pretrained encoder; `further` pieces are slots of their own."""

    def __init__(self, options: Any, dim: int, resources: Resources, source: PretrainedLayers, further: bool) -> None:
        super().__init__(options, dim, resources)
        self.pieces = WordPieces(source.tokenizer, _MOST_PIECES if further else 1)
        table = source.embeddings.word_embeddings
        self.embed = table
        if isinstance(table, nn.Embedding):
            self.embed = nn.Embedding(*table.weight.shape)
            self.embed.weight.data.copy_(table.weight)
            self.embed.weight.requires_grad = options.pretrained_training == WHOLE
        if options.pretrained_training != WHOLE:
            store_only(self, "embed", ())

    def read(self, sentences: Sequence[Sequence[str]], annotations: Annotations) -> dict[str, Tensor]:
        """Return the pieces of B sentences: first pieces, further pieces with their words, and positions of all."""
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
        return self.embed(inputs["first"]).to(x.dtype) * is_word[..., None].to(x.dtype)


PIECES = "pieces"  # the name of `PieceInput` among the inputs of words
CLS, SEP, SECOND_SEP = SPECIAL_TOKENS = range(3)


@dataclass(frozen=True, eq=False, kw_only=True)
class Slots(EncoderOut):
    """The L slots of B sentences: P words and root, CLS, SEP, a second SEP, then further pieces of words."""

    slots: Tensor  # (B, L, dim); embeddings
    there: Tensor  # (B, L) bool; False at padding and at the second SEP, unless a decoder sets it
    position: Tensor  # (B, L); positions in the written sentence, where CLS has 0
    owner: Tensor  # (B, L − P − 3); the word that each further piece belongs to, −1 at padding


class SlotEncoder(WordReader):
    """An encoder that embeds words and root as `WordReader` does, and adds CLS, two SEPs and further pieces."""

    def __init__(self, reading: ReadingSettings, *, dim: int, word_dropout: float) -> None:
        super().__init__(reading, dim=dim)
        self.word_dropout = Dropout(word_dropout, whole=True)
        self.marks = nn.Parameter(torch.randn(len(SPECIAL_TOKENS), dim))

    @property
    def pieces(self) -> PieceInput | None:
        """The input that reads the pieces of a pretrained encoder, or None."""
        return dict(self.inputs.items()).get(PIECES)

    def forward(self, src_tokens: Tensor, words: WordTensors | None = None) -> Slots:
        x, mask = self.read(src_tokens, words)
        x, read = self.word_dropout(x), None
        if self.keeps_read:
            read = x
            if self.pieces is not None:  # the pretrained Transformer reads its own pieces and the corpus alone
                assert words is not None
                x = self.pieces(words[PIECES], x) + self._pool(src_tokens)[0]
                if DOMAIN in self.inputs:
                    x = x + self.inputs[DOMAIN](words[DOMAIN], x)
                x = self.word_dropout(x)
        batch, wide, _ = x.shape
        lengths = mask.sum(1) - 1
        special = self.marks.to(x.dtype).expand(batch, -1, -1)
        there = torch.tensor([True, True, False], device=x.device).expand(batch, -1)
        cls = torch.zeros(batch, 1, dtype=torch.long, device=x.device)
        if self.pieces is None:
            places = torch.arange(1, wide + 1, device=x.device).expand(batch, -1)
            position = torch.cat([places, cls, lengths[:, None] + 2, cls], 1)
            owner = cls[:, :0]
            slots, there = torch.cat([x, special], 1), torch.cat([mask, there], 1)
        else:
            assert words is not None
            of_pieces = words[PIECES]
            owner, places = of_pieces["owner"], of_pieces["position"]
            more = self.pieces.embed(of_pieces["more"]).to(x.dtype)
            sep = places.gather(1, lengths[:, None] + 1)
            position = torch.cat([places[:, :wide], cls, sep, cls, of_pieces["more_position"]], 1)
            slots, there = torch.cat([x, special, more], 1), torch.cat([mask, there, owner >= 0], 1)
        return Slots(x, mask, lengths, read=read, slots=slots, there=there, position=position, owner=owner)


class SentenceEncoder(SlotEncoder):
    """An encoder that reads words once, before the first action (eq. 9); with its slots a decoder can read again."""

    def __init__(self, reading: ReadingSettings, transformer: Transformer, *, dim: int, word_dropout: float) -> None:
        super().__init__(reading, dim=dim, word_dropout=word_dropout)
        self.transformer = transformer

    def forward(self, src_tokens: Tensor, words: WordTensors | None = None) -> Slots:
        slots = super().forward(src_tokens, words)
        return replace(slots, words=self.read_words(slots, slots.slots))

    def read_words(self, slots: Slots, x: Tensor, relations: Tensor | None = None) -> Tensor:
        """Return (B, P, dim), the Transformer's output for words and root; x are embeddings of slots, (B, L, dim)."""
        segment = torch.zeros_like(slots.position)
        wanted = torch.arange(slots.words.size(1), device=segment.device).expand(len(segment), -1)
        return self.transformer(x, slots.position, segment, Visible(slots.there, wanted, relations))


def label_embeddings(relations: int, dim: int) -> nn.Embedding:
    """Return an embedding for each relation of arcs, which is zero for relation 0 (none)."""
    labels = nn.Embedding(relations, dim, padding_idx=0)
    nn.init.normal_(labels.weight[1:], std=0.02)
    return labels


def add_graph_inputs(
    x: Tensor, slots: Slots, labels: nn.Embedding, head: Tensor, relation: Tensor
) -> tuple[Tensor, Tensor]:
    """Return x with each arc's relation, as an embedding, added to its dependent, and the result of `relations_of`."""
    wide = head.size(1)
    return torch.cat([x[:, :wide] + labels(relation).to(x.dtype), x[:, wide:]], 1), relations_of(slots, head)


def relations_of(slots: Slots, head: Tensor) -> Tensor:
    """Return (N, L, L) long, one of `bert.RELATIONS` for each pair of slots, given the heads (N, P)."""
    count, length = slots.position.shape
    wide = head.size(1)
    words = torch.arange(length, device=head.device)
    target = words[:wide] + head  # a word without a head has itself as target
    relations = torch.zeros(count, length, length, dtype=torch.long, device=head.device)
    has_head = (head != 0).long()
    relations[:, :wide].scatter_(2, target[..., None], DEPENDENT_OF * has_head[..., None])
    relations.transpose(1, 2)[:, :wide].scatter_reduce_(2, target[..., None], HEAD_OF * has_head[..., None], "amax")
    if slots.owner.size(1):
        first = slots.slots.size(1) - slots.owner.size(1)  # the first slot of a further piece
        owned = F.one_hot(slots.owner.clamp_min(0), first) * (slots.owner >= 0)[..., None]
        relations[:, first:, :first] += PIECE_OF * owned
        relations[:, :first, first:] += FIRST_OF * owned.transpose(1, 2)
    return relations
