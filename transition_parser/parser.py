"""The Python API: load a model, parse sentences, get trees with scores.

from transition_parser import Parser

parser = Parser.load("en-ewt")
for parse in parser.parse("She sells sea shells."):
    print(parse.tree.heads, parse.arc_scores)
"""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from threading import Lock

import torch

from transition_parser.checkpoints import load_model
from transition_parser.compat import (
    give_back_freed_memory,
    keep_few_kernels,
    keep_freed_memory,
)
from transition_parser.data.resources import Resources
from transition_parser.errors import InputError, input_error
from transition_parser.graphs.bank import AmrEntry
from transition_parser.graphs.conllu import Sentence
from transition_parser.modules.contract import Hypothesis, ParserModel
from transition_parser.modules.packing import has_fast_bf16, pack, quantised
from transition_parser.parses import AmrParse, Parse, replay_amr, replay_tree
from transition_parser.search import search
from transition_parser.sentences import read_amr_sentences, read_sentences
from transition_parser.text.tokens import tokenise

PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16, "int8": torch.float32}
CHUNK = 4096  # sentences that are sorted by length together
_SIDE_BY_SIDE = 4  # batches, at the most: Python itself runs on one core
_SWITCH_INTERVAL = 5e-4  # seconds that a batch waits for Python while another runs it; Python's default is 5e-3
_LEAST_BATCH = 2000  # words times beam: in smaller batches the steps cost more than what they compute


class _Shared:
    """A setting of the whole process, which several streams change at the same time: the last of those that go on
    has it, and what it was at first comes back when all have ended."""

    def __init__(self, get: Callable, set_: Callable) -> None:
        self._get, self._set, self._lock = get, set_, Lock()
        self._values: dict = {}  # of each that goes on

    @contextmanager
    def at(self, value) -> Iterator[None]:
        mine = object()
        with self._lock:
            if not self._values:
                self._first = self._get()
            self._values[mine] = value
            self._set(value)
        try:
            yield
        finally:
            with self._lock:
                del self._values[mine]
                self._set(next(reversed(self._values.values()), self._first))


_torch_threads = _Shared(torch.get_num_threads, torch.set_num_threads)
_switch_interval = _Shared(sys.getswitchinterval, sys.setswitchinterval)


