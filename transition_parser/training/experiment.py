"""An experiment, one in a folder: its flags, data and options, and its stages, data → checkpoints → model.

The output of a stage gets its final name only when it is complete. A run that continues an interrupted run therefore
skips the stages that are finished.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from transition_parser.base.errors import input_error
from transition_parser.base.files import folder as made_folder
from transition_parser.base.files import replacing
from transition_parser.base.model_files import read_json, sha256_of, write_json
from transition_parser.data.resources import SEGMENTER_FILES
from transition_parser.parsing.formalisms import AMR, OF_SYSTEM, Formalism
from transition_parser.preprocess.splits import check_undivided
from transition_parser.storage.cards import write_card
from transition_parser.text.columns import domain_of
from transition_parser.training.flags import Flag, arguments_of
from transition_parser.training.programs import epoch_line, epochs_of, run_fairseq
from transition_parser.training.treebanks import Treebank, about_all

FILE_NAME, LOCK = "experiment.json", ".lock"
SPLITS = {"train": "train", "dev": "valid", "test": "test"}  # our name of a split → fairseq's name
TRAIN_LOG, PREPARE_LOG, SCORES = "train.log", "prepare.log", "scores.json"
SIZES = (1, 3, 5)  # sizes of the averages that are compared; the average of all checkpoints is compared, too


@dataclass(frozen=True)
class Experiment:
    """An experiment in the folder `dest`."""

    dest: Path
    config: str  # the name of the config, for people
    flags: tuple[Flag, ...]  # the flags of `fairseq-train`, each once
    files: Mapping[str, Sequence[str]]  # split → files, for `train`, and for `dev` and `test` if given
    options: Mapping[str, Any]  # the options of preprocessing; one of them is `system`, the transition system
    settings: Mapping[str, Any]  # `bits` and `beam`; `segmenter`, its epochs, for a model that divides raw text
    treebanks: Sequence[Treebank] = ()  # none where files were given in place of treebanks' folders
    device: str = "cpu"  # that parses dev and test
    user_dir: str | None = None  # a package with further models, as for fairseq's `--user-dir`
    processes: int = 1  # that align AMRs

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
    def formalism(self) -> Formalism:
        """The formalism of the transition system."""
        return OF_SYSTEM[self.options["system"]]

    @property
    def splits(self) -> list[str]:
        """The splits that the data have: `train`, `dev`, and `test` if it is given."""
        return [split for split in SPLITS if split in self.files or split == "dev"]

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

    def value(self, flag: str, default: str | None = None) -> str | None:
        """Return the value of a flag; `default` for a flag that is missing or is a switch."""
        return next((one.value for one in self.flags if one.name == flag and one.value is not None), default)

    def begin(self) -> None:
        """Write the definition into the folder. Raises `InputError` if the folder holds another experiment."""
        path, mine = self.dest / FILE_NAME, self._described()
        if not path.exists() and any(file.name != LOCK for file in self.dest.iterdir()):
            raise input_error("the folder holds other files, but no experiment: give a new folder with -o", self.dest)
        theirs = read_json(path, "`transition-parser train` writes it") if path.exists() else {}
        if theirs and self.data.is_dir():
            # before the first checkpoint nothing depends on the flags
            parts = [*mine] if any(self.checkpoints.glob("*.pt")) else ["files", "options"]
            of_both = ((theirs.get(part, {}), mine[part]) for part in parts)
            # a switch has the value None
            changed = [name for a, b in of_both for name in {**a, **b} if a.get(name, "") != b.get(name, "")]
            if changed:
                problem = f"this folder holds another experiment ({', '.join(sorted(changed))})"
                raise input_error(f"{problem}: give -o another folder", path)
        if theirs != mine:
            write_json(path, mine)

    def _described(self) -> dict[str, dict[str, Any]]:
        options = {**self.options, **self.settings}
        return {
            "flags": {flag.name: flag.value for flag in sorted(self.flags)},
            "files": {f"--{split}": [sha256_of(path) for path in paths] for split, paths in self.files.items()},
            "options": {f"--{name.replace('_', '-')}": value for name, value in options.items()},
        }

    # --- stages -----------------------------------------------------------------------------------

    def run(self) -> dict[str, Any]:
        """Run all stages that are not done yet, and return the figures of the model: `scores.json` in its folder."""
        if not self.data.is_dir():
            _say("preparing the data")
            self._prepare()
        if "segmenter" in self.settings and not all((self.data / name).is_file() for name in SEGMENTER_FILES):
            _say("training the segmenter of raw text")
            self._train_segmenter()
        history = self.dest / "history.json"
        if not history.is_file():
            _say(f"training: the log is {self.dest / TRAIN_LOG}")
            self._train(history)
        if not self.model.is_dir():
            _say("averaging, exporting and evaluating")
            self._export(len(json.loads(history.read_text(encoding="utf-8"))))
        return json.loads((self.model / SCORES).read_text(encoding="utf-8"))

    def _prepare(self) -> None:
        folder = self.dest / ".data"
        shutil.rmtree(folder, ignore_errors=True)  # an interrupted run left it
        for line in self._preprocess({SPLITS[split]: paths for split, paths in self.files.items()}, folder):
            _say(f"left out: {line}")
        splits = [part for split in map(SPLITS.get, self.splits) for part in (f"--{split}pref", f"{folder / split}")]
        languages = ("--source-lang", "src", "--target-lang", "act", "--destdir", str(folder))
        run_fairseq("preprocess", [*splits, *languages], self.dest / PREPARE_LOG)
        os.replace(folder, self.data)

    def _preprocess(self, splits: Mapping[str, Sequence[str]], folder: Path) -> list[str]:
        """Write the text files of the data, and return one line for each problem: entries or trees left out."""
        if self.formalism is AMR:
            from transition_parser.preprocess.amr import AmrOptions, preprocess_amr

            options = {name: value for name, value in self.options.items() if name != "system"}
            _counts, problems = preprocess_amr(splits, folder, AmrOptions(**options, processes=self.processes))
            return [str(problem).partition("\n")[0] for problem in problems]
        from transition_parser.preprocess.dependency import DependencyOptions, preprocess_dependency

        counts = preprocess_dependency(splits, folder, DependencyOptions(**self.options, holds_out=self.holds_out))
        skipped = {split: n["skipped"] for split, n in counts.items() if n["skipped"]}
        return [f"{n} trees of {split} that the system can't build" for split, n in skipped.items()]

    def _train_segmenter(self) -> None:
        """Write a segmenter into the folder of the data, from which the export of a checkpoint copies it."""
        from transition_parser.preprocess.dependency import hold_out
        from transition_parser.storage.exports import save_segmenter
        from transition_parser.training.segmenter import SegmenterOptions, train_segmenter, written_sentences

        sentences = written_sentences(self.files["train"])
        if self.holds_out:
            sentences, _dev = hold_out(sentences)
        options = SegmenterOptions(self.settings["segmenter"], pretrained=self.value("--pretrained"))
        save_segmenter(train_segmenter(sentences, options), self.data)

    def _train(self, history: Path) -> None:
        log, metric = self.dest / TRAIN_LOG, self.metric
        mend_checkpoints(self.checkpoints)
        last = float(self.value("--max-epoch", "0"))

        def show(line: str) -> None:
            if text := epoch_line(line, log, last, metric, self.maximizes):
                _say(text)

        ours = ["--save-dir", str(self.checkpoints), "--log-format", "json"]
        often = [] if self.value("--log-interval") else ["--log-interval", "10"]
        run_fairseq("train", [str(self.data), *arguments_of(self.flags), *ours, *often], log, self.user_dir, show)
        write_json(history, epochs_of(log, metric))

    def _export(self, epochs: int) -> None:
        from transition_parser.storage.checkpoints import export_checkpoint

        averaged, compared = self._best_average()
        folder = self.dest / ".model"
        shutil.rmtree(folder, ignore_errors=True)
        export_checkpoint(averaged, folder, self.settings["bits"])
        figures: dict[str, Any] = {"epochs": epochs, "averaged": len(averaged), "compared": compared}
        for split in self.splits[1:]:
            figures[split] = self._evaluated(folder, split, self.settings["beam"])
        if "segmenter" in self.settings:
            figures["raw_text"] = self._evaluated(folder, self.splits[-1], self.settings["beam"][:1], raw_text=True)
            if not figures["raw_text"]:
                _say("no scores on raw text: the model reads columns of words, which raw text does not have")
        write_json(folder / SCORES, figures)
        self._write_card(folder, figures)
        os.replace(folder, self.model)

    def _best_average(self) -> tuple[Sequence[Path], list[dict[str, Any]]]:
        """Return the average of best checkpoints that parses dev best (the largest of equal ones), and all averages."""
        best_first, figures = self._best_checkpoints(), self.formalism.figures
        sizes = sorted({*(size for size in SIZES if size < len(best_first)), len(best_first)})
        if len(sizes) == 1:
            return best_first, []
        name = self.metric if self.metric in figures else [*figures][-1]  # else LAS or Smatch
        scores = {size: self._score(best_first[:size], name) for size in sizes}
        best = max(sizes, key=lambda size: (scores[size], size))
        return best_first[:best], [{"averaged": size, name: score} for size, score in scores.items()]

    def _best_checkpoints(self) -> list[Path]:
        """Return the checkpoints that fairseq kept, the best first."""
        beginning = f"checkpoint.best_{self.metric}_"
        named = sorted(
            self.checkpoints.glob(f"{beginning}*.pt"),
            key=lambda path: float(path.stem.removeprefix(beginning)),
            reverse=self.maximizes,
        )
        for paths in (named, [self.checkpoints / "checkpoint_best.pt"], [self.checkpoints / "checkpoint_last.pt"]):
            if paths and all(path.is_file() for path in paths):
                return paths
        raise input_error("fairseq-train kept no checkpoint here: leave out --no-save", self.checkpoints)

    def _score(self, checkpoints: Sequence[Path], name: str) -> float:
        from transition_parser.storage.checkpoints import export_checkpoint

        folder = self.dest / ".candidate"
        shutil.rmtree(folder, ignore_errors=True)
        try:
            export_checkpoint(checkpoints, folder, self.settings["bits"])
            found = self._evaluated(folder, "dev", self.settings["beam"][:1])
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return fmean(_f1(figures[name]) for figures in found.values())

    def _evaluated(self, model: Path, split: str, beams: Sequence[int], raw_text: bool = False) -> dict[str, Any]:
        """Parse and score a split. Return `beam N` (of several treebanks `NAME, beam N`) → figures of a score.

        raw_text: True to parse the raw text of trees; then the keys are `SPLIT` or `SPLIT, NAME`.
            There are none for a model that reads columns of words.
        """
        from transition_parser.parsing.parser import Parser

        bank = self.data / f"{SPLITS[split]}{self.formalism.suffix}"
        paths = [bank] if bank.is_file() else [*map(Path, self.files[split])]
        golds = {domain_of(path): path for path in paths} if len(paths) > 1 else {None: paths[0]}
        figures = {}
        for beam in beams:
            for domain, gold in golds.items():
                parser = Parser.load(model, beam=beam, device=self.device, domain=domain)
                if raw_text and parser.given_columns:
                    return {}
                name = f"{split}.{'raw-text' if raw_text else f'beam-{beam}'}{f'.{domain}' if domain else ''}"
                key = ", ".join(filter(None, (split, domain) if raw_text else (domain, f"beam {beam}")))
                parsed = self.dest / f"{name}{self.formalism.suffix}"
                figures[key] = parser.evaluate(gold, parsed, segment=raw_text)
        return figures

    def _write_card(self, folder: Path, figures: Mapping[str, Any]) -> None:
        """Write the card of a model into its folder, and the license files of its treebanks beside it."""
        scores: list[dict[str, Any]] = []
        for split in self.splits[1:]:
            for beam, of_split in figures[split].items():
                values = {name: _f1(of_split[name]) for name in self.formalism.figures}
                held_out = "" if split in self.files else " (held out)"
                domain, _, size = beam.rpartition("beam ")
                name = domain.removesuffix(", ") or "".join(treebank.name for treebank in self.treebanks)
                data = f"{name} {split}{held_out}" if name else Path(self.files[split][0]).name
                scores.append({"data": data, "beam": int(size), **values})
        text = f"Trained by `transition-parser train` with the config `{Path(self.config).name}`."
        if start := self.value("--start-from"):
            text += f" Training started from the model `{Path(start).name}`: the licenses in its card hold, too."
        for treebank in self.treebanks:
            for name, path in treebank.license_files.items():
                shutil.copyfile(path, folder / name)
        text = "\n\n".join([*(treebank.source() for treebank in self.treebanks), text])
        title = " and ".join(treebank.name for treebank in self.treebanks) or self.dest.resolve().name
        write_card(folder, title, {**about_all(self.treebanks), "scores": scores}, text)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock a folder, which is created if it is missing, against other runs until the block has ended."""
    check_undivided(path)
    with made_folder(path), open(path / LOCK, "a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            problem = "another `transition-parser train` is running in this folder: wait for it, or end it"
            raise input_error(problem, path) from None
        try:
            yield
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)  # closing alone leaves it locked while a forked process has a copy


def mend_checkpoints(folder: Path) -> None:
    """Remove unfinished checkpoints; if `checkpoint_last.pt` is then missing, it becomes a copy of the newest one."""
    for path in [*folder.glob("*.pt")]:
        try:
            with zipfile.ZipFile(path) as archive:
                whole = archive.testzip() is None
        except zipfile.BadZipFile:
            whole = False
        if not whole:
            _say(f"removed a checkpoint that was not finished: {path}")
            path.unlink()
    last = folder / "checkpoint_last.pt"
    rest = sorted(folder.glob("*.pt"), key=lambda path: path.stat().st_mtime)
    if rest and not last.exists():
        with replacing(last) as temporary:
            shutil.copyfile(rest[-1], temporary)


def _f1(value: Any) -> float:
    return value["f1"] if isinstance(value, dict) else value


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
