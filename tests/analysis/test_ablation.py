"""What each part of the parser state is worth."""

import json

import pytest
import torch

from tests.conftest import SAMPLE, SAMPLE_AMR, run_here
from tests.small_models import MODELS, SYSTEMS, make_batch, make_folder, make_model, make_task, runs_with, with_words
from tests.toy_plugin import ToyOptions, build
from transition_parser import Parser
from transition_parser.analysis.ablation import ablate
from transition_parser.analysis.traces import trace
from transition_parser.base.errors import InputError
from transition_parser.models.use_parser.structures import STRUCTURES
from transition_parser.modules.inspection import Inspectable
from transition_parser.parsing.search import search


@pytest.fixture(scope="module", params=SYSTEMS)
def of_system(request, tmp_path_factory):
    folder = make_folder(request.param, tmp_path_factory)
    task = make_task(folder)
    return request.param, task, make_batch(task, folder, range(3, 12), 8)


@pytest.mark.parametrize("kind", MODELS)
def test_what_is_hidden_does_not_matter(of_system, kind):
    """A model is shown a hidden field empty at each step, and it still parses; hiding leaves no trace."""
    system, task, batch = of_system
    if not runs_with(kind, system):
        pytest.skip("not for this system")
    model = make_model(kind, task.resources)
    batch, plain = with_words(model, task, batch), model.plain.eval()
    encoder_out = plain.encode(batch["net_input"])
    before = [best[0].tokens for best in search(plain, encoder_out)]
    if not isinstance(plain.decoder, Inspectable):
        assert plain.searches_directly or kind == "no memory"  # the model of tests/toy_plugin
        return
    for part in plain.decoder.state_parts:
        plain.decoder.hide([part])
        seen = plain.decoder.machine(encoder_out).observe()
        assert part in STRUCTURES or not bool(getattr(seen, part).any())
        for beam in (1, 2):
            for best in search(plain, encoder_out, beam):
                assert all(torch.isfinite(torch.tensor(best[0].step_scores)))
    plain.decoder.hide([])
    assert before == [best[0].tokens for best in search(plain, encoder_out)]


def test_a_decoder_need_not_be_inspectable(tmp_path_factory):
    """Its model parses and has traces without visible words; ablation is refused in one line."""
    resources = make_task(make_folder("arc-hybrid", tmp_path_factory)).resources
    options = ToyOptions()
    parser = Parser(build(options, resources), resources, precision="fp32")
    assert not isinstance(parser.model.decoder, Inspectable)
    (found,) = trace(parser, [parser.formalism.sentence.from_words(["She", "sleeps"])])
    assert all(step.seen == {} and step.candidates for step in found.derivations[0].steps[:-1])
    with pytest.raises(InputError, match="sees nothing of the parser state that could be hidden"):
        ablate(parser, SAMPLE)


def test_scores_of_trees(checkpoint, tmp_path):
    done = run_here("ablation", checkpoint, SAMPLE, "--json", "--precision", "fp32", "-o", tmp_path / "picture.svg")
    found = json.loads(done.stdout)
    assert set(found["without"]) == {"stack", "buffer"}
    run_here("parse", checkpoint, SAMPLE, "--precision", "fp32", "-o", tmp_path / "parsed.conllu")
    scored = json.loads(run_here("score", SAMPLE, tmp_path / "parsed.conllu", "--full-labels", "--json").stdout)
    assert found["uas"] == scored["uas"] and found["las"] == scored["las"]
    assert found["without"]["buffer"] != {"uas": found["uas"], "las": found["las"]}
    picture = (tmp_path / "picture.svg").read_text(encoding="utf-8")
    assert ">buffer<" in picture and ">stack<" in picture and "LAS" in picture
    lines = run_here("ablation", checkpoint, SAMPLE, "--precision", "fp32").stdout.splitlines()
    assert [line.split("  ")[0].strip() for line in lines] == ["all", "without stack", "without buffer"]


def test_punctuation_is_left_out_on_request(checkpoint, amr_checkpoint, tmp_path):
    found = json.loads(run_here("ablation", checkpoint, SAMPLE, "--json", "--precision", "fp32", "--punct=skip").stdout)
    run_here("parse", checkpoint, SAMPLE, "--precision", "fp32", "-o", tmp_path / "parsed.conllu")
    options = "--full-labels", "--punct", "skip", "--json"
    scored = json.loads(run_here("score", SAMPLE, tmp_path / "parsed.conllu", *options).stdout)
    assert (found["uas"], found["las"]) == (scored["uas"], scored["las"])
    assert "--punct is for trees" in run_here("ablation", amr_checkpoint, SAMPLE_AMR, "--punct=skip", status=2).stderr


def test_scores_of_amrs(amr_checkpoint):
    found = json.loads(run_here("ablation", amr_checkpoint, SAMPLE_AMR, "--json").stdout)
    assert set(found) == {"smatch", "without"} and set(found["without"]) == {"stack", "buffer"}


def test_bad_use_is_one_line(checkpoint, tmp_path):
    done = run_here("ablation", checkpoint, SAMPLE, "-o", tmp_path / "picture.gif", status=2)
    assert done.stderr.strip().endswith("picture.gif: the name must end in .svg, .png, .pdf")
    done = run_here("ablation", checkpoint, tmp_path / "none.conllu", status=2)
    assert len(done.stderr.splitlines()) == 1 and list(tmp_path.iterdir()) == []
    done = run_here("ablation", checkpoint, "-", status=2)
    assert done.stderr.strip().endswith("-: is not a regular file, and has to be read several times")
    done = run_here("ablation", checkpoint, SAMPLE_AMR, "--precision", "fp32", status=2)
    assert len(done.stderr.splitlines()) == 1
