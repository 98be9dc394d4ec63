"""Configs: what they say, what they build on, and what is wrong with them."""

import pytest

from transition_parser.base.errors import InputError
from transition_parser.training.flags import (
    arguments_of,
    config_names,
    find_config,
    given_flags,
    merged,
    read_flags,
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "base.flags").write_text("# a base\n--arch small\n\n--lr 1e-3\n--switch\n--adam-betas (0.9, 0.98)\n")
    return tmp_path


def write(folder, name: str, *lines: str):
    path = folder / f"{name}.flags"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_flags_are_read_in_order_with_values_of_several_words(folder):
    assert arguments_of(read_flags(folder / "base.flags")) == (
        ["--arch", "small", "--lr", "1e-3", "--switch", "--adam-betas", "(0.9, 0.98)"]
    )


def test_a_config_builds_on_another(folder):
    child = write(folder, "child", "# more", "@base.flags", "!--switch", "--lr 2", "--seed 1")
    assert arguments_of(read_flags(child)) == (
        ["--arch", "small", "--lr", "2", "--adam-betas", "(0.9, 0.98)", "--seed", "1"]
    )
    grandchild = write(folder, "grandchild", "@child.flags", "--switch")
    assert arguments_of(read_flags(grandchild))[-1] == "--switch"
    assert {flag.path for flag in read_flags(grandchild)} == {
        str(folder / f"{name}.flags") for name in ("base", "child", "grandchild")
    }


def test_a_config_anywhere_builds_on_one_of_the_package(folder):
    child = write(folder, "mine", "@ewt-en.flags", "--max-epoch 3")
    theirs = [flag[:2] for flag in read_flags("ewt-en") if flag.name != "--max-epoch"]
    assert [flag[:2] for flag in read_flags(child) if flag.name != "--max-epoch"] == theirs
    assert find_config("ewt-en") == find_config("ewt-en.flags") and "ewt-en" in config_names()


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (["@nowhere.flags"], r"bad\.flags:1: @nowhere\.flags: .*no such config"),
        (["@bad.flags"], r"bad\.flags:1: .*in a circle: bad\.flags → bad\.flags"),
        (["@other.flags"], r"other\.flags:1: .*in a circle: bad\.flags → other\.flags → bad\.flags"),
        (["--seed 1", "@base.flags"], r"bad\.flags:2: @base.flags stands after flags: move it"),
        (["@base.flags", "!--nothing"], r"bad\.flags:2: !--nothing: no config that this one builds on"),
        (["--seed 1", "", "--seed 2"], r"bad\.flags:3: --seed is there twice"),
        (["seed 1"], r"bad\.flags:1: 'seed 1' is neither a flag"),
        (["-- 1"], r"bad\.flags:1: '-- 1' is neither a flag"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(folder, lines, problem):
    write(folder, "other", "@bad.flags")
    with pytest.raises(InputError, match=problem):
        read_flags(write(folder, "bad", *lines))


def test_a_config_that_is_not_there(folder):
    with pytest.raises(InputError, match="did you mean ewt-en"):
        read_flags("ewt-enn")
    with pytest.raises(InputError, match="no such config"):
        read_flags(folder / "ewt-en")  # a path is not looked up by its last part


def test_flags_of_a_command_line_replace_those_of_a_config(folder):
    flags = merged([*read_flags(folder / "base.flags"), *given_flags(["--lr=5", "--seed", "-1"])])
    assert arguments_of(flags)[2:5] == ["--lr", "5", "--switch"] and flags[-1][:2] == ("--seed", "-1")
    with pytest.raises(InputError, match="'oops' is not a flag"):
        given_flags(["oops", "--lr", "1"])
