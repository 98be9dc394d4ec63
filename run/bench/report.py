"""One report from the JSON files of the single benchmarks, and a table of their medians.

    python run/bench/report.py OUT.json FOLDER

FOLDER holds ROW.json for each benchmark (row) that was measured, and ROW.failed, with the error, for each one that
failed. OUT.json is written all at once. The exit status is 1 if a benchmark failed.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path

from transition_parser.base.files import replacing

# two groups of the parts in parts.py: parts of search that follow the parser state, and parts outside search
STATE = ("state machine", "masks")
OUTSIDE_SEARCH = ("reading and pieces", "encoder", "building graphs", "the rest")


def lines(row: str, part: dict) -> list[tuple[str, ...]]:
    """Return the table's lines for the benchmark `row` with the report `part`: one for each rate or other figure."""
    ratios = next((value for key, value in part.items() if key.startswith("ratio_to_")), {})
    spread = part["all"]
    result = [
        (row, name, _figure(value), f"{_figure(min(spread[name]))} … {_figure(max(spread[name]))}",
         f"{ratios[name]} ×" if name in ratios else "")
        for name, value in part["median"].items()
    ]  # fmt: skip
    result += [
        (row, f"slope of time an action, {name}", str(value))
        for name, value in part.get("slope_of_time_an_action", {}).items()
    ]
    if shares := part.get("share_percent"):
        result += [(row, f"share of {name}", f"{share} %") for name, share in shares.items()]
        search = {name: share for name, share in shares.items() if name not in OUTSIDE_SEARCH}
        of_state = sum(search[name] for name in STATE) / sum(search.values())
        result.append((row, f"{' and '.join(STATE)}, of search", f"{100 * of_state:.1f} %"))
    looks = part.get("memory", [])
    for key in looks[0] if looks else ():
        seen = [look[key] for look in looks if look[key] is not None]
        result.append((row, key.replace("_", " "), _figure(statistics.median(seen)) if seen else "not seen"))
    result += [(row, f"peer {name}", status) for name, status in part.get("peers", {}).items()]
    return result


def _figure(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def table(rows: list[tuple[str, ...]]) -> str:
    """Return the rows as text, in aligned columns; a row's last cell may be longer than its column."""
    count = max(map(len, rows))
    widths = [max((len(row[i]) for row in rows if len(row) > i + 1), default=0) for i in range(count)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def main() -> int:
    """Write the report and print the table. Returns the exit status, 1 where a row failed."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("output", type=Path, help="the report")
    options.add_argument("folder", type=Path, help="folder of the single benchmarks' files")
    arguments = options.parse_args()
    parts = {p.stem: json.loads(p.read_text(encoding="utf-8")) for p in sorted(arguments.folder.glob("*.json"))}
    failed = {
        p.stem: p.read_text(encoding="utf-8", errors="replace").strip()
        for p in sorted(arguments.folder.glob("*.failed"))
        if p.stem not in parts
    }
    with replacing(arguments.output) as temporary:
        temporary.write_text(json.dumps({"rows": parts, "failed": failed}, indent=1) + "\n", encoding="utf-8")
    rows: list[tuple[str, ...]] = [("row", "what", "median", "least … most", "ratio to the base (1.0)")]
    for row, part in parts.items():
        rows.append((row, f"{part['benchmark']} ({part['date']}, {part['machine']})"))
        rows += lines(row, part)
    rows += [(row, "FAILED", text.splitlines()[-1] if text else "") for row, text in failed.items()]
    print(table(rows))
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
