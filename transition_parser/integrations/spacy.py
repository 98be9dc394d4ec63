"""Components of spaCy pipelines: `nlp.add_pipe("transition_parser")` and `nlp.add_pipe("transition_amr")`.

Importing this module registers both components with spaCy. If the package is installed, spaCy imports this module when
a pipeline names a component. The extension attributes are registered when a component is made.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, takewhile
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from spacy.errors import Errors
from spacy.language import Language
from spacy.parts_of_speech import IDS
from spacy.pipeline import Pipe
from spacy.pipeline.dep_parser import parser_score
from spacy.pipeline.lemmatizer import lemmatizer_score
from spacy.pipeline.morphologizer import morphologizer_score
from spacy.pipeline.tagger import tagger_score
from spacy.tokens import Doc, Span, Token
from spacy.training import Example
from spacy.util import minibatch

from transition_parser.base.errors import InputError
from transition_parser.base.files import new_files
from transition_parser.graphs.bank import AmrEntry, parse_entry, split_tokens
from transition_parser.graphs.conllu import Row, Sentence
from transition_parser.parsing.documents import AMRS, set_amr, set_sentence_starts, value_of
from transition_parser.parsing.formalisms import AMR, TREES, Formalism
from transition_parser.parsing.parses import AmrParse, Parse
from transition_parser.text.characters import shows, space_before
from transition_parser.text.columns import UNKNOWN
from transition_parser.text.segmentation import ENGLISH, Segmenter

if TYPE_CHECKING:
    from transition_parser.parsing.parser import AnySentence, Parser

# --- sentences of documents ---------------------------------------------------------------------------


_COLUMNS = {"POS": "upos", "LEMMA": "lemma", "TAG": "xpos", "MORPH": "feats"}  # attribute of spaCy → field of `Row`


class DocSentence(NamedTuple):
    """A sentence of a document."""

    start: int
    end: int
    words: list[int]  # its words: all tokens but white space and characters that do not show


def sentences_of(document: Doc, segmenter: Segmenter = ENGLISH) -> list[DocSentence]:
    """Return the sentences of a document; the segmenter decides where `is_sent_start` is None."""
    if not len(document):
        return []
    given = document.to_array("SENT_START").astype(np.int64)  # 1: True, -1: False, 0: None
    found = set()
    if (given[1:] == 0).any():
        token_at = {token.idx + space_before(token.text): token.i for token in document}
        sentences = list(segmenter.sentences(document.text.split("\n")))[1:]
        found = {token_at.get(sentence.start) for sentence in sentences}  # a start inside a token is ignored
    starts = [i for i, value in enumerate(given.tolist()) if i == 0 or value == 1 or (value == 0 and i in found)]
    return [
        DocSentence(start, end, [token.i for token in document[start:end] if shows(token.text)])
        for start, end in zip(starts, [*starts[1:], len(document)], strict=True)
    ]


def on_one_line(text: str) -> str:
    """Return the text with one space for each stretch of white space."""
    return " ".join(text.split())


# --- trees --------------------------------------------------------------------------------------------


def tree_sentences(document: Doc, sentences: Sequence[DocSentence]) -> Iterator[Sentence]:
    """Yield each sentence that has words, with the tags, lemmas and features that the document has."""
    for tokens in ([document[i] for i in sentence.words] for sentence in sentences if sentence.words):
        rows = [Row(str(number), on_one_line(token.text)) for number, token in enumerate(tokens, 1)]
        if any(token.lemma or token.pos or token.tag or token.has_morph() for token in tokens):
            for i, token in enumerate(tokens):
                lemma, feats = on_one_line(token.lemma_), str(token.morph)
                found = {"lemma": lemma, "upos": token.pos_, "xpos": token.tag_, "feats": feats}
                rows[i] = rows[i]._replace(**{name: value or UNKNOWN for name, value in found.items()})
        yield Sentence(tuple(rows))


def set_trees(
    document: Doc, sentences: Sequence[DocSentence], parses: Sequence[Parse | None], root: str = "root"
) -> None:
    """Write heads, relations and sentence starts into a document, and tags, lemmas and features where it has none.

    root: the relation that is written in place of `root`
    """
    rows = [row for parse in parses if parse is not None for row in parse.sentence.words]
    there = [name for name in ("TAG", "MORPH") if any(getattr(row, _COLUMNS[name]) != UNKNOWN for row in rows)]
    names = ["POS", "LEMMA", *there]
    n = len(document)
    heads, values = np.zeros(n, np.int64), {name: [""] * n for name in ("DEP", *names)}
    for sentence, parse in zip(sentences, parses, strict=True):
        words = sentence.words
        last = words[0] if words else sentence.start
        of_words = set(words)
        for i in range(sentence.start, sentence.end):
            heads[i] = last - i
            if i in of_words:
                last = i
            else:
                of_space = _values_of_space(document[i])
                for name, of_name in values.items():
                    of_name[i] = of_space[name]
        if parse is not None:
            tree = parse.tree
            for i, row, head, relation in zip(words, parse.sentence.words, tree.heads, tree.relations, strict=True):
                heads[i] = words[head - 1] - i if head else 0
                values["DEP"][i] = root if relation == "root" else relation
                for name in names:
                    values[name][i] = value_of(getattr(row, _COLUMNS[name]))
    columns = [heads.astype(np.uint64), *(_ids(document, name, of_name) for name, of_name in values.items())]
    document.from_array(["HEAD", *values], np.stack(columns, axis=1))
    set_sentence_starts(document, [sentence.start for sentence in sentences])
    document.noun_chunks_iterator = noun_chunks  # an older document has another iterator or none
    for sentence, parse in zip(sentences, parses, strict=True):
        for i, score in zip(sentence.words, parse.arc_scores if parse else (), strict=True):
            document[i]._.arc_score = score


def _values_of_space(token: Token) -> dict[str, str]:
    """Return attribute → value for a token that is no word: its own values, or else those of spaCy's own pipelines."""
    own = {"POS": token.pos_ or "SPACE", "LEMMA": token.lemma_ or token.text, "TAG": token.tag_ or "_SP"}
    return {"DEP": "dep", **own, "MORPH": str(token.morph)}


