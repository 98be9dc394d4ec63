"""Graph2Graph: layers against transformers, attention and composition against loops, the paper's algorithms by hand."""

import itertools
import math
from argparse import Namespace

import pytest
import torch
from torch import nn
from transformers import AutoModel

from tests.helpers.small_models import (
    MODELS,
    make_criterion,
    make_model,
    task_and_batch,
    task_of,
    tiny_encoder,
    with_words,
)
from tests.helpers.tiny_encoder import LAYERS, LONGEST, make_encoder
from transition_parser.base.errors import InputError
from transition_parser.models.graph2graph.decoders import BUFFER, DELETED, STACK, Classifiers, Composition
from transition_parser.models.graph2graph.encoder import (
    CLS,
    SEP,
    SPECIAL_TOKENS,
    PretrainedLayers,
    Transformer,
    relations_of,
)
from transition_parser.models.registry import architecture_of
from transition_parser.modules.action_scores import BiaffineHeads, Kinds, RelationsOfHeads
from transition_parser.modules.bert import (
    DEPENDENT_OF,
    FIRST_OF,
    HEAD_OF,
    NONE,
    PIECE_OF,
    RELATIONS,
    BertConfig,
    BertLayer,
    CellLayout,
    Visible,
)
from transition_parser.modules.pretrained import LR_SCALE
from transition_parser.states.table import ActionTable
from transition_parser.transitions import Action

EXACT, CLOSE = 1e-10, 1e-5


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    return task_of("arc-standard", tmp_path_factory)


@pytest.fixture(scope="module")
def batch(tmp_path_factory):
    return task_and_batch("arc-standard", tmp_path_factory, range(1, 9), 6)[1]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> str:
    return str(make_encoder(tmp_path_factory.mktemp("encoder") / "tiny"))


# --- layers ---------------------------------------------------------------------------------


def test_copied_layers_compute_what_transformers_does(encoder):
    """With and without attention that could be told a graph: relations start at zero."""
    source = PretrainedLayers(encoder, "", LAYERS)
    ids = torch.tensor([[2, 7, 9, 30, 3], [2, 8, 3, 0, 0]])
    there = ids > 0
    with torch.no_grad():
        network = AutoModel.from_pretrained(encoder)
        wanted = network(input_ids=ids, attention_mask=there.long(), output_hidden_states=True).hidden_states
        words = source.embeddings.word_embeddings(ids)
        position = torch.arange(5).expand(2, -1)
        for layers in range(1, LAYERS + 1):
            for graph in (False, True):
                sizes = source.config._replace(vocab_size=0, pad_token_id=None, num_hidden_layers=layers)
                ours = Transformer(sizes._replace(type_vocab_size=3), graph).eval()
                source.give_to(ours)
                relations = torch.randint(len(RELATIONS), (2, 5, 5)) if graph else None
                found = ours(words, position, torch.zeros_like(position), Visible(there, position, relations))
                assert (found - wanted[layers])[there].abs().max() < CLOSE


def test_what_is_pretrained_learns_at_its_own_rate(task, encoder):
    for name in ("sentence_transformer_small", "state_transformer_g2g_small"):
        architecture = architecture_of(name)
        args = Namespace(pretrained=encoder, pretrained_lr_scale=0.25)
        model = architecture.build(architecture.options.of_namespace(args, architecture.defaults), task.resources)
        slow = {name for name, parameter in model.named_parameters() if getattr(parameter, LR_SCALE, 1.0) == 0.25}
        other = {name for name, _ in model.named_parameters()} - slow
        assert {"encoder.marks", "encoder.inputs.pieces.embed.weight"} <= slow
        assert any("layer.0.intermediate" in name for name in slow) and any(
            "position_embeddings" in name for name in slow
        )
        fresh = ("relation_", "classifiers.", "labels.", "encoder.root", "history.")
        assert all(any(part in name for part in fresh) for name in other), other
        assert not any(part in name for part in fresh for name in slow)


@pytest.mark.parametrize("name", ["sentence_transformer_g2g_small", "state_transformer_small"])
def test_layers_above_those_of_the_encoder_are_new(name, task, encoder):
    """Although this encoder has a further layer."""
    architecture = architecture_of(name)
    args = Namespace(pretrained=encoder, pretrained_lr_scale=0.25, encoder_layers=LAYERS - 1, fresh_layers=2)
    model = architecture.build(architecture.options.of_namespace(args, architecture.defaults), task.resources)
    layers, theirs = model.decoder.transformer.layers, PretrainedLayers(encoder, "", 1).network.encoder.layer
    assert len(layers) == LAYERS + 1 and len(theirs) == LAYERS
    for number, layer in enumerate(layers):
        copied = number < LAYERS - 1
        if number < LAYERS:
            assert torch.equal(layer.intermediate.dense.weight, theirs[number].intermediate.dense.weight) == copied
        assert getattr(layer.intermediate.dense.weight, LR_SCALE, 1.0) == (0.25 if copied else 1.0)


