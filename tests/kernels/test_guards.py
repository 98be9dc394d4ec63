"""What C would misread is a `ValueError` that says which argument is wrong."""

from __future__ import annotations

import pytest
import torch

from tests.kernels.test_search_kernels import indicated_case, words_case
from transition_parser.base.errors import NotFiniteError
from transition_parser.kernels import machine_kernels, search_kernels
from transition_parser.kernels.search_kernels import Pointers, SpanPrior
from transition_parser.states.specs import columns_of_situations, effects_table

pytestmark = pytest.mark.skipif(
    search_kernels.library() is None or machine_kernels.library() is None, reason="there are no kernels here"
)
NAN, INFINITE = float("nan"), float("inf")


def ints(*numbers: int) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.int32)


def longs(*numbers) -> torch.Tensor:
    return torch.tensor(numbers)


def pointers(*tensors: torch.Tensor | None) -> Pointers:
    made = Pointers()
    for tensor in tensors:
        made.append(tensor)
    return made


def self_attention(**changed) -> None:
    """3 rows, of which each continues the row before it; 2 heads of 32."""
    torch.manual_seed(1)
    cache = [torch.randn(3, 128), torch.randn(2, 128)]
    good = {"query": torch.randn(2, 64), "heads": 2, "cache": cache, "origin": [None, ints(0, 1, 2)],
            "cache_row": [ints(0, 1, 2), ints(0, 1, 1)], "rows": ints(0, 2)}  # fmt: skip
    given = {**good, **changed}
    for name in ("cache", "origin", "cache_row"):
        given[name] = None if given[name] is None else pointers(*given[name])
    search_kernels.cached_self_attention(**given)


def test_what_is_right_is_computed():
    self_attention()
    self_attention(cache=[torch.randn(3, 128)] * 2, cache_row=None)
    cross_attention()
    indicated_attention()
    continuations()
    legal_scores()
    search_trees()
    decoder_layers()
    replay_derivation()


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"query": torch.randn(2, 64).double()}, "query must be"),
        ({"query": torch.randn(64)}, "query must be"),
        ({"query": torch.randn(2, 64, device="meta")}, "query must be"),
        ({"query": torch.full((2, 64), NAN)}, "not finite"),
        ({"query": torch.full((2, 64), INFINITE)}, "not finite"),
        ({"heads": 3}, "query must be"),
        ({"heads": 4}, "query must be"),  # of 16 numbers
        ({"cache": [torch.randn(3, 64), torch.randn(2, 64)]}, "cache must be"),
        ({"cache": [torch.randn(3, 128).bfloat16(), torch.randn(2, 128).bfloat16()]}, "cache must be"),
        ({"cache": [torch.randn(3, 128), torch.full((2, 128), NAN)]}, "not finite"),
        ({"cache": [torch.randn(3, 128)]}, "one entry a step"),
        ({"cache": [], "origin": [], "cache_row": []}, "one entry a step"),
        ({"origin": [None]}, "one entry a step"),
        ({"origin": [None, longs(0, 1, 2)]}, "origin must be"),
        ({"origin": [None, ints(0, 1, 3)]}, "beyond cache_row"),
        ({"origin": [None, ints(0, 1, -1)]}, "beyond cache_row"),
        ({"origin": [None, ints(0, 1)]}, "beyond the origins"),
        ({"cache_row": [None]}, "one entry a step"),
        ({"cache_row": [longs(0, 1, 2)] * 2}, "cache_row must be"),
        ({"cache_row": [ints(0, 1, 2), ints(0, 1, 2)]}, "beyond the cache"),
        ({"cache_row": [ints(0, 1, 2), ints(0, 1, -1)]}, "beyond the cache"),
        ({"cache_row": [ints(0, 1, 2), ints(0, 1)]}, "beyond cache_row"),
        ({"cache_row": None}, "beyond the cache"),
        ({"rows": longs(0, 2)}, "rows must be"),
        ({"rows": ints(0)}, "rows must be"),
        ({"rows": ints(0, 3)}, "beyond cache_row"),
        ({"rows": ints(0, -1)}, "beyond cache_row"),
    ],
)
def test_cached_self_attention(changed, problem):
    with pytest.raises(ValueError, match=problem):
        self_attention(**changed)


