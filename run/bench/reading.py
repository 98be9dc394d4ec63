"""Speed of models that read the sentence again after each action, without and with savings, in interleaved rounds.

Models of the Graph2Graph Transformer search greedily with all savings switched off, and then with one saving more at a
time. The report also has the mean number of times that a sentence is read, and the number of trees that
differ from the trees without savings. Such a difference is an error in fp32; in bf16 close scores may be rounded to
another order.

    python run/bench/reading.py MODEL test.conllu --sentences 100 --precision bf16
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any
from unittest.mock import patch

import torch
from common import parser, report
from parsing import WARM_UP, rate
from torch import Tensor, nn

from transition_parser import Parser
from transition_parser.models.graph2graph.decoders import FeedbackDecoder, FeedbackSearch, SentenceG2gDecoder
from transition_parser.models.graph2graph.layers import CellLayout, Visible
from transition_parser.states.states import States


@dataclass(frozen=True)
class Saving:
    """A saving of computation that can be switched off.

    kind, method: the class, and the name of its method that saves computation
    without: the replacement of the method, which saves no computation
    """

    kind: type
    method: str
    without: Any

    def switched_off(self) -> Any:
        """Return a context manager that replaces the method."""
        return patch.object(self.kind, self.method, self.without)


def _read_again(decoder: SentenceG2gDecoder, tokens: Tensor, search: FeedbackSearch, states: States) -> None:
    """Mark all encoded sentences as out of date after an action; replaces `SentenceG2gDecoder.follow`."""
    assert search.memory.stale is not None
    search.memory = search.memory._replace(stale=torch.ones_like(search.memory.stale))


def _with_gaps(visible: Visible, few_shapes: bool) -> CellLayout:
    return CellLayout.of_all(visible)


SAVINGS = {
    "states with one legal action are not read": Saving(FeedbackDecoder, "rows_to_read", lambda *_: None),
    "read again only where an arc was made": Saving(SentenceG2gDecoder, "follow", _read_again),
    "what has left is left out, not masked": Saving(CellLayout, "without_gaps", _with_gaps),
}


class Reads:
    """A counter of the rows that a Transformer reads."""

    def __init__(self, transformer: nn.Module) -> None:
        self.rows = 0
        transformer.register_forward_pre_hook(self._count)

    def _count(self, _module: nn.Module, given: tuple) -> None:
        self.rows += len(given[0])


def main() -> None:
    """In each round, measure search without savings, and then with one saving more at a time."""
    options = parser(__doc__)
    options.add_argument("model", help="checkpoint, or exported folder")
    options.add_argument("file", help="CoNLL-U file")
    options.add_argument("--sentences", type=int, help="how many of the file, from the start")
    options.add_argument("--precision", default="auto")
    arguments = options.parse_args()
    torch.set_num_threads(arguments.threads)
    ours = Parser.load(arguments.model, precision=arguments.precision, threads=arguments.threads)
    if not isinstance(ours.model.decoder, FeedbackDecoder):
        options.error("the model does not read again after each action")
    reads = Reads(ours.model.decoder.transformer)
    sentences = list(islice(ours.read(arguments.file), arguments.sentences))
    ours.parse(sentences[:WARM_UP])
    rates: dict[str, list[float]] = {"everything is read": [], **{name: [] for name in SAVINGS}}
    read, trees = {}, {}
    for _ in range(arguments.rounds):
        off = {name: saving.switched_off() for name, saving in SAVINGS.items()}
        for one in off.values():
            one.start()
        for step in rates:
            if step in off:
                off[step].stop()
            reads.rows = 0
            found: list = []

            def parse(found: list = found) -> int:
                found += ours.parse(sentences)
                return len(found)

            rates[step].append(rate(parse, len(sentences)))
            read[step] = round(reads.rows / len(sentences), 2)
            trees[step] = [one.tree for one in found]
    first, *others = trees.values()
    apart = [sum(a != b for a, b in zip(first, other, strict=True)) for other in others]
    if arguments.precision == "fp32" and max(apart):
        raise SystemExit(f"{apart} of {len(sentences)} trees differ from the trees without savings")
    counts = {"sentences_measured": len(sentences), "words": sum(len(s.forms) for s in sentences)}
    report(
        "reading again, sentences/s", arguments, rates, "everything is read", **counts,
        times_that_a_sentence_is_read=read, trees_that_differ=apart,
    )  # fmt: skip


if __name__ == "__main__":
    main()
