"""Download open corpora from their publishers.

The corpora are treebanks of Universal Dependencies, by name and at a pinned release, and open AMR corpora. This is the
only command that uses the network. Existing files are not fetched again, and interrupted downloads are continued. Sizes
are checked, and so is the SHA-256 of files that were fetched before. Mind the licence of each corpus, which is printed.
"""

from __future__ import annotations

import argparse
import http.client
import os
import re
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from transition_parser.base.errors import InputError, input_error, shortened
from transition_parser.base.files import NO_ROOM, locked_file, os_errors_naming
from transition_parser.base.files import folder as made_folder
from transition_parser.base.model_files import is_text, read_json, sha256_of, write_json
from transition_parser.cli.options import add, print_figures

HELP = "download treebanks and AMR corpora from their publishers"
EXAMPLE = """example:
  transition-parser download --list
  transition-parser download UD_English-EWT UD_French-Sequoia -o corpora
  transition-parser download UD_Finnish-TDT --release r2.14 -o corpora"""
RELEASE = "r2.15"  # the default release tag of Universal Dependencies
UD = "https://raw.githubusercontent.com/UniversalDependencies"
VARIABLE = "TRANSITION_PARSER_MIRROR"
SUMS = "sha256.json"
_SPLITS = ("train", "dev", "test")
_SECONDS = 60.0
_BLOCK = 1 << 18
_TREEBANK = re.compile(r"UD_([A-Za-z_]+)-([A-Za-z0-9]+)")

