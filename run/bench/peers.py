"""Other parsers on the same sentences, from words in Python to heads and relations in Python.

spaCy      blank English with its parser (its default network), initialised with the labels of the training file
UDPipe 1   the transition-based parser of ufal.udpipe, trained here for one iteration; with gold tags or UDPipe's own
supar      the biaffine network (character LSTM, its default size) as `BiaffineDependencyParser.predict` runs it

Only speed is compared: the weights of spaCy and supar are random, and UDPipe is trained on a few sentences. Random
weights make supar slower: the heads with the best scores are seldom a tree, and then supar searches for one. supar is
therefore also measured without this search. The packages are extras (`pip install -e .[bench]`); the report names
packages that can't be used.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import tempfile
import warnings
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import torch

from transition_parser.graphs.conllu import Sentence

if TYPE_CHECKING:
    from spacy.training import Example
    from spacy.vocab import Vocab

# the heads and the relations of each sentence's words
Parsed = list[tuple[list[int], list[str]]]
LABELS = 2000  # the largest number of training sentences that peers take their labels from
UDPIPE_TRAINING = 500  # sentences that UDPipe is trained on
BATCH_TOKENS = 5000  # words that supar parses at once (its default)
MAX_CHARACTERS = 20  # characters of a word that supar reads (its default)


class Peer(NamedTuple):
    """A parser of another package.

    one_core: True if the parser computes on one core, whatever the number of threads
    """

    parse: Callable[[Sequence[Sentence]], Parsed]
    one_core: bool


def peers(training: Sequence[Sentence], device: str) -> tuple[dict[str, Peer], dict[str, str]]:
    """Return the usable peers by name, and package → its version, or the reason why it can't be used.

    training: sentences with trees, for labels and vocabularies
    device: the device of supar
    """
    result: dict[str, Peer] = {}
    status: dict[str, str] = {}
    for package, module, make in (
        ("spacy", "spacy", lambda: _spacy(training)),
        ("ufal.udpipe", "ufal.udpipe", lambda: _udpipe(training)),
        ("supar", "supar.models", lambda: _supar(training, device)),
    ):
        try:
            version = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            status[package] = "not installed"
            continue
        try:
            importlib.import_module(module)
        except Exception as error:  # a package may fail in any way with newer versions of its dependencies
            status[package] = f"unavailable: {package} {version} can't be imported: {type(error).__name__}: {error}"
            continue
        result |= make()
        status[package] = version
    return result, status


class Forked:
    """A function that parses on one core, run in several processes.

    Each process gets its sentences before timing starts, and returns how many of them it has parsed.
    """

    def __init__(self, parse: Callable, sentences: Sequence[Sentence], processes: int) -> None:
        shares = [sentences[i::processes] for i in range(processes)]
        self._processes = processes
        # the function can't be pickled, but forked processes inherit it
        self._pool = get_context("fork").Pool(processes, _hold, (parse, shares))

    def __call__(self) -> int:
        """Parse all sentences and return their number."""
        return sum(self._pool.map(_parse_share, range(self._processes), chunksize=1))

    def close(self) -> None:
        """End the processes."""
        self._pool.terminate()
        self._pool.join()


_held: tuple[Callable, list[Sequence[Sentence]]]  # set in each process of `Forked`


def _hold(parse: Callable, shares: list[Sequence[Sentence]]) -> None:
    global _held
    _held = parse, shares


def _parse_share(number: int) -> int:
    parse, shares = _held
    return len(parse(shares[number]))


def spacy_example(vocabulary: Vocab, sentence: Sentence) -> Example:
    """Return a sentence with its tree, tags, lemmas and features as spaCy's components learn from it."""
    from spacy.tokens import Doc
    from spacy.training import Example

    tree, rows = sentence.tree(), sentence.words
    heads = [head - 1 if head else i for i, head in enumerate(tree.heads)]
    document = Doc(
        vocabulary, words=sentence.forms, heads=heads, deps=list(tree.relations), lemmas=[row.lemma for row in rows],
        tags=[row.xpos for row in rows], pos=[row.upos for row in rows], morphs=[row.feats for row in rows],
    )  # fmt: skip
    return Example(Doc(vocabulary, words=sentence.forms), document)


def _spacy(training: Sequence[Sentence]) -> dict[str, Peer]:
    import spacy
    from spacy.tokens import Doc

    nlp = spacy.blank("en")
    nlp.add_pipe("parser")

    examples = [spacy_example(nlp.vocab, sentence) for sentence in training]
    nlp.initialize(lambda: examples)

    def parse(sentences: Sequence[Sentence]) -> Parsed:
        documents = (Doc(nlp.vocab, words=sentence.forms) for sentence in sentences)
        return [
            ([0 if token.head is token else token.head.i + 1 for token in document], [t.dep_ for t in document])
            for document in nlp.pipe(documents, batch_size=256)
        ]

    return {"spaCy": Peer(parse, True)}


