"""Smatch of search with and without its limits on roles.

    python run/bench/roles.py MODEL GOLD [--beam 1 10]

Under the limits a node gets a role at most once if no node has the role twice in training. MODEL: a folder that
`transition-parser export` wrote, of AMRs. GOLD: an AMR bank. The report also has the share of parses in which a node
has the same :ARGn, :opN or :polarity twice.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

import torch
from common import parser
from precision import scores

from transition_parser import Parser
from transition_parser.graphs.amr import AmrGraph
from transition_parser.parsing.parses import AmrParse
from transition_parser.parsing.preparation import PRECISIONS
from transition_parser.storage.exports import read_config, write_config

ROLE = re.compile(r"ARG\d+|op\d+|polarity")
LEXICON = "lexicon.json"


def without_limits(model: Path, folder: Path) -> Path:
    """Return a copy of the model whose search may give any role any number of times."""
    copy = folder / "model"
    shutil.copytree(model, copy)
    lexicon = json.loads((copy / LEXICON).read_text(encoding="utf-8"))
    lexicon["limits"]["once"] = []
    (copy / LEXICON).write_text(json.dumps(lexicon), encoding="utf-8")
    architecture, options = read_config(model)
    write_config(copy, architecture, options)
    return copy


def has_doubled_role(graph: AmrGraph) -> bool:
    """Return True where a node has one of `ROLE` twice."""
    counts = Counter((edge.source, edge.role) for edge in graph.edges if ROLE.fullmatch(edge.role))
    return any(count > 1 for count in counts.values())


def figures(model: Path, gold: str, beam: int, precision: str) -> dict[str, float]:
    """Return Smatch (F1, in percent), and the share of the parses with a doubled role, in percent."""
    loaded = Parser.load(model, beam, precision=precision)
    parses = list(loaded.parse_stream(loaded.read(gold)))
    doubled = sum(has_doubled_role(parse.graph) for parse in parses if isinstance(parse, AmrParse))
    found = scores(loaded, list(loaded.formalism.read_graphs(gold)), parses)
    return {**found, "doubled": round(100 * doubled / max(len(parses), 1), 1)}


def main() -> None:
    """Print the figures as JSON."""
    options = parser(__doc__ or "")
    options.add_argument("model", type=Path, help="exported folder")
    options.add_argument("gold", help="AMR bank")
    options.add_argument("--beam", type=int, nargs="+", default=[1, 10])
    options.add_argument("--precision", default="bf16", choices=PRECISIONS)
    arguments = options.parse_args()
    torch.set_num_threads(arguments.threads)
    if not (arguments.model / LEXICON).is_file():
        sys.exit(f"{arguments.model}: not a folder of `transition-parser export` with a model of AMRs")
    with tempfile.TemporaryDirectory() as name:
        models = {"once": arguments.model, "any number": without_limits(arguments.model, Path(name))}
        found = {
            f"{kind}, beam {beam}": figures(model, arguments.gold, beam, arguments.precision)
            for beam in arguments.beam
            for kind, model in models.items()
        }
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
