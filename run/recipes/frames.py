"""Make the tables of frames and of their roles that the package reads, from the rolesets of PropBank.

    python run/recipes/frames.py FRAMES.jsonl -o transition_parser/text/frames.tsv \\
        --functions transition_parser/text/role_functions.tsv

FRAMES.jsonl has a line for each roleset of propbank/propbank-frames (https://github.com/propbank/propbank-frames): a
JSON object. These of its keys are read:

    id        lemma and sense: `give_up.03`
    aliases   pairs of a lemma that evokes the roleset (`giving_up`) and its part of speech (one letter)
    roles     an object: number of an argument → its function and a description: {"0": ["PAG", "giver"], …}
    amr       the versions of AMR's inventory that have the roleset; rolesets without a version are left out

The first table has a line for each lemma, in alphabetical order: the lemma with hyphens, then a column
`sense|roles|aliases` for each of its rolesets. Aliases are in lower case, with `_` between words and `/` before the
part of speech. The second table has a line for all rolesets whose roles have the same functions: the functions, each
after the number of its role (`0PAG 1PPT 2GOL`), and the rolesets (`give-01 …`).
"""

import argparse
import json
import re
from collections.abc import Mapping
from typing import Any

from shared import options, run, write

from transition_parser.base.errors import input_error

_ID = re.compile(r"([^\s.|/]+)\.(\d+)")


def tables(path: str) -> tuple[str, str]:
    """Return the texts of both tables. Raises `InputError` for a line that is no roleset."""
    of_lemma: dict[str, dict[str, str]] = {}
    alike: dict[str, list[str]] = {}  # functions → rolesets
    versions: set[str] = set()
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                roleset = json.loads(line)
                if roleset["amr"]:
                    versions.update(roleset["amr"])
                    lemma, sense, column = _column(roleset)
                    of_lemma.setdefault(lemma, {})[sense] = column
                    alike.setdefault(_functions(roleset["roles"]), []).append(f"{lemma}-{sense}")
            except (ValueError, LookupError, TypeError, AttributeError) as error:
                raise input_error(f"not a roleset: {type(error).__name__}: {error}", path, number) from None
    if not of_lemma:
        raise input_error("no roleset is in AMR's inventory", path)
    rows = ["\t".join([lemma, *(of_lemma[lemma][s] for s in sorted(of_lemma[lemma]))]) for lemma in sorted(of_lemma)]
    functions = (f"{functions}\t{' '.join(sorted(alike[functions]))}" for functions in sorted(alike) if functions)
    first = f"# propbank-frames, AMR {' '.join(sorted(versions))}"
    return "\n".join([first, *rows, ""]), "\n".join([first, *functions, ""])


def _column(roleset: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return the lemma and the sense of a roleset, and its column in the table."""
    match = _ID.fullmatch(roleset["id"])
    if not match:
        raise ValueError(f"the id {roleset['id']!r} is not a lemma and the number of a sense")
    lemma, sense = match.groups()
    roles = "".join(sorted(role for role in roleset["roles"] if role.isdigit()))
    evoking = sorted({(f"{'_'.join(word.lower().split())}/{pos}") for word, pos in roleset["aliases"]})
    if any(len(alias) < 3 or set(alias) & {"|", "\t"} for alias in evoking):
        raise ValueError(f"an alias among {evoking} has a bar, or no part of speech")
    return lemma.lower().replace("_", "-"), sense, f"{sense}|{roles}|{' '.join(evoking)}"


def _functions(roles: Mapping[str, tuple[str, str]]) -> str:
    return " ".join(f"{role}{roles[role][0].upper()}" for role in sorted(roles) if role.isdigit())


def make(arguments: argparse.Namespace) -> None:
    """Write the tables."""
    for path, text in zip((arguments.output, arguments.functions), tables(arguments.rolesets), strict=True):
        write(path, text)


if __name__ == "__main__":
    of = options(__doc__)
    of.add_argument("rolesets", metavar="FRAMES.jsonl", help="the rolesets of PropBank, one in a line")
    of.add_argument("-o", "--output", required=True, metavar="TSV", help="file to write")
    of.add_argument("--functions", required=True, metavar="TSV", help="file to write for the functions of roles")
    run(of, make)
