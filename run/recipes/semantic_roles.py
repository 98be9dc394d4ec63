"""Train the semantic role labeler of a model of AMRs on PropBank's annotation of a treebank, and store it there.

    python run/recipes/semantic_roles.py MODEL --treebank TRAIN.conllu --propbank TRAIN.tsv --frames FRAMES.jsonl
        [--banks GOLD.amr ...] [--exclude TEST.conllu TEST.amr ...] [--seed 1]

MODEL: the folder of an exported model, which gets the file `semantic_roles.safetensors`; its weights stay as they are.
The model parses the treebank and the examples of the frames greedily. From the annotation of the words that have nodes
the labeler learns senses of predicates and roles of their arguments (ARG0 … ARG5, another label, none); from AMR
banks, which are aligned first, the same. Examples show rare senses as often as frequent ones: their senses are weighed
by how often the treebank and the banks have them. Which words are imperatives is learned from Mood=Imp. The same
command gives the same bytes on the same machine.
"""

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, product
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from facts import AUXILIARIES
from propbank import Annotation, Example, Predicate, concept_of, read_annotations, read_frames
from shared import Excluded, of_kind, options, read_texts, run
from torch import Tensor, nn

from transition_parser import AmrParse, Parser
from transition_parser.base.errors import InputError
from transition_parser.data.resources import LABELER
from transition_parser.graphs.bank import read_bank
from transition_parser.graphs.conllu import Sentence, read_conllu
from transition_parser.modules.semantic_roles import (
    NO_ROLE,
    OTHER_ROLE,
    ROLES,
    RoleLabeler,
    core_role,
    distance_class,
    may_be_argument,
    may_be_imperative,
)
from transition_parser.parsing.edits.roles import Candidates
from transition_parser.preprocess.aligner.aligner import aligned, entry_tokens, train_table
from transition_parser.storage.exports import read_config, write_config
from transition_parser.text.frames import WINDOW
from transition_parser.text.pieces import normalize
from transition_parser.transitions.amr_state import lemma_of

SKIPPED = -1  # a pair that the loss does not count
SENSES, PAIRS, MOODS = 256, 2048, 1024  # words and pairs of words in a batch of training
BATCH = 32  # sentences
DECAY = 3.0  # weight decay of the tables of senses and of frames, chosen on EWT dev
FASTER = 10.0  # by how much forms learn faster than other weights, chosen on EWT dev: each form is in few sentences
_WITH_BIAS = ("heads", "others", "senses", "hidden", "roles", "moods", "imperative")


class Annotated(NamedTuple):
    """A sentence with what the labeler learns from it; words count from 0."""

    words: list[str]  # as the network reads them
    senses: list[tuple[int, str]]  # word, concept of its frame
    pairs: list[tuple[int, int, str, int]]  # word of a frame, another word, the frame, the role
    moods: Sequence[tuple[int, bool]] = ()  # a word that evokes frames, True for an imperative
    is_example: bool = False  # chosen for its frame


def role_of(label: str) -> int:
    """Return the number of a core role, `OTHER_ROLE` for other labels."""
    role = core_role(label)
    return OTHER_ROLE if role is None else role


def of_treebank(
    parser: Parser, sentences: Sequence[Sentence], annotations: Mapping[str, Annotation], inventory: frozenset[str]
) -> Iterator[Annotated]:
    """Yield what the sentences of a treebank teach about the nodes that the model finds."""
    for sentence, parse in zip(sentences, parser.parse([one.forms for one in sentences]), strict=True):
        forms, annotation = [*sentence.forms], annotations[sentence.id]
        annotation.check(forms)
        predicates = {
            one.word: one
            for one in annotation.predicates
            if one.roleset in inventory
            and not one.is_light
            and one.roleset not in AUXILIARIES
            and sentence.words[one.word].upos != "AUX"
        }
        heads = [head - 1 for head in sentence.tree().heads]
        senses = [(word, one.concept) for word, one in predicates.items()]
        moods = [
            (place, "Mood=Imp" in word.feats.split("|"))
            for place, word in enumerate(sentence.words)
            if may_be_imperative(word.form)
        ]
        yield Annotated([*map(normalize, forms)], senses, [*pairs_of(parser, parse, predicates, heads)], moods)


def of_examples(parser: Parser, examples: Sequence[Example]) -> Iterator[Annotated]:
    """Yield what the examples of frames teach about the nodes that the model finds. They have no trees."""
    for example, parse in zip(examples, parser.parse([one.words for one in examples]), strict=True):
        words, predicate = [*example.words], example.predicate
        pairs = [*pairs_of(parser, parse, {predicate.word: predicate}, range(len(words)))]
        yield Annotated([*map(normalize, words)], [(predicate.word, predicate.concept)], pairs, is_example=True)


