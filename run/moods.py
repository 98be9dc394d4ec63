"""Make `moods.json` of a model of AMRs: the weights that tell from its encoder's output which words are imperatives.

    python run/moods.py MODEL TRAIN.conllu [--dev DEV.conllu]

MODEL: a folder of an exported model, which gets the file, or a new one for new weights. The words with Mood=Imp in the
treebank's features teach it; the model itself stays as it is. --dev: print how many imperative verbs are found.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from transition_parser import Parser
from transition_parser.base.errors import InputError
from transition_parser.base.files import replacing
from transition_parser.data.moods import FILE_NAME, IMPERATIVE, Moods, features_of
from transition_parser.graphs.conllu import Sentence, read_conllu
from transition_parser.modules.encoder import EncoderOut
from transition_parser.storage.exports import read_config, write_config
from transition_parser.text.frames import packaged
from transition_parser.text.pieces import normalise

BATCH = 32  # sentences
LEAST_COUNT, LEAST_WEIGHT = 3, 0.1  # of features that are kept
PENALTIES = 1e-5, 1e-3  # on the squared weights of features, and of the encoder's output in standard deviations
STEPS = 150


def encoded(parser: Parser, sentences: Sequence[Sequence[str]]) -> Iterator[tuple[EncoderOut, Sequence[Sequence[str]]]]:
    """Yield the encoder's output for batches of sentences of similar length, with their words."""
    by_length = sorted(sentences, key=len)
    for first in range(0, len(by_length), BATCH):
        batch = by_length[first : first + BATCH]
        with torch.inference_mode():
            yield parser.model.encode(parser.net_input(batch)), batch


def is_imperative(feats: str) -> bool:
    return "Mood=Imp" in feats.split("|")


def fitted(vectors: Tensor, features: Sequence[Sequence[str]], targets: Tensor) -> Moods:
    """Return the logistic regression of targets (N,) on vectors (N, dim) and features."""
    counts = Counter(chain.from_iterable(features))
    known = {feature: i for i, feature in enumerate(sorted(one for one in counts if counts[one] >= LEAST_COUNT))}
    ids = [[known[feature] for feature in of_word if feature in known] for of_word in features]
    flat, starts = torch.tensor([*chain.from_iterable(ids)]), torch.tensor([0, *map(len, ids)]).cumsum(0)[:-1]
    mean, deviation = vectors.mean(0), vectors.std(0)
    standard = (vectors - mean) / deviation
    weights, vector, bias = (torch.zeros(n, requires_grad=True) for n in (len(known), vectors.size(1), 1))
    optimizer = torch.optim.LBFGS([weights, vector, bias], max_iter=STEPS, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        odds = F.embedding_bag(flat, weights[:, None], starts, mode="sum")[:, 0] + standard @ vector + bias
        penalty = PENALTIES[0] * weights.square().sum() + PENALTIES[1] * vector.square().sum()
        value = F.binary_cross_entropy_with_logits(odds, targets) + penalty
        value.backward()
        return value

    optimizer.step(loss)
    of_vector = (vector / deviation).detach()
    kept = {one: round(weight, 2) for one, weight in zip(known, weights.tolist(), strict=True)}
    return Moods(
        round((bias.detach() - of_vector @ mean).item(), 4),
        [round(weight, 4) for weight in of_vector.tolist()],
        {one: weight for one, weight in kept.items() if abs(weight) >= LEAST_WEIGHT},
    )


def read(path: str) -> tuple[list[list[str]], dict[tuple[str, ...], Sentence]]:
    """Return the sentences of a treebank as the network reads them, and words → gold sentence."""
    gold = {tuple(map(normalise, one.forms)): one for one in read_conllu(path)}
    return [*map(list, gold)], gold


def make(arguments: argparse.Namespace) -> None:
    """Learn the weights, and store them with the model."""
    parser: Parser = Parser.load(arguments.model, precision="fp32", kind="AMRs")
    sentences, gold = read(arguments.train)
    vectors, features, targets = [], [], []
    for out, batch in encoded(parser, sentences):
        for of_words, words in zip(out.words, batch, strict=True):
            forms = [word.lower() for word in words]
            places = [place for place, form in enumerate(forms) if form in packaged().rolesets]
            vectors.append(of_words[places].clone())
            features += [[*features_of(forms, place)] for place in places]
            targets += [is_imperative(gold[tuple(words)].words[place].feats) for place in places]
    moods = fitted(torch.cat(vectors), features, torch.tensor(targets).float())
    if arguments.dev:
        sentences, gold = read(arguments.dev)
        found = Counter(verbs=0, found=0, others=0)
        for out, batch in encoded(parser, sentences):
            for of_words, words in zip(moods.predicted(out.words, batch), batch, strict=True):
                for word, mood in zip(gold[tuple(words)].words, of_words, strict=True):
                    if is_imperative(word.feats) and word.upos == "VERB":
                        found.update(verbs=1, found=mood == IMPERATIVE)
                    else:
                        found.update(others=mood == IMPERATIVE)
        print(json.dumps(found))
    architecture, values, calibration = read_config(arguments.model)
    text = json.dumps(moods._asdict(), ensure_ascii=False, indent=0)
    with replacing(arguments.model / FILE_NAME) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")
    write_config(arguments.model, architecture, values, calibration)


def main() -> None:
    """Run the command."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("model", type=Path)
    options.add_argument("train", metavar="TRAIN.conllu")
    options.add_argument("--dev", metavar="DEV.conllu")
    try:
        make(options.parse_args())
    except (InputError, OSError) as error:
        sys.stderr.write(f"moods.py: error: {error}\n")
        sys.exit(2)


if __name__ == "__main__":
    main()
