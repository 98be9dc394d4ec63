import pytest

from tests.conftest import python
from tests.helpers.scripts import RUN


@pytest.mark.parametrize("missing", [None, "file", "part", "record", "row"])
def test_packages_that_an_interrupted_setup_left_half_written_are_forgotten(tmp_path, missing):
    for name in ("whole", "other"):
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        (tmp_path / f"{name}.py").write_text("1\n")
        rows = [f"{name}.py,sha256=x,2", f"__pycache__/{name}.pyc,,9", f"{name}-1.0.dist-info/RECORD,,"]
        (info / "RECORD").write_text("\n".join(rows))
    if missing == "file":
        (tmp_path / "other.py").unlink()
    elif missing == "part":
        (tmp_path / "other.py").write_text("1")
    elif missing == "record":
        (info / "RECORD").unlink()
    elif missing == "row":
        (info / "RECORD").write_text(rows[0] + "\noth")
    python(RUN / "half_installed.py", tmp_path)
    left = {path.name for path in tmp_path.glob("*.dist-info")}
    assert left == {"whole-1.0.dist-info"} | (set() if missing else {"other-1.0.dist-info"})
