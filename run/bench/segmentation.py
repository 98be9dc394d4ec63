"""Quality of the division of raw text into sentences and tokens: the F1 scores of the CoNLL 2018 shared task.

python run/bench/segmentation.py TREEBANK.conllu [--model en-ewt]

The raw text is the text of the treebank: sentences with a space between them, unless the last token says SpaceAfter=No,
and a blank line where a paragraph or document opens. Our rules are compared with spaCy's English tokeniser and its
sentencizer. --model adds the attachment scores of parses of the raw text.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import spacy

from transition_parser import Parser
from transition_parser.graphs.conllu import Row, Sentence, raw_text, read_conllu
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.graphs.dependency_score import Comparison
from transition_parser.parsing.sentences.objects import sentences_from


def with_any_tree(sentence: Sentence) -> Sentence:
    """Return the sentence with an arbitrary tree, because scores need one."""
    words = len(sentence.forms)
    return sentence.with_tree(DependencyTree((0, *[1] * (words - 1)), ("root", *["dep"] * (words - 1))))


def of_spacy(text: str) -> Iterator[Sentence]:
    """Yield the sentences that spaCy's rules find."""
    english = spacy.blank("en")
    english.add_pipe("sentencizer")
    for paragraph in text.split("\n\n"):
        for sentence in english(paragraph).sents:
            words = [token.text for token in sentence if not token.is_space]
            if words:
                yield Sentence(tuple(Row(str(number), word) for number, word in enumerate(words, 1)))


def main() -> None:
    """Measure our rules and spaCy's."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("treebank", help="CoNLL-U file")
    options.add_argument("--model", help="parse, too, by greedy search")
    options.add_argument("-o", "--output", help="write the JSON report there too")
    arguments = options.parse_args()
    gold = list(read_conllu(arguments.treebank))
    text = raw_text(gold)
    figures: dict[str, object] = {"benchmark": "segmentation", "treebank": arguments.treebank}
    for name, sentences in (("rules", sentences_from(text, Sentence)), ("spacy", of_spacy(text))):
        comparison = Comparison(gold, map(with_any_tree, sentences))
        figures[name] = {key: round(score.f1, 2) for key, score in comparison.segmentation().items()}
    if arguments.model:
        parses = Parser.load(arguments.model).parse(text)
        scores = Comparison(gold, [parse.annotated() for parse in parses]).scores()
        figures[arguments.model] = {key: round(score.f1, 2) for key, score in scores.items()}
    report = json.dumps(figures, indent=1)
    print(report)
    if arguments.output:
        Path(arguments.output).write_text(report + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
