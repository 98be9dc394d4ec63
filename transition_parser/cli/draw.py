"""Draw a sentence of a CoNLL-U file or an AMR bank.

With --system the picture of a tree includes the derivation that builds it (stack, buffer and arc of every step). The
picture of an AMR includes the words that its nodes are aligned to. SVG needs no other package, PNG and PDF need the
extra `draw`; .tex is a tree for the LaTeX package tikz-dependency.

If -o ends in .html, the output is a page of many sentences, which opens without a server. The page steps through
derivations. Without --model they build the graphs of IN. With --model they are the derivations by which models parse
IN, with the probability of every action and the other hypotheses of the beam.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.files import replacing
from transition_parser.base.process import progress
from transition_parser.cli.options import (
    Command,
    OptionsOf,
    add,
    add_beam,
    add_system,
    add_text,
    beam_of_pages,
    check_inputs,
    check_options,
    check_unset,
    import_user_dir,
    layout_of_text,
    positive,
)
from transition_parser.parsing.formalisms import TREES, formalism_of_files

if TYPE_CHECKING:
    from transition_parser.analysis.traces import Trace

HELP = "draw a tree, a derivation or an AMR, or write a page of derivations"
EXAMPLE = """example:
  transition-parser draw dev.conllu --id weblog-7 --system arc-hybrid-swap -o weblog-7.svg
  transition-parser draw dev.amr --id lpp_1943.2 -o lpp_1943.2.png
  transition-parser draw dev.conllu --model en --sentences 50 -o dev.html"""
FORMATS, PAGE = (".svg", ".png", ".pdf", ".tex"), ".html"
OPTIONS: OptionsOf = {TREES: {"system": None}}
_OF_MODELS = {"beam": None, **dict.fromkeys(("raw", "tokens", "tokenize", "vertical"), False), "user_dir": None}
_OF_PAGES = {"sentences": 20, "model": []}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", metavar="IN", help="CoNLL-U or AMR file; with --model also text, read as by parse")
    parser.add_argument("--id", help="sentence to draw, by its sent_id or ::id (default: the first; for a page: all)")
    add_system(parser, required=False, formalism=TREES)
    output = f"picture or page to write; the name ends in {', '.join((*FORMATS, PAGE))}"
    parser.add_argument("-o", "--output", required=True, metavar="PICTURE", help=output)
    page = parser.add_argument_group("options for pages")
    most = "draw the first N sentences at most (default: %(default)s)"
    page.add_argument("--sentences", type=positive, default=_OF_PAGES["sentences"], metavar="N", help=most)
    models = "draw the parses of these models instead of the graphs in IN"
    page.add_argument("--model", nargs="+", default=[], metavar="MODEL", help=models)
    add_beam(page)
    add_text(page)
    add(page, "--user-dir")


def run(arguments: argparse.Namespace) -> int:
    suffix = Path(arguments.output).suffix
    if suffix not in (*FORMATS, PAGE):
        raise InputError(f"{arguments.output}: the name must end in {', '.join((*FORMATS, PAGE))}")
    if suffix != PAGE:
        check_unset(arguments, _OF_PAGES | _OF_MODELS, f"is for pages: let {arguments.output} end in {PAGE}")
        formalism = formalism_of_files(arguments.input)
        check_options(arguments, OPTIONS, formalism, f"{arguments.input} holds {formalism.name}")
        if suffix == ".tex":
            check_unset(arguments, {"system": None}, f"draws a derivation, and {arguments.output} is of a tree alone")
        with replacing(arguments.output) as temporary:
            formalism.draw(arguments.input, arguments.id, arguments.system, temporary)
        return 0
    if not arguments.model:
        check_unset(arguments, _OF_MODELS, "is only for parses of models: give --model")
    from transition_parser.integrations.page import page

    documents = [_parsed(arguments, model) for model in arguments.model] or [_gold(arguments)]
    with replacing(arguments.output) as temporary:
        temporary.write_text(page({"documents": documents}), encoding="utf-8")
    return 0


def _gold(arguments: argparse.Namespace) -> dict[str, Any]:
    from transition_parser.analysis.traces import trace_gold

    formalism = formalism_of_files(arguments.input)
    check_options(arguments, OPTIONS, formalism, f"{arguments.input} holds {formalism.name}")
    graphs = formalism.gold(arguments.input, arguments.system)
    traces = (
        trace_gold(formalism, *gold, drawings=True) for gold in graphs if arguments.id in (None, gold.sentence.id)
    )
    return _document(f"{Path(arguments.input).name}, as it is", arguments, traces)


def _parsed(arguments: argparse.Namespace, model: str) -> dict[str, Any]:
    from transition_parser.analysis.traces import trace
    from transition_parser.parsing.parser import Parser

    if arguments.system is not None:
        raise InputError("--system is for the graphs of files: leave it out with --model, which has its own system")
    import_user_dir(arguments.user_dir)
    check_inputs([arguments.input])
    parser = Parser.load(model, beam_of_pages(arguments.beam))
    read = parser.read(arguments.input, **layout_of_text(arguments))
    traces = (trace(parser, sentence, drawings=True) for sentence in read if arguments.id in (None, sentence.id))
    return _document(f"{Path(model).name} ({parser.formalism.name})", arguments, traces)


def _document(title: str, arguments: argparse.Namespace, traces: Iterable[Trace]) -> dict[str, Any]:
    found = [one.as_data() for one in progress(islice(traces, arguments.sentences), "drawing")]
    if not found:
        problem = "the file holds no sentences" if arguments.id is None else f"no sentence {arguments.id!r}"
        raise input_error(problem, arguments.input)
    return {"title": title, "traces": found}


COMMANDS = {"draw": Command(HELP, EXAMPLE, add_arguments, run, __doc__)}
