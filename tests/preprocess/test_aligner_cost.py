"""The cost of the aligner: its short ways give what plain ones give, in near-linear time, and large entries are
refused."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import run_here
from tests.preprocess.test_aligner import WORDS, entry, graphs
from tests.steps import grows_linearly
from transition_parser.base.errors import InputError
from transition_parser.preprocess.aligner.aligner import MOST, align_entry, train_table
from transition_parser.preprocess.aligner.names import (
    _beginnings,
    _in_order,
    _joined,
    _letters,
    _some_strings,
    name_spans,
)
from transition_parser.preprocess.aligner.rules import Around, candidates
from transition_parser.preprocess.aligner.selection import SpanSelection, _from_neighbours, _last_resort, complete
from transition_parser.preprocess.aligner.words import Words, span, without_sense

PIECES = st.lists(st.sampled_from("a b new york yorker news germany german".split()), min_size=1, max_size=7)


def best(matches: list) -> dict:
    """What is used of matches: for each span the best score, and the spans of the strings in the first match."""
    found = {}
    for score, spans in matches:
        whole = (min(s[0] for s in spans), max(s[-1] for s in spans))
        before, first = found.get(whole, (0.0, spans))
        found[whole] = max(score, before), first
    return found


def longest_runs(strings: list[str], words: Words) -> list:
    """Tries each run of the strings, the longest first."""
    for size in range(len(strings) - 1, 0, -1):
        matches = []
        for start in range(len(strings) - size + 1):
            part = strings[start : start + size]
            if any(len(string) > 2 for string in part):
                for score, spans in _in_order(part, words) or _beginnings(part, words):
                    whole = span(spans[0][0], spans[-1][-1])
                    matches.append((score * 0.7, [whole] * start + spans + [whole] * (len(strings) - start - size)))
        if matches:
            return matches
    return []


@given(PIECES, PIECES)
def test_some_strings_of_a_name_are_its_longest_runs(strings, tokens):
    words = Words.from_tokens(tokens)
    if not _in_order(strings, words) and not _beginnings(strings, words):
        assert best(_some_strings(strings, words)) == best(longest_runs(strings, words))


@given(
    st.lists(st.text("ab-", max_size=3), min_size=1, max_size=5),
    st.lists(st.sampled_from("a b ab ba abab - <a> a-b".split()), min_size=1, max_size=7),
)
def test_letters_of_a_name_are_found_across_tokens(strings, tokens):
    words, wanted = Words.from_tokens(tokens), _letters("".join(strings))
    letters = ["" if form.startswith("<") else _letters(form) for form in tokens]
    expected = []
    for first in range(len(tokens)):
        ends = range(first + 1, min(first + 2 * len(strings) + 8, len(tokens)) + 1)
        last = next((end - 1 for end in ends if len("".join(letters[first:end])) >= len(wanted)), None)
        found = last is not None and "".join(letters[first : last + 1]) == wanted != ""
        if found and _letters(tokens[first]):
            expected.append((0.95, shares(strings, letters, first, last)))
    assert _joined(strings, words) == expected


def shares(strings: list[str], letters: list[str], first: int, last: int) -> list:
    """The tokens that overlap each string, letter by letter."""
    spans, start = [], 0
    for string in strings:
        end = start + len(_letters(string))
        begins = {token: len("".join(letters[first:token])) for token in range(first, last + 1)}
        own = [token for token, begin in begins.items() if begin < end and begin + len(letters[token]) > start]
        spans.append(span(own[0], own[-1]) if own else span(first, last))
        start = end
    return spans


@given(graphs(), WORDS)
def test_nodes_without_tokens_get_those_of_neighbours_round_by_round(graph, tokens):
    """The expected spans look at every open node in every round."""
    words, around = Words.from_tokens(tokens), Around(graph)
    lone = {node: (node % len(words),) for node in range(len(graph)) if without_sense(graph.labels[node]) == "dog"}
    joined = [label in ("and", "multi-sentence") for label in graph.labels]  # they may stand for punctuation
    spans = {node: tokens for node, tokens in enumerate(complete(graph, words, lone)) if node in lone or joined[node]}
    start, strict = dict(spans), True
    while open_nodes := [node for node in range(len(graph)) if node not in spans]:
        more = {node: found for node in open_nodes if (found := _from_neighbours(around, node, spans, strict))}
        spans |= more
        if not more and not strict:
            spans[open_nodes[0]] = _last_resort(words, spans)
        strict = bool(more) and strict
    assert complete(graph, words, start) == [spans[node] for node in range(len(graph))]


@given(graphs(), WORDS)
def test_twins_have_one_label_and_the_same_candidates(graph, tokens):
    options, _ = candidates(graph, Words.from_tokens(tokens))
    expected = [
        (one, other)
        for one, other in combinations([node for node, each in enumerate(options) if each], 2)
        if graph.labels[one] == graph.labels[other]
        and {c.tokens for c in options[one]} == {c.tokens for c in options[other]}
    ]
    assert SpanSelection(graph, options, {}, len(tokens)).twins == expected


def test_nodes_that_swap_spans_hold_the_tokens_that_they_get():
    words = "the dog barked and the other dog slept".split()
    text = "(a / and :op1 (b / bark-01 :ARG0 (d / dog)) :op2 (s / sleep-01 :ARG0 (d2 / dog)))"
    graph = entry(" ".join(words), text).graph
    options, _ = candidates(graph, Words.from_tokens(words))
    verbs = {graph.labels.index("bark-01"): (2,), graph.labels.index("sleep-01"): (7,)}
    selection = SpanSelection(graph, options, verbs, len(words))
    ((one, other),) = selection.twins
    for node, tokens in ((one, (6,)), (other, (1,))):
        selection.spans[node] = tokens
        selection._hold(node, tokens)
    assert selection._swap(one, other)
    assert selection.spans == {**verbs, one: (1,), other: (6,)}
    assert selection.holders == {2: {min(verbs)}, 7: {max(verbs)}, 1: {one}, 6: {other}}


@pytest.mark.parametrize("piece", ["s", "www"])
@pytest.mark.parametrize("token", ["s", "wwx", "b"])
def test_a_string_of_many_pieces_takes_linear_time(piece, token):
    words = Words.from_tokens([token] * 12)
    assert grows_linearly(lambda size: name_spans([piece] * size, words), 40)


def test_a_chain_of_concepts_without_words_takes_linear_time():
    def chain(size: int):
        nodes = "".join(f"(t{number} / thing :mod " for number in range(size))
        return align_entry(entry("a b", f"{nodes}(z / zoo{')' * size})"))

    assert grows_linearly(chain, 30)


LARGE = [
    (" ".join(["w"] * (MOST + 1)), "(a / b)", "1,001 words"),
    ("w" + "-w" * MOST, "(a / b)", "1,001 words"),
    ("w", "(a / b " + " ".join(f":x {number}" for number in range(MOST)) + ")", "1,001 nodes"),
    ("w", f'(a / b :x "{" ".join(["s"] * MOST)}")', "1,001 nodes"),
    ("w", "(a / b :x (c / d) " + " ".join(f":op{number} c" for number in range(MOST)) + ")", "1,001 edges"),
]


@pytest.mark.parametrize(("words", "penman", "said"), LARGE)
def test_an_entry_that_is_too_large_is_refused(words, penman, said):
    large = entry(words, penman)
    for call in (align_entry, lambda one: train_table([one])):
        with pytest.raises(InputError, match=f"{said}.* but the aligner takes 1,000 at the most"):
            call(large)


@pytest.mark.parametrize("command", [["align", "{bank}", "-"], ["oracle", "{bank}", "--system", "amr"]])
def test_a_large_entry_of_a_bank_is_named_or_left_out(command, tmp_path):
    words, penman, said = LARGE[3]
    bank = tmp_path / "bank.amr"
    bank.write_text(f"# ::id small\n# ::snt w\n(w / w)\n\n# ::id large\n# ::snt {words}\n{penman}\n")
    arguments = [part.format(bank=bank) for part in command]
    refused = run_here(*arguments, status=2).stderr
    assert f"{bank}:5: " in refused and said in refused and refused.count("\n") == 1
    assert said in run_here(*arguments, "--skip-bad").stderr
