"""fairseq's programs, run in this process."""

from __future__ import annotations

import logging
import os
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any, TextIO

import transition_parser
from transition_parser.base.errors import InputError, input_error
from transition_parser.base.process import signals_as_exits

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
    user = str(Path(user_dir).resolve()) if user_dir else transition_parser.__path__[0]
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
    printed = os.dup(1)
    with open(log, "a", encoding="utf-8") as file, redirect_stdout(file):
        try:
            os.dup2(file.fileno(), 1)  # fairseq starts a process for each GPU
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
            os.dup2(printed, 1)
            os.close(printed)
