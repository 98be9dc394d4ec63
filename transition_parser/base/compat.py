"""Every work-around for fairseq and torch, and for what they do to others; nothing else."""

from __future__ import annotations

import argparse
import os
import sys
import threading

import torch


def allow_fairseq_checkpoints() -> None:
    """Lets `torch.load` read fairseq's checkpoints under its `weights_only` protection.

    torch ≥ 2.6 refuses every class that is not allow-listed; fairseq stores its arguments as an
    `argparse.Namespace` (a plain bag of values). Without this, resuming and `fairseq-generate` die.
    """
    torch.serialization.add_safe_globals([argparse.Namespace])


def let_idle_threads_sleep_soon() -> None:
    """Do as `transition_parser.base.process.let_idle_threads_sleep` where torch has been imported: in `fairseq-train`.

    GNU's OpenMP, which torch for Linux comes with, lets threads spin 300,000 times before they sleep, but only 1,000
    times while it has more threads than there are cores to run on. So this makes it so many, of which all but torch's
    sleep for ever. Does nothing where the user has set how threads wait, where torch uses one thread, or where this has
    been done; with another OpenMP it has no effect.
    """
    threads, name = torch.get_num_threads(), "idle OpenMP threads"
    chosen = threads == 1 or not {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}.isdisjoint(os.environ)
    if chosen or sys.platform != "linux" or name in {thread.name for thread in threading.enumerate()}:
        return
    started, never = threading.Event(), threading.Event()

    def hold() -> None:
        torch.set_num_threads(max(len(os.sched_getaffinity(0)) - threads, 0) + 2)
        torch.zeros(1 << 22).add_(1)  # large enough for all of them; they belong to this thread
        torch.set_num_threads(threads)
        started.set()
        never.wait()

    threading.Thread(target=hold, name=name, daemon=True).start()
    started.wait()