def _ids(document: Doc, name: str, values: Sequence[str]) -> np.ndarray:
    """Return spaCy's ids (uint64) of values of the attribute `name`, 0 for empty values."""
    if name == "POS":
        return np.array([IDS.get(value, 0) for value in values], np.uint64)
    add = document.vocab.strings.add
    return np.array([add(value) if value else 0 for value in values], np.uint64)


# --- AMRs ---------------------------------------------------------------------------------------------


def amr_sentences(document: Doc, sentences: Sequence[DocSentence]) -> Iterator[AmrEntry]:
    """Yield an entry without a graph for each sentence that has words; a token with blanks becomes several words."""
    for number, sentence in enumerate((one for one in sentences if one.words), 1):
        words, text = _amr_words(document, sentence), on_one_line(document[sentence.start : sentence.end].text)
        yield AmrEntry.from_words((word for word, _ in words), {"id": str(number), "snt": text})


def _amr_words(document: Doc, sentence: DocSentence) -> Iterator[tuple[str, Token]]:
    return ((word, document[i]) for i in sentence.words for word in split_tokens(document[i].text))


def set_amrs(document: Doc, sentences: Sequence[DocSentence], parses: Sequence[AmrParse | None]) -> None:
    """Keep the AMRs of the sentences in a document, and make their names its entities (`set_amr`)."""
    set_sentence_starts(document, [sentence.start for sentence in sentences])
    for start, end, _ in _kept_amrs(document):
        del document.user_data["._.", AMRS, start, end]
    for sentence, parse in zip(sentences, parses, strict=True):
        if parse is not None:
            words = [token for _, token in _amr_words(document, sentence)]
            set_amr(document[sentence.start : sentence.end], words, parse)


def _kept_amrs(document: Doc) -> list[tuple[int, int, dict]]:
    """Return the AMRs of whole sentences of a document: start and end of the sentence, and the data of its AMR."""
    keys = [key for key in document.user_data if isinstance(key, tuple) and key[:2] == ("._.", AMRS)]
    inside = [key for key in keys if key[2] >= 0 and key[3] <= len(document.text)]  # a copied part has others, too
    return [(*key[2:], document.user_data[key]) for key in inside]


def to_amr(part: Doc | Span) -> list[str]:
    """Return the AMR of each sentence with words that overlaps a document or span."""
    start, end = (part.start_char, part.end_char) if isinstance(part, Span) else (0, len(part.text))
    return [
        kept["amr"]
        for first, last, kept in _kept_amrs(part.doc if isinstance(part, Span) else part)
        if first < end and start < last
    ]


def amr_of(span: Span) -> AmrEntry | None:
    """Return the AMR of the sentence that contains the span, or None if there is no such AMR."""
    found = _kept(span)
    return None if found is None else parse_entry(found[1]["amr"].strip().split("\n"))


def amr_tokens_of(span: Span) -> list[tuple[Token, ...]]:
    """Return the aligned tokens of each node of the AMR that `amr_of` returns."""
    entry, found = amr_of(span), _kept(span)
    if entry is None or found is None:
        return []
    start, kept = found
    # tokens may have been merged or split since parsing
    tokens = [span.doc.char_span(start + a, start + b, alignment_mode="expand") for a, b in kept["words"]]
    return [tuple({token.i: token for word in words for token in tokens[word]}.values()) for words in entry.alignments]


