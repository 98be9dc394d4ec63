"""The variants of the search kernels, one for each kind of processor."""

import ctypes

import pytest

from transition_parser.kernels import loader


@pytest.fixture(params=[16, 8, 4])
def lanes(request):
    """How many numbers the vectors of one variant have; it is the one that runs."""
    library = loader.library()
    if library is None:
        pytest.skip("there are no search kernels here")
    if request.param > library.lanes():
        pytest.skip(f"this processor has no vectors of {request.param} numbers")
    most = ctypes.c_int.in_dll(library, "most_lanes")
    before, most.value = most.value, request.param
    assert library.lanes() == request.param
    yield request.param
    most.value = before
