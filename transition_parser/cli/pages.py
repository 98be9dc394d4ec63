"""Commands that draw graphs, and that serve a page with them."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

from transition_parser.base.errors import InputError, UnusedBeamWarning, input_error, needs_extra
from transition_parser.base.files import replacing
from transition_parser.cli.options import Command, add, import_user_dir, port, positive
from transition_parser.graphs.conllu import Sentence
from transition_parser.parsing.formalisms import formalism_of_files

_BEAM = 4


# --- draw -------------------------------------------------------------------------------------


_DRAW = """example:
  transition-parser draw dev.conllu --id weblog-7 -o weblog-7.svg
  transition-parser draw dev.amr --id lpp_1943.2 -o lpp_1943.2.png"""
FORMATS = (".svg", ".png", ".pdf", ".tex")


def add_draw(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", metavar="IN", help="CoNLL-U or AMR file")
    parser.add_argument("--id", help="sentence to draw, by its sent_id or ::id (default: the first)")
    output = f"picture to write; the name ends in {', '.join(FORMATS)}"
    parser.add_argument("-o", "--output", required=True, metavar="PICTURE", help=output)


def run_draw(arguments: argparse.Namespace) -> int:
    """Draw a sentence of a CoNLL-U file or an AMR bank.

    The picture of an AMR includes the words that its nodes are aligned to. SVG needs no other package, PNG and PDF need
    the extra `draw`; .tex is a tree for the LaTeX package tikz-dependency.
    """
    from transition_parser.drawing.svg import write_drawing
    from transition_parser.drawing.trees import latex

    if Path(arguments.output).suffix not in FORMATS:
        raise InputError(f"{arguments.output}: the name must end in {', '.join(FORMATS)}")
    with replacing(arguments.output) as temporary:
        formalism: Any = formalism_of_files(arguments.input)
        graphs, wanted = formalism.read_graphs(arguments.input), arguments.id
        found = next((one for one in graphs if wanted is None or one.id == wanted), None)
        if found is None:
            problem = "the file holds no sentences" if wanted is None else f"no sentence {wanted!r}"
            raise input_error(problem, arguments.input)
        if temporary.suffix != ".tex":
            write_drawing(formalism.from_gold(found).drawing(), temporary)
        elif isinstance(found, Sentence):
            temporary.write_text(latex(found), encoding="utf-8")
        else:
            raise InputError("LaTeX is for trees, not AMRs: write .svg or .pdf")
    return 0


# --- serve ------------------------------------------------------------------------------------


_SERVE = """example:
  transition-parser serve
  transition-parser serve en amr --port 8000
  curl -s http://127.0.0.1:8000/api/parse -H 'Content-Type: application/json' \\
      -d '{"model": "en", "text": "She sells sea shells."}'"""
MODELS = ["en", "en-ewt", "amr"]  # en-ewt has the steps of trees that en, which scores whole trees, has not


def add_serve(parser: argparse.ArgumentParser) -> None:
    models = f"checkpoints, exported folders, or names of models (default: {' '.join(MODELS)})"
    parser.add_argument("models", nargs="*", default=MODELS, metavar="MODEL", help=models)
    ports = "port to listen on (default: 8000; 0: any free port)"
    parser.add_argument("--port", type=port, default=8000, metavar="N", help=ports)
    parser.add_argument("--host", default="127.0.0.1", metavar="NAME", help="address to listen on (default: 127.0.0.1)")
    beam = f"beam size (default: {_BEAM}; 1: greedy search)"
    parser.add_argument("--beam", type=positive, metavar="N", help=beam)
    add(parser.add_argument_group("speed"), "--threads", "--precision", "--device")
    limits = parser.add_argument_group("limits")
    words = "longest text, in words (default: 2000)"
    limits.add_argument("--max-words", type=positive, default=2000, metavar="N", help=words)
    timeout = "longest time to answer a request, in seconds (default: 60)"
    limits.add_argument("--timeout", type=positive, default=60, metavar="S", help=timeout)
    log = "log each request as a line on standard error, without its text"
    parser.add_argument("--log", action="store_true", help=log)
    add(parser, "--user-dir")


def run_serve(arguments: argparse.Namespace) -> int:
    """Serve a web page and a JSON API for parsing; /openapi.json describes the API.

    The page shows the trees or AMRs of a text that is typed into it, and any derivation step by step.

    Nothing leaves this machine, and no other machine reaches it: the server listens on 127.0.0.1 unless --host says
    otherwise. There is no password. Texts are neither kept nor logged.
    """
    with needs_extra("serve", "pages and the API"):
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
    from transition_parser.base.process import keep_few_kernels, keep_freed_memory
    from transition_parser.integrations.server import Limits, bound_socket, make_app, serve
    from transition_parser.parsing.parser import Parser

    names = _names(arguments.models)
    with bound_socket(arguments.host, arguments.port) as bound:  # first, to report a taken port at once
        import_user_dir(arguments.user_dir)
        keep_freed_memory()
        keep_few_kernels()
        options = {name: getattr(arguments, name) for name in ("device", "precision", "threads")}
        if arguments.beam is None:  # a default is no reason to warn that a model needs no beam
            warnings.simplefilter("ignore", UnusedBeamWarning)
        beam = arguments.beam or _BEAM
        parsers = {name: Parser.load(model, beam, **options) for name, model in names.items()}
        for parser in parsers.values():
            parser.parse("Bright stars shine above mountains.")  # loads what is read at its first use
        descriptions = {name: _description(model) for name, model in names.items()}
        app = make_app(parsers, Limits(words=arguments.max_words, seconds=arguments.timeout), descriptions)
        serve(app, bound, arguments.log)
    return 0


def _names(models: list[str]) -> dict[str, str]:
    """Return name on the page → model. The name is the last part of the model's path."""
    names: dict[str, str] = {}
    for model in models:
        name = Path(model).name or model
        if name in names:
            raise InputError(f"{names[name]} and {model} have the same name: serve only one of them, or rename one")
        names[name] = model
    return names


def _description(model: str) -> str | None:
    from transition_parser.storage.cards import CONFIG, read_card
    from transition_parser.storage.checkpoints import model_path

    folder = model_path(model)
    return read_card(folder).description if (folder / CONFIG).exists() else None  # checkpoints have no card


COMMANDS = {
    "draw": Command("draw a tree or an AMR", _DRAW, add_draw, run_draw),
    "serve": Command("serve a web page and a JSON API for parsing", _SERVE, add_serve, run_serve),
}
