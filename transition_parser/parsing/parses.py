"""Parses: sentences with their graphs, and the derivations that built them."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from transition_parser.base.errors import InputError, errors_at, shortened
from transition_parser.graphs.amr import AmrGraph, PenmanLayout, signature
from transition_parser.graphs.bank import AmrEntry, jamr_lines
from transition_parser.graphs.conllu import Sentence
from transition_parser.graphs.dependency import DependencyTree, tree_text
from transition_parser.parsing.edits.draft import Edited
from transition_parser.parsing.words import AmrEdge, AmrNode, AmrWord, TreeWord, Word
from transition_parser.text.columns import UNKNOWN
from transition_parser.transitions import Action

if TYPE_CHECKING:
    from networkx import DiGraph, MultiDiGraph
    from pandas import DataFrame
    from spacy.tokens import Doc
    from spacy.vocab import Vocab


SCORE_KEY = "ArcScore"  # the key of an arc's confidence in MISC
# comments that `annotated` writes anew, or that describe another graph
_REPLACED = ("parse_score", "score", "nbest", "actions")
_REPLACED_AMR = (*_REPLACED, "node_scores", "alignments", "node", "root", "edge")
_OF_PLACE = ("sent_id", "newpar", "newdoc")  # beginnings of comments that locate the sentence in a text
NODE_LINE = re.compile("^# ::node\t.*\n", re.MULTILINE)
_DIGITS = 4  # significant digits of numbers in lines of JSON


# keys that identify the parts of a graph (an arc with its relation, a node): equal for a part that two graphs share
Parts = Sequence[Hashable]


class NbestRank(NamedTuple):
    """The rank of a parse among the parses of its sentence."""

    rank: int  # counted from 1
    of: int  # the number of parses


@dataclass(frozen=True, kw_only=True, repr=False)
class SentenceParse(ABC):
    """The parse of one sentence, a tree or an AMR: a sequence of its words. `len(parse)` is the number of words.

    probability: the probability of the graph as far as search has seen it, which is the sum of the probabilities of the
        derivations that search found for the graph (log-sum-exp of their log-probabilities). The graph may have other
        derivations, so this is a lower bound. The probabilities of different graphs of a sentence sum to 1 at most.
    mean_log_probability: the log-probability of the derivation divided by the number of its actions + 1
    actions: the actions of the derivation; a gold graph and a tree that was found as a whole have none
    place: the rank of the parse; None if no alternatives were asked for
    alternatives: the next best parses, each a different graph, best first; they have no alternatives themselves
    model: the name and the version of the model (`Parser.version`); None for a gold graph
    """

    sentence: Any
    probability: float = 1.0
    mean_log_probability: float = 0.0
    actions: tuple[Action, ...] = ()
    place: NbestRank | None = None
    alternatives: tuple[Self, ...] = ()
    model: str | None = None

    @property
    def ranked(self) -> tuple[Self, ...]:
        """This parse and its alternatives, best first."""
        return (self, *self.alternatives)

    @abstractmethod
    def graph_key(self) -> Hashable:
        """Return a key that is equal for parses with the same graph."""

    @abstractmethod
    def parts(self) -> Mapping[str, Parts]:
        """Return field of confidences (`arc_scores` …) → the part of the graph for each confidence in the field."""

    def rescored(self, change: Mapping[str, Callable[[float], float]]) -> Self:
        """Return the parse, and its alternatives, with other confidences in the named fields.

        change: the name of a field → the function that maps each of its confidences
        """
        fields: dict[str, Any] = {name: tuple(map(of_one, getattr(self, name))) for name, of_one in change.items()}
        alternatives = tuple(parse.rescored(change) for parse in self.alternatives)
        return replace(self, **fields, alternatives=alternatives)

    @property
    def text(self) -> str:
        """The sentence as it was written, else a text made from its words (`Sentence.text`, `AmrEntry.text`)."""
        return self.sentence.text

    @property
    def forms(self) -> list[str]:
        """The form of each word."""
        return self.sentence.forms

    @property
    @abstractmethod
    def words(self) -> Sequence[Word]:
        """The words, in order."""

    def __getitem__(self, index: int) -> Any:
        return self.words[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.words)

    def __len__(self) -> int:
        return len(self.forms)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} words: {shortened(self.text)!r}>"

    @abstractmethod
    def annotated(self, scores: bool = False, actions: bool = False) -> Any:
        """Return the sentence with its graph."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the parse as strings, numbers, lists and dictionaries alone, which JSON can hold."""

    def _as_data(self, **of_graph: Any) -> dict[str, Any]:
        """Return the entries of `to_dict` that all parses have, and between them the entries of the graph."""
        about = {"id": self.sentence.id, "line": self.sentence.line, "text": self.text, "model": self.model}
        found = {"mean_log_probability": self.mean_log_probability, "probability": self.probability}
        ranked = {"alternatives": [other.to_dict() for other in self.alternatives]} if self.place else {}
        return {**about, **of_graph, **found, "actions": [*map(str, self.actions)], **ranked}

    def to_json(self, actions: bool = False) -> str:
        """Return the line that `parse --json` writes, without a line end; for the parameter see `rounded`."""
        return json.dumps(self.rounded(actions), ensure_ascii=False)

    def rounded(self, actions: bool = False) -> dict[str, Any]:
        """Return `to_dict` with four significant digits of each float.

        actions: True to keep the actions
        """
        return _rounded(self.to_dict(), () if actions else ("actions",))

    def to_pandas(self) -> DataFrame:
        """Return `Parses.to_pandas` of this parse alone."""
        return Parses([self]).to_pandas()

    @abstractmethod
    def drawing(self) -> str:
        """Return the graph as a picture in SVG."""

    def _repr_svg_(self) -> str:
        return self.drawing()

    def _repr_html_(self) -> str:
        """Return the picture with a scroll bar where it is wide."""
        svg = self._repr_svg_().replace("<svg", '<svg style="max-width: none"', 1)
        return f'<div style="overflow-x: auto">{svg}</div>'


