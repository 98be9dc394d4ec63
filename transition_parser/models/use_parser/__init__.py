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
    ARC_KINDS,
    ArcActions,
    BiaffineRelations,
    FactoredScores,
    HeadsAndDependents,
    Kinds,
)
from transition_parser.modules.contract import ActionScores, ParserModel, SearchState, StateDecoder
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

    def ends(self, words: Tensor) -> None:
        """Return None, because this classifier does not read words."""

    def forward(self, c: Tensor, states: States, ends: None = None) -> FactoredScores:
        """Return the scores of a batch of derivations with configurations (B, T, width)."""
        return FactoredScores(self.kinds(c), self.labels(c))

    def step(
        self, c: Tensor, states: States, ends: HeadsAndDependents | None, sentence: Tensor, first: Tensor | None = None
    ) -> Tensor:
        """Return (R, V), the scores of the labels of V actions in R rows of search."""
        return self.labels(c)


class TreeClassifier(nn.Module):
    """The configuration and a biaffine form of two words score the relations of both kinds of arcs (eq. 5)."""

    needs = RANKS
    arc_of_kind: Tensor  # (K,); the index of each kind in `ARC_KINDS`, −1 for other kinds

    def __init__(self, table: ActionTable, kinds: Kinds, options: UseOptions, words: int) -> None:
        super().__init__()
        self.kinds = HiddenLayer(options.use_width, options.mlp_width, len(kinds.names), options.dropout)
        self.count = len(table.relations)
        self.relations = BiaffineRelations(words, options.relation_width, self.count)
        self.of_configuration = nn.Linear(options.use_width, self.count, bias=False)
        nn.init.xavier_uniform_(self.of_configuration.weight)
        self.arcs = ArcActions(table)
        arcs = {kind.value: number for number, kind in enumerate(ARC_KINDS)}
        self.register_buffer(
            "arc_of_kind", torch.tensor([arcs.get(name, -1) for name in kinds.names]), persistent=False
        )

    def ends(self, words: Tensor) -> HeadsAndDependents:
        """Return the tensors from which arcs are scored, computed once for each sentence."""
        return self.relations.ends(words)

    def forward(self, c: Tensor, states: States, ends: HeadsAndDependents) -> FactoredScores:
        batch, steps, _ = c.shape
        pairs = self.relations.of_all_pairs(ends)
        positions = pairs.size(1)
        heads, dependents = self.arcs.positions(states.flattened())
        sentence = torch.arange(batch, device=c.device).repeat_interleave(steps)[:, None]
        index = ((sentence * positions + dependents) * positions + heads).flatten()
        scores = pairs.flatten(0, 2).index_select(0, index).unflatten(0, (batch, steps, len(ARC_KINDS)))
        return FactoredScores(self.kinds(c), self.arcs.of_tokens(scores + self.of_configuration(c)[..., None, :]))

    def step(
        self, c: Tensor, states: States, ends: HeadsAndDependents | None, sentence: Tensor, first: Tensor | None = None
    ) -> Tensor:
        assert ends is not None
        heads, dependents = self.arcs.positions(states)
        if first is None:
            scores = self._of_pairs(ends, sentence[:, None], heads, dependents) + self.of_configuration(c)[:, None]
            return self.arcs.of_tokens(scores)
        arc = self.arc_of_kind[first]
        rows = slice(None)
        if c.device.type == "cpu":  # elsewhere counting the arcs would make the host wait
            rows = (arc >= 0).nonzero()[:, 0]
        arc, sentence = arc[rows, None].clamp_min(0), sentence[rows, None]
        found = self._of_pairs(ends, sentence, heads[rows].gather(1, arc), dependents[rows].gather(1, arc))
        scores = self.of_configuration(c).float()
        scores[rows] += found[:, 0]
        return self.arcs.of_tokens(scores[:, None].expand(-1, len(ARC_KINDS), -1))

    def _of_pairs(self, ends: HeadsAndDependents, sentence: Tensor, heads: Tensor, dependents: Tensor) -> Tensor:
        """Return (N, M, relations), the scores of M pairs of words, at (N, M), in the sentence (N, 1) of each state."""
        first = sentence * ends.heads.size(1)
        chosen = (
            words.flatten(0, 1).index_select(0, (first + some).flatten())
            for words, some in zip(ends, (heads, dependents), strict=True)
        )
        return self.relations(*chosen).unflatten(0, heads.shape)


Contents = Mapping[str, Content]


class UseSearch(SearchState):
    """The state of a search with a Unified Structure Encoder.

    places: for each layer, the parts of queries that depend on the step alone (`UseLayer.places`)
    words, vocabulary: for each layer, the content of words, and of all actions as one sentence; None if unread
    ends: the result of `TreeClassifier.ends` for all sentences of the batch; None for AMRs
    """

    def __init__(
        self,
        machine: Machine,
        encoder_out: EncoderOut,
        places: Sequence[Tensor],
        words: Sequence[Content | None],
        vocabulary: Sequence[Content | None],
        ends: HeadsAndDependents | None,
    ) -> None:
        super().__init__(machine, encoder_out)
        self.places, self.words, self.vocabulary, self.ends = places, list(words), vocabulary, ends
        self.padding = ~encoder_out.mask
        self.history = encoder_out.lengths.new_zeros(len(encoder_out.lengths), 0)

    def move_rows(self, rows: Tensor, origin: Tensor | None, sentences: Tensor | None) -> None:
        self.history = self.history.index_select(0, rows)
        if sentences is not None:
            self.words = [None if content is None else content.rows(sentences) for content in self.words]
            self.padding = self.padding.index_select(0, sentences)