def test_the_row_of_a_padded_step_must_be_there():
    cache, origin = pointers(torch.randn(8, 128)), pointers(None)
    with pytest.raises(ValueError, match="cache_row: beyond the cache"):
        search_kernels.cached_self_attention(torch.randn(1, 64), 2, cache, origin, pointers(ints(8)), None)


@pytest.mark.parametrize(
    "second", [torch.randn(3, 64), torch.randn(3, 128).double(), torch.randn(128, 3).t(), torch.randn(3)]
)
def test_pointers_are_alike(second):
    with pytest.raises(ValueError, match="what is appended must be"):
        pointers(torch.randn(3, 128), second)


def cross_attention(**changed) -> None:
    torch.manual_seed(1)
    search_kernels.cross_attention(**{**words_case(4, 32, torch.float, True), **changed})


LENGTHS, SENTENCE = ints(37, 5, 1), ints(*[0] * 20, 2, 1, 1)
ROWS, RANKS = ints(*range(20), *[22] * 10), torch.ones(23, 40, dtype=torch.long)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"query": torch.randn(30, 128).double()}, "query must be"),
        ({"query": torch.full((30, 128), NAN)}, "not finite"),
        ({"memory": torch.randn(3, 40, 256).bfloat16()}, "memory must be"),
        ({"memory": torch.randn(3, 40, 128)}, "memory must be"),
        ({"memory": torch.randn(40, 3, 256).transpose(0, 1)}, "memory must be"),
        ({"memory": torch.full((3, 40, 256), NAN)}, "not finite"),
        ({"sentence": SENTENCE.long()}, "sentence must be"),
        ({"sentence": SENTENCE + 1}, "sentence: beyond"),
        ({"sentence": SENTENCE - 1}, "sentence: beyond"),
        ({"lengths": LENGTHS.long()}, "lengths must be"),
        ({"lengths": ints(37, 5)}, "lengths must be"),
        ({"lengths": ints(41, 5, 1)}, "lengths: beyond"),
        ({"lengths": ints(37, 5, -1)}, "lengths: beyond"),
        ({"roles": longs(0, 1, -1, -1)}, "roles must be"),
        ({"roles": ints(0, 1, -1)}, "roles must be"),
        ({"roles": ints(0, 1, 2, -1)}, "roles: beyond"),
        ({"roles": ints(0, 1, -2, -1)}, "roles: beyond"),
        ({"ranks": ()}, "positions must be"),
        ({"ranks": (), "positions": None}, "roles: beyond"),
        ({"ranks": (RANKS, RANKS.int())}, "ranks must be"),
        ({"ranks": (RANKS, RANKS[:, :30])}, "ranks must be"),
        ({"ranks": (RANKS[:22], RANKS[:22])}, "ranks must be"),
        ({"ranks": (RANKS[:, :36], RANKS[:, :36])}, "ranks must be"),
        ({"ranks": (RANKS, -RANKS)}, "ranks: below 0"),
        ({"ranks": (RANKS, RANKS * torch.iinfo(torch.long).min)}, "ranks: below 0"),
        ({"positions": torch.randn(1, 4, 128)}, "positions must be"),
        ({"positions": torch.randn(2, 0, 128)}, "positions must not be empty"),
        ({"positions": torch.randn(2, 4, 128).bfloat16()}, "positions must be"),
        ({"rows": ROWS.long()}, "rows must be"),
        ({"rows": ROWS[:5]}, "rows must be"),
        ({"rows": ROWS + 1}, "rows: beyond"),
        ({"rows": ROWS - 1}, "rows: beyond"),
        ({"rows": None}, "rows: beyond"),  # 30 queries of 23 rows
    ],
)
def test_cross_attention(changed, problem):
    with pytest.raises(ValueError, match=problem):
        cross_attention(**changed)