# language → its code in the names of the files of Universal Dependencies
LANGUAGES = dict(
    pair.split(":")
    for pair in (
        "Afrikaans:af Ancient_Greek:grc Arabic:ar Armenian:hy Basque:eu Belarusian:be Bulgarian:bg Catalan:ca "
        "Chinese:zh Croatian:hr Czech:cs Danish:da Dutch:nl English:en Estonian:et Faroese:fo Finnish:fi French:fr "
        "Galician:gl German:de Greek:el Hebrew:he Hindi:hi Hungarian:hu Icelandic:is Indonesian:id Irish:ga "
        "Italian:it Japanese:ja Kazakh:kk Korean:ko Latin:la Latvian:lv Lithuanian:lt Maltese:mt Marathi:mr "
        "Norwegian:no Persian:fa Polish:pl Portuguese:pt Romanian:ro Russian:ru Sanskrit:sa Serbian:sr Slovak:sk "
        "Slovenian:sl Spanish:es Swedish:sv Tamil:ta Telugu:te Turkish:tr Ukrainian:uk Urdu:ur Uyghur:ug "
        "Vietnamese:vi Welsh:cy Wolof:wo"
    ).split()
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", metavar="NAME", nargs="*", help="corpus, such as UD_English-EWT; --list names them")
    output = "folder to write into, with one folder for each corpus (default: here)"
    parser.add_argument("-o", "--output", default=".", metavar="FOLDER", help=output)
    parser.add_argument("--release", metavar="TAG", help="release of Universal Dependencies (default: r2.15)")
    mirror = f"fetch from URL/HOST/PATH instead of https://HOST/PATH (default: environment variable {VARIABLE})"
    parser.add_argument("--mirror", metavar="URL", help=mirror)
    parser.add_argument("--list", action="store_true", help="list the corpora, and download nothing")
    add(parser, "--json")


def run(arguments: argparse.Namespace) -> int:
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
        with made_folder(Path(arguments.output, name)) as folder:
            found = fetch(source, folder, arguments.mirror or os.environ.get(VARIABLE))
            files = {str(path): what for path, what in found}
        done[name] = {"licence": source.licence, "files": files}
        if not arguments.json:
            lines = (f"  {path}: {what}" for path, what in files.items())
            print(f"{name}: licence: {source.licence}", *lines, sep="\n")
    if arguments.json:
        print_figures(done, True)
    return 0


class File(NamedTuple):
    """A file to fetch."""

    address: str
    optional: bool = False

    @property
    def name(self) -> str:
        """The name of the saved file."""
        return self.address.rpartition("/")[2]


class CorpusSource(NamedTuple):
    """A corpus: its files, and its licence in words."""

    files: tuple[File, ...]
    licence: str


_ISI = "https://amr.isi.edu/download"
_NO_LICENCE = "public, none stated: use it, do not pass it on"
SOURCES: Mapping[str, CorpusSource] = {
    "little-prince-amr-v3.0": CorpusSource((File(f"{_ISI}/amr-bank-struct-v3.0.txt"),), _NO_LICENCE),
    "little-prince-amr-v1.6": CorpusSource(
        tuple(File(f"{_ISI}/amr-bank-struct-v1.6-{split}.txt") for split in ("training", "dev", "test")), _NO_LICENCE
    ),
    "bio-amr-v3.0": CorpusSource((File(f"{_ISI}/2018-01-25/amr-release-bio-v3.0.txt"),), _NO_LICENCE),
    "bio-amr-v0.8": CorpusSource(
        tuple(File(f"{_ISI}/2016-03-14/amr-release-{split}-bio.txt") for split in ("training", "dev", "test")),
        _NO_LICENCE,
    ),
}


def source_of(name: str, release: str = RELEASE) -> CorpusSource:
    """Return the corpus with a name."""
    if name in SOURCES:
        return SOURCES[name]
    found = _TREEBANK.fullmatch(name)
    if found is None or not re.fullmatch(r"[A-Za-z0-9._-]+", release):
        known = ", ".join(SOURCES)
        raise InputError(f"unknown corpus {name!r} ({release}): give {known}, or a name such as UD_English-EWT")
    code = LANGUAGES.get(found[1])
    if code is None:
        raise InputError(f"{name}: the language {found[1]} is not one of {', '.join(LANGUAGES)}")
    folder = f"{UD}/{name}/{release}"
    splits = (File(f"{folder}/{code}_{found[2].lower()}-ud-{split}.conllu", split != "test") for split in _SPLITS)
    return CorpusSource((*splits, File(f"{folder}/LICENSE.txt", True)), f"see {name}/LICENSE.txt")


def fetch(source: CorpusSource, folder: Path, mirror: str | None = None) -> Iterator[tuple[Path, str]]:
    """Fetch the missing files, and yield each file with its state: `here`, `fetched`, or `not published`."""
    records = read_json(folder / SUMS, "") if (folder / SUMS).is_file() else {}  # name → `sha256` and `address`
    for one in records.values():
        if not (isinstance(one, dict) and is_text(one.get("sha256")) and is_text(one.get("address"))):
            problem = "is damaged: remove it with the files beside it, and fetch them again"
            raise input_error(problem, folder / SUMS)
    for file in source.files:
        path, record = folder / file.name, records.get(file.name, {})
        if record.get("address", file.address) != file.address:
            problem = f"{SUMS} says that it was fetched from {record['address']}, not {file.address}"
            raise input_error(f"{problem}: give another folder", path)
        due = record.get("sha256")
        if path.is_file():
            if due is not None and sha256_of(path) != due:
                raise input_error("has been changed since it was fetched: remove it, and fetch it again", path)
            yield path, "here"
        elif not _fetched(file, path, mirror, due):
            yield path, "not published"
        else:
            records[file.name] = {"sha256": sha256_of(path), "address": file.address}
            write_json(folder / SUMS, records)
            yield path, "fetched"


def _fetched(file: File, path: Path, mirror: str | None, due: str | None) -> bool:
    address = file.address if mirror is None else f"{mirror.rstrip('/')}/{file.address.partition('://')[2]}"
    partial = path.with_name(f"{path.name}.partial")
    with os_errors_naming(partial), locked_file(partial):
        try:
            _download(address, partial)
            if due is not None and sha256_of(partial) != due:
                os.truncate(partial, 0)
                raise input_error("the file has a wrong SHA-256, and was not kept: try another mirror", address)
            partial.replace(path)
        except InputError:
            raise
        except urllib.error.HTTPError as error:
            if error.code == 404 and file.optional:
                return False
            raise input_error(f"the server says {error.code} {_line(error.reason)}", address) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            if isinstance(error, OSError) and error.errno in NO_ROOM:
                raise
            reason = _line(getattr(error, "reason", None) or error)
            problem = f"can't be reached ({reason}): is there a network? Run the same command again to continue"
            raise input_error(problem, address) from None
        finally:
            if partial.exists() and not partial.stat().st_size:
                partial.unlink()
    return True


def _download(address: str, partial: Path) -> None:
    """Fetch the missing part of an unfinished file; the whole file if the server does not send the part."""
    from tqdm import tqdm

    start = partial.stat().st_size
    request = urllib.request.Request(address, headers={"Range": f"bytes={start}-"} if start else {})
    try:
        answer = urllib.request.urlopen(request, timeout=_SECONDS)
    except urllib.error.HTTPError as error:
        if error.code != 416 or not start:  # 416: the file has no such part
            raise
        os.truncate(partial, 0)
        return _download(address, partial)
    with answer:
        if not answer.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
            start = 0
        if answer.status != (206 if start else 200):
            raise input_error(f"the server says {answer.status}: try again later, or try another mirror", address)
        whole = None if answer.length is None else start + answer.length
        bar = tqdm(desc=partial.stem, total=whole, initial=start, unit="B", unit_scale=True, disable=None, leave=False)
        with open(partial, "ab" if start else "wb") as file, bar:
            while block := answer.read(_BLOCK):
                file.write(block)
                bar.update(len(block))
    have = partial.stat().st_size
    if whole is not None and have != whole:
        raise input_error(f"only {have} of {whole} bytes arrived: run the same command again to continue", address)
    if not have:
        raise input_error("the server sent an empty file: try again later, or try another mirror", address)


def _line(text: object) -> str:
    """Return a text, such as a server's message, as one line of at most 200 characters."""
    return shortened(" ".join(str(text).split()), 200)
