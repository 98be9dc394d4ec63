"""Every work-around for fairseq and torch, and for what they do to others; nothing else."""

from __future__ import annotations

import argparse
import ctypes
import logging
import os
from collections.abc import Callable

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


def keep_freed_memory() -> None:
    """Tells glibc to keep the memory of freed tensors for the next ones.

    By default it gives blocks of some MB back to the system at once, and gets them again page by page: for the
    scores over a large vocabulary that takes longer than computing them. Does nothing where there is no glibc.
    """
    if mallopt := _of_glibc("mallopt"):
        trim_threshold, mmap_max = -1, -4  # M_TRIM_THRESHOLD and M_MMAP_MAX of malloc.h
        mallopt(mmap_max, 0)
        mallopt(trim_threshold, 2**31 - 1)


def give_back_freed_memory() -> None:
    """Gives the system what `keep_freed_memory` kept: without this now and then, free blocks that fit nothing pile
    up. Does nothing where there is no glibc."""
    if malloc_trim := _of_glibc("malloc_trim"):
        malloc_trim(0)


def keep_few_kernels() -> None:
    """Limits oneDNN's cache of kernels, which holds one for each shape of each product: 1,024 of them take over 1 GB.
    Keeps a limit that the user has set; too late once oneDNN has computed.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")


def _of_glibc(name: str) -> Callable | None:
    try:
        return getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):  # another C library
        return None
