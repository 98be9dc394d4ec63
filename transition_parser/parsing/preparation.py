"""The steps that make a model ready to compute: its device, precision and packed weights; sentences in batches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

import torch

from transition_parser.base.errors import InputError, shortened
from transition_parser.base.machine import has_amx, has_fast_bf16
from transition_parser.base.process import Shared
from transition_parser.kernels.encoders import has_int8
from transition_parser.modules.contract import ParserModel
from transition_parser.modules.packing import pack, quantize
from transition_parser.storage.exports import check_finite

T = TypeVar("T")

PRECISIONS = ("fp32", "bf16", "int8")


def checked_device(name: str) -> torch.device:
    """Return the torch device of this name. Raises `InputError` where the device can't be used on this machine."""
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError, ImportError) as error:  # a torch built without CUDA raises AssertionError
        problem = shortened(str(error).partition("\n")[0], 200)
        raise InputError(f"the device {name!r:.60} can't be used here: {problem}") from None
    return device


def checked_precision(name: str, device: torch.device) -> str:
    """Return the name of the precision; for `auto` the fastest one, but with AMX not int8, which was not measured."""
    if name == "auto":
        half = has_fast_bf16(device)
        if device.type == "cpu" and has_int8() and not (half and has_amx()):
            return "int8"
        return "bf16" if half else "fp32"
    if name not in PRECISIONS:
        raise InputError(f"unknown precision {name!r:.60}: give auto, {', '.join(PRECISIONS)}")
    if name == "int8" and not (device.type == "cpu" and has_int8()):
        raise InputError(
            "the precision int8 is for x86 processors with AVX2, and needs the library that gcc compiles: give bf16"
        )
    return name


def usual_batch(model: ParserModel, device: torch.device, beam: int) -> int:
    """Return the usual maximum of words times beam in a batch."""
    words, largest = (model.decoder.words_at_once, 8) if device.type == "cpu" else (8000, 4)
    return words * min(beam, largest)


def prepared(model: ParserModel, device: torch.device, precision: str) -> ParserModel:
    """Make the model ready to compute, and return it."""
    packs = device.type == "cpu" and has_fast_bf16(device)
    model = model.to(device)
    if precision == "int8":
        quantize(model)
    if precision == "bf16" or (precision == "int8" and packs):
        model.to(torch.bfloat16)
        check_finite(model.state_dict())  # the largest numbers of fp32 are infinite there
    if packs and precision != "fp32":
        pack(model)
    for module in model.modules():
        if use_kernels := getattr(module, "use_kernels", None):
            use_kernels()
    return model


def to_device(device: torch.device, value: Any) -> Any:
    """Return nested dictionaries with their tensors on the device."""
    if isinstance(value, Mapping):
        return {name: to_device(device, inner) for name, inner in value.items()}
    return value.to(device) if isinstance(value, torch.Tensor) else value


# --- sentences in batches ---------------------------------------------------------------------


_SIDE_BY_SIDE = 4  # maximum number of batches at a time: Python itself runs on one core
_SWITCH_INTERVAL = 5e-4  # seconds until threads take turns in Python; the default is 5e-3

torch_threads = Shared(torch.get_num_threads, torch.set_num_threads)
_switch_interval = Shared(sys.getswitchinterval, sys.setswitchinterval)


def batches_at_a_time(threads: int, device: torch.device) -> int:
    """Return the number of batches that are parsed at a time."""
    return min(threads, _SIDE_BY_SIDE) if device.type == "cpu" else 1


@contextmanager
def workers(threads: int, device: torch.device) -> Iterator[Callable[..., Iterator]]:
    """Yield a function with the arguments of `map`: a function of a batch, and the batches."""
    at_a_time = batches_at_a_time(threads, device)
    with ExitStack() as stack:
        stack.enter_context(torch_threads.at(max(threads // at_a_time, 1)))
        if at_a_time == 1:
            yield map
            return
        stack.enter_context(_switch_interval.at(_SWITCH_INTERVAL))

        def each(function: Callable, batches: Iterable[list[int]]) -> Iterator:
            listed = list(batches)
            if len(listed) < 2:  # starting a thread takes about a millisecond
                return map(function, listed)
            pool = ThreadPoolExecutor(at_a_time)
            stack.callback(pool.shutdown, cancel_futures=True)
            return pool.map(function, listed)

        yield each


def in_batches(lengths: Sequence[int], beam: int, most: int, least: int | None = None) -> Iterator[list[int]]:
    """Yield batches of sentences of similar length as indices, the longest first; `most` bounds words times beam.

    least: the bound falls from batch to batch to this number, so that all cores are done at the same time
    """
    batch: list[int] = []
    words_left, limit = sum(lengths), 0
    for i in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        if batch and (len(batch) + 1) * lengths[batch[0]] * beam > limit:
            yield batch
            words_left -= sum(lengths[j] for j in batch)
            batch = []
        if not batch:
            limit = most if least is None else min(most, max(words_left * beam // _SIDE_BY_SIDE, least))
        batch.append(i)
    if batch:
        yield batch


def in_chunks(items: Iterable[T], size: int, weight: Callable[[T], int] = lambda _: 1) -> Iterator[list[T]]:
    """Yield lists of items. A list ends where the number of items, or the sum of their weights, reaches `size`."""
    chunk: list[T] = []
    total = 0
    for item in items:
        chunk.append(item)
        total += weight(item)
        if max(total, len(chunk)) >= size:
            yield chunk
            chunk, total = [], 0
    if chunk:
        yield chunk
