"""Damaged model folders and checkpoints: one line that says what is wrong, or the same parses as before."""

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from tests.helpers.crosses import mostly_slow
from transition_parser import Parser
from transition_parser.base.errors import InputError
from transition_parser.base.model_files import sha256_of
from transition_parser.data.resources import LABELER, TABLE, Resources
from transition_parser.modules.semantic_roles import RoleLabeler
from transition_parser.storage.cards import CONFIG, PRETRAINED
from transition_parser.storage.checkpoints import export_checkpoint, load_checkpoint, load_model
from transition_parser.storage.exports import WEIGHTS, model_files, read_config, sha256_of_json

SENTENCES = [["The", "dog", "wants", "to", "sleep", "."], ["Anna", "sat", "in", "the", "city"], ["No"]]


@pytest.fixture(scope="module")
def exported(checkpoint, amr_checkpoint, tmp_path_factory) -> dict[str, Path]:
    """Small models of trees and of AMRs as folders."""
    folder = tmp_path_factory.mktemp("exported")
    for name, path in (("trees", checkpoint), ("amr", amr_checkpoint)):
        export_checkpoint([path], folder / name)
    return {name: folder / name for name in ("trees", "amr")}


@pytest.fixture(scope="module")
def trained(checkpoint, amr_checkpoint, data_folder, amr_data_folder, tmp_path_factory) -> dict[str, Path]:
    """The checkpoints with the files of their data folders beside them."""
    paths = {}
    for name, path, data in (("trees", checkpoint, data_folder), ("amr", amr_checkpoint, amr_data_folder)):
        paths[name] = tmp_path_factory.mktemp(f"trained_{name}") / "model.pt"
        shutil.copy(path, paths[name])
        Resources.copy(data, paths[name].parent)
    return paths


def parses(path: Path) -> list[tuple]:
    parser = Parser.load(path, precision="fp32", threads=1)
    return [(parse.actions, parse.mean_log_probability) for parse in parser.parse(SENTENCES)]


def sign(folder: Path) -> None:
    """Give a folder that was changed the checksums of its files."""
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    del config["sha256"]
    config["files"] = {path.name: sha256_of(path) for path in model_files(folder)}
    (folder / CONFIG).write_text(json.dumps({**config, "sha256": sha256_of_json(config)}), encoding="utf-8")


def refused(path: Path, use: Callable[[Path], object] = load_model) -> bool:
    """True where loading, or another use, says in one line what is wrong."""
    try:
        use(path)
    except InputError as error:
        assert len(str(error).splitlines()) == 1 and len(str(error)) < 1000 and "weights_only" not in str(error)
        return True
    return False


def less(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-2])


