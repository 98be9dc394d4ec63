"""Shared parts of the benchmarks: their options, spaCy's parser, and a report that names the machine."""

import argparse
import datetime
import json
import os
import statistics
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import torch

from transition_parser import AmrParse, Parser
from transition_parser.base.process import keep_few_kernels, keep_freed_memory
from transition_parser.graphs.conllu import Sentence, read_conllu
from transition_parser.kernels.encoders import machine

if TYPE_CHECKING:
    from spacy.tokens import Doc

ROOT = Path(__file__).resolve().parents[2]
SPACY_LABELS = 2000  # training sentences that spaCy's parser takes its labels from


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return the options of benchmarks of speed."""
    options = _options(description)
    options.add_argument("--rounds", type=int, default=3, help="interleaved rounds; medians are reported")
    options.add_argument("-o", "--output", help="write the JSON report there too")
    return options


def _options(description: str | None) -> argparse.ArgumentParser:
    """Return the options that all benchmarks have, and set the process up as `transition-parser parse` does."""
    keep_freed_memory()
    keep_few_kernels()
    options = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter, fromfile_prefix_chars="@"
    )
    options.add_argument("--threads", type=int, default=os.cpu_count(), help="threads of torch")
    return options


def amr_options(description: str | None) -> argparse.ArgumentParser:
    """Return the options of benchmarks of what a model of AMRs finds."""
    options = _options(description)
    options.add_argument("model", help="model of AMRs")
    options.add_argument("--beam", type=int, default=10)
    return options


def amr_model(arguments: argparse.Namespace) -> Parser[AmrParse]:
    """Return the model that the options name, in fp32."""
    torch.set_num_threads(arguments.threads)
    return Parser.load(arguments.model, arguments.beam, precision="fp32")


def rounds(contenders: Mapping[str, Callable[[], float]], number: int) -> dict[str, list[float]]:
    """Return name → the rates that a contender has in rounds in which all take turns, so that load meets all alike."""
    rates: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(number):
        for name, rate in contenders.items():
            rates[name].append(rate())
    return rates


def report(name: str, options: argparse.Namespace, rates: dict[str, list[float]], **more: object) -> None:
    """Print the median of each rate, and the median of its ratio to the first rate in the same round, as JSON.

    The report also has the date, the machine and the options. It is written to `--output`, too.

    rates: name → the rate of each round
    more: further figures
    """
    base = next(iter(rates.values()))
    found = {
        "benchmark": name,
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "load_average": [round(x, 2) for x in os.getloadavg()],
        **{key: str(value) for key, value in vars(options).items() if key != "output"},
        **more,
        "median": {key: round(statistics.median(values), 2) for key, values in rates.items()},
        "all": {key: [round(value, 2) for value in values] for key, values in rates.items()},
        f"ratio_to_{next(iter(rates))}": {
            key: round(statistics.median(a / b for a, b in zip(values, base, strict=True)), 3)
            for key, values in rates.items()
        },
    }
    text = json.dumps(found, indent=1)
    print(text)
    if options.output:
        Path(options.output).write_text(text + "\n", encoding="utf-8")


def spacy_parser(treebank: Path) -> Callable[[Sequence[Sentence]], "list[Doc]"]:
    """Return spaCy's parser with its default network, random weights and the labels of a CoNLL-U file.

    Its speed alone can be compared. It computes on one core.
    """
    import spacy
    from spacy.tokens import Doc
    from spacy.training import Example

    nlp = spacy.blank("en")
    nlp.add_pipe("parser")
    examples = []
    for sentence in islice(read_conllu(treebank), SPACY_LABELS):
        tree = sentence.tree()
        heads = [head - 1 if head else i for i, head in enumerate(tree.heads)]
        parsed = Doc(nlp.vocab, words=sentence.forms, heads=heads, deps=list(tree.relations))
        examples.append(Example(Doc(nlp.vocab, words=sentence.forms), parsed))
    nlp.initialize(lambda: examples)
    return lambda some: list(nlp.pipe((Doc(nlp.vocab, words=one.forms) for one in some), batch_size=256))
