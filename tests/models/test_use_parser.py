"""The Unified Structure Encoder: figure 7 of its paper, attention against its equations as loops, two stages."""

import math

import pytest
import torch

from tests.helpers.small_models import make_model, task_and_batch
from tests.helpers.tables import make_machine, make_table
from transition_parser.models.use_parser import (
    ACTIONS,
    ARCS,
    BUFFER,
    RELATIONS,
    STACK,
    STRUCTURES,
    WORDS,
    Structures,
    indicators,
)
from transition_parser.modules.encoder import EncoderOut
from transition_parser.parsing.search import search

EXACT = 1e-10
WORDS_OF_FIGURE_2 = "He has good control".split()
ACTIONS_OF_FIGURE_2 = "SHIFT LEFT-ARC(nsubj) SHIFT SHIFT LEFT-ARC(amod) SHIFT RIGHT-ARC(dobj) LEFT-ARC(root)".split()
# figure 7, row by row: He, has, good, control, root (in the paper the root is the first column); of the arcs at t = 4
# the text that we have says 0 for He, which has had a head since t = 2
FIGURE_7 = {
    STACK: "0 0 0 0 0, 1 0 0 0 0, -1 0 0 0 0, -2 1 0 0 0, -3 2 1 0 0, -4 1 -1 0 0, -5 2 -2 1 0, -6 1 -3 -1 0",
    BUFFER: "1 2 3 4 5, -1 1 2 3 4, -2 1 2 3 4, -3 -1 1 2 3, -4 -2 -1 1 2, -5 -3 -2 1 2, -6 -4 -3 -1 1, -7 -5 -4 -2 1",
    ARCS: "0 0 0 0 0, 0 0 0 0 0, 1 0 0 0 0, 1 0 0 0 0, 1 0 0 0 0, 1 0 1 0 0, 1 0 1 0 0, 1 0 1 -2 0",
    RELATIONS: "0 0 0 0 0, 0 0 0 0 0, nsubj 0 0 0 0, nsubj 0 0 0 0, nsubj 0 0 0 0, nsubj 0 amod 0 0, nsubj 0 amod 0 0, "
    "nsubj 0 amod dobj 0",
}


@pytest.mark.parametrize("in_search", [False, True])
def test_figure_7(in_search):
    """Every cell: as in training, where all steps are made at once, and as in search."""
    structures = Structures(dict.fromkeys(STRUCTURES, 1), 64, 5)
    table = make_table("arc-hybrid", (), ["amod", "dobj", "nsubj", "root"])
    machine = make_machine(table, [WORDS_OF_FIGURE_2], structures.needs)
    tokens = torch.tensor([[table.tokens.index(action) for action in [*ACTIONS_OF_FIGURE_2, "</s>"]]])
    if in_search:
        found = {name: [] for name in FIGURE_7}
        for token in tokens[0]:
            states = machine.observe()
            for name, rows in found.items():
                rows.append(indicators(name, states)[0].tolist())
            machine.apply(token[None])
    else:
        states = machine.unroll(tokens)
        found = {name: indicators(name, states)[0].tolist() for name in FIGURE_7}
    found[RELATIONS] = [[table.relations[i] or "0" for i in row] for row in found[RELATIONS]]
    for name, rows in FIGURE_7.items():
        assert ", ".join(" ".join(map(str, row)) for row in found[name][: len(ACTIONS_OF_FIGURE_2)]) == rows, name


def test_indicators_beyond_the_bound_are_alike():
    structures = Structures(dict.fromkeys(STRUCTURES, 1), 3, 9)
    values = torch.tensor([-9, -3, -2, 0, 1, 3, 4])
    assert structures.row(STACK, values).tolist() == [0, 0, 1, 3, 4, 6, 6]
    assert structures.row(ACTIONS, torch.tensor([1, 3, 4])).tolist() == [1, 3, 3]
    assert structures.row(RELATIONS, torch.tensor([0, 8])).tolist() == [3, 11] and structures.word_values == 12


# --- against the equations ------------------------------------------------------------------


@pytest.fixture(scope="module")
def case_of(tmp_path_factory):
    """A task, a batch and a model in float64, by system and kind of model."""

    def case(system: str, kind: str):
        task, batch = task_and_batch(system, tmp_path_factory, range(2, 8), 4)
        model = make_model(kind, task.resources)
        torch.manual_seed(3)
        for parameter in model.parameters():  # biases and norms too
            parameter.data += 0.1 * torch.randn_like(parameter)
        return task, batch, model.plain.double().eval()

    return case


