"""One encoder that is trained on two corpora."""

import numpy as np
import pytest
import torch

from tests.conftest import run, run_here, train
from tests.small_models import make_task
from transition_parser.base.errors import InputError
from transition_parser.data.two_corpora import TwoCorpora

AMR = ("--best-checkpoint-metric", "smatch")
TEXT = "The old dog sleeps .\n"


@pytest.fixture(scope="module")
def trained(data_folder, amr_data_folder, tmp_path_factory):
    """AMRs, with trees along; the trees have tags."""
    folder = tmp_path_factory.mktemp("checkpoints")
    train(amr_data_folder, folder, *AMR, "--auxiliary-data", data_folder, "--tag-loss", "0.1", updates=8)
    return folder / "checkpoint_last.pt"


def test_the_export_has_the_parser_alone(trained, amr_data_folder, tmp_path):
    names = set(torch.load(trained, weights_only=False)["model"])
    along = {name for name in names if name.startswith("also_")}
    assert any(name.startswith("also_decoder.") for name in along)
    assert any(name.startswith("also_tags.upos") for name in along)
    assert not any("encoder." in name.removeprefix("also_decoder.") for name in along)
    run_here("average", trained, trained, "-o", tmp_path / "mean.pt")
    run_here("export", trained, "-o", tmp_path / "exported")
    parses = [
        run_here("parse", model, "-", "--scores", "--precision", "fp32", stdin=TEXT).stdout
        for model in (trained, tmp_path / "mean.pt", tmp_path / "exported")
    ]
    assert parses[0] == parses[1] == parses[2] != ""


def test_the_former_name_of_the_option_works_with_a_warning(data_folder, amr_data_folder, tmp_path):
    done = train(amr_data_folder, tmp_path, *AMR, "--also", data_folder, updates=1)
    warnings = [line for line in (done.stdout + done.stderr).splitlines() if "--also is called" in line]
    assert len(warnings) == 1 and "--also is called --auxiliary-data now" in warnings[0]
    names = torch.load(tmp_path / "checkpoint_last.pt", weights_only=False)["model"]
    assert any(name.startswith("also_decoder.") for name in names)
    with pytest.raises(InputError, match="--also is the former name of --auxiliary-data: give one of the two"):
        make_task(amr_data_folder, also=str(data_folder), auxiliary_data=str(data_folder))


def test_fairseq_generates_and_resumes(trained, amr_data_folder, data_folder):
    done = run(
        "fairseq-generate", amr_data_folder, "--user-dir", "transition_parser", "--task", "transition_parsing",
        "--path", trained, "--gen-subset", "valid", "--max-tokens", "300",
    )  # fmt: skip
    assert "Generate valid" in done.stdout
    options = (*AMR, "--auxiliary-data", data_folder, "--tag-loss", "0.1")
    done = train(amr_data_folder, trained.parent, *options, updates=10)
    assert "Loaded checkpoint" in done.stdout + done.stderr


class Corpus:
    """As much of a data set as its batches need."""

    def __init__(self, sizes):
        self.sizes = np.array(sizes)

    def __len__(self):
        return len(self.sizes)

    def __getitem__(self, index):
        return {"id": index}

    def collater(self, samples):
        return {"ids": [s["id"] for s in samples], "net_input": {}}

    def ordered_indices(self):
        return np.argsort(self.sizes, kind="stable")

    def num_tokens_vec(self, indices):
        return self.sizes[indices]

    def size(self, index):
        return int(self.sizes[index]), 0

    def batch_by_size(self, indices, *_):
        return [np.asarray(indices)[i : i + 2] for i in range(0, len(indices), 2)]


def test_no_batch_has_sentences_of_both():
    both = TwoCorpora(Corpus([3, 1, 2]), Corpus([5, 4]))
    assert len(both) == 5 and both.num_tokens_vec(both.ordered_indices()).tolist() == [1, 2, 3, 4, 5]
    assert both.size(3) == (5, 0) and both.num_tokens(1) == 1
    kept, ignored = both.filter_indices_by_size(both.ordered_indices(), 4)
    assert kept.tolist() == [1, 2, 0, 4, 3] and ignored == []
    batches = [both.collater([both[i] for i in batch]) for batch in both.batch_by_size(kept)]
    assert [batch["ids"] for batch in batches] == [[1, 2], [0], [1, 0]]
    assert [batch["net_input"].get("also", False) for batch in batches] == [False, False, True]