def _kept(span: Span) -> tuple[int, dict] | None:
    """Return the start of the sentence around a span, and the data of its AMR; None where it has none."""
    every = _kept_amrs(span.doc)
    return next(
        ((start, kept) for start, end, kept in every if start <= span.start_char and span.end_char <= end), None
    )


# --- noun phrases -----------------------------------------------------------------------------


LABEL = "NP"
NOMINALS = {"NOUN", "PROPN", "PRON"}
# relations without their subtypes; an `nmod` is a phrase of its own if it follows its head, else a modifier
HEADS = {"nsubj", "obj", "iobj", "obl", "nmod", "appos", "root", "dislocated", "vocative", "parataxis"}
LEFT_MODIFIERS = {"det", "amod", "nummod", "compound", "nmod", "flat", "acl"}
RIGHT_PARTS = {"flat", "goeswith", "fixed"}


def noun_chunks(doclike: Doc | Span) -> Iterator[tuple[int, int, int]]:
    """Yield the base noun phrases of a document or span: the first token, the token after the last, the label's id."""
    document = doclike.doc
    if not document.has_annotation("DEP"):
        raise ValueError(Errors.E029)
    label = document.vocab.strings.add(LABEL)
    end = 0
    for token in doclike:
        if token.pos_ in NOMINALS and _heads_a_phrase(token):
            left = takewhile(lambda child: _relation(child) in LEFT_MODIFIERS, reversed([*token.lefts]))
            right = takewhile(lambda child: _relation(child) in RIGHT_PARTS, token.rights)
            first = min([token.i, *(child.left_edge.i for child in left)])
            last = max([token.i, *(child.right_edge.i for child in right)])
            if first >= end:
                end = last + 1
                yield first, end, label


def _relation(token: Token) -> str:
    """Return the relation of a token without its subtype."""
    return "root" if token.dep_ == "ROOT" else token.dep_.partition(":")[0]


def _heads_a_phrase(token: Token) -> bool:
    """Return True if the token is the head of a phrase, or is coordinated with the head of a phrase."""
    while _relation(token) == "conj" and token.head.i < token.i:
        token = token.head
    if _relation(token) == "nmod":
        return token.i > token.head.i
    return _relation(token) in HEADS


# --- components ---------------------------------------------------------------------------------------


OPTIONS: dict[str, Any] = {
    "beam": 1, "batch_tokens": None, "device": "cpu", "precision": "auto", "threads": None, "domain": None,
}  # fmt: skip


def _model_files() -> tuple[str, ...]:
    """Return the names that the files of an exported model may have, its card included."""
    from transition_parser.data.resources import FILES, OPTIONAL_FILES
    from transition_parser.storage.cards import CONFIG, FILE_NAME
    from transition_parser.storage.exports import WEIGHTS

    return (CONFIG, FILE_NAME, WEIGHTS, *FILES, *OPTIONAL_FILES)


