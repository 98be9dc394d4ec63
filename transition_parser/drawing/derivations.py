"""Derivations of trees as pictures, state by state; trees for LaTeX."""

from __future__ import annotations

import re
from collections.abc import Sequence

from transition_parser.drawing.svg import element, number, picture, text, text_width
from transition_parser.drawing.trees import TreeLayout, tree_of
from transition_parser.graphs.conllu import Sentence
from transition_parser.transitions import Action, TransitionSystem

_STEP = 21  # height of a state in pixels
_LATEX = {  # character → its form in LaTeX
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", **{character: f"\\{character}" for character in "&%$#_{}"},
}  # fmt: skip


def derivation_drawing(sentence: Sentence, system: TransitionSystem, actions: Sequence[Action]) -> str:
    """Return the tree in SVG, and below it a line for each state: the action before it, its words, and its new arc."""
    layout, names = TreeLayout(tree_of(sentence)), [*sentence.forms, "ROOT"]
    left = 20 + max(text_width(str(action), "action") for action in actions)
    places = [left + place for place in (*layout.places, layout.width + text_width("ROOT", "word") / 2)]
    parts = [element("g", *layout.parts(), transform=f"translate({number(left)} 0)")]
    for place, (said, kind) in enumerate({"stack": "stack", "buffer": "buffer", "done": "gone"}.items()):
        parts.append(text(said, places[0] + 48 * place, layout.height + 18, "action", kind))
    state, y, wide = system.initial(sentence.forms), layout.height + 42, 0.0
    for step, action in enumerate((None, *actions)):
        arcs: list[str] = []
        if action is not None:
            before, state = state.heads, system.apply(state, action)
            parts.append(text(str(action), 10 + text_width(str(action), "action") / 2, y + step * _STEP, "action"))
            changes = enumerate(zip(before, state.heads, strict=True))
            arcs = [f"{names[new]} → {names[word]}" for word, (old, new) in changes if old != new]
        for word, (name, place) in enumerate(zip(names, places, strict=True)):
            kind = "stack" if word in state.stack else "buffer" if word in state.buffer else "gone"
            kind += " top" if word in state.stack[-1:] else ""
            parts.append(text(name, place, y + step * _STEP, "word", kind))
        for arc in arcs:
            x = places[-1] + text_width("ROOT", "word") / 2 + 20
            parts.append(text(arc, x + text_width(arc, "action") / 2, y + step * _STEP, "action", "change"))
            wide = max(wide, x + text_width(arc, "action"))
    height = y + len(actions) * _STEP + 12
    return picture(wide + 10, height, f"Derivation of: {' '.join(sentence.forms)}", *parts)


def latex(sentence: Sentence) -> str:
    r"""Return a tree as an environment `dependency` for LaTeX, which draws it by the package `tikz-dependency`."""
    tree = sentence.tree()
    words = r" \& ".join(map(_in_latex, sentence.forms))
    lines = [
        r"% \usepackage{tikz-dependency}",
        r"\begin{dependency}",
        r"\begin{deptext}",
        rf"{words} \\",
        r"\end{deptext}",
    ]
    for word, (head, relation) in enumerate(zip(tree.heads, tree.relations, strict=True), 1):
        ends = f"{{{head}}}{{{word}}}" if head else f"{{{word}}}"
        lines.append(rf"\{'depedge' if head else 'deproot'}{ends}{{{_in_latex(relation)}}}")
    return "\n".join([*lines, r"\end{dependency}", ""])


def _in_latex(word: str) -> str:
    return re.sub(r"[\\~^<>&%$#_{}]", lambda match: _LATEX[match[0]], word)
