"""Work shared by processes."""

import os

import pytest

from tests.conftest import python
from transition_parser.base.errors import InputError
from transition_parser.base.process import in_parallel


def square(number: int) -> int:
    return number * number


def die_at_five(number: int) -> int:
    if number == 5:
        os._exit(9)  # as by the system where memory ends
    return number


def fail_at_five(number: int) -> int:
    return 1 // (number - 5)


@pytest.mark.parametrize("processes", [1, 2])
def test_results_come_in_the_order_of_the_items(processes):
    assert list(in_parallel(square, iter(range(30)), processes, 4)) == [number**2 for number in range(30)]


def test_a_process_that_dies_is_an_error():
    with pytest.raises(InputError, match="one of 2 processes ended before its work was done"):
        list(in_parallel(die_at_five, range(9), 2, 2))


def test_an_error_of_the_work_is_the_callers():
    with pytest.raises(ZeroDivisionError):
        list(in_parallel(fail_at_five, range(9), 2, 2))


def test_a_caller_that_wants_no_more_waits_for_no_more():
    results = in_parallel(square, range(10_000), 2, 1)
    assert next(results) == 0
    results.close()


def test_a_script_without_a_guard_is_told(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from operator import neg\nfrom transition_parser.base.process import in_parallel\n"
        "print(list(in_parallel(neg, range(9), 2, 2)))\n"
    )
    assert "without `if __name__ == '__main__':`" in python(script, status=1).stderr
