"""The check of imports (`lint-imports`, settings in pyproject.toml) forgets no room."""

from __future__ import annotations

import re
import tomllib

from tests.conftest import ROOT

ROOM = re.compile(r"[\w.]+")


def test_every_room_has_a_floor():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (floors,) = (contract["layers"] for contract in settings["contracts"] if contract["type"] == "layers")
    named = [room for floor in floors for room in ROOM.findall(floor)]
    inside = {
        f"transition_parser.{path.stem}"
        for path in (ROOT / "transition_parser").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    rooms = inside - {"transition_parser.__init__"} | {"oracles", "preprocess"}
    assert len(rooms) > 15
    assert sorted(rooms - set(named)) == []
    assert len(named) == len(set(named))
