"""The stages of an experiment: data → checkpoints → model. What a stage makes takes its name when it is whole, so that
a run that is interrupted is continued by the next one, and nothing that is finished is done again."""

from __future__ import annotations

import json
import os
import shutil
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from transition_parser.cards import write_card
from transition_parser.errors import input_error
from transition_parser.files import replacing
from transition_parser.formalisms import AMR
from transition_parser.training.display import Display, epochs_of
from transition_parser.training.evaluation import Evaluation, evaluate
from transition_parser.training.experiment import Experiment
from transition_parser.training.flags import arguments_of
from transition_parser.training.programs import run_fairseq

SPLITS = {"train": "train", "dev": "valid", "test": "test"}  # ours → fairseq's
# what `train` tells fairseq-train itself
OURS = ("--save-dir", "--log-format", "--user-dir", "--task", "--no-progress-bar", "--log-file", "--restore-file")
HISTORY, TRAIN_LOG, PREPARE_LOG, SCORES = "history.json", "train.log", "prepare.log", "scores.json"


@dataclass(frozen=True)
class Stages:
    """The stages of an experiment, in a folder that is locked by the file descriptor `lock`.

    user_dir: a package with further models. evaluation: how dev and test are parsed. half: export 16 bits a weight.
    processes: that align AMRs. about: language and licence, for the model's card.
    say: takes what is begun and what is left out, a line each.
    """

    experiment: Experiment
    lock: int
    evaluation: Evaluation
    user_dir: str | None = None
    half: bool = False
    processes: int = 1
    about: Mapping[str, str] = field(default_factory=dict)
    say: Callable[[str], None] = lambda text: print(text, file=sys.stderr, flush=True)

    def run(self) -> dict[str, Any]:
        """All stages that are not done yet. Returns the figures of the model: `scores.json` in its folder."""
        experiment = self.experiment
        if not experiment.data.is_dir():
            self.say("preparing the data")
            self._prepare()
        history = experiment.dest / HISTORY
        if not history.is_file():
            self.say(f"training: the log is {experiment.dest / TRAIN_LOG}")
            self._train(history)
        if not experiment.model.is_dir():
            self.say("averaging, exporting and evaluating")
            self._export(json.loads(history.read_text(encoding="utf-8")))
        return json.loads((experiment.model / SCORES).read_text(encoding="utf-8"))

    def _prepare(self) -> None:
        experiment = self.experiment
        folder = _fresh(experiment.dest / ".data")
        splits = {SPLITS[split]: paths for split, paths in experiment.files.items()}
        for line in _preprocess(experiment, splits, folder, self.processes):
            self.say(line)
        prefixes = {"train": "--trainpref", "valid": "--validpref", "test": "--testpref"}
        arguments = [part for split in splits for part in (prefixes[split], str(folder / split))]
        languages = ("--source-lang", "src", "--target-lang", "act", "--destdir", str(folder))
        run_fairseq("preprocess", [*arguments, *languages], experiment.dest / PREPARE_LOG, self.lock)
        os.replace(folder, experiment.data)

    def _train(self, history: Path) -> None:
        experiment = self.experiment
        metric = experiment.value("--best-checkpoint-metric", "loss")
        mend_checkpoints(experiment.checkpoints, self.say)
        epochs, updates = (float(experiment.value(f"--max-{unit}", "0")) for unit in ("epoch", "update"))
        display = Display(epochs, updates, metric)
        log = experiment.dest / TRAIN_LOG
        ours = ["--save-dir", str(experiment.checkpoints), "--log-format", "json"]
        often = [] if experiment.value("--log-interval") else ["--log-interval", "10"]
        arguments = [str(experiment.data), *arguments_of(experiment.flags), *ours, *often]
        try:
            run_fairseq("train", arguments, log, self.lock, self.user_dir, display.line)
        finally:
            display.close()
        with open(log, encoding="utf-8") as lines, replacing(history) as temporary:
            temporary.write_text(json.dumps(epochs_of(lines, metric), indent=1) + "\n", encoding="utf-8")

    def _export(self, history: Sequence[dict[str, float]]) -> None:
        from transition_parser.checkpoints import export_checkpoint

        experiment = self.experiment
        averaged = best_checkpoints(experiment.checkpoints, experiment.value("--best-checkpoint-metric", "loss"))
        folder = _fresh(experiment.dest / ".model")
        export_checkpoint(averaged, folder, self.half)
        figures = {"epochs": len(history), "averaged": len(averaged)}
        for split in ("dev", "test"):
            if split in experiment.files:
                figures[split] = evaluate(experiment, folder, split, self.evaluation)
        (folder / SCORES).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        _write_card(experiment, folder, figures, self.about)
        os.replace(folder, experiment.model)


