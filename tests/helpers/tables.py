"""Small action vocabularies of systems for trees, and the batched machine over them."""

from collections.abc import Sequence

import torch

from tests.helpers.strategies import RELATIONS
from transition_parser.states.machine import DependencyMachine
from transition_parser.states.states import FIELDS, DeviceTable
from transition_parser.states.table import ActionTable
from transition_parser.transitions import RootRelations, make_system

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")


def make_table(
    name: str,
    shift_words: Sequence[str] = (),
    relations: Sequence[str] = RELATIONS,
    roots: RootRelations | None = None,
    once: Sequence[Sequence[str]] = (),
) -> ActionTable:
    """Return the table of all actions of a system, and a word that fairseq adds to vocabularies."""
    system = make_system(name, shift_words, roots=roots, once=once)
    return ActionTable(system, [*SPECIAL, *map(str, system.actions(relations)), "madeupword0000"])


def make_machine(table: ActionTable, sentences: Sequence[Sequence[str]], needs=FIELDS) -> DependencyMachine:
    ids = [torch.tensor(table.features(words)) for words in sentences]
    lengths = torch.tensor([len(words) for words in sentences])
    return DependencyMachine(DeviceTable(table), lengths, torch.nn.utils.rnn.pad_sequence(ids, True), needs=needs)