@pytest.mark.parametrize("some", [False, True])
def test_attention_is_that_of_the_paper(some):
    """Eqs 3 and 4, pair by pair; some: for some slots alone."""
    torch.manual_seed(1)
    layer = BertLayer(BertConfig(9, 8, 1, 2, 16, 9), graph=True).double()
    of_words = layer.attention["self"]
    for table in (layer.relation_keys, layer.relation_values):
        nn.init.normal_(table)
    x, relations = torch.randn(3, 5, 8).double(), torch.randint(len(RELATIONS), (3, 5, 5))
    there = torch.tensor([[True] * 5, [True] * 3 + [False] * 2, [True, False, True, False, True]])
    visible = Visible(
        there, torch.tensor([[3, 0], [2, 2], [4, 1]]) if some else torch.arange(5).expand(3, -1), relations
    )
    layout = CellLayout.of_all(visible)
    read = layer._read_block(layout.parts[0], *(of_words[name](x) for name in ("query", "key", "value")))
    found = read.flatten(0, 1)[layout.asking].unflatten(0, (3, -1))
    for n in range(3):
        for place, i in enumerate(visible.wanted[n].tolist()):
            for head in range(2):
                part = slice(4 * head, 4 * head + 4)
                query = of_words["query"](x[n, i])[part]
                keys, values = of_words["key"](x[n]), of_words["value"](x[n])
                seen = [j for j in range(5) if there[n, j]]
                scores = [query @ (keys[j, part] + layer.relation_keys[relations[n, i, j]]) / 2 for j in seen]
                total = sum(math.exp(score) for score in scores)
                wanted = sum(
                    math.exp(score) / total * (values[j, part] + layer.relation_values[relations[n, i, j]])
                    for score, j in zip(scores, seen, strict=True)
                )
                assert (found[n, place, part] - wanted).abs().max() < EXACT


# --- classifiers ----------------------------------------------------------------------------


@pytest.mark.parametrize("system", ["arc-standard", "arc-hybrid-swap"])
def test_classifiers_read_the_words_that_an_action_is_about(system, tmp_path_factory):
    """Exist s2, s1, b1; Relation the two words of the arc, of which there may be none, and all of them the history."""
    table = task_of(system, tmp_path_factory).table
    options = architecture_of("state_transformer_g2g").options(relation_width=6, exist_width=7).check()
    torch.manual_seed(1)
    kinds = Kinds(table)
    classifiers = Classifiers(table, kinds, 4, options, 3, False).eval()
    s1, s2, b1, history = *torch.randn(3, 4), torch.randn(3)
    factored = classifiers(torch.stack([s1, s2, b1])[None], history[None])
    wanted = classifiers.exist.output(classifiers.exist.inner(torch.cat([s2, s1, b1, history])).relu())
    assert torch.allclose(factored.kinds[0], wanted, atol=CLOSE)
    ends = {"RIGHT_ARC": (s2, s1), "LEFT_ARC": (s2, s1) if system == "arc-standard" else (s1, b1)}
    for number, kind in enumerate(("LEFT_ARC", "RIGHT_ARC")):
        scores = classifiers.relation.output(classifiers.relation.inner(torch.cat([*ends[kind], history])).relu())
        of_kind = scores.unflatten(0, (2, -1))[number]
        for token, action in enumerate(table.actions):
            if action is not None and action.kind.name == kind:
                assert torch.allclose(factored.labels[0, token], of_kind[table.relation[token]], atol=CLOSE)


# --- the paper's algorithms -----------------------------------------------------------------


def walked(task, kind: str, batch: dict, actions: list[str]) -> tuple:
    """The decoder, the slots and the states before each of some actions for the first sentence of the batch."""
    model = make_model(kind, task.resources).eval()
    with torch.no_grad():
        slots = model.plain.encode(with_words(model, task, batch)["net_input"]).rows(torch.tensor([0]))
    decoder = model.plain.decoder
    tokens = [decoder.table.actions.index(Action.parse(action)) for action in actions]
    machine = decoder.machine(slots)
    steps = machine.unroll(torch.tensor([[*tokens, decoder.table.end]]))
    return decoder, slots, steps


