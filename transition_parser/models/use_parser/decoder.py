"""The decoder: layers of structure encoders over words, actions and indicators, then kinds and labels.

Source: Ji et al. 2021, secs. 4 and 5
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import torch
from torch import Tensor, nn

from transition_parser.models.use_parser.classifier import PlainClassifier, TreeClassifier
from transition_parser.models.use_parser.layer import WORDS, Sight, UseLayer
from transition_parser.models.use_parser.options import UseOptions
from transition_parser.models.use_parser.structures import ACTIONS, STRUCTURES, Structures, indicators, steps_back
from transition_parser.modules.biaffine import Ends
from transition_parser.modules.contract import ActionScores, SearchState, StateDecoder
from transition_parser.modules.dropout import Dropout
from transition_parser.modules.encoder import EncoderOut
from transition_parser.modules.indicated_attention import Content
from transition_parser.modules.kinds import Kinds, TwoStages
from transition_parser.states.machine import Machine
from transition_parser.states.states import FIELDS, States
from transition_parser.states.table import ActionTable
from transition_parser.transitions import TreeSystem

Contents = Mapping[str, Content]


class UseSearch(SearchState):
    """places: for each layer those of all steps, as far as steps differ (`UseLayer.places`). words: for each layer what
    heads attend to of the words of the sentences there are; padding: (B, P), True where there is none. vocabulary: the
    same of all actions, of one batch. ends: see `TreeClassifier`, of all sentences. history: (R, steps), the actions so
    far, `</s>` first.
    """

    def __init__(
        self,
        machine: Machine,
        encoder_out: EncoderOut,
        places: Sequence[Tensor],
        words: Sequence[Content | None],
        vocabulary: Sequence[Content | None],
        ends: Ends | None,
    ) -> None:
        super().__init__(machine, encoder_out)
        self.places, self.words, self.vocabulary, self.ends = places, list(words), vocabulary, ends
        self.padding = ~encoder_out.mask
        self.history = encoder_out.lengths.new_zeros(len(encoder_out.lengths), 0)

    def move_rows(self, rows: Tensor, origin: Tensor | None, sentences: Tensor | None) -> None:
        self.history = self.history.index_select(0, rows)
        if sentences is not None:
            self.words = [None if content is None else content.of(sentences) for content in self.words]
            self.padding = self.padding.index_select(0, sentences)


class UseDecoder(StateDecoder):
    """The structures of `Structures`, each with heads of its own in every layer. Relations are scored by the words that
    an arc would connect whatever structures are seen.

    left_out: names of structures (`STRUCTURES`) whose heads read zeros, to see what a trained model needs them for.

    words: width of words. padding: the id of `<pad>` among the actions.
    """

    def __init__(self, table: ActionTable, padding: int, words: int, options: UseOptions) -> None:
        super().__init__(table)
        has_trees = isinstance(table.system, TreeSystem)
        self.structures = Structures.of(options, len(table.relations), has_trees)
        self.left_out: frozenset[str] = frozenset()
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

    @property
    def state_parts(self) -> Sequence[str]:
        """The structures that have heads. What is told of them to the classifier of relations can't be hidden."""
        return [name for name in STRUCTURES if self.structures.heads[name]]

    def hide(self, parts: Collection[str]) -> None:
        """From now on the heads of these structures read zeros."""
        self.left_out = self.known_parts(parts)

    def sight(self, states: States) -> dict[str, Tensor]:
        """The indicators that the heads of each structure read, but for those of actions."""
        return {name: indicators(name, states) for name in self.structures.of_words}

    def scores(self, actions: Tensor, encoder_out: EncoderOut, states: States) -> Tensor:
        return self.kinds.log_probabilities(self.stages(actions, encoder_out, states), self.legality(states))

    def stages(self, actions: Tensor, encoder_out: EncoderOut, states: States) -> TwoStages:
        """What `scores` are made of: the scores of kinds and of labels, before legality; arguments as of `scores`."""
        steps = actions.size(1)
        time = torch.arange(steps, device=actions.device)
        items, sights = {WORDS: encoder_out.words}, self._sights(states, ~encoder_out.mask, steps)
        if self.embed is not None:
            items[ACTIONS] = self.dropout(self.action_dropout(self.embed(actions)))
            back = (time[:, None] - time + 1).clamp_min(0)
            sights[ACTIONS] = Sight(self.structures.row(ACTIONS, back), back == 0, self.structures.action_rows(steps))
        contents = ({name: heads.content(items[name]) for name, heads in layer.heads.items()} for layer in self.layers)
        places = (layer.places(time) for layer in self.layers)
        c = self._configurations(places, (len(actions), steps), contents, sights)
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
        """See `StateDecoder`. A greedy search takes the best kind and then its best label."""
        assert isinstance(search, UseSearch)
        search.history = torch.cat([search.history, tokens[:, None]], 1)
        states = search.machine.observe()
        legal = search.machine.legality()
        c = self._next(search, states)
        search.steps += 1
        kinds, first = self.classifier.kinds(c), None
        if search.greedy:
            first = self.kinds.first(kinds, legal)
        labels = self.classifier.step(c, states, search.ends, search.sentence_of_row(), first)
        scores = self.kinds.log_probabilities(TwoStages(kinds, labels), legal)
        if first is not None:
            legal = self.kinds.only_of(first, legal)
        return ActionScores(scores, None, legal)

    def _next(self, search: UseSearch, states: States) -> Tensor:
        """(R, width), the configurations of search."""
        shape = len(search.padding), search.width
        ranked = States(**{name: value.unflatten(0, shape) for name, value in states.tensors().items()})
        steps = search.steps + 1
        sights = self._sights(ranked, search.padding, steps)
        back = steps_back(steps, search.history.device)
        sights[ACTIONS] = Sight(self.structures.row(ACTIONS, back), None, self.structures.action_rows(steps))
        so_far = (None if content is None else content._replace(item=search.history) for content in search.vocabulary)
        contents = (
            {name: content for name, content in ((WORDS, words), (ACTIONS, actions)) if content is not None}
            for words, actions in zip(search.words, so_far, strict=True)
        )
        places = (some[min(search.steps, len(some) - 1), None] for some in search.places)
        return self._configurations(places, shape, contents, sights).flatten(0, 1)

    # --- both -------------------------------------------------------------------------------

    def _configurations(
        self,
        places: Iterable[Tensor],
        shape: tuple[int, int],
        contents: Iterable[Contents],
        sights: Mapping[str, Sight],
    ) -> Tensor:
        """(B, T, width). places, contents: of each layer in turn."""
        c, seen = None, self._seen(self.norm.weight.device)
        for layer, place, content in zip(self.layers, places, contents, strict=True):
            c = layer(c, place, shape, content, sights, seen)
        return self.norm(c)

    def _sights(self, states: States, padding: Tensor, steps: int) -> dict[str, Sight]:
        """Of words. states: (B, T, …), of the first `steps` steps. padding: (B, P)."""
        if not self.structures.of_words:
            return {}
        rows = self.structures.word_rows(padding.size(1), steps)
        index = self.structures.rows(states) - rows.start
        structure = self.layers[0].heads[WORDS].structure
        return {WORDS: Sight(index.index_select(0, structure), padding[:, None], rows)}

    def _seen(self, device: torch.device) -> Tensor | None:
        if not self.left_out:
            return None
        seen = [float(name not in self.left_out) for name in self.structures.of_head]
        return torch.tensor(seen, device=device)
