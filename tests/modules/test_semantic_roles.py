"""The semantic role labeler: scores, its file, and what damaged files say."""

import json

import pytest
import torch
from safetensors.torch import save_file

from transition_parser.base.errors import InputError
from transition_parser.modules.encoder import EncoderOut
from transition_parser.modules.semantic_roles import ROLES, RoleLabeler
from transition_parser.text.columns import IMPERATIVE, OTHER, UNSURE

FRAMES = ["give-01", "give-16", "give-up-07", "go-02"]


@pytest.fixture
def labeler() -> RoleLabeler:
    generator = torch.Generator().manual_seed(1)
    shapes = RoleLabeler.shapes(len(FRAMES), inputs=10, width=4)
    return RoleLabeler(FRAMES, {name: torch.randn(shape, generator=generator) for name, shape in shapes.items()})


def random(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(2))


def test_roles_that_a_frame_lacks_are_unlikely(labeler):
    has_role = labeler.functions > 0
    assert has_role[0].tolist() == [True, True, True, False, False, False]  # ARG0 to ARG2 of give-01
    pairs = torch.tensor([[0] * 4, [0] * 4, [12] * 4, [0, 1, 2, 3]])
    scores = labeler.roles(torch.zeros(1, 12), torch.zeros(1, 12), pairs)
    assert (scores[:, :ROLES][~has_role] < -15).all()


def test_moods_of_words_are_those_by_themselves(labeler):
    """The vectors of the word and of the word before it matter, no others of the batch; `Xyzzy` evokes no frame."""
    texts = [["Go", "home", "Xyzzy"], ["go"]]
    vectors = random(2, 3, 10) * 40
    encoded = [
        EncoderOut(
            some[..., :6],
            torch.zeros(some.shape[:2], dtype=torch.bool),
            torch.tensor([3] * len(some)),
            read=some[..., 6:],
        )
        for some in (vectors, vectors[:1], vectors[1:, :1])
    ]
    together, alone, last = (
        labeler.read(out, some) for out, some in zip(encoded, (texts, texts[:1], texts[1:]), strict=True)
    )
    assert [one.moods for one in together] == [alone[0].moods, last[0].moods]
    assert together[0].moods[2] == OTHER and [one.start for one in together] == [0, 3]
    own, before = labeler.linear(vectors[0, :2], "moods").chunk(2, -1)
    odds = labeler.imperatives(own[1:], before[:1], labeler.contexts(texts[0], [1])).item()
    expected = IMPERATIVE if odds > -1.25 else OTHER if odds < -2 else UNSURE
    assert together[0].moods[1] == expected


def test_the_file_holds_the_labeler(labeler, tmp_path):
    labeler.save(tmp_path / "roles.safetensors")
    again = RoleLabeler.load(tmp_path / "roles.safetensors", inputs=10)
    assert again.frames == labeler.frames
    for name, value in labeler.weights.items():
        assert torch.equal(again.weights[name], value.half().float())


@pytest.mark.parametrize(
    "frames", ["[" * 100_000, "[" * 500 + "]" * 500, "null", "5", '{"go-01": 1}', "[1, 2, 3, 4]", '["x"]']
)
def test_other_frames_are_refused(labeler, tmp_path, frames):
    path = tmp_path / "roles.safetensors"
    save_file({name: value.half() for name, value in labeler.weights.items()}, path, {"frames": frames})
    with pytest.raises(InputError, match=r"roles\.safetensors: is not the semantic role labeler") as error:
        RoleLabeler.load(path, inputs=10)
    assert len(str(error.value)) < 700 and len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("name", ["distance", "senses", "forms"])
@pytest.mark.parametrize(
    "change", [lambda value: value[:0], lambda value: value[None], lambda value: value.long(), lambda value: value / 0]
)
def test_other_weights_are_refused(labeler, tmp_path, name, change):
    path, weights = tmp_path / "roles.safetensors", {name: value.half() for name, value in labeler.weights.items()}
    weights[name] = change(weights[name]).contiguous()
    save_file(weights, path, {"frames": json.dumps(FRAMES)})
    with pytest.raises(InputError, match="is not the semantic role labeler") as error:
        RoleLabeler.load(path, inputs=10)
    assert str(error.value).startswith(f"{path}: ") and len(str(error.value)) < 1000


def test_each_pair_has_its_own_scores(labeler):
    """In one call, or one by one: the same."""
    heads, others = random(3, 12), random(9, 12)
    pairs = torch.tensor([[0, 1, 2, 2], [3, 4, 1, 0], [15, 9, 12, 24], [0, 3, 1, 1]])
    together = labeler.roles(heads, others, pairs)
    assert together.exp().sum(1).tolist() == pytest.approx([1.0] * 4)
    for i in range(4):
        assert labeler.roles(heads, others, pairs[:, i : i + 1])[0].tolist() == pytest.approx(
            together[i].tolist(), abs=1e-5
        )
