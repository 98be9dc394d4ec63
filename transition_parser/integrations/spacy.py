"""Components of spaCy pipelines: `nlp.add_pipe("transition_parser")` and `nlp.add_pipe("transition_amr")`.

Importing this module registers both components with spaCy. If the package is installed, spaCy imports this module when
a pipeline names a component. The extension attributes are registered when a component is made.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

from spacy.language import Language
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
from transition_parser.integrations import spacy_documents as documents
from transition_parser.integrations.spacy_documents import DocSentence
from transition_parser.parsing.formalisms import AMR, TREES, Formalism

if TYPE_CHECKING:
    from transition_parser.parsing.parser import AnySentence, Parser

OPTIONS: dict[str, Any] = {
    "beam": 1, "batch_tokens": None, "device": "cpu", "precision": "auto", "threads": None, "domain": None,
    "lenpen": None,
}  # fmt: skip


def _extend(kind: type[Doc] | type[Span] | type[Token], name: str, **what: Any) -> None:
    """Register an extension attribute once."""
    given = (what.get("default"), what.get("method"), what.get("getter"), None)
    if not kind.has_extension(name) or kind.get_extension(name) != given:
        kind.set_extension(name, **what)


def _model_files() -> tuple[str, ...]:
    """Return the names that the files of an exported model may have."""
    from transition_parser.data.resources import FILES, OPTIONAL_FILES
    from transition_parser.storage.cards import CONFIG
    from transition_parser.storage.exports import WEIGHTS

    return (CONFIG, WEIGHTS, *FILES, *OPTIONAL_FILES)


class _Component(Pipe):
    """The base class of both components, which parses the sentences of a batch of documents together.

    A component can be pickled and sent to other processes, which load its model by its name or path. On disk it has a
    copy of the model, of a checkpoint as `transition-parser export` writes it.
    """

    formalism: ClassVar[Formalism]
    _read: Callable[[Doc, Sequence[DocSentence]], Iterator[AnySentence]]  # yields the sentences that have words
    _write: Callable[[Doc, Sequence[DocSentence], Sequence[Any]], None]  # writes the parses of all sentences

    def __init__(self, name: str, model: str, options: Mapping[str, Any]) -> None:
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
        sentences = [documents.sentences_of(doc, parser.resources.segmenter) for doc in docs]
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
    of tokens that have none, if the model predicts them. It also provides `token._.arc_score`, `span._.tree` and
    `doc._.tree`; `doc.noun_chunks` works on its trees. `nlp.evaluate` scores trees, tags, features and lemmas as those
    of spaCy's own components. The option `root` is the relation of roots, such as `ROOT` of spaCy's own parsers.
    """

    formalism = TREES
    _read = staticmethod(documents.tree_sentences)

    @staticmethod
    def scorer(examples: Iterable[Example], **options: Any) -> dict[str, Any]:
        """Return the scores of documents, for `nlp.evaluate`, which gives the options."""
        examples = list(examples)
        scorers = (parser_score, tagger_score, morphologizer_score, lemmatizer_score)
        return {name: score for scorer in scorers for name, score in scorer(examples, **options).items()}

    def _write(self, doc: Doc, sentences: Sequence[DocSentence], parses: Sequence[Any]) -> None:
        documents.set_trees(doc, sentences, parses, self.options["root"])

    def __init__(self, name: str, model: str, options: Mapping[str, Any]) -> None:
        super().__init__(name, model, options)
        _extend(Doc, "tree", getter=documents.trees_of)
        _extend(Span, "tree", getter=documents.tree_of)
        _extend(Token, "arc_score", default=None)


class AmrComponent(_Component):
    """The component that writes AMRs into documents.

    It provides `doc._.to_amr()`, `span._.to_amr()`, `span._.amr`, `span._.amr_tokens` and `token._.amr_nodes`. It sets
    `is_sent_start` of tokens where it is None.
    """

    formalism = AMR
    _read, _write = staticmethod(documents.amr_sentences), staticmethod(documents.set_amrs)

    def __init__(self, name: str, model: str, options: Mapping[str, Any]) -> None:
        super().__init__(name, model, options)
        _extend(Doc, "to_amr", method=documents.to_amr)
        _extend(Span, "to_amr", method=documents.to_amr)
        _extend(Span, "amr", getter=documents.amr_of)
        _extend(Span, "amr_tokens", getter=documents.amr_tokens_of)
        _extend(Token, "amr_nodes", getter=documents.amr_nodes_of)


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
        lenpen: float | None,
        root: str = "root",
    ) -> _Component:
        if issubclass(kind, TreeComponent):
            nlp.vocab.get_noun_chunks = documents.noun_chunks
        elif root != "root":
            raise InputError(f"{name}: root is an option of trees, and the component makes AMRs: leave it out")
        values = (beam, batch_tokens, device, precision, threads, domain, lenpen)
        return kind(name, model, {**dict(zip(OPTIONS, values, strict=True)), "root": root})

    Language.factory(factory, assigns=assigns, default_config={"model": model, **OPTIONS}, func=make)
    return make


make_tree_component = _register(
    TreeComponent,
    "transition_parser",
    "en",
    [f"token.{name}" for name in ("head", "dep", "pos", "lemma", "tag", "morph", "is_sent_start")] + ["doc._.tree"],
)
make_amr_component = _register(AmrComponent, "transition_amr", "amr", ["doc._.to_amr"])
