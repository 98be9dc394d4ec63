"""Training speed, action tokens/s, of our architectures and of fairseq's own transformer of the same size.

    python run/bench/training.py DATA [--updates 40] [--max-tokens 4096] [--arch NAME ... [-- FLAG ...]]

All are trained on the same binarised files with the same --max-tokens, in interleaved rounds. What follows `--` are
further flags of our architectures, such as `--train-precision bf16` or `--oracle dynamic --explore-after 0`.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

from common import ROOT, parser, report, rounds

SIZE = [
    "--encoder-layers", "2", "--decoder-layers", "2", "--encoder-embed-dim", "256", "--decoder-embed-dim",
    "256", "--encoder-ffn-embed-dim", "512", "--decoder-ffn-embed-dim", "512", "--encoder-attention-heads",
    "4", "--decoder-attention-heads", "4",
]  # fmt: skip
FAIRSEQ = [
    "--task", "translation", "--source-lang", "src", "--target-lang", "act", "--arch", "transformer", *SIZE,
    "--criterion", "label_smoothed_cross_entropy", "--label-smoothing", "0.01",
]  # fmt: skip
OURS = [
    "--user-dir", str(ROOT / "transition_parser"), "--task", "transition_parsing",
    "--criterion", "legal_cross_entropy", "--label-smoothing", "0.01",
]  # fmt: skip


def rate(flags: list[str], arguments: argparse.Namespace) -> float:
    """Return the action tokens per second over the second half of the updates; the first half warms up."""
    command = [
        str(Path(sys.executable).with_name("fairseq-train")), arguments.data, *flags,
        "--optimizer", "adam", "--lr", "0.0005", "--dropout", "0.3",
        "--max-tokens", str(arguments.max_tokens), "--max-update", str(arguments.updates),
        "--log-interval", str(arguments.updates // 2), "--log-format", "json", "--no-progress-bar",
        "--no-save", "--disable-validation", "--seed", "1", "--num-workers", "1",
    ]  # fmt: skip
    environment = {**os.environ, "OMP_NUM_THREADS": str(arguments.threads)}
    done = subprocess.run(
        command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout[-2000:]}")
    entries = [json.loads(line) for line in re.findall(r'\{"epoch".*\}', done.stdout)]
    return float([entry["wps"] for entry in entries if "wps" in entry][-1])


def main() -> None:
    options = parser(__doc__)
    options.add_argument("data", help="folder of fairseq-preprocess")
    options.add_argument("--updates", type=int, default=40)
    options.add_argument("--max-tokens", type=int, default=4096)
    options.add_argument("--arch", nargs="+", default=["transition_transformer_small", "stack_transformer_small"])
    given = sys.argv[1:]
    end = given.index("--") if "--" in given else len(given)
    arguments, flags = options.parse_args(given[:end]), given[end + 1 :]
    contenders = {"fairseq transformer": FAIRSEQ}
    for name in arguments.arch:
        size = SIZE if name in ("transition_transformer_small", "stack_transformer_small") else []
        contenders[name] = [*OURS, "--arch", name, *size, *flags]
    rates = rounds({name: partial(rate, own, arguments) for name, own in contenders.items()}, arguments.rounds)
    report("training, action tokens/s", arguments, rates, flags=flags)


if __name__ == "__main__":
    main()
