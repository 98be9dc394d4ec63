"""The names of several inputs whose parses are written to one output, and unique ids of their sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import PurePath
from typing import NamedTuple

from transition_parser.base.files import unpacked_name
from transition_parser.graphs.bank import AmrEntry
from transition_parser.graphs.conllu import Sentence
from transition_parser.parsing.sentences.files import (
    FileLayout,
    Kind,
    head_and_layout,
    opened,
    read_amr_sentences,
    read_sentences,
)
from transition_parser.parsing.sentences.rows import Reading
from transition_parser.parsing.sentences.streams import may_pause


class Document(NamedTuple):
    """An input among several inputs.

    name: a name that no other input has, made from the name of the file
    in_ids: True where the ids of the sentences get the name in front, because other inputs may have the same ids
    """

    name: str
    in_ids: bool

    def placed(self, sentence: Sentence | AmrEntry, opens: bool) -> Sentence | AmrEntry:
        """Return a sentence of the input with a unique id.

        opens: True for the first sentence of the input; a tree then gets the comment `# newdoc`, unless it has one
        """
        id_ = f"{self.name}-{sentence.id}"
        if isinstance(sentence, AmrEntry):
            has_new_id = self.in_ids and sentence.id is not None
            return replace(sentence, metadata={**sentence.metadata, "id": id_}) if has_new_id else sentence
        comments = [
            f"# sent_id = {id_}" if self.in_ids and _ID.match(comment) else comment for comment in sentence.comments
        ]
        if opens and not any(map(_NEW_DOCUMENT.match, comments)):
            comments.insert(0, f"# newdoc id = {self.name}")
        return replace(sentence, comments=tuple(comments))


_ID = re.compile(r"#\s*sent_id\s*=")
_NEW_DOCUMENT = re.compile(r"#\s*newdoc\b")


def documents(paths: Sequence[str], kind: Kind, reading: Reading) -> list[Document | None]:
    """Return the document of each input; None for a single input and for tables, whose ids stay as they are.

    Ids of CoNLL-U and of banks stay, too, if the file can be read twice and no other file has one of its ids.
    """
    if len(paths) == 1 or reading.column is not None:
        return [None] * len(paths)
    own = [_own_ids(path, kind, reading) for path in paths]
    files_with = Counter(chain.from_iterable(ids or () for ids in own))
    taken = {id_[: dash.start()] for id_ in files_with for dash in re.finditer("-", id_)}
    found: list[Document | None] = []
    for path, ids in zip(paths, own, strict=True):
        stem = "stdin" if path == "-" else "_".join(PurePath(unpacked_name(path)).stem.split())
        name = next(name for name in chain([stem], (f"{stem}-{i}" for i in count(2))) if name not in taken)
        taken.add(name)
        found.append(Document(name, ids is None or any(files_with[id_] > 1 for id_ in ids)))
    return found


def _own_ids(path: str, kind: Kind, reading: Reading) -> set[str] | None:
    """Return the ids in a file of CoNLL-U or a bank, None for text and for pipes."""
    if may_pause(path):
        return None
    with opened(path) as (file, name):
        layout = head_and_layout(file, name, kind, reading.tokenised, reading.raw)[1]
    if layout is not FileLayout.BLOCKS:
        return None
    read = read_sentences if kind is Sentence else read_amr_sentences
    return {sentence.id for sentence in read(path) if sentence.id is not None}
