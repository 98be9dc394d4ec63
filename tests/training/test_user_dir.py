"""`--user-dir transition_parser` from any folder, where the package is installed."""

import os
import shutil
from pathlib import Path

import fairseq

from tests.conftest import ROOT, python


def test_fairseq_finds_it_from_another_folder(tmp_path):
    """fairseq comes first on the path of modules, with what is installed beside it, and without this checkout."""
    site, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    site.mkdir()
    elsewhere.mkdir()
    for name in ("fairseq", "fairseq_cli"):  # not links themselves: fairseq looks into the folder above its own
        (site / name).mkdir()
        for path in Path(fairseq.__path__[0]).with_name(name).iterdir():
            (site / name / path.name).symlink_to(path)
    shutil.copytree(ROOT / "transition_parser", site / "transition_parser", ignore=shutil.ignore_patterns("*.so"))
    flags = ("--user-dir", "transition_parser", "--task", "transition_parsing", "--arch", "stack_transformer_small")
    read = "from fairseq import options; print(options.parse_args_and_arch(options.get_training_parser()))"
    show = "import transition_parser; from transition_parser.states import table; print(transition_parser.__path__[0])"
    printed = python(
        "-c", f"{read}; {show}", "data", *flags, "--criterion", "legal_cross_entropy",
        "--lr-scheduler", "epochs_polynomial", cwd=elsewhere, PYTHONPATH=str(site),
    ).stdout  # fmt: skip
    for name in ("train_precision='auto'", "stack_heads=1", "softmax_over='legal'", "warmup_epochs=0.0"):
        assert name in printed
    assert os.path.normpath(printed.splitlines()[-1]) == str(site / "transition_parser")
