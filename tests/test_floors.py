"""The check of imports (`lint-imports`, settings in pyproject.toml) forgets no room, and CONTRIBUTING.md shows it."""

import re
import tomllib

from tests.conftest import ROOT

ROOM = re.compile(r"[\w.]+")


def layers() -> list[str]:
    """The floors of the check, the highest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (floors,) = (contract["layers"] for contract in settings["contracts"] if contract["type"] == "layers")
    return floors


def rooms() -> set[str]:
    """The packages and modules that need a floor."""
    inside = {
        f"transition_parser.{path.stem}"
        for path in (ROOT / "transition_parser").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    return inside - {"transition_parser.__init__"}


def test_every_room_has_a_floor():
    named = [room for floor in layers() for room in ROOM.findall(floor)]
    assert len(rooms()) > 15
    assert sorted(rooms() - set(named)) == []
    assert len(named) == len(set(named))


def test_contributing_shows_the_floors_that_are_checked():
    rows = re.findall(r"^\| (\d) \| (.*?) \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
    shown = {room: int(floor) for floor, rooms in rows for room in re.findall(r"`(\w+)`", rooms)}
    checked = [[room.rpartition(".")[2] for room in ROOM.findall(floor)] for floor in layers()]
    exist = {room.rpartition(".")[2] for room in rooms()}
    assert set(shown) == exist
    heights = [{shown[room] for room in floor if room in exist} for floor in checked]
    assert all(len(floor) == 1 for floor in heights)
    assert [max(floor) for floor in heights] == sorted((max(floor) for floor in heights), reverse=True)


def test_contributing_names_files_that_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:\.?\w+/)+(?:\w+\.\w+)?)`", text))
    assert {"modules/contract.py", "run/test.sh", "configs/"} <= named
    missing = [
        name for name in named if not any((folder / name).exists() for folder in (ROOT, ROOT / "transition_parser"))
    ]
    assert sorted(missing) == []
