"""A column that only this test knows: from a treebank to a model that reads it, by a line of a table and a class."""

from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch

from tests.conftest import SAMPLE, run_here
from tests.small_models import SIZES, make_batch, make_task, with_words
from transition_parser import Parser
from transition_parser.graphs.conllu import read_conllu
from transition_parser.models.registry import architecture_of
from transition_parser.models.stack_transformer.options import StackTransformerOptions
from transition_parser.modules import words
from transition_parser.modules.options import ModelOptions, option
from transition_parser.modules.word_inputs import ColumnInput
from transition_parser.parsing.formalisms import FORMALISMS
from transition_parser.tasks.transition_parsing import TransitionParsingTask
from transition_parser.tasks.wrappers import TrainingModel
from transition_parser.text.columns import KNOWN, Column

DEPREL = Column(
    "deprel", "trees", lambda sentence: [row.deprel for row in sentence.words], "relations", ("--read-deprel",)
)


class DeprelInput(ColumnInput):
    """An embedding of the relation of each word."""

    name, switch, column = "own_relations", "read_deprel", "deprel"

    @dataclass(frozen=True)
    class Options(ModelOptions):
        read_deprel: bool = option(False, "words have embeddings of their relations, too")


@dataclass(frozen=True)
class Options(StackTransformerOptions, DeprelInput.Options):
    """The options of a model that may read this column."""


@pytest.fixture
def folder(monkeypatch, tmp_path) -> Iterator[Path]:
    """A data folder with the column."""
    monkeypatch.setitem(KNOWN, "deprel", DEPREL)
    monkeypatch.setattr(words, "INPUTS", (*words.INPUTS, DeprelInput))
    corpora = ("--train", SAMPLE, "--valid", SAMPLE, "--system", "arc-hybrid-swap", "--pieces", "400")
    run_here("preprocess", "dependency", *corpora, "--deprel", "--dest", tmp_path)
    for side in ("src", "act"):
        dictionary = TransitionParsingTask.build_dictionary([str(tmp_path / f"train.{side}")])
        dictionary.save(str(tmp_path / f"dict.{side}.txt"))
    yield tmp_path


def test_the_column_reaches_the_model(folder):
    task = make_task(folder)
    batch = make_batch(task, folder, range(4, 12), 4)
    architecture = architecture_of("stack_transformer_small")
    options = Options.of_namespace(Namespace(**SIZES, read_deprel=True), architecture.defaults)
    torch.manual_seed(1)
    model = TrainingModel(architecture.build(options, task.resources)).eval()
    assert model.plain.inputs.columns == ["deprel"] and model.plain.tag_heads is None

    by_forms = {tuple(s.forms): [row.deprel for row in s.words] for s in read_conllu(SAMPLE)}
    net_input, known = with_words(model, task, batch)["net_input"], task.resources.columns
    ids = net_input["words"]["own_relations"]["ids"]
    for row, tokens in zip(ids.tolist(), net_input["src_tokens"].tolist(), strict=True):
        tags = by_forms[tuple(task.resources.words(tokens))]
        assert row[: len(tags)] == known.ids("deprel", tags) and not any(row[len(tags) :])
    with torch.no_grad():
        unread = {**net_input, "words": {"own_relations": {"ids": torch.zeros_like(ids)}}}
        assert not torch.equal(model.plain.encode(net_input).words, model.plain.encode(unread).words)

    parser = Parser(model.plain, task.resources)
    sentence = next(read_conllu(SAMPLE))
    without = replace(sentence, rows=tuple(row._replace(deprel="_") for row in sentence.rows))
    assert parser.parse([sentence])[0].score != parser.parse([without])[0].score


def test_commands_offer_the_column(folder):
    assert (folder / "train.deprel").read_text().split("\n")[0].split() == DEPREL.values(next(read_conllu(SAMPLE)))
    shown = "".join(run_here("train", "--help").stdout.split())
    assert "--no-deprel" in shown and "trees:userelations(default:ifCONFIGhas--read-deprel)" in shown
    corpora = ("--train", SAMPLE, "--valid", SAMPLE, "--system", "arc-eager", "--pieces", "400")
    run_here("preprocess", "dependency", *corpora, "--dest", folder)
    assert not (folder / "train.deprel").exists()  # a file of the earlier run


def test_graphs_of_columns_are_names_of_formalisms():
    assert {column.graphs for column in KNOWN.values()} <= {formalism.name for formalism in FORMALISMS}