def indicated_attention(**changed) -> None:
    torch.manual_seed(1)
    search_kernels.indicated_attention(**{**indicated_case(2, 32, True), **changed})


ITEM, INDEX = torch.zeros(5, 9, dtype=torch.long), torch.zeros(9, dtype=torch.long)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"query": torch.randn(2, 5, 32).double()}, "query must be"),
        ({"query": torch.randn(2, 5, 48)}, "query must be"),
        ({"query": torch.randn(2, 1, 5, 32)}, "query must be"),
        ({"query": torch.full((2, 5, 32), NAN)}, "not finite"),
        ({"keys": torch.randn(2, 1, 30, 32).bfloat16()}, "keys must be"),
        ({"keys": torch.full((2, 1, 30, 32), INFINITE)}, "not finite"),
        ({"values": torch.randn(2, 1, 29, 32)}, "values must be"),
        ({"item": None}, "index must be"),
        ({"item": ITEM[:2]}, "item must be"),
        ({"item": ITEM.int()}, "item must be"),
        ({"item": ITEM + 30}, "item: beyond"),
        ({"item": ITEM - 1}, "item: beyond"),
        ({"key_indicators": torch.randn(2, 7, 32).double()}, "indicators of keys and of values must be"),
        ({"value_indicators": torch.randn(2, 6, 32)}, "indicators of keys and of values must be"),
        ({"index": INDEX.int()}, "index must be"),
        ({"index": INDEX[:8]}, "index must be"),
        ({"index": INDEX[None, None, None]}, "index must be"),
        ({"index": INDEX + 7}, "index: beyond"),
        ({"index": INDEX - 1}, "index: beyond"),
        ({"unseen": torch.zeros(5, 9)}, "unseen must be"),
        ({"unseen": torch.zeros(4, 9, dtype=torch.bool)}, "unseen must be"),
    ],
)
def test_indicated_attention(changed, problem):
    with pytest.raises(ValueError, match=problem):
        indicated_attention(**changed)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"x": torch.randn(5, 64).double()}, "x must be"),
        ({"x": torch.randn(5, 48)}, "x must be"),
        ({"x": torch.randn(64, 5).t()}, "x must be"),
        ({"added": torch.randn(4, 64)}, "added must be"),
        ({"norm": torch.nn.LayerNorm(96)}, "weight must be"),
        ({"norm": torch.nn.LayerNorm(64).bfloat16()}, "weight must be"),
        ({"norm": torch.nn.LayerNorm(64, elementwise_affine=False)}, "weight and a bias"),
        ({"norm": torch.nn.LayerNorm(64, bias=False)}, "weight and a bias"),
    ],
)
def test_add_and_normalise(changed, problem):
    good = {"x": torch.randn(5, 64), "added": torch.randn(5, 64), "norm": torch.nn.LayerNorm(64)}
    with pytest.raises(ValueError, match=problem), torch.no_grad():
        search_kernels.add_and_normalise(**{**good, **changed})


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"query": torch.randn(9, 64).double()}, "query must be"),
        ({"query": torch.randn(3, 3, 64)}, "query must be"),
        ({"heads": 3}, "query must be"),
        ({"heads": 4}, "query must be"),
        ({"query": torch.randn(64, 9).t()}, "query must be"),
        ({"keys": torch.randn(8, 64)}, "keys must be"),
        ({"keys": torch.randn(9, 64).bfloat16()}, "keys must be"),
        ({"values": torch.randn(9, 128)}, "values must be"),
        ({"values": torch.randn(9, 128)[:, ::2]}, "values must be"),
        ({"values": torch.randn(64).expand(9, 64)}, "values must be"),
        ({"lengths": torch.tensor([4, 6], dtype=torch.int32)}, "first or lengths"),
        ({"lengths": torch.tensor([4, 3], dtype=torch.int32), "longest": 3}, "first or lengths"),
        ({"lengths": torch.tensor([4, -1], dtype=torch.int32)}, "first or lengths"),
        ({"lengths": longs(4, 5)}, "lengths must be"),
        ({"first": torch.tensor([-1, 4], dtype=torch.int32)}, "first or lengths"),
        ({"first": torch.tensor([0, 10], dtype=torch.int32)}, "first or lengths"),
        ({"first": torch.tensor([0], dtype=torch.int32)}, "lengths must be"),
        ({"query": torch.full((9, 64), NAN)}, "not finite"),
        ({"keys": torch.full((9, 64), INFINITE)}, "not finite"),
    ],
)
def test_self_attention_of_sentences(changed, problem):
    good = {"query": torch.randn(9, 64), "keys": torch.randn(9, 64), "values": torch.randn(9, 64), "heads": 2,
            "first": torch.tensor([0, 4], dtype=torch.int32), "lengths": torch.tensor([4, 5], dtype=torch.int32),
            "longest": 5}  # fmt: skip
    assert search_kernels.self_attention(**good).shape == (9, 64)
    with pytest.raises(ValueError, match=problem):
        search_kernels.self_attention(**{**good, **changed})


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"found": torch.randn(2, 6, 64).double()}, "found must be"),
        ({"found": torch.randn(2, 6, 48)}, "found must be"),
        ({"found": torch.randn(12, 64)}, "found must be"),
        ({"found": torch.randn(2, 64, 6).transpose(1, 2)}, "found must be"),
        ({"recurrent": torch.randn(2, 6, 128)}, "recurrent must be"),
        ({"recurrent": torch.randn(2, 6, 192).bfloat16()}, "recurrent must be"),
        ({"recurrent": torch.randn(2, 7, 192)[:, 1:]}, "recurrent must be"),
        ({"words": torch.randn(2, 4, 192)}, "6 a multiple of M"),
        ({"words": torch.randn(2, 0, 192)}, "6 a multiple of M"),
        ({"words": torch.randn(192)}, "words must be"),
        ({"words": torch.randn(6, 192)}, "words must be"),
        ({"found": torch.full((2, 6, 64), NAN)}, "not finite"),
        ({"words": torch.randn(1, 3, 192)}, "words must be"),
        ({"words": torch.randn(2, 3, 64)}, "words must be"),
        ({"words": torch.randn(3, 2, 192).transpose(0, 1)}, "words must be"),
        ({"words": torch.full((2, 3, 192), NAN)}, "not finite"),
        ({"recurrent": torch.full((2, 6, 192), -INFINITE)}, "not finite"),
    ],
)
def test_a_step_of_gated_passes(changed, problem):
    good = {"found": torch.randn(2, 6, 64), "recurrent": torch.randn(2, 6, 192), "words": torch.randn(2, 3, 192)}
    with pytest.raises(ValueError, match=problem):
        search_kernels.gated_step(**{**good, **changed})


