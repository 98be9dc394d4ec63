"""Learning rates of parts of a model."""

from argparse import Namespace

import pytest
import torch
from fairseq.optim.adam import FairseqAdam
from fairseq.optim.fp16_optimizer import FP16Optimizer

from transition_parser.base.errors import InputError
from transition_parser.tasks.optimization import AdamByPart, check_optimizer

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


def test_steps_are_those_of_fairseq():
    """With weight decay, and gradients beside which epsilon is nothing."""
    options = Namespace(**OPTIONS | {"weight_decay": 0.01})
    torch.manual_seed(1)
    start, gradients = torch.randn(3), torch.randn(5, 3)
    found = []
    for kind in (AdamByPart, FairseqAdam):
        parameter = torch.nn.Parameter(start.clone())
        optimizer = kind(options, [parameter])
        for gradient in gradients:
            parameter.grad = gradient.clone()
            optimizer.step()
        found.append(parameter.detach())
    assert torch.allclose(*found, atol=1e-5) and not torch.allclose(found[0], start, atol=0.1)


def test_what_another_adam_remembered_is_read():
    """And computed with by the same kernel."""
    (parameter, _), copies = parameters(), parameters()
    old = FairseqAdam(Namespace(**OPTIONS), [parameter])
    parameter.grad = torch.ones(3)
    old.step()
    new = AdamByPart(Namespace(**OPTIONS), copies[:1])
    new.load_state_dict(old.state_dict() | {"param_groups": [old.state_dict()["param_groups"][0] | {"lr_scale": 1.0}]})
    assert all(group["fused"] for group in new.param_groups)
    (remembered,) = new.optimizer.state.values()
    assert torch.equal(remembered["exp_avg"], old.optimizer.state[parameter]["exp_avg"])
    new.step()


def test_optimizers_without_rates_of_parts_are_refused():
    """Others, and copies of weights, as fairseq makes for training in half precision."""
    copies = [torch.nn.Parameter(torch.zeros(3)) for _ in range(2)]
    config = Namespace(common=Namespace(bf16=True, fp16_scale_window=1), optimizer=Namespace(**OPTIONS))
    wrapped = FP16Optimizer(config, copies, AdamByPart(Namespace(**OPTIONS), copies), copies)
    for optimizer in (wrapped, FairseqAdam(Namespace(**OPTIONS), parameters())):
        with pytest.raises(InputError, match=r"need --optimizer adam_by_part: others .* .use --train-precision bf16"):
            check_optimizer(optimizer, parameters())
        check_optimizer(optimizer, parameters()[:1])
    check_optimizer(AdamByPart(Namespace(**OPTIONS), parameters()), parameters())
