"""Models that parse together."""

import pytest
import torch

from tests.conftest import train
from transition_parser import Parser
from transition_parser.base.errors import InputError


@pytest.fixture(scope="module")
def models(data_folder, checkpoint, tmp_path_factory):
    """Three of two architectures, of the same data."""
    folders = [tmp_path_factory.mktemp("member") for _ in range(2)]
    train(data_folder, folders[0], "--seed", "2", "--character-width", "8", "--disable-validation")
    train(data_folder, folders[1], "--disable-validation", arch="stack_attention_rnn_small")
    return [checkpoint, *(folder / "checkpoint_last.pt" for folder in folders)]


@torch.inference_mode()
def test_the_mean_of_log_probabilities_decides(models):
    parsers = [Parser.load(path, precision="fp32") for path in models[:2]]
    together = Parser.load(models[0], precision="fp32", others=models[1:2])
    words = ["The", "old", "dog", "sleeps", "."]
    source = parsers[0].resources.encode_all([words])[0][None]
    steps = []
    for parser in (*parsers, together):
        inputs = parser.model.inputs
        read = inputs.read([words]) if inputs else None
        features = parser.resources.features_of([words])
        encoder_out = parser.model.encode({"src_tokens": source, "words": read, "features": features})
        state = parser.model.decoder.start(encoder_out)
        end = torch.tensor([parser.resources.table.end])
        first = parser.model.decoder.step(end, state).masked().log_softmax(-1)
        shift = first.argmax(1)
        state.machine.apply(shift)
        steps.append((first, parser.model.decoder.step(shift, state).masked().log_softmax(-1)))
    for one, two, both in zip(*steps, strict=True):
        assert torch.allclose(((one + two) / 2).log_softmax(-1), both, atol=1e-5)


@pytest.mark.parametrize("other", ["en-amr", "en-fast"])
def test_a_model_of_other_data(amr_checkpoint, other):
    with pytest.raises(InputError, match=f"^{other}: was trained on other data than the first model"):
        Parser.load(amr_checkpoint, others=[amr_checkpoint, other])


def test_a_model_of_whole_trees(data_folder, tmp_path):
    train(data_folder, tmp_path, "--disable-validation", arch="spa_dp_graph_small", updates=1)
    path = tmp_path / "checkpoint_last.pt"
    with pytest.raises(InputError, match="models that score whole trees are no ensemble"):
        Parser.load(path, others=[path])
