"""Speed of this package's spaCy component beside `Parser.parse`, sentences/s, in interleaved rounds.

Both go from words to graphs; `nlp.pipe` starts from documents that have the tokens and sentences of the file. Loading
is not counted. Making the documents, which is the work of spaCy, is measured separately. The report also has the number
of sentences for which both find the same tree.

    python run/bench/spacy_pipeline.py en-ewt test.conllu --sentences 1000
"""

from __future__ import annotations

from itertools import islice

import spacy
import torch
from common import parser, report
from parsing import WARM_UP, rate
from spacy.tokens import Doc

import transition_parser.integrations.spacy  # noqa: F401 (it registers the component, also where nothing is installed)
from transition_parser import Parser
from transition_parser.graphs.conllu import Sentence, read_conllu


def main() -> None:
    """Measure `Parser.parse` and `nlp.pipe` in turn, round by round."""
    options = parser(__doc__)
    options.add_argument("model", help="checkpoint, exported folder, or model of the package; of trees")
    options.add_argument("file", help="CoNLL-U file")
    options.add_argument("--sentences", type=int, help="how many of the file, from the start")
    options.add_argument("--beam", type=int, default=1)
    options.add_argument("--precision", default="auto")
    arguments = options.parse_args()
    torch.set_num_threads(arguments.threads)
    given = {"beam": arguments.beam, "precision": arguments.precision, "threads": arguments.threads}
    ours = Parser.load(arguments.model, **given)
    nlp = spacy.blank("en")
    nlp.add_pipe("transition_parser", config={"model": arguments.model, **given})
    words = [sentence.forms for sentence in islice(read_conllu(arguments.file), arguments.sentences)]
    sentences = [Sentence.from_words(some) for some in words]

    def documents(some: list[list[str]] = words) -> list[Doc]:
        return [Doc(nlp.vocab, words=w, sent_starts=[i == 0 for i in range(len(w))]) for w in some]

    ours.parse(sentences[:WARM_UP])
    list(nlp.pipe(documents(words[:WARM_UP])))
    rates: dict[str, list[float]] = {"parse": [], "nlp.pipe": [], "making documents": []}
    for _ in range(arguments.rounds):
        rates["making documents"].append(rate(lambda: len(documents()), len(words)))
        made = documents()
        rates["parse"].append(rate(lambda: len(ours.parse(sentences)), len(words)))
        rates["nlp.pipe"].append(rate(lambda made=made: sum(1 for _ in nlp.pipe(made)), len(words)))
    same = sum(doc._.tree == [parse.tree] for doc, parse in zip(made, ours.parse(sentences), strict=True))
    counts = {"sentences_measured": len(words), "words": sum(map(len, words)), "same_trees": same}
    report("spaCy pipeline, sentences/s", arguments, rates, "parse", **counts)


if __name__ == "__main__":
    main()
