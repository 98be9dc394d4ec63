"""Graph-based parsers: heads, the best tree, relations (McDonald et al. 2005; SPA-DP).

The time to find a tree grows with the square of the words. A head may have some relations, such as its subject, at most
once, so that the relations of all its dependents are chosen together.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transition_parser.base.errors import InputError, NotFiniteError
from transition_parser.graphs.dependency import DependencyTree
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
        return found * self.of_domains.to(found.device)[domains][:, None]

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
        return preferred(scores, self.of_tags.to(tags.device)[domains[:, None], tags])

    def _together(self, heads: Tensor, best: Tensor, scores: Tensor, is_word: Tensor) -> Tensor:
        """Return the relations (N,) of all words of a batch by their scores (B, P, relations), see `OnceRelations`."""
        sentence = torch.arange(len(heads), device=heads.device)
        of_heads = sentence[:, None] * is_word.size(1) + heads  # another number for each head of the batch
        some = (x[is_word].cpu().numpy() for x in (of_heads, best, scores.float()))
        return torch.from_numpy(self.once.choose(*some)).to(best.device)


def _best_heads(scores: Tensor, competing: Tensor, lengths: Tensor) -> Tensor:
    """Return the positions (B, P) of the heads in the best trees; a position that is no word has itself for a head."""
    positions = torch.arange(scores.size(1), device=scores.device)
    is_word = positions < lengths[:, None]
    if not bool((scores.isfinite() | (competing == 0))[is_word].all()):
        raise NotFiniteError("the scores of heads are not finite")
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


_NONE = -1  # the parent of a component that is in no other


def best_tree(scores: np.ndarray) -> list[int]:
    """Return the heads (0: the root) of the tree of the largest sum of scores among the trees with a single root.

    scores: (n, n + 1); a row for each dependent, a column for each head, the root last. An arc with −inf is only in a
        tree where every tree has such arcs. The diagonal does not count.

    >>> best_tree(np.array([[0.0, 0.0, 5.0], [1.0, 0.0, 3.0]]))  # both would hang from the root
    [0, 1]
    """
    n = len(scores)
    if n < 2:
        return [0] * n
    scores = np.array(scores, float)
    np.fill_diagonal(scores, -np.inf)
    lowest = np.isneginf(scores)
    if lowest.sum() > n:
        low, high = np.min(scores, where=~lowest, initial=0.0), np.max(scores, where=~lowest, initial=0.0)
        scores[lowest] = low - 1.0 - n * (high - low)  # no difference between two trees makes up for it
        np.fill_diagonal(scores, -np.inf)
    return _Contraction(scores).heads()


class _Contraction:
    """Words that are contracted, cycle by cycle, into one component, which then gets the one arc from the root.

    A component has the row of one of its words: for each head the best arc into the component, less what the arc
    replaces in the cycle. Each row is searched once, and each cycle takes as many rows as it has components, of which
    one is left: time grows with n², though cycles lie in cycles. Source: Tarjan 1977 (Finding Optimum Branchings), as a
    growing path (Gabow et al. 1986); the root is left to the end, as Zmigrod et al. 2020 (Please Mind the Root).

    rows: (n, n + 1) float, finite outside the diagonal, overwritten
    """

    def __init__(self, rows: np.ndarray) -> None:
        n = len(rows)
        self.rows, self.count = rows, n
        self.dependent = np.repeat(np.arange(n, dtype=np.int32)[:, None], n + 1, 1)  # the word that an arc attaches
        self.row_of = np.arange(n)  # of the component of each word
        self.component = [*range(n)]  # the number of the component in each row; words come first
        self.parent = [_NONE] * n  # for each component the component that it was contracted into
        self.parts: list[list[int]] = [[]] * n  # for each component its components, none for words
        self.arc = [(_NONE, _NONE)] * n  # for each component the dependent and the head of its best arc

    def heads(self) -> list[int]:
        path, place = [0], {0: 0}  # rows, each with its best head in the next one, and where they are
        while True:
            row = path[-1]
            head = int(self.rows[row, : self.count].argmax())
            self.arc[self.component[row]] = int(self.dependent[row, head]), head
            following = int(self.row_of[head])
            if following not in place:
                place[following] = len(path)
                path.append(following)
                continue
            cycle = path[place[following] :]
            del path[place[following] + 1 :]
            for one in cycle[1:]:
                del place[one]
            if self._contract(cycle):
                return self._expanded(following)

    def _contract(self, cycle: list[int]) -> bool:
        """Contract the components in these rows into the first row. Return True if all words are in it."""
        row, new = cycle[0], len(self.parent)
        self.parts.append([self.component[one] for one in cycle])
        for part in self.parts[new]:
            self.parent[part] = new
        self.parent.append(_NONE)
        self.arc.append((_NONE, _NONE))
        self.component[row] = new
        arcs, dependent = self.rows[row], self.dependent[row]
        arcs -= arcs[: self.count].max()
        for one in cycle[1:]:
            others = self.rows[one]
            others -= others[: self.count].max()
            better = others > arcs
            np.copyto(arcs, others, where=better)
            np.copyto(dependent, self.dependent[one], where=better)
        is_merged = np.zeros(self.count, bool)
        is_merged[cycle] = True
        inside = is_merged[self.row_of]
        self.row_of[inside] = row
        arcs[: self.count][inside] = -np.inf
        return bool(inside.all())

    def _expanded(self, row: int) -> list[int]:
        """Return the heads: an arc into a component, first the arc from the root, breaks the cycle that it was."""
        self.arc[-1] = int(self.dependent[row, self.count]), self.count
        heads, whole = [_NONE] * self.count, [len(self.arc) - 1]
        while whole:
            component = whole.pop()
            part, head = self.arc[component]
            heads[part] = head + 1 if head < self.count else 0
            while part != component:
                parent = self.parent[part]
                whole += [other for other in self.parts[parent] if other != part]
                part = parent
        return heads


class OnceRelations:
    """A chooser of relations of which a head has at most one of each group.

    relations: the names of the relations, by id
    groups: disjoint groups of relations, see `TreeSystem.once`; names that are not in `relations` do not count
    """

    def __init__(self, relations: Sequence[str], groups: Collection[Collection[str]]) -> None:
        group_of = {name: number for number, group in enumerate(groups, 1) for name in group}
        self._group_of = np.array([group_of.get(name, 0) for name in relations], np.int64)  # 0: in no group
        self._groups = [np.flatnonzero(self._group_of == number) for number in range(1, len(groups) + 1)]

    def choose(self, heads: np.ndarray, best: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Return the relations (N,) of the largest sum of scores with at most one of each group for each head.

        A dependent that may carry no relation outside the groups has its best one, whatever the others have.

        heads: (N,) int; dependents of one head have the same number
        best: (N,) int; the best relation of each dependent
        scores: (N, relations); −inf for relations that a dependent may not have
        """
        groups = self._group_of[best]
        places = np.sort((heads * (len(self._groups) + 1) + groups)[groups > 0])
        repeated = places[1:][places[1:] == places[:-1]] // (len(self._groups) + 1)
        chosen = best.copy() if len(repeated) else best
        for head in np.unique(repeated):
            own = np.flatnonzero(heads == head)
            chosen[own] = self._assigned(scores[own], best[own])
        return chosen

    def _assigned(self, scores: np.ndarray, best: np.ndarray) -> np.ndarray:
        """Return the relations (D,) of the dependents of one head by their scores (D, relations)."""
        outside = np.where(self._group_of == 0, scores, -np.inf)
        chosen, base = outside.argmax(1), outside.max(1)
        bound = np.isneginf(base)
        chosen[bound], base[bound] = best[bound], np.inf  # no group is better than infinity
        gains = [np.maximum(scores[:, group].max(1, initial=-np.inf) - base, 0.0) for group in self._groups]
        wanted = [number for number, gain in enumerate(gains) if gain.any()]
        matching = best_matching(np.array([gains[number] for number in wanted]).reshape(-1, len(scores)))
        for number, dependent in zip(wanted, matching, strict=True):
            if dependent is not None:
                group = self._groups[number]
                chosen[dependent] = group[scores[dependent, group].argmax()]
        return chosen


