"""CoNLL 2018 scores of a model on the raw text of treebanks of one or many languages.

    python run/bench/languages.py MODEL TREEBANK_FOLDER… [-o FILE]
    python run/bench/languages.py --table FILE

The model divides and parses the text of test.conllu of each folder, or of dev.conllu where there is no test.conllu,
greedily. A model of several treebanks is told the one that has the name of the folder, or its language
(UD_German-GSD: de). One line of JSON for each folder has the F1 of some metrics, in percent. With -o all lines are also
written as a list to FILE, which --table prints as a table in Markdown, beside results of UDPipe 1 that are in it.
"""

import argparse
import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from transition_parser import Parser
from transition_parser.base.model_files import write_json
from transition_parser.graphs.conllu import read_conllu
from transition_parser.text.languages import LANGUAGES, language_of

ENOUGH_TRAINING = 8_000  # words of a treebank from which a model can learn its language
METRICS = ("LAS", "UPOS", "UFeats", "Lemmas", "Sentences", "Words", "UAS", "MLAS", "BLEX")
SHOWN = METRICS[:6]
UDPIPE = "UDPipe 1"


def row(model: str, folder: Path) -> dict[str, Any]:
    """Return the scores of a model on a treebank."""
    language = language_of(folder.name.removeprefix("UD_").partition("-")[0])
    split = "test" if (folder / "test.conllu").exists() else "dev"
    parser = Parser.load(model)
    if known := parser.resources.columns.values.get("domain", ()):
        parser = Parser.load(model, domain=folder.name if folder.name in known else language)
    with TemporaryDirectory() as parsed:
        gold = folder / f"{split}.conllu"
        scores = parser.evaluate(gold, Path(parsed, gold.name), segment=True, conll18=True)["conll18"]
    words = sum(len(sentence.forms) for sentence in read_conllu(folder / "train.conllu"))
    about = {"treebank": folder.name, "language": language, "training_words": words, "split": split, "model": model}
    return about | {metric: round(scores[metric]["f1"], 2) for metric in METRICS}


def table(results: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of a table: a row for each treebank, the scores of a model and, after a slash, of UDPipe 1."""
    yield f"| language | treebank | training words | {' | '.join(SHOWN)} |"
    yield f"|{'---|' * (3 + len(SHOWN))}"
    ours = {one["treebank"]: one for one in results if one["model"] != UDPIPE}
    theirs = {one["treebank"]: one for one in results if one["model"] == UDPIPE}
    for name, one in sorted(ours.items(), key=lambda pair: pair[1]["language"] or ""):
        language = f"{LANGUAGES.get(one['language'], '')} `{one['language']}`"
        cells = [
            f"{one[metric]:.1f} / {theirs[name][metric]:.1f}" if name in theirs else f"{one[metric]:.1f}"
            for metric in SHOWN
        ]
        mark = " ¹" if one["split"] == "dev" else ""
        about = f"{language} | {name}{mark} | {one['training_words']:,}"
        yield f"| {about} | {' | '.join(cells)} |"
    tested = [name for name in ours if ours[name]["split"] == "test"] or [*ours]
    large = [name for name in tested if ours[name]["training_words"] >= ENOUGH_TRAINING]
    for title, names, sides in (
        (f"mean of {len(theirs)}, beside UDPipe 1", [*theirs], (ours, theirs)),
        (f"mean of {len(tested)} ({ours[tested[0]]['split']})", tested, (ours,)),
        (f"mean of {len(large)} with {ENOUGH_TRAINING:,} training words or more", large, (ours,)),
    ):
        if names:
            means = [" / ".join(f"{_mean(side, names, metric):.1f}" for side in sides) for metric in SHOWN]
            yield f"| {title} | | | {' | '.join(means)} |"


def _mean(results: dict[str, dict[str, Any]], names: list[str], metric: str) -> float:
    return statistics.mean(results[name][metric] for name in names)


def main() -> None:
    """Print the scores, or the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("model", nargs="?", metavar="MODEL", help="model of trees")
    options.add_argument("treebanks", nargs="*", type=Path, metavar="FOLDER", help="folders of treebanks")
    options.add_argument("-o", "--output", metavar="FILE", help="write all lines there, too")
    options.add_argument("--table", metavar="FILE", help="print the results in FILE as a table")
    arguments = options.parse_args()
    if arguments.table:
        print(*table(json.loads(Path(arguments.table).read_text(encoding="utf-8"))), sep="\n")
        return
    found = []
    for folder in arguments.treebanks:
        found.append(row(arguments.model, folder))
        print(json.dumps(found[-1]), flush=True)
    if arguments.output:
        write_json(arguments.output, found, indent=0)


if __name__ == "__main__":
    main()
