"""Download open corpora from their publishers.

The corpora are treebanks of Universal Dependencies, by name and at a pinned release, and open AMR corpora. This is the
only command that uses the network. Existing files are not fetched again, so that the same command continues an
interrupted download. Mind the license of each corpus, which is printed.
"""

from __future__ import annotations

import argparse
import http.client
import os
import re
import urllib.error
import urllib.request
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from transition_parser.base.errors import InputError, input_error, shortened
from transition_parser.base.files import folder as made_folder
from transition_parser.base.files import replacing
from transition_parser.cli.options import Command, add, print_figures
from transition_parser.text import languages

HELP = "download treebanks and AMR corpora from their publishers"
EXAMPLE = """example:
  transition-parser download --list
  transition-parser download UD_English-EWT UD_French-Sequoia -o corpora
  transition-parser download UD_Finnish-TDT --release r2.14 -o corpora"""
RELEASE = "r2.15"  # the default release tag of Universal Dependencies
UD = "https://raw.githubusercontent.com/UniversalDependencies"
VARIABLE = "TRANSITION_PARSER_MIRROR"
_SECONDS = 60.0
_TREEBANK = re.compile(r"UD_([A-Za-z_]+)-([A-Za-z0-9]+)")

# language → its code in the names of the files of Universal Dependencies
LANGUAGES = {language: code for code, language in languages.LANGUAGES.items()} | {
    "Ancient_Greek": "grc", "Basque": "eu", "Bulgarian": "bg", "Catalan": "ca", "Estonian": "et", "Faroese": "fo",
    "Hungarian": "hu", "Latin": "la", "Maltese": "mt", "Marathi": "mr", "Norwegian": "no", "Sanskrit": "sa",
    "Tamil": "ta", "Urdu": "ur", "Wolof": "wo",
}  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", metavar="NAME", nargs="*", help="corpus, such as UD_English-EWT; --list names them")
    output = "folder to write into, with one folder for each corpus (default: here)"
    parser.add_argument("-o", "--output", default=".", metavar="FOLDER", help=output)
    release = "release of Universal Dependencies (default: r2.15), which gets a folder of its own"
    parser.add_argument("--release", metavar="TAG", help=release)
    mirror = f"fetch from URL/HOST/PATH instead of https://HOST/PATH (default: environment variable {VARIABLE})"
    parser.add_argument("--mirror", metavar="URL", help=mirror)
    parser.add_argument("--list", action="store_true", help="list the corpora, and download nothing")
    add(parser, "--json")


def run(arguments: argparse.Namespace) -> int:
    if arguments.list:
        known = dict.fromkeys(AMRS, f"license: {_NO_LICENSE}")
        known["UD_LANGUAGE-TREEBANK"] = f"release {RELEASE}; languages: {', '.join(LANGUAGES)}"
        print_figures(known, arguments.json)
        return 0
    if not arguments.names:
        raise InputError("no corpus is named: give the name of a corpus, or --list to see the names")
    release, mirror = arguments.release or RELEASE, arguments.mirror or os.environ.get(VARIABLE)
    sources = {name: source_of(name, release) for name in arguments.names}
    done: dict[str, object] = {}
    for name, source in sources.items():
        of_other_release = arguments.release and name not in AMRS
        with made_folder(Path(arguments.output, f"{name}-{release}" if of_other_release else name)) as folder:
            files = {str(path): state for path, state in fetch(source, folder, mirror)}
        done[name] = {"license": source.license, "files": files}
        if not arguments.json:
            print(
                f"{name}: license: {source.license}", *(f"  {path}: {what}" for path, what in files.items()), sep="\n"
            )
    if arguments.json:
        print_figures(done, True)
    return 0


class CorpusSource(NamedTuple):
    """A corpus: the addresses of its files, and its license in words."""

    files: Sequence[str]
    license: str
    optional: Collection[str] = ()  # the files that its publisher may not have


_ISI, _SPLITS_OF_ISI = "https://amr.isi.edu/download", ("training", "dev", "test")
# name of an AMR corpus → its files
AMRS: Mapping[str, Sequence[str]] = {
    "little-prince-amr-v3.0": [f"{_ISI}/amr-bank-struct-v3.0.txt"],
    "little-prince-amr-v1.6": [f"{_ISI}/amr-bank-struct-v1.6-{split}.txt" for split in _SPLITS_OF_ISI],
    "bio-amr-v3.0": [f"{_ISI}/2018-01-25/amr-release-bio-v3.0.txt"],
    "bio-amr-v0.8": [f"{_ISI}/2016-03-14/amr-release-{split}-bio.txt" for split in _SPLITS_OF_ISI],
}
_NO_LICENSE = "public, none stated: use it, do not pass it on"


def source_of(name: str, release: str = RELEASE) -> CorpusSource:
    """Return the corpus with a name."""
    if name in AMRS:
        return CorpusSource(AMRS[name], _NO_LICENSE)
    found = _TREEBANK.fullmatch(name)
    if found is None or not re.fullmatch(r"[A-Za-z0-9._-]+", release):
        known = ", ".join(AMRS)
        raise InputError(f"unknown corpus {name!r} ({release}): give {known}, or a name such as UD_English-EWT")
    code = LANGUAGES.get(found[1])
    if code is None:
        raise InputError(f"{name}: the language {found[1]} is not one of {', '.join(LANGUAGES)}")
    folder = f"{UD}/{name}/{release}"
    train, dev, test = (f"{folder}/{code}_{found[2].lower()}-ud-{split}.conllu" for split in ("train", "dev", "test"))
    terms = f"{folder}/LICENSE.txt"
    return CorpusSource([train, dev, test, terms], f"see {name}/LICENSE.txt", [train, dev, terms])


def fetch(source: CorpusSource, folder: Path, mirror: str | None = None) -> Iterator[tuple[Path, str]]:
    """Fetch the missing files, and yield each file with its state: `here`, `fetched`, or `not published`."""
    for address in source.files:
        path = folder / address.rpartition("/")[2]
        if path.is_file():
            yield path, "here"
            continue
        here = f"{mirror.rstrip('/')}/{address.partition('://')[2]}" if mirror else address
        content = _content(here, address in source.optional)
        if content is not None:
            with replacing(path) as temporary:
                temporary.write_bytes(content)
        yield path, "not published" if content is None else "fetched"


def _content(address: str, optional: bool) -> bytes | None:
    """Return the content of a file, None for an optional file that the server does not have."""
    try:
        with urllib.request.urlopen(address, timeout=_SECONDS) as answer:
            return answer.read()
    except urllib.error.HTTPError as error:
        if error.code == 404 and optional:
            return None
        said = f"the server says {error.code} {shortened(' '.join(error.reason.split()), 200)}"
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = shortened(" ".join(str(getattr(error, "reason", None) or error).split()), 200)
        said = f"can't be reached, or ended too early ({reason}): is there a network?"
    raise input_error(said, address)


COMMANDS = {"download": Command(HELP, EXAMPLE, add_arguments, run, __doc__)}