def pairs_of(
    parser: Parser, parse: AmrParse, predicates: Mapping[int, Predicate], heads: Sequence[int]
) -> Iterator[tuple[int, int, str, int]]:
    """Yield the pairs of words of a sentence with their roles, from the predicates whose frame the model finds.

    predicates: word → its predicate; heads: of each word, the number of its head, itself where there is no tree
    """
    found = Candidates(parse.graph, parse.alignments, parser.resources.table.system.read(parse.sentence.tokens))
    for node, word in found.frames.items():
        one = predicates.get(word)
        if one is not None and lemma_of(one.concept) == lemma_of(parse.graph.labels[node]):
            roles = roles_of(found, parse, node, one, heads)
            for other in found.others:
                if may_be_argument(other[1] - word):
                    yield word, other[1], one.concept, roles.get(other, NO_ROLE)


def roles_of(
    found: Candidates, parse: AmrParse, frame: int, predicate: Predicate, heads: Sequence[int]
) -> dict[tuple[int, int], int]:
    """Return the roles of nodes, (node, word) → role, that the arguments of a predicate give.

    Of the nodes of an argument's words, one has its role: the first that the frame has as an argument, that has the
    word which heads the others in the tree, that is below none of them, or any. The others are not counted.
    """
    arguments = {edge.target for edge in parse.graph.edges if edge.source == frame and role_of(edge.role) != OTHER_ROLE}
    places = {one: [one[1]] if one[0] < 0 else parse.alignments[one[0]] for one in found.others if one[0] != frame}
    roles: dict[tuple[int, int], int] = {}
    for label, (first, last) in predicate.arguments:
        words = range(first, last + 1)
        inside = [one for one, of_node in places.items() if any(place in words for place in of_node)]
        tops = {word for word in words if heads[word] not in words}
        nodes = {node for node, _ in inside}
        below = {edge.target for edge in parse.graph.edges if edge.source in nodes}
        by_rule = (
            [one for one in inside if one[0] in arguments],
            [one for one in inside if not tops.isdisjoint(places[one])],
            [one for one in inside if one[0] not in below],
            inside,
        )
        chosen = next((some[0] for some in by_rule if some), None)
        if chosen is not None and roles.get(chosen, SKIPPED) in (OTHER_ROLE, SKIPPED):
            roles[chosen] = role = role_of(label)
            for one in inside:
                roles.setdefault(one, NO_ROLE if role == OTHER_ROLE else SKIPPED)
    return roles


def of_banks(parser: Parser, paths: Sequence[str], inventory: frozenset[str]) -> Iterator[Annotated]:
    """Yield what AMR banks teach. A pronoun without a node may be any argument."""
    concepts = {*map(concept_of, inventory)}
    entries = [entry for path in paths for entry in read_bank(path, [])]
    for entry in aligned(entries, train_table(entries)):
        graph, tokens = entry.amr, entry_tokens(entry)
        found = Candidates(graph, entry.alignments, parser.resources.table.system.read(tokens))
        roles = {(edge.source, edge.target): role_of(edge.role) for edge in graph.edges}
        frames = [(node, word) for node, word in found.frames.items() if graph.labels[node] in concepts]
        pairs = []
        for (node, word), (other, place) in product(frames, found.others):
            if may_be_argument(place - word):
                role = roles.get((node, other), NO_ROLE) if other >= 0 else SKIPPED
                pairs.append((word, place, graph.labels[node], role))
        yield Annotated([*map(normalize, tokens)], [(word, graph.labels[node]) for node, word in frames], pairs)


def word_vectors(parser: Parser, sentences: Sequence[Sequence[str]]) -> Tensor:
    """Return the vectors of the words of all sentences, as the labeler reads them."""
    found: list[Tensor] = [torch.empty(0)] * len(sentences)
    order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
    for first in range(0, len(order), BATCH):
        batch = order[first : first + BATCH]
        with torch.inference_mode():
            out = parser.model.encode(parser.net_input([sentences[i] for i in batch]))
        assert out.read is not None
        for i, *vectors in zip(batch, out.words, out.read, strict=True):
            found[i] = torch.cat(vectors, -1)[: len(sentences[i])].clone()
    return torch.cat(found)