S = TypeVar("S", bound=SentenceParse)


class Parses(list[S]):
    """A list of parses. Notebooks show the first ten as pictures."""

    def to_pandas(self) -> DataFrame:
        """Return a table of all words, for AMRs of all nodes: the number of the `sentence`, and entries of `to_dict`.

        Raises `InputError` where pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise InputError(f"tables need the package pandas ({error}): pip install pandas") from None
        data = enumerate((parse.to_dict() for parse in self), 1)
        rows = [{"sentence": i, **row} for i, found in data for row in found.get("nodes", found["words"])]
        return pandas.DataFrame(rows)

    def _repr_html_(self) -> str:
        shown = (f"<p>{escape(parse.text)}</p>{parse._repr_html_()}" for parse in self[:10])
        return "".join([*shown, f"<p>… and {len(self) - 10} more</p>" * (len(self) > 10)])


@dataclass(frozen=True, repr=False)
class Parse(SentenceParse):
    """One sentence parsed into a tree.

    sentence: the input, with predicted tags, lemmas and features where it had none; `annotated` fills in the tree
    tree: the heads and relations of the words
    arc_scores: for each word the confidence that head and relation are right, from 0 to 1. It is the probability that
        the model gave to all actions that decided the word's head (`TreeSystem.may_attach`); with alternatives it is
        the mass of the derivations found that have the arc (`search.ranked`). It is calibrated if the model has a
        `Calibration`. A gold tree has none.

    `SentenceParse` has the other fields. The lists `forms`, `lemmas`, `upos`, `xpos`, `feats`, `heads` and `deprels`
    have the attribute of this name of each word.
    """

    sentence: Sentence
    tree: DependencyTree
    arc_scores: tuple[float, ...] = ()

    @cached_property
    def words(self) -> tuple[TreeWord, ...]:
        """The words, in order."""
        rows = self.sentence.words
        places = self.sentence.spans or [(None, None)] * len(rows)
        arcs = zip(rows, self.tree.relations, self.arc_scores or [None] * len(rows), places, strict=True)
        words = []
        for number, (row, deprel, score, place) in enumerate(arcs, 1):
            lemma, upos, xpos, feats = _known(row.lemma), _known(row.upos), _known(row.xpos), _features(row.feats)
            words.append(TreeWord(self, number, row.form, *place, lemma, upos, xpos, feats, deprel, score))
        return tuple(words)

    @property
    def root(self) -> TreeWord:
        """The word that has no head."""
        return self.words[self.tree.root - 1]

    @property
    def lemmas(self) -> list[str | None]:
        """The lemma of each word, None where it is unknown."""
        return [word.lemma for word in self.words]

    @property
    def upos(self) -> list[str | None]:
        """The universal part of speech of each word, None where it is unknown."""
        return [word.upos for word in self.words]

    @property
    def xpos(self) -> list[str | None]:
        """The part of speech of each word in the treebank's own tag set, None where it is unknown."""
        return [word.xpos for word in self.words]

    @property
    def feats(self) -> list[Mapping[str, str]]:
        """The features of each word (feature → value)."""
        return [word.feats for word in self.words]

    @property
    def heads(self) -> list[int]:
        """The number of the head of each word, from 1; 0 for the root. SuPar's name for it is `arcs`."""
        return list(self.tree.heads)

    arcs = heads

    @property
    def deprels(self) -> list[str]:
        """The relation of each word to its head."""
        return list(self.tree.relations)

    def graph_key(self) -> Hashable:
        """Return the tree."""
        return self.tree

    def parts(self) -> Mapping[str, Parts]:
        """Return the labeled arcs of all words."""
        return {"arc_scores": [*enumerate(zip(self.tree.heads, self.tree.relations, strict=True))]}

    def annotated(self, scores: bool = False, actions: bool = False) -> Sentence:
        """Return the sentence with its tree, and with tags, lemmas and features where the parse has them.

        scores: True to add `ArcScore=` in MISC, `# score` (the probability) and `# parse_score`
        actions: True to add `# actions`

        Annotations of an earlier tree are removed: DEPS, empty nodes, `ArcScore=`, and the comments `# nbest`,
        `# score`, `# parse_score` and `# actions`. All other columns and comments of the input stay as they are.

        Where alternatives were asked for, the sentence has `# nbest = 1/5` and `# score`. The alternatives themselves
        have neither the sentence's id nor the comments that open paragraphs and documents, because these must come
        once.
        """
        keys = ((comment, comment[1:].partition("=")[0].strip()) for comment in self.sentence.comments)
        comments = [comment for comment, key in keys if key not in _REPLACED]
        if self.place:
            if self.place.rank > 1:
                comments = [comment for comment in comments if not comment[1:].strip().startswith(_OF_PLACE)]
            comments.append(f"# nbest = {self.place.rank}/{self.place.of}")
        if scores or self.place:
            comments.append(f"# score = {self.probability:.4g}")
        if scores:
            comments.append(f"# parse_score = {self.mean_log_probability:.4f}")
        if actions:
            comments.append("# actions = " + " ".join(map(str, self.actions)))
        values = [f"{score:.4f}" for score in self.arc_scores] if scores else ()
        return replace(self.sentence.with_tree(self.tree, SCORE_KEY, values), comments=tuple(comments))

    def to_conllu(self, scores: bool = False, actions: bool = False) -> str:
        """Return `annotated` as text, with the blank line that ends a sentence."""
        return str(self.annotated(scores, actions))

    @property
    def language(self) -> str | None:
        """The ISO code of the sentence's language (`# lang = de`), where a model of many languages knows it."""
        return self.sentence.comment("lang")

    def to_dict(self) -> dict[str, Any]:
        """Return the parse as strings, numbers, lists and dictionaries alone, which JSON can hold.

        - `id`: of the sentence, None where it has none
        - `line`: the line of the file where the sentence begins, None where it is not known
        - `text`, `model`: see these fields
        - `language`: see `language`; only where it is known
        - `words`: of each word the attributes of `TreeWord`, but `head` is a number (0: the root), and `feats` a string
          as in CoNLL-U; unknown values are None
        - `multiword_tokens`: of each token of several words `form`, `first` and `last` (words)
        - `mean_log_probability`, `probability`, `actions`: see `Parse`; each action as it is written
        - `alternatives`: where alternatives were asked for, a dictionary of each, the best first

        Words are counted from 1.
        """
        columns = zip(self.words, self.sentence.words, self.heads, strict=True)
        words = [
            {name: getattr(word, name) for name in ("id", "form", "lemma", "upos", "xpos")}
            | {"feats": _known(row.feats), "head": head}
            | {name: getattr(word, name) for name in ("deprel", "score", "start", "end")}
            for word, row, head in columns
        ]
        ranges = [(row.form, *row.span) for row in self.sentence.rows if row.is_range]
        tokens = [{"form": form, "first": first, "last": last} for form, first, last in ranges]
        language = {} if self.language is None else {"language": self.language}
        return self._as_data(**language, words=words, multiword_tokens=tokens)

    def to_networkx(self) -> DiGraph:
        """Return the tree for networkx: words, counted from 1, and edges from heads.

        Words have the known values of `to_dict`, edges have `deprel` and `score`.
        """
        import networkx

        graph, words = networkx.DiGraph(), self.to_dict()["words"]
        graph.add_nodes_from((word["id"], _known_of(word)) for word in words)
        arcs = [(word["head"], word["id"], {"deprel": word["deprel"], "score": word["score"]}) for word in words]
        graph.add_edges_from((head, number, _known_of(arc)) for head, number, arc in arcs if head)
        return graph

    def to_spacy(self, vocab: Vocab | None = None, root: str = "root") -> Doc:
        """Return a document of spaCy with the words, their columns and the tree, see `parsing.documents`.

        vocab: by default the vocabulary of a blank pipeline of the language, or of English
        root: the relation of the root; spaCy's own parsers have `ROOT`
        """
        from transition_parser.parsing.documents import document_of

        return document_of(self, vocab, root)

    def __str__(self) -> str:
        """Return the tree as text (`tree_text`), with tags where they are known."""
        tags = [row.upos for row in self.sentence.words]
        known = any(tag != UNKNOWN for tag in tags)
        return tree_text(self.forms, self.tree, *([tags] if known else []))

    def drawing(self) -> str:
        from transition_parser.drawing.trees import tree_drawing

        return tree_drawing(self.annotated(), self.arc_scores)


