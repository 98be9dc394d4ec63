"""The page of a report: the worst sentences, and tables with bars of errors, drawn by the template report.html."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from transition_parser.base.files import replacing
from transition_parser.graphs.amr_score import Counts, triple_diff
from transition_parser.graphs.bank import AmrEntry
from transition_parser.graphs.dependency_score import Comparison, Pair, Score

WORST = 100  # maximum number of sentences in a report; browsers scroll longer pages badly
OPEN = 10  # how many of them a page shows at first
NAMES = {  # key of a figure → its name in a report
    "uas": "right heads (UAS, %)", "las": "right heads and relations (LAS, %)",
    "clas": "LAS of content words (CLAS, %)", "label_accuracy": "right relations (%)",
    "upos": "right UPOS tags (%)", "xpos": "right XPOS tags (%)",
    "ufeats": "right features (%)", "lemmas": "right lemmas (%)",
    "tokens": "tokens (F1, %)", "sentences": "sentences", "words": "words",
    "smatch": "all triples (Smatch)", "unlabeled": "without roles", "no_wsd": "without senses of frames",
    "concepts": "concepts", "named_entities": "named entities", "negation": "negation", "wiki": "links to Wikipedia",
    "reentrancies": "re-entrancies", "srl": "arguments of frames",
}  # fmt: skip


class Wrong(str):
    """The text of a cell that is marked as wrong."""


class ReportTable(NamedTuple):
    """A table."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[object]]
    bars: Sequence[float] = ()  # for each row its errors as the length of a bar, from 0 to 1


class Compared(NamedTuple):
    """A sentence with its gold and predicted graph."""

    name: str
    text: str
    score: str  # the score as text
    head: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()  # one row for each word, with gold and predicted values; may be empty
    gold: str = ""
    predicted: str = ""
    missing: Sequence[str] = ()
    extra: Sequence[str] = ()


class ErrorReport(NamedTuple):
    """The tables and the worst sentences of a report."""

    tables: Sequence[ReportTable]
    worst: Sequence[Compared]
    total: int  # the number of all sentences
    order: str  # the order of `worst` in words


def write_page(path: str | os.PathLike, title: str, figures: Mapping[str, Any], report: ErrorReport) -> None:
    """Write a report as an HTML file, with the scores that are single values at its top."""
    from jinja2 import Environment, StrictUndefined

    source = Path(__file__).with_name("report.html").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.tests["wrong"] = lambda cell: isinstance(cell, Wrong)
    single = {name: value["f1"] if name == "smatch" else value for name, value in figures.items()}
    facts = {NAMES.get(name, name): value for name, value in single.items() if isinstance(value, int | float)}
    text = environment.from_string(source).render(title=title, facts=facts, open=OPEN, **report._asdict())
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="replace")


# --- AMRs -------------------------------------------------------------------------------------


_STEP = 10  # width of the intervals of sentence lengths, in words