@pytest.fixture(scope="module")
def two_words(tmp_path_factory):
    """Sentences of two words: the tree of the first one, and its actions, are set below."""
    return task_and_batch("arc-standard", tmp_path_factory, range(2, 3), 2)[1]


def two_arcs(table: ActionTable) -> tuple[list[str], list[int]]:
    """A derivation over two words, the first the dependent of the second, and the relations of both."""
    names = [action for action in map(str, filter(None, table.actions)) if action.startswith("LEFT-ARC")]
    left, root = (next(name for name in names if ("root" in name) == wanted) for wanted in (False, True))
    relations = [table.relations.index(action.partition("(")[2].rstrip(")")) for action in (left, root)]
    return ["SHIFT", "SHIFT", left, "SHIFT", root], relations


def digits(rows: str) -> list[list[int]]:
    """A list of numbers of one digit for each row; s, b and d are STACK, BUFFER and DELETED."""
    segments = {"s": STACK, "b": BUFFER, "d": DELETED}
    return [[segments[one] if one in segments else int(one) for one in row] for row in rows.split()]


def test_the_graph_input_of_two_words_by_hand(task, two_words):
    """Algorithm 2: the second word becomes the head of the first, and the root (word 3) its head."""
    actions, (of_arc, of_root) = two_arcs(task.table)
    _, slots, states = walked(task, "sentence graph", two_words, actions)
    flat = states.flattened()
    found = relations_of(slots.rows(torch.zeros(6, dtype=torch.long)), flat.head.long())
    nothing = torch.full((6, 6), NONE)
    one_arc = nothing.clone()
    one_arc[1, 0], one_arc[0, 1] = HEAD_OF, DEPENDENT_OF
    both = one_arc.clone()
    both[2, 1], both[1, 2] = HEAD_OF, DEPENDENT_OF
    # before SHIFT, SHIFT, LEFT-ARC, SHIFT, LEFT-ARC of the root, and the end; CLS and SEPs are related to nothing
    for relations, wanted in zip(found, [nothing, nothing, nothing, one_arc, one_arc, both], strict=True):
        assert torch.equal(relations, wanted)
    assert flat.relation.tolist() == [[0, 0, 0]] * 3 + [[of_arc, 0, 0]] * 2 + [[of_arc, of_root, 0]]


def test_the_deleted_list_of_two_words_by_hand(task, two_words):
    """Algorithm 1: CLS, the stack from its bottom, SEP, the buffer, SEP, and what has left both."""
    decoder, slots, states = walked(task, "state graph", two_words, two_arcs(task.table)[0])
    of_steps = slots.rows(torch.zeros(6, dtype=torch.long))
    there, position, segment = decoder.layout(of_steps, states.flattened())
    assert there.all()
    # columns: first word, second word, root; CLS, SEP, SEP; the last row is CLS R SEP SEP 1 2
    assert position.tolist() == digits("234015 134025 124035 513024 512034 451023")
    assert segment.tolist() == digits("bbbssb sbbssb ssbssb dsbssb dssssb ddsssb")
    decoder.segment_positions = True  # counted anew in each segment: CLS R SEP | SEP | 1 2
    _, position, _ = decoder.layout(of_steps, states.flattened())
    assert position.tolist() == digits("123014 112023 121032 111022 112031 121021")


def test_further_pieces_depend_on_the_first_one(task, batch):
    model = make_model("pretrained graph", task.resources).eval()
    slots = model.plain.encode(with_words(model, task, batch)["net_input"])
    wide = slots.words.size(1)
    assert int(slots.owner.max()) > 0
    head = torch.zeros(slots.words.shape[:2], dtype=torch.long)
    found = relations_of(slots, head)
    wanted = torch.zeros_like(found)
    for row, owners in enumerate(slots.owner.tolist()):
        for place, owner in enumerate(owners, wide + len(SPECIAL_TOKENS)):
            if owner >= 0:
                wanted[row, owner, place], wanted[row, place, owner] = FIRST_OF, PIECE_OF
    assert torch.equal(found, wanted)


def read(model, net_input: dict) -> tuple:
    """What the encoder returns, and the states of the gold derivations."""
    encoder_out = model.plain.encode(net_input)
    return encoder_out, model.plain.decoder.states(net_input["prev_output_tokens"], encoder_out)


