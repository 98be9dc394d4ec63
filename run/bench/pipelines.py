"""Compare a model with UDPipe 1, which is trained on the same treebank, on raw text: CoNLL 2018 metrics and speed.

python run/bench/pipelines.py TREEBANK_FOLDER --udpipe FILE [--model MODEL] [--beam N] [--spacy] [--rounds N]

TREEBANK_FOLDER has train.conllu, dev.conllu and test.conllu. UDPipe 1 (`ufal.udpipe`) is trained on them with its
default options (tokenizer, tagger and parser) and written to FILE, unless FILE exists. Then UDPipe and MODEL read the
raw text of test.conllu: sentences with a space between them, unless the last token says SpaceAfter=No, and a blank line
where a paragraph or document opens. Speed is of whole pipelines from raw text to CoNLL-U, in interleaved rounds;
--spacy adds spaCy's small pipeline for English with random weights, of which speed alone is measured.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import common
import torch

from transition_parser import Parser
from transition_parser.base.files import replacing
from transition_parser.graphs.conll18 import conll18
from transition_parser.graphs.conllu import Sentence, parse_conllu, raw_text, read_conllu
from transition_parser.graphs.dependency_score import Comparison

SPACY_TRAINING = 500  # sentences that spaCy takes its labels from


def train_udpipe(treebank: Path, path: Path) -> None:
    """Train UDPipe 1 with its default options, and write the model."""
    from ufal import udpipe

    error = udpipe.ProcessingError()

    def read(split: str) -> udpipe.Sentences:
        reader = udpipe.InputFormat.newConlluInputFormat()
        reader.setText((treebank / f"{split}.conllu").read_text(encoding="utf-8"))
        sentences, sentence = udpipe.Sentences(), udpipe.Sentence()
        while reader.nextSentence(sentence, error):
            sentences.append(sentence)
            sentence = udpipe.Sentence()
        check(error)
        return sentences

    model = udpipe.Trainer.train("morphodita_parsito", read("train"), read("dev"), "", "", "", error)
    check(error)
    with replacing(path) as temporary:
        temporary.write_bytes(model)


def check(error) -> None:
    """Raise `SystemExit` where UDPipe met an error."""
    if error.occurred():
        raise SystemExit(f"UDPipe: {error.message}")


def udpipe_pipeline(path: Path, parses: bool = True) -> Callable[[str], str]:
    """Return a function that makes CoNLL-U of raw text with a model of UDPipe.

    parses: False to divide the text into sentences and tokens only
    """
    from ufal import udpipe

    model = udpipe.Model.load(str(path))
    if model is None:
        raise SystemExit(f"{path}: UDPipe can't read the model")
    rest = udpipe.Pipeline.DEFAULT if parses else udpipe.Pipeline.NONE
    pipeline = udpipe.Pipeline(model, "tokenize", rest, rest, "conllu")

    def parse(text: str) -> str:
        assert model  # keeps the model alive, which the pipeline does not
        return pipeline.process(text)

    return parse


def our_pipeline(model: str, beam: int) -> Callable[[str], str]:
    """Return a function that parses raw text with a model of ours."""
    parser = Parser.load(model, beam=beam)
    return lambda text: "".join(str(parse.annotated()) for parse in parser.parse(text))


def spacy_pipeline(treebank: Path) -> Callable[[str], str]:
    """Return a function that parses raw text with spaCy's small pipeline, whose weights are random."""
    import spacy
    from peers import spacy_example

    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec")
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 96}
    tagger = {"@architectures": "spacy.Tagger.v2", "tok2vec": listener}
    for name in ("tagger", "morphologizer", "trainable_lemmatizer"):
        nlp.add_pipe(name, config={"model": tagger})
    parser = {"@architectures": "spacy.TransitionBasedParser.v2", "state_type": "parser", "hidden_width": 64}
    nlp.add_pipe("parser", config={"model": {**parser, "extra_state_tokens": False, "maxout_pieces": 2,
                                             "use_upper": True, "tok2vec": listener}})  # fmt: skip
    sentences = list(itertools.islice(read_conllu(treebank / "train.conllu"), SPACY_TRAINING))
    nlp.initialize(lambda: [spacy_example(nlp.vocab, sentence) for sentence in sentences])
    return lambda text: "".join(str(document.to_json()) for document in nlp.pipe(text.split("\n\n")))


def main() -> None:
    """Train UDPipe where there is no model yet, and measure."""
    options = common.parser(__doc__)
    options.add_argument("treebank", type=Path, help="folder with train.conllu, dev.conllu and test.conllu")
    options.add_argument("--udpipe", type=Path, required=True, metavar="FILE", help="model of UDPipe 1")
    options.add_argument("--model", help="model of ours")
    options.add_argument("--beam", type=int, default=1, help="beam of our model")
    options.add_argument("--spacy", action="store_true", help="measure the speed of spaCy, too")
    arguments = options.parse_args()
    torch.set_num_threads(arguments.threads)
    if not arguments.udpipe.exists():
        train_udpipe(arguments.treebank, arguments.udpipe)
    pipelines = {"udpipe": udpipe_pipeline(arguments.udpipe)}
    if arguments.model:
        pipelines["ours"] = our_pipeline(arguments.model, arguments.beam)
    if arguments.spacy:
        pipelines["spacy"] = spacy_pipeline(arguments.treebank)
    _measure(arguments, pipelines)


def _measure(arguments: argparse.Namespace, pipelines: dict[str, Callable[[str], str]]) -> None:
    gold = list(read_conllu(arguments.treebank / "test.conllu"))
    text = raw_text(gold)
    rates: dict[str, list[float]] = {name: [] for name in pipelines}
    found: dict[str, str] = {}
    for _round in range(arguments.rounds):
        for name, pipeline in pipelines.items():
            start = time.perf_counter()
            found[name] = pipeline(text)
            rates[name].append(len(gold) / (time.perf_counter() - start))
    scores = {name: _scores(gold, found[name], name) for name in pipelines if name != "spacy"}
    common.report("pipelines", arguments, rates, "udpipe", scores=scores)


def _scores(gold: Sequence[Sentence], conllu: str, name: str) -> dict[str, float]:
    scores = conll18(Comparison(gold, parse_conllu(conllu.encode().splitlines(), name)))
    return {metric: round(score.f1, 2) for metric, score in scores.items()}


if __name__ == "__main__":
    main()