def amr_report(
    pairs: Sequence[tuple[AmrEntry, AmrEntry]], smatch: Sequence[Counts], figures: Mapping[str, Any]
) -> ErrorReport:
    """Return the error report of AMRs, in pairs of gold and predicted, each with its counts of Smatch."""
    parts = [(NAMES.get(name, name), value) for name, value in figures.items() if isinstance(value, dict)]
    rows = [[name, *(f"{value[part]:.4f}" for part in ("precision", "recall", "f1"))] for name, value in parts]
    head, bars = ("triples", "precision", "recall", "F1"), [1 - value["f1"] for _, value in parts]
    fine = ReportTable("Scores, and errors (1 − F1)", head, rows, bars)
    by_length: dict[int, list[Counts]] = {}
    for (gold, _), count in zip(pairs, smatch, strict=True):
        by_length.setdefault((len(gold.text.split()) - 1) // _STEP, []).append(count)
    rows, bars = [], []
    for number, inside in sorted(by_length.items()):
        f1 = sum(inside, Counts()).f1
        rows.append([f"{number * _STEP + 1}–{(number + 1) * _STEP} words", len(inside), f"{f1:.4f}"])
        bars.append(1 - f1)
    title, head = "By length of the sentence, and errors (1 − Smatch)", ("length", "sentences", "Smatch")
    tables = [fine, ReportTable(title, head, rows, bars)]
    worst = sorted(range(len(pairs)), key=lambda i: (smatch[i].f1, -smatch[i].gold, i))
    shown = []
    for i in (i for i in worst[:WORST] if not smatch[i].exact):
        gold, system = pairs[i]
        ours, theirs, lines = gold.penman.strip(), system.penman.strip(), triple_diff(gold, system)
        missing, extra = ([line[2:] for line in lines if line.startswith(sign)] for sign in ("- ", "+ "))
        name, score = gold.id or f"sentence {i + 1}", f"Smatch {smatch[i].f1:.3f}"
        shown.append(Compared(name, gold.text, score, gold=ours, predicted=theirs, missing=missing, extra=extra))
    order = "the lowest Smatch first, larger graphs before smaller ones"
    return ErrorReport(tables, shown, len(pairs), order)


# --- trees ------------------------------------------------------------------------------------


_PAIRS = 30  # maximum number of listed confusions
_HEAD = ("", "word", "gold head", "gold relation", "predicted head", "predicted relation")


def tree_report(comparison: Comparison) -> ErrorReport:
    """Return the error report of trees."""
    relations = Counter(gold.relation for gold, _ in comparison.counted_pairs)
    confused = Counter((gold.relation, system.relation) for gold, system in comparison.counted_pairs)
    wrong = Counter({pair: count for pair, count in confused.items() if pair[0] != pair[1]})
    confusions = [
        (gold, system, count, f"{100 * count / relations[gold]:.1f}%")
        for (gold, system), count in wrong.most_common(_PAIRS)
    ]
    tables = [
        _scores("Wrong arcs by relation", "relation", comparison.by_relation(), most_errors_first=True),
        _scores("Wrong arcs by words of the sentence", "words", comparison.by_length()),
        _scores("Wrong arcs by distance to the head", "words away", comparison.by_distance()),
        ReportTable("Most frequent confusions", ("gold", "predicted", "words", "of the gold ones"), confusions),
    ]
    order = "the most wrong arcs first; wrong cells are marked"
    if not all(map(comparison.counts, comparison.gold)):
        order += ", but of punctuation, which no figure here counts"
    return ErrorReport(tables, _worst(comparison), len(comparison.sentences), order)


def _scores(title: str, what: str, table: Mapping[str, Score], most_errors_first: bool = False) -> ReportTable:
    found = [(score.gold - score.right, name, score) for name, score in table.items()]
    if most_errors_first:
        found.sort(key=lambda one: (-one[0], one[1]))
    rows = [(name, score.gold, score.system, f"{score.f1:.2f}", errors) for errors, name, score in found]
    most = max((errors for errors, *_ in found), default=0) or 1
    return ReportTable(title, (what, "gold", "predicted", "LAS", "wrong"), rows, [one[0] / most for one in found])


def _worst(comparison: Comparison) -> list[Compared]:
    sentences, system_of = comparison.sentences, {id(gold): (gold, system) for gold, system in comparison.pairs}
    wrong: list[tuple[int, int, int]] = []  # minus the number of wrong arcs, number of words, number of the sentence
    words = iter(comparison.gold)
    words_of = [list(islice(words, len(sentence.words))) for sentence in sentences]
    for number, of_sentence in enumerate(words_of):
        counted = [word for word in of_sentence if comparison.counts(word)]
        pairs = [system_of.get(id(word)) for word in counted]
        errors = sum(pair is None or not comparison.arc_right(pair) for pair in pairs)
        if errors:
            wrong.append((-errors, len(counted), number))
    shown = []
    for errors, length, number in sorted(wrong)[:WORST]:
        place = {id(word): i for i, word in enumerate(words_of[number], 1)}
        rows = [_row(comparison, i, word, system_of.get(id(word)), place) for i, word in enumerate(words_of[number], 1)]
        name = sentences[number].id or f"sentence {number + 1}"
        text = " ".join(sentences[number].forms)
        shown.append(Compared(name, text, f"{-errors} of {length} arcs wrong", _HEAD, rows))
    return shown


def _row(comparison: Comparison, number: int, word: Any, pair: Pair | None, place: Mapping[int, int]) -> list[object]:
    gold = [number, word.form, _name(word.parent, place), word.relation]
    marked = Wrong if comparison.counts(word) else str
    if pair is None:  # the predicted file has no such word, because it divides the text differently
        return [*gold, marked("–"), marked("–")]
    system = pair[1]
    parent = comparison.gold_of(system.parent) if system.parent is not None else None
    head = "root" if system.parent is None else _name(parent, place) if parent is not None else system.parent.form
    relation = system.relation if system.relation == word.relation else marked(system.relation)
    return [*gold, head if comparison.head_right(pair) else marked(head), relation]


def _name(word: Any, place: Mapping[int, int]) -> str:
    """Return a head as its number and form; `…` stands for the number of a word in another sentence."""
    return "root" if word is None else f"{place.get(id(word), '…')} {word.form}"
