"""The Python API: load a model, parse sentences, get trees or AMRs with scores.

from transition_parser import Parser

parser = Parser.load("en")
for parse in parser.parse("She sells sea shells."):
    print(parse.heads, parse.deprels)
"""

from __future__ import annotations

import copy
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, TypedDict, TypeVar, Unpack, overload

import torch

from transition_parser.base.errors import InputError, UnusedBeamWarning, errors_at, warn
from transition_parser.base.files import output as opened_output
from transition_parser.base.model_files import short_repr
from transition_parser.base.process import give_back_freed_memory, in_chunks
from transition_parser.base.process import progress as with_progress
from transition_parser.data.batches import batches_at_a_time, in_batches, usual_batch, workers
from transition_parser.data.resources import Resources
from transition_parser.graphs.bank import AmrEntry
from transition_parser.graphs.conllu import Sentence, raw_text
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.modules.bert import Adapted
from transition_parser.modules.contract import ParserModel
from transition_parser.modules.encoder import EncoderOut
from transition_parser.modules.layers import replace_layers
from transition_parser.modules.precision import check_finite, checked_device, checked_precision, prepared, to_device
from transition_parser.modules.tagging import Tags
from transition_parser.modules.tree_decoder import TreeDecoder
from transition_parser.modules.word_inputs import NO_ANNOTATIONS
from transition_parser.parsing.formalisms import OF_SYSTEM, TREES
from transition_parser.parsing.given import Given
from transition_parser.parsing.parses import NODE_LINE, AmrParse, Parse, Parses, SentenceParse
from transition_parser.parsing.search import ranked, search
from transition_parser.parsing.texts import (
    LANG,
    Layout,
    Reading,
    ToParse,
    check_given,
    checked_forms,
    read_sentences,
    sentences_from,
    sentences_of_texts,
    warn_of_traps,
    whole_sentences,
)
from transition_parser.states.guide import Guide
from transition_parser.storage.cards import OWN_NAMES, AmrModel, TreeModel
from transition_parser.storage.checkpoints import language_named, load_model, model_path
from transition_parser.text.columns import DOMAIN, READINGS, UNKNOWN, UPOS, Annotations, filled, values_of_words
from transition_parser.text.languages import LANGUAGES, identify, surely_not_english
from transition_parser.text.pieces import normalize
from transition_parser.text.segmentation import LONGEST

AnySentence = Sentence | AmrEntry
P_co = TypeVar("P_co", bound=SentenceParse, covariant=True)

MOST_BEAM = 10_000
_FAST: TreeModel = "en-fast"
_LOOKED_AT = 50  # number of sentences whose language a model for English looks at
CHUNK = 4096  # number of sentences that are sorted by length together


class LoadOptions(TypedDict, total=False):
    """The options of `Parser.load` that do not change the type of its parses."""

    batch_tokens: int | None
    device: str
    precision: str
    threads: int | None
    domain: str | None
    nbest: int
    longest: int
    edits: bool


