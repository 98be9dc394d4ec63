"""Learning rates of parts of a model."""

from argparse import Namespace

import pytest
import torch
from fairseq.optim.adam import FairseqAdam

from transition_parser.errors import InputError
from transition_parser.schedulers.adam_by_part import AdamByPart, check_optimizer

OPTIONS = {"lr": [0.5], "adam_betas": "(0.9, 0.98)", "adam_eps": 1e-8, "weight_decay": 0.0, "use_old_adam": False,
           "fp16_adam_stats": False}  # fmt: skip


def parameters():
    first, second = (torch.nn.Parameter(torch.zeros(3)) for _ in range(2))
    second.lr_scale = 0.1
    return first, second


def test_a_part_learns_at_its_own_rate():
    first, second = parameters()
    optimizer = AdamByPart(Namespace(**OPTIONS), [second, first])
    for rate in (0.5, 0.2):
        optimizer.set_lr(rate)
        assert optimizer.get_lr() == pytest.approx(rate)
        before = [p.detach().clone() for p in (first, second)]
        for parameter in (first, second):
            parameter.grad = torch.ones(3)
        optimizer.step()
        moved = [float((p.detach() - old)[0]) for p, old in zip((first, second), before, strict=True)]
        assert moved[1] == pytest.approx(0.1 * moved[0]) and moved[0] == pytest.approx(-rate, rel=1e-3)


def test_what_it_remembers_is_read_again():
    first, second = parameters()
    optimizer = AdamByPart(Namespace(**OPTIONS), [first, second])
    for parameter in (first, second):
        parameter.grad = torch.ones(3)
    optimizer.step()
    again = AdamByPart(Namespace(**OPTIONS), parameters())
    again.load_state_dict(optimizer.state_dict(), {"lr": 0.3})
    again.set_lr(0.3)
    assert again.get_lr() == pytest.approx(0.3)
    assert [group["lr"] for group in again.param_groups] == pytest.approx([0.3, 0.03])


def test_another_optimizer_is_refused():
    first, second = parameters()
    adam = FairseqAdam(Namespace(**OPTIONS), [first, second])
    with pytest.raises(InputError, match="needs --optimizer adam_by_part"):
        check_optimizer(adam, [first, second])
    check_optimizer(adam, [first])
    check_optimizer(AdamByPart(Namespace(**OPTIONS), [first, second]), [first, second])
