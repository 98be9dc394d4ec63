"""Δ scores against derivatives by finite differences, alone and in batches, and the command that prints them."""

from collections import Counter

import pytest
import torch

from tests.conftest import SAMPLE, SAMPLE_AMR, run_here
from tests.models.test_use_parser import sentence_of
from tests.small_models import make_batch, make_folder, make_model, make_task
from transition_parser import Parser
from transition_parser.analysis.deltas import ALL, PARTS, delta_scores, summed_deltas, tables_of
from transition_parser.base.errors import InputError
from transition_parser.drawing.charts import draw_deltas
from transition_parser.models.use_parser.structures import STRUCTURES, indicators

STEP = 1e-5  # of a factor


@pytest.fixture(scope="module")
def case_of(tmp_path_factory):
    """A task, a model in float64, and the encoder's output and derivations of a batch, by system."""

    def case(system: str, kind: str = "structures"):
        folder = make_folder(system, tmp_path_factory)
        task = make_task(folder)
        batch, plain = make_batch(task, folder, range(2, 9), 4), make_model(kind, task.resources).plain.double().eval()
        with torch.no_grad():
            encoder_out = plain.encode(batch["net_input"])
        rows = batch["target"].tolist()
        return task, plain.decoder, encoder_out, [row[: row.index(task.table.end)] for row in rows]

    return case


def log_probs_by_kind(decoder, encoder_out, derivations) -> dict[str, float]:
    """The log-probabilities of actions, legal ones competing, a sentence at a time."""
    found = Counter()
    for b, tokens in enumerate(derivations):
        alone = sentence_of(encoder_out, b)
        actions = torch.tensor([[decoder.table.end, *tokens]])
        states = decoder.states(actions, alone)
        scores = decoder.scores(actions, alone, states).masked_fill(decoder.legality(states) == 0, float("-inf"))
        for t, token in enumerate(tokens):
            found[decoder.table.actions[token].kind.value] += float(scores[0, t].log_softmax(0)[token])
    return found


@pytest.mark.parametrize("system", ["arc-hybrid-swap", "arc-eager", "amr"])
def test_scores_are_derivatives_by_factors_of_the_indicators(case_of, system):
    """By central differences, for each structure, inside and outside, and each kind of action."""
    _, decoder, encoder_out, derivations = case_of(system)
    found = summed_deltas(decoder, encoder_out, derivations)
    names, bound = decoder.state_parts, decoder.structures.bound
    for name in names:
        values = torch.arange(decoder.structures.word_values) - (0 if name == "actions" else bound)
        held = values != 0 if name == "arcs" else values > 0
        for part, rows in zip(PARTS, (held, ~held), strict=True):
            up, down = (_with_factor(decoder, name, rows, 1 + step, encoder_out, derivations) for step in (STEP, -STEP))
            for kind, deltas in found.items():
                wanted = (up[kind] - down[kind]) / (2 * STEP)
                ours = float(deltas[names.index(name), PARTS.index(part)])
                assert ours == pytest.approx(wanted, rel=1e-5, abs=1e-7), (name, part, kind)
    assert len(found) > 3 and all(bool(deltas[:, 0].any()) for deltas in found.values())


@torch.no_grad()
def _with_factor(decoder, name, rows, factor, encoder_out, derivations) -> dict[str, float]:
    """The log-probabilities with some indicators of a structure, in all layers, times a factor."""
    kept = {key: value.clone() for key, value in decoder.state_dict().items()}
    for layer in decoder.layers:
        heads = layer.heads["actions" if name == "actions" else "words"]
        structure = 0 if name == "actions" else decoder.structures.of_words.index(name)
        for table in (heads.key_indicators, heads.value_indicators):
            table[structure, rows[: table.size(1)]] *= factor
    found = log_probs_by_kind(decoder, encoder_out, derivations)
    decoder.load_state_dict(kept)
    return found


@pytest.mark.parametrize("system", ["arc-standard", "amr"])
def test_scores_of_a_sentence_do_not_depend_on_its_batch(case_of, system):
    _, decoder, encoder_out, derivations = case_of(system)
    together, apart = summed_deltas(decoder, encoder_out, derivations), {}
    assert len({*map(len, derivations)}) > 1  # there is padding
    for b, tokens in enumerate(derivations):
        for kind, deltas in summed_deltas(decoder, sentence_of(encoder_out, b), [tokens]).items():
            apart[kind] = apart.get(kind, 0) + deltas
    assert together.keys() == apart.keys()
    for kind, deltas in together.items():
        assert torch.allclose(deltas, apart[kind], rtol=0, atol=1e-12)