class UseDecoder(StateDecoder):
    """A decoder where each structure of `Structures` has heads of its own in every layer."""

    def __init__(self, table: ActionTable, padding: int, words: int, options: UseOptions) -> None:
        super().__init__(table)
        has_trees = isinstance(table.system, TreeSystem)
        self.structures = Structures.from_options(options, len(table.relations), has_trees)
        seen = options.action_heads > 0
        self.embed = nn.Embedding(len(table.tokens), options.action_width, padding) if seen else None
        self.action_dropout, self.dropout = Dropout(options.action_dropout, whole=True), Dropout(options.dropout)
        self.layers = nn.ModuleList(
            UseLayer(options, self.structures, words, options.action_width, first=number == 0)
            for number in range(options.use_layers)
        )
        self.norm = nn.LayerNorm(options.use_width)
        self.kinds = Kinds(table)
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
        items, indices = {WORDS: encoder_out.words}, self._indicator_indices(states, ~encoder_out.mask, steps)
        if self.embed is not None:
            items[ACTIONS] = self.dropout(self.action_dropout(self.embed(actions)))
            back = (time[:, None] - time + 1).clamp_min(0)
            indices[ACTIONS] = IndicatorIndex(
                self.structures.row(ACTIONS, back), back == 0, self.structures.action_rows(steps)
            )
        contents = ({name: heads.content(items[name]) for name, heads in layer.heads.items()} for layer in self.layers)
        places = (layer.places(time) for layer in self.layers)
        c = self._configurations(places, (len(actions), steps), contents, indices)
        return self.classifier(c, states, self.classifier.ends(encoder_out.words))

    # --- search -----------------------------------------------------------------------------

    def start(self, encoder_out: EncoderOut) -> UseSearch:
        vocabulary = None if self.embed is None else self.embed.weight[None]
        words, actions = (
            [layer.heads[name].content(items).kept() if name in layer.heads else None for layer in self.layers]
            for name, items in ((WORDS, encoder_out.words), (ACTIONS, vocabulary))
        )
        ends = self.classifier.ends(encoder_out.words)
        places = [
            layer.places(torch.arange(layer.time.num_embeddings, device=encoder_out.words.device))
            for layer in self.layers
        ]
        return UseSearch(self.machine(encoder_out, in_search=True), encoder_out, places, words, actions, ends)

    def step(self, tokens: Tensor, search: SearchState, alive: Tensor | None = None) -> ActionScores:
        assert isinstance(search, UseSearch)
        search.history = torch.cat([search.history, tokens[:, None]], 1)
        states = search.machine.observe()
        legal = search.machine.legality()
        c = self._next(search, states)
        kinds, first = self.classifier.kinds(c), None
        if search.greedy:
            first = self.kinds.first(kinds, legal)
        labels = self.classifier.step(c, states, search.ends, search.sentence_of_row(), first)
        scores = self.kinds.log_probabilities(FactoredScores(kinds, labels), legal)
        if first is not None:
            legal = self.kinds.only_of(first, legal)
        return ActionScores(scores, None, legal)

    def _next(self, search: UseSearch, states: States) -> Tensor:
        shape = len(search.padding), search.width
        ranked = States(**{name: value.unflatten(0, shape) for name, value in states.tensors().items()})
        steps = search.steps + 1
        indices = self._indicator_indices(ranked, search.padding, steps)
        back = torch.arange(steps, 0, -1, device=search.history.device)  # 1 for the newest action
        indices[ACTIONS] = IndicatorIndex(self.structures.row(ACTIONS, back), None, self.structures.action_rows(steps))
        so_far = (None if content is None else content._replace(item=search.history) for content in search.vocabulary)
        contents = (
            {name: content for name, content in ((WORDS, words), (ACTIONS, actions)) if content is not None}
            for words, actions in zip(search.words, so_far, strict=True)
        )
        places = (some[min(search.steps, len(some) - 1), None] for some in search.places)
        return self._configurations(places, shape, contents, indices).flatten(0, 1)

    # --- training and search ----------------------------------------------------------------

    def _configurations(
        self,
        places: Iterable[Tensor],
        shape: tuple[int, int],
        contents: Iterable[Contents],
        indices: Mapping[str, IndicatorIndex],
    ) -> Tensor:
        """Return (B, T, width), the vectors of configurations."""
        c = None
        for layer, place, content in zip(self.layers, places, contents, strict=True):
            c = layer(c, place, shape, content, indices)
        return self.norm(c)

    def _indicator_indices(self, states: States, padding: Tensor, steps: int) -> dict[str, IndicatorIndex]:
        """Return the `IndicatorIndex` of words by the key `WORDS`; nothing where no head reads words."""
        if not self.structures.of_words:
            return {}
        rows = self.structures.word_rows(padding.size(1), steps)
        index = self.structures.rows(states) - rows.start
        structure = self.layers[0].heads[WORDS].structure
        return {WORDS: IndicatorIndex(index.index_select(0, structure), padding[:, None], rows)}


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
            layers=options.encoder_layers, local_layers=options.encoder_local_layers,
            dropout=options.encoder_dropout, word_dropout=options.word_dropout,
        )  # fmt: skip
        encoder.dropout = Dropout(options.dropout)  # dropout of the Transformer's input
    decoder = UseDecoder(resources.table, resources.target_dictionary.pad(), dim, options)
    return ParserModel(encoder, decoder, tag_heads(options, dim, resources.columns))


register("use_parser", UseOptions, build, {"use_parser": {}, "use_parser_small": SMALL})
