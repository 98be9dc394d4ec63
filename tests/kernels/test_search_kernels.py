"""The search kernels compute what PyTorch computes, in each of the variants that this processor has."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import threads
from transition_parser.kernels import search_kernels
from transition_parser.kernels.search_kernels import Pointers, SpanPrior

CLOSE = {torch.float: {"atol": 1e-5, "rtol": 1e-5}, torch.bfloat16: {"atol": 0.03, "rtol": 0.02}}
SHAPES = [(4, 64), (2, 32), (3, 96)]  # heads, and numbers of each


def attended(query: torch.Tensor, keys_values: torch.Tensor, added: torch.Tensor | None = None) -> torch.Tensor:
    """One query (d,) of one head, keys and values (S, 2, d), what is added to the keys."""
    keys, values = keys_values.unbind(1)
    if added is not None:
        keys = keys + added
    return (keys @ query * len(query) ** -0.5).softmax(0) @ values if len(keys) else torch.zeros_like(query)


class Past:
    """A random search: the arguments of `cached_self_attention`, and what each query descends from."""

    def __init__(self, heads: int, d: int, dtype: torch.dtype, steps: int, counts: list[int], with_rows: bool) -> None:
        self.cache, self.origin, self.cache_row = Pointers(), Pointers(), Pointers() if with_rows else None
        stored, descent = [], []  # of each step: keys and values; for each row which of them, step by step
        for step in range(steps):
            rows = counts[step % len(counts)]
            stored.append(torch.randn(2 * rows + 8 if with_rows else rows, 2 * heads * d).to(dtype))
            places = torch.randint(0, len(stored[-1]), (rows,)) if with_rows else torch.arange(rows)
            branches = step > 0 and (rows != len(descent) or step % 3 == 0)
            origin = torch.randint(0, len(descent), (rows,)) if branches else torch.arange(rows)
            descent = [[*(descent[origin[row]] if step else []), int(places[row])] for row in range(rows)]
            self.cache.append(stored[-1])
            self.origin.append(origin.int() if branches else None)
            if self.cache_row is not None:
                self.cache_row.append(places.int())
                search_kernels._keep_few(self.cache, self.cache_row)
        self.rows = torch.randint(0, rows, (rows + 3,), dtype=torch.int32)
        self.query = torch.randn(len(self.rows), heads * d).to(dtype)
        self.past = [
            torch.stack([stored[step][place] for step, place in enumerate(descent[row])]).view(steps, 2, heads, d)
            for row in self.rows.tolist()
        ]

    def wanted(self, heads: int) -> torch.Tensor:
        """The output by plain PyTorch."""
        query = self.query.float().view(len(self.query), heads, -1)
        return torch.stack(
            [
                torch.cat([attended(query[i, head], past[:, :, head].float()) for head in range(heads)])
                for i, past in enumerate(self.past)
            ]
        )

    def computed(self, heads: int) -> torch.Tensor:
        """The output by the kernel."""
        arguments = (self.cache, self.origin, self.cache_row, self.rows)
        return search_kernels.cached_self_attention(self.query, heads, *arguments)


@pytest.mark.parametrize("dtype", list(CLOSE))
@pytest.mark.parametrize(("heads", "d"), SHAPES)
@pytest.mark.parametrize("steps", [1, 4, 70])
@pytest.mark.parametrize("counts", [[1], [1, 3, 2], [5]])
@pytest.mark.parametrize("with_rows", [False, True])
def test_cached_self_attention(lanes, dtype, heads, d, steps, counts, with_rows):
    torch.manual_seed(steps)
    past = Past(heads, d, dtype, steps, counts, with_rows)
    assert torch.allclose(past.computed(heads).float(), past.wanted(heads), **CLOSE[dtype])


def words_case(heads: int, d: int, dtype: torch.dtype, with_positions: bool, largest: int = 3) -> dict:
    """Random arguments of `cross_attention`: more rows of a sentence than are read together, and fewer."""
    sentence = torch.tensor([0] * 20 + [2, 1, 1], dtype=torch.int32)
    lengths, width, rows = torch.tensor([37, 5, 1], dtype=torch.int32), 40, len(sentence)
    order = torch.rand(2, rows, width).argsort(-1).argsort(-1) + 1
    ranks = torch.where(order <= torch.randint(0, width, (2, rows, 1)), order, 0)
    queries = torch.randint(0, rows, (30,), dtype=torch.int32)
    queries[:20] = torch.arange(20)
    return {
        "query": torch.randn(len(queries), heads * d).to(dtype),
        "heads": heads,
        "memory": torch.randn(3, width, 2 * heads * d).to(dtype),
        "sentence": sentence,
        "lengths": lengths,
        "roles": torch.tensor([0, 1, -1, -1, 0][:heads], dtype=torch.int32),
        "ranks": tuple(ranks),
        "positions": torch.randn(2, largest + 1, heads * d).to(dtype) if with_positions else None,
        "rows": queries,
    }


def words_wanted(case: dict) -> torch.Tensor:
    heads, positions = case["heads"], case["positions"]
    output = []
    for query, row in zip(case["query"].float(), case["rows"].tolist(), strict=True):
        sentence = case["sentence"][row]
        memory = case["memory"][sentence, : case["lengths"][sentence]].float().unflatten(1, (2, heads, -1))
        for head, role in enumerate(case["roles"].tolist()):
            added, seen = None, torch.ones(len(memory), dtype=torch.bool)
            if role >= 0:
                ranks = case["ranks"][role][row, : len(memory)]
                seen = ranks > 0
                if positions is not None:
                    by_rank = positions[role].float().unflatten(1, (heads, -1))[:, head]
                    added = by_rank[ranks[seen].clamp_max(len(by_rank) - 1)]
            output.append(attended(query.view(heads, -1)[head], memory[seen][:, :, head], added))
    return torch.stack(output).view(len(case["query"]), -1)


@pytest.mark.parametrize("dtype", list(CLOSE))
@pytest.mark.parametrize(("heads", "d"), SHAPES)
@pytest.mark.parametrize("with_positions", [False, True])
def test_cross_attention(lanes, dtype, heads, d, with_positions):
    torch.manual_seed(0)
    case = words_case(heads, d, dtype, with_positions)
    output = search_kernels.cross_attention(**case)
    assert torch.allclose(output.float(), words_wanted(case), **CLOSE[dtype])
    one_by_one = [
        search_kernels.cross_attention(**{**case, "query": query[None], "rows": row[None]})
        for query, row in zip(case["query"], case["rows"], strict=True)
    ]
    assert torch.equal(output, torch.cat(one_by_one))  # what is read together changes no number


def indicated_case(heads: int, d: int, with_item: bool) -> dict:
    """Random arguments of `indicated_attention`: 5 rows, 9 items, 7 indicators of a table of 11; the index is the same
    for all heads, one row sees nothing."""
    stored = (1, 30) if with_item else (5, 9)
    unseen = torch.rand(5, 9) < 0.5
    unseen[2] = True
    return {
        "query": torch.randn(heads, 5, d),
        "keys": torch.randn(heads, *stored, d),
        "values": torch.randn(heads, *stored, d),
        "key_indicators": torch.randn(heads, 11, d)[:, 2:9],
        "value_indicators": torch.randn(heads, 11, d)[:, 2:9],
        "item": torch.randint(0, 30, (5, 9)) if with_item else None,
        "index": torch.randint(0, 7, (1, 5, 9)),
        "unseen": unseen,
    }


def indicated_wanted(case: dict) -> torch.Tensor:
    output = torch.zeros_like(case["query"])
    index = case["index"].expand(len(output), 5, 9)
    for head, row in product(range(len(output)), range(5)):
        item, among = torch.arange(9), row
        if case["item"] is not None:
            item, among = case["item"][row], 0
        indicator, seen = index[head, row], slice(None)
        if case["unseen"] is not None:
            seen = ~case["unseen"][row]
        keys, values = (
            (case[name][head, among, item] + case[f"{name[:-1]}_indicators"][head, indicator])[seen]
            for name in ("keys", "values")
        )
        output[head, row] = attended(case["query"][head, row], torch.stack([keys, values], 1))
    return output


@pytest.mark.parametrize(("heads", "d"), SHAPES)
@pytest.mark.parametrize("with_item", [False, True])
def test_indicated_attention(lanes, heads, d, with_item):
    torch.manual_seed(0)
    case = indicated_case(heads, d, with_item)
    output = search_kernels.indicated_attention(**case)
    assert torch.allclose(output, indicated_wanted(case), **CLOSE[torch.float])
    assert not output[:, 2].any()
    broadcast = {**case, "index": torch.randint(0, 7, (9,)), "unseen": None}
    assert torch.allclose(
        search_kernels.indicated_attention(**broadcast), indicated_wanted(broadcast), **CLOSE[torch.float]
    )
    strided = {**case, "key_indicators": torch.randn(heads, d, 7).transpose(1, 2)}
    assert torch.allclose(
        search_kernels.indicated_attention(**strided), indicated_wanted(strided), **CLOSE[torch.float]
    )


def sentences_case(heads: int, d: int, dtype: torch.dtype, lengths: list[int], scale: float = 1.0) -> dict:
    """Arguments of `self_attention`: sentences with a row between them, and gaps between rows."""
    torch.manual_seed(1)
    count, many = torch.tensor(lengths, dtype=torch.int32), sum(lengths) + len(lengths)
    first = (count + 1).cumsum(0, dtype=torch.int32) - count
    query, keys, values = ((torch.randn(many, part, heads * d) * scale).to(dtype)[:, 0] for part in (1, 2, 3))
    return {
        "query": query, "keys": keys, "values": values, "heads": heads, "first": first, "lengths": count,
        "longest": max(lengths),
    }  # fmt: skip


@pytest.mark.parametrize("dtype", list(CLOSE))
@pytest.mark.parametrize(("heads", "d"), SHAPES)
@pytest.mark.parametrize("scale", [1.0, 3.0])
def test_self_attention_of_sentences(lanes, dtype, heads, d, scale):
    """Of all lengths around those of vectors; alone a sentence is given the very same numbers."""
    case = sentences_case(heads, d, dtype, [*range(20), 33, 70], scale)
    found, belongs = search_kernels.self_attention(**case), torch.zeros(len(case["query"]), dtype=torch.bool)
    for first, count in zip(case["first"].tolist(), case["lengths"].tolist(), strict=True):
        rows = slice(first, first + count)
        belongs[rows] = True
        query, keys, values = (case[name][rows].float().view(count, heads, d) for name in ("query", "keys", "values"))
        weights = (torch.einsum("qhd,khd->hqk", query, keys) * d**-0.5).softmax(-1)
        wanted = torch.einsum("hqk,khd->qhd", weights, values).flatten(1)
        close = {name: value * scale for name, value in CLOSE[dtype].items()}
        assert torch.allclose(found[rows].float(), wanted, **close)
        some = {name: case[name][rows] for name in ("query", "keys", "values")}
        place = {"first": torch.zeros(1, dtype=torch.int32), "lengths": torch.tensor([count], dtype=torch.int32)}
        assert torch.equal(search_kernels.self_attention(**some, **place, heads=heads, longest=count), found[rows])
    assert not found[~belongs].any() and found[belongs].all()


def test_scores_may_be_as_low_as_they_are_finite(lanes):
    """What fills the vectors up counts for nothing."""
    case = sentences_case(1, 32, torch.float, [3])
    case["query"], case["keys"] = torch.full((4, 32), -1e16), torch.full((4, 32), 1e16)
    found = search_kernels.self_attention(**case)[1:]
    assert torch.allclose(found, case["values"][1:].mean(0).expand(3, 32), atol=1e-6)


def test_no_sentences_and_no_words(lanes):
    none, some = torch.empty(0, dtype=torch.int32), torch.zeros(3, dtype=torch.int32)
    for first in (none, some):
        for rows in (torch.empty(0, 64), torch.randn(5, 64)):
            found = search_kernels.self_attention(rows, rows, rows, 2, first, first, 0)
            assert found.shape == rows.shape and not found.any()


@pytest.mark.parametrize("dtype", list(CLOSE))
def test_threads_change_no_number(lanes, dtype):
    """Of few queries (or sentences) the heads are shared out, of many the queries: both are more than what is worth a
    thread."""
    torch.manual_seed(1)
    few = Past(4, 64, dtype, 2100, [1], False)
    width = 2000
    memory, lengths = torch.randn(2, width, 512).to(dtype), torch.tensor([width, 300], dtype=torch.int32)
    sentence, roles = torch.tensor([0] * 200 + [1] * 50, dtype=torch.int32), torch.full((4,), -1, dtype=torch.int32)
    query = torch.randn(250, 256).to(dtype)
    outputs = []
    for count in (1, 3):
        with threads(count):
            words = search_kernels.cross_attention(query, 4, memory, sentence, lengths, roles, (), None, None)
            torch.manual_seed(2)
            gates = (torch.randn(2, 3000, 64), torch.randn(2, 3000, 192), torch.randn(2, 300, 192))
            outputs.append((few.computed(4), words, search_kernels.gated_step(*(x.to(dtype) for x in gates))))
            for counts in ([300, 0, 200], [60, 0, 20] * 40):
                outputs[-1] += (search_kernels.self_attention(**sentences_case(4, 32, dtype, counts)),)
    assert all(torch.equal(one, three) for one, three in zip(*outputs, strict=True))


@pytest.mark.parametrize("dtype", list(CLOSE))
def test_the_norm_of_a_sum(lanes, dtype):
    torch.manual_seed(1)
    norm = torch.nn.LayerNorm(96).to(dtype)
    torch.nn.init.normal_(norm.weight), torch.nn.init.normal_(norm.bias)
    x, added = (torch.randn(5, 96).to(dtype) * 3 + 40 for _ in range(2))
    total = x + added
    normal = search_kernels.add_and_normalise(x, added, norm)
    assert torch.equal(x, total)
    assert torch.allclose(normal.float(), norm(total).float(), **CLOSE[dtype])


@pytest.mark.parametrize("dtype", list(CLOSE))
@pytest.mark.parametrize(("rows", "read"), [(12, 12), (12, 4), (1, 1), (0, 3)])
def test_a_step_of_gated_passes(lanes, dtype, rows, read):
    """Also where gates are shut or open, in parts of larger tensors."""
    torch.manual_seed(rows)
    width = 96
    found = torch.randn(2, rows + 3, width).to(dtype)[:, 3:]
    recurrent = (torch.randn(2, rows, 3 * width) * 3).to(dtype)
    words = (torch.randn(2, read + 1, 3 * width) * torch.tensor([1.0, 9.0, 400.0]).repeat(width)).to(dtype)[:, :read]
    ours, theirs = recurrent.float().chunk(3, -1), words.float().repeat(1, rows // read, 1).chunk(3, -1)
    attention, reset = ((ours[i] + theirs[i]).sigmoid() for i in range(2))
    wanted = torch.lerp(found.float(), (theirs[2] + reset * ours[2]).tanh(), attention)
    assert torch.allclose(search_kernels.gated_step(found, recurrent, words).float(), wanted, **CLOSE[dtype])


@pytest.mark.parametrize("scale", [1e-8, 1e-4, 1.0, 80.0])
def test_a_step_of_gated_passes_is_exact(lanes, scale):
    torch.manual_seed(1)
    found, recurrent, words = torch.rand(1, 9, 64), torch.zeros(1, 9, 192), torch.randn(1, 9, 192) * scale
    attention, _, new = words.double().chunk(3, -1)
    wanted = torch.lerp(found.double(), new.tanh(), attention.sigmoid())
    assert torch.allclose(search_kernels.gated_step(found, recurrent, words).double(), wanted, rtol=0, atol=1e-6)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**31), dtype=st.sampled_from(list(CLOSE)), beam=st.integers(1, 6), width=st.integers(1, 4))
def test_the_best_continuations(lanes, seed, dtype, beam, width):
    """Against log-softmax and topk; with dead hypotheses, certain actions without scores, nothing that is legal, and
    actions whose probability counts but that may not be taken."""
    torch.manual_seed(seed)
    sentences, actions = 6, 21
    rows = sentences * width
    legal = (torch.rand(rows, actions) < 0.3).float()
    legal[(torch.rand(rows, actions) < 0.2) & (legal > 0)] = -1
    legal[:width, 1:], legal[:width, 0] = 0, 1  # certain, and often fewer than the beam
    legal[-width:] = 0
    totals = -torch.rand(sentences, width)
    totals[torch.rand(sentences, width) < 0.2] = float("-inf")
    computed = ((legal != 0).sum(1) > 1).nonzero()[:, 0]
    of_computed = torch.randn(len(computed), actions).to(dtype)
    best, added, index = search_kernels.best_continuations(of_computed, computed, legal, totals, beam)
    scores = torch.zeros(rows, actions)
    scores[computed] = of_computed.float()
    each = scores.masked_fill(legal == 0, float("-inf")).log_softmax(-1).nan_to_num(float("-inf"), neginf=float("-inf"))
    each = each.masked_fill(legal < 0, float("-inf"))
    every = (totals[..., None] + each.view(sentences, width, -1)).flatten(1)
    wanted = every.topk(beam, 1).values  # of equal ones it takes any
    there = best > float("-inf")
    assert torch.allclose(best, wanted, atol=1e-5)
    assert torch.allclose(every.gather(1, index)[there], best[there], atol=1e-5)
    assert all(len(set(row[there[i]].tolist())) == there[i].sum() for i, row in enumerate(index))
    assert torch.allclose(added[there], each.view(sentences, -1).gather(1, index)[there], atol=1e-5)
    assert not there[-1].any() and there[0].sum() == min(int((totals[0] > float("-inf")).sum()), beam)


def _scored(count: int, dtype: torch.dtype, with_rows: bool) -> dict[str, Any]:
    """`count` outputs of 14 hypotheses, of which some have no legal action, some all."""
    torch.manual_seed(1)
    x, weight, tokens = torch.randn(count, 96).to(dtype), torch.randn(50, 96).to(dtype), torch.randperm(50)[:23]
    legal = (torch.rand(14, 23) < 0.4).float()
    legal[2], legal[3], legal[4] = 0, 1, -1
    rows = torch.randint(0, 14, (count,)) if with_rows else None
    return {"x": x, "weight": weight, "tokens": tokens, "legal": legal, "rows": rows}


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize("with_rows", [False, True])
@pytest.mark.parametrize("count", [0, 1, 9, 12])
def test_the_scores_of_legal_actions(lanes, dtype, with_rows, count):
    """Rows are computed by fours; the last ones may be fewer."""
    case = _scored(count, dtype, with_rows)
    scores = search_kernels.legal_scores(**case).float()
    counted = (case["legal"][:count] if case["rows"] is None else case["legal"][case["rows"]]) != 0
    wanted = case["x"].float() @ case["weight"][case["tokens"]].float().t()
    torch.testing.assert_close(scores[counted], wanted[counted], **CLOSE[dtype])
    assert scores.isfinite().all()


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize("with_rows", [False, True])
def test_a_prior_is_added_to_the_scores_of_the_tokens_of_the_span(lanes, dtype, with_rows):
    """Lexicon rows may be empty, and have tokens that are not scored."""
    case = _scored(9, dtype, with_rows)
    rows = torch.arange(9) if case["rows"] is None else case["rows"]
    offsets, named = torch.tensor([0, 0, 7, 12]), torch.cat([torch.randperm(50)[:7], torch.randperm(50)[:5]])
    prior = SpanPrior(torch.randint(0, 3, (14,)), offsets, named, torch.randn(12).to(dtype))
    added = torch.zeros(9, 50, dtype=dtype)
    for i, span in enumerate(prior.spans[rows].tolist()):
        some = slice(int(offsets[span]), int(offsets[span + 1]))
        added[i, named[some]] = prior.values[some]
    plain, scores = search_kernels.legal_scores(**case), search_kernels.legal_scores(**case, prior=prior)
    counted = case["legal"][rows] != 0
    assert torch.equal(scores[counted], (plain + added[:, case["tokens"]])[counted])
    assert not torch.equal(scores[counted], plain[counted])


def test_of_equal_continuations_the_first_is_the_best(lanes):
    scores, legal = torch.zeros(2, 5), torch.ones(2, 5)
    best, _, index = search_kernels.best_continuations(scores, None, legal, torch.zeros(1, 2), 7)
    assert index.tolist() == [list(range(7))] and len(set(best[0].tolist())) == 1


def test_few_rows_of_padded_steps_are_kept_alone(lanes):
    """A step of one hypothesis is stored among padding: kept are its keys and values, side by side."""
    past = Past(2, 32, torch.float, 5, [1], True)
    addresses = past.cache.array[:5]
    assert [b - a for a, b in pairwise(addresses)] == [2 * 64 * 4] * 4
    assert past.cache.last is None and past.cache.sizes[:5] == [1] * 5


@pytest.mark.parametrize("sizes", [[3], [1, 2, 3, 4, 5, 6], [24, 7]])
@pytest.mark.parametrize("filters", [64, 192])
def test_letter_maxima(lanes, sizes, filters):
    """Tables of products give what convolutions give, for words of no letter up to the most."""
    torch.manual_seed(1)
    embed = torch.nn.Embedding(40, 8, padding_idx=0)
    windows = [torch.nn.Conv1d(8, filters, size, padding=size // 2) for size in sizes]
    lengths = torch.arange(40) % 13
    letters = torch.randint(1, 40, (40, 12)) * (torch.arange(12) < lengths[:, None])
    with torch.no_grad():
        inside = (letters > 0)[:, None]
        each = [(window(embed(letters).transpose(1, 2))[..., :12].relu() * inside).amax(2) for window in windows]
        tables = torch.cat([embed.weight @ window.weight.permute(2, 1, 0) for window in windows])
        biases = torch.stack([window.bias for window in windows])
        found = search_kernels.letter_maxima(letters, sizes, tables, biases)
    assert torch.allclose(found, torch.cat(each, 1), **CLOSE[torch.float])


@pytest.mark.parametrize("dim", [1, 15, 32, 101])
def test_products_of_pairs(lanes, dim):
    torch.manual_seed(dim)
    many, one = torch.randn(7, 5, dim).bfloat16(), torch.randn(7, dim)
    found = search_kernels.products_of_pairs(many, one)
    assert torch.allclose(found, (many.float() @ one[..., None])[..., 0], atol=1e-4, rtol=1e-5)
