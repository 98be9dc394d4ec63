"""Parse a treebank or an AMR bank with a model, greedily and with a beam of 10, and score the parses.

    python run/evaluate.py MODEL GOLD.conllu|GOLD.amr [--precision P] ...

The model sees no lemmas, tags and features that it predicts. Trees are also scored by their full labels, and AMRs also
without :wiki, which some corpora lack, and by fine-grained Smatch. A line has a beam, options of scoring, and figures.
"""

import argparse
import json
from pathlib import Path
from tempfile import TemporaryDirectory

from transition_parser import Parser
from transition_parser.base.errors import InputError

BEAMS = (1, 10)
VARIANTS = {"trees": ("", "full_labels"), "AMRs": ("", "ignore_wiki", "fine_grained")}


def evaluate(arguments: argparse.Namespace) -> None:
    """Print the figures."""
    how = {"precision": arguments.precision, "device": arguments.device}
    for beam in BEAMS:
        parser = Parser.load(arguments.model, beam, threads=arguments.threads, **how)
        formalism = parser.formalism
        with TemporaryDirectory() as folder:
            parsed = Path(folder, f"parsed{formalism.suffix}")
            parser.evaluate(arguments.gold, parsed)
            for variant in VARIANTS[formalism.name]:
                found = formalism.scoring.score(arguments.gold, parsed, **({variant: True} if variant else {}))
                print(f"beam {beam} {variant} {json.dumps(found)}", flush=True)


def main() -> None:
    of = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    of.add_argument("model", help="checkpoint, exported folder, or name")
    of.add_argument("gold", help="CoNLL-U file or AMR bank")
    of.add_argument("--precision", default="auto", help="auto (default), fp32, bf16 or int8")
    of.add_argument("--device", default="cpu")
    of.add_argument("--threads", type=int)
    try:
        evaluate(of.parse_args())
    except (InputError, OSError) as error:
        of.exit(2, f"{of.prog}: error: {error}\n")


if __name__ == "__main__":
    main()