class Parser(Generic[P_co]):
    """A model with everything that it needs to parse sentences.

    A parser from `load` can be copied and pickled; a copy reads the same files again.

    beam: number of hypotheses that search keeps; 1 is greedy search
    batch_tokens: maximum of words times beam that are parsed at once; by default `usual_batch`. A longer sentence is
        parsed by itself.
    device: torch's name of the device
    precision: `fp32`, `bf16`, `int8` (linear layers multiply 8-bit integers; the rest is in bf16 where that is native,
        else in fp32), or `auto`: int8 where the CPU has it and has no AMX, else bf16 where it is native, else fp32
    threads: number of cores to use on a CPU, by default torch's own default (all, or `OMP_NUM_THREADS`). Up to four
        batches are parsed side by side, each with its share of the cores.
    domain: the corpus of the training data that the texts resemble, for models that read domains (`--read-domain`);
        by default no particular corpus
    nbest: maximum number of parses of each sentence, each a different graph; `parse.alternatives` has the parses after
        the best one. The beam must be `nbest` or more, unless the model does not search action by action. By default 1.
    longest: maximum length of a sentence in words, where a word of more than 100 characters counts as one word for each
        100 characters. Longer sentences of texts are divided, with a warning; other longer sentences are refused.
        Time grows with the square of a sentence, and for a model of whole trees memory, too.
    edits: False to leave AMRs as search finds them, without `parsing.edits`
    path: the file or name of the model, from which copies of the parser load it; by default the model is in memory
        alone, and the parser can't be copied

    Raises `InputError` for options out of range, and for a model whose weights are not all finite numbers.
    """

    def __init__(
        self: Parser[Any],
        model: ParserModel,
        resources: Resources,
        beam: int = 1,
        batch_tokens: int | None = None,
        device: str = "cpu",
        precision: str = "auto",
        threads: int | None = None,
        domain: str | None = None,
        nbest: int = 1,
        longest: int = LONGEST,
        edits: bool = True,
        path: str | os.PathLike | None = None,
    ) -> None:
        positive = {"beam": beam, "batch_tokens": batch_tokens, "threads": threads, "longest": longest, "nbest": nbest}
        for name, number in positive.items():
            if number is not None and number < 1:
                raise InputError(f"{name} must be 1 or more, not {number}")
        if max(beam, nbest) > MOST_BEAM:
            raise InputError(f"beam and nbest must be {MOST_BEAM:,} or less, because each hypothesis takes memory")
        if nbest > beam and not model.searches_directly:
            raise InputError(f"{nbest} parses of a sentence need a beam of {nbest} or more, not {beam}")
        self.device, self._warned = checked_device(device), False
        self._options = {
            "batch_tokens": batch_tokens, "device": device, "precision": precision, "threads": threads,
            "domain": domain, "nbest": nbest, "longest": longest, "edits": edits,
        }  # fmt: skip
        self._domain = domain if DOMAIN in model.inputs else None
        if self._domain is not None:
            resources.columns.check_domain(self._domain)
        elif domain is not None:
            raise InputError(f"the model does not read domains: leave out the domain {domain!r:.60}")
        self.precision = checked_precision(precision, self.device)
        # from any folder, names of models as they are
        is_file = path is not None and os.path.exists(path) and model_path(path) == Path(path)
        self._path = os.path.abspath(path) if path is not None and is_file else path
        if path is None:  # search with other weights would never end; those from files are checked when they are read
            check_finite(model.state_dict())
        own = (copy.deepcopy(model) if path is None else model).eval().float()  # nobody else has a model from files
        own.limit_domains(resources.columns)
        replace_layers(own, Adapted, Adapted.merged)  # parsing needs no adapters
        self.model = prepared(own, self.device, self.precision)
        give_back_freed_memory()
        # a model distinguishes languages if their codes name all of its domains
        domains = frozenset(resources.columns.values.get(DOMAIN, ()) if DOMAIN in model.inputs else ())
        self._languages = domains if domains <= LANGUAGES.keys() else frozenset()
        self._unchecked = _LOOKED_AT if str(path) in OWN_NAMES else 0
        find = self._identified if self._languages and self._domain is None else None
        self.resources = replace(resources, segmenter=resources.segmenter.of_domain(self._domain, find))
        self.beam, self.batch_tokens = beam, batch_tokens or usual_batch(model.decoder.words_at_once, self.device, beam)
        self.nbest = nbest
        self.threads = threads or torch.get_num_threads()
        self.formalism = OF_SYSTEM[resources.parser.system]
        self.reading = Reading(self.formalism.sentence, None, longest, self.resources.segmenter)
        if not edits and not self.formalism.has_edits:
            raise InputError("edits=False (--no-edits) is for models of AMRs: leave it out for a model of trees")

    @overload
    @classmethod
    def load(cls, model: TreeModel = "en", beam: int = 1, **options: Unpack[LoadOptions]) -> Parser[Parse]: ...

    @overload
    @classmethod
    def load(cls, model: AmrModel, beam: int = 1, **options: Unpack[LoadOptions]) -> Parser[AmrParse]: ...

    @overload
    @classmethod
    def load(cls, model: str | os.PathLike, beam: int = 1, **options: Unpack[LoadOptions]) -> Parser[Any]: ...

    @classmethod
    def load(
        cls,
        model: str | os.PathLike = "en",
        beam: int = 1,
        batch_tokens: int | None = None,
        device: str = "cpu",
        precision: str = "auto",
        threads: int | None = None,
        domain: str | None = None,
        nbest: int = 1,
        longest: int = LONGEST,
        edits: bool = True,
    ) -> Parser[Any]:
        """Return a parser from a checkpoint file, an exported folder, or the name of a model (`models`), by default en.

        A type checker knows the class of the parses for the names of the package's own models; for others declare it:
        `parser: Parser[Parse] = Parser.load("my-model")`. Raises `InputError` where there is no model.
        """
        domain = domain or language_named(model)
        loaded, resources = load_model(model)
        if loaded.searches_directly and max(beam, nbest) > 1:
            warn(
                f"{model}: the model finds the best tree of a sentence without a beam: beam and nbest do nothing (for "
                "several parses take a model that searches action by action, such as en-ewt)",
                UnusedBeamWarning,
            )
        options = (batch_tokens, device, precision, threads, domain, nbest, longest, edits)
        return cls(loaded, resources, beam, *options, path=model)

    def __reduce__(self) -> tuple:
        """Return a function that loads an equal parser, and its arguments."""
        if self._path is None:
            raise InputError("a parser of a model in memory can't be copied: export the model, and load it")
        # the class of the decoder is included, so that unpickling imports the module that registers its architecture
        return _loaded_again, (self._path, {**self._options, "beam": self.beam}, type(self.model.decoder))

    @property
    def version(self) -> str | None:
        """The name of the model, with the first digits of the checksum of its files, such as `en-ewt 1f3b5c7d`.

        A checkpoint has a name alone, and a model in memory None.
        """
        return self.resources.model

    def __repr__(self) -> str:
        name = "a model in memory" if self._path is None else str(self._path)
        size = sum(tensor.numel() for tensor in self.model.state_dict().values()) / 1e6
        facts = [self.resources.parser.system, self.model.architecture, f"{size:.1f} M weights", f"beam {self.beam}"]
        return f"<Parser of {self.formalism.name}: {', '.join([name, *filter(None, facts), self.precision])}>"

    def __call__(self, text: object, given: Iterable[Given | None] = ()) -> Parses[P_co]:
        """Return the parses of a text, one for each sentence, or of the words of one sentence.

        text: a string; a list of strings: the words of one sentence (`parse` takes a list of strings for texts); or
            anything else that `parse` takes
        given: as for `parse_stream`

        Raises `InputError` as `parse` does, and for a list of strings with a space in one of them.
        """
        if isinstance(text, list | tuple) and text and all(isinstance(word, str) for word in text):
            if any(" " in word for word in text):
                raise InputError("these are no words, because they hold spaces: call parser.parse for a list of texts")
            text = [text]
        return self.parse(text, given)

    def parse(self, text: object, given: Iterable[Given | None] = (), progress: bool = False) -> Parses[P_co]:
        """Return the parses of the given text, sentences or file.

        - a string: a text. The segmenter of the model (without one, rules for English) divides it into sentences and
          tokens. Each sentence gives one parse, an empty text gives none. `parse.sentence.spans` has the positions of
          the words in the text.
        - a list of strings: always a list of texts, whatever the strings hold; None and NaN are empty texts. `stream`
          returns the parses of each text separately.
        - a list of lists of strings: sentences, each the list of its words
        - a list of `Sentence`, or of `AmrEntry` for a model of AMRs
        - a `pathlib.Path`: a CoNLL-U file (for AMRs, an AMR bank), or a file of raw text; `read` takes tokenized text

        A warning says so where a string is the name of a file, and where all texts of a list are single words. U+FFFD
        replaces zero bytes and halves of surrogate pairs, with a warning. Raises `InputError` for anything else, and
        for lists of words that are empty or have empty words.

        given: as for `parse_stream`
        progress: True for a progress bar where standard error is a terminal
        """
        sentences = self.tokenize(text)
        parses = self.parse_stream(sentences, CHUNK // 16 if progress else None, given)
        return Parses(with_progress(parses, "parsing", len(sentences), quiet=not progress))

    def tokenize(self, text: object) -> list[Any]:
        """Return the sentences that `parse` would parse, each with its tokens (`.forms`) and their places (`.spans`).

        text: as for `parse`
        """
        if isinstance(text, os.PathLike):
            return list(self.read(text))
        warn_of_traps(text)
        return sentences_from(text, self.reading)

    def parse_sents(self, sentences: Iterable[str | None], add_metadata: bool = True) -> list[str]:
        """Return the parse of each sentence as text, as amrlib's `parse_sents` does.

        An AMR is written in PENMAN with comments (see `AmrParse.to_penman`), a tree in CoNLL-U. A blank line ends each
        parse, so that the joined strings are a file.

        add_metadata: False leaves the comments out

        A string is one sentence: it is divided into tokens but, unlike in `parse`, never into sentences. The parse of a
        string without words, and of None, is an empty string. U+FFFD replaces characters as in `stream`. Raises
        `InputError` for anything but a list of strings, and for a sentence that is longer than `longest`.
        """
        given = whole_sentences(sentences, self.reading)
        parses = self.parse_stream(one for one in given if one is not None)
        found = ["" if one is None else str(next(parses).annotated()) for one in given]
        left_out = NODE_LINE if add_metadata else re.compile("^#.*\n", re.MULTILINE)
        return [left_out.sub("", text) for text in found]

    def parse_spans(self, spans: Iterable[Any], add_metadata: bool = True) -> list[str]:
        """Return the parse of each span of spaCy as text, as amrlib's `parse_spans` does; see `parse_sents`."""
        return self.parse_sents([span.text for span in spans], add_metadata)

    def stream(self, texts: Iterable[str | None], chunk: int | None = None) -> Iterator[list[P_co]]:
        """Yield, for each text in order, the list of its parses: the list that `parse` of this text alone returns.

        A list has one parse for each sentence, and is empty for an empty text, None and NaN. U+FFFD replaces zero bytes
        and halves of surrogate pairs, with a warning that names the first text with one.

        texts: any iterable, generators included, of strings; each string is a text, as `parse` takes it. Texts are read
            as they are needed, so that memory does not grow with the number of texts.
        chunk: number of sentences (by default 4096) that are collected before they are parsed together

        Raises `InputError` for an item that is not a string, with its number, and whatever `texts` raises, after the
        parses of all texts before the error.
        """
        return self._parse_each(sentences_of_texts(texts, self.reading), chunk or CHUNK)

    def _parse_each(self, given: Iterable[list], chunk: int) -> Iterator[list[P_co]]:
        errors: list[Exception] = []

        def until_error() -> Iterator[list]:
            try:
                yield from given
            except Exception as error:  # the texts before it are parsed first
                errors.append(error)

        for texts in in_chunks(until_error(), chunk, len):
            parses = iter([*self.parse_stream(chain.from_iterable(texts), sys.maxsize)])
            yield from (list(islice(parses, len(sentences))) for sentences in texts)
        if errors:
            raise errors[0]

    def read(self, path: str | os.PathLike, layout: Layout | None = None) -> Iterator[AnySentence]:
        """Return an iterator over the sentences of a file (CoNLL-U, an AMR bank, or text), for `parse_stream`.

        layout: that of text. "raw": any number of sentences in paragraphs, which end at blank lines; "tokenize": one
            sentence a line; "tokens": the same, with blanks or tabs between its tokens; "vertical": a word a line, up
            to a tab, and a blank line after each sentence. None (default): raw text, unless the file looks like CoNLL-U
            or an AMR bank
        """
        return read_sentences(path, self.reading._replace(layout=layout))

    def parse_file(
        self,
        source: str | os.PathLike | Iterable[AnySentence],
        output: str | os.PathLike,
        scores: bool = False,
        actions: bool = False,
        quiet: bool = False,
    ) -> None:
        """Parse a file into a file of CoNLL-U or an AMR bank, which is written whole or not at all.

        source: a file as `read` takes it, or the sentences of one
        scores, actions: see `annotated` of the parses
        quiet: True for no progress bar, which is shown where standard error is a terminal
        """
        sentences = self.read(source) if isinstance(source, str | os.PathLike) else source
        with opened_output(str(output)) as file:
            for parse in with_progress(self.parse_stream(sentences), f"parsing into {output}", quiet=quiet):
                file.writelines(str(one.annotated(scores, actions)) for one in parse.ranked)

    def evaluate(
        self,
        gold: str | os.PathLike,
        parsed: str | os.PathLike | None = None,
        segment: bool = False,
        conll18: bool = False,
    ) -> dict[str, Any]:
        """Parse the sentences of a file with gold graphs, and return the scores, as `score --json` prints them.

        gold: CoNLL-U or an AMR bank. The model sees neither graphs nor, except columns that it can't predict, lemmas,
            tags and features.
        parsed: a file for the parses, by default none
        segment: True to parse the text of gold trees, so that errors in sentences and words count, too; not for AMRs
        conll18: True to add the table of the CoNLL 2018 shared task, for trees; `transition_parser.score` of the gold
            file and `parsed` has more options

        Raises `InputError` for a file without such graphs, and for `segment` and `conll18` with AMRs.
        """
        formalism = self.formalism
        if (segment or conll18) and not formalism.may_segment:
            problem = "AMRs are scored sentence by sentence, which the gold file must divide"
            raise InputError(f"segment and conll18 are for trees; {problem}: leave them out")
        sentences: Iterable[Any] = self.read(gold)
        if formalism.may_segment:
            read: Iterator[Any] = formalism.read_graphs(gold)
            sentences = self.tokenize(raw_text(read)) if segment else (one.untagged(self.given_columns) for one in read)
        with TemporaryDirectory() as folder:
            written = parsed or Path(folder, f"parsed{formalism.suffix}")
            self.parse_file(sentences, written)
            return formalism.scoring.score(gold, written, **({"conll18": True} if conll18 else {}))

    def parse_stream(
        self, sentences: Iterable[AnySentence], chunk: int | None = None, given: Iterable[Given | None] = ()
    ) -> Iterator[P_co]:
        """Yield the parses in the order of the sentences.

        chunk: number of sentences that are held at a time, by default 4096
        given: for each sentence in order the facts about its AMR that the parse must keep, None for no facts; may be
            shorter

        Raises `InputError` for facts that a sentence can't have, and for facts where the model is one of trees.
        """
        facts, done = iter(given), 0
        for some in in_chunks(sentences, chunk or CHUNK):
            to_parse = [self._to_parse(one, number, next(facts, None)) for number, one in enumerate(some, done + 1)]
            done += len(to_parse)
            parses: dict[int, P_co] = {}
            batches = self._batches(to_parse)
            with workers(self.threads, self.device) as each:  # it sets the process: not while we yield
                found = each(lambda indices, all_=to_parse: self._parsed([all_[i] for i in indices]), batches)
                for indices, of_batch in zip(batches, found, strict=True):
                    parses |= zip(indices, of_batch, strict=True)
            yield from (parses.pop(i) for i in range(len(to_parse)))
            give_back_freed_memory()

    def derivations(self, sentence: AnySentence, nbest: int | None = None) -> tuple[EncoderOut, list[P_co]]:
        """Parse one sentence by itself, and return the encoder's output, and the parse of each derivation, best first.

        nbest: maximum number of derivations; by default the whole beam
        """
        one = self._to_parse(sentence, 1)
        with workers(self.threads, self.device):  # sets the number of threads
            encoder_out, (parses,) = self._found([one], nbest or self.beam)
        return encoder_out, [self._calibrated(parse) for parse in parses]

    def _to_parse(self, sentence: AnySentence, number: int, given: Given | None = None) -> ToParse:
        forms = checked_forms(sentence, self.reading, number)
        values = values_of_words(sentence, self.given_columns, self.formalism.name)
        check_given(sentence, values, self.resources.columns, number)
        words = [normalize(form) for form in forms]
        if self._unchecked:
            self._check_english(words)
        domain = self._domain
        if self._languages and isinstance(sentence, Sentence):
            sentence, domain = self._with_language(sentence)
        if given is not None:
            if not self.formalism.takes_facts:
                raise InputError(f"facts can be given about AMRs, but the model is one of {self.formalism.name}")
            with errors_at(sentence.path, sentence.line, sentence.id):
                given.check(len(words))
        return ToParse(sentence, words, given, domain)

    def _check_english(self, words: Sequence[str]) -> None:
        """Warn of the first sentence that is surely not English, among the first ones of a model for English."""
        self._unchecked -= 1
        found = surely_not_english(" ".join(words))
        if found is not None:
            self._unchecked = 0
            how = f"take `transition-parser parse {found}` (in Python Parser.load({found!r}))"
            if language_named(found) is None:
                how = f"`transition-parser train` makes a model of a treebank of {LANGUAGES[found]}"
            warn(f"{short_repr(' '.join(words))} looks like {LANGUAGES[found]}, but the model reads English: {how}")

    def _with_language(self, sentence: Sentence) -> tuple[Sentence, str | None]:
        """Return the sentence with a comment that says its language, if it is known, and the language."""
        said = sentence.comment(LANG)
        found = self._domain or (said if said in self._languages else self._identified(sentence.text))
        if found in (None, said):
            return sentence, found
        others = tuple(one for one in sentence.comments if said is None or not one.startswith(f"# {LANG}"))
        return replace(sentence, comments=(*others, f"# {LANG} = {found}")), found

    def _identified(self, text: str, before: str | None = None) -> str | None:
        found = identify(text, self._languages, before)
        if found is None and not self._warned and any(map(str.isalpha, text)):
            self._warned = True
            warn(
                f"{short_repr(text)} is in no language that the model has learned, and is parsed by the mean of all; "
                "so are other such texts, without a warning"
            )
        return found

    @cached_property
    def given_columns(self) -> Collection[str]:
        """The columns that sentences must have, because a model reads them but does not predict them."""
        return self.model.inputs.given_columns

    def _parsed(self, batch: list[ToParse]) -> list[Any]:
        """Return the best parse of each sentence, with up to `nbest` − 1 alternatives."""
        several = self.nbest > 1
        # before its last step, search has up to `beam` − 1 finished derivations; the step may finish `beam` more
        _, found = self._found(batch, 2 * self.beam if several else 1)
        best = (ranked(parses, self.nbest) if several else parses[0] for parses in found)
        return [self._calibrated(parse, of_beam=several) for parse in best]

    def _found(self, batch: list[ToParse], nbest: int) -> tuple[EncoderOut, list[list[Any]]]:
        """Return the encoder's output, and the parses of the derivations of each sentence."""
        encoder_out, tags = self._encoded(batch)
        if isinstance(self.model.decoder, TreeDecoder):
            found = zip(batch, self.model.decoder.trees(encoder_out), tags, strict=True)
            rows = ((one, tree, log_probs, its_tags) for one, (tree, log_probs), its_tags in found)
            return encoder_out, [[TREES.parse_of(self.resources, *row)] for row in rows]
        facts = [None if one.facts is None else one.facts.of_words for one in batch]
        longest = max(len(one.words) for one in batch)
        guide = Guide(self.resources.table, facts, longest, self.device) if any(facts) else None
        best = search(self.model, encoder_out, self.beam, nbest, self.formalism.lenpen, guide)
        together = zip(batch, best, tags, strict=True)
        each = ((one, derivation, columns) for one, derivations, columns in together for derivation in derivations)
        replayed = iter(self.formalism.replay(self.resources, each, bool(self._options["edits"]), self.read_trees))
        return encoder_out, [[*islice(replayed, len(derivations))] for derivations in best]

    def read_trees(self, sentences: Sequence[Sequence[str]]) -> list[DependencyTree]:
        """Return the dependency trees of sentences in English, by the fastest model; edits of AMRs read them."""
        to_parse = [ToParse(Sentence.from_words(words), [*map(normalize, words)]) for words in sentences]
        return [parse.tree for parse in self._tree_parser._parsed(to_parse)] if to_parse else []

    @cached_property
    def _tree_parser(self) -> Parser[Parse]:
        return Parser.load(_FAST, device=str(self.device), precision=self.precision, threads=self.threads)

    def _calibrated(self, parse: Any, of_beam: bool = False) -> Any:
        """Return the parse, with calibrated confidences if the model has a calibration."""
        calibration = self.model.calibration
        return parse if calibration is None else parse.rescored(calibration.beam if of_beam else calibration.derivation)

    def _batches(self, sentences: list[ToParse]) -> list[list[int]]:
        # greedy search gains nothing from smaller batches than usual
        least = usual_batch(self.model.decoder.words_at_once, self.device, self.beam) // (1 if self.beam == 1 else 2)
        side_by_side = batches_at_a_time(self.threads, self.device) > 1
        lengths = [len(one.words) for one in sentences]
        return list(in_batches(lengths, self.beam, self.batch_tokens, least if side_by_side else None))

    def _encoded(self, batch: list[ToParse]) -> tuple[EncoderOut, list[Tags]]:
        """Return the encoder's output for sentences, and their tags by column."""
        annotations = self._annotations(batch, self.model.inputs.columns)
        net_input = self.net_input([one.words for one in batch], annotations, in_search=True)
        with torch.inference_mode():
            encoder_out, heads = self.model.encode(net_input), self.model.tags
            if heads is None:
                labeler = self.model.labeler
                readings = [] if labeler is None else labeler.read(encoder_out, (one.words for one in batch))
                return encoder_out, [{READINGS: one} for one in readings] or [{} for _ in batch]
            given, forms = self._annotations(batch, [UPOS]).get(UPOS, ()), [one.sentence.forms for one in batch]
            known = [self.resources.columns.of_domain(one.domain) for one in batch]
            usual = [columns.tags_of(of_words) for columns, of_words in zip(known, forms, strict=True)]

            def settled(i: int, predicted: Sequence[str]) -> list[bool]:
                tags = filled(given[i], predicted) if given else predicted
                return known[i].lemmatizer.are_known(forms[i], tags)

            found = heads.predict(encoder_out.tagged, [*map(len, forms)], given, encoder_out.domains, usual, settled)
            return replace(encoder_out, tags=found.upos), found.tags

    def net_input(
        self, sentences: Sequence[Sequence[str]], annotations: Annotations = NO_ANNOTATIONS, in_search: bool = False
    ) -> Mapping[str, Any]:
        """Return the input of `ParserModel.encode`, by name, on the device of the model.

        sentences: the normalized words of each sentence
        annotations: the columns that the model reads
        in_search: see `ActionTable.features`
        """
        tokens, features = self.resources.encode_all(sentences), self.resources.features_of(sentences, in_search)
        source = torch.nn.utils.rnn.pad_sequence(tokens, True, self.resources.source_dictionary.pad())
        words = self.model.inputs.read(sentences, annotations)
        return to_device(self.device, {"src_tokens": source, "features": features, "words": words})

    def _annotations(self, batch: list[ToParse], columns: Collection[str]) -> Annotations:
        """Return column → for each sentence the values of its words; the domain comes from the parser's options."""
        given = [values_of_words(one.sentence, columns, self.formalism.name) for one in batch]
        annotations = {name: [values[name] for values in given] for name in (given[0] if given else ())}
        if DOMAIN in columns:
            annotations[DOMAIN] = [[one.domain or UNKNOWN] for one in batch]
        return annotations


def _loaded_again(model: str | os.PathLike, options: dict[str, Any], _decoder: type) -> Parser:
    return Parser.load(model, **options)
