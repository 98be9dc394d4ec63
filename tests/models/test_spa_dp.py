"""SPA-DP: rescans against loops that are written out, trees against all trees, sentences alone and in a batch."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tests.helpers.small_models import make_model, task_and_batch, task_of
from tests.states.brute_force import all_trees
from transition_parser.base.errors import InputError
from transition_parser.models import spa_dp
from transition_parser.models.registry import architecture_of
from transition_parser.models.spa_dp import (
    BilinearHeads,
    PairScores,
    RelationScores,
    SequencePreservedAttention,
    VanillaAttention,
)
from transition_parser.modules.contract import only_legal
from transition_parser.states.costs import GoldTrees

EXACT = 1e-10
LENGTHS = (4, 1, 6)  # of words and root


@pytest.fixture
def sentences() -> tuple[torch.Tensor, torch.Tensor]:
    """Words (B, P, 5) in float64, and the mask."""
    torch.manual_seed(1)
    lengths = torch.tensor(LENGTHS)
    return torch.randn(len(LENGTHS), max(LENGTHS), 5).double(), torch.arange(max(LENGTHS)) < lengths[:, None]


# --- rescans --------------------------------------------------------------------------------


def gated_pass(attention: SequencePreservedAttention, side: int, sequence: list[torch.Tensor]) -> torch.Tensor:
    """SPA(u, v_1, v_2, …) by the equations in the docstring, one word after the other. side: 0 left, 1 right."""
    weights, biases = (x.chunk(2)[side].chunk(3) for x in (attention.project.weight, attention.project.bias))
    recurrent = attention.recurrent[side].chunk(3, 1)
    found = torch.zeros(recurrent[0].size(0)).double()
    for word in sequence:
        from_word = [weight @ word + bias for weight, bias in zip(weights, biases, strict=True)]
        from_found = [found @ part for part in recurrent]
        share, reset = (torch.sigmoid(from_word[gate] + from_found[gate]) for gate in (0, 1))
        new = torch.tanh(from_word[2] + reset * from_found[2])
        found = (1 - share) * found + share * new
    return found


@pytest.mark.parametrize("from_target", [False, True])
@pytest.mark.parametrize("together", [1, 2, 5])
def test_rescans_are_the_passes_of_the_paper(sentences, from_target, together, monkeypatch):
    """together: so many targets leave them at once."""
    monkeypatch.setattr(spa_dp, "_leaving_together", lambda _: together)
    words, mask = sentences
    attention = SequencePreservedAttention(5, 3, from_target).double()
    torch.nn.init.normal_(attention.project.bias)
    found = attention(words, mask)
    for b, length in enumerate(LENGTHS):
        h = list(words[b, :length])
        for i in range(length):
            left, right = h[:i], h[i + 1 :][::-1]  # from the boundaries to the neighbors
            if from_target:
                left, right = left[::-1], right[::-1]
            wanted = torch.cat([gated_pass(attention, 0, [h[i], *left]), gated_pass(attention, 1, [h[i], *right])])
            assert torch.allclose(found[b, i], wanted, rtol=0, atol=EXACT)


def test_vanilla_attention_is_that_of_the_paper(sentences):
    words, mask = sentences
    attention = VanillaAttention(5, 4).double()
    found = attention(words, mask)
    for b, length in enumerate(LENGTHS):
        for i in range(length):
            layer = attention.relevance
            scores = [
                layer.weigh(torch.relu(layer.first(words[b, i]) + layer.second(words[b, j]))) for j in range(length)
            ]
            total = sum(score.exp() for score in scores)
            wanted = sum(scores[j].exp() / total * words[b, j] for j in range(length))
            assert torch.allclose(found[b, i], wanted, rtol=0, atol=EXACT)


# --- scores ---------------------------------------------------------------------------------


def test_scores_of_heads_are_those_of_the_paper(sentences):
    words = sentences[0]
    bilinear, concat = BilinearHeads(5).double(), PairScores(5, 3).double()
    by_product, by_layer = bilinear(words), concat(words)
    for b, i, j in itertools.product(range(3), range(6), range(6)):
        dependent, head = words[b, i], words[b, j]
        assert float(by_product[b, i, j]) == pytest.approx(float(head @ bilinear.project.weight @ dependent), abs=EXACT)
        hidden = torch.relu(concat.second.weight @ head + concat.first(dependent))
        assert float(by_layer[b, i, j]) == pytest.approx(float(concat.weigh(hidden)), abs=EXACT)


def test_scores_of_relations_read_a_word_and_its_head(sentences):
    words, heads = sentences[0], torch.randint(0, 6, (3, 4))
    score = RelationScores(5, 3, 7).double()
    found = score(words, heads)
    for b, i in itertools.product(range(3), range(4)):
        hidden = torch.relu(score.dependent(words[b, i]) + score.head(words[b, heads[b, i]]))
        assert torch.allclose(found[b, i], score.output(hidden), rtol=0, atol=EXACT)


# --- trees ----------------------------------------------------------------------------------


TREES = {n: np.array([tree.heads for tree in all_trees(n, projective=False)]) for n in range(1, 7)}


# --- whole models ---------------------------------------------------------------------------


@pytest.fixture
def case(request, tmp_path_factory):
    """A task, a batch and a model of random weights."""
    system, kind = request.param
    task, batch = task_and_batch(system, tmp_path_factory, range(1, 9), 6)
    return SimpleNamespace(task=task, batch=batch, model=make_model(kind, task.resources).eval(), kind=kind)


GRAPH_CASES = [("arc-standard-swap", "heads"), ("arc-hybrid-swap", "heads")]


@pytest.mark.parametrize("case", GRAPH_CASES, indirect=True, ids=" ".join)
def test_gold_derivations_give_gold_heads_and_relations(case):
    plain, net_input = case.model.plain, case.batch["net_input"]
    with torch.no_grad():
        heads, relations = plain.decoder.decisions(plain.encode(net_input), GoldTrees(**net_input["trees"]))
    for i, (_, tree) in enumerate(case.batch["references"]):
        n = len(tree)
        assert heads.counted[i].tolist() == [True] * n + [False] * (heads.counted.size(1) - n)
        assert heads.target[i, :n].tolist() == [head - 1 if head else n for head in tree.heads]
        names = [case.task.table.relations[relation] for relation in relations.target[i, :n].tolist()]
        assert names == list(tree.relations)
        for word, head in enumerate(tree.heads):
            assert heads.competing[i, word].tolist() == [
                float(j <= n and j != word) for j in range(heads.competing.size(2))
            ]
            may = [
                bool(relation) and case.task.table.system.roots.allow(relation, head == 0)
                for relation in case.task.table.relations
            ]
            assert relations.competing[i, word].bool().tolist() == may


@pytest.mark.parametrize("case", GRAPH_CASES, indirect=True, ids=" ".join)
def test_trees_are_those_of_the_scores(case):
    """Their scores are log-probabilities of heads and relations."""
    plain, net_input = case.model.plain, case.batch["net_input"]
    with torch.no_grad():
        encoder_out = plain.encode(net_input)
        heads, _ = plain.decoder.decisions(encoder_out, GoldTrees(**net_input["trees"]))
        by_head = only_legal(heads.scores, heads.competing).log_softmax(-1)
    system = case.task.table.system
    for i, (tree, scores) in enumerate(plain.decoder.trees(encoder_out)):
        n = len(tree)
        if n <= 6:
            logs = by_head[i, :n, : n + 1].double().numpy()
            totals = logs[np.arange(n), TREES[n] - 1].sum(1)
            assert tree.heads == tuple(TREES[n][totals.argmax()].tolist())
        positions = [head - 1 if head else n for head in tree.heads]
        total = sum(float(by_head[i, word, head]) for word, head in enumerate(positions))
        assert sum(scores) < total < 0  # the relations have their share
        assert all(system.roots.allow(label, head == 0) for head, label in zip(tree.heads, tree.relations, strict=True))


def test_tags_are_predicted_from_the_words_as_they_are_read(tmp_path_factory):
    """The heads of columns see words that the scan and the rescan hide; the decoder does not."""
    model = make_model("bot", task_of("arc-standard", tmp_path_factory).resources).plain.eval()
    encoder, tokens = model.encoder, torch.tensor([[4, 5, 6, 2]])
    read, mask = encoder.read_words(tokens, None)
    found = encoder(tokens)
    assert found.words.size(-1) == encoder.output_width
    assert torch.equal(found.tagged, torch.cat([found.words, read], -1))
    assert found.tagged.size(-1) == encoder.tagged_width
    assert torch.equal(encoder.scan(read, mask).words, found.words[..., : -encoder.rescan.output_width])
    assert found.rows(torch.tensor([0, 0])).read is None


@pytest.mark.parametrize("system", ["arc-eager", "arc-standard", "amr"])
def test_the_graph_parser_needs_a_system_that_builds_every_tree(system, tmp_path_factory):
    architecture, resources = architecture_of("spa_dp_graph_small"), task_of(system, tmp_path_factory).resources
    with pytest.raises(InputError, match=rf"{system} can't build: .*--system arc-standard-swap or arc-hybrid-swap"):
        architecture.build(architecture.options(), resources)
