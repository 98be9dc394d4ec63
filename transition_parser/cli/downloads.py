"""Downloads of open corpora from their publishers. No other module fetches anything from the network.

All known addresses are in `SOURCES` and `LANGUAGES`.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import ssl
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from transition_parser.base.errors import InputError, input_error, shortened
from transition_parser.base.files import growing, replacing
from transition_parser.base.model_files import sha256_of

RELEASE = "r2.15"  # the default release tag of Universal Dependencies
UD = "https://raw.githubusercontent.com/UniversalDependencies"
VARIABLE = "TRANSITION_PARSER_MIRROR"
SUMS = "sha256.json"
_SPLITS = ("train", "dev", "test")
_SECONDS = 60.0
_BLOCK = 1 << 18
_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)")  # Content-Range: first byte, last byte, known size
_SUM = re.compile(r"[0-9a-f]{64}")
_TREEBANK = re.compile(r"UD_([A-Za-z_]+)-([A-Za-z0-9]+)")

# language → its code in the names of the files of Universal Dependencies
LANGUAGES = {
    **{"Afrikaans": "af", "Ancient_Greek": "grc", "Arabic": "ar", "Armenian": "hy", "Basque": "eu", "Belarusian": "be"},
    **{"Bulgarian": "bg", "Catalan": "ca", "Chinese": "zh", "Croatian": "hr", "Czech": "cs", "Danish": "da"},
    **{"Dutch": "nl", "English": "en", "Estonian": "et", "Faroese": "fo", "Finnish": "fi", "French": "fr"},
    **{"Galician": "gl", "German": "de", "Greek": "el", "Hebrew": "he", "Hindi": "hi", "Hungarian": "hu"},
    **{"Icelandic": "is", "Indonesian": "id", "Irish": "ga", "Italian": "it", "Japanese": "ja", "Kazakh": "kk"},
    **{"Korean": "ko", "Latin": "la", "Latvian": "lv", "Lithuanian": "lt", "Maltese": "mt", "Marathi": "mr"},
    **{"Norwegian": "no", "Persian": "fa", "Polish": "pl", "Portuguese": "pt", "Romanian": "ro", "Russian": "ru"},
    **{"Sanskrit": "sa", "Serbian": "sr", "Slovak": "sk", "Slovenian": "sl", "Spanish": "es", "Swedish": "sv"},
    **{"Tamil": "ta", "Telugu": "te", "Turkish": "tr", "Ukrainian": "uk", "Urdu": "ur", "Uyghur": "ug"},
    **{"Vietnamese": "vi", "Welsh": "cy", "Wolof": "wo"},
}


class File(NamedTuple):
    """A file to fetch.

    sha256: the SHA-256 of the content; None if it is not known
    optional: True if the file may be missing at its address
    """

    address: str
    sha256: str | None = None
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
    """Return the corpus with a name.

    The name is a key of `SOURCES`, or a treebank such as `UD_English-EWT` in a language of `LANGUAGES`.

    release: tag of the release of Universal Dependencies

    Raises `InputError` for any other name.
    """
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
    splits = (File(f"{folder}/{code}_{found[2].lower()}-ud-{split}.conllu", None, split != "test") for split in _SPLITS)
    return CorpusSource((*splits, File(f"{folder}/LICENSE.txt", None, True)), f"see {name}/LICENSE.txt")


def fetch(source: CorpusSource, folder: Path, mirror: str | None = None) -> Iterator[tuple[Path, str]]:
    """Fetch the missing files, and yield each file with its state: `here`, `fetched`, or `not published`.

    An interrupted file is continued. An unfinished file never has its final name.

    mirror: address that is put before host and path (`MIRROR/amr.isi.edu/…`); by default the publishers are asked

    Raises `InputError` for a file that cannot be fetched whole, for a file that differs from its known SHA-256 or from
    the file that was fetched before, and for a folder with files of other addresses, such as another release.
    """
    _check_mirror(mirror)
    folder.mkdir(parents=True, exist_ok=True)
    records = _records(folder)
    for file in source.files:
        path, record = folder / file.name, records.get(file.name, _Record())
        if record.address not in (None, file.address):
            raise input_error(
                f"{SUMS} says that it was fetched from {record.address}, not {file.address}: give another folder", path
            )
        due = file.sha256 or record.sha256
        if path.is_file():
            _check(path, due)
            yield path, "here"
            continue
        if not _fetched(file, path, mirror, due):
            yield path, "not published"
            continue
        records[file.name] = _Record(sha256_of(path), file.address)
        with replacing(folder / SUMS) as temporary:
            values = {name: one._asdict() for name, one in records.items()}
            temporary.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
        yield path, "fetched"


def _check_mirror(mirror: str | None) -> None:
    try:
        known = mirror is None or all(urlsplit(mirror)[:2])
    except ValueError:  # raised for unbalanced brackets in the host
        known = False
    if not known:
        raise InputError(
            f"the mirror {mirror!r:.80} is not an address: give one such as https://mirror.example.org/corpora"
        )


class _Record(NamedTuple):
    """The SHA-256 and the address of a file that was fetched; None for a value that is not known."""

    sha256: str | None = None
    address: str | None = None


def _records(folder: Path) -> dict[str, _Record]:
    """Return file name → record of earlier downloads. Records by earlier versions of this program have no address.

    Raises `InputError` if the file of records is damaged.
    """
    path = folder / SUMS
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_bytes())
        records = {name: _Record(of) if isinstance(of, str) else _Record(**of) for name, of in found.items()}
        if not all(_SUM.fullmatch(one.sha256) and isinstance(one.address, str | None) for one in records.values()):
            raise ValueError
    except (ValueError, RecursionError, AttributeError, TypeError):
        problem = "is damaged: it must be JSON with the SHA-256 of each file"
        raise input_error(f"{problem}; remove it with the files beside it, and fetch them again", path) from None
    return records


def _check(path: Path, due: str | None) -> None:
    if due is not None and sha256_of(path) != due:
        raise input_error("has been changed since it was fetched: remove it, and fetch it again", path)


def _fetched(file: File, path: Path, mirror: str | None, due: str | None) -> bool:
    address = file.address if mirror is None else f"{mirror.rstrip('/')}/{file.address.partition('://')[2]}"
    with _network_errors(address), _version_of(path), growing(path) as partial:
        try:
            _continue(address, partial)
        except urllib.error.HTTPError as error:
            if error.code == 404 and file.optional:
                partial.write_bytes(b"")
                missing = True
            else:
                raise
        else:
            missing = False
            if due is not None and sha256_of(partial) != due:
                partial.write_bytes(b"")
                raise input_error(
                    "the file has a wrong SHA-256, and was not kept: try again, or try another mirror", address
                )
    if missing:
        path.unlink()
    return not missing


@contextmanager
def _version_of(path: Path) -> Iterator[None]:
    """Run the block, then remove the file of `_keep_version` if no unfinished download is left."""
    partial = path.with_name(f"{path.name}.partial")
    try:
        yield
    finally:
        if not partial.exists():
            _version_file(partial).unlink(missing_ok=True)


def _version_file(partial: Path) -> Path:
    """Return the path of the file that keeps the version of an unfinished file."""
    return partial.with_name(f"{partial.name}.version")


def _keep_version(answer: http.client.HTTPResponse, partial: Path) -> None:
    """Write down the version of a published file (ETag or Last-Modified), if the server sends it.

    If the file at this address changes later, its version differs.
    """
    tag, path = answer.headers.get("ETag", ""), _version_file(partial)
    if version := tag if tag.startswith('"') else answer.headers.get("Last-Modified", ""):
        path.write_text(version, encoding="latin-1")
    else:
        path.unlink(missing_ok=True)


def _continue(address: str, partial: Path) -> None:
    """Append the missing part of a download to the unfinished file.

    The download starts again from 0 if the server sends another part than the missing one, a part of a file of unknown
    size, or another version of the file. Raises `InputError` if the connection ends too early, and for an answer
    without a file.
    """
    have = partial.stat().st_size
    try:
        answer = _asked(address, partial)
    except urllib.error.HTTPError as error:
        if error.code != 416 or not have:  # 416: nothing is missing, or the file has changed
            raise
        return _begin_again(address, partial)
    with answer:
        _check_answer(answer, address)
        continued = answer.status == 206
        if continued and not _begins_at(answer, have):
            if have:
                return _begin_again(address, partial)
            raise input_error("the server sent another part of the file than requested: try a mirror", address)
        if not continued:
            _keep_version(answer, partial)
        whole = _size(answer, have if continued else 0)
        _receive(answer, partial, have if continued else 0, whole)
    have = partial.stat().st_size
    if whole is not None and have != whole:
        raise input_error(f"only {have} of {whole} bytes arrived: run the same command again to continue", address)
    if not have:
        raise _no_file("an empty file", address)


def _check_answer(answer: http.client.HTTPResponse, address: str) -> None:
    """Raise `InputError` for a status that comes without a file, such as 204."""
    if answer.status not in (200, 206):
        raise _no_file(f"no file (status {answer.status})", address)


def _no_file(sent: str, address: str) -> InputError:
    return input_error(f"the server sent {sent}: try again later, or try another mirror", address)


def _asked(address: str, partial: Path) -> http.client.HTTPResponse:
    """Return the answer of the server: the missing part, or the whole file if the server has another version now."""
    start, version = partial.stat().st_size, _version_file(partial)
    headers = {"Range": f"bytes={start}-"} if start else {}
    known = version.read_text(encoding="latin-1").strip() if version.is_file() else ""
    if start and known:
        headers["If-Range"] = known
    return urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=_SECONDS)


def _begin_again(address: str, partial: Path) -> None:
    partial.write_bytes(b"")
    _continue(address, partial)


def _begins_at(answer: http.client.HTTPResponse, start: int) -> bool:
    """Return True if a partial answer (status 206) begins at byte `start` of a file of known size, by Content-Range."""
    found = _RANGE.fullmatch(answer.headers.get("Content-Range", "").strip())
    return found is not None and int(found[1]) == start


def _size(answer: http.client.HTTPResponse, start: int) -> int | None:
    """Return the size of the whole file in bytes, or None if the server does not send it.

    start: position in the file at which the answer begins
    """
    found = _RANGE.fullmatch(answer.headers.get("Content-Range", "").strip()) if answer.status == 206 else None
    if found is not None:
        return int(found[3])
    length = answer.headers.get("Content-Length", "")
    return start + int(length) if length.isascii() and length.isdigit() else None


def _receive(answer: http.client.HTTPResponse, partial: Path, start: int, whole: int | None) -> None:
    with open(partial, "ab" if start else "wb") as file, _bar(partial, whole, start) as bar:
        while block := answer.read(_BLOCK):
            file.write(block)
            bar.update(len(block))


def _bar(partial: Path, whole: int | None, before: int):
    from tqdm import tqdm

    name = partial.name.removesuffix(".partial")
    off = not sys.stderr.isatty()
    return tqdm(desc=name, total=whole, initial=before, unit="B", unit_scale=True, disable=off, leave=False)


@contextmanager
def _network_errors(address: str) -> Iterator[None]:
    host = urlsplit(address).netloc
    try:
        yield
    except InputError:
        raise
    except urllib.error.HTTPError as error:
        circle = 300 <= error.code < 400  # urllib follows redirects that end, and raises no error for them
        said = "redirects without end" if circle else f"says {error.code} {_line(error.reason)}"
        raise input_error(f"the server {said}", address) from None
    except (
        TimeoutError,
        urllib.error.URLError,
        http.client.HTTPException,
        ConnectionError,
        ssl.SSLError,
        ValueError,
    ) as error:
        reason = _line(getattr(error, "reason", None) or error)
        problem = f"{host} can't be reached ({reason}): is there a network? Run the same command again to continue"
        raise input_error(problem, address) from None


def _line(text: object) -> str:
    """Return a text, such as a server's message, as one line of at most 200 characters."""
    return shortened(" ".join(str(text).split()), 200)


def mirror_named() -> str | None:
    """Return the address in the environment variable `TRANSITION_PARSER_MIRROR`, or None if it is not set."""
    return os.environ.get(VARIABLE) or None
