"""Models on the treebanks of other languages, which they were not trained on: CoNLL 2018 scores.

    python run/bench/languages.py TREEBANK_FOLDER… --models MODEL… [--own-domain] [--threads 1]

Each model parses test.conllu of each folder twice: gold words without tags, and raw text, which the model's own
segmenter divides. With --own-domain a model of several treebanks is told by the folder's name which one the text is of.
For each model and folder one line of JSON has the F1 of some metrics of the two.
"""

from __future__ import annotations

import json
from pathlib import Path

import common

from transition_parser import Parser

METRICS = ("Sentences", "Words", "UPOS", "UAS", "LAS", "MLAS", "BLEX")


def scores(parser: Parser, test: Path, segment: bool) -> dict[str, float]:
    """Return metric → F1 of the parses of gold words, or of raw text (`segment`)."""
    found = parser.evaluate(test, segment=segment, conll18=True)["conll18"]
    return {name: found[name]["f1"] for name in METRICS}


def main() -> None:
    """Print the scores."""
    options = common.parser(__doc__ or "")
    options.add_argument("treebanks", nargs="+", type=Path, metavar="FOLDER", help="treebank with test.conllu")
    options.add_argument("--models", nargs="+", required=True, help="models of trees")
    options.add_argument("--own-domain", action="store_true", help="give the names of the folders as domains")
    arguments = options.parse_args()
    for model in arguments.models:
        for folder in arguments.treebanks:
            domain = folder.name if arguments.own_domain else None
            parser = Parser.load(model, beam=1, threads=arguments.threads, domain=domain)
            test = folder / "test.conllu"
            found = {"words": scores(parser, test, False), "raw text": scores(parser, test, True)}
            print(json.dumps({"model": model, "treebank": folder.name, **found}), flush=True)


if __name__ == "__main__":
    main()