def test_words_of_one_pass_are_not_read_as_those_of_two():
    """Their shape is that of the words of one pass."""
    with pytest.raises(ValueError, match="words must be"):
        search_kernels.gated_step(torch.randn(2, 192, 64), torch.randn(2, 192, 192), torch.randn(192, 192))


def continuations(**changed) -> None:
    """2 sentences of 2 hypotheses and 5 actions, of which 3 have scores."""
    torch.manual_seed(1)
    good = {"scores": torch.randn(3, 5), "rows": longs(0, 1, 3), "legal": torch.ones(4, 5),
            "totals": torch.tensor([[0.0, -INFINITE], [-1.0, -2.0]]), "beam": 2}  # fmt: skip
    search_kernels.best_continuations(**{**good, **changed})


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"scores": torch.randn(3, 5).double()}, "scores must be"),
        ({"scores": torch.randn(15)}, "scores must be"),
        ({"scores": torch.full((3, 5), NAN)}, "scores are not finite"),
        ({"scores": torch.full((3, 5), -INFINITE)}, "scores are not finite"),
        ({"scores": torch.full((3, 5), INFINITE, dtype=torch.bfloat16)}, "scores are not finite"),
        ({"rows": longs(0, 1)}, "rows must be"),
        ({"rows": ints(0, 1, 3)}, "rows must be"),
        ({"rows": longs(0, 1, 4)}, "rows: beyond"),
        ({"rows": longs(0, 1, -1)}, "rows: beyond"),
        ({"rows": None, "scores": torch.randn(5, 5)}, "rows: beyond"),
        ({"legal": torch.ones(4, 5, dtype=torch.bool)}, "legal must be"),
        ({"legal": torch.ones(3, 5)}, "legal must be"),
        ({"legal": torch.ones(4, 6)}, "legal must be"),
        ({"legal": torch.full((4, 5), 0.5)}, "legal is neither"),
        ({"legal": torch.full((4, 5), NAN)}, "legal is neither"),
        ({"totals": torch.zeros(2, 2).double()}, "totals must be"),
        ({"totals": torch.zeros(4)}, "totals must be"),
        ({"totals": torch.full((2, 2), NAN)}, "totals are not finite"),
        ({"totals": torch.full((2, 2), INFINITE)}, "totals are not finite"),
        ({"beam": 0}, "beam must be"),
    ],
)
def test_best_continuations(changed, problem):
    with pytest.raises(ValueError, match=problem):
        continuations(**changed)


