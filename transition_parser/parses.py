"""What parsing returns: a sentence with its graph, and the derivation that built it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import ne
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from transition_parser.errors import InputError
from transition_parser.graphs.amr import AmrGraph, named
from transition_parser.graphs.bank import AmrEntry, jamr_lines
from transition_parser.graphs.conllu import Sentence
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.text.columns import LEMMA, UNKNOWN, UPOS, Rules
from transition_parser.text.lemma_rules import lemma_of
from transition_parser.transitions import Action, Kind
from transition_parser.transitions.lexicon import wiki_keys

if TYPE_CHECKING:
    from transition_parser.modules.contract import Hypothesis
    from transition_parser.states.table import ActionTable
    from transition_parser.transitions.amr import AmrSystem

NO_TAGS: Mapping[str, Sequence[str]] = MappingProxyType({})
SCORE_KEY = "ArcScore"  # in MISC
# comments that `annotated` writes, or that told of another graph
_REPLACED = ("parse_score", "actions", "alignments", "node", "root", "edge")


@dataclass(frozen=True)
class Parse:
    """One sentence parsed into a tree.

    sentence: the input; `annotated` fills in the tree; `sentence.spans` says where its words were in a text.
    arc_scores: for each word the probability that the
    model gave to the action that built the arc into it. actions: the derivation. score: the
    log-probability of the derivation divided by its length, as search ranks them. upos, lemmas: of each word, () where
    the model predicts none.
    """

    sentence: Sentence
    tree: DependencyTree
    arc_scores: tuple[float, ...]
    actions: tuple[Action, ...]
    score: float
    upos: tuple[str, ...] = ()
    lemmas: tuple[str, ...] = ()

    def annotated(self, scores: bool = False, actions: bool = False) -> Sentence:
        """The sentence with its tree, and with tags and lemmas where it has none; on request with `ArcScore=` in MISC
        and `# parse_score`, and with `# actions`."""
        before = self.sentence.without(SCORE_KEY, ("parse_score", "actions")).with_tags(self.upos, self.lemmas)
        comments = list(before.comments)
        misc = None
        if scores:
            comments.append(f"# parse_score = {self.score:.4f}")
            misc = [f"{SCORE_KEY}={score:.4f}" for score in self.arc_scores]
        if actions:
            comments.append("# actions = " + " ".join(map(str, self.actions)))
        return replace(before.with_tree(self.tree, misc), comments=tuple(comments))


@dataclass(frozen=True)
class AmrParse:
    """One sentence parsed into an AMR.

    sentence: the input. graph: the AMR. alignments: for each node the words that it came from. wiki: node → value of
    `:wiki`. actions, score: see `Parse`.
    """

    sentence: AmrEntry
    graph: AmrGraph
    alignments: tuple[tuple[int, ...], ...]
    wiki: Mapping[int, str]
    actions: tuple[Action, ...]
    score: float

    def annotated(
        self, scores: bool = False, actions: bool = False, marks: bool = False, wiki: bool = True
    ) -> AmrEntry:
        """The entry with its graph. `# ::alignments` and `# ::node` (JAMR's form) say which words nodes came from.

        scores, actions: write `# ::parse_score`, `# ::actions`. marks: write `~e.N` after each node. wiki:
        write `:wiki`. Raises `InputError` for a graph that is nested too deeply for PENMAN.
        """
        metadata = {key: value for key, value in self.sentence.metadata.items() if key not in _REPLACED}
        try:
            entry = self.sentence.with_graph(self.graph, self.alignments, self.wiki if wiki else {}, marks)
        except InputError as error:
            raise self.sentence.error(str(error)) from None
        comments = [*(f"# ::{key} {value}" for key, value in metadata.items()), *jamr_lines(entry)]
        if scores:
            comments.append(f"# ::parse_score {self.score:.4f}")
        if actions:
            comments.append("# ::actions " + " ".join(map(str, self.actions)))
        return replace(entry, metadata=metadata, comments=tuple(comments))


def replay_tree(
    table: ActionTable,
    sentence: Sentence,
    words: Sequence[str],
    hypothesis: Hypothesis,
    tags: Mapping[str, Sequence[str]] = NO_TAGS,
    rules: Rules = MappingProxyType({}),
) -> Parse:
    """Builds the tree once, by replaying the derivation through the pure-Python machine. words: the normalised forms
    of the sentence. tags: column → predicted values. rules: of the lemmas of known forms, which are not predicted."""
    system, actions = table.system, _actions(table, hypothesis.tokens)
    state = system.initial(system.read(words))
    scores = [0.0] * len(words)
    for action, log_prob in zip(actions, hypothesis.step_scores, strict=True):
        before, state = state, system.apply(state, action)
        if action.kind in (Kind.LEFT_ARC, Kind.RIGHT_ARC):
            dependent = list(map(ne, state.heads, before.heads)).index(True)
            scores[dependent] = math.exp(log_prob)
    upos, lemmas = tuple(tags.get(UPOS, ())), _lemmas(sentence, tags, rules)
    return Parse(sentence, system.result(state), tuple(scores), tuple(actions), hypothesis.score, upos, lemmas)


def _lemmas(sentence: Sentence, tags: Mapping[str, Sequence[str]], rules: Rules) -> tuple[str, ...]:
    """Of known forms those of the training data, of the others those that are predicted."""
    if LEMMA not in tags:
        return ()
    of_words = [UNKNOWN] * len(sentence.forms)
    if UPOS in tags:
        both = zip(sentence.words, tags[UPOS], strict=True)
        of_words = [tag if row.upos == UNKNOWN else row.upos for row, tag in both]
    known = map(rules.get, zip(sentence.forms, of_words, strict=True), tags[LEMMA])
    return tuple(map(lemma_of, sentence.forms, known))


def replay_amr(
    table: ActionTable,
    sentence: AmrEntry,
    words: Sequence[str],
    hypothesis: Hypothesis,
    wiki: Mapping[str, str] | None = None,
) -> AmrParse:
    """Builds the AMR once, as `replay_tree` does. wiki: what the training data has, see `Lexicon`."""
    system, actions = cast("AmrSystem", table.system), _actions(table, hypothesis.tokens)
    state = system.initial(system.read(words))
    for action in actions:
        state = system.apply(state, action)
    graph = system.result(state)
    alignments = tuple(system.alignments(state))
    return AmrParse(sentence, graph, alignments, _wiki(graph, wiki), tuple(actions), hypothesis.score)


def graph_of(table: ActionTable, words: Sequence[str], tokens: Sequence[int]) -> Any:
    """The graph that a derivation builds from normalised words, each step checked. Raises `ValueError` for tokens that
    stand for no action, illegal ones, and a derivation that is not complete."""
    return table.system.replay(table.system.read(words), _actions(table, tokens))


def _actions(table: ActionTable, tokens: Sequence[int]) -> list[Action]:
    actions = []
    for token in tokens:
        action = table.actions[token]
        if action is None:
            raise ValueError(f"{table.tokens[token]} is not an action")
        actions.append(action)
    return actions


def _wiki(graph: AmrGraph, known: Mapping[str, str] | None) -> dict[int, str]:
    """The `:wiki` of each named node: that of training, `-` for names it does not have. None where training
    has no `:wiki` at all."""
    if not known:
        return {}
    names = {}
    for node, _name, ops in named(graph):
        keys = wiki_keys(graph.labels[node], tuple(graph.labels[op] for op in ops))
        names[node] = next((known[key] for key in keys if key in known), "-")
    return names