def _write_card(experiment: Experiment, folder: Path, figures: dict[str, Any], about: Mapping[str, str]) -> None:
    scores: list[dict[str, Any]] = []
    for split in experiment.files:
        for beam, of_split in figures.get(split, {}).items():
            values = {name: of_split[name] for name in experiment.formalism.figures}
            values = {name: value["f1"] if isinstance(value, dict) else value for name, value in values.items()}
            scores.append({"data": Path(experiment.files[split][0]).name, "beam": int(beam.split()[1]), **values})
    text = f"Trained by `transition-parser train` with the config `{Path(experiment.config).name}`."
    write_card(folder, experiment.dest.resolve().name, {**about, "scores": scores}, text)


def best_checkpoints(folder: Path, metric: str) -> list[Path]:
    """Those that are averaged: the best that fairseq kept (`--keep-best-checkpoints`), else the best, else the last.
    Raises `InputError` where there is none."""
    best = sorted(folder.glob(f"checkpoint.best_{metric}_*.pt"))
    for paths in (best, [folder / "checkpoint_best.pt"], [folder / "checkpoint_last.pt"]):
        if paths and all(path.is_file() for path in paths):
            return paths
    raise input_error("fairseq-train kept no checkpoint here: leave out --no-save", folder)


def mend_checkpoints(folder: Path, say: Callable[[str], None]) -> None:
    """Removes checkpoints that a run did not finish writing, and continues from the newest that is whole."""
    for damaged in [path for path in folder.glob("*.pt") if not _is_whole(path)]:
        say(f"removed a checkpoint that was not finished: {damaged}")
        damaged.unlink()
    last = folder / "checkpoint_last.pt"
    whole = sorted(folder.glob("*.pt"), key=lambda path: path.stat().st_mtime)
    if whole and not last.exists():
        with replacing(last) as temporary:
            shutil.copyfile(whole[-1], temporary)


def _is_whole(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except zipfile.BadZipFile:
        return False


def _preprocess(experiment: Experiment, splits: dict[str, Sequence[str]], folder: Path, processes: int) -> list[str]:
    """Writes the text files of the data, and returns what was left out, a line each."""
    options = dict(experiment.options)
    if experiment.formalism is AMR:
        from preprocess.amr import AmrOptions, preprocess_amr

        del options["system"]
        _counts, problems = preprocess_amr(splits, folder, AmrOptions(**options, processes=processes))
        return [f"left out: {str(problem).partition(chr(10))[0]}" for problem in problems]
    from preprocess.dependency import DependencyOptions, preprocess_dependency

    one_each = {split: paths[0] for split, paths in splits.items()}
    counts = preprocess_dependency(one_each, folder, DependencyOptions(**options))
    skipped = {split: n["skipped"] for split, n in counts.items() if n["skipped"]}
    return [f"left out: {n} trees of {split} that the system can't build" for split, n in skipped.items()]


def _fresh(folder: Path) -> Path:
    """The folder, without what an interrupted run left in it."""
    if folder.exists():
        shutil.rmtree(folder)
    return folder
