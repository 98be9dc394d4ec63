"""The formalism of dependency trees: files in CoNLL-U, scores by UAS and LAS."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import repeat
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar

from transition_parser.graphs.conllu import Sentence, read_conllu
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.parsing.parses import Parse
from transition_parser.parsing.texts import ToParse
from transition_parser.text.columns import ABSENT, FEATS, LEMMA, UNKNOWN, UPOS, XPOS, filled
from transition_parser.transitions import TREE_SYSTEMS

if TYPE_CHECKING:
    from transition_parser.data.resources import Resources
    from transition_parser.modules.contract import Hypothesis
    from transition_parser.modules.tagging import Tags


class Trees:
    """The formalism of dependency trees."""

    name, files, suffix = "trees", "CoNLL-U", ".conllu"
    systems, default_system = tuple(sorted(TREE_SYSTEMS)), "arc-hybrid-swap"
    sentence, read_graphs = Sentence, staticmethod(read_conllu)
    annotations = ("scores", "actions")
    score_options: ClassVar = {"conll18": False, "full_labels": False, "punct": None}
    may_segment, has_edits, takes_facts = True, False, False  # gold text may be divided anew; AMRs alone have edits
    lenpen = 1.0
    figures: ClassVar = ("uas", "las")  # of validation in training

    def replay(
        self, resources: Resources, found: Iterable[tuple[ToParse, Hypothesis, Tags]], *_: object
    ) -> list[Parse]:
        """Return the parses of sentences with the trees that derivations build, without the edits that AMRs have."""
        from transition_parser.states.machine import replay  # imported late, because it imports torch, which is slow

        table, parses = resources.table, []
        for one, hypothesis, tags in found:
            tree, log_probs = replay(table, one.words, hypothesis.tokens, hypothesis.step_scores)
            parse, actions = self.parse_of(resources, one, tree, log_probs, tags), table.actions_of(hypothesis.tokens)
            probability = math.exp(sum(hypothesis.step_scores))
            mean = hypothesis.score
            parses.append(replace(parse, actions=actions, mean_log_probability=mean, probability=probability))
        return parses

    def parse_of(
        self, resources: Resources, one: ToParse, tree: DependencyTree, log_probs: Sequence[float], tags: Tags
    ) -> Parse:
        """Return the parse of a sentence without a derivation, with the tags, lemmas and features that its words lack.

        log_probs: for each word the log-probability of its arc
        """
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
            probability=math.exp(sum(log_probs)), mean_log_probability=sum(log_probs), model=resources.model,
        )  # fmt: skip

    @property
    def scoring(self) -> ModuleType:
        """The module with the functions `score` of files, and `table` of scores."""
        from transition_parser.graphs import dependency_score

        return dependency_score

    def from_gold(self, sentence: Sentence) -> Parse:
        """Return a sentence of a file with its tree as a parse without scores."""
        return Parse(sentence, sentence.tree())


TREES = Trees()
