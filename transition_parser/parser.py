"""The Python API: load a model, parse sentences, get trees with scores.

from transition_parser import Parser

parser = Parser.load("en-ewt")
for parse in parser.parse("She sells sea shells."):
    print(parse.tree.heads, parse.arc_scores)
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import torch

from transition_parser.checkpoints import load_model
from transition_parser.data.resources import Resources
from transition_parser.errors import InputError, input_error
from transition_parser.graphs.conllu import Sentence
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.models.transition_transformer import TransitionTransformer
from transition_parser.pieces import normalise
from transition_parser.search import Hypothesis, search
from transition_parser.sentences import read_sentences, tokenise
from transition_parser.transitions import Action, Kind

SCORE_KEY = "ArcScore"  # in MISC
CHUNK = 4096  # sentences that are sorted by length together


@dataclass(frozen=True)
class Parse:
    """One parsed sentence.

    sentence: the input; `annotated` fills in the tree. arc_scores: for each word the probability that the
    model gave to the action that built the arc into it. actions: the derivation. score: the
    log-probability of the derivation divided by its length, as search ranks them.
    """

    sentence: Sentence
    tree: DependencyTree
    arc_scores: tuple[float, ...]
    actions: tuple[Action, ...]
    score: float

    def annotated(self, scores: bool = False, actions: bool = False) -> Sentence:
        """The sentence, on request with `ArcScore=` in MISC and `# parse_score`, and with `# actions`."""
        before = self.sentence.without(SCORE_KEY, ("parse_score", "actions"))
        comments = list(before.comments)
        misc = None
        if scores:
            comments.append(f"# parse_score = {self.score:.4f}")
            misc = [f"{SCORE_KEY}={score:.4f}" for score in self.arc_scores]
        if actions:
            comments.append("# actions = " + " ".join(map(str, self.actions)))
        sentence = before.with_tree(self.tree, misc)
        return Sentence(sentence.rows, tuple(comments), sentence.path, sentence.line)


class Parser:
    """A model with everything it needs to parse.

    beam: hypotheses that search keeps, 1 for greedy search. batch_tokens: words times beam that are parsed at
    once, at the most (a single longer sentence is parsed by itself).
    """

    def __init__(
        self,
        model: TransitionTransformer,
        resources: Resources,
        beam: int = 1,
        batch_tokens: int = 40000,
        device: str = "cpu",
    ) -> None:
        if beam < 1 or batch_tokens < 1:
            raise InputError("beam and batch size must be 1 or more")
        self.device = _device(device)
        self.model, self.resources = model.eval().to(self.device), resources
        self.beam, self.batch_tokens = beam, batch_tokens
        self.system = resources.parser.transition_system()

    @classmethod
    def load(cls, model: str | os.PathLike, beam: int = 1, batch_tokens: int = 40000, device: str = "cpu") -> Parser:
        """A parser from a checkpoint file, an exported folder, or the name of a model of the package.

        Raises `InputError` where there is none.
        """
        return cls(*load_model(model), beam, batch_tokens, device)

    def parse(self, text: str | os.PathLike | Sequence[str] | Sequence[Sequence[str]]) -> list[Parse]:
        """Parses a string (one sentence, tokenised here), a list of words (one sentence), a list of lists
        of words, a list of `Sentence`, or a `pathlib.Path` (a CoNLL-U file, or one tokenised sentence a line)."""
        return list(self.parse_stream(_sentences(text)))

    def parse_stream(self, sentences: Iterable[Sentence]) -> Iterator[Parse]:
        """Yields the parses in the order of the sentences, holding few sentences at a time."""
        iterator, done = iter(sentences), 0
        while chunk := list(islice(iterator, CHUNK)):
            for number, sentence in enumerate(chunk, done + 1):
                if not sentence.words:
                    raise input_error(f"sentence {number} has no words", sentence.path, sentence.line)
            done += len(chunk)
            parses: dict[int, Parse] = {}
            for batch in self._batches(chunk):
                found = self._search([chunk[i] for i in batch])
                for i, hypothesis in zip(batch, found, strict=True):
                    parses[i] = self._parse(chunk[i], hypothesis)
            yield from (parses[i] for i in range(len(chunk)))

    def _batches(self, sentences: list[Sentence]) -> Iterator[list[int]]:
        """Indices of sentences of like length."""
        lengths = [len(sentence.words) for sentence in sentences]
        batch: list[int] = []
        for i in sorted(range(len(sentences)), key=lengths.__getitem__):
            if batch and (len(batch) + 1) * lengths[i] * self.beam > self.batch_tokens:
                yield batch
                batch = []
            batch.append(i)
        if batch:
            yield batch

    def _search(self, sentences: list[Sentence]) -> list[Hypothesis]:
        tokens = [self.resources.encode(sentence.forms) for sentence in sentences]
        padding = self.resources.source_dictionary.pad()
        source = torch.nn.utils.rnn.pad_sequence(tokens, True, padding).to(self.device)
        with torch.inference_mode():
            encoder_out = self.model.encoder(source, features=self.resources.features(source))
        found = search(self.model.decoder, encoder_out, self.beam)
        return [hypotheses[0] for hypotheses in found]

    def _parse(self, sentence: Sentence, hypothesis: Hypothesis) -> Parse:
        """Builds the graph once, by replaying the derivation through the pure-Python machine."""
        actions = [Action.parse(self.resources.table.tokens[i]) for i in hypothesis.tokens]
        state = self.system.initial([normalise(form) for form in sentence.forms])
        scores = [0.0] * len(state.words)
        for action, log_prob in zip(actions, hypothesis.step_scores, strict=True):
            before, state = state, self.system.apply(state, action)
            if action.kind in (Kind.LEFT_ARC, Kind.RIGHT_ARC):
                changed = (i for i, h in enumerate(state.heads) if h != before.heads[i])
                scores[next(changed)] = math.exp(log_prob)
        tree = self.system.result(state)
        return Parse(sentence, tree, tuple(scores), tuple(actions), hypothesis.score)


def _device(name: str) -> torch.device:
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError) as error:  # the second: a torch that was built without CUDA
        raise InputError(f"no device {name!r} here: {str(error).splitlines()[0]}") from None
    return device


def _sentences(text) -> Iterable[Sentence]:
    if isinstance(text, str):
        return [Sentence.from_words(tokenise(text))]
    if isinstance(text, Path):
        return read_sentences(text)
    items = list(text)
    if items and all(isinstance(word, str) for word in items):
        return [Sentence.from_words(items)]
    return [s if isinstance(s, Sentence) else Sentence.from_words(s) for s in items]
