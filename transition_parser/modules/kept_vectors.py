"""The word vectors of a corpus from a frozen pretrained encoder, computed once and kept on disk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from tqdm import tqdm

from transition_parser.base.machine import has_fast_bf16
from transition_parser.data.vector_store import VectorStore
from transition_parser.modules.pretrained import PieceIds, PretrainedWords

_WORDS = 2000  # the most words, padding included, that the encoder reads at once


def keep_vectors(encoder: PretrainedWords, sentences: Sequence[Sequence[str]], folder: Path, name: str) -> VectorStore:
    """Return the word vectors of sentences from a file in `folder`, after computing the missing vectors.

    A progress bar is shown on a terminal. The name of the file identifies the encoder, its layers and the words.
    Raises `InputError` if the vectors can't be written.

    sentences: normalised words.
    name: a part of the name of the file, such as the name of the split.
    """
    what = [encoder.sha256, list(encoder.layers), *sentences]
    key = hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]
    store = VectorStore(folder / f"pretrained.{name}.{key}.f16", [len(words) for words in sentences], encoder.width)
    if store.done < len(sentences):
        with tqdm(total=len(sentences), desc=f"pretrained encoder, {name}", unit="sentence", disable=None) as progress:
            store.fill(lambda some: _vectors(encoder, [sentences[i] for i in some]), progress.update)
    return store


@torch.inference_mode()
def _vectors(encoder: PretrainedWords, sentences: Sequence[Sequence[str]]) -> list[np.ndarray]:
    """Return the word vectors of each sentence, (words, width) float16."""
    device = next(encoder.parameters()).device
    results: list[np.ndarray] = [np.zeros((0, encoder.width), np.float16)] * len(sentences)
    order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
    while order:
        batch = [order.pop()]
        wide = len(sentences[batch[0]]) + 1
        while order and (len(batch) + 1) * wide <= _WORDS:
            batch.append(order.pop())
        pieces = PieceIds(**{n: t.to(device) for n, t in encoder.read([sentences[i] for i in batch]).items()})
        with torch.autocast(device.type, torch.bfloat16, enabled=has_fast_bf16(device)):
            vectors = encoder.vectors(pieces, len(batch) * wide).half().cpu().numpy().reshape(len(batch), wide, -1)
        for row, i in enumerate(batch):
            results[i] = vectors[row, : len(sentences[i])]
    return results
