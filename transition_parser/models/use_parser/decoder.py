"""The decoder: layers of structure encoders over words, actions and indicators, then scores of kinds and labels.

Source: Ji et al. 2021, secs. 4 and 5
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor, nn

from transition_parser.models.use_parser.classifier import PlainClassifier, TreeClassifier
from transition_parser.models.use_parser.layer import (
    ACTIONS,
    WORDS,
    IndicatorIndex,
    Structures,
    UseLayer,
    indicators,
    steps_back,
)
from transition_parser.models.use_parser.options import UseOptions
from transition_parser.modules.action_scores import FactoredScores, Kinds
from transition_parser.modules.biaffine import HeadsAndDependents
from transition_parser.modules.contract import ActionScores, SearchState, StateDecoder
from transition_parser.modules.encoder import EncoderOut
from transition_parser.modules.indicated_attention import Content
from transition_parser.modules.layers import Dropout
from transition_parser.states.machine import Machine
from transition_parser.states.states import FIELDS, States
from transition_parser.states.table import ActionTable
from transition_parser.transitions import TreeSystem

Contents = Mapping[str, Content]


class UseSearch(SearchState):
    """The state of a search with a Unified Structure Encoder.

    places: for each layer, the parts of queries in all steps that have a marker of their own (`UseLayer.places`)
    words: for each layer, the content of the words of the sentences still in search; None where no head reads words
    padding: (B, P) bool; True where there is no word or root
    vocabulary: for each layer, the content of all actions, as one sentence; None where no head reads actions
    ends: the result of `TreeClassifier.ends` for all sentences of the batch; None for AMRs
    history: (R, steps); the actions so far of R hypotheses, `</s>` first
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
    """A decoder where each structure of `Structures` has heads of its own in every layer.

    Relations are scored by the two words that an arc would connect, whatever structures are seen.
    """

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

    def visible_words(self, states: States) -> dict[str, Tensor]:
        """Return the indicators that the heads of each structure of words read; actions are left out."""
        return {name: indicators(name, states) for name in self.structures.of_words}

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
        """Return the scores of the next action, see `StateDecoder.step`."""
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
        """Return (R, width), the vectors of the configurations of search."""
        shape = len(search.padding), search.width
        ranked = States(**{name: value.unflatten(0, shape) for name, value in states.tensors().items()})
        steps = search.steps + 1
        indices = self._indicator_indices(ranked, search.padding, steps)
        back = steps_back(steps, search.history.device)
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