def legal_scores(**changed) -> None:
    """3 rows of 4 hypotheses, 2 actions of a vocabulary of 5."""
    good = {"x": torch.randn(3, 64), "weight": torch.randn(5, 64), "tokens": longs(4, 1), "legal": torch.ones(4, 2),
            "rows": longs(0, 3, 1)}  # fmt: skip
    prior = SpanPrior(longs(0, 1, 1, 0), longs(0, 1, 3), longs(4, 0, 1), torch.ones(3))
    of_prior = {name.removeprefix("of_"): value for name, value in changed.items() if name.startswith("of_")}
    others = {name: value for name, value in changed.items() if not name.startswith("of_")}
    search_kernels.legal_scores(**{**good, "prior": prior._replace(**of_prior), **others})


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"x": torch.randn(3, 64).double()}, "x must be"),
        ({"x": torch.randn(3, 48)}, "x must be"),
        ({"x": torch.randn(64, 3).t()}, "x must be"),
        ({"weight": torch.randn(5, 32)}, "weight must be"),
        ({"weight": torch.randn(5, 64).bfloat16()}, "weight must be"),
        ({"tokens": longs(4, 1, 2)}, "tokens must be"),
        ({"tokens": ints(4, 1)}, "tokens must be"),
        ({"tokens": longs(5, 1)}, "tokens: beyond"),
        ({"tokens": longs(4, -1)}, "tokens: beyond"),
        ({"legal": torch.ones(4, 2).double()}, "legal must be"),
        ({"rows": longs(0, 3)}, "rows must be"),
        ({"rows": longs(0, 4, 1)}, "rows: beyond"),
        ({"rows": longs(0, -1, 1)}, "rows: beyond"),
        ({"rows": None, "legal": torch.ones(2, 2), "of_spans": longs(0, 1)}, "rows: beyond"),
        ({"of_spans": longs(0, 1, 1)}, "spans must be"),
        ({"of_spans": longs(2, 1, 1, 0)}, "spans: beyond"),
        ({"of_spans": longs(-1, 1, 1, 0)}, "spans: beyond"),
        ({"of_offsets": longs(0, 1, 4)}, "offsets: beyond"),
        ({"of_offsets": longs(0, 1, 0)}, "offsets: beyond"),
        ({"of_offsets": longs(-1, 1, 3)}, "offsets: beyond"),
        ({"of_offsets": ints(0, 1, 3)}, "offsets must be"),
        ({"of_tokens": longs(4, 5, 1)}, "prior: beyond"),
        ({"of_tokens": longs(4, -1, 1)}, "prior: beyond"),
        ({"of_tokens": ints(4, 0, 1)}, "prior must be"),
        ({"of_values": torch.ones(3).bfloat16()}, "values must be"),
        ({"of_values": torch.ones(2)}, "values must be"),
    ],
)
def test_legal_scores(changed, problem):
    with pytest.raises(ValueError, match=problem):
        legal_scores(**changed)


