"""Download open corpora from their publishers.

The corpora are treebanks of Universal Dependencies, by name and at a pinned release, and open AMR corpora. This is the
only command that uses the network. Existing files are not fetched again, and interrupted downloads are continued. Sizes
are checked, and so is the SHA-256 of files that were fetched before. Mind the licence of each corpus, which is printed.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from transition_parser.base.errors import InputError
from transition_parser.cli.options import add_json, print_figures

HELP = "download treebanks and AMR corpora from their publishers"
EXAMPLE = """example:
  transition-parser download --list
  transition-parser download UD_English-EWT UD_French-Sequoia -o corpora
  transition-parser download UD_Finnish-TDT --release r2.14 -o corpora"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this subcommand."""
    parser.add_argument("names", metavar="NAME", nargs="*", help="corpus, such as UD_English-EWT; --list names them")
    parser.add_argument(
        "-o",
        "--output",
        default=".",
        metavar="FOLDER",
        help="folder to write into, with one folder for each corpus (default: here)",
    )
    parser.add_argument("--release", metavar="TAG", help="release of Universal Dependencies (default: r2.15)")
    parser.add_argument(
        "--mirror",
        metavar="URL",
        help="fetch from URL/HOST/PATH instead of https://HOST/PATH (default: the environment variable "
        "TRANSITION_PARSER_MIRROR)",
    )
    parser.add_argument("--list", action="store_true", help="list the corpora, and download nothing")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Download the corpora, and print their files and licences."""
    from transition_parser.cli.downloads import LANGUAGES, RELEASE, SOURCES, fetch, mirror_named, source_of

    if arguments.list:
        known = {name: f"licence: {source.licence}" for name, source in SOURCES.items()}
        known["UD_LANGUAGE-TREEBANK"] = f"release {RELEASE}; languages: {', '.join(LANGUAGES)}"
        print_figures(known, arguments.json)
        return 0
    if not arguments.names:
        raise InputError("no corpus is named: give the name of a corpus, or --list to see the names")
    sources = {name: source_of(name, arguments.release or RELEASE) for name in arguments.names}
    done: dict[str, object] = {}
    for name, source in sources.items():
        folder = Path(arguments.output, name)
        files = {str(path): what for path, what in fetch(source, folder, arguments.mirror or mirror_named())}
        done[name] = {"licence": source.licence, "files": files}
        if not arguments.json:
            print(
                f"{name}: licence: {source.licence}", *(f"  {path}: {what}" for path, what in files.items()), sep="\n"
            )
    if arguments.json:
        print_figures(done, True)
    return 0
