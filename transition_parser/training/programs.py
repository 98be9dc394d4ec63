"""fairseq's programs, run in this process, and the figures in their logs, one line an epoch for people."""

from __future__ import annotations

import json
import logging
import re
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from datetime import timedelta
from operator import itemgetter
from pathlib import Path
from typing import Any, TextIO

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.process import redirected, signals_as_exits

TASK = ("--task", "transition_parsing")
_FORMAT = logging.Formatter("%(asctime)s | %(levelname)s | %(name)s | %(message)s", "%Y-%m-%d %H:%M:%S")


def run_fairseq(
    program: str,
    arguments: Sequence[str],
    log: Path,
    user_dir: str | None = None,
    line: Callable[[str], None] = lambda text: None,
) -> None:
    """Run `fairseq_cli.PROGRAM`, `preprocess` or `train`, with the task of this package."""
    user = str(Path(user_dir).resolve()) if user_dir else str(Path(__file__).parents[1])
    with signals_as_exits() as check, _logged(log, lambda text: (line(text), check())) as file:
        try:
            {"preprocess": _preprocess, "train": _train}[program]([*arguments, "--user-dir", user, *TASK])
        except Exception as error:
            if isinstance(error, InputError) or (isinstance(error, OSError) and error.errno is not None):
                raise
            traceback.print_exc(file=file)
            words = str(error).strip().splitlines() or ["it said nothing"]
            raise input_error(f"fairseq-{program} failed: {type(error).__name__}: {words[-1]}", log) from error


def _preprocess(arguments: Sequence[str]) -> None:
    from fairseq import options
    from fairseq_cli import preprocess

    preprocess.main(options.get_preprocessing_parser().parse_args(arguments))
    preprocess.logger.handlers.clear()  # a file in the folder of the data


def _train(arguments: Sequence[str]) -> None:
    from fairseq import checkpoint_utils, options
    from fairseq.dataclass.utils import convert_namespace_to_omegaconf
    from fairseq.distributed.utils import call_main
    from fairseq_cli import train

    import transition_parser.tasks.transition_parsing  # noqa: F401  (registers the task, and with it all else)

    for function in (checkpoint_utils.save_checkpoint, train.should_stop_early):
        vars(function).clear()  # the best score of an earlier training
    call_main(
        convert_namespace_to_omegaconf(options.parse_args_and_arch(options.get_training_parser(), arguments)),
        train.main,
    )


class _Lines(logging.Handler):
    """Writes each message to a file as one line, and gives it to a function. Errors of writing are raised."""

    def __init__(self, file: TextIO, line: Callable[[str], Any]) -> None:
        super().__init__(logging.INFO)
        self.setFormatter(_FORMAT)
        self._file, self._line = file, line

    def emit(self, record: logging.LogRecord) -> None:
        text = self.format(record)
        print(text, file=self._file, flush=True)
        self._line(text)


@contextmanager
def _logged(log: Path, line: Callable[[str], Any]) -> Iterator[TextIO]:
    """Append to a file what the block, and processes that it starts, log, print and warn of."""
    root, fairseq = logging.getLogger(), logging.getLogger("fairseq")
    handlers, levels = root.handlers, (root.level, fairseq.level)
    # fairseq starts a process for each GPU, which prints to descriptor 1
    with open(log, "a", encoding="utf-8") as file, redirect_stdout(file), redirected(1, file.fileno()):
        try:
            root.handlers = [_Lines(file, line)]
            root.setLevel(logging.INFO)
            fairseq.setLevel(logging.INFO)
            logging.captureWarnings(True)
            yield file
        finally:
            logging.captureWarnings(False)
            root.handlers = handlers
            root.setLevel(levels[0])
            fairseq.setLevel(levels[1])


_EPOCH_ENDS = re.compile(r"\| INFO \| (train|valid) \| (\{.*\})$")  # a full disk may have cut a line


def epochs_of(log: Path, metric: str) -> list[dict[str, float]]:
    """Return for each epoch of a log (`--log-format json`) its number, training `loss`, score on `dev`, and `seconds`.

    The seconds are those from the start of the training to the end of the epoch.
    """
    epochs: dict[int, dict[str, float]] = {}
    names = {f"valid_{metric}": "dev", "train_loss": "loss", "train_wall": "seconds"}
    for found in filter(None, map(_EPOCH_ENDS.search, log.read_text(encoding="utf-8").splitlines())):
        figures = json.loads(found[2])
        epoch = epochs.setdefault(int(figures["epoch"]), {"epoch": int(figures["epoch"])})
        epoch |= {name: float(figures[key]) for key, name in names.items() if key in figures}
    return [epochs[number] for number in sorted(epochs)]


def epoch_line(line: str, log: Path, last: float, metric: str, maximizes: bool) -> str | None:
    """Return a line about the epoch that ends with a line of a log, None for any other line.

    last: the number of the last epoch; 0 if there is no limit
    """
    found = _EPOCH_ENDS.search(line)
    if found is None or found[1] != "train":
        return None
    number = int(json.loads(found[2])["epoch"])
    epochs = [epoch for epoch in epochs_of(log, metric) if epoch["epoch"] <= number]
    parts = [f"epoch {number}{f'/{last:.0f}' if last else ''}", f"loss {epochs[-1]['loss']:.3f}"]
    scored = [(epoch["dev"], epoch["epoch"]) for epoch in epochs if "dev" in epoch]
    if "dev" in epochs[-1]:
        best, epoch = (max if maximizes else min)(scored, key=itemgetter(0))
        parts += [f"dev {metric.upper()} {epochs[-1]['dev']:g}", f"best {best:g} (epoch {epoch})"]
    if last:
        parts.append(f"{timedelta(seconds=round(epochs[-1]['seconds'] / number * (last - number)))} left")
    return "  ".join(parts)