def _udpipe(training: Sequence[Sentence]) -> dict[str, Peer]:
    from ufal import udpipe

    def read(sentence: Sentence, tags: bool, tree: bool = False) -> udpipe.Sentence:
        result = udpipe.Sentence()
        for row in sentence.words:
            word = result.addWord(row.form)
            if tags:
                word.lemma, word.upostag, word.xpostag = row.lemma, row.upos, row.xpos
                word.feats = "" if row.feats == "_" else row.feats
        if tree:
            gold = sentence.tree()
            for number, (head, relation) in enumerate(zip(gold.heads, gold.relations, strict=True), 1):
                result.setHead(number, head, relation)
        return result

    error = udpipe.ProcessingError()

    def check() -> None:
        if error.occurred():
            raise RuntimeError(f"UDPipe: {error.message}")

    examples = udpipe.Sentences()
    for sentence in training[:UDPIPE_TRAINING]:
        examples.append(read(sentence, tags=True, tree=True))
    model = udpipe.Trainer.train(
        "morphodita_parsito", examples, udpipe.Sentences(), "none",
        "iterations=1", "iterations=1;use_gold_tags=1", error,
    )  # fmt: skip
    check()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.udpipe"
        path.write_bytes(model)
        pipeline = udpipe.Model.load(str(path))
    if pipeline is None:
        raise RuntimeError("UDPipe can't read the model that it trained")

    def parse(sentences: Sequence[Sentence], tag: bool) -> Parsed:
        results = []
        for sentence in sentences:
            parsed = read(sentence, tags=not tag)
            if tag:
                pipeline.tag(parsed, pipeline.DEFAULT, error)
                check()
            pipeline.parse(parsed, pipeline.DEFAULT, error)
            check()
            words = list(parsed.words)[1:]
            results.append(([word.head for word in words], [word.deprel for word in words]))
        return results

    return {
        "UDPipe 1, gold tags": Peer(lambda sentences: parse(sentences, tag=False), True),
        "UDPipe 1, with its tagger": Peer(lambda sentences: parse(sentences, tag=True), True),
    }


def _supar(training: Sequence[Sentence], device: str) -> dict[str, Peer]:
    from supar.models import BiaffineDependencyModel

    pad, unknown, root = "<pad>", "<unk>", "<bos>"  # in the order of supar's ids
    forms = {form for sentence in training for form in sentence.forms}
    words = {word: i for i, word in enumerate([pad, unknown, root, *sorted({form.lower() for form in forms})])}
    characters = {c: i for i, c in enumerate([pad, unknown, root, *sorted(set("".join(forms)))])}
    relations = sorted({relation for sentence in training for relation in sentence.tree().relations})
    torch.manual_seed(1)
    network = BiaffineDependencyModel(len(words), len(relations), n_chars=len(characters)).eval().to(device)

    def encode(batch: Sequence[Sentence]) -> tuple[torch.Tensor, torch.Tensor]:
        longest = max(len(sentence.forms) for sentence in batch) + 1
        width = min(max(len(form) for sentence in batch for form in sentence.forms), MAX_CHARACTERS)
        rows, spelling = [], []
        for sentence in batch:
            row = [words[root], *(words.get(form.lower(), words[unknown]) for form in sentence.forms)]
            rows.append(row + [0] * (longest - len(row)))
            spelt = [[characters[root]]]
            spelt += [[characters.get(c, characters[unknown]) for c in form[:width]] for form in sentence.forms]
            spelt += [[]] * (longest - len(spelt))
            spelling.append([codes + [0] * (width - len(codes)) for codes in spelt])
        return torch.tensor(rows, device=device), torch.tensor(spelling, device=device)

    def parse(sentences: Sequence[Sentence], tree: bool) -> Parsed:
        results: dict[int, tuple[list[int], list[str]]] = {}
        for batch in batches([len(sentence.forms) + 1 for sentence in sentences], BATCH_TOKENS):
            inputs, spelling = encode([sentences[i] for i in batch])
            mask = inputs.ne(0)
            mask[:, 0] = False
            with torch.inference_mode(), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # supar calls functions that torch deprecates
                arcs, labels = network.decode(*network(inputs, [spelling]), mask, tree)
            for i, heads, numbers in zip(batch, arcs.tolist(), labels.tolist(), strict=True):
                n = len(sentences[i].forms)
                results[i] = (heads[1 : n + 1], [relations[number] for number in numbers[1 : n + 1]])
        return [results[i] for i in range(len(sentences))]

    return {
        "supar biaffine": Peer(lambda sentences: parse(sentences, tree=True), False),
        "supar biaffine, best heads, no tree search": Peer(lambda sentences: parse(sentences, tree=False), False),
    }


def batches(lengths: Sequence[int], tokens: int) -> list[list[int]]:
    """Return batches of sentence indices, by similar length, with at most `tokens` words and padding in a batch."""
    result: list[list[int]] = [[]]
    for i in sorted(range(len(lengths)), key=lengths.__getitem__):
        if result[-1] and (len(result[-1]) + 1) * lengths[i] > tokens:
            result.append([])
        result[-1].append(i)
    return result