def decoder_layers(**changed) -> None:
    """2 rows in the second step of a search of 2 layers, 2 heads of 32; the sentences have 3 and 2 words."""
    torch.manual_seed(1)
    of = [[torch.nn.Linear(64, out) for out in (128, 64, 64, 64, 64, 96)] + [torch.nn.Linear(96, 64)] for _ in range(2)]
    norms = [[torch.nn.LayerNorm(64) for _ in range(3)] for _ in range(2)]
    linears, norms = changed.pop("linears", of), changed.pop("norms", norms)
    good = {
        "x": torch.randn(2, 64), "normed": torch.randn(2, 64),
        "stack": search_kernels.LayerStack(linears, norms, torch.nn.LayerNorm(64), changed.pop("heads", 2)),
        "caches": [[torch.randn(2, 128), torch.empty(2, 128)] for _ in range(2)], "origin": [None, ints(0, 1)],
        "cache_rows": [[ints(0, 1), ints(0, 1)] for _ in range(2)], "memories": [torch.randn(2, 3, 128)] * 2,
        "sentence": ints(0, 1), "lengths": ints(3, 2), "roles": ints(0, -1), "ranks": (longs([1, 2, 0], [0, 1, 0]),),
        "positions": [torch.randn(1, 4, 64)] * 2,
    }  # fmt: skip
    given = {**good, **changed}
    given["origin"] = pointers(*given["origin"])
    for name in ("caches", "cache_rows"):
        given[name] = [pointers(*some) for some in given[name]]
    search_kernels.decoder_layers(**given)


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"x": torch.randn(2, 32)}, "must fit"),
        ({"x": torch.randn(3, 64)}, "must fit"),
        ({"x": torch.randn(2, 64).double()}, "x must be"),
        ({"x": torch.randn(2, 64).bfloat16()}, "x must be"),
        ({"normed": torch.randn(1, 64)}, "normed must be"),
        ({"heads": 4}, "multiple of 32"),
        ({"heads": 3}, "multiple of 32"),
        ({"origin": [None]}, "one entry a step"),
        ({"origin": [], "caches": [[], []], "cache_rows": [[], []]}, "one entry a step"),
        ({"caches": [[torch.randn(2, 128)] * 2, [torch.randn(2, 128)]]}, "one entry a step"),
        ({"caches": [[torch.randn(2, 64)] * 2] * 2}, "cache must be"),
        ({"caches": [[torch.randn(2, 128), torch.empty(1, 128)]] * 2}, "cache: no room"),
        ({"cache_rows": [[longs(0, 1)] * 2] * 2}, "cache_row must be"),
        ({"cache_rows": [[ints(0, 2), ints(0, 1)]] * 2}, "beyond the cache"),
        ({"origin": [None, ints(0, 2)]}, "rows or origin: beyond"),
        ({"memories": [torch.randn(2, 3, 64)] * 2}, "memory must be"),
        ({"sentence": ints(0, 2)}, "sentence: beyond"),
        ({"lengths": ints(4, 2)}, "lengths: beyond"),
        ({"roles": ints(1, -1)}, "roles: beyond"),
        ({"ranks": (longs([1, 2], [0, 1]),)}, "ranks must be"),
        ({"ranks": (longs([1, 2, 0], [0, -1, 0]),)}, "ranks: below 0"),
        ({"positions": [torch.randn(1, 4, 32)] * 2}, "positions must be"),
        ({"positions": [torch.randn(2, 4, 64)] * 2}, "positions must be"),
    ],
)
def test_decoder_layers(changed, problem):
    with pytest.raises(ValueError, match=problem):
        decoder_layers(**changed)


@pytest.mark.parametrize("number", [NAN, INFINITE])
def test_decoder_layers_need_finite_products(number):
    with pytest.raises(NotFiniteError):
        decoder_layers(normed=torch.full((2, 64), number))


