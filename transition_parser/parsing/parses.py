"""Parses: sentences with their graphs, and the derivations that built them."""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from transition_parser.base.errors import errors_at, shortened, warn
from transition_parser.graphs.amr import MAX_DEPTH, AmrGraph, PenmanLayout, TooDeepError, canonical
from transition_parser.graphs.bank import AmrEntry, jamr_lines
from transition_parser.graphs.conllu import Sentence
from transition_parser.graphs.dependency import DependencyTree, tree_text
from transition_parser.parsing.alternatives import Parts, Ranked
from transition_parser.parsing.edits.draft import Edited, without
from transition_parser.text.columns import UNKNOWN
from transition_parser.transitions import Action

if TYPE_CHECKING:
    from networkx import DiGraph, MultiDiGraph
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

    from transition_parser.states.table import ActionTable

# Which `:wiki` named nodes get. True: the one that their name has in the training data, `-` for other names;
# "name": the same, but other names get the name itself (`"New_York"`); False: none
Wiki = bool | Literal["name"]

_COLUMNS = ("lemma", "upos", "xpos", "feats")
SCORE_KEY = "ArcScore"  # the key of an arc's confidence in MISC
# comments that `annotated` writes anew, or that describe another graph
_REPLACED = ("parse_score", "score", "nbest", "actions")
_REPLACED_AMR = (*_REPLACED, "node_scores", "alignments", "node", "root", "edge")
_OF_PLACE = ("sent_id", "newpar", "newdoc")  # beginnings of comments that locate the sentence in a text
NODE_LINE = re.compile("^# ::node\t.*\n", re.MULTILINE)
_DIGITS = 4  # significant digits of numbers in lines of JSON


class SentenceParse(Ranked):
    """The parse of one sentence, a tree or an AMR. `len(parse)` is the number of words of the sentence."""

    sentence: Any

    @property
    def text(self) -> str:
        """The sentence as it was written, else a text made from its words (`Sentence.text`, `AmrEntry.text`)."""
        return self.sentence.text

    @property
    def words(self) -> list[str]:
        """The forms of the words."""
        return self.sentence.forms

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} words: {shortened(self.text)!r}>"

    @abstractmethod
    def annotated(self, scores: bool = False, actions: bool = False) -> Any:
        """Return the sentence with its graph."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the parse as strings, numbers, lists and dictionaries alone, which JSON can hold."""

    def to_json(self, actions: bool = False) -> str:
        """Return the line that `parse --json` writes, without a line end: `to_dict`, with four significant digits.

        actions: True to keep the actions
        """
        return json.dumps(_as_written(self.to_dict(), () if actions else ("actions",)), ensure_ascii=False)

    @abstractmethod
    def drawings(self) -> list[str]:
        """Return the graph as pictures in SVG: the whole width first, then narrower ones, of a tree in lines."""

    def _repr_svg_(self) -> str:
        return self.drawings()[0]

    def _repr_html_(self) -> str:
        """Return the picture in the colors of the notebook, with a scroll bar where it is wide."""
        from transition_parser.drawing.svg import in_notebook

        return in_notebook(self._repr_svg_())


S = TypeVar("S", bound=SentenceParse)


class Parses(list[S]):
    """A list of parses. Notebooks show the first ten as pictures."""

    def _repr_html_(self) -> str:
        shown = (f"<p>{escape(parse.text)}</p>{parse._repr_html_()}" for parse in self[:10])
        return "".join([*shown, f"<p>… and {len(self) - 10} more</p>" * (len(self) > 10)])


@dataclass(frozen=True)
class Word:
    """A word of a parsed tree. A `Parse` is a sequence of its words.

    Unknown columns of CoNLL-U and unknown places in the text (`start` and `end`, as in `Sentence.spans`) are None.
    """

    parse: Parse = field(repr=False, compare=False)
    number: int  # from 1
    text: str
    relation: str
    score: float  # see `Parse.arc_scores`
    start: int | None
    end: int | None
    lemma: str | None
    upos: str | None
    xpos: str | None
    feats: str | None

    @property
    def head(self) -> Word | None:
        """The head, None for the root."""
        head = self.parse.heads[self.number - 1]
        return self.parse[head - 1] if head else None

    @property
    def children(self) -> list[Word]:
        """The dependents, in word order."""
        return [word for word, head in zip(self.parse, self.parse.heads, strict=True) if head == self.number]

    @property
    def subtree(self) -> list[Word]:
        """The word and all words below it, in word order."""
        reached = [self]
        for word in reached:  # the loop appends to this list
            reached += word.children
        return sorted(reached, key=lambda word: word.number)


