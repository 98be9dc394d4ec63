"""What starting costs, and what importing leaves alone: seen from outside, in a fresh process."""

import json

import pytest

from tests.conftest import SAMPLE, SAMPLE_AMR, python
from transition_parser.cli.main import COMMANDS

HEAVY = ("torch", "fairseq", "numpy", "spacy", "typst", "sentencepiece", "tqdm", "transformers")

ROOMS = (
    *("transition_parser", "transition_parser.transitions", "transition_parser.oracles"),
    *(
        "transition_parser.oracles.static",
        "transition_parser.oracles.amr_check",
        "transition_parser.graphs.bank",
        "transition_parser.graphs.smatch",
        "transition_parser.graphs.dependency_score",
    ),
    *("transition_parser.text.lemmas", "transition_parser.text.pieces", "transition_parser.text.tokens"),
    *("transition_parser.text.segmentation", "transition_parser.text.learned_segmentation"),
)

PARSE = f"""
from pathlib import Path
Parser.load("en-ewt", threads=2).parse(Path({str(SAMPLE)!r}))
for model in ("en", "amr"):
    Parser.load(model).parse("She sleeps.")
"""
HELP = """
import contextlib, os
from transition_parser.cli.main import main
for command in {commands!r}:
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.suppress(SystemExit):
        main([command, "--help"])"""

# What belongs to the program that imports the package. glibc's allocator can't be asked for its settings: an audit hook
# sees who asks for the function that changes them.
SETTINGS = """{
    "threads": (torch.get_num_threads(), torch.get_num_interop_threads(), sys.getswitchinterval()),
    "allocator": looked_up.count("mallopt"),
    "network": looked_up.count("network"),
    "numbers": (str(torch.get_default_dtype()), torch.get_float32_matmul_precision(), torch.is_grad_enabled()),
    "signals": [str(signal.getsignal(number)) for number in signal.valid_signals()],
    "working folder": os.getcwd(),
    "environment": sorted(os.environ.items()),
    "loggers": [
        (logger.level, logger.getEffectiveLevel(), len(logger.handlers), logger.propagate, logger.disabled)
        for logger in map(logging.getLogger, (None, "host", "torch"))
    ],
}"""
BEFORE_AND_AFTER = """
import json, logging, os, signal, sys
looked_up = []
sys.addaudithook(lambda event, args: looked_up.append(args[-1]) if event == "ctypes.dlsym" else None)
sys.addaudithook(lambda event, args: looked_up.append("network") if event in {network} else None)
import torch
before = {settings}
from transition_parser import Parser
{use}
print(json.dumps([before, {settings}]))"""


def fresh(code: str) -> str:
    """The last line that a new Python prints when it runs `code`."""
    return python("-c", code).stdout.splitlines()[-1]


def imported(code: str) -> set[str]:
    """The packages of `HEAVY` that are there after a new Python has run `code`."""
    return set(
        json.loads(fresh(f"{code}\nimport json, sys; print(json.dumps([n for n in {HEAVY} if n in sys.modules]))"))
    )


def test_graphs_texts_systems_and_oracles_load_neither_torch_nor_fairseq():
    assert imported(f"import {', '.join(ROOMS)}") & {"torch", "fairseq", "spacy"} == set()


def test_help_loads_no_network_and_that_of_parse_nothing_heavy():
    assert imported(HELP.format(commands=[*COMMANDS])) & {"torch", "fairseq", "spacy", "typst"} == set()
    assert imported(HELP.format(commands=["parse"])) == set()


def test_parsing_loads_no_heavy_package_but_torch():
    seen = imported(f"from transition_parser import Parser\n{PARSE}")
    assert seen & {"torch", "fairseq", "typst", "spacy", "transformers"} == {"torch"}


NETWORK = ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto")
IMPORT = """
import transition_parser.cli.main, transition_parser.integrations.spacy
from spacy.tokens import Doc, Span, Token
from transition_parser.kernels import loader
assert loader.library.cache_info().currsize == 0
names = ("tree", "amr", "to_amr", "arc_score")
assert not any(kind.has_extension(name) for kind in (Doc, Span, Token) for name in names)
"""


@pytest.mark.parametrize("use", [IMPORT, PARSE], ids=["import", "parse"])
def test_importing_and_parsing_change_no_setting_of_the_process_and_reach_no_network(use):
    """Importing loads no library of kernels and registers nothing with spaCy, either."""
    before, after = json.loads(fresh(BEFORE_AND_AFTER.format(use=use, settings=SETTINGS, network=NETWORK)))
    assert after == before


def test_a_users_own_modules_are_not_run_in_place_of_ours(tmp_path):
    """Python looks for modules beside the script first, and with -m in the working folder."""
    for name in ("oracles", "preprocess", "amr", "smatch"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('not ours')")
    script = tmp_path / "script.py"
    script.write_text("from transition_parser import Parser\nprint(Parser.load('en-ewt').parse('He ran.'))")
    python(script, cwd=tmp_path)
    for command in (("oracle", "--system", "arc-hybrid-swap", SAMPLE), ("score", SAMPLE_AMR, SAMPLE_AMR)):
        python("-m", "transition_parser", *command, cwd=tmp_path)


def test_names_of_the_package_are_those_that_it_offers():
    import transition_parser

    assert dir(transition_parser) == sorted(transition_parser.__all__)
    assert all(getattr(transition_parser, name) is not None for name in dir(transition_parser))
