"""Graph-based parsers: heads, the best tree, relations (McDonald et al. 2005; SPA-DP)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.base.errors import InputError, NotFiniteError
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.modules.best_tree import OnceRelations, best_tree
from transition_parser.modules.contract import Decision, Decoder, ScoredTree, only_legal
from transition_parser.modules.encoder import EncoderOut
from transition_parser.modules.tagging import preferred
from transition_parser.states.costs import GoldTrees
from transition_parser.states.table import ActionTable
from transition_parser.text.columns import RELATION, relations_of
from transition_parser.transitions import TREE_SYSTEMS, Kind, TreeSystem


class TreeDecoder(Decoder):
    """A decoder that scores whole trees, by heads and by relations of heads, and finds the best without search.

    heads: maps words (B, P, dim) to scores (B, P, P); rows are dependents, columns are heads.
    relations: maps words, and the head positions (B, N) of the first N words, to scores (B, N, relations).
    """

    words_at_once = 1000
    may_carry: Tensor

    def __init__(self, table: ActionTable, heads: nn.Module, relations: nn.Module) -> None:
        super().__init__(table)
        fit = [name for name, kind in TREE_SYSTEMS.items() if not kind.projective_only]
        if table.system.name not in fit:
            raise InputError(
                f"this model finds trees of any shape, which {table.system.name} can't build: preprocess with --system "
                f"{' or '.join(fit)}"
            )
        self.heads, self.relations = heads, relations
        assert isinstance(table.system, TreeSystem)
        self.once = OnceRelations(table.relations, table.system.once)
        self.register_buffer("may_carry", relations_of_arcs(table), persistent=False)
        self.of_domains: Tensor | None = None  # (domains + 1, relations), 1 where a domain has a relation
        self.of_tags: Tensor | None = None  # (domains + 1, tags + 1, relations) bool: relations of words with a tag

    def readings(self, encoder_out: EncoderOut) -> Iterator[Tensor]:
        """Yield the vectors of words that are scored, perhaps several times; trees are found from the last."""
        yield encoder_out.words

    def decisions(self, encoder_out: EncoderOut, gold: GoldTrees) -> list[Decision]:
        """Return for each reading the decisions about heads (B, P, P) and relations (B, P, relations) of words."""
        heads, relations = gold
        is_word = torch.arange(heads.size(1), device=heads.device) < encoder_out.lengths[:, None]
        others, carried = other_words(encoder_out.mask), self.carried(heads, encoder_out.lengths, encoder_out.domains)
        readings = list(self.readings(encoder_out))
        share = 1.0 / len(readings)
        found = []
        for words in readings:
            found.append(Decision(self.heads(words), others, heads, is_word, share))
            found.append(Decision(self.relations(words, heads), carried, relations, is_word, share))
        return found

    def limit_domains(self, labels: Sequence[Mapping[str, Sequence[str]]], tags: Sequence[str]) -> None:
        kept = [[relation in of_domain[RELATION] for relation in self.table.relations] for of_domain in labels]
        self.of_domains = F.pad(torch.tensor(kept, dtype=torch.float), (0, 0, 1, 0), value=1.0)
        self.of_tags = torch.zeros(len(labels) + 1, len(tags) + 1, len(self.table.relations), dtype=torch.bool)
        places = {relation: i for i, relation in enumerate(self.table.relations)}
        for domain, of_domain in enumerate(labels, 1):
            for number, tag in enumerate(tags, 1):
                seen = of_domain.get(relations_of(tag), ())
                self.of_tags[domain, number, [places[one] for one in seen if one in places]] = True

    def carried(self, heads: Tensor, lengths: Tensor, domains: Tensor | None = None) -> Tensor:
        """Return (B, N, relations) float: 1 for the relations that arcs from the head positions (B, N) may carry."""
        found = self.may_carry[(heads == lengths[:, None]).long()]
        if self.of_domains is None or domains is None:
            return found
        self.of_domains = self.of_domains.to(found.device)
        return found * self.of_domains[domains][:, None]

    @torch.inference_mode()
    def trees(self, encoder_out: EncoderOut) -> list[ScoredTree]:
        """Return the best tree of each sentence. Raises `NotFiniteError` where scores are not finite."""
        *_, words = self.readings(encoder_out)
        lengths = encoder_out.lengths.tolist()
        competing = other_words(encoder_out.mask)
        found = only_legal(self.heads(words), competing).log_softmax(-1)
        positions = _best_heads(found, competing, encoder_out.lengths)
        # the root is 0 in `DependencyTree`; its position is after the last word
        is_root = positions == encoder_out.lengths[:, None]
        heads = torch.where(is_root, 0, positions + 1).cpu().tolist()
        carried = self.carried(positions, encoder_out.lengths, encoder_out.domains)
        scores = only_legal(self.relations(words, positions), carried).log_softmax(-1)
        relations = self._usual(scores, encoder_out)
        of_relation, relation = relations.max(-1)
        is_word = torch.arange(words.size(1), device=words.device) < encoder_out.lengths[:, None]
        if not bool(of_relation[is_word].isfinite().all()):
            raise NotFiniteError("the scores of relations are not finite")
        relation = relation.masked_scatter(is_word, self._together(positions, relation, relations, is_word))
        of_relation = relations.gather(2, relation[..., None])[..., 0]
        totals = (found.gather(2, positions[..., None])[..., 0] + of_relation).cpu().tolist()
        names = np.array(self.table.relations, object)[relation.cpu().numpy()].tolist()
        return [
            ScoredTree(DependencyTree(tuple(heads[i][:n]), tuple(names[i][:n])), totals[i][:n])
            for i, n in enumerate(lengths)
        ]

    def _usual(self, scores: Tensor, encoder_out: EncoderOut) -> Tensor:
        """Return the scores (B, P, relations), preferring relations that words with the same tag have in training."""
        tags, domains = encoder_out.tags, encoder_out.domains
        if self.of_tags is None or tags is None or domains is None:
            return scores
        self.of_tags = self.of_tags.to(tags.device)
        return preferred(scores, self.of_tags[domains[:, None], tags])

    def _together(self, heads: Tensor, best: Tensor, scores: Tensor, is_word: Tensor) -> Tensor:
        """Return the relations (N,) of all words of a batch by their scores (B, P, relations), see `OnceRelations`."""
        sentence, word = is_word.nonzero(as_tuple=True)
        of_heads = sentence * is_word.size(1) + heads[is_word]  # another number for each head of the batch

        def some(words: np.ndarray) -> np.ndarray:
            rows = torch.from_numpy(words).to(scores.device)
            return scores[sentence[rows], word[rows]].float().cpu().numpy()

        chosen = self.once.choose(of_heads.cpu().numpy(), best[is_word].cpu().numpy(), some)
        return torch.from_numpy(chosen).to(best.device)


def _best_heads(scores: Tensor, competing: Tensor, lengths: Tensor) -> Tensor:
    """Return the positions (B, P) of the heads in the best trees; a position that is no word has itself for a head."""
    positions = torch.arange(scores.size(1), device=scores.device)
    is_word = positions < lengths[:, None]
    _check_heads(scores, competing, is_word)
    heads = torch.where(is_word, scores.argmax(-1), positions)
    others = (~are_trees(heads, lengths)).nonzero()[:, 0]
    if len(others):
        sizes, some = lengths[others].tolist(), scores[others].float().cpu().numpy()
        found = heads[others].cpu()
        for row, n in enumerate(sizes):
            best = torch.tensor(best_tree(some[row, :n, : n + 1]))
            found[row, :n] = torch.where(best == 0, n, best - 1)
        heads[others] = found.to(heads.device)
    return heads


def _check_heads(scores: Tensor, competing: Tensor, is_word: Tensor) -> None:
    """Raise `NotFiniteError` where a word has a competing head whose score, in (B, P, P), is not finite."""
    if not bool((scores.isfinite() | (competing == 0))[is_word].all()):
        raise NotFiniteError("the scores of heads are not finite")


def are_trees(heads: Tensor, lengths: Tensor) -> Tensor:
    """Return (B,) bool: True where the head positions (B, P) are a tree with one root; padding is its own head."""
    is_word = torch.arange(heads.size(1), device=heads.device) < lengths[:, None]
    at_root = heads == lengths[:, None]
    above = heads
    for _ in range(heads.size(1).bit_length()):  # each step doubles the distance upwards
        above = above.gather(1, above)
    return ((at_root & is_word).sum(1) == 1) & ((above == lengths[:, None]) | ~is_word).all(1)


def other_words(mask: Tensor) -> Tensor:
    """Return (B, P, P) float: 1 where the column, a word or the root, may be the head of the row, another word."""
    itself = torch.eye(mask.size(1), dtype=torch.bool, device=mask.device)
    return (mask[:, None] & ~itself).float()


def relations_of_arcs(table: ActionTable) -> Tensor:
    """Return (2, relations) float: 1 for relations that arcs between words, and arcs from the root, may carry."""
    assert isinstance(table.system, TreeSystem)
    there = {kind: {a.label for a in table.actions if a and a.kind is kind} for kind in (Kind.LEFT_ARC, Kind.RIGHT_ARC)}
    between, from_root = there[Kind.LEFT_ARC] & there[Kind.RIGHT_ARC], there[Kind.LEFT_ARC]
    allow = table.system.roots.allow
    rows = [
        [relation in some and allow(relation, root) for relation in table.relations]
        for root, some in ((False, between), (True, from_root))
    ]
    return torch.tensor(rows, dtype=torch.float)