@dataclass(frozen=True, repr=False)
class Parse(SentenceParse):
    """One sentence parsed into a tree.

    sentence: the input; `annotated` fills in the tree; `sentence.spans` has the places of its words in a text
    tree: the heads and relations of the words
    arc_scores: for each word the confidence that head and relation are right, from 0 to 1. It is the probability that
        the model gave to all actions that decided the word's head (`TreeSystem.may_attach`); with alternatives it is
        the mass of the derivations found that have the arc (`alternatives.ranked`). It is calibrated if the model has a
        `Calibration`.
    actions: the derivation
    score: the log-probability of the derivation divided by the number of its actions + 1
    upos: the predicted tag of each word, () where the model predicts none
    lemmas: the lemma of each word, () where the model predicts none
    xpos, feats: the predicted XPOS tag and features of each word as CoNLL-U writes them, () where the model predicts
        none

    `Ranked` has the other fields: probability, place and alternatives. A parse is a sequence of `Word`.
    """

    sentence: Sentence
    tree: DependencyTree
    arc_scores: tuple[float, ...]
    actions: tuple[Action, ...]
    score: float
    upos: tuple[str, ...] = ()
    lemmas: tuple[str, ...] = ()
    xpos: tuple[str, ...] = ()
    feats: tuple[str, ...] = ()

    @property
    def heads(self) -> tuple[int, ...]:
        """The number of the head of each word, from 1; 0 for the root. SuPar's name for it is `arcs`."""
        return self.tree.heads

    arcs = heads

    @cached_property
    def _words(self) -> tuple[Word, ...]:
        rows = self.tagged().words
        places = self.sentence.spans or self.sentence.places_in_text() or [(None, None)] * len(rows)
        arcs = zip(rows, self.tree.relations, self.arc_scores, places, strict=True)
        known = ([None if value == UNKNOWN else value for value in row[2:6]] for row in rows)
        return tuple(
            Word(self, number, row.form, relation, score, start, end, *next(known))
            for number, (row, relation, score, (start, end)) in enumerate(arcs, 1)
        )

    def __getitem__(self, number: int) -> Word:
        return self._words[number]

    def __iter__(self) -> Iterator[Word]:
        return iter(self._words)

    def tagged(self) -> Sentence:
        """Return the input with the predicted tags, lemmas and features where it has none (`Sentence.with_tags`)."""
        return self.sentence.with_tags(self.upos, self.lemmas, self.xpos, self.feats)

    def graph_key(self) -> Hashable:
        """Return the tree."""
        return self.tree

    def parts(self) -> Mapping[str, Parts]:
        """Return the labelled arcs of all words."""
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
        before = self.tagged().without(SCORE_KEY, _REPLACED).without_enhanced()
        comments = list(before.comments)
        misc = None
        if self.place:
            if self.place.rank > 1:
                comments = [comment for comment in comments if not comment[1:].strip().startswith(_OF_PLACE)]
            comments.append(f"# nbest = {self.place.rank}/{self.place.of}")
        if scores or self.place:
            comments.append(f"# score = {self.probability:.4g}")
        if scores:
            comments.append(f"# parse_score = {self.score:.4f}")
            misc = [f"{SCORE_KEY}={score:.4f}" for score in self.arc_scores]
        if actions:
            comments.append("# actions = " + " ".join(map(str, self.actions)))
        return replace(before.with_tree(self.tree, misc), comments=tuple(comments))

    def to_conllu(self, scores: bool = False, actions: bool = False) -> str:
        """Return `annotated` as text, with the blank line that ends a sentence."""
        return str(self.annotated(scores, actions))

    @property
    def language(self) -> str | None:
        """The ISO code of the sentence's language (`# lang = de`), where a model of many languages knows it."""
        return self.sentence.comment("lang")

    def to_dict(self) -> dict[str, Any]:
        """Return the parse as strings, numbers, lists and dictionaries alone, which JSON can hold.

        - `id`, `text`: of the sentence, None where it has none
        - `language`: see `language`; only where it is known
        - `line`: the line of the file where the sentence begins, None where it is not known
        - `words`: of each word `form`, `lemma`, `upos`, `xpos` and `feats` (None where unknown), `head` (counted from
          1; 0: the root), `relation`, `score` (see `arc_scores`), and `start` and `end`, its place in the text that
          was parsed, for CoNLL-U in `text` (None where it is not known)
        - `multiword_tokens`: of each token of several words `form`, `first` and `last` (words, counted from 1)
        - `score`, `probability`, `actions`: see `Parse`; each action as it is written
        - `alternatives`: where alternatives were asked for, a dictionary of each, the best first
        """
        sentence = self.sentence
        words = [
            {"form": word.text}
            | {name: getattr(word, name) for name in _COLUMNS}
            | {"head": head}
            | {name: getattr(word, name) for name in ("relation", "score", "start", "end")}
            for word, head in zip(self, self.heads, strict=True)
        ]
        ranges = [(row.form, *row.span) for row in sentence.rows if row.is_range]
        return {
            "id": sentence.id,
            "line": sentence.line,
            "text": sentence.comment("text"),
            **({} if self.language is None else {"language": self.language}),
            "words": words,
            "multiword_tokens": [{"form": form, "first": first, "last": last} for form, first, last in ranges],
            **_derivation(self),
        }

    def to_networkx(self) -> DiGraph:
        """Return the tree for networkx: words, counted from 1, with the values of `to_dict`, and edges from heads."""
        import networkx

        graph = networkx.DiGraph()
        graph.add_nodes_from(enumerate(self.to_dict()["words"], 1))
        graph.add_edges_from((w.head.number, w.number, {"relation": w.relation}) for w in self if w.head)
        return graph

    def to_spacy(self, vocab: Vocab) -> Doc:
        """Return a document of spaCy with the words, their columns and the tree, see `parsing.documents`."""
        from transition_parser.parsing.documents import document_of

        return document_of(self.tagged(), self.tree, vocab)

    def __str__(self) -> str:
        """Return the tree as text (`tree_text`), with tags where they are known."""
        words = self.sentence.with_tags(self.upos).words
        tags = [row.upos for row in words]
        known = any(tag != UNKNOWN for tag in tags)
        return tree_text([row.form for row in words], self.tree, *([tags] if known else []))

    def drawings(self) -> list[str]:
        from transition_parser.drawing.trees import tree_drawings

        return tree_drawings(self.annotated(), self.arc_scores)


