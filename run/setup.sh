# Sourced by the scripts beside it: makes .venv once, with pinned dependencies. Setting up again costs
# milliseconds and needs no network.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$root/.venv
torch=2.13.0

wanted=$(cat "$root"/setup.py "$root"/run/{constraints.txt,setup.sh} "$root"/transition_parser/*/*.[ch] | cksum)
if [ "$(cat "$venv/.complete" 2>/dev/null)" != "$wanted $root" ]; then
    python=
    for candidate in python3 python3.13 python3.12 python3.11; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            python=$candidate
            break
        fi
    done
    if [ -z "$python" ] || ! command -v gcc >/dev/null; then
        echo "setup: Python 3.11 or newer and gcc are needed (fairseq is compiled from source)" >&2
        exit 2
    fi
    echo "setup: making $venv (some minutes, once)" >&2
    rm -f "$venv/.complete"
    "$python" -m venv "$venv"
    pip() { "$venv/bin/python" -m pip --disable-pip-version-check -qq "$@"; }
    # The CPU build of torch first: from the configured index or wheel folder, from PyTorch's own index,
    # and last whatever the configured index calls torch (on Linux several GB, for GPUs).
    "$venv/bin/python" -c "import torch; assert torch.__version__.startswith('$torch')" 2>/dev/null ||
        pip install "torch==$torch+cpu" 2>/dev/null ||
        pip install "torch==$torch+cpu" --extra-index-url https://download.pytorch.org/whl/cpu 2>/dev/null ||
        pip install "torch==$torch"
    pip install -c "$root/run/constraints.txt" numpy cython setuptools wheel
    # Without build isolation fairseq is compiled against the torch that is here; an isolated build would
    # fetch another one. CUDA_HOME would make it look for a compiler for GPUs.
    env -u CUDA_HOME "$venv/bin/python" -m pip --disable-pip-version-check -qq install \
        -c "$root/run/constraints.txt" --no-build-isolation "fairseq-fixed==0.12.3.1"
    # the rest with build isolation: smatch comes as source that needs setuptools_scm to know its version
    pip install -c "$root/run/constraints.txt" -e "$root[test]"
    echo "$wanted $root" >"$venv/.complete"
fi
PATH=$venv/bin:$PATH