def dot(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def product(weight: list[list[float]], x: list[float]) -> list[float]:
    return [dot(row, x) for row in weight]


def use(query, items, indicator_keys, indicator_values, w_key, w_value) -> list[float]:
    """Eqs 1 and 2 for one head, number by number."""
    keys = [
        product(w_key, [a + b for a, b in zip(*pair, strict=True)]) for pair in zip(items, indicator_keys, strict=True)
    ]
    values = [
        product(w_value, [a + b for a, b in zip(*pair, strict=True)])
        for pair in zip(items, indicator_values, strict=True)
    ]
    weights = [math.exp(dot(query, key) / math.sqrt(len(query))) for key in keys]
    return [sum(w * v[d] for w, v in zip(weights, values, strict=True)) / sum(weights) for d in range(len(values[0]))]


def layer_in_loops(layer, c, t: int, items: dict, rows: dict) -> torch.Tensor:
    """One layer for one configuration: sec. 4.2. c: that of the layer below, or None. rows: structure → which indicator
    each item has."""
    found = []
    for head, name in enumerate(layer.structures.of_head):
        group = layer.heads[ACTIONS if name == ACTIONS else WORDS]
        first = 0 if name == ACTIONS else layer.structures.heads[ACTIONS]
        number, d = head - first, layer.head_width
        query_rows = slice(head * d, (head + 1) * d)
        w_query = [layer.query_of_time.weight[query_rows], layer.query_of_marker.weight[query_rows]]
        read = [layer.time.weight[min(t, len(layer.time.weight) - 1)], layer.marker[STRUCTURES.index(name)]]
        bias = torch.zeros(d).double()
        if c is not None:
            w_query.append(layer.query_of_configuration.weight[query_rows])
            bias = layer.query_of_configuration.bias[query_rows]
            read.append(layer.query_norm(c))
        query = product(torch.cat(w_query, 1).tolist(), torch.cat(read).tolist())  # W_Q (m_t, m_structure, c)
        query = [a + b for a, b in zip(query, bias.tolist(), strict=True)]
        heads = len(group.structure)
        w_key, w_value = (
            group.key_value.weight[start * d : (start + 1) * d].tolist() for start in (number, heads + number)
        )
        s_key, s_value = (
            table[group.structure[number], rows[name]].tolist()
            for table in (group.key_indicators, group.value_indicators)
        )
        found += use(query, items[ACTIONS if name == ACTIONS else WORDS], s_key, s_value, w_key, w_value)
    found += [0.0] * (layer.width - len(found))
    c = torch.tensor(found, dtype=torch.double) + (0 if c is None else c)
    inner = layer.norm(c)
    return c + layer.feed_forward.outer(torch.relu(layer.feed_forward.inner(inner)))


def sentence_of(encoder_out: EncoderOut, b: int) -> EncoderOut:
    """One sentence of a batch, without padding."""
    n, row = int(encoder_out.lengths[b]) + 1, slice(b, b + 1)
    features = None if encoder_out.features is None else encoder_out.features[row, :n]
    return EncoderOut(encoder_out.words[row, :n], encoder_out.mask[row, :n], encoder_out.lengths[row], features)


def derivation_of(task, batch, row: int) -> tuple[list[str], list[int]]:
    words = task.resources.words(batch["net_input"]["src_tokens"][row].tolist())
    tokens = batch["target"][row].tolist()
    return words, tokens[: tokens.index(task.table.end) + 1]


@pytest.mark.parametrize("kind", ["structures", "few structures"])
@pytest.mark.parametrize("system", ["arc-hybrid-swap", "amr"])
@torch.no_grad()
def test_attention_is_that_of_the_equations(case_of, system, kind):
    """Every step of some derivations, all layers: nothing but eqs 1, 2 and 6 to 9 and sec. 4.2."""
    task, batch, plain = case_of(system, kind)
    decoder, actions = plain.decoder, batch["net_input"]["prev_output_tokens"]
    for layer in decoder.layers:  # fewer than the time steps, of which the last share one
        layer.time = torch.nn.Embedding.from_pretrained(layer.time.weight[:12])
    encoder_out = plain.encode(batch["net_input"])
    states = decoder.states(actions, encoder_out)
    captured = []
    decoder.norm.register_forward_hook(lambda module, given, returned: captured.append(given[0]))
    decoder.factored_scores(actions, encoder_out, states)
    assert len(decoder.layers) == 2 and decoder.layers[1].query_of_configuration is not None
    for b in range(len(actions)):
        words, tokens = derivation_of(task, batch, b)
        n = len(words) + 1
        for t in range(len(tokens)):
            fields = {name: indicators(name, states)[b, t, :n].long() for name in decoder.structures.of_words}
            rows = {name: decoder.structures.row(name, found) for name, found in fields.items()}
            items = {WORDS: encoder_out.words[b, :n].tolist()}
            if decoder.embed is not None:
                items[ACTIONS] = decoder.embed.weight[actions[b, : t + 1]].tolist()
                rows[ACTIONS] = torch.tensor([min(t + 1 - i, decoder.structures.bound) for i in range(t + 1)])
            c = None
            for layer in decoder.layers:
                c = layer_in_loops(layer, c, t, items, rows)
            assert torch.allclose(captured[0][b, t], c, rtol=0, atol=EXACT), (b, t)


@pytest.mark.parametrize("system", ["arc-hybrid-swap", "arc-eager", "arc-standard"])
@torch.no_grad()
def test_relations_are_those_of_eq_5(case_of, system):
    """z = x_i W_1 x_j + (x_i, x_j, c) W_2 + b of the words that the action connects, all of a derivation."""
    task, batch, plain = case_of(system, "structures")
    decoder, actions = plain.decoder, batch["net_input"]["prev_output_tokens"]
    encoder_out = plain.encode(batch["net_input"])
    captured = []
    decoder.norm.register_forward_hook(lambda module, given, returned: captured.append(returned))
    labels = decoder.factored_scores(actions, encoder_out, decoder.states(actions, encoder_out)).labels
    scores, of_c, table = decoder.classifier.relations, decoder.classifier.of_configuration, task.table
    width = scores.of_head.out_features + 1
    form = scores.form.weight.view(-1, width, width)  # relation, head, dependent
    w_1, of_head, of_dependent, b = form[:, :-1, :-1], form[:, :-1, -1], form[:, -1, :-1], form[:, -1, -1]
    arcs = 0
    for row in range(len(actions)):
        words, tokens = derivation_of(task, batch, row)
        state, x = table.system.initial(words), encoder_out.words[row]
        for t, token in enumerate(tokens[:-1]):
            for other, action in enumerate(table.actions):
                if action is None or table.system.why_illegal(state, action):
                    continue
                after = table.system.apply(state, action)
                new = [i for i, (old, now) in enumerate(zip(state.heads, after.heads, strict=True)) if old != now]
                if not new:
                    continue
                head = scores.of_head(x[after.heads[new[0]]])
                dependent = scores.of_dependent(x[new[0]])
                z = torch.einsum("a,rab,b->r", head, w_1, dependent) + of_head @ head + of_dependent @ dependent + b
                z = z + of_c.weight @ captured[0][row, t]
                assert float(labels[row, t, other]) == pytest.approx(float(z[table.relation[other]]), abs=EXACT)
                arcs += 1
            state = table.system.apply(state, table.actions[token])
    assert arcs > 100


# --- two stages -----------------------------------------------------------------------------


@pytest.mark.parametrize("system", ["arc-hybrid-swap", "arc-eager", "arc-standard", "amr"])
@torch.no_grad()
def test_greedy_search_takes_the_best_kind_and_then_its_best_label(case_of, system):
    """Against teacher forcing over what it took, step by step; its scores are those of both decisions."""
    _, batch, plain = case_of(system, "structures")
    plain, encoder_out = plain.float(), plain.encode(batch["net_input"])
    decoder, kinds, differs = plain.decoder, plain.decoder.kinds, 0
    for b, (hypothesis,) in enumerate(search(plain, encoder_out)):
        alone = sentence_of(encoder_out, b)
        actions = torch.tensor([[decoder.table.end, *hypothesis.tokens[:-1]]])
        states = decoder.states(actions, alone)
        factored, legal = decoder.factored_scores(actions, alone, states), decoder.legality(states)
        scores = decoder.scores(actions, alone, states)
        for t, token in enumerate(hypothesis.tokens):
            there = (legal[0, t] > 0).nonzero()[:, 0].tolist()
            best = max({int(kinds.kind[o]) for o in there}, key=lambda kind: float(factored.kinds[0, t, kind]))
            if system != "amr":  # search of AMRs has limits of its own
                assert int(kinds.kind[token]) == best
                alike = [o for o in there if int(kinds.kind[o]) == best]
                assert token == max(alike, key=lambda o: float(factored.labels[0, t, o]))
                assert hypothesis.step_scores[t] == pytest.approx(float(scores[0, t, token]), abs=1e-4)
            differs += token != max(there, key=lambda o: float(scores[0, t, o]))
    assert differs > 0  # or this says nothing
