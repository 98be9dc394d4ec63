"""Several trainings by `fairseq-train`, one after the other in one process.

`trainings.py FILE`: the file has a list of lists of arguments, as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from fairseq import checkpoint_utils, options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq_cli.train import main

import tests.toy_plugin  # noqa: F401  (registers its model)
import transition_parser.tasks.transition_parsing  # noqa: F401  (registers the task)


def train(arguments: list[str]) -> None:
    """Trains as `fairseq-train` does in a process of its own."""
    vars(checkpoint_utils.save_checkpoint).clear()  # the best score of the training before
    main(convert_namespace_to_omegaconf(options.parse_args_and_arch(options.get_training_parser(), arguments)))


if __name__ == "__main__":
    for arguments in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")):
        train(arguments)
