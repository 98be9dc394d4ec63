"""PropBank's frames, as they are read."""

import json

import pytest

from transition_parser.base.errors import InputError
from transition_parser.graphs.propbank import Argument, Predicate
from transition_parser.training.silver.propbank import Example, Rolesets, spread


def frame(id: str = "go.01", amr: tuple[str, ...] = ("2019",), **example: object) -> str:
    some = [{"text": "Boys go home", "rel": "1", "args": [["ARG1", "0", "0"]], **example}]
    return json.dumps({"id": id, "amr": amr, "examples": some}) + "\n"


def test_frames_are_those_that_amr_uses(tmp_path):
    (tmp_path / "f").write_text(frame() + frame("go.04", amr=()))
    frames = Rolesets.read(tmp_path / "f")
    assert frames.inventory == {"go.01"}
    arguments = (Argument("ARG1", (0, 0)),)
    assert frames.examples == (Example("go.01.1", ("Boys", "go", "home"), Predicate(1, "go.01", arguments)),)


@pytest.mark.parametrize(
    "example",
    [
        {"rel": "3"},
        {"rel": None},
        {"rel": "?"},
        {"text": "Boys want *PRO* to go", "rel": "4"},
        {"text": "", "rel": "0"},
    ],
)
def test_examples_that_cannot_be_used_are_left_out(example, tmp_path):
    (tmp_path / "f").write_text(frame(**example))
    assert not Rolesets.read(tmp_path / "f").examples


def test_arguments_without_a_place_are_left_out_and_brackets_restored(tmp_path):
    arguments = [["ARG0", "?", "?"], ["ARG1", "0", "9"], ["ARG2", "2", "4"]]
    (tmp_path / "f").write_text(frame(text="Boys go -LRB- home -RRB-", args=arguments))
    (example,) = Rolesets.read(tmp_path / "f").examples
    assert example.words[2:] == ("(", "home", ")") and example.predicate.arguments == (Argument("ARG2", (2, 4)),)


@pytest.mark.parametrize(
    "text", ["go\n", "{}\n", "[]\n", "", frame(amr=()), '{"id": "a.01", "amr": 1, "examples": [2]}']
)
def test_a_file_that_holds_no_frames_is_an_error(text, tmp_path):
    (tmp_path / "f").write_text(text)
    with pytest.raises(InputError, match="roleset"):
        Rolesets.read(tmp_path / "f")


def examples(*rolesets: str) -> list[Example]:
    return [Example(f"{i}", (str(i), "a", "b"), Predicate(1, one)) for i, one in enumerate(rolesets)]


def test_examples_cover_rolesets_evenly():
    some = examples("a.01", "a.01", "a.01", "b.01", "c.01", "c.01")

    def taken(most: int, each: int = 2) -> str:
        return "".join(one.id for one in spread(some, most, 3, 3, each))

    assert taken(9) == "01345" and taken(9, each=1) == "034"
    assert taken(3) == "034" and taken(4) == "0134" and taken(2) == "03"
    assert not spread(some, 9, 4, 9, 2) and not spread(some, 9, 1, 2, 2)


def test_a_text_is_an_example_once():
    some = examples("a.01", "b.01")
    assert spread([some[0], some[1]._replace(words=some[0].words)], 9, 1, 9, 2) == some[:1]