def test_hidden_structures_have_no_score(case_of):
    _, decoder, encoder_out, derivations = case_of("arc-hybrid-swap")
    decoder.hide(["buffer"])
    for deltas in summed_deltas(decoder, encoder_out, derivations).values():
        there = deltas.abs().sum(1) > 0
        assert [name for name, some in zip(decoder.state_parts, there, strict=True) if not some] == ["buffer"]


def test_indicators_inside_are_of_what_is_there_now(case_of):
    """Figure 7: k > 0 on the stack and in the buffer; an arc to either side, and its relation."""
    task, decoder, encoder_out, derivations = case_of("arc-hybrid-swap")
    actions = torch.tensor([[task.table.end, *derivations[0]]])
    states = decoder.states(actions, sentence_of(encoder_out, 0))
    there = {"stack": states.stack > 0, "buffer": states.buffer > 0, "arcs": states.head != 0}
    there["relations"] = there["arcs"]
    table = next(one for one in tables_of(decoder) if "stack" in one.structures)
    for structure, name in enumerate(table.structures):
        rows = decoder.structures.row(name, indicators(name, states)).long()
        assert torch.equal(table.inside[structure][rows], there[name]), name


# --- of a corpus ----------------------------------------------------------------------------


@pytest.mark.parametrize(("system", "sample"), [("arc-hybrid-swap", SAMPLE), ("amr", SAMPLE_AMR)])
def test_scores_of_a_corpus_are_means_over_its_decisions(case_of, system, sample, tmp_path):
    """Whatever the batches."""
    task, *_ = case_of(system)
    model = make_model("structures", task.resources).plain
    some = tmp_path / f"some{sample.suffix}"
    some.write_text("\n\n".join(sample.read_text(encoding="utf-8").split("\n\n")[:6]) + "\n\n", encoding="utf-8")
    parsers = [Parser(model, task.resources, precision="fp32", batch_tokens=size) for size in (None, 1)]
    found, alone = (delta_scores(parser, some) for parser in parsers)
    parses = [*parsers[0].parse_stream(parsers[0].read(some))]
    kinds = Counter(action.kind.value for parse in parses for action in parse.actions)
    assert found.decisions == {ALL: kinds.total(), **kinds} == alone.decisions
    assert found.delta.keys() == found.decisions.keys()
    assert [*found.delta[ALL]] == list(STRUCTURES if system != "amr" else STRUCTURES[:3])
    for kind, structures in found.delta.items():
        for name, parts in structures.items():
            assert tuple(parts) == PARTS
            assert parts == pytest.approx(alone.delta[kind][name], rel=1e-3, abs=1e-5)
    total = sum(found.delta[kind]["stack"]["inside"] * count for kind, count in kinds.items())
    assert found.delta[ALL]["stack"]["inside"] == pytest.approx(total / kinds.total())
    assert found.delta[ALL]["actions"]["outside"] == 0  # each action so far is in the list
    draw_deltas(found.delta, tmp_path / "delta.svg")
    picture = (tmp_path / "delta.svg").read_text(encoding="utf-8")
    assert ">stack, outside<" in picture and ">actions, outside<" not in picture and ">SHIFT<" in picture


def test_other_models_and_precisions_are_refused(case_of):
    task, *_ = case_of("arc-hybrid-swap")
    for kind in ("state", "bot", "heads"):
        parser = Parser(make_model(kind, task.resources).plain, task.resources, precision="fp32")
        with pytest.raises(InputError, match="no indicators of structures, as use_parser has") as error:
            delta_scores(parser, SAMPLE)
        assert len(str(error.value).splitlines()) == 1
    parser = Parser(make_model("structures", task.resources).plain, task.resources, precision="bf16")
    with pytest.raises(InputError, match="need the precision fp32, not bf16"):
        delta_scores(parser, SAMPLE)


def test_the_command_refuses_models_without_indicators(checkpoint, tmp_path):
    options = "--scores", "delta", "-o", tmp_path / "delta.svg"
    done = run_here("ablation", checkpoint, SAMPLE, *options, status=2)
    assert "no indicators of structures" in done.stderr and len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_file_without_sentences_is_an_error(case_of, tmp_path):
    task, *_ = case_of("arc-hybrid-swap")
    (tmp_path / "empty.conllu").write_text("")
    parser = Parser(make_model("structures", task.resources).plain, task.resources, precision="fp32")
    with pytest.raises(InputError, match="the file holds no sentences"):
        delta_scores(parser, tmp_path / "empty.conllu")
