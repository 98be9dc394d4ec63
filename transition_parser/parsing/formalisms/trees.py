"""The formalism of dependency trees: files in CoNLL-U, scores by UAS and LAS."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from transition_parser.graphs.conllu import Sentence, read_conllu
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.parsing.parses import Parse
from transition_parser.parsing.texts import ToParse
from transition_parser.text.columns import ABSENT, FEATS, LEMMA, UNKNOWN, UPOS, XPOS, filled
from transition_parser.transitions import TREE_SYSTEMS
from transition_parser.transitions.tree_system import NO_HEAD, State

if TYPE_CHECKING:
    from transition_parser.data.resources import Resources
    from transition_parser.modules.contract import Hypothesis
    from transition_parser.modules.tagging import Tags


class Report(NamedTuple):
    """Scores of a file."""

    figures: dict[str, Any]  # the scores by name, as `--json` prints them
    text: str  # the scores as a text for people


class Trees:
    """The formalism of dependency trees."""

    name, files, suffix = "trees", "CoNLL-U", ".conllu"
    systems, default_system = tuple(sorted(TREE_SYSTEMS)), "arc-hybrid-swap"
    sentence, read_graphs = Sentence, staticmethod(read_conllu)
    annotations = ("scores", "actions")
    score_options: ClassVar = {"conll18": False, "full_labels": False, "punct": None}
    lenpen = 1.0
    grows: ClassVar = ("arcs",)  # the lists of `configuration` that grow with a derivation
    figures: ClassVar = ("uas", "las")  # of validation in training

    def replay(
        self, resources: Resources, found: Iterable[tuple[ToParse, Hypothesis, Tags]], *_: object
    ) -> list[Parse]:
        """Return the parses of sentences with the trees that derivations build, without the edits that AMRs have."""
        from transition_parser.states.machine import replay  # imported late, because it imports torch, which is slow

        table, parses = resources.table, []
        for one, hypothesis, tags in found:
            tree, log_probs = replay(table, one.words, hypothesis.tokens, hypothesis.step_scores)
            parse = self.parse_of(resources, one, tree, log_probs, tags, sum(hypothesis.step_scores))
            actions = table.actions_of(hypothesis.tokens)
            parses.append(replace(parse, actions=actions, mean_log_probability=hypothesis.score))
        return parses

    def parse_of(
        self,
        resources: Resources,
        one: ToParse,
        tree: DependencyTree,
        log_probs: Sequence[float],
        tags: Tags,
        log_probability: float | None = None,
    ) -> Parse:
        """Return the parse of a sentence without a derivation, with the tags, lemmas and features that its words lack.

        log_probability: of the tree; by default the sum of those of its arcs
        """
        log_probability = sum(log_probs) if log_probability is None else log_probability
        columns, sentence = resources.columns.of_domain(one.domain), one.sentence
        upos, xpos = (tuple(tags.get(name, ())) for name in (UPOS, XPOS))
        given = [row.upos if upos else UNKNOWN for row in sentence.words]
        of_words, forms = filled(given, upos or given), sentence.forms
        rules, sets = tags.get(LEMMA), tags.get(FEATS)
        found = [] if sets is None else columns.features(forms, of_words, sets)
        features = [UNKNOWN if value == ABSENT else value for value in found]
        lemmas = [] if rules is None else columns.lemmatizer.lemmas(forms, of_words, rules, features or repeat(""))
        return Parse(
            sentence.with_tags(upos, lemmas, xpos, features), tree, tuple(map(math.exp, log_probs)),
            probability=math.exp(log_probability), mean_log_probability=log_probability, model=resources.model,
        )  # fmt: skip

    def score(self, gold: str, system: str, options: Mapping[str, Any] | None = None) -> Report:
        """Return the scores of a file against a gold file."""
        from transition_parser.graphs import dependency_score as comparing

        given = options or {}
        full_labels, skip_punctuation = bool(given.get("full_labels")), given.get("punct") == "skip"
        comparison = comparing.compare_files(gold, system, full_labels, skip_punctuation)
        scores, lacking = comparison.scores(), comparison.lacking()
        names = {**({} if comparison.same_segmentation else comparing.SEGMENTATION), **comparing.FIGURES}
        figures: dict[str, Any] = {
            name: round(scores[official].f1, 2) for name, official in names.items() if official not in lacking
        }
        figures["words"] = scores["UAS"].gold
        width = max(map(len, figures))
        lines = [f"{name:<{width}}  {value}" for name, value in figures.items()]
        if lacking:
            lines.append(f"not scored, because one of the files has none: {', '.join(lacking)}")
        text = "\n".join(lines)
        if given.get("conll18"):
            figures["conll18"], text = comparing.conll18_data(scores), comparing.conll18_table(scores)
        return Report(figures, text)

    def from_gold(self, sentence: Sentence) -> Parse:
        """Return a sentence of a file with its tree as a parse without scores."""
        return Parse(sentence, sentence.tree())

    def configuration(self, state: State) -> dict[str, Any]:
        """Return a configuration of a transition system as plain data."""
        heads = enumerate(zip(state.heads, state.relations, strict=True))
        arcs = [(head, word, relation) for word, (head, relation) in heads if head != NO_HEAD]
        return {"stack": list(state.stack), "buffer": list(state.buffer), "arcs": arcs}


TREES = Trees()
