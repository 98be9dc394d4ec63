"""The semantic role labeller: scores, its file, and what damaged files say."""

import pytest
import torch
from safetensors.torch import load_file, save_file

from transition_parser.base.errors import InputError
from transition_parser.modules.semantic_roles import ROLES, RoleLabeller, functions_of

FRAMES = ["give-01", "give-16", "go-02"]


@pytest.fixture
def labeller() -> RoleLabeller:
    generator = torch.Generator().manual_seed(1)
    shapes = RoleLabeller.shapes(len(FRAMES), inputs=10, width=4)
    return RoleLabeller(FRAMES, {name: torch.randn(shape, generator=generator) for name, shape in shapes.items()})


def test_each_pair_has_its_own_scores(labeller):
    """In one call, in any order, or one by one: the same."""
    words = torch.randn(9, 21, generator=torch.Generator().manual_seed(2))
    heads, others = torch.tensor([0, 1, 2, 8]), torch.tensor([3, 4, 1, 0])
    frames = ["give-01", "go-02", "give-16", "unheard-01"]
    together = labeller.roles(words, heads, others, others - heads, frames)
    assert together.exp().sum(1) == pytest.approx(torch.ones(4))
    for i in range(4):
        one = slice(i, i + 1)
        alone = labeller.roles(words, heads[one], others[one], (others - heads)[one], frames[one])
        assert alone[0].tolist() == pytest.approx(together[i].tolist(), abs=1e-5)


def test_roles_without_a_function_are_unlikely(labeller):
    has_role = functions_of(FRAMES) > 0
    assert has_role[0].tolist() == [True, True, True, False, False, False]  # ARG0 to ARG2 of give-01
    scores = labeller.roles(
        torch.zeros(2, 21), torch.zeros(3).long(), torch.ones(3).long(), torch.ones(3).long(), FRAMES
    )
    assert (scores[:, :ROLES][~has_role] < -15).all()


def test_senses_of_a_lemma(labeller):
    words = torch.randn(2, 21, generator=torch.Generator().manual_seed(2))
    rows = labeller.weights["senses"]
    expected = [[float(word[:4] @ rows[i, :4] + rows[i, 4]) for i in (0, 1)] for word in words]
    assert labeller.of_lemma["give"] == [0, 1]
    assert labeller.senses(words, labeller.of_lemma["give"]).tolist() == [pytest.approx(row) for row in expected]


def test_the_file_holds_the_labeller(labeller, tmp_path):
    labeller.save(tmp_path / "roles.safetensors")
    again = RoleLabeller.load(tmp_path / "roles.safetensors", inputs=10)
    assert again.frames == labeller.frames
    for name, value in labeller.weights.items():
        assert torch.equal(again.weights[name], value.half().float())


@pytest.mark.parametrize("damage", ["other inputs", "no frames", "fewer frames", "no hidden layer", "no safetensors"])
def test_other_files_are_refused(labeller, tmp_path, damage):
    path = tmp_path / "roles.safetensors"
    labeller.save(path)
    weights = load_file(path)
    if damage == "no frames":
        save_file(weights, path)
    elif damage == "fewer frames":
        save_file(weights, path, {"frames": '["give-01"]'})
    elif damage == "no hidden layer":
        del weights["hidden"]
        save_file(weights, path, {"frames": '["give-01", "give-16", "go-02"]'})
    elif damage == "no safetensors":
        path.write_bytes(b"\0" * 100)
    with pytest.raises(InputError, match="not the semantic role labeller of this model") as error:
        RoleLabeller.load(path, inputs=11 if damage == "other inputs" else 10)
    assert len(str(error.value).splitlines()) == 1