class Parser:
    """A model with everything it needs to parse.

    beam: hypotheses that search keeps, 1 for greedy search. batch_tokens: words times beam that are parsed at
    once, at the most (a single longer sentence is parsed by itself); by default 8000, with a beam up to 32000.
    precision: `fp32`, `bf16`, `int8` (the linear layers of the decoder, quantised dynamically, for CPUs without
    bf16), or `auto`: bf16 where the machine computes in it natively, else fp32. threads: cores to use on a
    CPU, by default as many as torch would (all, or `OMP_NUM_THREADS`). Up to four batches are parsed side by side, each
    with its share.
    """

    def __init__(
        self,
        model: ParserModel,
        resources: Resources,
        beam: int = 1,
        batch_tokens: int | None = None,
        device: str = "cpu",
        precision: str = "auto",
        threads: int | None = None,
    ) -> None:
        if beam < 1 or (batch_tokens is not None and batch_tokens < 1) or (threads is not None and threads < 1):
            raise InputError("beam, batch size and threads must be 1 or more")
        keep_freed_memory()
        keep_few_kernels()
        self.device = _device(device)
        if precision == "auto":
            precision = "bf16" if has_fast_bf16(self.device) else "fp32"
        if precision not in PRECISIONS:
            raise InputError(f"precision {precision!r}: choose auto, {', '.join(PRECISIONS)}")
        if precision == "int8" and self.device.type != "cpu":
            raise InputError("precision int8 is for CPUs: choose bf16")
        self.model = copy.deepcopy(model).eval().to(self.device, PRECISIONS[precision])
        self.resources = resources
        if precision == "int8":
            self.model = quantised(self.model)
        elif precision == "bf16" and self.device.type == "cpu" and has_fast_bf16(self.device):
            pack(self.model)
        self.beam, self.batch_tokens = beam, batch_tokens or 8000 * min(beam, 4)
        self.threads = threads or torch.get_num_threads()
        self.builds_amr = resources.parser.builds_amr

    @classmethod
    def load(
        cls,
        model: str | os.PathLike,
        beam: int = 1,
        batch_tokens: int | None = None,
        device: str = "cpu",
        precision: str = "auto",
        threads: int | None = None,
    ) -> Parser:
        """A parser from a checkpoint file, an exported folder, or the name of a model of the package.

        Raises `InputError` where there is none.
        """
        return cls(*load_model(model), beam, batch_tokens, device, precision, threads)

    def parse(self, text: str | os.PathLike | Sequence[str] | Sequence[Sequence[str]]) -> list[Parse] | list[AmrParse]:
        """Parses a string (one sentence, tokenised here), a list of words (one sentence), a list of lists
        of words, a list of `Sentence` (for AMR: `AmrEntry`), or a `pathlib.Path`: a CoNLL-U file (an AMR bank), or
        one tokenised sentence a line."""
        return list(self.parse_stream(_sentences(text, self.builds_amr)))

    def read(self, path: str | os.PathLike, tokenised: bool = True) -> Iterator[Sentence] | Iterator[AmrEntry]:
        """The sentences of a file, as `parse_stream` takes them; see `transition_parser.sentences`."""
        return (read_amr_sentences if self.builds_amr else read_sentences)(path, tokenised)

    def parse_stream(
        self, sentences: Iterable[Sentence] | Iterable[AmrEntry], chunk: int | None = None
    ) -> Iterator[Parse] | Iterator[AmrParse]:
        """Yields the parses in the order of the sentences, holding few at a time: `chunk`, by default 4096."""
        iterator, done = iter(sentences), 0
        with self._workers() as each:
            while some := list(islice(iterator, chunk or CHUNK)):
                for number, sentence in enumerate(some, done + 1):
                    if not sentence.forms:
                        raise input_error(f"sentence {number} has no words", sentence.path, sentence.line)
                done += len(some)
                parses: dict[int, Parse | AmrParse] = {}
                for found in each(lambda batch, some=some: self._parse_batch(some, batch), self._batches(some)):
                    parses |= found
                yield from (parses.pop(i) for i in range(len(some)))
                give_back_freed_memory()

    @contextmanager
    def _workers(self):
        """A `map` over batches: on a CPU several at a time, with their share of torch's threads each."""
        side_by_side = min(self.threads, _SIDE_BY_SIDE) if self.device.type == "cpu" else 1
        with ExitStack() as stack:
            stack.enter_context(_torch_threads.at(max(self.threads // side_by_side, 1)))
            if side_by_side == 1:
                yield map
                return
            stack.enter_context(_switch_interval.at(_SWITCH_INTERVAL))
            pool = ThreadPoolExecutor(side_by_side)
            stack.callback(pool.shutdown, cancel_futures=True)
            yield pool.map

    def _parse_batch(self, sentences: list, batch: list[int]) -> dict[int, Parse | AmrParse]:
        some = [sentences[i] for i in batch]
        found = self._search(some)
        return {i: self._parse(sentence, best) for i, sentence, best in zip(batch, some, found, strict=True)}

    def _batches(self, sentences: list) -> Iterator[list[int]]:
        """Indices of sentences of like length, the longest first: so that none of them comes last and alone.

        Batches become smaller towards the end, so that several cores are done at the same time; how does not depend on
        their number.
        """
        lengths = [len(sentence.forms) for sentence in sentences]
        left = sum(lengths)
        limit = self._limit(left)
        batch: list[int] = []
        for i in sorted(range(len(sentences)), key=lengths.__getitem__, reverse=True):
            if batch and (len(batch) + 1) * lengths[batch[0]] * self.beam > limit:
                yield batch
                left -= sum(lengths[j] for j in batch)
                limit = self._limit(left)
                batch = []
            batch.append(i)
        if batch:
            yield batch

    def _limit(self, words: int) -> int:
        """Words times beam of the next batch where so many words are left."""
        return min(self.batch_tokens, max(words * self.beam // _SIDE_BY_SIDE, _LEAST_BATCH * min(self.beam, 3)))

    def _search(self, sentences: list) -> list[Hypothesis]:
        tokens = self.resources.encode_all([sentence.forms for sentence in sentences])
        padding = self.resources.source_dictionary.pad()
        source = torch.nn.utils.rnn.pad_sequence(tokens, True, padding).to(self.device)
        with torch.inference_mode():
            encoder_out = self.model.encoder(source, features=self.resources.features(source))
        found = search(self.model, encoder_out, self.beam)
        return [hypotheses[0] for hypotheses in found]

    def _parse(self, sentence: Sentence | AmrEntry, hypothesis: Hypothesis) -> Parse | AmrParse:
        if self.builds_amr:
            return replay_amr(self.resources.table, sentence, hypothesis, self.resources.parser.lexicon.wiki)
        return replay_tree(self.resources.table, sentence, hypothesis)


def _device(name: str) -> torch.device:
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError) as error:  # the second: a torch that was built without CUDA
        raise InputError(f"no device {name!r} here: {str(error).splitlines()[0]}") from None
    return device


def _sentences(text, amr: bool) -> Iterable:
    one = AmrEntry.from_words if amr else Sentence.from_words
    if isinstance(text, str):
        return [one(tokenise(text))]
    if isinstance(text, Path):
        return (read_amr_sentences if amr else read_sentences)(text)
    items = list(text)
    if items and all(isinstance(word, str) for word in items):
        return [one(items)]
    kind, other = (AmrEntry, Sentence) if amr else (Sentence, AmrEntry)
    if any(isinstance(item, other) for item in items):
        graphs = "AMRs" if amr else "trees"
        raise InputError(f"the model parses into {graphs}: it takes {kind.__name__}, not {other.__name__}")
    return [item if isinstance(item, kind) else one(item) for item in items]
