"""Pretrained encoders that are none, in folders: BERTs and others with random weights, and the letters as pieces."""

from __future__ import annotations

import string
from pathlib import Path

import torch
from transformers import AutoConfig, AutoModel, BertTokenizer, RobertaTokenizer
from transformers.convert_slow_tokenizer import bytes_to_unicode

LAYERS, WIDTH, LONGEST = 3, 16, 24
_LETTERS = [*string.ascii_lowercase, *string.digits, *string.punctuation]


def make_encoder(folder: Path, seed: int = 1, dropout: float = 0.1, width: int = WIDTH, kind: str = "bert") -> Path:
    """Writes it; another seed gives other weights. It has two heads. kind: as transformers calls it; the first two
    positions of MPNet and RoBERTa are of no piece. The tokenizer of RoBERTa does not say how much it reads."""
    folder.mkdir(parents=True)
    pieces = _save_bytes(folder) if kind == "roberta" else _save_letters(folder)
    torch.manual_seed(seed)
    config = AutoConfig.for_model(
        kind, vocab_size=pieces, hidden_size=width, num_hidden_layers=LAYERS, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=LONGEST + 2 * (kind in ("mpnet", "roberta")),
        hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout,
    )  # fmt: skip
    AutoModel.from_config(config).save_pretrained(folder)
    return folder


def _save_letters(folder: Path) -> int:
    """Writes a tokenizer, and returns how many pieces it knows."""
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *_LETTERS, *(f"##{letter}" for letter in _LETTERS)]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    BertTokenizer(vocab=str(folder / "vocab.txt"), model_max_length=LONGEST).save_pretrained(folder)
    return len(vocabulary)


def _save_bytes(folder: Path) -> int:
    vocabulary = ["<s>", "<pad>", "</s>", "<unk>", *bytes_to_unicode().values(), "<mask>"]
    RobertaTokenizer(vocab={piece: i for i, piece in enumerate(vocabulary)}, merges=[]).save_pretrained(folder)
    return len(vocabulary)