@dataclass(frozen=True, repr=False)
class AmrParse(SentenceParse):
    """One sentence parsed into an AMR.

    sentence: the input
    graph: the AMR
    alignments: for each node the words that it came from, counted from 0 as in PENMAN's `~e.N`; a pronoun's only node
        has all its mentions
    wiki: node → value of `:wiki`
    node_scores: for each node the probability of the actions that made it, including the actions that merged words into
        its span
    edge_scores: for each edge the probability of its action
    completed: the number of changes that given facts (`parsing.given`) required after the last action; unless 0, the
        graph may differ from the graph that `actions` build

    With alternatives, the scores of nodes and edges are masses of derivations, like `Parse.arc_scores`. `SentenceParse`
    has the other fields.
    """

    sentence: AmrEntry
    graph: AmrGraph
    alignments: tuple[tuple[int, ...], ...]
    wiki: Mapping[int, str] = field(default_factory=dict)
    node_scores: tuple[float, ...] = ()
    edge_scores: tuple[float, ...] = ()
    completed: int = 0

    @cached_property
    def words(self) -> tuple[AmrWord, ...]:
        """The words, in order."""
        places = self.sentence.spans or [(None, None)] * len(self)
        return tuple(AmrWord(self, i, form, *place) for i, (form, place) in enumerate(zip(self.forms, places), 1))

    @cached_property
    def nodes(self) -> tuple[AmrNode, ...]:
        """The nodes, concepts and constants, in the order of `graph`."""
        graph, variables = self.graph, self.graph.variables()
        scores = self.node_scores or [None] * len(graph)
        return tuple(
            AmrNode(self, i + 1, label, i in graph.constants, variables[i], self.wiki.get(i), score)
            for i, (label, score) in enumerate(zip(graph.labels, scores, strict=True))
        )

    @cached_property
    def edges(self) -> tuple[AmrEdge, ...]:
        """The edges, in the order of `graph`."""
        scores, nodes = self.edge_scores or [None] * len(self.graph.edges), self.nodes
        edges = zip(self.graph.edges, scores, strict=True)
        return tuple(AmrEdge(nodes[source], role, nodes[target], score) for (source, role, target), score in edges)

    @property
    def top(self) -> AmrNode:
        """The node that PENMAN writes first."""
        return self.nodes[self.graph.top]

    def graph_key(self) -> Hashable:
        """Return the graph in a form that does not depend on how its nodes are numbered."""
        return signature(self.graph)

    def parts(self) -> Mapping[str, Parts]:
        """Return the nodes (their labels, and the words that they came from) and the edges (their ends and roles)."""
        nodes = [*zip(self.graph.labels, self.alignments, strict=True)]
        edges = [(nodes[source], role, nodes[target]) for source, role, target in self.graph.edges]
        return {"node_scores": nodes, "edge_scores": edges}

    def annotated(
        self,
        scores: bool = False,
        actions: bool = False,
        alignment_markers: bool = False,
        wiki: bool = True,
    ) -> AmrEntry:
        """Return the entry with its graph.

        The comments `# ::alignments` and `# ::node` (JAMR's form) give the words that the nodes came from.

        scores: True to write `# ::parse_score`, `# ::score` and `# ::node_scores` (in the order of the `# ::node`
            lines)
        actions: True to write `# ::actions`
        alignment_markers: True to write `~e.N` after each node
        wiki: False to write no `:wiki`

        Where alternatives were asked for, `# ::nbest 1/5 ::score …` is written. The alternatives themselves have no
        `# ::id`, because it must come once.
        """
        replaced = (*_REPLACED_AMR, "id") if self.place and self.place.rank > 1 else _REPLACED_AMR
        metadata = {key: value for key, value in self.sentence.metadata.items() if key not in replaced}
        with errors_at(self.sentence.path, self.sentence.line, self.sentence.id):
            entry = self.sentence.with_graph(self.graph, self.alignments, self.wiki if wiki else {}, alignment_markers)
        comments = [*(f"# ::{key} {value}" for key, value in metadata.items()), *jamr_lines(entry)]
        if self.place:
            comments.append(f"# ::nbest {self.place.rank}/{self.place.of} ::score {self.probability:.4g}")
        elif scores:
            comments.append(f"# ::score {self.probability:.4g}")
        if scores:
            comments.append(f"# ::parse_score {self.mean_log_probability:.4f}")
            comments.append("# ::node_scores " + " ".join(f"{one:.4f}" for one in self.written_node_scores()))
        if actions:
            comments.append("# ::actions " + " ".join(map(str, self.actions)))
        return replace(entry, metadata=metadata, comments=tuple(comments))

    def written_node_scores(self) -> list[float]:
        """Return `node_scores` in the order of the nodes of `annotated`, without the nodes of `:wiki`."""
        order = PenmanLayout(self.graph, self.wiki).order
        return [self.node_scores[node] for node in order] if self.node_scores else []

    def to_penman(self, alignment_markers: bool = False, wiki: bool = True, metadata: bool = False) -> str:
        """Return the graph in PENMAN, without a line end after it.

        alignment_markers: True to write `~e.N` after each node
        wiki: see `annotated`
        metadata: True to write the comments `# ::key value` before the graph, but not the lines `# ::node` of
            `annotated`, which the package `penman` reads as keys
        """
        entry = self.annotated(alignment_markers=alignment_markers, wiki=wiki)
        return NODE_LINE.sub("", str(entry)).rstrip("\n") if metadata else entry.penman

    def to_networkx(self) -> MultiDiGraph:
        """Return the graph for networkx: nodes, counted from 1, edges, and the number of the top, `graph.graph["top"]`.

        Nodes have the known values of `to_dict`, with the forms of `words` as a string, edges have `role` and `score`.
        """
        import networkx

        graph = networkx.MultiDiGraph(top=self.top.id)
        for node, values in zip(self.nodes, self.to_dict()["nodes"], strict=True):
            graph.add_node(node.id, **_known_of({**values, "words": " ".join(word.form for word in node.words)}))
        for source, role, target, score in self.edges:
            graph.add_edge(source.id, target.id, **_known_of({"role": role, "score": score}))
        return graph

    def to_spacy(self, vocab: Vocab | None = None) -> Doc:
        """Return a document of spaCy with the words, and with names as its entities, see `Parse.to_spacy`."""
        from transition_parser.parsing.documents import document_of_amr

        return document_of_amr(self, vocab)

    def to_dict(self) -> dict[str, Any]:
        """Return the parse as strings, numbers, lists and dictionaries alone, which JSON can hold.

        - `id`, `line`, `text`, `model`: as for a tree
        - `words`: of each word `id`, `form`, `start` and `end`, see `Word`
        - `penman`: the graph in PENMAN, with `:wiki`
        - `nodes`: of each node the attributes of `AmrNode`, and the numbers of its `words`
        - `edges`: of each edge the numbers of its nodes `source` and `target`, `role` and `score`, see `AmrEdge`
        - `top`: the number of the node that PENMAN writes first
        - `triples`: the graph as the package `penman` has it, but roles without colon as in `edges`
          (`["w", "ARG0", "b"]`), the concept of the top first
        - `mean_log_probability`, `probability`, `actions`, `alternatives`: as in `Parse.to_dict`

        Words and nodes are counted from 1.
        """
        of_node = ("id", "concept", "is_constant", "variable", "wiki", "score")
        return self._as_data(
            words=[{name: getattr(word, name) for name in ("id", "form", "start", "end")} for word in self.words],
            penman=self.to_penman(),
            nodes=[
                {**{name: getattr(node, name) for name in of_node}, "words": [word.id for word in node.words]}
                for node in self.nodes
            ],
            edges=[
                {"source": edge.source.id, "role": edge.role, "target": edge.target.id, "score": edge.score}
                for edge in self.edges
            ],
            top=self.top.id,
            triples=[[source, role[1:], target] for source, role, target in self.graph.triples(self.wiki)],
        )

    def __str__(self) -> str:
        """Return the graph in PENMAN, with `:wiki`."""
        return self.to_penman()

    def drawing(self) -> str:
        from transition_parser.drawing.amrs import amr_drawing

        return amr_drawing(self.annotated(), self.written_node_scores())