# --- composition ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["composed", "appendix A"])
def test_composition_word_by_word(task, batch, kind):
    """Eq. 11 over gold derivations, with all that each word has got kept in lists; appendix A leaves out a summand."""
    model = make_model(kind, task.resources).eval()
    composition: Composition = model.plain.decoder.composition.double()
    for parameter in composition.parameters():
        nn.init.normal_(parameter, std=0.5)
    encoder_out, states = read(model, batch["net_input"])
    words = encoder_out.words.double()
    found = composition.all_steps(words, states)
    for row, length in enumerate(encoder_out.lengths.tolist()):
        now = [words[row, i] for i in range(length + 1)]
        latest: dict[int, tuple[int, int]] = {}
        heads: dict[int, int] = {}
        for step in range(1, found.size(1)):
            for word in range(length):
                offset = int(states.head[row, step, word])
                if offset and word not in heads:
                    heads[word] = word + offset
                    label = int(states.relation[row, step, word]) + composition.relations * (offset > 0)
                    latest[word + offset] = word, label
            before = list(now)
            for word in range(length + 1):
                if not (states.stack[row, step, word] or states.buffer[row, step, word]):
                    continue
                dependent, label = latest.get(word, (-1, 0))
                of_dependent = before[dependent] if dependent >= 0 else composition.no_dependent
                hidden = composition.head(before[word]) + composition.dependent(of_dependent)
                hidden = hidden + composition.label(composition.labels.weight[label])
                now[word] = composition.output(hidden.tanh()) + (before[word] if kind == "composed" else 0.0)
            assert (found[row, step, : length + 1] - torch.stack(now)).abs().max() < EXACT


# --- what is read again ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["sentence graph", "composed", "state graph"])
def test_sampled_steps_stand_for_all(task, batch, kind):
    """As many as there are give the loss of all; fewer are so many of each, none of padding."""
    criterion, model, losses = make_criterion(task), make_model(kind, task.resources).train(), []
    decoder = model.plain.decoder
    for decoder.sampled_states in (0, 1000):
        losses.append(criterion(model, batch)[0].detach())
    assert torch.allclose(*losses, rtol=CLOSE)
    decoder.sampled_states = 2
    actions = batch["net_input"]["prev_output_tokens"]
    torch.manual_seed(1)
    one, two = decoder.sampled_steps(actions), decoder.sampled_steps(actions)
    assert one.sum(1).tolist() == [2] * len(actions) and not torch.equal(one, two)
    assert not (one & (actions == decoder.padding)).any()


# --- whole trees, refined ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def of_any_shape(tmp_path_factory):
    """The task, and a batch of it, of a system that builds every tree."""
    return task_and_batch("arc-hybrid-swap", tmp_path_factory, range(1, 9), 6)


def refined(of_any_shape) -> tuple:
    """A model, the slots of the batch, and its readings."""
    task, batch = of_any_shape
    model = make_model("refined", task.resources).eval()
    for name, table in model.named_parameters():
        if "relation_" in name:  # new ones are zero
            nn.init.normal_(table)
    slots = model.plain.encode(batch["net_input"])
    return model, slots, list(model.plain.decoder.readings(slots))


def test_each_reading_knows_the_best_heads_of_the_one_before(of_any_shape):
    """The graph made by plain loops."""
    model, slots, readings = refined(of_any_shape)
    decoder = model.plain.decoder
    for before, after in itertools.pairwise(readings):
        labels = torch.zeros(slots.mask.shape, dtype=torch.long)
        relations = torch.zeros(len(labels), *slots.slots.shape[1:2] * 2, dtype=torch.long)
        scores = decoder.heads(before)
        for row, length in enumerate(slots.lengths.tolist()):
            for word in range(length):
                others = [head for head in range(length + 1) if head != word]
                head = max(others, key=lambda head: scores[row, word, head].item())
                carried = decoder.may_carry[int(head == length)]
                at_head = decoder.relations(before[row : row + 1, [word, head]], torch.tensor([[1]]))[0, 0]
                labels[row, word] = at_head.masked_fill(carried == 0, float("-inf")).argmax()
                relations[row, word, head] = DEPENDENT_OF
                if relations[row, head, word] == NONE:  # else they are each other's head
                    relations[row, head, word] = HEAD_OF
        wide = labels.size(1)
        x = torch.cat([slots.slots[:, :wide] + decoder.labels(labels), slots.slots[:, wide:]], 1)
        segment = torch.zeros_like(slots.position)
        transformer = model.plain.encoder.transformer
        every = torch.arange(wide).expand(len(x), -1)
        found = transformer(x, slots.position, segment, Visible(slots.there, every, relations))
        assert (found - after)[slots.mask].abs().max() < CLOSE


