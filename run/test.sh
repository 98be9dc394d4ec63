#!/usr/bin/env bash
# Sets up, checks style, imports and types, and runs the tests. --slow: also tests on whole corpora (where
# TRANSITION_PARSER_DATA names their folder) and long random walks. Other arguments go to pytest. Tests run in as many
# processes as there are cores, up to four (-n 0: in one); the tests of a file run in the same process.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$root"
markers=(-m "not slow")
if [ "${1:-}" = --slow ]; then
    markers=()
    shift
fi
ruff check .
ruff format --check .
lint-imports --no-cache --no-logo
mypy
processes=$(python -c 'import os; print(min(len(os.sched_getaffinity(0)), 4))')
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} # the cores have work enough
unset PYTHONDONTWRITEBYTECODE                # else each of hundreds of processes compiles the package again
# Files in their order: xdist would begin with those of the most tests, and end with those of few that take minutes.
exec python -m pytest -n "$processes" --dist loadfile --no-loadscope-reorder "${markers[@]}" "$@"
