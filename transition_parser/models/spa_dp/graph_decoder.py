"""The graph-based parser: each word chooses its head, a tree is made of the choices, its arcs get relations.

Source: SPA-DP, sec. Graph Based Dependency Parsing (eqs 8 to 10)
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from transition_parser.errors import NotFiniteError
from transition_parser.models.spa_dp.arborescence import best_tree
from transition_parser.models.spa_dp.derivations import Derivations, ScoredTree
from transition_parser.models.spa_dp.head_scores import RelationScores, head_scores
from transition_parser.models.spa_dp.options import SpaDpGraphOptions
from transition_parser.modules.contract import Decision, GraphDecoder, Hypothesis, only_legal
from transition_parser.modules.encoder import EncoderOut
from transition_parser.states.states import TREE, States
from transition_parser.states.table import SHIFT_ID, ActionTable, Column
from transition_parser.transitions import Kind
from transition_parser.transitions.tree_system import TreeSystem


class SpaGraphDecoder(GraphDecoder):
    """Heads by eqs 8 and 9, where no word competes as its own head (in the paper it does); relations by a hidden layer,
    among those that an arc from the root, or another one, may carry (`Roots`). The loss is eq. 10 and the same of
    relations, with gold heads.

    Chu-Liu-Edmonds makes a tree of the heads, as in the paper, here always one with a single root. There is no beam,
    and one tree for each sentence, whatever `nbest` asks for.

    may_carry: (2, relations) float, row 0 of arcs between words, row 1 of arcs from the root: 1 for the relations that
        they may carry.
    """

    needs = TREE
    may_carry: Tensor

    def __init__(self, table: ActionTable, dim: int, options: SpaDpGraphOptions) -> None:
        super().__init__(table)
        self.heads = head_scores(options, dim)
        self.relations = RelationScores(dim, options.mlp_width, len(table.relations))
        self.derive = Derivations(table)
        self.register_buffer("may_carry", _may_carry(table), persistent=False)

    def decisions(self, encoder_out: EncoderOut, states: States) -> list[Decision]:
        """The heads (B, P, P) and the relations (B, P, relations) of words.

        A derivation with an action that is illegal never ends, and what follows that action is about other words: then
        all words have themselves for heads, and relation 0, which never compete.
        """
        assert states.head is not None and states.relation is not None
        words = encoder_out.words
        positions = torch.arange(words.size(1), device=words.device)
        is_word = positions < encoder_out.lengths[:, None]
        ended = states.columns[:, -1, Column.END, None].long()
        heads = positions + ended * states.head[:, -1].long()
        return [
            Decision(self.heads(words), _other_words(encoder_out.mask), heads, is_word),
            Decision(
                self.relations(words, heads),
                self.may_carry[(heads == encoder_out.lengths[:, None]).long()],
                ended * states.relation[:, -1].long(),
                is_word,
            ),
        ]

    @torch.inference_mode()
    def derivations(self, encoder_out: EncoderOut, nbest: int) -> list[list[Hypothesis]]:
        words, lengths = encoder_out.words, encoder_out.lengths.tolist()
        found = only_legal(self.heads(words), _other_words(encoder_out.mask)).log_softmax(-1)
        scores = found.double().cpu().numpy()
        heads = np.zeros((len(lengths), words.size(1)), np.int64)
        for i, n in enumerate(lengths):
            heads[i, :n] = _heads_of(scores[i, :n, : n + 1])
        # positions of words, and for the root, which `DependencyTree` calls 0, the position behind the last one
        positions = torch.from_numpy(heads).to(words.device) - 1
        from_root = positions < 0
        positions = torch.where(from_root, encoder_out.lengths[:, None], positions)
        relations = only_legal(self.relations(words, positions), self.may_carry[from_root.long()]).log_softmax(-1)
        of_relation, relation = relations.max(-1)
        is_word = torch.arange(words.size(1), device=words.device) < encoder_out.lengths[:, None]
        if not bool(of_relation[is_word].isfinite().all()):
            raise NotFiniteError("the scores of relations are not finite")
        totals = (found.gather(2, positions[..., None])[..., 0] + of_relation).cpu().tolist()
        relation = relation.cpu().tolist()
        shift_ids = [None] * len(lengths)
        if self.table.labelled_shift and encoder_out.features is not None:
            shift_ids = encoder_out.features[:, :, SHIFT_ID].cpu().tolist()
        return [
            [self.derive.of(ScoredTree(heads[i, :n].tolist(), relation[i][:n], totals[i][:n]), shift_ids[i])]
            for i, n in enumerate(lengths)
        ]


def _heads_of(scores: np.ndarray) -> list[int]:
    """The heads of one sentence. scores: (n, n + 1), −inf for the word itself."""
    scores = scores.copy()
    np.fill_diagonal(scores, 0.0)
    if not np.isfinite(scores).all():
        raise NotFiniteError("the scores of heads are not finite")
    return best_tree(scores)


def _other_words(mask: Tensor) -> Tensor:
    """(B, P, P) float: 1 where a word, or the root, may be the head of another. mask: (B, P), True at them."""
    itself = torch.eye(mask.size(1), dtype=torch.bool, device=mask.device)
    return (mask[:, None] & ~itself).float()


def _may_carry(table: ActionTable) -> Tensor:
    """(2, relations): 1 for those of arcs between words, and of arcs from the root, that the vocabulary has too."""
    assert isinstance(table.system, TreeSystem)
    there = {kind: {a.label for a in table.actions if a and a.kind is kind} for kind in (Kind.LEFT_ARC, Kind.RIGHT_ARC)}
    between, from_root = there[Kind.LEFT_ARC] & there[Kind.RIGHT_ARC], there[Kind.LEFT_ARC]
    allow = table.system.roots.allow
    rows = [
        [relation in some and allow(relation, root) for relation in table.relations]
        for root, some in ((False, between), (True, from_root))
    ]
    return torch.tensor(rows, dtype=torch.float)
