#!/usr/bin/env bash
# Sets up, checks style, imports and types, and runs the tests. --corpora: also tests on whole corpora, in the folder that
# TRANSITION_PARSER_DATA names, and tests of computation once more as on an older processor. --slow: also these, long random
# walks, more examples and whole crosses (tests/helpers/crosses.py). Other arguments go to pytest. Tests run in as many
# processes as there are cores, up to four (-n 0: in one); the tests of a file run in the same process.
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh" all
cd "$root"
markers=(-m "not slow") more=
case ${1:-} in
--slow) markers=(--hypothesis-profile=many) more=1 ;;
--corpora) markers=(-m "not slow or corpora") more=1 ;;
*) set -- "" "$@" ;;
esac
shift
# Style, imports and types are checked beside the tests, which do not fill all cores at their end; what is wrong is said last.
checks() { ruff check . && ruff format --check . && lint-imports --no-cache --no-logo && mypy; }
said=$(mktemp)
checks >"$said" 2>&1 &
checked=$!
trap 'kill "$checked" 2>/dev/null || :; rm -f "$said"' EXIT
processes=$(python -c 'import os; print(min(len(os.sched_getaffinity(0)), 4))')
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} # the cores have work enough
unset PYTHONDONTWRITEBYTECODE                # else each of hundreds of processes compiles the package again
# Files in their order: xdist would begin with those of the most tests, and end with those of few that take minutes.
tests() { python -m pytest -n "$processes" --dist loadfile --no-loadscope-reorder "$@"; }
status=0
tests "${markers[@]}" "$@" || status=$?
# What depends on the processor once more, as on a processor without AVX-512, bf16 and int8
if [ $status = 0 ] && [ "$more" ] && [ $# = 0 ] && grep -q avx512 /proc/cpuinfo 2>/dev/null; then
    TRANSITION_PARSER_CPU=avx2 tests "${markers[@]}" tests/kernels/test_{int8,encoders,loader,searches}.py \
        tests/modules/test_packing.py tests/parsing/test_{parser,parser_copies}.py tests/tasks/test_precision.py \
        tests/training/test_models.py tests/parsing/test_every_way.py::test_every_precision || status=$?
fi
wait "$checked" || status=$?
cat "$said"
exit "$status"