def other(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def loop(file: Path) -> None:
    file.unlink()
    file.symlink_to(file)


@pytest.mark.parametrize("damage", [Path.unlink, less, other, folder, loop])
@pytest.mark.parametrize("name", ["trees", "amr"])
def test_damaged_folders(exported, name, damage, tmp_path):
    """Whichever file it is."""
    assert not refused(exported[name])
    for file in exported[name].iterdir():
        copy = shutil.copytree(exported[name], tmp_path / file.name)
        damage(copy / file.name)
        assert refused(copy) or file.name == "README.md", file.name


@pytest.fixture(scope="module")
def labeled(exported, tmp_path_factory) -> Path:
    """The folder of the model of AMRs, with a semantic role labeler."""
    folder = shutil.copytree(exported["amr"], tmp_path_factory.mktemp("labeled") / "amr")
    encoder = load_model(folder)[0].labeled_encoder
    shapes = RoleLabeler.shapes(3, encoder.norm.weight.numel() + encoder.read_width, 4)
    weights = {name: torch.randn(shape) for name, shape in shapes.items()}
    RoleLabeler(["want-01", "sleep-01", "sit-01"], weights).save(folder / LABELER)
    sign(folder)
    return folder


ODD = {
    "less one": lambda value: value[:-1],
    "in one more dimension": lambda value: value[None],
    "of another type": lambda value: value.to(torch.int64 if value.is_floating_point() else torch.half),
    "too large": lambda value: torch.full_like(value, 100),
    "infinite": lambda value: value / 0 if value.is_floating_point() else (value.long() - 100).to(value.dtype),
}


@pytest.mark.parametrize("odd", mostly_slow(ODD, "less one", "too large"))
@pytest.mark.parametrize("file", [TABLE, LABELER])
def test_odd_tensors_with_right_checksums(labeled, file, odd, tmp_path):
    """The folder or its parses are refused, or the model parses, whichever tensor it is. Tables are made anew."""
    folder = shutil.copytree(labeled, tmp_path / "model")
    with safe_open(folder / file, "pt") as opened:
        values, metadata = {name: opened.get_tensor(name) for name in opened.keys()}, opened.metadata()  # noqa: SIM118
    for name, value in values.items():
        save_file({**values, name: ODD[odd](value).contiguous()}, folder / file, metadata)
        sign(folder)
        if not refused(folder):  # any other error is raised
            refused(folder, parses)
    save_file({name: value for name, value in values.items() if name != min(values)}, folder / file, metadata)
    sign(folder)
    assert refused(folder) == (file == LABELER)
    save_file(values, folder / file, {"frames": "[1]"})
    sign(folder)
    assert refused(folder) == (file == LABELER)


VALUES = [
    None,
    True,
    0,
    -1,
    64,
    10**7,
    10**30,
    0.5,
    float("nan"),
    "",
    "x",
    "arc-eager",
    "../x",
    "\0",
    [],
    {},
    [[]],
    ["x"],
]


def damage(values: dict | list, random: Random) -> None:
    """Change one thing somewhere inside the values of a JSON file."""
    key = random.choice(sorted(values) if isinstance(values, dict) else range(len(values)))
    if isinstance(values[key], dict | list) and values[key] and random.random() < 0.8:
        return damage(values[key], random)
    value = values.pop(key)
    change = random.randrange(4)
    if isinstance(values, list):
        values[key:key] = [[], [value, value], *[[random.choice(VALUES)]] * 2][change]
    elif change:
        values[f"{key}x" if change == 1 else key] = value if change == 1 else random.choice(VALUES)


@pytest.mark.parametrize("seeds", [range(12), pytest.param(range(1000, 1400), marks=pytest.mark.slow)], ids=len)
@pytest.mark.parametrize("name", ["trees", "amr"])
def test_odd_values_with_right_checksums(exported, name, seeds, tmp_path):
    """The folder or its parses are refused, or the model parses; each seed changes a value of a file of JSON."""
    for seed in seeds:
        random, folder = Random(seed), shutil.copytree(exported[name], tmp_path / str(seed))
        file = random.choice(sorted(folder.glob("*.json")))
        values = json.loads(file.read_text(encoding="utf-8"))
        damage(values, random)
        file.write_text(json.dumps(values), encoding="utf-8")
        with suppress(KeyError, TypeError):  # config.json itself has no checksums any more
            sign(folder)
        try:
            _ = refused(folder) or refused(folder, parses)
        except Exception as error:
            raise AssertionError((seed, file.name)) from error
        shutil.rmtree(folder)


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state.clear(),
        lambda state: state.update(model=None),
        lambda state: state["model"].popitem(),
        lambda state: state.update(cfg={"model": "x", "task": 1}),
        lambda state: vars(state["cfg"]["model"]).update(decoder_layers=10**30),
        lambda state: state.update(task_state={"fingerprint": 3}),
        lambda state: state.update(args=Path("x")),  # a class that is not read
    ],
)
def test_damaged_checkpoints(trained, change, tmp_path):
    shutil.copytree(trained["trees"].parent, tmp_path, dirs_exist_ok=True)
    path = tmp_path / trained["trees"].name
    state = load_checkpoint(path)
    change(state)
    torch.save(state, path)
    assert refused(path)


# --- what is wrong, by name -----------------------------------------------------------------

WIDE = {"encoder_embed_dim": 256, "decoder_embed_dim": 256}
CHANGES = [
    (CONFIG, lambda c: c["model"].update(stack_heads=None), "--stack-heads must be of type int, not None"),
    (CONFIG, lambda c: c["model"].update(stack_heads=9), "stack-heads"),
    (CONFIG, lambda c: c["model"].update(stack_hats=1), "unknown option 'stack_hats'"),
    (CONFIG, lambda c: c.update(model=[]), "'model' must be a JSON object"),
    (CONFIG, lambda c: c["model"].update(WIDE), "but the model needs"),
    (CONFIG, lambda c: c["model"].update(decoder_layers=3), "'decoder.layers.2.*' is missing"),
    (CONFIG, lambda c: c["model"].update(decoder_layers=1), "'decoder.layers.1.*' is not a weight of the model"),
    (CONFIG, lambda c: c.update(model=None), "'model' must be a JSON object, not None"),
    (CONFIG, lambda c: c.update(architecture="x"), "unknown architecture 'x'"),
    (CONFIG, lambda c: c.update(format_version=2), "format version 2, but this program reads 1"),
    ("parser.json", lambda c: c.update(system="arc-eager"), "dict.act.txt: the action vocabulary has no REDUCE"),
    (
        "parser.json",
        lambda c: c["shift_words"].pop(),
        "dict.act.txt: lists symbols that are not actions of parser.json",
    ),
    ("parser.json", lambda c: c["relations"].append("x"), "dict.act.txt: does not list all actions of parser.json"),
    ("lexicon.json", lambda c: c["spans"].update(x=["PRED(never-01)"]), "does not list all actions of lexicon.json"),
]


