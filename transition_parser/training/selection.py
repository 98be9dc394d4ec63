"""The choice of the model: the checkpoint, or the average of the best checkpoints, that parses dev best."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from transition_parser.base.errors import input_error
from transition_parser.training.evaluation import Evaluation, evaluate
from transition_parser.training.experiment import Experiment

SIZES = (1, 3, 5)  # sizes of the averages that are compared; the average of all checkpoints is compared, too


class Selection(NamedTuple):
    """The checkpoints whose average parses dev best.

    paths: the checkpoints, the best one first
    compared: for each average, the number of checkpoints (`averaged`) and the score on dev, by the score's name; empty
        if there is only one average
    """

    paths: Sequence[Path]
    compared: list[dict[str, Any]]


def select(experiment: Experiment, how: Evaluation, bits: int) -> Selection:
    """Return the average of best checkpoints that parses dev best. If scores are equal, more checkpoints are preferred.

    how: the settings of the evaluation; only its first beam is used
    bits: the number of bits of each weight of the exported model
    """
    groups = _groups(best_checkpoints(experiment))
    if len(groups) == 1:
        return Selection(groups[0], [])
    name = _figure(experiment)
    scores = [_score(experiment, replace(how, beams=how.beams[:1]), paths, bits, name) for paths in groups]
    best = max(range(len(groups)), key=lambda i: (scores[i], i))
    compared = [{"averaged": len(paths), name: score} for paths, score in zip(groups, scores, strict=True)]
    return Selection(groups[best], compared)


def best_checkpoints(experiment: Experiment) -> list[Path]:
    """Return the checkpoints that fairseq kept, the best first.

    These are the checkpoints of `--keep-best-checkpoints`, or else `checkpoint_best.pt`, or else `checkpoint_last.pt`.
    Raises `InputError` where fairseq kept no checkpoint.
    """
    folder, metric = experiment.checkpoints, experiment.metric
    beginning = f"checkpoint.best_{metric}_"
    named = sorted(
        folder.glob(f"{beginning}*.pt"),
        key=lambda path: float(path.stem.removeprefix(beginning)),
        reverse=experiment.maximizes,
    )
    for paths in (named, [folder / "checkpoint_best.pt"], [folder / "checkpoint_last.pt"]):
        if paths and all(path.is_file() for path in paths):
            return paths
    raise input_error("fairseq-train kept no checkpoint here: leave out --no-save", folder)


def _groups(paths: Sequence[Path]) -> list[Sequence[Path]]:
    sizes = sorted({*(size for size in SIZES if size < len(paths)), len(paths)})
    return [paths[:size] for size in sizes]


def _figure(experiment: Experiment) -> str:
    """Return the name of the score that averages are compared by."""
    figures = experiment.formalism.figures
    return experiment.metric if experiment.metric in figures else [*figures][-1]


def _score(experiment: Experiment, how: Evaluation, paths: Sequence[Path], bits: int, name: str) -> float:
    from transition_parser.storage.checkpoints import export_checkpoint

    folder = experiment.dest / ".candidate"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        export_checkpoint(paths, folder, bits)
        ((_beam, figures),) = evaluate(experiment, folder, "dev", how).items()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    value = figures[name]
    return value["f1"] if isinstance(value, dict) else value