def _known(cell: str) -> str | None:
    """Return the value of a cell of CoNLL-U, None where it is unknown."""
    return None if cell == UNKNOWN else cell


def _features(cell: str) -> dict[str, str]:
    pairs = (pair.partition("=") for pair in cell.split("|") if cell != UNKNOWN)
    return {name: value for name, _, value in pairs}


def _known_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values without `id` and without None, which GraphML can't hold."""
    return {name: value for name, value in values.items() if value is not None and name != "id"}


def _rounded(value: Any, left_out: Collection[str]) -> Any:
    """Return plain data with `_DIGITS` significant digits of each float, and without the keys in `left_out`."""
    if isinstance(value, dict):
        return {key: _rounded(inner, left_out) for key, inner in value.items() if key not in left_out}
    if isinstance(value, list):
        return [_rounded(inner, left_out) for inner in value]
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def edited(parse: AmrParse, edit: Edited) -> AmrParse:
    """Return the parse with its graph after an edit. New edges, and nodes that come from none, have confidence 1."""
    place = {old: new for new, old in enumerate(edit.nodes)}
    return replace(
        parse,
        graph=edit.graph,
        alignments=tuple(parse.alignments[node] if node >= 0 else () for node in edit.nodes),
        wiki={place[node]: value for node, value in parse.wiki.items() if node in place},
        node_scores=tuple(parse.node_scores[node] if node >= 0 else 1.0 for node in edit.nodes),
        edge_scores=tuple(parse.edge_scores[edge] if edge >= 0 else 1.0 for edge in edit.edges),
    )
