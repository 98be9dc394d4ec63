"""Parsing and scoring of dev and test data, and the choice of the checkpoints that parse dev best."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from transition_parser.base.errors import input_error
from transition_parser.parsing.formalisms import Formalism
from transition_parser.text.columns import domain_of
from transition_parser.training.experiment import Experiment


@dataclass(frozen=True)
class Evaluation:
    """The settings of an evaluation."""

    beams: Sequence[int] = (1,)  # the data are parsed once with each
    device: str = "cpu"
    conll18: bool = False  # see `Parser.evaluate`


def evaluate(experiment: Experiment, model: Path, split: str, how: Evaluation) -> dict[str, Any]:
    """Parse and score a split. Return `beam N` (of several treebanks `NAME, beam N`) → figures of `Formalism.score`."""
    from transition_parser.parsing.parser import Parser

    figures = {}
    for beam in how.beams:
        for domain, gold in _golds(experiment, split).items():
            parser = Parser.load(model, beam=beam, device=how.device, domain=domain)
            parsed = _parsed(experiment, f"{split}.beam-{beam}", domain)
            name = f"beam {beam}" if domain is None else f"{domain}, beam {beam}"
            figures[name] = parser.evaluate(gold, parsed, conll18=how.conll18)
    return figures


def evaluate_raw_text(experiment: Experiment, model: Path, split: str, how: Evaluation) -> dict[str, Any] | None:
    """Parse the raw text of a split of trees with the first beam size. Return the split → the scores of its parses."""
    from transition_parser.parsing.parser import Parser

    figures = {}
    for domain, gold in _golds(experiment, split).items():
        parser = Parser.load(model, beam=how.beams[0], device=how.device, domain=domain)
        if parser.given_columns:
            return None
        parsed = _parsed(experiment, f"{split}.raw-text", domain)
        name = split if domain is None else f"{split}, {domain}"
        figures[name] = parser.evaluate(gold, parsed, segment=True, conll18=how.conll18)
    return figures


def _golds(experiment: Experiment, split: str) -> dict[str | None, Path]:
    """Return the files of a split by the names of their treebanks; a single one has no name."""
    bank = prepared_gold(experiment.data, split, experiment.formalism)
    paths = [*map(Path, experiment.files[split])] if bank is None else [bank]
    return {domain_of(path): path for path in paths} if len(paths) > 1 else {None: paths[0]}


def _parsed(experiment: Experiment, name: str, domain: str | None) -> Path:
    return experiment.dest / f"{name}{'' if domain is None else f'.{domain}'}{experiment.formalism.suffix}"


def prepared_gold(data: Path, split: str, formalism: Formalism) -> Path | None:
    """Return the file of the gold graphs of a split in the data folder; None if it has no such file."""
    bank = data / f"{'valid' if split == 'dev' else split}{formalism.suffix}"
    return bank if bank.is_file() else None


SIZES = (1, 3, 5)  # sizes of the averages that are compared; the average of all checkpoints is compared, too


def select(experiment: Experiment, how: Evaluation, bits: int) -> tuple[Sequence[Path], list[dict[str, Any]]]:
    """Return the average of best checkpoints that parses dev best (the largest of equal ones), and all averages."""
    best_first, figures = best_checkpoints(experiment), experiment.formalism.figures
    sizes = sorted({*(size for size in SIZES if size < len(best_first)), len(best_first)})
    if len(sizes) == 1:
        return best_first, []
    name = experiment.metric if experiment.metric in figures else [*figures][-1]  # else LAS or Smatch
    how = replace(how, beams=how.beams[:1])
    scores = {size: _score(experiment, how, best_first[:size], bits, name) for size in sizes}
    best = max(sizes, key=lambda size: (scores[size], size))
    return best_first[:best], [{"averaged": size, name: score} for size, score in scores.items()]


def best_checkpoints(experiment: Experiment) -> list[Path]:
    """Return the checkpoints that fairseq kept, the best first."""
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


def _score(experiment: Experiment, how: Evaluation, paths: Sequence[Path], bits: int, name: str) -> float:
    from transition_parser.storage.checkpoints import export_checkpoint

    folder = experiment.dest / ".candidate"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        export_checkpoint(paths, folder, bits)
        values = [figures[name] for figures in evaluate(experiment, folder, "dev", how).values()]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return fmean(value["f1"] if isinstance(value, dict) else value for value in values)