class _Component(Pipe):
    """The base class of both components, which parses the sentences of a batch of documents together.

    A component can be pickled and sent to other processes, which load its model by its name or path. On disk it has a
    copy of the model, of a checkpoint as `transition-parser export` writes it.
    """

    formalism: ClassVar[Formalism]
    extensions: ClassVar[Sequence[tuple[Any, str, dict[str, Any]]]]  # the class, name and value of each attribute
    _read: Callable[[Doc, Sequence[DocSentence]], Iterator[AnySentence]]  # yields the sentences that have words
    _write: Callable[[Doc, Sequence[DocSentence], Sequence[Any]], None]  # writes the parses of all sentences

    def __init__(self, name: str, model: str, options: Mapping[str, Any]) -> None:
        for kind, attribute, value in self.extensions:
            given = (value.get("default"), value.get("method"), value.get("getter"), None)
            if not kind.has_extension(attribute) or kind.get_extension(attribute) != given:
                kind.set_extension(attribute, **value)
        self.name, self.model, self.options = name, model, dict(options)
        self._parser: Parser | None = None
        self._lock = Lock()

    def __reduce__(self) -> tuple:
        return type(self), (self.name, self.model, self.options)

    @property
    def parser(self) -> Parser:
        """The parser, which is loaded at its first use. Raises `InputError` as `Parser.load` does."""
        with self._lock:
            if self._parser is None:
                self._parser = self._load(self.model)
        if self._parser.formalism is not self.formalism:
            raise InputError(
                f"{self.name}: {self.model} is a model of {self._parser.formalism.name}, "
                f"and the component one of {self.formalism.name}: give both of the same kind"
            )
        return self._parser

    def _load(self, model: str) -> Parser:
        from transition_parser.parsing.parser import Parser

        return Parser.load(model, **{name: self.options[name] for name in OPTIONS})

    def __call__(self, doc: Doc) -> Doc:
        """Parse a document."""
        self._parse([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Parse documents, `batch_size` at a time."""
        handle = self.get_error_handler()
        for batch in minibatch(stream, batch_size):
            docs = list(batch)
            try:
                self._parse(docs)
            except Exception as error:  # the default handler raises it again, see `Language.set_error_handler`
                handle(self.name, self, docs, error)
            else:
                yield from docs

    def _parse(self, docs: Sequence[Doc]) -> None:
        parser = self.parser
        sentences = [sentences_of(doc, parser.resources.segmenter) for doc in docs]
        given = chain.from_iterable(map(self._read, docs, sentences))
        parses = parser.parse_stream(given)
        for doc, of_doc in zip(docs, sentences, strict=True):
            self._write(doc, of_doc, [next(parses) if sentence.words else None for sentence in of_doc])

    def to_disk(self, path: str | os.PathLike, *, exclude: Iterable[str] = ()) -> None:
        """Write the model into a folder of its own; the options of its parser are in the pipeline's configuration."""
        from transition_parser.storage.checkpoints import export_checkpoint, model_path

        with new_files(path, stale=_model_files()) as temporary:
            model = model_path(self.model)
            if model.is_dir():
                for name in _model_files():
                    if (model / name).is_file():
                        shutil.copyfile(model / name, temporary / name)
            else:
                export_checkpoint([model], temporary)

    def from_disk(self, path: str | os.PathLike, *, exclude: Iterable[str] = ()) -> _Component:
        """Load the model that `to_disk` wrote, in place of the configured one."""
        self.model = os.path.abspath(path)
        self._parser = self._load(self.model)
        return self


class TreeComponent(_Component):
    """The component that writes dependency trees into documents.

    It sets `head` and `dep` of tokens, and `is_sent_start` where it is None. It sets `pos`, `lemma`, `tag` and `morph`
    of tokens that have none, if the model predicts them. It also provides `token._.arc_score`; `doc.noun_chunks` works
    on its trees. `nlp.evaluate` scores trees, tags, features and lemmas as those of spaCy's own components. The option
    `root` is the relation of roots, such as `ROOT` of spaCy's own parsers.
    """

    formalism, extensions = TREES, ((Token, "arc_score", {"default": None}),)
    _read = staticmethod(tree_sentences)

    @staticmethod
    def scorer(examples: Iterable[Example], **options: Any) -> dict[str, Any]:
        """Return the scores of documents, for `nlp.evaluate`, which gives the options."""
        examples = list(examples)
        scorers = (parser_score, tagger_score, morphologizer_score, lemmatizer_score)
        return {name: score for scorer in scorers for name, score in scorer(examples, **options).items()}

    def _write(self, doc: Doc, sentences: Sequence[DocSentence], parses: Sequence[Any]) -> None:
        set_trees(doc, sentences, parses, self.options["root"])


class AmrComponent(_Component):
    """The component that writes AMRs into documents.

    It provides `doc._.to_amr()`, `span._.to_amr()`, `span._.amr` and `span._.amr_tokens`. It sets
    `is_sent_start` of tokens where it is None.
    """

    formalism = AMR
    extensions = (
        (Doc, "to_amr", {"method": to_amr}),
        (Span, "to_amr", {"method": to_amr}),
        (Span, "amr", {"getter": amr_of}),
        (Span, "amr_tokens", {"getter": amr_tokens_of}),
    )
    _read, _write = staticmethod(amr_sentences), staticmethod(set_amrs)


def _register(kind: type[_Component], factory: str, model: str, assigns: Sequence[str]) -> Callable[..., _Component]:
    """Register a factory of components with spaCy, and return it. Its options are the options of `Parser.load`."""

    def make(
        nlp: Language,
        name: str,
        model: str,
        beam: int,
        batch_tokens: int | None,
        device: str,
        precision: str,
        threads: int | None,
        domain: str | None,
        root: str = "root",
    ) -> _Component:
        if issubclass(kind, TreeComponent):
            nlp.vocab.get_noun_chunks = noun_chunks
        elif root != "root":
            raise InputError(f"{name}: root is an option of trees, and the component makes AMRs: leave it out")
        values = (beam, batch_tokens, device, precision, threads, domain)
        return kind(name, model, {**dict(zip(OPTIONS, values, strict=True)), "root": root})

    Language.factory(factory, assigns=assigns, default_config={"model": model, **OPTIONS}, func=make)
    return make


make_tree_component = _register(
    TreeComponent,
    "transition_parser",
    "en",
    [f"token.{name}" for name in ("head", "dep", "pos", "lemma", "tag", "morph", "is_sent_start")],
)
make_amr_component = _register(AmrComponent, "transition_amr", "amr", ["doc._.to_amr"])
