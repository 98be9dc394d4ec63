"""The recipes of docs/scale.md."""

import re
import sys
from types import ModuleType

import pytest

from tests.conftest import ROOT, run_here

TEXTS = ["She didn't go. Why?", None, " ", "Nobody knows."]


def recipe(heading: str) -> str:
    text = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
    return re.search(rf"## {heading}\n.*?```python\n(.*?)```", text, re.DOTALL)[1]


def test_the_function_of_spark(monkeypatch):
    """Without Spark, which only calls it with the texts of a batch."""
    pandas = pytest.importorskip("pandas")
    spark, functions = ModuleType("pyspark"), ModuleType("pyspark.sql.functions")
    functions.pandas_udf = lambda kind: lambda function: function
    for name, module in (("pyspark", spark), ("pyspark.sql", spark), ("pyspark.sql.functions", functions)):
        monkeypatch.setitem(sys.modules, name, module)
    code = recipe("Spark").replace('"en"', '"en-ewt"').rpartition("table.")[0]
    names: dict = {}
    exec(code, names)
    found = names["conllu"](pandas.Series(TEXTS)).tolist()
    expected = [text and run_here("parse", "en-ewt", "-", "--raw", stdin=text).stdout for text in (TEXTS[0], TEXTS[3])]
    assert found == [expected[0], "", "", expected[1]]
