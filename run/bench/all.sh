#!/usr/bin/env bash
# Every benchmark, in one report: bash run/bench/all.sh OUT.json [option ...]
#   --rounds N         interleaved rounds, whose medians are reported (default 3; the row stream takes one)
#   --threads N        threads of torch (default: the cores here); rows training, parts, costs and oracles take one
#   --sentences N      sentences of each file, from the start (default 600)
#   --stream N         sentences over which the memory of `parse` is watched (default 20000)
#   --only ROW ...     only these rows
#   --install-peers    first install the parsers that ours is compared with (the extra `bench`)
# Corpora come from the folder that TRANSITION_PARSER_DATA names (see CONTRIBUTING.md), or else from the samples of the tests.
# Each row is a file in OUT.json.parts: ROW.json, or ROW.failed, with ROW.log. A second call keeps each finished
# ROW.json, whatever the options were, and so resumes: remove the file to measure its row again. With a GPU there are
# also rows ROW-cuda. The rows of growth come with a picture, ROW.svg. Exit status 1 where a row failed.
. "$(dirname "${BASH_SOURCE[0]}")/../setup.sh"
bench=$root/run/bench
usage() {
    sed -n '/^# Every/,/^[^#]/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
    exit 2
}

case ${1:---} in -*) usage ;; esac
output=$1 rounds=3 threads=$(nproc) sentences=600 stream=20000 only=() install=
shift
while [ $# -gt 0 ]; do
    case $1 in
    --rounds | --threads | --sentences | --stream)
        [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || usage
        printf -v "${1#--}" %s "$2"
        shift 2
        ;;
    --only)
        shift
        while [ $# -gt 0 ] && [ "${1#--}" = "$1" ]; do only+=("$1") && shift; done
        [ ${#only[@]} -gt 0 ] || usage
        ;;
    --install-peers) install=yes && shift ;;
    *) usage ;;
    esac
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -n "${TRANSITION_PARSER_DATA:-}" ]; then
    trees=$TRANSITION_PARSER_DATA/ud/UD_English-EWT amrs=$TRANSITION_PARSER_DATA/amr
    train=$trees/train.conllu dev=$trees/dev.conllu test=$trees/test.conllu
    bank=$amrs/lpp-v3.0/dev.amr aligned=$amrs/bio-isi-aligned/dev.amr
else
    dev=$root/tests/data/sample.conllu test=$dev train=$work/train.conllu
    bank=$root/tests/data/sample.amr aligned=$bank
    for _ in {1..40}; do cat "$dev"; done >"$train" # gives enough words for an epoch of several batches
fi
for file in "$train" "$dev" "$test" "$bank" "$aligned"; do
    [ -f "$file" ] || { echo "all.sh: no such file: $file" >&2 && exit 2; }
done
parts=$output.parts
mkdir -p "$parts"
if [ -n "$install" ]; then
    echo "all.sh: installing the peers" >&2
    # the package itself is left out: with it pip would look for fairseq's dependencies, see run/setup.sh
    peers=$(python -c "import importlib.metadata as m; print(*(r.split(';')[0] for r in m.requires('transition-parser')
        if 'extra == \"bench\"' in r))")
    # shellcheck disable=SC2086  # the variable holds several packages
    python -m pip --disable-pip-version-check -qq install -c "$root/run/constraints.txt" $peers >&2
fi

rows=()
# measure ROW SCRIPT [argument ...]: measures the row, unless it is finished or not wanted
measure() {
    local row=$1 script=$2 status=0 times=$rounds name
    shift 2
    rows+=("$row")
    [ "$row" != stream ] || times=1
    if [ ${#only[@]} -gt 0 ]; then
        for name in "${only[@]}" ""; do [ "$name" = "$row" ] && break; done
        [ -n "$name" ] || return 0
    fi
    if [ -f "$parts/$row.json" ]; then
        echo "all.sh: $row: kept" >&2
        return 0
    fi
    echo "all.sh: $row" >&2
    rm -f "$parts/$row.failed"
    {
        case $row in search | training) [ -d "$work/data" ] || prepare ;; esac &&
            python "$bench/$script" "$@" --rounds "$times" -o "$parts/$row.json.partial"
    } >"$parts/$row.log" 2>&1 || status=$?
    if [ $status -eq 0 ] && mv "$parts/$row.json.partial" "$parts/$row.json"; then return 0; fi
    rm -f "$parts/$row.json.partial"
    { tail -n 20 "$parts/$row.log" && echo "exit status $status: see $parts/$row.log"; } >"$parts/$row.failed"
    echo "all.sh: $row failed: see $parts/$row.log" >&2
}
prepare() {
    bash "$root/run/prepare.sh" arc-hybrid-swap "$train" "$dev" "$test" "$work/incomplete" &&
        mv "$work/incomplete" "$work/data"
}
# on_device DEVICE SUFFIX: measures the rows that a GPU can have, too
on_device() {
    local all=(--device "$1" --sentences "$sentences" --threads "$threads")
    measure "greedy$2" parsing.py en-ewt "$test" --beams 1 --peers "$train" "${all[@]}"
    measure "beam$2" parsing.py en-ewt "$dev" --beams 10 "${all[@]}"
    measure "amr$2" parsing.py en-amr "$bank" --beams 1 10 "${all[@]}"
    measure "parts$2" parts.py en-ewt "$dev" --beam 10 --device "$1" --sentences "$sentences" --threads 1
    measure "parts-amr$2" parts.py en-amr "$bank" --beam 10 --device "$1" --sentences "$sentences" --threads 1
    measure "growth$2" growth.py en-ewt "$dev" --plot "$parts/growth$2.svg" "${all[@]}"
    measure "growth-amr$2" growth.py en-amr "$bank" --plot "$parts/growth-amr$2.svg" "${all[@]}"
}

gpu=$(python -c 'import torch; print("yes" if torch.cuda.is_available() else "")')
given=${CUDA_VISIBLE_DEVICES-unset}
export CUDA_VISIBLE_DEVICES= # otherwise fairseq's programs would compute on the GPU
measure search search.py en-ewt "$work/data" "$dev" --sentences "$sentences" --updates 200 --threads "$threads"
measure training training.py "$work/data" --updates 24 --threads 1
measure oracle oracle.py "$train" --threads 1
measure costs costs.py "$train" --threads 1
measure oracle-amr oracle.py "$aligned" --systems amr --threads 1
measure precision precision.py en-ewt "$dev" --sentences "$sentences" --threads "$threads"
measure precision-amr precision.py en-amr "$bank" --sentences "$sentences" --threads "$threads"
measure stream stream.py en-ewt "$test" --sentences "$stream" --threads "$threads"
on_device cpu ""
if [ -n "$gpu" ]; then
    if [ "$given" = unset ]; then unset CUDA_VISIBLE_DEVICES; else CUDA_VISIBLE_DEVICES=$given; fi
    on_device cuda -cuda
fi
for name in "${only[@]}"; do
    [[ " ${rows[*]} " = *" $name "* ]] || { echo "all.sh: no row $name: choose from ${rows[*]}" >&2 && exit 2; }
done
python "$bench/report.py" "$output" "$parts"