@pytest.mark.parametrize(("name", "change", "said"), CHANGES)
def test_json_that_can_not_be(exported, tmp_path, name, change, said):
    folder = shutil.copytree(exported["amr" if name == "lexicon.json" else "trees"], tmp_path / "model")
    values = json.loads((folder / name).read_text(encoding="utf-8"))
    change(values)
    (folder / name).write_text(json.dumps(values), encoding="utf-8")
    sign(folder)
    with pytest.raises(InputError, match=said) as raised:
        load_model(folder)
    assert str(raised.value).startswith(f"{folder}/")
    assert len(str(raised.value).splitlines()) == 1


BIAS = "decoder.norm.bias"
WEIGHT_CHANGES = [
    (lambda w: w.update({BIAS: w[BIAS].long()}), f"'{BIAS}' is of type I64, not one of F64, F32, F16, BF16"),
    (lambda w: w.update({BIAS: w[BIAS][:-1]}), rf"'{BIAS}' has the shape \(31,\), but the model needs \(32,\)"),
    (lambda w: w.update({BIAS: w[BIAS] * float("nan")}), f"'{BIAS}' holds NaN"),
    (lambda w: w[BIAS].fill_(float("-inf")), f"'{BIAS}' holds an infinite number"),
    (lambda w: w.update({BIAS: w[BIAS].double() + 1e300}), f"'{BIAS}' holds an infinite number"),
    (lambda w: w.pop(BIAS), f"'{BIAS}' is missing"),
    (lambda w: w.update(more=torch.zeros(1)), "'more' is not a weight of the model"),
    (lambda w: w.clear(), "'encoder.embed.weight' is missing"),
]


@pytest.mark.parametrize(("change", "said"), WEIGHT_CHANGES)
def test_weights_that_can_not_be(exported, tmp_path, change, said):
    folder = shutil.copytree(exported["trees"], tmp_path / "model")
    weights = load_file(folder / WEIGHTS)
    change(weights)
    save_file(weights, folder / WEIGHTS)
    sign(folder)
    with pytest.raises(InputError, match=said) as raised:
        load_model(folder)
    assert str(raised.value).startswith(f"{folder / WEIGHTS}: ")


def test_a_stored_table_is_the_one_that_is_made(exported, tmp_path):
    for folder in (exported["amr"], PRETRAINED / "en-amr", PRETRAINED / "en-amr-minilm"):
        bare = shutil.copytree(folder, tmp_path / folder.parent.name / folder.name)
        (bare / TABLE).unlink()
        stored, made = (Resources.load(path).table for path in (folder, bare))
        assert stored.actions == made.actions
        arrays = made.arrays()
        assert stored.arrays().keys() == arrays.keys()
        assert all(np.array_equal(array, arrays[name]) for name, array in stored.arrays().items())


@pytest.mark.parametrize("path", sorted(PRETRAINED.iterdir()), ids=lambda path: path.name)
def test_the_models_of_the_package_have_checksums(path):
    files = json.loads((path / CONFIG).read_text(encoding="utf-8"))["files"]
    assert {*files, CONFIG, "README.md"} == {file.name for file in path.iterdir()}
    assert read_config(path).architecture in ("stack_transformer_small", "spa_dp_small", "recursive_g2g")


def test_options_that_were_changed_after_the_export(exported, tmp_path):
    folder = shutil.copytree(exported["trees"], tmp_path / "model")
    text = (folder / CONFIG).read_text(encoding="utf-8")
    (folder / CONFIG).write_text(text.replace('"stack_heads": 1', '"stack_heads": 2'), encoding="utf-8")
    with pytest.raises(InputError, match="has been changed after the export"):
        load_model(folder)
    (folder / CONFIG).write_text(json.dumps(json.loads(text)), encoding="utf-8")  # laid out in another way
    load_model(folder)


def test_one_bit_of_a_weight_of_a_checkpoint(trained, tmp_path):
    content = bytearray(trained["trees"].read_bytes())
    start = content.find(load_checkpoint(trained["trees"])["model"]["encoder.embed.weight"].numpy().tobytes())
    assert start > 0
    content[start + 130] ^= 1
    (tmp_path / "x.pt").write_bytes(content)
    with pytest.raises(InputError, match=r"the checkpoint is damaged: the checksum of '.*/data/\d+' is wrong"):
        load_checkpoint(tmp_path / "x.pt")


def test_an_export_over_another_one(trained, tmp_path):
    for name in ("amr", "trees", "amr"):
        export_checkpoint([trained[name]], tmp_path / "model")
        assert parses(tmp_path / "model") == parses(trained[name])