@dataclass(frozen=True, repr=False)
class AmrParse(SentenceParse):
    """One sentence parsed into an AMR.

    sentence: the input
    graph: the AMR
    alignments: for each node the words that it came from; a pronoun's only node has all its mentions
    wiki: node → value of `:wiki`
    new_names: node → its name as a value of `:wiki` (`"New_York"`), for names that the training data lacks
    actions: the derivation
    score: the log-probability of the derivation divided by the number of its actions + 1
    node_scores: for each node the probability of the actions that made it, including the actions that merged words into
        its span
    edge_scores: for each edge the probability of its action
    completed: the number of changes that given facts (`parsing.given`) required after the last action; unless 0, the
        graph may differ from the graph that `actions` build

    With alternatives, the scores of nodes and edges are masses of derivations, like `Parse.arc_scores`. `Ranked` has
    the other fields: probability, place and alternatives.
    """

    sentence: AmrEntry
    graph: AmrGraph
    alignments: tuple[tuple[int, ...], ...]
    wiki: Mapping[int, str]
    actions: tuple[Action, ...]
    score: float
    node_scores: tuple[float, ...] = ()
    edge_scores: tuple[float, ...] = ()
    new_names: Mapping[int, str] = field(default_factory=dict)
    completed: int = 0

    def graph_key(self) -> Hashable:
        """Return the graph in a form that does not depend on how its nodes are numbered."""
        return canonical(self.graph)

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
        wiki: Wiki = True,
        jamr: bool = False,
    ) -> AmrEntry:
        """Return the entry with its graph.

        The comments `# ::alignments` and `# ::node` (JAMR's form) give the words that the nodes came from.

        scores: True to write `# ::parse_score`, `# ::score` and `# ::node_scores` (in the order of the `# ::node`
            lines)
        actions: True to write `# ::actions`
        alignment_markers: True to write `~e.N` after each node
        wiki: True to write `:wiki`; "name" to write `new_names`, too
        jamr: True to write the whole graph as comments, with `# ::root` and `# ::edge` (`bank.jamr_lines`)

        Where alternatives were asked for, `# ::nbest 1/5 ::score …` is written. The alternatives themselves have no
        `# ::id`, because it must come once. Raises `InputError` for a graph that is nested too deeply for PENMAN.
        """
        replaced = (*_REPLACED_AMR, "id") if self.place and self.place.rank > 1 else _REPLACED_AMR
        metadata = {key: value for key, value in self.sentence.metadata.items() if key not in replaced}
        with errors_at(self.sentence.path, self.sentence.line, self.sentence.id):
            entry = self.sentence.with_graph(self.graph, self.alignments, self.written_wiki(wiki), alignment_markers)
        comments = [*(f"# ::{key} {value}" for key, value in metadata.items()), *jamr_lines(entry, jamr)]
        if self.place:
            comments.append(f"# ::nbest {self.place.rank}/{self.place.of} ::score {self.probability:.4g}")
        elif scores:
            comments.append(f"# ::score {self.probability:.4g}")
        if scores:
            comments.append(f"# ::parse_score {self.score:.4f}")
            comments.append("# ::node_scores " + " ".join(f"{one:.4f}" for one in self.written_node_scores(wiki)))
        if actions:
            comments.append("# ::actions " + " ".join(map(str, self.actions)))
        return replace(entry, metadata=metadata, comments=tuple(comments))

    def written_node_scores(self, wiki: Wiki = True) -> list[float]:
        """Return `node_scores` in the order of the nodes of `annotated`, without the nodes of `:wiki`."""
        return [self.node_scores[node] for node in PenmanLayout(self.graph, self.written_wiki(wiki)).order]

    def written_wiki(self, wiki: Wiki = True) -> Mapping[int, str]:
        """Return node → value of `:wiki`, as `annotated` writes it with this option."""
        return {**self.wiki, **self.new_names} if wiki == "name" else self.wiki if wiki else {}

    def to_penman(self, alignment_markers: bool = False, wiki: Wiki = True, metadata: bool = False) -> str:
        """Return the graph in PENMAN, without a line end after it.

        alignment_markers: True to write `~e.N` after each node
        wiki: see `annotated`
        metadata: True to write the comments `# ::key value` before the graph, but not the lines `# ::node` of
            `annotated`, which the package `penman` reads as keys

        Raises `InputError` for a graph that is nested too deeply for PENMAN.
        """
        entry = self.annotated(alignment_markers=alignment_markers, wiki=wiki)
        return NODE_LINE.sub("", str(entry)).rstrip("\n") if metadata else entry.penman

    def to_networkx(self) -> MultiDiGraph:
        """Return the graph for networkx: nodes, counted from 0, and edges, with the values of `to_dict`."""
        import networkx

        data, graph = self.to_dict(), networkx.MultiDiGraph(top=self.graph.top)
        graph.add_nodes_from(enumerate(data["nodes"]))
        graph.add_edges_from((edge["source"], edge["target"], edge) for edge in data["edges"])
        return graph

    def to_spacy(self, vocab: Vocab) -> Doc:
        """Return a document of spaCy with the words, and with names as its entities, see `parsing.documents`."""
        from transition_parser.parsing.documents import document_of_amr

        return document_of_amr(self, vocab)

    def to_dict(self) -> dict[str, Any]:
        """Return the parse as strings, numbers, lists and dictionaries alone, which JSON can hold.

        - `id`, `line`, `text`: as for a tree
        - `words`: of each word `form`, and `start` and `end`, its place in the text that was parsed (None where it is
          not known)
        - `penman`: the graph in PENMAN, with `:wiki`
        - `nodes`: of each node `label`, `constant` (True for `-`, `6`, `"New"`), `variable` (in `penman`; None for
          constants), `words` (counted from 0; the words that the node came from), `wiki` (None where it has none), and
          `score` (see `node_scores`; None where it is not known)
        - `edges`: of each edge `source` and `target` (nodes counted from 0), `role` (without colon;
          inverse only if the target is a constant), and `score` (see `edge_scores`; None where it is not known)
        - `top`: the node that PENMAN writes first
        - `triples`: the graph as the package `penman` has it, but roles without colon as in `edges`
          (`["w", "ARG0", "b"]`), the concept of the top first
        - `score`, `probability`, `actions`, `alternatives`: as in `Parse.to_dict`

        Raises `InputError` for a graph that is nested too deeply for PENMAN.
        """
        graph, entry = self.graph, self.sentence
        variables = graph.variables()
        node_scores = self.node_scores or [None] * len(graph)
        edge_scores = self.edge_scores or [None] * len(graph.edges)
        nodes = [
            {
                "label": label,
                "constant": node in graph.constants,
                "variable": variables[node],
                "words": list(self.alignments[node]),
                "wiki": self.wiki.get(node),
                "score": score,
            }
            for node, (label, score) in enumerate(zip(graph.labels, node_scores, strict=True))
        ]
        edges = zip(graph.edges, edge_scores, strict=True)
        places = zip(entry.forms, entry.spans or [(None, None)] * len(self), strict=True)
        return {
            "id": entry.id,
            "line": entry.line,
            "text": entry.metadata.get("snt"),
            "words": [{"form": form, "start": start, "end": end} for form, (start, end) in places],
            "penman": self.to_penman(),
            "nodes": nodes,
            "edges": [{**edge._asdict(), "score": score} for edge, score in edges],
            "top": graph.top,
            "triples": [[source, role[1:], target] for source, role, target in graph.triples(self.wiki)],
            **_derivation(self),
        }

    def to_json(self, actions: bool = False, wiki: Wiki = True) -> str:
        """Return the line that `parse --json` writes; see `SentenceParse.to_json`.

        actions: True to keep the actions
        wiki: see `annotated`
        """
        if wiki is True:
            return super().to_json(actions)
        one, *others = (replace(parse, wiki=parse.written_wiki(wiki)) for parse in self.ranked)
        return replace(one, alternatives=tuple(others)).to_json(actions)

    def __str__(self) -> str:
        """Return the graph in PENMAN, with `:wiki`."""
        return self.to_penman()

    def drawings(self) -> list[str]:
        from transition_parser.drawing.amrs import amr_drawings

        return amr_drawings(self.annotated(), self.written_node_scores())


