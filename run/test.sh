#!/usr/bin/env bash
# Sets up, checks style, imports and types, runs the tests. --slow: also whole corpora (where TRANSITION_PARSER_DATA names their
# folder) and long random walks. Anything else goes to pytest.
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
exec python -m pytest "${markers[@]}" "$@"
