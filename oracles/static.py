"""The static oracles of the dependency systems: one action sequence for each gold tree, alone and over a whole file.

Each system defines its own oracle (`TreeSystem.oracle`).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from transition_parser.base.errors import input_error
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
    """The counts of an oracle over a file. All fields from `words` on leave out the skipped sentences.

    seconds: the time spent in the oracle alone, without reading and replay
    types: the distinct tokens of the actions
    exact: the sentences whose replay gives the gold tree
    illegal_steps: the sentences whose replay met an illegal action or stopped early; they count as wrong
    heads: the words with the right head
    labeled: the words with the right head and relation
    """

    sentences: int = 0
    skipped: int = 0
    nonprojective: int = 0
    words: int = 0
    actions: int = 0
    swaps: int = 0
    seconds: float = 0.0
    types: set[str] = field(default_factory=set)
    exact: int = 0
    illegal_steps: int = 0
    heads: int = 0
    labeled: int = 0

    def report(self, checked: bool) -> dict[str, float]:
        """Return the figures under the names of `oracle --json`; scores are in percent."""
        done = self.sentences - self.skipped
        figures = {
            "sentences": self.sentences,
            "skipped": self.skipped,
            "nonprojective": self.nonprojective,
            "actions_per_token": round(self.actions / self.words, 4) if self.words else 0.0,
            "action_types": len(self.types),
            "swaps": self.swaps,
            "sentences_per_second": round(done / self.seconds, 1) if self.seconds else 0.0,
        }
        if checked:
            figures["exact"] = self.exact
            figures["illegal_steps"] = self.illegal_steps
            figures["uas"] = round(100.0 * self.heads / self.words, 2) if self.words else 0.0
            figures["las"] = round(100.0 * self.labeled / self.words, 2) if self.words else 0.0
        return figures

    @property
    def lossless(self) -> bool:
        """True if replay built the gold tree of every sentence that was not skipped, with legal actions only."""
        return self.exact == self.sentences - self.skipped and not self.illegal_steps


def run_oracle(
    sentences: Iterable[Sentence],
    system: TreeSystem,
    coverage: Coverage,
    check: bool = False,
    nonprojective: str = "skip",
) -> Iterator[tuple[Sentence, list[Action] | None]]:
    """Yield each sentence with its actions (None for a skipped sentence), and count in `coverage`."""
    for sentence in sentences:
        tree, words = sentence.tree(), sentence.forms
        coverage.sentences += 1
        coverage.nonprojective += not tree.is_projective()
        start = time.perf_counter()
        try:
            actions = list(oracle(system, words, tree))
        except NonProjectiveError as error:
            if nonprojective == "error":
                problem = f"{error}: use a system with SWAP"
                raise input_error(problem, sentence.path, sentence.line, sentence.id) from None
            coverage.skipped += 1
            yield sentence, None
            continue
        coverage.seconds += time.perf_counter() - start
        coverage.words += len(tree)
        coverage.actions += len(actions)
        coverage.swaps += sum(action.kind is Kind.SWAP for action in actions)
        coverage.types.update(map(str, set(actions)))
        if check:
            _check(coverage, system, words, tree, actions)
        yield sentence, actions


def _check(
    coverage: Coverage, system: TreeSystem, words: list[str], tree: DependencyTree, actions: list[Action]
) -> None:
    try:
        replayed = system.replay(words, actions)
    except ValueError:
        coverage.illegal_steps += 1
        return
    coverage.exact += replayed == tree
    _, heads, labeled = attachment_scores([tree], [replayed])
    coverage.heads += heads
    coverage.labeled += labeled
