"""An experiment, one in a folder: its flags, data and options, and its stages, data → checkpoints → model.

The output of a stage gets its final name only when it is complete. A run that continues an interrupted run therefore
skips the stages that are finished.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from transition_parser.base.errors import input_error
from transition_parser.base.files import folder as made_folder
from transition_parser.base.files import locked_file, replacing
from transition_parser.base.model_files import OBJECT, read_json, read_versioned, sha256_of, short_repr, write_json
from transition_parser.base.process import on_terminal
from transition_parser.data.resources import SEGMENTER_FILES
from transition_parser.parsing.formalisms import AMR, Formalism, formalism_of
from transition_parser.preprocess.splits import check_undivided
from transition_parser.storage.cards import write_card
from transition_parser.text.columns import KNOWN, asked_for, domain_of
from transition_parser.training.flags import Flag, arguments_of
from transition_parser.training.programs import Display, best_of, epochs_of, run_fairseq
from transition_parser.training.treebanks import Treebank, about_all

FILE_NAME, LOCK = "experiment.json", ".lock"
FORMAT_VERSION = 1
WRITTEN_BY = "`transition-parser train` writes it"
_KEYS = {"flags": OBJECT, "files": OBJECT, "options": OBJECT}


@dataclass(frozen=True)
class Experiment:
    """An experiment in the folder `dest`."""

    dest: Path
    config: str  # the name of the config, for people
    flags: tuple[Flag, ...]  # the flags of `fairseq-train`, each once
    files: Mapping[str, Sequence[str]]  # split → files, for `train`, and for `dev` and `test` if given
    options: Mapping[str, Any]  # the options of preprocessing; one of them is `system`, the transition system
    settings: Mapping[str, Any] = field(default_factory=dict)  # others that change the model or its figures

    @property
    def data(self) -> Path:
        """The folder of the binarized data."""
        return self.dest / "data"

    @property
    def checkpoints(self) -> Path:
        """The folder of the checkpoints."""
        return self.dest / "checkpoints"

    @property
    def model(self) -> Path:
        """The folder of the exported model, the last output of the experiment."""
        return self.dest / "model"

    @property
    def history(self) -> Path:
        """The file with loss and score of each epoch, which is written when training is finished."""
        return self.dest / "history.json"

    @property
    def formalism(self) -> Formalism:
        """The formalism of the transition system."""
        return formalism_of(self.options["system"])

    @property
    def splits(self) -> list[str]:
        """The splits that the data have: `train`, `dev`, and `test` if it is given."""
        return [split for split in ("train", "dev", "test") if split in self.files or split == "dev"]

    @property
    def holds_out(self) -> bool:
        """True where dev data are held out from the training data."""
        return "dev" not in self.files

    @property
    def metric(self) -> str:
        """The score that chooses checkpoints, such as `las`."""
        return self.value("--best-checkpoint-metric", "loss")

    @property
    def maximizes(self) -> bool:
        """True where checkpoints with a higher score are better."""
        return any(flag.name == "--maximize-best-checkpoint-metric" for flag in self.flags)

    @property
    def is_finished(self) -> bool:
        """True where the folder holds the model of this experiment."""
        path = self.dest / FILE_NAME
        return self.model.is_dir() and path.is_file() and read_json(path, WRITTEN_BY) == self._described()

    def value(self, flag: str, default: str | None = None) -> str | None:
        """Return the value of a flag; `default` for a flag that is missing or is a switch."""
        return next((one.value for one in self.flags if one.name == flag and one.value is not None), default)

    def begin(self) -> None:
        """Write the definition into the folder. Raises `InputError` if the folder holds another experiment."""
        path, mine = self.dest / FILE_NAME, self._described()
        if not path.exists() and any(file.name != LOCK for file in self.dest.iterdir()):
            raise input_error("the folder holds other files, but no experiment: give a new folder with -o", self.dest)
        if path.exists() and self.data.is_dir():
            theirs = read_versioned(path, WRITTEN_BY, FORMAT_VERSION, _KEYS)
            if theirs == mine:
                return
            # before the first checkpoint nothing depends on the flags
            parts = ("flags", "files", "options") if any(self.checkpoints.glob("*.pt")) else ("files", "options")
            changed = [text for part in parts for text in _differing(theirs[part], mine[part])]
            if changed:
                what = "; ".join(changed)
                raise input_error(f"this folder holds another experiment: {what}. Give -o another folder", self.dest)
        write_json(path, mine)

    def _described(self) -> dict[str, Any]:
        options = {**self.options, **self.settings}
        return {
            "format_version": FORMAT_VERSION,
            "flags": {flag.name: flag.value for flag in sorted(self.flags)},
            "files": {f"--{split}": [sha256_of(path) for path in paths] for split, paths in self.files.items()},
            "options": {f"--{name.replace('_', '-')}": value for name, value in options.items()},
        }


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a folder, which is created if it is missing, against other runs until the block has ended."""
    check_undivided(path)
    busy = input_error("another `transition-parser train` is running in this folder: wait for it, or end it", path)
    with made_folder(path), locked_file(path / LOCK, busy):
        yield