def best_matching(gains: np.ndarray) -> list[int | None]:
    """Return the column of each row, another one for each, that together have the largest gain; None for no gain.

    Each row in turn gets a column by the cheapest path on which others change theirs. Source: Kuhn 1955 (the Hungarian
    method), with the prices of columns and rows as in Jonker and Volgenant 1987.

    gains: (rows, columns) float, 0 or more

    >>> best_matching(np.array([[5.0, 4.0], [5.0, 0.0], [0.0, 0.0]]))
    [1, 0, None]
    """
    rows, columns = gains.shape
    size = columns + rows  # a row that gains nothing gets a column of its own; after these, the start of a path
    costs = np.hstack([-gains, np.zeros((rows, rows))])
    row_of, of_rows, of_columns = np.full(size + 1, -1), np.zeros(rows), np.zeros(size + 1)
    for start in range(rows):
        column, row_of[size] = size, start
        on_path, least, before = np.zeros(size + 1, bool), np.full(size, np.inf), np.full(size, size)
        while row_of[column] >= 0:
            on_path[column], row = True, row_of[column]
            reduced = costs[row] - of_rows[row] - of_columns[:size]
            shorter = ~on_path[:size] & (reduced < least)
            least[shorter], before[shorter] = reduced[shorter], column
            column = int(np.where(on_path[:size], np.inf, least).argmin())
            step = least[column]
            of_rows[row_of[on_path]] += step
            of_columns[on_path] -= step
            least -= step
        while column != size:
            row_of[column] = row_of[before[column]]
            column = int(before[column])
    found: list[int | None] = [None] * rows
    for column, row in enumerate(row_of[:columns].tolist()):
        if row >= 0 and gains[row, column] > 0:
            found[row] = column
    return found
