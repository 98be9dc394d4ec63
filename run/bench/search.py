"""Search speed, sentences/s, of our search and of fairseq-generate, in interleaved rounds over the same sentences.

The contenders are our constrained search (in fp32, and in bf16 where the machine has it), the same model without
constraints, our model through fairseq-generate, and fairseq-generate with fairseq's own transformer of the same size.
fairseq's transformer is first trained here for some updates, so that it ends its sequences as a trained model does.
Model loading is not counted, on either side.

    python run/bench/search.py MODEL DATA GOLD.conllu [--sentences 200] [--beam 10]
"""

from __future__ import annotations

import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import torch
from common import FAIRSEQ, LANGUAGES, OPTIMISER, OURS, parser, report, run
from torch import Tensor

from transition_parser import Parser
from transition_parser.base.machine import has_fast_bf16
from transition_parser.graphs.conllu import Sentence, read_conllu
from transition_parser.modules import contract
from transition_parser.states.machine import DependencyMachine, make_machine


class FreeMachine(DependencyMachine):
    """A machine in which every action is legal at every step, and each derivation takes 2n actions for n words."""

    taken = 0

    def legality(self, tokens: Tensor | None = None) -> Tensor:
        assert tokens is None  # search asks for a subset of the tokens only if the vocabulary is large
        return torch.ones(len(self.depth), len(self.table.column), device=self.depth.device)

    def apply(self, tokens: Tensor) -> None:
        self.taken += 1
        super().apply(tokens)

    def is_final(self) -> Tensor:
        return self.taken >= 2 * self.root


def free_machine(table, lengths, features, needs, in_search) -> FreeMachine:
    """Return a `FreeMachine`, from the arguments of `make_machine`."""
    return FreeMachine(table, lengths, features, None, needs)


def ours(model: Parser, sentences: list[Sentence], machine: Callable) -> float:
    """Return the sentences per second of our search with the state machines that `machine` makes."""
    contract.make_machine = machine
    model._replayed = lambda one, hypotheses, tags: hypotheses[0]  # fairseq-generate builds no trees either
    start = time.perf_counter()
    result = list(model.parse_stream(sentences))
    assert len(result) == len(sentences)
    contract.make_machine = make_machine
    return len(sentences) / (time.perf_counter() - start)


def generate(data: str, checkpoint: Path, flags: list[str], arguments, lengths: list[float]) -> float:
    """Return the sentences per second that fairseq-generate reports.

    The mean number of tokens of a sentence is added to `lengths`.
    """
    printed = run(
        "fairseq-generate", data, *flags, "--path", str(checkpoint), "--beam", str(arguments.beam),
        "--gen-subset", "test", "--max-tokens", str(arguments.max_tokens), "--quiet",
        threads=arguments.threads,
    )  # fmt: skip
    ((sentences, tokens, rate),) = re.findall(
        r"Translated ([\d,]+) sentences \(([\d,]+) tokens\).*\(([\d.]+) sentences/s", printed
    )
    lengths.append(float(tokens.replace(",", "")) / float(sentences.replace(",", "")))
    return float(rate)


def prepare(arguments, sentences: list[Sentence], folder: Path) -> None:
    """Write a data folder whose test split is the sentences, and train fairseq's transformer on DATA."""
    data = Path(arguments.data)
    for split, last in (("src", "test.src"), ("act", "test.act")):
        lines = (data / f"valid.{split}").read_text(encoding="utf-8").split("\n")
        (folder / last).write_text("\n".join(lines[: len(sentences)]) + "\n", encoding="utf-8")
    for name in ("spm.model", "parser.json"):
        (folder / name).write_bytes((data / name).read_bytes())
    run(
        "fairseq-preprocess", *LANGUAGES, "--testpref", str(folder / "test"), "--destdir", str(folder),
        "--srcdict", str(data / "dict.src.txt"), "--tgtdict", str(data / "dict.act.txt"),
        threads=arguments.threads,
    )  # fmt: skip
    run(
        "fairseq-train", str(data), *FAIRSEQ, *OPTIMISER, "--criterion", "cross_entropy",
        "--max-tokens", "4096", "--max-update", str(arguments.updates), "--save-dir", str(folder),
        "--disable-validation", "--no-epoch-checkpoints", threads=arguments.threads,
    )  # fmt: skip


def main() -> None:
    """Measure the contenders in turn, round by round."""
    options = parser(__doc__)
    options.add_argument("model", help="checkpoint of the small size, trained on DATA")
    options.add_argument("data", help="folder of fairseq-preprocess; its valid split is GOLD")
    options.add_argument("gold", help="CoNLL-U file")
    options.add_argument("--sentences", type=int, default=200, help="how many of GOLD, from the start")
    options.add_argument("--beam", type=int, default=10)
    options.add_argument("--max-tokens", type=int, default=2000, help="batch size of fairseq-generate")
    options.add_argument("--updates", type=int, default=250, help="training of fairseq's transformer")
    arguments = options.parse_args()
    torch.set_num_threads(arguments.threads)
    sentences = list(islice(read_conllu(arguments.gold), arguments.sentences))
    precisions = ["fp32", *(["bf16"] if has_fast_bf16(torch.device("cpu")) else [])]
    models = {
        p: Parser.load(arguments.model, beam=arguments.beam, precision=p, threads=arguments.threads) for p in precisions
    }
    fairseq = "fairseq-generate, fairseq transformer"
    rates: dict[str, list[float]] = defaultdict(list)
    ours_lengths: list[float] = []
    fairseq_lengths: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(arguments, sentences, folder)
        for model in models.values():
            ours(model, sentences[:20], make_machine)
        for _ in range(arguments.rounds):
            for precision, model in models.items():
                rates[f"ours, constrained, {precision}"].append(ours(model, sentences, make_machine))
                rates[f"ours, free, {precision}"].append(ours(model, sentences, free_machine))
            if Path(arguments.model).is_file():
                generated = generate(name, Path(arguments.model), OURS, arguments, ours_lengths)
                rates["fairseq-generate, our model"].append(generated)
            # --user-dir lets fairseq read its own checkpoint on today's torch (transition_parser/base/compat.py)
            translation = [*OURS[:2], "--task", "translation", *LANGUAGES]
            rates[fairseq].append(
                generate(name, folder / "checkpoint_last.pt", translation, arguments, fairseq_lengths)
            )
    lengths = {"our model": ours_lengths[-1:], "fairseq transformer": fairseq_lengths[-1:]}
    report("search, sentences/s", arguments, rates, fairseq, tokens_per_sentence_of_fairseq_generate=lengths)


if __name__ == "__main__":
    main()