def search_trees(**changed) -> search_kernels.FoundDerivations:
    """Sentences of 2 words and of 1 word, 4 actions of arc-hybrid and `</s>`."""
    system, cpu = "arc-hybrid", torch.device("cpu")
    of_machine = {"column": longs(1, 2, 4, 5, 6), "effects": effects_table(system, cpu),
                  "legal": columns_of_situations(system, cpu), "swaps_per_word": 0}  # fmt: skip
    good = {"words": torch.randn(2, 3, 3, 32), "bias": torch.randn(32), "output": torch.nn.Linear(32, 5),
            "ranks": (2, 1, -1), "lengths": longs(2, 1), "beam": 2, "most": 5}  # fmt: skip
    of_machine |= {name: changed.pop(name) for name in list(changed) if name in of_machine}
    given = {**good, **changed}
    return search_kernels.search_trees(**given, machine=search_kernels.TreeMachine(**of_machine))


def test_trees_are_complete():
    """Each word is shifted, and gets a head by an arc; the root is never a word of the stack."""
    found = search_trees()
    assert found.counts.tolist()[1] >= 1
    assert found.steps[0, : found.counts[0]].tolist() == [4] * int(found.counts[0])
    assert found.steps[1, : found.counts[1]].tolist() == [2] * int(found.counts[1])
    assert (found.added <= 0).all()


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"words": torch.randn(2, 3, 3, 32).double()}, "words must be"),
        ({"words": torch.randn(2, 3, 32, 3).transpose(2, 3)}, "words must be"),
        ({"words": torch.randn(2, 2, 3, 32)}, "lengths: beyond"),
        ({"bias": torch.randn(31)}, "bias must be"),
        ({"output": torch.nn.Linear(16, 5), "words": torch.randn(2, 3, 3, 16)}, "32 numbers"),
        ({"output": torch.nn.Linear(64, 5)}, "weight must be"),
        ({"output": torch.nn.Linear(32, 5).double()}, "32 numbers"),
        ({"output": torch.nn.Linear(32, 6)}, "column must be"),
        ({"ranks": (2, 1)}, "ranks must be"),
        ({"ranks": (2, 0, -1)}, "ranks: no word"),
        ({"lengths": longs(2)}, "lengths must be"),
        ({"lengths": ints(2, 1)}, "lengths must be"),
        ({"lengths": longs(2, 3)}, "lengths: beyond"),
        ({"lengths": longs(2, -1)}, "lengths: beyond"),
        ({"column": longs(1, 2, 4, 5, 21)}, "column: beyond"),
        ({"column": longs(1, 2, 4, 5, -1)}, "column: beyond"),
        ({"effects": torch.zeros(21, 7).long()}, "effects must be"),
        ({"effects": torch.full((21, 8), 9)}, "effects: a word"),
        ({"legal": torch.ones(255, 21).bool()}, "legal must be"),
        ({"legal": torch.zeros(256, 20).bool()}, "legal must be"),
        ({"beam": 0}, "1 or more"),
        ({"most": 0}, "1 or more"),
        ({"most": 2}, "search does not end"),
    ],
)
def test_search_trees(changed, problem):
    with pytest.raises(ValueError, match=problem):
        search_trees(**changed)


@pytest.mark.parametrize("number", [NAN, INFINITE, -INFINITE])
def test_search_trees_needs_finite_scores(number):
    for changed in ({"words": torch.full((2, 3, 3, 32), number)}, {"bias": torch.full((32,), number)}):
        with pytest.raises(NotFiniteError):
            search_trees(**changed)


PUSH = [0, 0, 0, 3, 1, 0, 0, 0]  # the front goes to the stack


