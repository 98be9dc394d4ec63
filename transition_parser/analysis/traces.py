"""Derivations step by step, as plain data for pages and files of JSON.

The probabilities in the trace of a model are the ones by which search ranked its hypotheses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import torch

from transition_parser.drawing.amrs import steps_drawing
from transition_parser.modules.encoder import EncoderOut
from transition_parser.oracles.static import oracle
from transition_parser.parsing.formalisms import AMR
from transition_parser.parsing.parser import AnySentence, Parser
from transition_parser.parsing.parses import SentenceParse
from transition_parser.text.pieces import normalize
from transition_parser.transitions import Action, TransitionSystem

MOST_CANDIDATES = 10
_DIGITS = 6  # decimal places of probabilities
_GROWING = {"arcs", "nodes", "edges"}  # the lists of configurations that grow with a derivation


class CompetingAction(NamedTuple):
    """An action that competes in a step."""

    action: str
    probability: float
    legal: bool  # False for an action that may not be taken although its probability counts (legality −1)


@dataclass(frozen=True)
class Step:
    """A step of a derivation: a configuration, and the action that is taken in it."""

    action: str | None  # None at the end of the derivation
    configuration: Mapping[str, Any]  # of `State.as_data`; growing lists have only the new items
    log_probability: float | None = None  # of the action; None if actions are not scored
    candidates: tuple[CompetingAction, ...] = ()  # the most probable actions, best first, and the taken one
    others: int = 0  # the number of other competing actions
    rest: float = 0.0  # their total probability


@dataclass(frozen=True)
class TracedDerivation:
    """A derivation of a sentence."""

    graph: Mapping[str, Any]  # of `graph_data`
    actions: int  # the number of its actions
    steps: tuple[Step, ...]  # one more than its actions, or none if they were not asked for
    mean_log_probability: float  # see `Parse`
    log_probability: float  # of all actions together
    drawing: str = ""  # of all steps of an AMR; that of the graph is in `graph`


@dataclass(frozen=True)
class Trace:
    """A sentence with its derivations, best first."""

    formalism: str  # the name of the kind of graph
    system: str  # the name of the transition system
    forms: tuple[str, ...]  # of the words, as they were given
    derivations: tuple[TracedDerivation, ...]

    def as_data(self) -> dict[str, Any]:
        """Return the trace as dictionaries, sequences, strings and numbers, for JSON."""
        derivations = [{**vars(one), "steps": [vars(step) for step in one.steps]} for one in self.derivations]
        return {**vars(self), "derivations": derivations}


def graph_data(parse: SentenceParse, written: AnySentence, drawing: bool = False) -> dict[str, Any]:
    """Return the entries of `SentenceParse.rounded`, the `written` sentence, and where asked for, the `drawing`."""
    pictures = {"drawing": parse.drawing()} if drawing else {}
    return {**parse.rounded(), "written": str(written), **pictures}


def steps_of(system: TransitionSystem, words: Sequence[str], actions: Sequence[Action]) -> Iterator[Step]:
    """Yield the steps of a derivation, one more than its actions."""
    states = [*accumulate(actions, system.apply, initial=system.initial(system.read(words)))]
    last = states[-1].as_data()
    grown = dict.fromkeys(last.keys() & _GROWING, 0)
    for state, action in zip(states, (*actions, None), strict=True):
        configuration = state.as_data()
        for name, before in grown.items():  # as they are in the end: members of lists get their numbers late
            grown[name] = len(configuration[name])
            configuration[name] = last[name][before : grown[name]]
        yield Step(None if action is None else str(action), configuration)


def trace(
    parser: Parser,
    sentence: AnySentence,
    nbest: int | None = None,
    only: int | None = None,
    drawing: bool = False,
) -> Trace:
    """Parse a sentence with the beam of the parser, and return its trace.

    nbest: upper limit of the derivations; by default the whole beam
    only: the number of the only derivation with steps, the last if there are fewer; by default all have them
    drawing: True to draw the derivations with steps, in SVG

    Raises `InputError` as `Parser.parse` does.
    """
    formalism, table = parser.formalism, parser.resources.table
    encoder_out, found = parser.derivations(sentence, nbest)
    words = [normalize(form) for form in sentence.forms]
    derivations = []
    ids = {name: token for token, name in enumerate(table.tokens)}
    for place, parse in enumerate(found):
        steps: list[Step] = []
        is_whole = parser.model.searches_directly
        actions = tuple(oracle(table.system, words, parse.tree)) if is_whole else parse.actions
        if only is None or place == min(only, len(found) - 1):
            plain = steps_of(table.system, words, actions)
            steps += plain if is_whole else _scored(parser, encoder_out, [ids[str(one)] for one in actions], plain)
        shown, total = bool(drawing and steps), parse.mean_log_probability * (len(parse.actions) + 1)
        graph = graph_data(parse, parse.annotated(), shown)
        configurations = [step.configuration for step in steps]
        pictures = steps_drawing(sentence.forms, configurations) if shown and formalism is AMR else ""
        derivation = TracedDerivation(graph, len(actions), tuple(steps), total / (len(actions) + 1), total, pictures)
        derivations.append(derivation)
    return Trace(formalism.name, parser.resources.parser.system, tuple(sentence.forms), tuple(derivations))


@torch.inference_mode()
def _scored(parser: Parser, encoder_out: EncoderOut, tokens: Sequence[int], steps: Iterator[Step]) -> Iterator[Step]:
    """Yield the steps of a derivation of one sentence with the probabilities that search has of their actions."""
    decoder = parser.model.decoder
    search, device = decoder.start(encoder_out), encoder_out.words.device
    search.greedy = parser.beam == 1
    last = torch.full((1,), decoder.table.end, device=device)
    for token, step in zip(tokens, steps):
        scores = decoder.step(last, search)
        log_probs = scores.log_probabilities()[0].cpu().numpy()
        order = np.argsort(-log_probs, kind="stable")[: np.isfinite(log_probs).sum()]
        shown = order[:MOST_CANDIDATES].tolist()
        shown = shown if token in shown else [*shown, token]
        candidates = (
            CompetingAction(
                decoder.table.tokens[i], round(math.exp(log_probs[i]), _DIGITS), bool(scores.legal[0, i] > 0)
            )
            for i in shown
        )
        yield replace(
            step,
            log_probability=float(log_probs[token]),
            candidates=tuple(candidates),
            others=len(order) - len(shown),
            rest=round(float(np.exp(np.delete(log_probs, shown)).sum()), _DIGITS),
        )
        last = torch.full((1,), token, device=device)
        search.machine.apply(last)
    yield from steps  # the last has no action
