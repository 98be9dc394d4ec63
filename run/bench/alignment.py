"""Alignment quality against LEAMR's gold alignments, and speed.

python run/bench/alignment.py dev.json dev.amr [--train MORE.amr …] [--no-em]

Nodes are the nodes that the gold subgraph layer aligns. exact: the share of nodes with exactly the gold tokens.
overlap: the share of nodes with at least one gold token. Tokens are the parts of `# ::snt` between white space.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace

from transition_parser.graphs.bank import AmrEntry, read_bank
from transition_parser.preprocess.aligner import WordConceptTable, align_corpus, train_table
from transition_parser.preprocess.aligner.evaluate import Gold, read_gold, score


def entries_of(path: str) -> list[AmrEntry]:
    """Return the entries of a bank, with the words of `# ::snt` as tokens and without alignments."""
    result = (replace(entry, metadata={**entry.metadata, "tok": entry.text}) for entry in read_bank(path))
    return [entry.with_alignments([()] * len(entry.graph)) for entry in result]


def misses(entries: list[AmrEntry], gold: Gold) -> list[str]:
    """Return a line for each node whose tokens differ from its gold tokens."""
    lines = []
    for entry in entries:
        for path, label, tokens in zip(entry.paths, entry.graph.labels, entry.alignments):
            wanted = gold.get(entry.id, {}).get(path)
            if wanted is not None and wanted != set(tokens):
                words = [" ".join(entry.tokens[t] for t in sorted(some)) for some in (tokens, wanted)]
                lines.append(f"{entry.id}\t{path}\t{label}\tours: {words[0]}\tgold: {words[1]}")
    return lines


def main() -> None:
    """Print one JSON object."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("gold", help="LEAMR's JSON file")
    options.add_argument("bank", help="AMR bank with the AMRs of GOLD")
    options.add_argument("--train", nargs="+", default=[], metavar="AMR", help="more banks for EM")
    options.add_argument("--no-em", action="store_true", help="align by rules and neighbours only, without EM")
    options.add_argument("--misses", action="store_true", help="print the nodes that differ, too")
    arguments = options.parse_args()
    entries, gold = entries_of(arguments.bank), read_gold(arguments.gold)
    more = [entry for path in arguments.train for entry in entries_of(path)]
    start = time.perf_counter()
    table = WordConceptTable({}) if arguments.no_em else train_table([*entries, *more])
    trained = time.perf_counter()
    result = align_corpus(entries, table=table)
    done = time.perf_counter()
    if arguments.misses:
        print(*misses(result, gold), sep="\n")
    counts = score(result, gold)
    duplicates = score(result, read_gold(arguments.gold, ("dupl-subgraph",)))
    figures = (
        counts._asdict() | counts.figures() | {"duplicates": duplicates.gold, "duplicates_exact": duplicates.exact}
    )
    seconds = {"em_seconds": round(trained - start, 2), "sentences_per_second": round(len(result) / (done - trained))}
    print(json.dumps(figures | seconds))


if __name__ == "__main__":
    main()
