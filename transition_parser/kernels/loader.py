"""The library that the set-up compiled from C, its functions, and checks of tensors before C reads them.

Python checks types, shapes and devices of tensors (`require`), because C cannot see them, and C checks the numbers.
"""

from __future__ import annotations

import ctypes
import os
import warnings
import zlib
from ctypes import c_char_p, c_float, c_int, c_int64, c_uint, c_void_p
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transition_parser.base.errors import InputError, NotFiniteError, ParserWarning
from transition_parser.base.process import at_most_avx2, has_vnni

VARIABLE = "TRANSITION_PARSER_KERNELS"
PATH = Path(__file__).with_name("_kernels.so")  # where the set-up puts the library
_LANES_OF_AVX2 = 8  # how many floats a vector of AVX2 has
BLOCK = 32  # how many numbers C reads at once; the size of a head must be a multiple of it
HALF = {torch.float: 0, torch.bfloat16: 1}  # the value of the argument `half` in C

# ctypes types of results and arguments; PROBLEM is a result: NULL, or a message that is raised
INT, SIZE, FLOAT, POINTER, PROBLEM = c_int, c_int64, c_float, c_void_p, c_char_p
_FUNCTIONS: dict[str, tuple[Any, tuple]] = {
    "lanes": (INT, ()),
    "has_int8": (INT, ()),
    "self_attention": (PROBLEM, (INT, INT, *(SIZE,) * 8, *(POINTER,) * 6)),
    "recurrent_layer": (PROBLEM, (INT, INT, *(SIZE,) * 4, *(POINTER,) * 5)),
    "letter_maxima": (PROBLEM, (INT, *(SIZE,) * 5, *(POINTER,) * 5)),
    "products_of_pairs": (None, (*(SIZE,) * 3, *(POINTER,) * 3)),
    "int8_linear": (PROBLEM, (INT, INT, INT, SIZE, SIZE, *(POINTER,) * 3)),
    "int8_layers": (PROBLEM, (INT, *(SIZE,) * 8, *(POINTER,) * 8)),
    "search_trees": (PROBLEM, (INT, INT, *(SIZE,) * 9, *(POINTER,) * 13)),
    "search_amrs": (PROBLEM, (POINTER, POINTER, INT, *(SIZE,) * 3, *(POINTER,) * 5)),
    "unroll_amrs": (PROBLEM, (POINTER, SIZE, *(POINTER,) * 8)),
    "replay_derivation": (PROBLEM, (*(SIZE,) * 4, *(POINTER,) * 9)),
}


def switched_on() -> bool:
    """Return True unless `VARIABLE` is 0, which switches kernels off. Raises `InputError` if it is neither 0 nor 1."""
    value = os.environ.get(VARIABLE, "1")
    if value not in ("0", "1"):
        raise InputError(f"{VARIABLE} is {value!r}: set it to 0 (no compiled kernels) or 1, or unset it")
    return value == "1"


@lru_cache(maxsize=1)
def library() -> Any:
    """Return the library, or None, with a warning, if it is missing or cannot be loaded; also None if switched off."""
    if not switched_on():
        return None
    if not PATH.is_file():
        return _warn("are not compiled (gcc 12 or clang was not found at installation)")
    try:
        found = ctypes.CDLL(str(PATH))
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(found, name)
            function.restype, function.argtypes = result, arguments
            if result is PROBLEM:
                function.errcheck = _raise_problem
        sources = sorted(PATH.parent.glob("*.[ch]"))  # none in a package that a wheel installed
        checksum = zlib.crc32(b"".join(path.read_bytes() for path in sources))
        if sources and checksum != c_uint.in_dll(found, "checksum").value:
            return _warn("were compiled from other sources than those beside them")
        c_int.in_dll(found, "most_lanes").value = _LANES_OF_AVX2 if at_most_avx2() else 0
        c_int.in_dll(found, "use_vnni").value = has_vnni()
    except (OSError, AttributeError, ValueError) as error:  # compiled for another machine or from other sources
        return _warn(f"cannot be loaded ({error})")
    return found


def _warn(problem: str) -> None:
    warnings.warn(
        f"kernels {problem}: parsing is slower. Install gcc 12 or newer, or clang, and then this package again "
        f"(pip install --force-reinstall --no-deps .); {VARIABLE}=0 does without",
        ParserWarning,
        stacklevel=3,
    )


def supports(like: Tensor, width: int = BLOCK) -> bool:
    """Return True if there is a library, `like` is float or bfloat16 on the CPU, and rows of this width fit."""
    return like.is_cpu and like.dtype in HALF and width % BLOCK == 0 and library() is not None


def require(name: str, tensor: Tensor, dtype: torch.dtype, *shape: int) -> int:
    """Return the address of a contiguous tensor on the CPU of this dtype and shape. Raises `ValueError` for another."""
    if tensor.dtype is dtype and tensor.shape == shape and tensor.is_cpu and tensor.is_contiguous():
        return tensor.data_ptr()
    raise ValueError(
        f"{name} must be {dtype}, {shape}, contiguous, on cpu; it is {tensor.dtype}, {tuple(tensor.shape)}, "
        f"{'' if tensor.is_contiguous() else 'not '}contiguous, on {tensor.device}"
    )


def optional(name: str, tensor: Tensor | None, dtype: torch.dtype, *shape: int) -> int | None:
    """Return the address of a tensor as `require` does, or None, which is NULL in C, for the tensor None."""
    return None if tensor is None else require(name, tensor, dtype, *shape)


def _raise_problem(problem: bytes | None, _function: object, _arguments: object) -> None:
    """Raise `MemoryError`, `NotFiniteError` or `ValueError` for the message of a C function; do nothing for None."""
    if problem is not None:
        said = problem.decode()
        kinds = {"no memory": MemoryError, "not finite": NotFiniteError}
        raise next((kind for words, kind in kinds.items() if words in said), ValueError)(said)
