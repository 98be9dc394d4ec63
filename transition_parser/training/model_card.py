"""The card of a trained model: where it came from, and its scores."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transition_parser.storage.cards import write_card
from transition_parser.training.experiment import Experiment
from transition_parser.training.treebanks import Treebank


def write_model_card(
    experiment: Experiment,
    folder: Path,
    figures: Mapping[str, Any],
    about: Mapping[str, str],
    treebank: Treebank | None,
) -> None:
    """Write the card of a model into its folder, and the licence files of its treebank beside it.

    figures: split → `beam N` → name → score
    about: further front matter; it replaces entries that the treebank gives
    treebank: None where the corpus was not given as the folder of a treebank
    """
    scores: list[dict[str, Any]] = []
    for split in experiment.splits:
        for beam, of_split in figures.get(split, {}).items():
            values = {name: of_split[name] for name in experiment.formalism.figures}
            values = {name: value["f1"] if isinstance(value, dict) else value for name, value in values.items()}
            scores.append({"data": _data_name(experiment, split, treebank), "beam": int(beam.split()[1]), **values})
    text = f"Trained by `transition-parser train` with the config `{Path(experiment.config).name}`."
    if treebank is not None:
        for path in treebank.license_files:
            shutil.copyfile(path, folder / path.name)
        about, text = {**treebank.about(), **about}, f"{treebank.source()}\n\n{text}"
    title = experiment.dest.resolve().name if treebank is None else treebank.name
    write_card(folder, title, {**about, "scores": scores}, text)


def _data_name(experiment: Experiment, split: str, treebank: Treebank | None) -> str:
    if treebank is not None:
        return f"{treebank.name} {split if split in experiment.files else f'{split} (held out)'}"
    return Path(experiment.files[split][0]).name
