"""Make a package of a model: a wheel that `pip install` takes. After that, `parse`, `models`, `serve`, `Parser.load`
and spaCy know the model by its name, like the models that come with this program.

The wheel also has the card of the model (README.md), its license and the license files of its treebank. The package
needs transition-parser, and the package of a pretrained encoder only if the model reads one.
"""

from __future__ import annotations

import argparse

from transition_parser.base.errors import needs_extra
from transition_parser.cli.options import add, print_figures

HELP = "make a wheel of a model, to install it and load it by name"
EXAMPLE = """example:
  transition-parser package sequoia/model --name transition-parser-fr --version 1.0.0 -o dist
  pip install dist/transition_parser_fr-1.0.0-py3-none-any.whl
  transition-parser parse fr letter.txt"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="exported model: a folder, or the name of a model")
    parser.add_argument("--name", required=True, help="name of the package, such as transition-parser-fr")
    parser.add_argument("--version", required=True, metavar="N", help="version of the package, such as 1.0.0")
    short = "name of the model (default: name of the package without transition-parser-)"
    parser.add_argument("--as", dest="short_name", metavar="NAME", help=short)
    parser.add_argument("-o", "--output", default="dist", metavar="DIR", help="folder of the wheel (default: dist)")
    add(parser, "--json")


def run(arguments: argparse.Namespace) -> int:
    from transition_parser.storage.checkpoints import model_path

    with needs_extra("package", "packages of models"):
        from transition_parser.storage.packages import ModelPackage, write_package

    package = ModelPackage.checked(arguments.name, arguments.version, arguments.short_name)
    wheel = write_package(model_path(arguments.model), package, arguments.output)
    if arguments.json:
        print_figures({"wheel": str(wheel), "package": package.name, "model": package.model}, True)
    else:
        print(f"{wheel}: `pip install` it, and load the model as {package.model}")
    return 0
