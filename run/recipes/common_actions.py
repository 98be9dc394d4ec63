"""Leave out of training data the concepts and names that one sentence alone has, and frames that do not exist.

    python run/recipes/common_actions.py DATA [--known dict.act.txt]

DATA: a folder from `transition-parser preprocess amr`, before `run/binarise.sh`. Sentences with such an action are
taken out of `train.*`, and the actions out of `lexicon.json`. So a model has fewer actions, and none like
`PRED(threat-01)`, which silver AMRs teach. Numbers, relations and other actions stay, and so do those of the model that
training starts from: --known is its list of actions.
"""

import argparse
import re
from collections import Counter
from pathlib import Path

from shared import options, run, write

from transition_parser.base.errors import input_error
from transition_parser.base.model_files import read_json, read_text, write_json
from transition_parser.parsing.edits.concepts import exists

_NAMED = re.compile(r'(PRED|ENTITY)\(.*|(DEPENDENT|VALUE)\(.*".*')  # concepts and strings
_FRAME = re.compile(r"PRED\((.+-\d\d+)\)")


def is_common(action: str, count: int) -> bool:
    """Return False for a concept or string of one sentence, and for a frame that does not exist."""
    frame = _FRAME.fullmatch(action)
    return not _NAMED.fullmatch(action) or (count > 1 and (frame is None or exists(frame[1])))


def prune(arguments: argparse.Namespace) -> list[str]:
    """Rewrite the training data and the lexicon of the folder, and return how much is left out."""
    data = arguments.data
    if any(data.glob("train.*.bin")):
        raise input_error("the data are binarised already: make the folder again, and run this first", data)
    lexicon = read_json(data / "lexicon.json", "is DATA from `transition-parser preprocess amr`?")
    lines = (data / "train.act").read_text(encoding="utf-8").splitlines()
    sources = (data / "train.src").read_text(encoding="utf-8").splitlines()
    different = {*zip(sources, lines, strict=True)}  # corpora may be there several times
    counts = Counter(action for _, line in different for action in {*line.split()})
    listed_before = read_text(arguments.known, "is it the dict.act.txt of a model?") if arguments.known else ""
    known = {line.rpartition(" ")[0] for line in listed_before.splitlines()}
    rare = {action for action, count in counts.items() if action not in known and not is_common(action, count)}
    kept = [rare.isdisjoint(line.split()) for line in lines]
    for path in sorted(data.glob("train.*")):
        separator = "\n\n" if path.suffix == ".amr" else "\n"
        parts = path.read_text(encoding="utf-8").rstrip("\n").split(separator)
        write(str(path), separator.join(part for part, stays in zip(parts, kept, strict=True) if stays) + "\n")
    counts_of = {span: {one: n for one, n in of.items() if one not in rare} for span, of in lexicon["counts"].items()}
    listed = {span: [one for one in of if one not in rare] for span, of in lexicon["spans"].items()}
    for name, spans in (("counts", counts_of), ("spans", listed)):
        lexicon[name] = {span: of for span, of in spans.items() if of}
    write_json(data / "lexicon.json", lexicon, indent=0)
    return [f"left out {len(rare)} actions, and {kept.count(False)} of {len(kept)} sentences"]


if __name__ == "__main__":
    of = options(__doc__)
    of.add_argument("data", type=Path, metavar="DATA")
    of.add_argument("--known", type=Path, metavar="DICT", help="dict.act.txt of a model, whose actions stay")
    run(of, prune)
