"""Which checkpoint, or average of the best ones, becomes the model: the one that parses dev best."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from transition_parser.base.errors import input_error
from transition_parser.training.evaluation import Evaluation, evaluate
from transition_parser.training.experiment import Experiment

SIZES = (1, 3, 5)  # of the averages that are compared, beside that of all


class Selection(NamedTuple):
    """The checkpoints whose average parses dev best.

    paths: the checkpoints, the best one first.
    compared: `averaged`, the number of checkpoints, and the score on dev of each average; empty where there is one
        alone.
    """

    paths: Sequence[Path]
    compared: list[dict[str, Any]]


def select(experiment: Experiment, how: Evaluation, half: bool) -> Selection:
    """Score averages of the best checkpoints on dev, and return the best of them; of equal ones the largest.

    how: the evaluation, of whose beams the first is used.
    half: export 16 bits a weight, as of the model.
    """
    groups = _groups(best_checkpoints(experiment))
    if len(groups) == 1:
        return Selection(groups[0], [])
    name = _figure(experiment)
    scores = [_score(experiment, replace(how, beams=how.beams[:1]), paths, half, name) for paths in groups]
    best = max(range(len(groups)), key=lambda i: (scores[i], i))
    compared = [{"averaged": len(paths), name: score} for paths, score in zip(groups, scores, strict=True)]
    return Selection(groups[best], compared)


def best_checkpoints(experiment: Experiment) -> list[Path]:
    """The best checkpoints that fairseq kept (`--keep-best-checkpoints`), best first; else the best, else the last.
    Raises `InputError` where there is none."""
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
    """The name of the score that decides: the one that has chosen checkpoints, or else the last, LAS or Smatch."""
    figures = experiment.formalism.figures
    return experiment.metric if experiment.metric in figures else [*figures][-1]


def _score(experiment: Experiment, how: Evaluation, paths: Sequence[Path], half: bool, name: str) -> float:
    from transition_parser.storage.checkpoints import export_checkpoint

    folder = experiment.dest / ".candidate"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        export_checkpoint(paths, folder, half)
        ((_beam, figures),) = evaluate(experiment, folder, "dev", how).items()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    value = figures[name]
    return value["f1"] if isinstance(value, dict) else value
