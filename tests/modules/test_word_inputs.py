"""Tags, domains and letters as inputs of words: each alone and all together, whatever else is in the batch."""

from types import SimpleNamespace

import pytest
import torch

from transition_parser.base.errors import InputError
from transition_parser.models.stack_transformer import StackTransformerOptions
from transition_parser.modules.tagging import check_tagged, tag_heads
from transition_parser.modules.word_inputs import TableInput
from transition_parser.modules.words import WordInputs
from transition_parser.text.columns import Columns

DIM = 6
COLUMNS = Columns({"upos": ("NOUN", "VERB"), "lemma": ("k0+|0+",), "domain": ("news", "law")})
WORDS = ("sleep", "dogs", "Dogs", "rare")  # of the training data; the last is too rare for a table of three
SENTENCES = [["Dogs", "sleep"], ["Donaudampfschifffahrtsgesellschaft"], ["Dogs"] * 5]
ANNOTATIONS = {
    "upos": [["NOUN", "VERB"], ["NOUN"], ["_"] * 5],
    "domain": [["news"], ["law"], ["_"]],
}
FLAGS = (
    {"read_tags": True},
    {"read_domain": True},
    {"character_width": 5},
    {"affix_width": 5},
    {"word_table": 3},
)
# the same with widths of their own: tables that are narrower than words are projected
NARROW = (
    {"read_tags": True, "tag_width": 2},
    {"word_table": 3, "word_table_width": 2},
)
CONCAT = {"join_inputs": "concat"}
ALL = {name: value for flags in FLAGS for name, value in flags.items()}
ALL_NARROW = ALL | {name: value for flags in NARROW for name, value in flags.items()}
RESOURCES = SimpleNamespace(columns=COLUMNS, frequent_words=WORDS)


def inputs_of(**flags) -> WordInputs:
    torch.manual_seed(1)
    inputs = WordInputs(StackTransformerOptions(**flags), DIM, RESOURCES)
    for parameter in inputs.parameters():
        torch.nn.init.normal_(parameter)
    return inputs.eval()


def added(inputs: WordInputs, sentences, annotations) -> torch.Tensor:
    wide = max(map(len, sentences)) + 1
    return inputs(torch.zeros(len(sentences), wide, DIM), inputs.read(sentences, annotations))


@pytest.mark.parametrize("flags", [*FLAGS, ALL, *NARROW, ALL | CONCAT, ALL_NARROW | CONCAT], ids=str)
def test_a_sentence_alone_and_among_others(flags):
    inputs = inputs_of(**flags)
    together = added(inputs, SENTENCES, ANNOTATIONS)
    assert together.abs().sum() > 0
    for i, sentence in enumerate(SENTENCES):
        alone = added(inputs, [sentence], {name: [column[i]] for name, column in ANNOTATIONS.items()})
        assert torch.allclose(alone[0, : len(sentence)], together[i, : len(sentence)], atol=1e-6)


def side_by_side(inputs: WordInputs, sentence: int, word: int) -> list[float]:
    """The vector of a word of SENTENCES, by loops over the weights: tags, corpora, letters, affixes, tables."""
    form = SENTENCES[sentence][word]
    (tag,) = COLUMNS.ids("upos", [ANNOTATIONS["upos"][sentence][word]])
    found = [inputs["tags"].embed.weight[tag].tolist()]
    domains = inputs["domain"].embed.weight[1:].tolist()
    (domain,) = COLUMNS.ids("domain", ANNOTATIONS["domain"][sentence])
    found.append(domains[domain - 1] if domain else [sum(pair) / len(domains) for pair in zip(*domains, strict=True)])
    letters = inputs["characters"]
    read = letters.embed(letters.read([[form]], {})["bytes"][1:])  # after the empty word
    size = len(form.encode())
    filters = letters.convolve(read.transpose(1, 2))[0].relu()
    found.append(filters[:, :size].amax(1).tolist())
    affixes = inputs["affixes"]
    rows = affixes.read([[form]], {})["affixes"][1].tolist()
    found.append([sum(column) for column in zip(*affixes.embed.weight[rows].tolist(), strict=True)])
    rows = {"sleep": 1, "dogs": 2, "Dogs": 3}
    found.append(inputs["table"].embed.weight[rows.get(form, 0)].tolist())
    return [number for part in found for number in part]


@pytest.mark.parametrize("pieces", [True, False])
def test_inputs_stand_side_by_side(pieces):
    inputs = inputs_of(**ALL_NARROW, **CONCAT, no_pieces=not pieces)
    own = [2, DIM, 2 * 5, 5, 2]
    assert [module.output_width for module in inputs.values()] == own
    assert inputs.width == DIM * pieces + sum(own)
    x = torch.randn(3, 6, DIM)
    found = inputs(x, inputs.read(SENTENCES, ANNOTATIONS))
    assert found.shape == (3, 6, inputs.width)
    for i, words in enumerate(SENTENCES):
        for j, form in enumerate(words):
            wanted = [*(x[i, j].tolist() if pieces else ()), *side_by_side(inputs, i, j)]
            if len(form) <= 24:  # the letters in between are left out of longer words
                assert torch.allclose(found[i, j], torch.tensor(wanted), atol=1e-4)


