"""The stages of an experiment: data → checkpoints → model.

The output of a stage gets its final name only when it is complete. A run that continues an interrupted run therefore
skips the stages that are finished.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from transition_parser.base.errors import input_error
from transition_parser.base.files import replacing
from transition_parser.base.model_files import write_json
from transition_parser.base.process import on_terminal
from transition_parser.data.resources import SEGMENTER_FILES
from transition_parser.parsing.formalisms import AMR
from transition_parser.storage.cards import write_card
from transition_parser.text.columns import KNOWN, asked_for, domain_of
from transition_parser.training.experiment import Experiment
from transition_parser.training.flags import arguments_of, with_fitting_warmup
from transition_parser.training.programs import Display, best_of, epochs_of, run_fairseq
from transition_parser.training.treebanks import Treebank, about_all

SPLITS = {"train": "train", "dev": "valid", "test": "test"}  # our name of a split → fairseq's name
TRAIN_LOG, PREPARE_LOG, SCORES = "train.log", "prepare.log", "scores.json"
_SAID = 3  # messages about each training of a segmenter


@dataclass(frozen=True)
class Evaluation:
    """The settings of an evaluation."""

    beams: Sequence[int] = (1,)  # the data are parsed once with each
    device: str = "cpu"
    conll18: bool = False  # see `Parser.evaluate`


def evaluate(
    experiment: Experiment, model: Path, split: str, how: Evaluation, raw_text: bool = False
) -> dict[str, Any]:
    """Parse and score a split. Return `beam N` (of several treebanks `NAME, beam N`) → figures of `Formalism.score`.

    raw_text: True to parse the raw text of trees, with the first beam size; then the keys are `SPLIT` or `SPLIT, NAME`.
        There are none for a model that reads columns of words.
    """
    from transition_parser.parsing.parser import Parser

    figures = {}
    for beam in how.beams[:1] if raw_text else how.beams:
        for domain, gold in _golds(experiment, split).items():
            parser = Parser.load(model, beam=beam, device=how.device, domain=domain)
            if raw_text and parser.given_columns:
                return {}
            name = f"{split}.{'raw-text' if raw_text else f'beam-{beam}'}{f'.{domain}' if domain else ''}"
            parsed = experiment.dest / f"{name}{experiment.formalism.suffix}"
            key = ", ".join(filter(None, (split, domain) if raw_text else (domain, f"beam {beam}")))
            figures[key] = parser.evaluate(gold, parsed, segment=raw_text, conll18=how.conll18)
    return figures


def _golds(experiment: Experiment, split: str) -> dict[str | None, Path]:
    """Return the files of a split by the names of their treebanks; a single one has no name."""
    bank = experiment.data / f"{SPLITS[split]}{experiment.formalism.suffix}"
    paths = [bank] if bank.is_file() else [*map(Path, experiment.files[split])]
    return {domain_of(path): path for path in paths} if len(paths) > 1 else {None: paths[0]}


SIZES = (1, 3, 5)  # sizes of the averages that are compared; the average of all checkpoints is compared, too


def select(experiment: Experiment, how: Evaluation) -> tuple[Sequence[Path], list[dict[str, Any]]]:
    """Return the average of best checkpoints that parses dev best (the largest of equal ones), and all averages."""
    best_first, figures = best_checkpoints(experiment), experiment.formalism.figures
    sizes = sorted({*(size for size in SIZES if size < len(best_first)), len(best_first)})
    if len(sizes) == 1:
        return best_first, []
    name = experiment.metric if experiment.metric in figures else [*figures][-1]  # else LAS or Smatch
    how = replace(how, beams=how.beams[:1])
    scores = {size: _score(experiment, how, best_first[:size], name) for size in sizes}
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


def _score(experiment: Experiment, how: Evaluation, paths: Sequence[Path], name: str) -> float:
    from transition_parser.storage.checkpoints import export_checkpoint

    folder = experiment.dest / ".candidate"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        export_checkpoint(paths, folder, experiment.settings["bits"])
        values = [figures[name] for figures in evaluate(experiment, folder, "dev", how).values()]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return fmean(value["f1"] if isinstance(value, dict) else value for value in values)


@dataclass(frozen=True)
class Stages:
    """The stages of an experiment."""

    experiment: Experiment
    evaluation: Evaluation  # how dev and test are parsed
    user_dir: str | None = None  # a package with further models, as for fairseq's `--user-dir`
    processes: int = 1  # that align AMRs
    about: Mapping[str, str] = field(default_factory=dict)  # `language` and `license`, where given, for the card
    treebanks: Sequence[Treebank] = ()  # none where files were given in place of treebanks' folders
    say: Callable[[str], None] = lambda text: print(text, file=sys.stderr, flush=True)  # called with each notice

    def run(self) -> dict[str, Any]:
        """Run all stages that are not done yet, and return the figures of the model: `scores.json` in its folder."""
        experiment = self.experiment
        if not experiment.data.is_dir():
            self.say("preparing the data")
            self._prepare()
        segmenter = [experiment.data / name for name in SEGMENTER_FILES]
        if experiment.settings.get("segmenter") and not all(path.is_file() for path in segmenter):
            self.say("training the segmenter of raw text")
            self._train_segmenter()
        history = experiment.history
        if not history.is_file():
            self.say(f"training: the log is {experiment.dest / TRAIN_LOG}")
            self._train(history)
        if not experiment.model.is_dir():
            self.say("averaging, exporting and evaluating")
            self._export(json.loads(history.read_text(encoding="utf-8")))
        return json.loads((experiment.model / SCORES).read_text(encoding="utf-8"))

    @property
    def holds_nothing(self) -> bool:
        """True where the folder holds neither data nor a log of fairseq, as after bad input."""
        experiment = self.experiment
        return not experiment.data.is_dir() and not (experiment.dest / PREPARE_LOG).exists()

    def kept(self) -> str:
        """Return one line that says which results exist so far, and how to go on with the experiment."""
        experiment = self.experiment
        if not experiment.data.is_dir():
            return "interrupted while the data were prepared: nothing is kept; run the same command again to begin anew"
        kept = f"the data are kept in {experiment.data}"
        # fairseq logs the loss of an epoch after it has written the checkpoint
        epochs = [epoch for epoch in epochs_of(self._logged(), experiment.metric) if "loss" in epoch]
        if epochs:
            best = best_of(epochs, experiment.metric, experiment.maximizes)
            shown = f" (best {experiment.metric.upper()} {best[0]:g}, epoch {best[1]})" if best else ""
            kept = f"training until epoch {epochs[-1]['epoch']}{shown} is kept in {experiment.checkpoints}"
        return f"interrupted: {kept}; run the same command again to go on"

    def _logged(self) -> list[str]:
        """Return the lines of fairseq's log so far; none without a checkpoint to continue from."""
        log = self.experiment.dest / TRAIN_LOG
        if not (self.experiment.checkpoints / "checkpoint_last.pt").is_file() or not log.is_file():
            return []
        return log.read_text(encoding="utf-8").splitlines()

    def _prepare(self) -> None:
        experiment = self.experiment
        folder = experiment.dest / ".data"
        shutil.rmtree(folder, ignore_errors=True)  # an interrupted run left it
        splits = {SPLITS[split]: paths for split, paths in experiment.files.items()}
        for line in _preprocess(experiment, splits, folder, self.processes):
            self.say(line)
        written = [SPLITS[split] for split in experiment.splits]
        arguments = [part for split in written for part in (f"--{split}pref", str(folder / split))]
        languages = ("--source-lang", "src", "--target-lang", "act", "--destdir", str(folder))
        run_fairseq("preprocess", [*arguments, *languages], experiment.dest / PREPARE_LOG)
        os.replace(folder, experiment.data)

    def _train_segmenter(self) -> None:
        """Write a segmenter into the folder of the data, from which the export of a checkpoint copies it."""
        from tqdm import tqdm

        from transition_parser.preprocess.dependency import hold_out
        from transition_parser.storage.segmenters import save_segmenter
        from transition_parser.training.segmenter import (
            SegmentationScores,
            SegmenterOptions,
            train_segmenter,
            written_sentences,
        )

        def report(dropout: float, epoch: int, epochs: int, scores: SegmentationScores) -> None:
            if epoch == epochs or (epoch % -(-epochs // _SAID) == 0 and not on_terminal()):  # which has a bar
                shown = ", ".join(f"{name} {score:.2f}" for name, score in scores._asdict().items())
                with tqdm.external_write_mode(file=sys.stderr):  # on a line of its own
                    self.say(f"epoch {epoch}/{epochs} of the segmenter with dropout {dropout:g}  dev {shown}")

        experiment = self.experiment
        train, dev = (written_sentences(experiment.files.get(split, ())) for split in ("train", "dev"))
        if experiment.holds_out:
            train, dev = hold_out(train)
        epochs, encoder = experiment.settings.get("segmenter_epochs"), experiment.value("--pretrained")
        options = SegmenterOptions(epochs, pretrained=encoder)
        save_segmenter(train_segmenter(train, dev, options, report), experiment.data)

    def _train(self, history: Path) -> None:
        experiment = self.experiment
        metric = experiment.metric
        mend_checkpoints(experiment.checkpoints, self.say)
        epochs, updates = (float(experiment.value(f"--max-{unit}", "0")) for unit in ("epoch", "update"))
        display = Display(epochs, updates, metric, earlier=self._logged(), maximizes=experiment.maximizes)
        log = experiment.dest / TRAIN_LOG
        flags = arguments_of(with_fitting_warmup(experiment.flags, self.say))
        ours = ["--save-dir", str(experiment.checkpoints), "--log-format", "json"]
        often = [] if experiment.value("--log-interval") else ["--log-interval", "10"]
        run_fairseq("train", [str(experiment.data), *flags, *ours, *often], log, self.user_dir, display.line)
        with open(log, encoding="utf-8") as lines:
            write_json(history, epochs_of(lines, metric))

    def _export(self, history: Sequence[dict[str, float]]) -> None:
        from transition_parser.storage.checkpoints import export_checkpoint

        experiment = self.experiment
        averaged, compared = select(experiment, self.evaluation)
        folder = experiment.dest / ".model"
        shutil.rmtree(folder, ignore_errors=True)
        export_checkpoint(averaged, folder, experiment.settings["bits"])
        figures: dict[str, Any] = {"epochs": len(history), "averaged": len(averaged), "compared": compared}
        for split in ("dev", "test"):
            if split in experiment.splits:
                figures[split] = evaluate(experiment, folder, split, self.evaluation)
        if experiment.settings.get("segmenter"):
            of_raw_text = evaluate(experiment, folder, experiment.splits[-1], self.evaluation, raw_text=True)
            figures |= {"raw_text": of_raw_text} if of_raw_text else {}
            if not of_raw_text:
                self.say("no scores on raw text: the model reads columns of words, which raw text does not have")
        write_json(folder / SCORES, figures)
        self._write_card(folder, figures)
        os.replace(folder, experiment.model)

    def _write_card(self, folder: Path, figures: Mapping[str, Any]) -> None:
        """Write the card of a model into its folder, and the license files of its treebanks beside it."""
        experiment, treebanks, about = self.experiment, self.treebanks, self.about
        scores: list[dict[str, Any]] = []
        for split in experiment.splits:
            for beam, of_split in figures.get(split, {}).items():
                values = {name: of_split[name] for name in experiment.formalism.figures}
                values = {name: value["f1"] if isinstance(value, dict) else value for name, value in values.items()}
                held_out = "" if split in experiment.files else " (held out)"
                domain, _, size = beam.rpartition("beam ")
                name = domain.removesuffix(", ") or "".join(treebank.name for treebank in treebanks)
                data = f"{name} {split}{held_out}" if name else Path(experiment.files[split][0]).name
                scores.append({"data": data, "beam": int(size), **values})
        text = f"Trained by `transition-parser train` with the config `{Path(experiment.config).name}`."
        if start := experiment.value("--start-from"):
            text += f" Training started from the model `{Path(start).name}`: the licenses in its card hold, too."
        for treebank in treebanks:
            for name, path in treebank.license_files.items():
                shutil.copyfile(path, folder / name)
        text = "\n\n".join([*(treebank.source() for treebank in treebanks), text])
        title = " and ".join(treebank.name for treebank in treebanks) or experiment.dest.resolve().name
        write_card(folder, title, {**about_all(treebanks), **about, "scores": scores}, text)


def mend_checkpoints(folder: Path, say: Callable[[str], None]) -> None:
    """Remove unfinished checkpoints; if `checkpoint_last.pt` is then missing, it becomes a copy of the newest one."""
    for path in [*folder.glob("*.pt")]:
        try:
            with zipfile.ZipFile(path) as archive:
                whole = archive.testzip() is None
        except zipfile.BadZipFile:
            whole = False
        if not whole:
            say(f"removed a checkpoint that was not finished: {path}")
            path.unlink()
    last = folder / "checkpoint_last.pt"
    rest = sorted(folder.glob("*.pt"), key=lambda path: path.stat().st_mtime)
    if rest and not last.exists():
        with replacing(last) as temporary:
            shutil.copyfile(rest[-1], temporary)


def _preprocess(experiment: Experiment, splits: dict[str, Sequence[str]], folder: Path, processes: int) -> list[str]:
    """Write the text files of the data, and return one line for each problem: entries or trees that were left out."""
    flags = {column.flag for column in KNOWN.values()}
    options = {name: value for name, value in experiment.options.items() if name not in flags}
    options["columns"] = asked_for(experiment.options, experiment.formalism.name)
    if experiment.formalism is AMR:
        from transition_parser.preprocess.amr import AmrOptions, preprocess_amr

        del options["system"]
        _counts, problems = preprocess_amr(splits, folder, AmrOptions(**options, processes=processes))
        return [f"left out: {str(problem).partition(chr(10))[0]}" for problem in problems]
    from transition_parser.preprocess.dependency import DependencyOptions, preprocess_dependency

    counts = preprocess_dependency(splits, folder, DependencyOptions(**options, holds_out=experiment.holds_out))
    skipped = {split: n["skipped"] for split, n in counts.items() if n["skipped"]}
    return [f"left out: {n} trees of {split} that the system can't build" for split, n in skipped.items()]