def _derivation(parse: Parse | AmrParse) -> dict[str, Any]:
    actions = [str(action) for action in parse.actions]
    found: dict[str, Any] = {"score": parse.score, "probability": parse.probability, "actions": actions}
    if parse.place:
        found["alternatives"] = [other.to_dict() for other in parse.alternatives]
    return found


def _as_written(value: Any, left_out: Collection[str]) -> Any:
    """Return plain data with `_DIGITS` significant digits of each float, and without the keys in `left_out`."""
    if isinstance(value, dict):
        return {key: _as_written(inner, left_out) for key, inner in value.items() if key not in left_out}
    if isinstance(value, list):
        return [_as_written(inner, left_out) for inner in value]
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def within_depth(parse: AmrParse) -> AmrParse:
    """Return the parse without the nodes that are nested too deeply for PENMAN, with a warning about them."""
    while len(parse.graph) > MAX_DEPTH:
        try:
            PenmanLayout(parse.graph)
        except TooDeepError as error:
            problem = f"the graph of {shortened(parse.text)!r} is nested more than {MAX_DEPTH} levels deep"
            warn(str(parse.sentence.error(f"{problem}: its {len(error.nodes)} deeper nodes are left out")))
            parse = edited(parse, without(parse.graph, error.nodes))
        else:
            break
    return parse


def edited(parse: AmrParse, edit: Edited) -> AmrParse:
    """Return the parse with its graph after an edit. New edges, and nodes that come from none, have confidence 1."""
    place = {old: new for new, old in enumerate(edit.nodes)}
    return replace(
        parse,
        graph=edit.graph,
        alignments=tuple(parse.alignments[node] if node >= 0 else () for node in edit.nodes),
        wiki={place[node]: value for node, value in parse.wiki.items() if node in place},
        new_names={place[node]: value for node, value in parse.new_names.items() if node in place},
        node_scores=tuple(parse.node_scores[node] if node >= 0 else 1.0 for node in edit.nodes),
        edge_scores=tuple(parse.edge_scores[edge] if edge >= 0 else 1.0 for edge in edit.edges),
    )


def graph_of(table: ActionTable, words: Sequence[str], tokens: Sequence[int]) -> Any:
    """Return the graph that a derivation builds from normalised words; each step is checked."""
    return table.system.replay(table.system.read(words), [*map(table.action, tokens)])