def test_tags_are_masked_outside_training_and_corpora_in_training():
    inputs = inputs_of(**ALL, tag_loss=0.1, tag_dropout=0.4, domain_dropout=0.1)
    assert inputs.masked(training=True) == {"upos": 0.4, "domain": 0.1}
    assert inputs.masked(training=False) == {"upos": 1.0, "domain": 0.0}
    assert inputs.given_columns == []


def test_tags_that_are_not_predicted_are_never_masked_and_must_be_given():
    inputs = inputs_of(**ALL, tag_dropout=0.4, domain_dropout=0.1)
    assert inputs.masked(training=True) == {"upos": 0.0, "domain": 0.1}
    assert inputs.masked(training=False) == {"upos": 0.0, "domain": 0.0}
    assert inputs.given_columns == ["upos"]


def test_affixes_are_shared_by_words_in_any_case():
    inputs = inputs_of(affix_width=4)
    (_empty, *rows) = inputs["affixes"].read([["Walking", "walking", "talking", "talked"]], {})["affixes"].tolist()
    shared = [len({*rows[0]} & {*row}) for row in rows]
    assert shared == [8, 8, 5, 0]  # the word, two prefixes and five suffixes; "talking" has the same suffixes
    assert len({place // 2048 for place in rows[0]}) == 8  # affixes of each length have rows of their own


@pytest.mark.parametrize("dropout", [0.0, 0.5, 1.0])
def test_only_training_hides_whole_words(dropout):
    inputs = inputs_of(affix_width=4, affix_dropout=dropout)
    words = [[f"word{i}" for i in range(200)]]
    affixes = inputs["affixes"]
    with torch.no_grad():
        affixes.embed.weight[:2048] = 0.0  # of whole words
        hidden = added(inputs, words, {})
        torch.nn.init.normal_(affixes.embed.weight[:2048])
        plain = added(inputs.eval(), words, {})
        trained = added(inputs.train(), words, {})
    same = (trained == plain).all(-1)[0, :-1]
    assert torch.allclose(trained[0, :-1][~same], hidden[0, :-1][~same], atol=1e-5)
    assert {0.0: 0, 0.5: 60, 1.0: 200}[dropout] <= (~same).sum() <= {0.0: 0, 0.5: 140, 1.0: 200}[dropout]


def test_columns_that_the_data_lacks():
    with pytest.raises(InputError, match=r"no column domain: .*--columns domain`"):
        WordInputs(StackTransformerOptions(read_domain=True), DIM, SimpleNamespace(columns=Columns()))
    with pytest.raises(InputError, match=r"no words\.txt: preprocess it again"):
        WordInputs(StackTransformerOptions(word_table=9), DIM, SimpleNamespace(frequent_words=None))
    with pytest.raises(InputError, match="no column upos"):
        check_tagged(0.1, None)
    check_tagged(0.0, None)
    assert tag_heads(StackTransformerOptions(tag_loss=0.1), DIM, Columns()) is None
    assert tag_heads(StackTransformerOptions(), DIM, COLUMNS) is None


# --- tables of words that are trained ----------------------------------------------------------


TABLE_WORDS = ("the", "dogs", "Cats", "sleep", "rare")


def table_of(**flags) -> TableInput:
    torch.manual_seed(1)
    options = StackTransformerOptions(**{"word_table": 4, **flags})
    return WordInputs(options, 3, SimpleNamespace(frequent_words=TABLE_WORDS))["table"]


def vectors_of(table: TableInput, *words: str) -> torch.Tensor:
    """The vectors of a sentence, of its root and of two words of padding."""
    read = table.read([words, ["the"] * (len(words) + 2)], {})
    return table(read, torch.zeros(2, len(words) + 3, 3))[0]


def test_words_have_vectors_and_all_others_one():
    table = table_of().eval()
    found = vectors_of(table, "the", "The", "THE", "Cats", "cats", "rare", "unheard", "")
    assert table.embed.weight.shape == (5, 3)  # the fifth word is too rare
    rows = [1, 1, 1, 3, 0, 0, 0, 0, 0, 0, 0]  # "The" is looked up in lower case, but not the other way round
    assert torch.equal(found, table.embed.weight[rows])


@pytest.mark.parametrize("dropout", [0.0, 0.3, 1.0])
def test_only_training_reads_known_words_by_the_vector_of_all_others(dropout):
    table = table_of(word_table_dropout=dropout)
    sentence = ["dogs"] * 1000
    found = vectors_of(table.train(), *sentence)[:1000]
    unknown, dogs = table.embed.weight[0], table.embed.weight[2]
    hidden = (found == unknown).all(1)
    assert torch.equal(found[~hidden], dogs.expand(int((~hidden).sum()), -1))
    assert abs(float(hidden.float().mean()) - dropout) < 0.06
    assert torch.equal(vectors_of(table.eval(), *sentence)[:1000], dogs.expand(1000, -1))


@pytest.mark.parametrize("flags", [{}, {"word_table_width": 5}])
def test_a_table_that_starts_at_zero_adds_nothing_and_learns(flags):
    table = table_of(**flags).eval()
    table.start_at_zero()
    found = vectors_of(table, "dogs")
    assert not found.any()
    found.sum().backward()
    assert sum(p.grad.abs().sum() for p in table.parameters() if p.grad is not None) > 0
