"""Every work-around for fairseq and torch, and for what they do to others; nothing else."""

from __future__ import annotations

import argparse
import logging

import torch


def allow_fairseq_checkpoints() -> None:
    """Lets `torch.load` read fairseq's checkpoints under its `weights_only` protection.

    torch ≥ 2.6 refuses every class that is not allow-listed; fairseq stores its arguments as an
    `argparse.Namespace` (a plain bag of values). Without this, resuming and `fairseq-generate` die.
    """
    torch.serialization.add_safe_globals([argparse.Namespace])


def quiet_penman() -> None:
    """Keeps penman from printing each token it reads: importing fairseq sets the level of all loggers to DEBUG.

    What penman warns of comes again as our errors.
    """
    logging.getLogger("penman").setLevel(logging.ERROR)
