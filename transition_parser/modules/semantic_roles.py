"""A semantic role labeler over the word vectors of a model of AMRs: senses of frames, roles of arguments, imperatives.

AMRs show few examples of most frames. PropBank's annotation of a treebank and its examples of each frame have many
more, without graphs; the labeler is trained on them once the model is trained (`run/recipes/semantic_roles.py`).
"""

from __future__ import annotations

import json
import math
import os
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from transition_parser.base.errors import input_error, shortened
from transition_parser.base.files import replacing
from transition_parser.base.model_files import TEXTS, is_texts
from transition_parser.modules.encoder import EncoderOut
from transition_parser.text.columns import IMPERATIVE, OTHER, UNSURE
from transition_parser.text.frames import FUNCTIONS, packaged, role_functions
from transition_parser.transitions.amr_state import lemma_of

ROLES = 6  # ARG0 to ARG5
NO_ROLE, OTHER_ROLE = ROLES, ROLES + 1  # the classes after them: no argument, an argument with another label
FARTHEST = 60  # words between a frame and an argument
_NEAR = 12  # classes of distances on either side; `distance_class`
_AT_ONCE = 4096  # pairs of words, for memory
_LACKED = -30.0  # score of a role that the frame does not have
_MOODS = 32  # hidden units
_FORMS = 1 << 15  # rows for the forms around a word; `contexts`
_LEAST, _MOST = -2.0, -1.25  # log-odds of moods, chosen on EWT dev: `other` below, `imperative` above


class Readings(NamedTuple):
    """The words of a sentence as a labeler reads them, and their moods."""

    labeler: RoleLabeler
    vectors: Tensor  # of the words of a whole batch, (words, inputs)
    start: int  # the number of the sentence's first word in the batch
    moods: Sequence[str]


