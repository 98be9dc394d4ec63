"""The formalism of Abstract Meaning Representations: files in PENMAN, scores by Smatch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar, cast

from transition_parser.graphs.amr import AmrGraph, named, quoted, without_gaps
from transition_parser.graphs.bank import AmrEntry, read_bank, split_tokens
from transition_parser.parsing.edits.draft import Draft
from transition_parser.parsing.edits.pronouns import with_mentions
from transition_parser.parsing.given import complete
from transition_parser.parsing.parses import AmrParse, edited
from transition_parser.parsing.texts import ToParse
from transition_parser.text.columns import READINGS
from transition_parser.text.names import title
from transition_parser.transitions import Kind
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.amr_state import kept
from transition_parser.transitions.config import wiki_keys

if TYPE_CHECKING:
    from transition_parser.data.resources import Resources
    from transition_parser.graphs.dependency import DependencyTree
    from transition_parser.modules.contract import Hypothesis
    from transition_parser.modules.semantic_roles import Readings
    from transition_parser.modules.tagging import Tags

ReadTrees = Callable[[Sequence[Sequence[str]]], Sequence["DependencyTree"]]  # words of sentences → their trees
_LONGEST = 100  # words of a sentence whose tree edits may ask for


class Amr:
    """The formalism of AMRs."""

    name, files, suffix = "AMRs", "AMR", ".amr"
    systems, default_system = (AmrSystem.name,), AmrSystem.name
    sentence, read_graphs = AmrEntry, staticmethod(read_bank)
    annotations = ("scores", "actions", "alignment_markers", "wiki")
    score_options: ClassVar = dict(fine_grained=False, ignore_wiki=False, ignore_ids=False, seed=0, processes=1)
    may_segment, has_edits, takes_facts = False, True, True
    # Chosen on 1,049 development sentences of six corpora. With 1, the graphs of a beam lack more nodes and edges than
    # those of greedy search; with 4, they have more wrong ones. Search must stop once `beam` hypotheses have finished:
    # with an exponent above 1, later hypotheses would rank first, although they are ever longer and worse.
    lenpen = 2.0
    figures: ClassVar = ("smatch",)

    def replay(
        self,
        resources: Resources,
        found: Iterable[tuple[ToParse, Hypothesis, Tags]],
        edits: bool = True,
        trees: ReadTrees | None = None,
    ) -> list[AmrParse]:
        """Return the parses with the AMRs that derivations build, replayed once through the pure-Python machine.

        trees: a parser of the sentences whose trees edits ask for; None for edits without trees

        Facts complete the AMR of a guided derivation. Edits that contradict a fact are not made. Where there are facts,
        gaps in the numbers of roles stay.
        """
        from transition_parser.parsing.edits.order import OF_TREES, edits_of

        built = [_Built(resources, *one) for one in found]
        chosen = edits_of(resources.language) if edits else {}
        if trees is not None and (asks := {OF_TREES[name] for name in chosen if name in OF_TREES}):
            short = ((one, one.draft()) for one in built if len(one.words) <= _LONGEST)
            wanted = [one for one, draft in short if any(ask(draft) for ask in asks)]
            forms = [tuple(word.form for word in one.words) for one in wanted]
            of_forms = dict(zip(dict.fromkeys(forms), trees([*dict.fromkeys(forms)]), strict=True))
            for one, its_forms in zip(wanted, forms, strict=True):
                one.tree = of_forms[its_forms]
        drafts = [one.draft() for one in built]
        for edit in chosen.values():
            edit(drafts)
            drafts = [one.after(draft) for one, draft in zip(built, drafts, strict=True)]
        return [one.finished(edits) for one in built]

    def from_gold(self, sentence: AmrEntry) -> AmrParse:
        """Return an entry of a file with its graph as a parse without scores."""
        graph, tokens = sentence.amr, sentence.tokens or split_tokens(sentence.text)
        with_words = replace(sentence, metadata={**sentence.metadata, "tok": " ".join(tokens)})
        return AmrParse(with_words, graph, sentence.alignments or ((),) * len(graph), sentence.wiki)

    @property
    def scoring(self) -> ModuleType:
        """See `Trees.scoring`."""
        from transition_parser.graphs import smatch

        return smatch


class _Built:
    """The parse of the derivation that search found, completed by facts; edits change it."""

    def __init__(self, resources: Resources, one: ToParse, hypothesis: Hypothesis, tags: Tags) -> None:
        sentence, words, table = one.sentence, one.words, resources.table
        self.facts = one.facts
        self.wiki = resources.parser.lexicon.wiki if resources.parser.lexicon else {}
        self.system, actions = cast("AmrSystem", table.system), table.actions_of(hypothesis.tokens)
        self.readings: Readings | None = tags.get(READINGS)
        state = self.system.initial(self.system.read(words))
        made: list[float] = []
        edges: list[float] = []
        span = 0.0  # log-probability of the actions that merged words into the current span
        for action, log_prob in zip(actions, hypothesis.step_scores, strict=True):
            span = 0.0 if action.kind is Kind.SHIFT else span + log_prob if action.kind is Kind.MERGE else span
            state = self.system.apply(state, action)
            of_node = log_prob if action.kind is Kind.DEPENDENT else log_prob + span
            made += [math.exp(of_node)] * (len(state.nodes) - len(made))
            edges += [math.exp(log_prob)] * (len(state.edges) - len(edges))
        self.words = state.words
        self.tree: DependencyTree | None = None
        self.parse = AmrParse(
            sentence, self.system.result(state), tuple(self.system.alignments(state)), {},
            tuple(made[node] for node in kept(state)), tuple(edges), probability=math.exp(sum(hypothesis.step_scores)),
            mean_log_probability=hypothesis.score, actions=actions, model=resources.model,
        )  # fmt: skip
        if self.facts is not None:
            found = self.parse.graph, self.parse.alignments
            added, edit, alignments = complete(*found, self.facts, self.words)
            if added:
                parse = self.parse if edit is None else edited(self.parse, edit)
                self.parse = replace(parse, alignments=alignments, completed=added)

    def draft(self) -> Draft:
        """Return a draft of the graph."""
        parse, known = self.parse, self.system.lexicon or ()
        return Draft(parse.graph, parse.alignments, self.words, self.readings, known, self.tree)

    def after(self, draft: Draft) -> Draft:
        """Take the graph of a draft, unless a fact contradicts it, and return a draft of the graph that is taken."""
        if not draft.is_changed:
            return draft
        if (edit := draft.result()) is not None:
            parse = edited(self.parse, edit)
            if self.facts is None or self._mentioned(parse) is not None:
                self.parse = parse
        return self.draft()

    def _mentioned(self, parse: AmrParse) -> AmrParse | None:
        """Return the parse with the alignments to all mentions, None where a fact contradicts its graph."""
        found = with_mentions(parse.graph, parse.alignments, self.words)
        if self.facts is not None and complete(parse.graph, found, self.facts, self.words)[0]:
            return None
        return replace(parse, alignments=tuple(found))

    def finished(self, edits: bool) -> AmrParse:
        """Return the parse with all alignments, `:wiki`, and without gaps in lists."""
        parse = (self._mentioned(self.parse) if edits else None) or self.parse
        # facts may ask for gaps in the numbers of roles
        graph = without_gaps(parse.graph) if edits and self.facts is None else parse.graph
        return replace(parse, graph=graph, wiki=_wiki(graph, self.wiki) if self.wiki else {})


def _wiki(graph: AmrGraph, known: Mapping[str, str]) -> dict[int, str]:
    """Return named node → value of `:wiki`: that of training, else the title of a name that everybody knows, else `-`.

    known: the values of training
    """
    values = {}
    for node, _name, ops in named(graph):
        strings = tuple(graph.labels[op] for op in ops)
        exact, other = wiki_keys(graph.labels[node], strings)
        of_table = (title([string[1:-1] for string in strings], graph.labels[node]) or "-").replace(" ", "_")
        found = (known.get(exact, "-"), "-" if of_table == "-" else quoted(of_table), known.get(other, "-"))
        values[node] = next((one for one in found if one != "-"), "-")
    return values


AMR = Amr()
