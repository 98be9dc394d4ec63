"""Quality of the division of raw text into sentences and tokens: the F1 scores of the CoNLL 2018 shared task.

python run/bench/segmentation.py TREEBANK.conllu [--model en-ewt] [--segmenter FOLDER] [--udpipe MODEL]

The raw text is the text of the treebank: sentences with a space between them, unless the last token says SpaceAfter=No,
and a blank line where a paragraph or document opens. Our rules for English are compared with spaCy's English tokeniser
and its sentencizer. A learned segmenter, for any language, is compared with the tokeniser of UDPipe 1 (`ufal.udpipe`).
--model adds the attachment scores of parses of the raw text.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import spacy
from pipelines import udpipe_pipeline

from transition_parser import Parser
from transition_parser.graphs.conllu import Row, Sentence, parse_conllu, raw_text, read_conllu
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.graphs.dependency_score import Comparison
from transition_parser.parsing.sentences.objects import sentences_from
from transition_parser.storage.segmenters import load_segmenter


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


def of_segmenter(text: str, folder: str) -> Iterator[Sentence]:
    """Yield the sentences that a learned segmenter finds."""
    segmenter = load_segmenter(folder)
    if segmenter is None:
        raise SystemExit(f"{folder}: there is no segmenter")
    yield from sentences_from(text, Sentence, segmenter=segmenter)


def of_udpipe(text: str, path: str) -> Iterator[Sentence]:
    """Yield the sentences that the tokeniser of a model of UDPipe 1 finds."""
    divide = udpipe_pipeline(Path(path), parses=False)
    yield from parse_conllu(divide(text).encode().splitlines(), path)


def divisions(arguments: argparse.Namespace, text: str) -> Iterator[tuple[str, Iterable[Sentence]]]:
    """Yield the name and the sentences of each way to divide the text."""
    if arguments.segmenter is None and arguments.udpipe is None:
        yield "rules", sentences_from(text, Sentence)
        yield "spacy", of_spacy(text)
    if arguments.segmenter is not None:
        yield arguments.segmenter, of_segmenter(text, arguments.segmenter)
    if arguments.udpipe is not None:
        yield arguments.udpipe, of_udpipe(text, arguments.udpipe)


def main() -> None:
    """Measure ways to divide the text of a treebank."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("treebank", help="CoNLL-U file")
    options.add_argument("--model", help="also parse the text with this model, by greedy search")
    options.add_argument("--segmenter", metavar="FOLDER", help="measure this segmenter instead of the rules")
    options.add_argument("--udpipe", metavar="MODEL", help="measure the tokeniser of this model of UDPipe 1")
    options.add_argument("-o", "--output", help="write the JSON report there too")
    arguments = options.parse_args()
    gold = list(read_conllu(arguments.treebank))
    text = raw_text(gold)
    figures: dict[str, object] = {"benchmark": "segmentation", "treebank": arguments.treebank}
    for name, sentences in divisions(arguments, text):
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
