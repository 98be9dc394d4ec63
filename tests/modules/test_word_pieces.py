"""Words as the pieces of a pretrained encoder's tokenizer."""

import copy

import pytest
from transformers import AutoTokenizer

from tests.tiny_encoder import make_encoder
from transition_parser.modules.pretrained_encoder import WordPieces

WORDS = ["ab", "c", "", "a", "[SEP]", "\u200b", "☃", "abcdefgh" * 5]


class SlowTokenizer:
    """A tokenizer that is called as all are, and has no backend."""

    is_fast = False

    def __init__(self, tokenizer):
        self.call, self.unk_token_id = tokenizer, tokenizer.unk_token_id

    def __call__(self, *arguments, **options):
        return self.call(*arguments, **options)


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    return AutoTokenizer.from_pretrained(make_encoder(tmp_path_factory.mktemp("encoder") / "tiny"))


@pytest.mark.parametrize("most", [1, 4, 100])
@pytest.mark.parametrize("slow", [False, True], ids=["fast", "slow"])
def test_the_pieces_of_a_word_are_those_of_the_tokenizer(tokenizer, slow, most):
    """Also where the files of the encoder ask for truncation and padding."""
    tokenizer = copy.deepcopy(tokenizer)
    alone = [tokenizer(word, add_special_tokens=False)["input_ids"] or [tokenizer.unk_token_id] for word in WORDS]
    tokenizer.backend_tokenizer.enable_truncation(3)
    tokenizer.backend_tokenizer.enable_padding(length=3)
    pieces = WordPieces(SlowTokenizer(tokenizer) if slow else tokenizer, most)
    for words in (WORDS[:3], WORDS, WORDS[::-1]):
        assert pieces.of(words) == {word: ids[:most] for word, ids in zip(WORDS, alone, strict=True) if word in words}
