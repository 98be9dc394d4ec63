"""Give a trained model another pretrained encoder, so that a training can start from it.

    python run/recipes/replace_encoder.py MODEL ENCODER TEXT ... -o FOLDER [--layers 1-12] [--sentences N]

What words get from the encoder of MODEL is predicted from the layers of ENCODER, by a ridge regression on sentences of
TEXT (CoNLL-U or AMR banks, whose graphs are not read). FOLDER is the new model: MODEL with ENCODER, the regression as
its projection, and new adapters, which are 0 at first. Then `fairseq-train … --start-from FOLDER`, with the same
`--pretrained` and `--pretrained-layers`, trains it.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save
from shared import NewTexts, options, run
from silver_trees import WORDS, sentences_of
from torch import Tensor, nn

from transition_parser.base.errors import InputError, input_error
from transition_parser.base.files import new_files
from transition_parser.data.resources import WORD_FILES, Resources
from transition_parser.models.registry import architecture_of
from transition_parser.modules.pretrained import PretrainedWords, vectors_of
from transition_parser.storage.checkpoints import load_model, model_path
from transition_parser.storage.exports import WEIGHTS, read_config, write_config
from transition_parser.storage.weights import own_names

CHUNK = 256  # sentences that are read at once
HELD_OUT = 300  # sentences that choose the penalty
PENALTIES = (0.01, 0.03, 0.1, 0.3)  # on squared weights, for each word


def fitted(old: PretrainedWords, new: PretrainedWords, sentences: Sequence[Sequence[str]]) -> tuple[Tensor, float]:
    """Return the weight of `new.project` that comes closest to the output of `old`, and the unexplained variance."""
    weight, width = old.project.weight.detach(), new.width
    squares, products, words = torch.zeros(width, width), torch.zeros(width, len(weight)), 0

    def read(some: Sequence[Sequence[str]]) -> tuple[Tensor, Tensor]:
        inputs, outputs = (torch.cat([*map(torch.from_numpy, vectors_of(one, some))]).float() for one in (new, old))
        return inputs, outputs @ weight.T

    held_out = read(sentences[:HELD_OUT])
    for first in range(HELD_OUT, len(sentences), CHUNK):
        inputs, outputs = read(sentences[first : first + CHUNK])
        squares.addmm_(inputs.T, inputs)
        products.addmm_(inputs.T, outputs)
        words += len(inputs)
        print(f"{words} words", file=sys.stderr)
    tried = []
    for penalty in PENALTIES:
        penalised = squares.double()
        penalised.diagonal().add_(penalty * words)
        found = torch.cholesky_solve(products.double(), torch.linalg.cholesky(penalised)).float()
        inputs, outputs = held_out
        rest = (inputs @ found - outputs).square().sum() / (outputs - outputs.mean(0)).square().sum()
        tried.append((float(rest), found.T.contiguous()))
    rest, best = min(tried, key=lambda one: one[0])
    return best, rest


def replace_encoder(arguments: argparse.Namespace) -> None:
    """Write the folder of the new model, and print a summary."""
    folder = model_path(arguments.model)
    model, resources = load_model(arguments.model)
    name, values, _ = read_config(folder)
    old = model.encoder.inputs[PretrainedWords.name] if values.get("pretrained") else None
    if not isinstance(getattr(old, "project", None), nn.Linear):
        raise input_error("the model adds no vectors of a pretrained encoder to those of words", folder)
    changed = {"pretrained": arguments.encoder, "pretrained_layers": arguments.layers, "pretrained_sha256": ""}
    settings = architecture_of(name).options.of_config({**values, **changed}).completed()
    made = architecture_of(name).build(settings, resources).eval()
    new = made.encoder.inputs[PretrainedWords.name]
    texts = NewTexts(*WORDS)
    sentences = [one.forms for path in arguments.texts for one in sentences_of(path) if texts.let_pass(one)]
    random.Random(1).shuffle(sentences)
    sentences = sentences[: arguments.sentences]
    if len(sentences) < 2 * HELD_OUT:
        raise InputError(f"{len(sentences)} sentences of 4 to 60 words are too few: {2 * HELD_OUT} or more are needed")
    weight, rest = fitted(old, new, sentences)
    kept = {key: value for key, value in model.state_dict().items() if f".{PretrainedWords.name}." not in key}
    made.load_state_dict(kept, strict=False)
    new.project.weight.data, new.project.bias.data = weight, old.project.bias.detach().clone()
    whole = made.state_dict()
    weights = {key: whole[key].contiguous() for key, first in own_names(made).items() if key == first}
    with new_files(arguments.output) as temporary:
        (temporary / WEIGHTS).write_bytes(save(weights))
        Resources.copy(folder, temporary, settings.unread(WORD_FILES))
        resources.store_table(temporary)
        write_config(temporary, name, settings.as_config())
    print(f"{arguments.output}: {rest:.1%} of the variance of the old vectors is not explained by the new encoder")


if __name__ == "__main__":
    of = options(__doc__)
    of.add_argument("model", metavar="MODEL", help="exported model (name or folder) that reads words by an encoder")
    of.add_argument("encoder", metavar="ENCODER", help="the new encoder, as for --pretrained")
    of.add_argument("texts", type=Path, metavar="TEXT", nargs="+", help="CoNLL-U or an AMR bank")
    of.add_argument("-o", "--output", required=True, metavar="FOLDER", help="folder of the new model")
    of.add_argument("--layers", default="1-12", help="layers of the new encoder that are read (default: 1-12)")
    of.add_argument("--sentences", type=int, default=5000, metavar="N", help="sentences to read (default: 5000)")
    run(of, replace_encoder)
