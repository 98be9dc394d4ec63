"""Parts of the package that are written in C, as libraries that ctypes loads."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from importlib.util import find_spec

from torch import Tensor


def load_library(module: str, functions: Mapping[str, Sequence[type]]) -> ctypes.CDLL | None:
    """The library that the set-up compiled as `module`, with the types of its functions' arguments; None where the
    package was set up without a compiler that can make it."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return None
    library = ctypes.CDLL(spec.origin)
    for name, arguments in functions.items():
        getattr(library, name).argtypes = arguments
    return library


def address(tensor: Tensor | None) -> int | None:
    """Where the tensor's numbers are; None is NULL."""
    return None if tensor is None else tensor.data_ptr()
