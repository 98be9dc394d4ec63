"""The static oracles of the dependency systems: one action sequence for each gold tree, alone and over a whole file.

Each system defines its own oracle (`TreeSystem.oracle`).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from transition_parser.graphs.conllu import Sentence
from transition_parser.graphs.dependency import DependencyTree, attachment_scores
from transition_parser.transitions import Action, Kind, TreeSystem
from transition_parser.transitions.tree_system import GoldTree


class NonProjectiveError(ValueError):
    """The error for a tree with crossing arcs in a system that builds projective trees only."""


def oracle(system: TreeSystem, words: Sequence[str], tree: DependencyTree) -> Iterator[Action]:
    """Yield the actions that build `tree` in `system`.

    Raises `NonProjectiveError` where `system` can't build the tree. The tree may have relations that `system` does not
    know, as in development data; the actions that set these relations may be illegal.

    >>> from transition_parser.transitions import make_system
    >>> tree = DependencyTree((2, 0), ("nsubj", "root"))
    >>> [str(a) for a in oracle(make_system("arc-hybrid"), ["She", "sleeps"], tree)]
    ['SHIFT', 'LEFT-ARC(nsubj)', 'SHIFT', 'LEFT-ARC(root)']
    """
    if system.projective_only and not tree.is_projective():
        raise NonProjectiveError(f"the tree crosses arcs, which {system.name} can't build")
    return system.oracle(GoldTree(tree, words, system.shift))


@dataclass
class Coverage:
    """The counts of an oracle over a file, without the sentences that are left out.

    seconds: the time spent in the oracle alone, without reading and replay
    exact: the sentences whose replay gives the gold graph
    illegal: the sentences whose replay met an illegal action or stopped early
    """

    sentences: int = 0
    words: int = 0
    seconds: float = 0.0
    actions: Counter[Action] = field(default_factory=Counter)
    exact: int = 0
    illegal: int = 0

    def count(self, words: int, actions: Sequence[Action], seconds: float) -> None:
        """Count a sentence and its derivation."""
        self.sentences += 1
        self.words += words
        self.seconds += seconds
        self.actions.update(actions)

    def figures(self, left_out: int, checked: bool) -> dict[str, Any]:
        """Return the figures of graphs of any kind under the names of `oracle --json`."""
        figures: dict[str, Any] = {
            "sentences": self.sentences + left_out,
            "skipped": left_out,
            "actions_per_token": round(self.actions.total() / self.words, 4) if self.words else 0.0,
            "action_types": len(self.actions),
            "sentences_per_second": round(self.sentences / self.seconds, 1) if self.seconds else 0.0,
        }
        return figures | ({"exact": self.exact, "illegal_steps": self.illegal} if checked else {})

    @property
    def lossless(self) -> bool:
        """True if replay built each graph that was not left out, with legal actions only."""
        return self.exact == self.sentences and not self.illegal


@dataclass
class TreeCoverage(Coverage):
    """The counts of an oracle of trees; heads: the words with the right head; labeled: also the right relation."""

    skipped: int = 0
    nonprojective: int = 0  # of all sentences
    heads: int = 0
    labeled: int = 0

    def report(self, checked: bool) -> dict[str, Any]:
        """Return the figures under the names of `oracle --json`; scores are in percent."""
        swaps = self.actions[Action(Kind.SWAP)]
        figures = self.figures(self.skipped, checked) | {"nonprojective": self.nonprojective, "swaps": swaps}
        for name, right in {"uas": self.heads, "las": self.labeled}.items() if checked else ():
            figures[name] = round(100.0 * right / self.words, 2) if self.words else 0.0
        return figures


def run_oracle(
    sentences: Iterable[Sentence],
    system: TreeSystem,
    coverage: TreeCoverage,
    check: bool = False,
) -> Iterator[tuple[Sentence, list[Action] | None]]:
    """Yield each sentence with its actions (None for a skipped sentence), and count in `coverage`."""
    for sentence in sentences:
        tree, words = sentence.tree(), sentence.forms
        coverage.nonprojective += not tree.is_projective()
        start = time.perf_counter()
        try:
            actions = list(oracle(system, words, tree))
        except NonProjectiveError:
            coverage.skipped += 1
            yield sentence, None
            continue
        coverage.count(len(tree), actions, time.perf_counter() - start)
        if check:
            _check(coverage, system, words, tree, actions)
        yield sentence, actions


def _check(
    coverage: TreeCoverage, system: TreeSystem, words: list[str], tree: DependencyTree, actions: list[Action]
) -> None:
    try:
        replayed = system.replay(words, actions)
    except ValueError:
        coverage.illegal += 1
        return
    coverage.exact += replayed == tree
    _, heads, labeled = attachment_scores([tree], [replayed])
    coverage.heads += heads
    coverage.labeled += labeled
