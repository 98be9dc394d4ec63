"""Several trainings by `fairseq-train`, one after the other in one process.

`trainings.py FILE`: the file has a list of trainings as JSON, each the arguments, the folder of checkpoints, and the
number of updates.
"""

import json
import sys
from functools import cache
from pathlib import Path
from unittest import mock

from fairseq import checkpoint_utils, options
from fairseq.dataclass import utils
from fairseq_cli.train import main
from hydra.experimental import compose
from omegaconf import DictConfig

import tests.toy_plugin  # noqa: F401  (registers its model)
import transition_parser.tasks.transition_parsing  # noqa: F401  (registers the task)


@cache
def composed(name: str, overrides: tuple[str, ...]) -> DictConfig:
    """The configuration by hydra, which takes longer than a short training, and depends on nothing else."""
    return compose(name, overrides=list(overrides), strict=False)


def configured(arguments: list[str]) -> DictConfig:
    """What fairseq makes of the arguments of a training."""
    parsed = options.parse_args_and_arch(options.get_training_parser(), arguments)
    with mock.patch.object(utils, "compose", lambda name, overrides, strict: composed(name, tuple(overrides))):
        return utils.convert_namespace_to_omegaconf(parsed)


def train(arguments: list[str], folder: str, updates: int, resumed: bool) -> None:
    """Trains as `fairseq-train` does in a process of its own; without validation where the training is resumed."""
    vars(checkpoint_utils.save_checkpoint).clear()  # the best score of the training before
    config = configured(arguments)
    # not among the arguments, so that more trainings have the same
    config.checkpoint.save_dir = folder
    config.optimization.max_update = updates
    config.dataset.disable_validation |= resumed
    main(config)


if __name__ == "__main__":
    trainings = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    folders = [folder for _, folder, _ in trainings]
    for number, (arguments, folder, updates) in enumerate(trainings, 1):
        train(arguments, folder, updates, resumed=folder in folders[number:])