class RoleLabeler:
    """The scores of senses, of roles and of imperatives.

    frames: the rolesets that it knows (`give-01`); of their lemmas all senses
    weights: in fp32, by name; see `shapes`
    """

    def __init__(self, frames: Iterable[str], weights: Mapping[str, Tensor]) -> None:
        self.frames, self.weights = tuple(frames), weights
        self.width = weights["distance"].size(1)
        self.numbers = {frame: number for number, frame in enumerate(self.frames)}
        self.of_lemma: dict[str, list[int]] = {}  # lemma of a frame → the numbers of its senses
        for number, frame in enumerate(self.frames):
            self.of_lemma.setdefault(lemma_of(frame), []).append(number)
        known = role_functions()
        functions = [known.functions[known.classes.get(frame, 0)][:ROLES] for frame in self.frames]
        self.functions = torch.tensor(functions).view(-1, ROLES)  # of each role, from 1 on; 0: the frame lacks the role
        self._lacks = torch.where(self.functions > 0, 0.0, _LACKED)

    @staticmethod
    def shapes(frames: int, inputs: int, width: int) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the weights, by name. Where the last column is a bias, the size has `+ 1`.

        inputs: size of a word's vector, which is what the encoder returns, and what its layers read
        """
        return {
            "heads": (3 * width, inputs + 1),  # of the word of a frame: for its sense, as a term, as a factor
            "others": (3 * width, inputs + 1),  # of another word: as a term, as a factor of the first, of the frame
            "senses": (frames, width + 1),
            "frames": (frames, 2 * width),  # as a term, as a factor
            "distance": (2 * _NEAR + 1, width),
            "hidden": (width, 3 * width + 1),
            "roles": (ROLES + 2 + len(FUNCTIONS) + 1, width + 1),
            "moods": (2 * _MOODS, inputs + 1),  # of any word, of the word before it
            "imperative": (1, _MOODS + 1),
            "forms": (_FORMS,),  # by how much forms around a word change the log-odds that it is an imperative
        }

    def save(self, path: str | os.PathLike) -> None:
        """Write the labeler into a file, in half precision."""
        weights = {name: value.detach().half().contiguous() for name, value in self.weights.items()}
        with replacing(path) as temporary:
            save_file(weights, temporary, {"frames": json.dumps(self.frames)})

    @classmethod
    def load(cls, path: Path, inputs: int) -> RoleLabeler:
        """Read the file of a model whose words have vectors of size `inputs`. Raises `InputError` for any other."""
        try:
            with safe_open(path, "pt") as file:
                weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no dictionary)
                frames = json.loads((file.metadata() or {})["frames"])
            if not is_texts(frames):
                raise ValueError(f"its frames are not {TEXTS.what}")
            shapes = {name: tuple(value.shape) for name, value in weights.items()}
            width = sum(shapes["distance"][1:2])
            if shapes != cls.shapes(len(frames), inputs, width):
                raise ValueError(f"its tensors have the shapes {shapes}")
            if odd := next(
                (name for name, value in weights.items() if not (value.is_floating_point() and value.isfinite().all())),
                None,
            ):
                raise ValueError(f"{odd} holds other values than finite floating-point numbers")
            return cls(frames, {name: value.float() for name, value in weights.items()})
        except (SafetensorError, KeyError, ValueError, TypeError, RecursionError) as error:
            said = shortened(str(error), 300)
            problem = f"is not the semantic role labeler of this model ({type(error).__name__}: {said})"
            raise input_error(f"{problem}: make it with run/recipes/semantic_roles.py, or remove it", path) from None

    def read(self, encoder_out: EncoderOut, sentences: Iterable[Sequence[str]]) -> list[Readings]:
        """Return the readings of each sentence of a batch."""
        assert encoder_out.read is not None
        vectors = torch.cat([encoder_out.words.float(), encoder_out.read.float()], -1).cpu()
        own, before = self.linear(vectors, "moods").split(_MOODS, -1)
        before, texts = F.pad(before[:, :-1], (0, 0, 1, 0)), [*sentences]
        verbs = [[place for place, word in enumerate(words) if may_be_imperative(word)] for words in texts]
        places = [(i, place) for i, of_text in enumerate(verbs) for place in of_text]
        flat, length, moods = vectors.flatten(0, 1), vectors.size(1), [[OTHER] * len(words) for words in texts]
        rows, forms = [i * length + place for i, place in places], torch.cat([*map(self.contexts, texts, verbs)])
        odds = self.imperatives(own.flatten(0, 1)[rows], before.flatten(0, 1)[rows], forms)
        for (i, place), value in zip(places, odds.tolist(), strict=True):
            moods[i][place] = OTHER if value < _LEAST else IMPERATIVE if value > _MOST else UNSURE
        return [Readings(self, flat, i * length, one) for i, one in enumerate(moods)]

    def rivals(self, lemma: str, following: Iterable[str]) -> list[int]:
        """Return the senses of a lemma, and of its verb with any particle that follows: *take*, *take off*."""
        verb = lemma.partition("-")[0]
        family = [verb, *(f"{verb}-{word}" for word in following)]
        return [sense for one in (family if lemma in family else [lemma]) for sense in self.of_lemma.get(one, ())]

    def senses(self, heads: Tensor, frames: Sequence[int] | Tensor) -> Tensor:
        """Return the scores (…) of the senses `frames`, (…), of words (…, 3 · width) that were mapped by "heads"."""
        rows = self.weights["senses"][frames]
        return (heads[..., : self.width] * rows[..., :-1]).sum(-1) + rows[..., -1]

    def roles(
        self, heads: Tensor, others: Tensor, pairs: Tensor, dropout: Callable[[Tensor], Tensor] = lambda x: x
    ) -> Tensor:
        """Return the log-probabilities (N, ROLES + 2) of the roles of N words for N frames.

        heads: (H, 3 · width), words of frames that were mapped by "heads"; others: (O, 3 · width), mapped by "others"
        pairs: (4, N): the row of `heads`, the row of `others`, the class of their distance, the number of the frame
        dropout: in training
        """
        width = self.width
        (_, terms, factors), (other_terms, *other_factors) = (x.split(width, 1) for x in (heads, others))
        found = []
        for head, other, distance, frame in (some.unbind() for some in pairs.split(_AT_ONCE, 1)):
            of_frames = dropout(self.weights["frames"][frame])
            added = terms[head] + other_terms[other] + self.weights["distance"][distance] + of_frames[:, :width]
            products = factors[head] * other_factors[0][other], of_frames[:, width:] * other_factors[1][other]
            read = torch.cat([added.relu(), *products], 1)
            scores = self.linear(dropout(self.linear(read, "hidden")), "roles")
            of_roles = scores[:, :ROLES] + scores.gather(1, self.functions[frame] + ROLES + 2) + self._lacks[frame]
            found.append(torch.cat([of_roles, scores[:, ROLES : ROLES + 2]], 1).log_softmax(1))
        return torch.cat(found)

    def imperatives(self, own: Tensor, before: Tensor, forms: Tensor) -> Tensor:
        """Return the log-odds (N,) that words are imperatives.

        own, before: (N, hidden units), the words and the words before them, mapped by "moods"
        forms: (N, 7), from `contexts`
        """
        return self.linear((own + before).relu(), "imperative")[:, 0] + self.weights["forms"][forms].sum(1)

    @staticmethod
    def contexts(words: Sequence[str], places: Iterable[int]) -> Tensor:
        """Return the rows (N, 7) of "forms" for N words: forms from two before a word to one after it, and pairs."""
        forms, rows = ["", "", *map(str.lower, words), ""], []
        for place in places:
            around = forms[place : place + 4]
            grams = enumerate((*around, *map(" ".join, pairwise(around))))
            rows.append([zlib.crc32(f"{kind} {gram}".encode("utf-8", "replace")) % _FORMS for kind, gram in grams])
        return torch.tensor(rows, dtype=torch.long).view(-1, 7)

    def linear(self, vectors: Tensor, name: str) -> Tensor:
        """Return the vectors mapped by a matrix of the weights, whose last column is the bias."""
        weight = self.weights[name]
        return F.linear(vectors, weight[:, :-1], weight[:, -1])


def may_be_imperative(word: str) -> bool:
    """Return True for a word that has a frame by itself; the labeler learns and says the moods of these alone."""
    return word.lower() in packaged().rolesets


def core_role(label: str) -> int | None:
    """Return the number of a core role (`ARG0`, …), None for other labels."""
    is_core = label[:3] == "ARG" and label[3:].isdecimal() and int(label[3:]) < ROLES
    return int(label[3:]) if is_core else None


def may_be_argument(distance: int) -> bool:
    """Return True where a word at this distance from a frame may be its argument."""
    return 0 < abs(distance) <= FARTHEST


def distance_class(distance: int) -> int:
    """Return the class of a distance in words, from a frame to another word."""
    near = min(int(2 * math.log2(max(abs(distance), 1))), _NEAR)
    return _NEAR + (near if distance > 0 else -near)
