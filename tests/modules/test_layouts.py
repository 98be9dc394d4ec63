"""Layouts: each sequence is in one run; slots left out, and rows in parts, change neither vectors nor gradients."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from tests.helpers.tiny_encoder import LONGEST, make_encoder
from tests.modules.test_pretrained import SENTENCES, vectors, words_of
from transition_parser.models.graph2graph.encoder import Transformer
from transition_parser.modules import bert
from transition_parser.modules.bert import RELATIONS, WIDTHS, BertConfig, CellLayout, Visible, runs
from transition_parser.modules.pretrained import PieceIds

CLOSE = 1e-5
LENGTHS = st.lists(st.integers(1, 60), max_size=12)


@given(LENGTHS, st.booleans())
def test_each_sequence_is_in_one_run_that_holds_it(lengths, few_shapes):
    found = runs(torch.tensor(lengths, dtype=torch.long), 64, few_shapes)
    there = [set(run.rows.tolist()) for run in found]
    assert sorted(itertools.chain.from_iterable(there)) == list(range(len(lengths)))
    for run, rows in zip(found, there, strict=True):
        assert all(lengths[row] <= run.width <= 64 for row in rows)
        if not few_shapes:
            assert len(run.rows) == len(rows) and (not rows or run.width == max(lengths[row] for row in rows))
        elif rows:
            assert run.width % WIDTHS == 0 and len(run.rows) % max(bert._CELLS // run.width, 1) == 0
            assert len(run.rows) * run.width < len(rows) * run.width + bert._CELLS


@pytest.mark.parametrize("few_shapes", [False, True])
def test_runs_of_windows_of_pieces_change_neither_vectors_nor_gradients(tmp_path, monkeypatch, few_shapes):
    """few_shapes: as where bf16 is computed by autocast."""
    monkeypatch.setattr(torch, "is_autocast_enabled", lambda _device: few_shapes)
    folder = make_encoder(tmp_path / "tiny")
    sentences = [["word"], *SENTENCES, *[["a", "b"]] * 70]
    cut, plain = (words_of(folder, training="adapters", rank=2).eval() for _ in range(2))
    assert len(runs(PieceIds(**cut.read(sentences)).mask.sum(1), LONGEST, few_shapes)) > 1
    found = torch.cat(vectors(cut, sentences))
    monkeypatch.setattr(CellLayout, "without_gaps", lambda visible, _: CellLayout.of_all(visible))
    wanted = torch.cat(vectors(plain, sentences))
    assert (found - wanted).abs().max() < 1e-5
    weight = torch.randn_like(wanted)  # of each feature: the sum of all is 0 after a norm
    for values in (found, wanted):
        (values * weight).sum().backward()
    grads = [(ours.grad, theirs.grad) for ours, theirs in zip(cut.parameters(), plain.parameters(), strict=True)]
    learned = [(ours, theirs) for ours, theirs in grads if ours is not None or theirs is not None]
    assert max(theirs.abs().max() for _, theirs in learned) > 0.1
    assert all(torch.allclose(ours, theirs, atol=1e-4) for ours, theirs in learned)


@pytest.mark.parametrize("few_shapes", [False, True])
@pytest.mark.parametrize("graph", [False, True])
def test_slots_left_out_and_rows_in_parts_change_nothing(monkeypatch, graph, few_shapes):
    """Of wanted slots that are there, and of gradients. few_shapes: as where bf16 is computed by autocast."""
    monkeypatch.setattr(torch, "is_autocast_enabled", lambda _device: few_shapes)
    torch.manual_seed(1)
    config = BertConfig(0, 8, 3, 2, 16, 60, 3, 0.0, 0.0, pad_token_id=None)
    transformer = Transformer(config, graph).double()
    for name, table in transformer.named_parameters():
        if "relation_" in name:
            nn.init.normal_(table)
    rows, length = 60, 50
    there = torch.rand(rows, length) < torch.cat([torch.full((50,), 0.1), torch.full((10,), 0.9)])[:, None]
    there[:, 0] = True
    wanted = torch.arange(7).expand(rows, -1)
    relations = torch.randint(len(RELATIONS), (rows, length, length)) if graph else None
    visible = Visible(there, wanted, relations)
    layout = CellLayout.without_gaps(visible, few_shapes)
    assert len(layout.parts) > 1 and len(layout.cells) < there.numel() / 2
    named = transformer.layers.named_parameters()
    learned = [weight for name, weight in named if not name.endswith("key.bias")]  # which no softmax depends on
    words, position = torch.randn(rows, length, 8).double(), torch.arange(length).expand(rows, -1)
    weight = torch.randn(rows, 7, 8).double() * there[:, :7, None]  # after a norm features sum up to a constant
    found = []
    for masks_gaps in (False, True):
        if masks_gaps:
            monkeypatch.setattr(CellLayout, "without_gaps", lambda visible, _: CellLayout.of_all(visible))
        read = transformer(words, position, torch.zeros_like(position), visible)
        gradients = torch.autograd.grad((read * weight).sum(), learned)
        assert min(gradient.abs().max() for gradient in gradients) > 1e-3
        found.append((read[there[:, :7]], *gradients))
    for ours, theirs in zip(*found, strict=True):  # weights of attention are computed in fp32
        assert (ours - theirs).abs().max() < CLOSE * theirs.abs().max().clamp_min(1.0)