def test_all_readings_are_trained_and_no_gradient_goes_through_a_graph(of_any_shape):
    task, batch = of_any_shape
    model = make_model("refined", task.resources)
    _, extra = model(**batch["net_input"])
    assert len(extra["decisions"]) == 6
    (first, _, second, *_) = extra["decisions"]
    weight = model.plain.decoder.heads.form.weight
    for decision in (first, second):
        (gradient,) = torch.autograd.grad(decision.scores.sum(), weight, retain_graph=True)
        assert gradient.abs().max() > 0
    labels = model.plain.decoder.labels.weight
    assert torch.autograd.grad(first.scores.sum(), labels, retain_graph=True, allow_unused=True) == (None,)
    assert torch.autograd.grad(second.scores.sum(), labels)[0].abs().max() > 0


def test_the_kernel_scores_relations_as_training_does():
    """In bf16, parsing takes a kernel and training does not."""
    torch.manual_seed(1)
    relations = RelationsOfHeads(24, 9, 7).to(torch.bfloat16)
    words, heads = torch.randn(3, 6, 24).to(torch.bfloat16), torch.randint(0, 6, (3, 5))
    with torch.no_grad():
        found = relations(words, heads)
    assert found.dtype is torch.float and torch.allclose(found, relations(words, heads), atol=1e-5)


def test_biaffine_scores_are_those_of_the_papers():
    """In float64, by plain loops."""
    torch.manual_seed(1)
    words, heads = torch.randn(2, 4, 6, dtype=torch.double), torch.tensor([[1, 3, 0, 2], [3, 3, 3, 0]])
    arcs, relations = BiaffineHeads(6, 5, 0.0).double().eval(), RelationsOfHeads(6, 5, 7).double()
    found, of_relations = arcs(words), relations(words, heads)
    for row, dependent, head in itertools.product(range(2), range(4), range(4)):
        x = torch.relu(arcs.of_dependent(words[row, dependent]))
        y = torch.relu(arcs.of_head(words[row, head]))
        wanted = x @ arcs.form.weight[:, :5].T @ y + arcs.form.weight[:, 5] @ y
        assert abs(found[row, dependent, head] - wanted) < EXACT
    pairs = relations.pairs
    one = torch.ones(1, dtype=torch.double)
    for row, dependent in itertools.product(range(2), range(4)):
        x = torch.cat([pairs.of_dependent(words[row, dependent]), one])
        y = torch.cat([pairs.of_head(words[row, heads[row, dependent]]), one])
        for relation, form in enumerate(pairs.form.weight.unflatten(0, (7, 6))):
            assert abs(of_relations[row, dependent, relation] - y @ form @ x) < EXACT


# --- what can't be done ---------------------------------------------------------------------


def test_amrs_are_refused(tmp_path_factory):
    amrs = task_of("amr", tmp_path_factory)
    for kind in ("sentence", "state graph", "refined"):
        with pytest.raises(InputError, match="reads and writes dependency trees, not amr"):
            make_model(kind, amrs.resources)


def test_a_sentence_is_read_as_transformers_reads_it(task, batch):
    """Slots in their order, with the root before the last SEP, before any arc."""
    model = make_model("pretrained graph", task.resources).eval()
    net_input = with_words(model, task, batch)["net_input"]
    with torch.no_grad():
        slots = model.plain.encode(net_input)
        decoder = model.plain.decoder
        states = decoder.machine(slots).observe()
        every = torch.arange(slots.slots.size(1)).expand(len(slots.position), -1)
        found = decoder.vectors(slots, states, None, every)
        options = architecture_of(MODELS["pretrained graph"][0]).defaults
        assert torch.equal(slots.slots[:, : slots.words.size(1)], slots.words)
        network = AutoModel.from_pretrained(tiny_encoder())
        compared = 0
        for row, there in enumerate(slots.there):
            order = slots.position[row].masked_fill(~there, 10**6).argsort()[: int(there.sum())]
            assert slots.position[row, order].tolist() == list(range(len(order)))
            assert order[0] == slots.words.size(1) + CLS and order[-1] == slots.words.size(1) + SEP
            assert order[-2] == slots.lengths[row]
            if len(order) > LONGEST:  # that it can read; ours go on with its last position
                continue
            compared += 1
            hidden = network(inputs_embeds=slots.slots[row : row + 1, order], output_hidden_states=True).hidden_states
            assert (hidden[options["encoder_layers"]][0] - found[row, order]).abs().max() < CLOSE
    assert compared > 1
