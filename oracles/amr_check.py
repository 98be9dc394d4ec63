"""The AMR oracle over a whole bank: derivations, replay, Smatch, and the coverage of a training vocabulary."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from transition_parser.base.errors import InputError
from transition_parser.base.process import in_parallel
from transition_parser.graphs.amr import AmrGraph
from transition_parser.graphs.amr_score import Counts, compare_graphs
from transition_parser.graphs.bank import AmrEntry
from transition_parser.graphs.smatch import TooLargeError, entry_triples, read_triples
from transition_parser.oracles.amr import Derivation, amr_oracle
from transition_parser.text.pieces import normalise
from transition_parser.transitions import Action, Kind
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.amr_naming import JOINED, Word

_CHUNK = 16
_WORST = 10
_FIRST_SENSES = tuple(Action(Kind.FRAME, label) for label in ("01", "01,particle", "01,alias", "01,alias2"))


@dataclass(frozen=True)
class Derived:
    """An aligned entry, its words and its derivation.

    error: the reason why there is no derivation
    seconds: the time that the oracle took
    """

    entry: AmrEntry
    words: Sequence[Word] = ()
    derivation: Derivation | None = None
    error: InputError | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class Checked:
    """The result of replaying a derivation.

    exact: True where the graph equals the gold graph
    illegal: True where replay met an illegal action or stopped early
    smatch: Smatch of the graph; None without a check
    seen: Smatch of the graph from actions in the vocabulary only, see `seen_only`; None without a vocabulary
    diff: the differences between the graph and the gold graph; if there are none, the differences of the `seen` graph
    """

    derived: Derived
    exact: bool = False
    illegal: bool = False
    smatch: Counts | None = None
    seen: Counts | None = None
    diff: tuple[str, ...] = ()


def derive(entries: Iterable[AmrEntry], system: AmrSystem, processes: int = 1) -> Iterator[Derived]:
    """Yield the derivations of aligned entries, in the order of the entries."""
    yield from in_parallel(partial(derive_entry, system=system), entries, processes, _CHUNK)


def derive_entry(entry: AmrEntry, system: AmrSystem) -> Derived:
    """Return the derivation of one entry, or the reason why there is none.

    There is none for a graph that the machine can't build or that can't be written. The entry needs `# ::tok` and an
    alignment of all nodes.
    """
    words = system.read([normalise(form) for form in entry.forms])
    try:
        entry_triples(entry)
        start = time.perf_counter()
        derivation = amr_oracle(system, words, entry.amr, entry.alignments)
    except InputError as error:
        return Derived(entry, words, error=error)
    except ValueError as error:
        return Derived(entry, words, error=entry.error(str(error)))
    return Derived(entry, words, derivation, seconds=time.perf_counter() - start)


def check(
    entries: Iterable[AmrEntry],
    system: AmrSystem,
    vocabulary: Counter[Action] | None = None,
    restarts: int = 4,
    processes: int = 1,
) -> Iterator[Checked]:
    """Yield the result of deriving and replaying each entry."""
    work = partial(check_entry, system=system, vocabulary=vocabulary, restarts=restarts)
    yield from in_parallel(work, entries, processes, _CHUNK)


def check_entry(entry: AmrEntry, system: AmrSystem, vocabulary: Counter[Action] | None, restarts: int) -> Checked:
    """Return the result for one entry, as `check` yields it."""
    derived = derive_entry(entry, system)
    if derived.derivation is None:
        return Checked(derived)
    try:
        return _checked(derived, derived.derivation, system, vocabulary, restarts)
    except TooLargeError as error:
        return Checked(Derived(entry, derived.words, error=entry.error(str(error))))


def _checked(
    derived: Derived,
    derivation: Derivation,
    system: AmrSystem,
    vocabulary: Counter[Action] | None,
    restarts: int,
) -> Checked:
    actions, gold = derivation.actions, derived.entry.amr
    size = len(read_triples(gold.to_penman()))
    graph = _built(system, derived.words, actions)
    if graph is None:
        return Checked(derived, illegal=True, smatch=Counts(gold=size))
    exact = graph.renumbered(range(len(graph))) == gold.renumbered(derivation.order)
    # Smatch's hill-climbing takes long for hundreds of nodes, and may miss that graphs are equal
    smatch, diff = (Counts(size, size, size), []) if exact else compare_graphs(gold, graph, restarts)
    checked = Checked(derived, exact, smatch=smatch, diff=tuple(diff))
    if vocabulary is None:
        return checked
    known = seen_only(system, derived.words, actions, vocabulary)
    graph = _built(system, derived.words, known)
    if known == actions or graph is None:
        return replace(checked, seen=Counts(gold=size) if graph is None else smatch)
    seen, other = compare_graphs(gold, graph, restarts)
    return replace(checked, seen=seen, diff=tuple(diff or other))


def _built(system: AmrSystem, words: Sequence[Word], actions: Sequence[Action]) -> AmrGraph | None:
    try:
        return system.replay(words, actions)
    except ValueError:
        return None


def seen_only(
    system: AmrSystem, words: Sequence[Word], actions: Sequence[Action], vocabulary: Counter[Action]
) -> list[Action]:
    """Return the derivation with actions that the vocabulary lacks replaced by the most similar actions that it has.

    A copy of the word replaces an unseen label. The most frequent role or entity type replaces an unseen one. Unseen
    DEPENDENTs, and actions that have become illegal, are left out.
    """
    state, kept = system.initial(words), []
    for action in actions:
        options = [action] if action in vocabulary else _substitutes(action, vocabulary)
        known = next((option for option in options if system.why_illegal(state, option) is None), None)
        if known is not None:
            state = system.apply(state, known)
            kept.append(known)
    return kept


def _substitutes(action: Action, vocabulary: Counter[Action]) -> Iterator[Action]:
    kind = action.kind
    if kind is Kind.DEPENDENT:
        return
    if kind is Kind.PRED:
        sense = str(action.label).rpartition("-")[2].isdigit()
        frames = (Action(Kind.COPY_SENSE01), *_FIRST_SENSES) if sense else ()
        yield from (*frames, Action(Kind.COPY_LEMMA))
    elif kind is Kind.VALUE:
        yield Action(Kind.COPY_WORD)
    elif kind is Kind.ENTITY:
        for label in (action.parts[0], f"{action.parts[0]},{JOINED}"):
            if Action(kind, label) in vocabulary:
                yield Action(kind, label)
    yield from (other for other, _ in vocabulary.most_common() if other.kind is kind and other != action)


@dataclass
class AmrCoverage:
    """The counts of the AMR oracle over a bank.

    seconds: the time spent in the oracle alone, without reading, aligning and replay
    worst: the checked entries with the lowest Smatch
    skipped: the errors of entries whose graphs the oracle could not build
    unreadable: the errors of entries that could not be read, so that the oracle never got them
    """

    vocabulary: Collection[Action] | None = None
    sentences: int = 0
    words: int = 0
    seconds: float = 0.0
    exact: int = 0
    illegal: int = 0
    smatch: Counts = field(default_factory=Counts)
    seen: Counts = field(default_factory=Counts)
    actions: Counter[Action] = field(default_factory=Counter)
    worst: list[Checked] = field(default_factory=list)
    skipped: list[InputError] = field(default_factory=list)
    unreadable: list[InputError] = field(default_factory=list)

    def add(self, item: Checked) -> None:
        """Count one entry."""
        derived = item.derived
        if derived.derivation is None:
            assert derived.error is not None
            self.skipped.append(derived.error)
            return
        self.sentences += 1
        self.words += len(derived.words)
        self.seconds += derived.seconds
        self.actions.update(derived.derivation.actions)
        self.exact += item.exact
        self.illegal += item.illegal
        if item.smatch is not None:
            self.smatch += item.smatch
            self.seen += item.seen or Counts()
            worst = [*self.worst, item]
            worst.sort(key=lambda one: ((one.smatch or Counts()).f1, (one.seen or Counts(1, 1, 1)).f1))
            self.worst = worst[:_WORST]

    @property
    def lossless(self) -> bool:
        """True if replay built every graph that was not skipped, with legal actions only."""
        return self.exact == self.sentences and not self.illegal

    def report(self, checked: bool) -> dict:
        """Return the figures under the names of `oracle --json`; shares and Smatch are from 0 to 1."""
        total, skipped = self.actions.total(), len(self.unreadable) + len(self.skipped)
        figures: dict = {
            "sentences": self.sentences + skipped,
            "skipped": skipped,
            "actions_per_token": round(total / self.words, 4) if self.words else 0.0,
            "action_types": len(self.actions),
            "singletons": sum(count == 1 for count in self.actions.values()),
            "sentences_per_second": round(self.sentences / self.seconds, 1) if self.seconds else 0.0,
            "kinds": _by_kind(self.actions),
            "types_of_kind": _by_kind(dict.fromkeys(self.actions, 1)),
        }
        if self.vocabulary is not None:
            unseen = {action: n for action, n in self.actions.items() if action not in self.vocabulary}
            figures["unseen_actions"] = round(sum(unseen.values()) / total, 4) if total else 0.0
            figures["unseen_types"] = len(unseen)
        if checked:
            figures |= {"exact": self.exact, "illegal_steps": self.illegal, "smatch": as_figures(self.smatch)}
            if self.vocabulary is not None:
                figures["smatch_seen_actions"] = as_figures(self.seen)
        return figures


def as_figures(counts: Counts) -> dict[str, float]:
    """Return precision, recall and F1, rounded to four decimals."""
    return {name: round(getattr(counts, name), 4) for name in ("precision", "recall", "f1")}


def _by_kind(actions: Mapping[Action, int]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for action, count in actions.items():
        counts[action.kind.value] += count
    return dict(counts.most_common())
