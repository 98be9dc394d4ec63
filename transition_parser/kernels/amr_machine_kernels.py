"""The compiled part of the AMR machine on CPUs: `amr_machine_kernels.c`.

The Python functions check types and shapes of tensors, and C checks the numbers. A tensor that does not fit raises
`ValueError`. Dimensions: B sentences, P positions, F features of a word, V tokens of the action vocabulary, C columns
(`ActionClass`), R rows (hypotheses), M slots for nodes.
"""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

from transition_parser.kernels.guards import optional, raise_problem, require
from transition_parser.kernels.loader import POINTER, PROBLEM, SIZE, Signature, lazy_library

_FUNCTIONS: dict[str, Signature] = {
    "take_amr_actions": (PROBLEM, (SIZE, *(POINTER,) * 9)),
    "stack_ranks": (PROBLEM, (SIZE, *(POINTER,) * 4)),
    "buffer_ranks": (PROBLEM, (SIZE, *(POINTER,) * 4)),
}
COLUMNS = 21  # `COLUMNS` of amr_machine.h
NUMBERS, NODE = 16, 6  # the numbers of fields of `Row` and of `Node` in amr_machine.h
_FIRST_SPAN = 8  # the number of features of a word before the features of the spans that end with the word
_CONTEXT, _NODES = 2, 4  # a context has 2 values; search adds 4, the roles and sorts of two nodes
_OF_TOKENS = ("column", "shift_word", "most", "top_roles", "second_roles", "new_roles", "new_several", "route", "sense")
_OF_TOKENS += ("new_sort",)
library = lazy_library("amr_machine", _FUNCTIONS)


def supports(like: Tensor) -> bool:
    """Return True if the library is available and `like` is on the CPU."""
    return like.is_cpu and library() is not None


class Setting(ctypes.Structure):
    """The values that all rows of a machine share, with the layout of `Setting` in C. All tensors are int64.

    features: (B, P, F); see `ActionTable.features`
    words: the number of words of the longest sentence plus one
    span: the largest number of nodes of a span
    most: (V,); how many nodes of one span each token may make
    column, shift_word, top_roles, second_roles, new_roles, new_several, route, sense, new_sort: (V,); see `ActionTable`
    lacked: (lemmas, senses); see `ActionTable`
    labelled: True where SHIFTs name words

    Raises `ValueError` for features, numbers or tensors that do not fit.
    """

    _fields_ = (
        *(
            (name, SIZE)
            for name in (
                "slots",
                "sentences",
                "width",
                "fields",
                "words",
                "vocabulary",
                "span",
                "labelled",
                "lemmas",
                "senses",
            )
        ),
        *((name, POINTER) for name in ("features", *_OF_TOKENS, "lacked")),
    )

    def __init__(
        self,
        features: Tensor,
        words: int,
        span: int,
        column: Tensor,
        shift_word: Tensor,
        most: Tensor,
        top_roles: Tensor,
        second_roles: Tensor,
        new_roles: Tensor,
        new_several: Tensor,
        route: Tensor,
        sense: Tensor,
        new_sort: Tensor,
        lacked: Tensor,
        labelled: bool,
    ) -> None:
        (sentences, width, fields), (vocabulary,) = features.shape, column.shape
        if not (0 < words <= width and fields > _FIRST_SPAN and span >= 0):
            raise ValueError(
                f"words must be from 1 to {width}, span 0 or more, and the fields of features more than {_FIRST_SPAN}; "
                f"they are {words}, {span} and {fields}"
            )
        of_tokens = (column, shift_word, most, top_roles, second_roles, new_roles, new_several, route, sense, new_sort)
        tables = dict(zip(_OF_TOKENS, of_tokens, strict=True))
        super().__init__(
            0, sentences, width, fields, words, vocabulary, span, labelled, *lacked.shape,
            require("features", features, torch.long, *features.shape),
            *(require(name, table, torch.long, vocabulary) for name, table in tables.items()),
            require("lacked", lacked, torch.long, *lacked.shape),
        )  # fmt: skip
        self._kept = (features, lacked, *tables.values())  # keeps the memory that C reads


def width_of_context(setting: Setting, limited: bool) -> int:
    """Return the number of values in each row of the context. `limited` is True where search has limits."""
    return _CONTEXT + (_NODES + setting.span if limited else 0)


def take_actions(
    setting: Setting,
    tokens: Tensor | None,
    numbers: Tensor,
    nodes: Tensor,
    named: Tensor | None,
    columns: Tensor | None = None,
    context: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Take each row's action in place if it is legal, and return the legal columns and the context after the actions.

    The lexicon does not make an action illegal here. The results are columns, (R, C) bool, and a context, (R, 2) int64,
    or (R, 6 + span) with `named`; see `AmrMachine.context`. The other tensors are int64, too.

    tokens: (R,); the actions; None to take no action
    numbers: (R, 16); `Rows` of `amr_rules.py`
    nodes: (R, M, 6); `Nodes` of `amr_rules.py`, with a free slot in each row
    named: (R, 2, span); `SpanActions` of `amr_rules.py`; None outside search
    columns: the columns that the previous call returned; None with no tokens
    context: the context that the previous call returned; None with no tokens
    """
    rows, slots = nodes.shape[0], nodes.shape[1]
    if not slots:
        raise ValueError(f"nodes must have a slot in each row; it is {tuple(nodes.shape)}")
    if (tokens is None) != (columns is None) or (tokens is None) != (context is None):
        raise ValueError("tokens, columns and context go together: give all three or none")
    setting.slots = slots
    wide = width_of_context(setting, named is not None)
    found = torch.empty(rows, COLUMNS, dtype=torch.bool), torch.empty(rows, wide, dtype=torch.long)
    problem = library().take_amr_actions(
        rows,
        ctypes.byref(setting),
        optional("tokens", tokens, torch.long, rows),
        require("numbers", numbers, torch.long, rows, NUMBERS),
        require("nodes", nodes, torch.long, rows, slots, NODE),
        optional("named", named, torch.long, rows, 2, setting.span),
        optional("columns", columns, torch.bool, rows, COLUMNS),
        optional("context", context, torch.long, rows, wide),
        found[0].data_ptr(),
        found[1].data_ptr(),
    )
    raise_problem(problem)
    return found


def stack_ranks(setting: Setting, numbers: Tensor, nodes: Tensor) -> Tensor:
    """Return the ranks of words on the stack, (R, words), see `AmrMachine.stack_ranks`."""
    return _ranks("stack_ranks", setting, numbers, nodes)


def buffer_ranks(setting: Setting, numbers: Tensor, nodes: Tensor) -> Tensor:
    """Return the ranks of words in the buffer, (R, words), see `AmrMachine.buffer_ranks`."""
    return _ranks("buffer_ranks", setting, numbers, nodes)


def _ranks(function: str, setting: Setting, numbers: Tensor, nodes: Tensor) -> Tensor:
    rows, slots = nodes.shape[0], nodes.shape[1]
    setting.slots = slots
    ranks = torch.empty(rows, setting.words, dtype=torch.long)
    problem = getattr(library(), function)(
        rows,
        ctypes.byref(setting),
        require("numbers", numbers, torch.long, rows, NUMBERS),
        require("nodes", nodes, torch.long, rows, slots, NODE),
        ranks.data_ptr(),
    )
    raise_problem(problem)
    return ranks
