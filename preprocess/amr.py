"""The preparation of AMR banks for training, and the rule for which entries of banks all commands use.

A list `problems` takes the error of each entry that is left out; if it is None, the first error is raised.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from transition_parser.base.errors import InputError, collected, input_error
from transition_parser.base.process import progress
from transition_parser.graphs.amr import named
from transition_parser.graphs.bank import AmrEntry, read_bank
from transition_parser.oracles.amr_check import Derived, derive
from transition_parser.preprocess.aligner.aligner import aligned, train_table, with_sentences
from transition_parser.preprocess.limits import breach, learned
from transition_parser.preprocess.splits import (
    by_frequency,
    data_folder,
    make_pieces,
    save_words,
    source_line,
    values_of,
)
from transition_parser.text.columns import KNOWN, Columns
from transition_parser.text.pieces import Pieces, normalize
from transition_parser.transitions import Action, Kind
from transition_parser.transitions.amr import AmrSystem
from transition_parser.transitions.amr_frames import FrameActions
from transition_parser.transitions.amr_limits import SearchLimits
from transition_parser.transitions.amr_state import MAKE_NODES, is_listed, key
from transition_parser.transitions.config import Lexicon, ParserConfig, wiki_keys

Problems = list[InputError] | None
RULE = """AMR entries that align, oracle and preprocess refuse (the same for these three commands):
  - entries that can't be read: PENMAN that is not well-formed, a variable that is defined twice or not at all, an
    alignment to a token that the sentence does not have, no graph
  - entries without a sentence (# ::snt or # ::tok)
  - entries with more than 1,000 words, nodes or edges, because the aligner takes no more
  - graphs that the transition system can't build: an edge from a node to itself, or more than four edges between two
    nodes
  - graphs that need more nodes, edges or SWAPs than a sentence of their length may have
Such an entry stops the command with exit status 2. With --skip-bad it is left out and named on standard error, and
does not change the exit status, unless no entry is left. Comments without ::id, ::snt and ::tok are headers, not
entries. A file that is not UTF-8 text is refused in any case."""
EXAMPLE = "example"  # the key of sentences chosen as examples; its value is what they show, such as a roleset
AGREEMENT = "agreement"  # the key of silver AMRs; its value is the mean Smatch of the parse with other parses
_COUNTED = 3  # the lexicon keeps the counts of spans with at least this many nodes in training


@dataclass(frozen=True)
class AmrOptions:
    """The options of `preprocess amr`."""

    pieces: int = 4000  # size of the subword vocabulary
    labeled_shift: int = 0  # how many of the most frequent words have a labeled SHIFT
    skip_bad: bool = False  # True to leave out and count entries that can't be used
    processes: int = 1
    columns: Collection[str] = ()  # names of `text.columns.KNOWN`, which are written, too
    pieces_from: str | os.PathLike | None = None  # a folder whose subword vocabulary is taken


def rewritten(entry: AmrEntry, keys: Iterable[str] = ("id", "snt", "tok"), alignments: bool = True) -> str:
    """Return the text of an entry, made from its fields instead of `penman`, with a blank line after it.

    keys: the keys of the metadata to write; keys that the entry lacks are left out
    alignments: True to write `~e.N`
    """
    lines = [f"# ::{key} {entry.metadata[key]}" for key in keys if key in entry.metadata]
    written = entry.alignments if alignments and any(entry.alignments) else None
    return "\n".join([*lines, entry.amr.to_penman(written, entry.wiki, entry.variables or None)]) + "\n\n"


def preprocess_amr(
    splits: dict[str, Sequence[str | os.PathLike]], dest: str | os.PathLike, options: AmrOptions
) -> tuple[dict[str, dict[str, int]], list[InputError]]:
    """Write the files of each split into `dest`. `train` is needed; `valid` and `test` are optional.

    Nodes that the banks leave unaligned are aligned here. Return for each split how many sentences were written and
    how many were skipped, and the errors of the skipped ones. For a malformed input, raises `InputError` and leaves
    `dest` as it was, unless `skip_bad` is set.
    """
    problems: dict[str, list[InputError]] = {split: [] for split in splits}
    left_out = problems if options.skip_bad else dict.fromkeys(splits)
    banks = {split: read_entries(paths, left_out[split]) for split, paths in splits.items()}
    table = train_table(banks["train"])
    forms = [[normalize(token) for token in entry.forms] for entry in banks["train"]]
    words = by_frequency(form for sentence in forms for form in sentence)
    shift_words = words[: options.labeled_shift]
    system = AmrSystem(shift_words)
    derived = {}
    for split, entries in banks.items():
        entries = progress(aligned(entries, table, processes=options.processes), f"{split} aligner", len(entries))
        derived[split] = list(derived_alone(derive(entries, system, options.processes), left_out[split]))
        if not derived[split]:
            raise nothing_left(splits[split], problems[split])
    derived["train"], limits = _limited(derived["train"], system.frames, problems["train"])
    with data_folder(dest, (path for paths in splits.values() for path in paths)) as folder:
        pieces = make_pieces(forms, folder, options.pieces, options.pieces_from)
        save_words(words, folder)
        _config(derived["train"], shift_words, limits, system.frames.table.version).save(folder)
        if options.columns:
            train = [item.entry for item in derived["train"]]
            Columns(values_of(train, options.columns, splits["train"][0])).save(folder)
        for split, items in derived.items():
            _write_split(folder, split, items, pieces)
            for name in options.columns:
                lines = (" ".join(KNOWN[name].values(item.entry)) for item in items)
                (folder / f"{split}.{name}").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    counts = {s: {"sentences": len(items), "skipped": len(problems[s])} for s, items in derived.items()}
    return counts, [problem for split in problems.values() for problem in split]


def _config(train: list[Derived], shift_words: Sequence[str], limits: SearchLimits, frames: str) -> ParserConfig:
    actions = [action for item in train for action in item.derivation.actions]
    roles = by_frequency(str(a.label) for a in actions if a.kind in (Kind.LA, Kind.RA))
    counts = _counts([item for item in train if EXAMPLE not in item.entry.metadata])
    often = {
        span: {str(action): count for action, count in of_span.items()}
        for span, of_span in counts.items()
        if of_span.total() >= _COUNTED
    }
    listed = {span: sorted(map(str, filter(is_listed, of_span))) for span, of_span in _counts(train).items()}
    spans = {span: of_span for span, of_span in listed.items() if of_span}
    lexicon = Lexicon(spans, _wiki(train), limits, often)
    return ParserConfig(AmrSystem.name, roles, tuple(shift_words), frames=frames, lexicon=lexicon)


def _limited(
    train: list[Derived], frames: FrameActions, problems: list[InputError]
) -> tuple[list[Derived], SearchLimits]:
    """Return the AMRs to train on, and the limits of search, learned from the gold AMRs, or from all if none is gold.

    Silver AMRs that search can't make within the limits are left out: errors of their parser must not become legal.
    """
    gold = [item for item in train if AGREEMENT not in item.entry.metadata]
    limits = learned(item.entry.graph for item in gold or train)
    kept = []
    for item in train:
        found = breach(limits, item.entry.graph, frames) if gold and AGREEMENT in item.entry.metadata else None
        if found is None:
            kept.append(item)
        else:
            problems.append(item.entry.error(f"a silver AMR with {found}, which gold AMRs never have, is left out"))
    return kept, limits


def _counts(train: Sequence[Derived]) -> dict[str, Counter[Action]]:
    """Return span → action → how many nodes the action made of spans with these words."""
    seen: dict[str, Counter[Action]] = {}
    for item in train:
        for action, (first, last) in zip(item.derivation.actions, item.derivation.spans, strict=True):
            if action.kind in MAKE_NODES:
                seen.setdefault(key(item.words[first : last + 1]), Counter())[action] += 1
    return dict(sorted(seen.items()))


def _wiki(train: list[Derived]) -> dict[str, str]:
    """Return the most frequent `:wiki` of each name."""
    values_of: dict[str, list[str]] = {}
    for item in train:
        graph = item.entry.graph
        for node, _name, ops in named(graph):
            if node in item.entry.wiki:
                strings = tuple(graph.labels[op] for op in ops)
                for name in wiki_keys(graph.labels[node], strings):
                    values_of.setdefault(name, []).append(item.entry.wiki[node])
    return {name: by_frequency(values)[0] for name, values in values_of.items()}


def _write_split(folder: Path, split: str, items: list[Derived], pieces: Pieces) -> None:
    with (
        open(folder / f"{split}.src", "w", encoding="utf-8") as source,
        open(folder / f"{split}.act", "w", encoding="utf-8") as target,
        open(folder / f"{split}.amr", "w", encoding="utf-8") as bank,
    ):
        for item in progress(items, f"{split} files"):
            print(source_line(pieces, (word.form for word in item.words)), file=source)
            print(*item.derivation.actions, file=target)
            bank.write(rewritten(item.entry))


def read_entries(paths: Sequence[str | os.PathLike], problems: Problems = None) -> list[AmrEntry]:
    """Return the entries of some banks, each with its words as `# ::tok`. Raises `InputError` if no entry is left."""
    before = len(problems or ())
    entries = [entry for path in paths for entry in with_sentences(read_bank(path, problems), problems)]
    if not entries:
        raise nothing_left(paths, (problems or [])[before:])
    return entries


def derived_alone(items: Iterable[Derived], problems: Problems = None) -> Iterator[Derived]:
    """Yield the items that have a derivation."""
    for item in items:
        with collected(problems):
            if item.error is not None:
                raise item.error
            yield item


def nothing_left(paths: Iterable[str | os.PathLike], problems: Sequence[InputError] = ()) -> InputError:
    """Return the error for banks of which no entry can be used."""
    problem = "the file holds no AMR that can be used"
    if problems:
        first = str(problems[0]).partition("\n")[0]
        problem = f"{problem}: {len(problems)} left out, the first: {first}"
    return input_error(problem, " ".join(map(str, paths)))