class Training:
    """The examples of the three tasks, and the weights that they train."""

    def __init__(self, vectors: Tensor, data: Sequence[Annotated], frames: Sequence[str], width: int, dropout: float):
        self.mean, self.deviation = vectors.mean(0), vectors.std(0) + 1e-5
        self.vectors, self.drop = (vectors - self.mean) / self.deviation, nn.Dropout(dropout)
        inputs = vectors.size(1)
        deviations = dict.fromkeys(("heads", "others", "moods"), inputs**-0.5)
        deviations |= {"senses": 0.02, "frames": 0.2, "hidden": (3 * width) ** -0.5}
        shapes = RoleLabeler.shapes(len(frames), inputs, width)
        weights = {"forms": torch.zeros(shapes.pop("forms"))}
        weights |= {name: torch.randn(shape) * deviations.get(name, 0.05) for name, shape in shapes.items()}
        for name in _WITH_BIAS:
            weights[name][:, -1] = 0  # the bias
        self.labeler = RoleLabeler(frames, {name: value.requires_grad_() for name, value in weights.items()})
        starts = [0, *accumulate(len(one.words) for one in data[:-1])]
        self._add_senses([(i, one) for i, one in zip(starts, data, strict=True)])
        self._add_pairs(
            [(i + h, i + o, *more) for i, one in zip(starts, data, strict=True) for h, o, *more in one.pairs]
        )
        moods = [(i + place, place > 0, mood) for i, one in zip(starts, data, strict=True) for place, mood in one.moods]
        self.verbs, self.has_before, self.moods = torch.tensor(moods, dtype=torch.long).view(-1, 3).t()
        self.forms = torch.cat([RoleLabeler.contexts(one.words, (place for place, _ in one.moods)) for one in data])

    def _add_senses(self, data: Sequence[tuple[int, Annotated]]) -> None:
        """Add the predicates of sentences, each with the number of its first word among all."""
        numbers, rows, words, gold = self.labeler.numbers, [], [], []
        is_example, counts = [], (Counter[str](), Counter[str]())  # concepts of examples, and of others
        for start, one in data:
            counts[not one.is_example].update(concept for _, concept in one.senses)
            for word, concept in one.senses:
                following = [form.lower() for form in one.words[word + 1 : word + 1 + WINDOW]]
                rivals = self.labeler.rivals(lemma_of(concept), following)
                rows.append(torch.tensor(rivals))
                gold.append(rivals.index(numbers[concept]))
                words.append(start + word)
                is_example.append(one.is_example)
        self.predicates, self.gold, self.of_examples = map(torch.tensor, (words, gold, is_example))
        self.senses = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=-1)
        examples, others = (torch.tensor([some[one] + 1.0 for one in self.labeler.frames]) for some in counts)
        self.excess = (examples / others).log()  # by how much examples show a sense more often

    def _add_pairs(self, pairs: Sequence[tuple[int, int, str, int]]) -> None:
        numbers = self.labeler.numbers
        known = [
            (head, other, distance_class(other - head), numbers[frame], role) for head, other, frame, role in pairs
        ]
        *self.pairs, self.roles = torch.tensor(known).t()
        has_role = self.labeler.functions[self.pairs[-1], self.roles.clamp(0, ROLES - 1)] > 0
        self.counted = (self.roles != SKIPPED) & ((self.roles >= ROLES) | has_role)

    def map(self, words: Tensor, name: str) -> Tensor:
        return self.labeler.linear(self.drop(self.vectors[words]), name)

    def sense_loss(self, rows: Tensor) -> Tensor:
        some = self.senses[rows]
        scores = self.labeler.senses(self.map(self.predicates[rows], "heads")[:, None], some.clamp(min=0))
        scores = scores + self.excess[some] * self.of_examples[rows, None]
        return F.cross_entropy(scores.masked_fill(some < 0, -1e9), self.gold[rows])

    def role_loss(self, rows: Tensor) -> Tensor:
        head, other, distance, frame = (some[rows] for some in self.pairs)
        places = torch.arange(len(rows))
        pairs = torch.stack([places, places, distance, frame])
        scores = self.labeler.roles(self.map(head, "heads"), self.map(other, "others"), pairs, self.drop)
        return F.nll_loss(scores, self.roles[rows])

    def mood_loss(self, rows: Tensor) -> Tensor:
        words, has_before = self.verbs[rows], self.has_before[rows, None]
        own, before = (self.map(words - i, "moods").chunk(2, -1)[i] for i in range(2))
        odds = self.labeler.imperatives(own, before * has_before, self.forms[rows])
        return F.binary_cross_entropy_with_logits(odds, self.moods[rows].float())

    def run(self, epochs: int, rate: float) -> RoleLabeler:
        """Return the trained labeler. Batches of the tasks alternate at random."""
        weights = self.labeler.weights
        tables = [weights["senses"], weights["frames"]]
        others = [value for name, value in weights.items() if name not in ("senses", "frames", "forms")]
        groups = [{"params": tables, "weight_decay": DECAY}, {"params": others}, {"params": [weights["forms"]]}]
        optimizer = torch.optim.AdamW(groups, lr=rate)
        several = ((self.senses >= 0).sum(1) > 1).nonzero()[:, 0]
        all_tasks = (
            (self.sense_loss, several, SENSES),
            (self.role_loss, self.counted.nonzero()[:, 0], PAIRS),
            (self.mood_loss, torch.arange(len(self.verbs)), MOODS),
        )
        tasks = [task for task in all_tasks if len(task[1])]
        steps = epochs * sum(-(-len(rows) // size) for _, rows, size in tasks)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, [2 * rate, rate, FASTER * rate], steps, pct_start=0.1)
        for epoch in range(1, epochs + 1):
            parts = [(loss, some) for loss, rows, size in tasks for some in rows[torch.randperm(len(rows))].split(size)]
            values: dict[str, list[float]] = defaultdict(list)
            for i in torch.randperm(len(parts)).tolist():
                loss, rows = parts[i]
                optimizer.zero_grad()
                value = loss(rows)
                value.backward()
                nn.utils.clip_grad_norm_(weights.values(), 1.0)
                optimizer.step()
                schedule.step()
                values[loss.__name__].append(value.item())
            means = ", ".join(f"{name} {sum(some) / len(some):.4f}" for name, some in sorted(values.items()))
            print(f"epoch {epoch}: {means}", file=sys.stderr)
        final = {name: value.detach() for name, value in weights.items()}
        for name in ("heads", "moods", "others"):  # vectors of parsing are not normalized
            matrix = final[name][:, :-1] / self.deviation
            final[name] = torch.cat([matrix, (final[name][:, -1] - matrix @ self.mean)[:, None]], 1)
        return RoleLabeler(self.labeler.frames, final)


def train(arguments: argparse.Namespace) -> None:
    """Train the labeler of a model, and store it with the model."""
    torch.manual_seed(arguments.seed)
    inventory, examples = read_frames(arguments.frames)
    excluded = Excluded(read_texts(arguments.exclude))
    examples = [one for one in examples if " ".join(one.words) not in excluded]
    annotations = read_annotations([arguments.propbank])
    sentences = [one for one in read_conllu(arguments.treebank) if one.id in annotations]
    if not sentences:
        raise InputError(f"{arguments.propbank} has no sentence of {arguments.treebank}: are both of one part?")
    exported = read_config(arguments.model)
    parser = of_kind(Parser.load(arguments.model, precision="fp32"), "AMRs")
    if (encoder := parser.model.labeled_encoder) is None:
        raise InputError(f"{arguments.model}: only models without tags whose words attend to each other get a labeler")
    parser.model.labeler, encoder.keeps_read = None, True
    data = [
        *of_treebank(parser, sentences, annotations, inventory),
        *of_examples(parser, examples),
        *of_banks(parser, arguments.banks, inventory),
    ]
    seen = {lemma_of(concept) for one in data for _, concept in one.senses}
    frames = [concept for concept in sorted(map(concept_of, inventory)) if lemma_of(concept) in seen]
    if not any(one.pairs for one in data):
        raise InputError(f"{arguments.model} finds no predicate of {arguments.propbank} that {arguments.frames} has")
    vectors = word_vectors(parser, [one.words for one in data])
    training = Training(vectors, data, frames, arguments.width, arguments.dropout)
    training.run(arguments.epochs, arguments.lr).save(Path(arguments.model, LABELER))
    write_config(arguments.model, exported)


if __name__ == "__main__":
    of = options(__doc__)
    of.add_argument("model", metavar="MODEL")
    of.add_argument("--treebank", required=True, metavar="TRAIN.conllu", help="with UPOS tags, features and trees")
    of.add_argument("--propbank", required=True, metavar="TRAIN.tsv", help="its annotation (run/recipes/propbank.py)")
    of.add_argument("--frames", required=True, metavar="FRAMES.jsonl", help="PropBank's rolesets")
    of.add_argument("--banks", nargs="+", default=[], metavar="GOLD.amr", help="AMRs to learn from, too")
    of.add_argument("--exclude", nargs="+", default=[], metavar="FILE", help="texts that no example may have")
    of.add_argument("--width", type=int, default=96, metavar="N", help="size of hidden layers")
    of.add_argument("--epochs", type=int, default=9, metavar="N")
    of.add_argument("--lr", type=float, default=3e-3, metavar="RATE", help="highest learning rate")
    of.add_argument("--dropout", type=float, default=0.3, metavar="P")
    of.add_argument("--seed", type=int, default=1, metavar="N")
    run(of, train)