def _differing(theirs: Mapping[str, Any], mine: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(theirs.keys() | mine.keys()):
        then, now = (_shown(values, name) for values in (theirs, mine))
        if theirs.get(name) != mine.get(name) or (name in theirs) != (name in mine):
            content = name in ("--train", "--dev", "--test") and name in theirs and name in mine
            yield f"{name} has another content" if content else f"{name} was {then}, is {now}"


def _shown(values: Mapping[str, Any], name: str) -> str:
    if name not in values:
        return "not given"
    value = values[name]
    return (
        "given" if value is None or isinstance(value, list) else value if isinstance(value, str) else short_repr(value)
    )


# --- stages -----------------------------------------------------------------------------------


SPLITS = {"train": "train", "dev": "valid", "test": "test"}  # our name of a split → fairseq's name
TRAIN_LOG, PREPARE_LOG, SCORES = "train.log", "prepare.log", "scores.json"
_SAID = 3  # messages about each training of a segmenter


def evaluate(
    experiment: Experiment, model: Path, split: str, beams: Sequence[int], device: str, raw_text: bool = False
) -> dict[str, Any]:
    """Parse and score a split. Return `beam N` (of several treebanks `NAME, beam N`) → figures of `Formalism.score`.

    raw_text: True to parse the raw text of trees; then the keys are `SPLIT` or `SPLIT, NAME`.
        There are none for a model that reads columns of words.
    """
    from transition_parser.parsing.parser import Parser

    figures = {}
    for beam in beams:
        for domain, gold in _golds(experiment, split).items():
            parser = Parser.load(model, beam=beam, device=device, domain=domain)
            if raw_text and parser.given_columns:
                return {}
            name = f"{split}.{'raw-text' if raw_text else f'beam-{beam}'}{f'.{domain}' if domain else ''}"
            parsed = experiment.dest / f"{name}{experiment.formalism.suffix}"
            key = ", ".join(filter(None, (split, domain) if raw_text else (domain, f"beam {beam}")))
            figures[key] = parser.evaluate(gold, parsed, segment=raw_text)
    return figures


def _golds(experiment: Experiment, split: str) -> dict[str | None, Path]:
    """Return the files of a split by the names of their treebanks; a single one has no name."""
    bank = experiment.data / f"{SPLITS[split]}{experiment.formalism.suffix}"
    paths = [bank] if bank.is_file() else [*map(Path, experiment.files[split])]
    return {domain_of(path): path for path in paths} if len(paths) > 1 else {None: paths[0]}


SIZES = (1, 3, 5)  # sizes of the averages that are compared; the average of all checkpoints is compared, too


def select(experiment: Experiment, device: str) -> tuple[Sequence[Path], list[dict[str, Any]]]:
    """Return the average of best checkpoints that parses dev best (the largest of equal ones), and all averages."""
    best_first, figures = best_checkpoints(experiment), experiment.formalism.figures
    sizes = sorted({*(size for size in SIZES if size < len(best_first)), len(best_first)})
    if len(sizes) == 1:
        return best_first, []
    name = experiment.metric if experiment.metric in figures else [*figures][-1]  # else LAS or Smatch
    scores = {size: _score(experiment, device, best_first[:size], name) for size in sizes}
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


def _score(experiment: Experiment, device: str, paths: Sequence[Path], name: str) -> float:
    from transition_parser.storage.checkpoints import export_checkpoint

    folder = experiment.dest / ".candidate"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        export_checkpoint(paths, folder, experiment.settings["bits"])
        found = evaluate(experiment, folder, "dev", experiment.settings["beam"][:1], device)
        values = [figures[name] for figures in found.values()]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return fmean(value["f1"] if isinstance(value, dict) else value for value in values)


@dataclass(frozen=True)
class Stages:
    """The stages of an experiment."""

    experiment: Experiment
    device: str = "cpu"  # that parses dev and test
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
        flags = arguments_of(experiment.flags)
        ours = ["--save-dir", str(experiment.checkpoints), "--log-format", "json"]
        often = [] if experiment.value("--log-interval") else ["--log-interval", "10"]
        run_fairseq("train", [str(experiment.data), *flags, *ours, *often], log, self.user_dir, display.line)
        with open(log, encoding="utf-8") as lines:
            write_json(history, epochs_of(lines, metric))

    def _export(self, history: Sequence[dict[str, float]]) -> None:
        from transition_parser.storage.checkpoints import export_checkpoint

        experiment, beams = self.experiment, self.experiment.settings["beam"]
        averaged, compared = select(experiment, self.device)
        folder = experiment.dest / ".model"
        shutil.rmtree(folder, ignore_errors=True)
        export_checkpoint(averaged, folder, experiment.settings["bits"])
        figures: dict[str, Any] = {"epochs": len(history), "averaged": len(averaged), "compared": compared}
        for split in ("dev", "test"):
            if split in experiment.splits:
                figures[split] = evaluate(experiment, folder, split, beams, self.device)
        if experiment.settings.get("segmenter"):
            of_raw_text = evaluate(experiment, folder, experiment.splits[-1], beams[:1], self.device, raw_text=True)
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
