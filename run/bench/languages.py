"""Models on the treebanks of other languages, which they were not trained on: CoNLL 2018 scores.

    python run/bench/languages.py TREEBANK_FOLDER… --models MODEL… [--words] [--own-domain] [--threads 1]

Each model parses test.conllu of each folder: its raw text, which the model's own segmenter divides, or with --words its
words, without their tags. With --own-domain a model of several treebanks is told which one the text is of, by the name
of its folder. One line of JSON for each model and folder has the F1 of some metrics.
"""

from __future__ import annotations

import json
from pathlib import Path

import common

from transition_parser import Parser

METRICS = ("Sentences", "Words", "UPOS", "UAS", "LAS", "MLAS", "BLEX")


def main() -> None:
    """Print the scores."""
    options = common.parser(__doc__ or "")
    options.add_argument("treebanks", nargs="+", type=Path, metavar="FOLDER", help="treebank with test.conllu")
    options.add_argument("--models", nargs="+", required=True, help="models of trees")
    options.add_argument("--words", action="store_true", help="parse words, not raw text")
    options.add_argument("--own-domain", action="store_true", help="give the names of the folders as domains")
    arguments = options.parse_args()
    for model in arguments.models:
        for folder in arguments.treebanks:
            domain = folder.name if arguments.own_domain else None
            parser = Parser.load(model, beam=1, threads=arguments.threads, domain=domain)
            figures = parser.evaluate(folder / "test.conllu", segment=not arguments.words, conll18=True)
            found = {name: figures["conll18"][name]["f1"] for name in METRICS}
            print(json.dumps({"model": model, "treebank": folder.name, **found}), flush=True)


if __name__ == "__main__":
    main()
