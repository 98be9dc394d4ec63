"""The Unified Structure Encoder: stack, buffer, actions, arcs and relations have attention heads of their own.

Learned vectors, the indicators, tell heads the place of each word in the structure. Layers of structure encoders are
followed by scores of kinds and labels. Source: Ji et al. 2021, secs. 4 and 5
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor, nn

from transition_parser.data.resources import Resources
from transition_parser.models.registry import register
from transition_parser.models.use_parser.layer import (
    ACTIONS,
    LSTM,
    WORDS,
    IndicatorIndex,
    Structures,
    UseLayer,
    UseOptions,
)
from transition_parser.modules.action_scores import (
    ArcActions,
    BiaffineRelations,
    FactoredDecoder,
    FactoredScores,
    Kinds,
)
from transition_parser.modules.contract import ActionScores, ParserModel, SearchState
from transition_parser.modules.encoder import EncoderOut, ReadingSettings, RecurrentEncoder, WordEncoder, WordReader
from transition_parser.modules.layers import Content, Dropout, HiddenLayer, linear
from transition_parser.modules.tagging import tag_heads
from transition_parser.states.machine import Machine
from transition_parser.states.states import FIELDS, RANKS, States
from transition_parser.states.table import ActionTable
from transition_parser.transitions import TreeSystem


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
            layer.heads[WORDS].content(encoder_out.words).kept() if WORDS in layer.heads else None
            for layer in self.layers
        ]
        pairs = self.classifier.pairs(encoder_out.words)
        return UseSearch(self.machine(encoder_out, in_search=True), encoder_out, words, pairs)

    def step(self, tokens: Tensor, search: SearchState) -> ActionScores:
        assert isinstance(search, UseSearch)
        search.history = torch.cat([search.history, tokens[:, None]], 1)
        states = search.machine.observe()
        c = self._next(search, states)
        return self.action_scores(self.classifier(c, states, search.pairs, search.sentence_of_row()), search)

    def _next(self, search: UseSearch, states: States) -> Tensor:
        shape = len(search.padding), search.width
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
        return self._configurations(time, shape, contents, indices).flatten(0, 1)

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
