"""The loader of the libraries that the set-up compiled, with warnings about missing libraries."""

from __future__ import annotations

import ctypes
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from transition_parser.base.errors import InputError, ParserWarning
from transition_parser.base.process import avx2_alone

VARIABLE = "TRANSITION_PARSER_KERNELS"
LIBRARIES = ("search", "machine", "amr_machine", "legality", "costs", "amr_search")
_LANES_OF_AVX2 = 8  # how many floats a vector of AVX2 has
FOLDER = Path(__file__).parent  # the folder into which the set-up puts the libraries

# ctypes types of arguments and results; PROBLEM is a result: NULL, or a message about wrong arguments
INT, SIZE, FLOAT, POINTER, PROBLEM = ctypes.c_int, ctypes.c_int64, ctypes.c_float, ctypes.c_void_p, ctypes.c_char_p
Signature = tuple[Any, Sequence[Any]]  # the ctypes types of a C function's result and of its arguments


def switched_on() -> bool:
    """Return True unless the environment variable TRANSITION_PARSER_KERNELS is 0, which switches kernels off.

    Raises `InputError` if the variable is neither 0 nor 1.
    """
    value = os.environ.get(VARIABLE, "1")
    if value not in ("0", "1"):
        raise InputError(f"{VARIABLE} is {value!r}: set it to 0 (no compiled kernels) or 1, or unset it")
    return value == "1"


def lazy_library(name: str, functions: Mapping[str, Signature]) -> Callable[[], ctypes.CDLL | None]:
    """Return a function that calls `load_library` once, when it is first called, and then returns the same result.

    The parameters are those of `load_library`.
    """

    @lru_cache(maxsize=1)
    def library() -> ctypes.CDLL | None:
        return load_library(name, functions)

    return library


def load_library(name: str, functions: Mapping[str, Signature]) -> ctypes.CDLL | None:
    """Return a compiled library, or None if kernels are switched off or the library is missing or cannot be loaded.

    A process warns once about all missing libraries, and once about each library that cannot be loaded.

    name: the library, such as `search` for `_search_kernels.so`
    functions: name → ctypes types of its result and arguments, for each function of the library that Python calls
    """
    if not switched_on():
        return None
    path = _path(name)
    if not path.is_file():
        _warn_of_missing()
        return None
    try:
        library = ctypes.CDLL(str(path))
        for function, (result, arguments) in functions.items():
            getattr(library, function).restype = result
            getattr(library, function).argtypes = arguments
        if name == "search":  # the only library that is compiled for several kinds of processors
            ctypes.c_int.in_dll(library, "most_lanes").value = _LANES_OF_AVX2 if avx2_alone() else 0
    except (OSError, AttributeError) as error:  # the library was compiled for another machine or from other sources
        _warn_of_broken(name, str(error))
        return None
    return library


def _path(name: str) -> Path:
    return FOLDER / f"_{name}_kernels.so"


@lru_cache(maxsize=1)
def _warn_of_missing() -> None:
    *names, last = [name.replace("_", " ") for name in LIBRARIES if not _path(name).is_file()]
    listed = f"{', '.join(names)} and {last}" if names else last
    _warn(f"{listed} kernels are not compiled (gcc 12 or clang was not found at installation)")


@lru_cache
def _warn_of_broken(name: str, error: str) -> None:
    _warn(f"{name} kernels cannot be loaded ({error})")


def _warn(problem: str) -> None:
    warnings.warn(
        f"{problem}: parsing is slower. Install gcc 12 or newer, or clang, and then this package again "
        f"(pip install --force-reinstall --no-deps .); {VARIABLE}=0 does without",
        ParserWarning,
        stacklevel=2,
    )
