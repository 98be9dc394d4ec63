"""The Unified Structure Encoder: stack, buffer, actions, arcs and relations have attention heads of their own.

Learned vectors, the indicators, tell heads the place of each word in the structure. Layers of structure encoders are
followed by scores of kinds and labels. Source: Ji et al. 2021, secs. 3 to 5, figures 3 and 7
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.data.resources import Resources
from transition_parser.models.registry import register
from transition_parser.modules.action_scores import (
    ArcActions,
    BiaffineRelations,
    FactoredDecoder,
    FactoredScores,
    Kinds,
)
from transition_parser.modules.contract import ActionScores, ParserModel, SearchState
from transition_parser.modules.encoder import EncoderOut, ReadingSettings, RecurrentEncoder, WordEncoder, WordReader
from transition_parser.modules.layers import (
    Content,
    Dropout,
    FeedForward,
    HiddenLayer,
    attend,
    keep_weight,
    linear,
)
from transition_parser.modules.options import FARTHEST, dropout_option, layers_option, option, size_option
from transition_parser.modules.tagging import tag_heads
from transition_parser.modules.words import WordOptions
from transition_parser.states.machine import Machine
from transition_parser.states.states import FIELDS, RANKS, States
from transition_parser.states.table import ActionTable
from transition_parser.transitions import TreeSystem

TRANSFORMER, LSTM = "transformer", "lstm"
_STEPS = 256  # time steps that have markers of their own
_WIDEST_PAIR = 1 << 10  # upper limit of `relation_width`, whose square is about the number of weights of a relation


@dataclass(frozen=True)
class UseOptions(WordOptions):
    """The options, with sizes as in the paper; the bound of indicators and widths of markers and actions are ours."""

    lexical_encoder: str = option(
        TRANSFORMER,
        "encoder of words: transformer, or a bidirectional lstm, each direction half as wide (table 2 of the paper)",
        choices=(TRANSFORMER, LSTM),
    )
    encoder_layers: int = layers_option(6, "layers of the encoder of words", least=0)
    encoder_embed_dim: int = size_option(200, "width of the encoder of words", least=2)
    encoder_ffn_embed_dim: int = size_option(800, "feed-forward width of the encoder of words")
    encoder_attention_heads: int = size_option(8, "attention heads of the encoder of words")
    encoder_dropout: float = dropout_option(0.2, "dropout of the layers of the encoder of words")
    use_layers: int = layers_option(6, "layers of the encoder of structures")
    use_width: int = size_option(256, "width of the vector of a configuration (a state of the parser)")
    mlp_width: int = size_option(800, "width of hidden layers, in the encoder of structures and in the scorer of kinds")
    action_width: int = size_option(100, "width of actions")
    marker_width: int = size_option(100, "width of the markers of time steps and structures")
    indicator_bound: int = size_option(
        64, "largest position in a structure, and number of steps since, with an indicator of its own", most=FARTHEST
    )
    stack_heads: int = size_option(2, "heads that see the stack", least=0)
    buffer_heads: int = size_option(2, "heads that see the buffer", least=0)
    action_heads: int = size_option(2, "heads that see the actions so far", least=0)
    arc_heads: int = size_option(1, "heads that see the arcs of the partial tree (trees alone)", least=0)
    relation_heads: int = size_option(1, "heads that see the relations of the partial tree (trees alone)", least=0)
    relation_width: int = size_option(
        100, "width of the vectors of head and dependent that relations are scored by", most=_WIDEST_PAIR
    )
    dropout: float = dropout_option(0.33, "dropout of words, and in the encoder of structures")

    @property
    def heads(self) -> int:
        return self.stack_heads + self.buffer_heads + self.action_heads + self.arc_heads + self.relation_heads

    def contradictions(self) -> str | None:
        if self.lexical_encoder == LSTM:
            if not self.encoder_layers or self.encoder_embed_dim % 2:
                return "--lexical-encoder lstm needs --encoder-layers 1 or more, and an even --encoder-embed-dim"
        elif problem := self.indivisible("encoder"):
            return problem
        if not self.stack_heads + self.buffer_heads + self.action_heads:
            return "--stack-heads, --buffer-heads and --action-heads are all 0: give at least one of them a head"
        if self.use_width % self.heads:
            return f"the {self.heads} heads of structures do not divide --use-width {self.use_width}"
        return super().contradictions()


ACTIONS, STACK, BUFFER, ARCS, RELATIONS = STRUCTURES = ("actions", "stack", "buffer", "arcs", "relations")
# the fields of `States` that indicators of words come from: for words in the structure, for words that have left it
_FIELDS = {
    STACK: ("stack", "steps_since_stack"),
    BUFFER: ("buffer", "steps_since_buffer"),
    ARCS: ("head",),
    RELATIONS: ("relation",),
}


@dataclass(frozen=True)
class Structures:
    """The structures, in the order of their heads: actions come first, structures of trees last."""

    heads: dict[str, int]  # number of heads of each structure, 0 for one that is not seen
    bound: int  # indicators further from 0 share an embedding
    relations: int  # number of relations, 0 (none) included

    @classmethod
    def from_options(cls, options: UseOptions, relations: int, has_trees: bool) -> Structures:
        """Return the structures that the options ask for; without trees no arcs and relations."""
        of_trees = (options.arc_heads, options.relation_heads) if has_trees else (0, 0)
        counts = (options.action_heads, options.stack_heads, options.buffer_heads, *of_trees)
        return cls(dict(zip(STRUCTURES, counts, strict=True)), options.indicator_bound, relations)

    @property
    def of_head(self) -> list[str]:
        """For each attention head, the name of the structure that it attends to, in the order of `STRUCTURES`."""
        return [name for name in STRUCTURES for _ in range(self.heads[name])]

    @property
    def of_words(self) -> list[str]:
        """The names of the structures that have heads and whose items are words."""
        return [name for name in _FIELDS if self.heads[name]]

    @property
    def needs(self) -> tuple[str, ...]:
        return tuple(field for name in self.of_words for field in _FIELDS[name])

    @property
    def word_values(self) -> int:
        """The number of rows in a table of indicators of words, enough for every structure."""
        return self.bound + max(self.bound + 1, self.relations)

    def rows(self, states: States) -> Tensor:
        """Return (structures of words, …, P) long, the table row of the indicator of each of P words."""
        return torch.stack([self.row(name, indicators(name, states)) for name in self.of_words]).long()

    def row(self, name: str, indicator: Tensor) -> Tensor:
        """Return the row of each indicator in the table of a structure; those beyond ±bound share the outer rows."""
        if name == ACTIONS:
            return indicator.clamp_max(self.bound)
        return (indicator if name == RELATIONS else indicator.clamp(-self.bound, self.bound)) + self.bound


def indicators(name: str, states: States) -> Tensor:
    """Return (…, P): rank k, −s for a word that left s steps ago, offset to the head or relation, 0 for none."""
    inside, *left = (getattr(states, field) for field in _FIELDS[name])
    return inside - left[0] if left else inside


class StructureHeads(nn.Module):
    """Heads with the keys W_K (X + S_K) and values W_V (X + S_V) of items X; S_K and S_V embed their indicators."""

    structure: Tensor

    def __init__(self, items: int, structure: Tensor, values: int, width: int) -> None:
        super().__init__()
        self.register_buffer("structure", structure, persistent=False)
        self.key_value = keep_weight(nn.Linear(items, 2 * len(structure) * width, bias=False))
        for weight in self.key_value.weight.data.split(width):
            nn.init.xavier_uniform_(weight)
        # indicators start as large as the items, which are normalized, so that both count equally
        shape = (int(structure.max()) + 1, values, items)
        self.key_indicators = nn.Parameter(torch.randn(shape))
        self.value_indicators = nn.Parameter(torch.randn(shape))

    def content(self, items: Tensor) -> Content:
        """Return the content that the heads attend to, from P items of each of B sentences, (B, P, D)."""
        heads = 2 * len(self.structure)
        keys, values = self.key_value(items).unflatten(-1, (heads, -1)).permute(2, 0, 1, 3).chunk(2)
        of_key, of_value = self.key_value.weight.unflatten(0, (heads, -1)).transpose(1, 2).chunk(2)
        return Content(
            keys,
            values,
            self.key_indicators.index_select(0, self.structure) @ of_key,
            self.value_indicators.index_select(0, self.structure) @ of_value,
        )


WORDS = "words"  # a kind of items that heads read, beside `ACTIONS`


class IndicatorIndex(NamedTuple):
    """The indicators that words, or actions, have in all layers; `index` and `unseen` are as in `attend`."""

    index: Tensor
    unseen: Tensor | None


class UseLayer(nn.Module):
    """A pre-norm layer that maps the vectors c of configurations to new vectors; the first layer has no c to read.

    The query is W_Q (m_t ⊕ m_structure ⊕ c), with learned markers m; W_Q is stored in three parts.
    """

    def __init__(self, options: UseOptions, structures: Structures, words: int, actions: int, first: bool) -> None:
        super().__init__()
        self.structures, width, marker = structures, options.use_width, options.marker_width
        self.head_width = width // options.heads
        of_head = structures.of_head
        self.width, queries = width, len(of_head) * self.head_width
        self.time = nn.Embedding(_STEPS, marker)
        self.marker = nn.Parameter(torch.randn(len(STRUCTURES), marker))
        self.query_of_time = nn.Linear(marker, queries, bias=False)
        self.query_of_marker = keep_weight(nn.Linear(marker, queries, bias=False))
        for part in (self.query_of_time, self.query_of_marker):
            nn.init.xavier_uniform_(part.weight)
        self.query_of_configuration = None if first else linear(width, queries)
        self.query_norm = None if first else nn.LayerNorm(width)
        self.register_buffer("structure", torch.tensor([*map(STRUCTURES.index, of_head)]), persistent=False)
        self.heads = nn.ModuleDict()
        count = structures.heads[ACTIONS]
        if count:
            numbers = torch.zeros(count, dtype=torch.long)
            self.heads[ACTIONS] = StructureHeads(actions, numbers, structures.bound + 1, self.head_width)
        if structures.of_words:
            numbers = torch.tensor([*map(structures.of_words.index, of_head[count:])])
            self.heads[WORDS] = StructureHeads(words, numbers, structures.word_values, self.head_width)
        self.norm = nn.LayerNorm(width)
        self.feed_forward = FeedForward(width, options.mlp_width, options.dropout)
        self.dropout = Dropout(options.dropout)

    def forward(
        self,
        c: Tensor | None,
        time: Tensor,
        shape: tuple[int, int],
        contents: Mapping[str, Content],
        indices: Mapping[str, IndicatorIndex],
    ) -> Tensor:
        """Return (B, T, width), the new vectors c, from steps, contents of words and actions, and indicators."""
        query = self._places(time)[None]
        if c is not None and self.query_of_configuration is not None and self.query_norm is not None:
            query = query + self.query_of_configuration(self.query_norm(c))
        query = query.unflatten(-1, (len(self.structure), -1)).permute(2, 0, 1, 3).expand(-1, *shape, -1)
        read, done = [], 0
        for name, heads in self.heads.items():
            content, count = contents[name], len(heads.structure)
            some = query[done : done + count].reshape(count, content.keys.size(1), -1, self.head_width)
            found = attend(some, content, *indices[name])
            read.append(found.reshape(count, *shape, self.head_width))
            done += count
        found = torch.cat(read).permute(1, 2, 0, 3).flatten(2)
        found = self.dropout(F.pad(found, (0, self.width - found.size(2))))
        c = found if c is None else c + found
        return c + self.dropout(self.feed_forward(self.norm(c)))

    def _places(self, time: Tensor) -> Tensor:
        """Return (T, heads · d), the part of the queries that depends on step, (T,), and structure alone."""
        marker = self.marker.index_select(0, self.structure)
        of_head = self.query_of_marker.weight.unflatten(0, (len(self.structure), -1))
        of_time = self.query_of_time(self.time(time.clamp_max(self.time.num_embeddings - 1)))
        return of_time + (of_head @ marker[..., None]).flatten()


class PlainClassifier(nn.Module):
    """The classifier for AMRs: a linear layer over the configuration; no arc of an AMR is between two words."""

    needs: tuple[str, ...] = ()

    def __init__(self, table: ActionTable, kinds: Kinds, options: UseOptions, words: int) -> None:
        super().__init__()
        self.kinds = HiddenLayer(options.use_width, options.mlp_width, len(kinds.names), options.dropout)
        self.labels = linear(options.use_width, len(table.tokens))

    def pairs(self, words: Tensor) -> None:
        """Return None, because this classifier does not read words."""

    def forward(self, c: Tensor, states: States, pairs: None, sentence: Tensor) -> FactoredScores:
        """Return the scores in N states with configurations (N, width)."""
        return FactoredScores(self.kinds(c), self.labels(c))


class TreeClassifier(nn.Module):
    """The configuration and a biaffine form of two words score the relations of both kinds of arcs (eq. 5)."""

    needs = RANKS

    def __init__(self, table: ActionTable, kinds: Kinds, options: UseOptions, words: int) -> None:
        super().__init__()
        self.kinds = HiddenLayer(options.use_width, options.mlp_width, len(kinds.names), options.dropout)
        count = len(table.relations)
        self.relations = BiaffineRelations(words, options.relation_width, count)
        self.of_configuration = nn.Linear(options.use_width, count, bias=False)
        nn.init.xavier_uniform_(self.of_configuration.weight)
        self.arcs = ArcActions(table)

    def pairs(self, words: Tensor) -> Tensor:
        """Return what arcs are scored from, (B, P, P, relations), computed once for each sentence."""
        return self.relations.of_all_pairs(words)

    def forward(self, c: Tensor, states: States, pairs: Tensor, sentence: Tensor) -> FactoredScores:
        """Return the scores in N states of the sentences (N,), with configurations (N, width)."""
        heads, dependents = self.arcs.positions(states)
        positions = pairs.size(1)
        index = ((sentence[:, None] * positions + dependents) * positions + heads).flatten()
        scores = pairs.flatten(0, 2).index_select(0, index).unflatten(0, heads.shape)
        return FactoredScores(self.kinds(c), self.arcs.of_tokens(scores + self.of_configuration(c)[:, None]))


Contents = Mapping[str, Content]


class UseSearch(SearchState):
    """The state of a search with a Unified Structure Encoder.

    words: for each layer, the content of words; None if unread
    pairs: the result of `TreeClassifier.pairs` for all sentences of the batch; None for AMRs
    """

    def __init__(
        self,
        machine: Machine,
        encoder_out: EncoderOut,
        words: Sequence[Content | None],
        pairs: Tensor | None,
    ) -> None:
        super().__init__(machine, encoder_out)
        self.words, self.pairs = list(words), pairs
        self.padding = ~encoder_out.mask
        self.history = encoder_out.lengths.new_zeros(len(encoder_out.lengths), 0)

    def move_rows(self, rows: Tensor, origin: Tensor | None, sentences: Tensor | None) -> None:
        self.history = self.history.index_select(0, rows)
        if sentences is not None:
            self.words = [None if content is None else content.rows(sentences) for content in self.words]
            self.padding = self.padding.index_select(0, sentences)


class UseDecoder(FactoredDecoder):
    """A decoder where each structure of `Structures` has heads of its own in every layer."""

    def __init__(self, table: ActionTable, padding: int, words: int, options: UseOptions) -> None:
        super().__init__(table)
        has_trees = isinstance(table.system, TreeSystem)
        self.structures = Structures.from_options(options, len(table.relations), has_trees)
        seen = options.action_heads > 0
        self.embed = nn.Embedding(len(table.tokens), options.action_width, padding) if seen else None
        self.dropout = Dropout(options.dropout)
        self.layers = nn.ModuleList(
            UseLayer(options, self.structures, words, options.action_width, first=number == 0)
            for number in range(options.use_layers)
        )
        self.norm = nn.LayerNorm(options.use_width)
        self.shifts_are_alike = has_trees
        classifier = TreeClassifier if has_trees else PlainClassifier
        self.classifier = classifier(table, self.kinds, options, words)
        needed = {*self.structures.needs, *classifier.needs}
        self.needs = tuple(name for name in FIELDS if name in needed)

    def scores(
        self, actions: Tensor, encoder_out: EncoderOut, states: States, sampled_steps: Tensor | None = None
    ) -> Tensor:
        return self.kinds.log_probabilities(self.factored_scores(actions, encoder_out, states), self.legality(states))

    def factored_scores(self, actions: Tensor, encoder_out: EncoderOut, states: States) -> FactoredScores:
        """Return the scores of kinds and of labels, from which `scores` computes its result for the legal actions."""
        steps = actions.size(1)
        time = torch.arange(steps, device=actions.device)
        items, indices = {WORDS: encoder_out.words}, self._indicator_indices(states, ~encoder_out.mask)
        if self.embed is not None:
            items[ACTIONS] = self.dropout(self.embed(actions))
            back = (time[:, None] - time + 1).clamp_min(0)
            indices[ACTIONS] = IndicatorIndex(self.structures.row(ACTIONS, back), back == 0)
        contents = ({name: heads.content(items[name]) for name, heads in layer.heads.items()} for layer in self.layers)
        c = self._configurations(time, (len(actions), steps), contents, indices)
        sentence = torch.arange(len(actions), device=actions.device).repeat_interleave(steps)
        pairs = self.classifier.pairs(encoder_out.words)
        found = self.classifier(c.flatten(0, 1), states.flattened(), pairs, sentence)
        return FactoredScores(*(scores.unflatten(0, actions.shape) for scores in found))

    # --- search -----------------------------------------------------------------------------

    def start(self, encoder_out: EncoderOut) -> UseSearch:
        words = [
            layer.heads[WORDS].content(encoder_out.words).precise() if WORDS in layer.heads else None
            for layer in self.layers
        ]
        pairs = self.classifier.pairs(encoder_out.words)
        return UseSearch(self.machine(encoder_out, in_search=True), encoder_out, words, pairs)

    def step(self, tokens: Tensor, search: SearchState) -> ActionScores:
        assert isinstance(search, UseSearch)
        search.history = torch.cat([search.history, tokens[:, None]], 1)
        states, shape = search.machine.observe(), (len(search.padding), search.width)
        ranked = States(**{name: value.unflatten(0, shape) for name, value in states.tensors().items()})
        indices = self._indicator_indices(ranked, search.padding)
        contents = [{} if words is None else {WORDS: words} for words in search.words]
        if self.embed is not None:
            back = torch.arange(search.steps + 1, 0, -1, device=search.history.device)  # 1 for the newest action
            indices[ACTIONS] = IndicatorIndex(self.structures.row(ACTIONS, back), None)
            so_far = self.embed(search.history)
            for layer, content in zip(self.layers, contents, strict=True):
                content[ACTIONS] = layer.heads[ACTIONS].content(so_far)
        time = torch.full((1,), search.steps, device=search.history.device)
        c = self._configurations(time, shape, contents, indices).flatten(0, 1)
        return self.action_scores(self.classifier(c, states, search.pairs, search.sentence_of_row()), search)

    # --- training and search ----------------------------------------------------------------

    def _configurations(
        self,
        time: Tensor,
        shape: tuple[int, int],
        contents: Iterable[Contents],
        indices: Mapping[str, IndicatorIndex],
    ) -> Tensor:
        """Return (B, T, width), the vectors of configurations, for the steps `time`, (T,) or, for all alike, (1,)."""
        c = None
        for layer, content in zip(self.layers, contents, strict=True):
            c = layer(c, time, shape, content, indices)
        return self.norm(c)

    def _indicator_indices(self, states: States, padding: Tensor) -> dict[str, IndicatorIndex]:
        """Return the `IndicatorIndex` of words by the key `WORDS`; nothing where no head reads words."""
        if not self.structures.of_words:
            return {}
        structure = self.layers[0].heads[WORDS].structure
        return {WORDS: IndicatorIndex(self.structures.rows(states).index_select(0, structure), padding[:, None])}


SMALL = {
    "encoder_layers": 2,
    "encoder_embed_dim": 256,
    "encoder_ffn_embed_dim": 512,
    "encoder_attention_heads": 4,
    "encoder_dropout": 0.3,
    "use_layers": 2,
    "mlp_width": 512,
    "action_width": 64,
    "marker_width": 64,
    "relation_width": 64,
    "dropout": 0.3,
}


def build(options: UseOptions, resources: Resources) -> ParserModel:
    dim = options.encoder_embed_dim
    settings = ReadingSettings.from_resources(resources, options, dim)
    encoder: WordReader
    if options.lexical_encoder == LSTM:
        encoder = RecurrentEncoder(
            settings, dim=dim, hidden=dim // 2, layers=options.encoder_layers, cell="lstm",
            dropout=options.dropout, word_dropout=options.word_dropout,
        )  # fmt: skip
    else:
        encoder = WordEncoder(
            settings, dim=dim, heads=options.encoder_attention_heads, inner=options.encoder_ffn_embed_dim,
            layers=options.encoder_layers, dropout=options.encoder_dropout, word_dropout=options.word_dropout,
        )  # fmt: skip
        encoder.dropout = Dropout(options.dropout)  # dropout of the Transformer's input
    decoder = UseDecoder(resources.table, resources.target_dictionary.pad(), dim, options)
    return ParserModel(encoder, decoder, tag_heads(options, dim, resources.columns))


register("use_parser", UseOptions, build, {"use_parser": {}, "use_parser_small": SMALL})
