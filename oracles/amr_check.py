"""The AMR oracle over a whole bank: derivations, their replay, and figures of both."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from transition_parser.base.errors import InputError
from transition_parser.base.process import in_parallel
from transition_parser.graphs.bank import AmrEntry
from transition_parser.graphs.smatch import Counts, graph_triples, smatch_counts
from transition_parser.oracles.amr import Derivation, amr_oracle
from transition_parser.oracles.static import Coverage
from transition_parser.text.pieces import normalize
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.amr_state import AmrWord

_CHUNK = 16


class Derived(NamedTuple):
    """An aligned entry, its words and its derivation, or the reason why there is none."""

    entry: AmrEntry
    words: Sequence[AmrWord] = ()
    derivation: Derivation | None = None
    error: InputError | None = None
    seconds: float = 0.0  # the time that the oracle took


class Checked(NamedTuple):
    """The result of replaying a derivation."""

    derived: Derived
    exact: bool = False  # the graph equals the gold graph
    illegal: bool = False  # replay met an illegal action or stopped early
    smatch: Counts | None = None


def derive(entries: Iterable[AmrEntry], system: AmrSystem, processes: int = 1) -> Iterator[Derived]:
    """Yield the derivations of aligned entries, in the order of the entries."""
    yield from in_parallel(partial(derive_entry, system=system), entries, processes, _CHUNK)


def derive_entry(entry: AmrEntry, system: AmrSystem) -> Derived:
    """Return the derivation of one entry with `# ::tok` and an alignment of all nodes, or why there is none."""
    words = system.read([normalize(form) for form in entry.forms])
    try:
        entry.amr.to_penman(None, entry.wiki, entry.variables)  # raises an error for a graph that can't be written
        start = time.perf_counter()
        derivation = amr_oracle(system, words, entry.amr, entry.alignments)
    except InputError as error:
        return Derived(entry, words, error=error)
    except ValueError as error:
        return Derived(entry, words, error=entry.error(str(error)))
    return Derived(entry, words, derivation, seconds=time.perf_counter() - start)


def check(entries: Iterable[AmrEntry], system: AmrSystem, processes: int = 1) -> Iterator[Checked]:
    """Yield the result of deriving and replaying each entry."""
    yield from in_parallel(partial(check_entry, system=system), entries, processes, _CHUNK)


def check_entry(entry: AmrEntry, system: AmrSystem) -> Checked:
    """Return the result for one entry, as `check` yields it."""
    derived = derive_entry(entry, system)
    if derived.derivation is None:
        return Checked(derived)
    size = len(graph_triples(entry.amr).normalized)
    try:
        graph = system.replay(derived.words, derived.derivation.actions)
    except ValueError:
        return Checked(derived, illegal=True, smatch=Counts(gold=size))
    # Smatch's hill-climbing takes long for hundreds of nodes, and may miss that graphs are equal
    if graph.renumbered(range(len(graph))) == entry.amr.renumbered(derived.derivation.order):
        return Checked(derived, exact=True, smatch=Counts(size, size, size))
    try:
        return Checked(derived, smatch=smatch_counts(entry.amr, graph))
    except InputError as error:
        return Checked(Derived(entry, derived.words, error=entry.error(str(error))))


@dataclass
class AmrCoverage(Coverage):
    """The counts of the AMR oracle over a bank."""

    smatch: Counts = field(default_factory=Counts)
    skipped: list[InputError] = field(default_factory=list)  # entries whose graphs the oracle could not build
    unreadable: list[InputError] = field(default_factory=list)  # entries that the oracle never got

    def add(self, item: Checked) -> None:
        """Count one entry."""
        derived = item.derived
        if derived.derivation is None:
            assert derived.error is not None
            self.skipped.append(derived.error)
            return
        self.count(len(derived.words), derived.derivation.actions, derived.seconds)
        self.exact += item.exact
        self.illegal += item.illegal
        self.smatch += item.smatch or Counts()

    def report(self, checked: bool) -> dict[str, Any]:
        """Return the figures under the names of `oracle --json`; Smatch is from 0 to 1."""
        figures = self.figures(len(self.unreadable) + len(self.skipped), checked)
        if checked:
            figures["smatch"] = {name: round(getattr(self.smatch, name), 4) for name in ("precision", "recall", "f1")}
        return figures