def replay_derivation(**changed) -> None:
    """SHIFT, and an arc from the root: 3 tokens, 2 columns, 1 word."""
    good = {
        "token": longs(1, 2), "log_prob": torch.zeros(2, dtype=torch.double), "words": 1, "column": longs(0, 0, 1),
        "relation": longs(0, 0, 5), "effects": longs(PUSH, [1, 3, 1, 0, 0, 0, 0, 0]),
        "attach": torch.zeros(256, dtype=torch.long),
    }  # fmt: skip
    assert machine_kernels.replay_derivation(**{**good, **changed}) == ([1], [5], [0.0])


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"token": ints(1, 2)}, "token must be"),
        ({"log_prob": torch.zeros(1, dtype=torch.double)}, "log_prob must be"),
        ({"log_prob": torch.zeros(2)}, "log_prob must be"),
        ({"words": 0}, "words must be 1 or more"),
        ({"column": ints(0, 0, 1)}, "column must be"),
        ({"relation": longs(0, 0)}, "relation must be"),
        ({"effects": torch.zeros(2, 7).long()}, "effects must be"),
        ({"attach": torch.zeros(128, dtype=torch.long)}, "attach must be"),
        ({"token": longs(1, 3)}, "token: beyond"),
        ({"token": longs(-1, 2)}, "token: beyond"),
        ({"column": longs(0, 0, 2)}, "column: beyond"),
        ({"token": longs(2, 2)}, "beyond the stack or the buffer"),
        ({"effects": longs(PUSH, [4, 3, 1, 0, 0, 0, 0, 0])}, "effects: "),
        ({"effects": longs(PUSH, [1, -1, 1, 0, 0, 0, 0, 0])}, "effects: "),
        ({"effects": longs(PUSH, [0, 0, 0, 4, 0, 0, 0, 0])}, "effects: "),
        ({"effects": longs(PUSH, [0, 0, 0, 0, 0, 0, 0, 9])}, "effects: "),
        ({"effects": longs(PUSH, [0, 0, -3, 0, 0, 0, 0, 0])}, "beyond the stack or the buffer"),
        ({"effects": longs(PUSH, [0, 0, 0, 0, 3, 0, 0, 0])}, "beyond the stack or the buffer"),
    ],
)
def test_replayed_derivations(changed, problem):
    with pytest.raises(ValueError, match=problem):
        replay_derivation(**changed)


@pytest.mark.parametrize(
    ("heads", "problem"),
    [
        (torch.tensor([3, 0, 0], dtype=torch.int32), "heads must be"),
        (longs([3, 0, 0], [0, 0, 0]), "heads must be"),
        (longs(3, 0, 4), "head: beyond"),
        (longs(3, 0, -1), "head: beyond"),
        (longs(3, 2, 1), "head: no tree"),
        (longs(0, 3, 1), "head: no tree"),
        (longs(3, 3, 1), "head: no tree"),
        (longs(0), "head: no tree"),
        (torch.zeros(0, dtype=torch.long), "head: no tree"),
    ],
)
def test_derive_tree(heads, problem):
    with pytest.raises(ValueError, match=problem):
        machine_kernels.derive_tree(heads)


LETTERS = {
    "letters": torch.tensor([[1, 2, 0], [0, 0, 0]]),
    "sizes": [2, 3],
    "tables": torch.zeros(5, 4, 64),
    "biases": torch.zeros(2, 64),
}


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"letters": torch.tensor([[1, 4, 0]])}, "letters: beyond the symbols"),
        ({"letters": torch.tensor([[-1, 4, 0]])}, "letters: beyond the symbols"),
        ({"letters": torch.zeros(2, 65, dtype=torch.long)}, "L from 1 to 64"),
        ({"letters": torch.zeros(2, 3, dtype=torch.int32)}, "letters must be torch.int64"),
        ({"sizes": [5]}, "a size for each of 2 windows"),
        ({"sizes": [0, 5]}, "a size for each of 2 windows"),
        ({"sizes": [3, 3]}, "tables must be torch.float32, .6, 4, 64."),
        ({"tables": torch.zeros(5, 4, 60), "biases": torch.zeros(2, 60)}, "a multiple of 64 filters"),
        ({"tables": torch.zeros(5, 4, 64, dtype=torch.bfloat16)}, "tables must be torch.float32"),
    ],
)
def test_letter_maxima_checks_its_arguments(lanes, changed, problem):
    search_kernels.letter_maxima(**LETTERS)
    with pytest.raises(ValueError, match=problem):
        search_kernels.letter_maxima(**{**LETTERS, **changed})
