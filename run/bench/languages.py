"""Models on treebanks of one or many languages: CoNLL 2018 scores and speed, beside UDPipe 1.

    python run/bench/languages.py TREEBANK_FOLDER… --models MODEL… [--words] [--own-domain] [--udpipe DIR] [-o FILE]
    python run/bench/languages.py TREEBANK_FOLDER… --identify
    python run/bench/languages.py --table FILE

Each model parses test.conllu of each folder (or dev.conllu: with --split dev, and where there is no test.conllu): its
raw text, which the model's own segmenter divides, or with --words its words, without their tags. With --own-domain a
model of several treebanks gets the treebank of the text: the name of its folder, or its language
(UD_German-GSD: de). With --udpipe the models of UDPipe 1 in DIR, such as de.udpipe, are scored on the same raw text; a
missing one is trained on train.conllu and dev.conllu, so it is no judge of dev.conllu.

One line of JSON for each model and folder has the F1 of some metrics, in percent, and the speed from raw text to
CoNLL-U, the median of --rounds, in which models alternate. UDPipe has no threads. With -o all lines are also written as
a list to FILE, which --table prints as a table in Markdown.

--identify prints, for each folder, the share of sentences of ten words or more whose language is found.
"""

import json
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import common

from transition_parser import Parser
from transition_parser.base.files import replacing
from transition_parser.base.model_files import write_json
from transition_parser.graphs.conllu import Sentence, parse_conllu, raw_text, read_conllu
from transition_parser.graphs.dependency_score import Comparison, conll18
from transition_parser.text.languages import LANGUAGES, identify, language_of

ENOUGH_TRAINING = 8_000  # words of a treebank from which a model can learn its language
ENOUGH_WORDS = 10  # in a sentence whose language is to be found
METRICS = ("LAS", "UPOS", "UFeats", "Lemmas", "Sentences", "Words", "UAS", "MLAS", "BLEX")
SHOWN = METRICS[:6]
UDPIPE = "UDPipe 1"


def language_of_folder(folder: Path) -> str | None:
    """Return the code of the language that a folder is named by: `UD_German-GSD`.

    >>> language_of_folder(Path("UD_German-GSD")), language_of_folder(Path("lpp"))
    ('de', None)
    """
    return language_of(folder.name.removeprefix("UD_").partition("-")[0])


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
        return sentences

    model = udpipe.Trainer.train("morphodita_parsito", read("train"), read("dev"), "", "", "", error)
    if error.occurred():
        raise SystemExit(f"UDPipe: {error.message}")
    with replacing(path) as temporary:
        temporary.write_bytes(model)


def of_udpipe(path: Path, folder: Path) -> Callable[[str], str]:
    """Return a function from raw text to CoNLL-U with a model of UDPipe 1, which is trained if its file is missing."""
    from ufal import udpipe

    if not path.exists():
        train_udpipe(folder, path)
    model = udpipe.Model.load(str(path))
    if model is None:
        raise SystemExit(f"{path}: UDPipe can't read the model")
    pipeline = udpipe.Pipeline(model, "tokenize", udpipe.Pipeline.DEFAULT, udpipe.Pipeline.DEFAULT, "conllu")
    return lambda text: pipeline.process(text) if model else ""  # keeps the model alive, which the pipeline does not


def of_model(model: str, folder: Path, arguments: Any) -> Callable[[Any], str]:
    """Return a function from raw text, or sentences, to CoNLL-U with a model of ours."""
    load = partial(Parser.load, model, beam=1, threads=arguments.threads, precision=arguments.precision)
    parser = load()
    if arguments.own_domain:
        known = parser.resources.columns.values.get("domain", ())
        parser = load(domain=folder.name if folder.name in known else language_of_folder(folder))

    def parse(given: Any) -> str:
        if arguments.words:
            given = [one.untagged(parser.given_columns) for one in given]
        return "".join(str(parse.annotated()) for parse in parser.parse(given))

    return parse


def measured(
    pipelines: dict[str, Callable[[Any], str]], given: Any, gold: list[Sentence], rounds: int
) -> Iterator[dict]:
    """Yield the F1 of each pipeline, and its median speed in interleaved rounds."""
    found: dict[str, str] = {}

    def rate(name: str) -> float:
        start = time.perf_counter()
        found[name] = pipelines[name](given)
        return len(gold) / (time.perf_counter() - start)

    for pipeline in pipelines.values():
        pipeline(given[:200])  # what is made once is not measured
    rates = common.rounds({name: partial(rate, name) for name in pipelines}, rounds)
    for name, text in found.items():
        metrics = conll18(Comparison(gold, parse_conllu(text.encode().splitlines(), name)))
        speed = round(statistics.median(rates[name]), 1)
        yield {"model": name, **{metric: round(metrics[metric].f1, 2) for metric in METRICS}, "sentences/s": speed}


def identified(folder: Path, split: str) -> dict[str, float]:
    """Return the number of sentences of `ENOUGH_WORDS` words or more, and the percentage whose language is found."""
    gold = [one for one in read_conllu(folder / f"{split}.conllu") if len(one.forms) >= ENOUGH_WORDS]
    right = sum(identify(one.text) == language_of_folder(folder) for one in gold)
    return {"sentences": len(gold), "found": round(100.0 * right / max(len(gold), 1), 2)}


def rows(arguments: Any) -> Iterator[dict[str, Any]]:
    for folder in arguments.treebanks:
        split = arguments.split if (folder / f"{arguments.split}.conllu").exists() else "dev"
        words = sum(len(sentence.forms) for sentence in read_conllu(folder / "train.conllu"))
        about = {"treebank": folder.name, "language": language_of_folder(folder)}
        about |= {"training_words": words, "split": split}
        if arguments.identify:
            yield {**about, **identified(folder, split)}
            continue
        pipelines = {model: of_model(model, folder, arguments) for model in arguments.models}
        if arguments.udpipe and split != "dev":
            pipelines[UDPIPE] = of_udpipe(arguments.udpipe / f"{about['language']}.udpipe", folder)
        gold = list(read_conllu(folder / f"{split}.conllu"))
        given: Any = gold if arguments.words else raw_text(gold)
        for found in measured(pipelines, given, gold, arguments.rounds):
            yield {**about, **found}


def table(results: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of a table: a row for each treebank, the scores of a model and, after a slash, of UDPipe 1."""
    yield f"| language | treebank | training words | {' | '.join(SHOWN)} |"
    yield f"|{'---|' * (3 + len(SHOWN))}"
    ours = {one["treebank"]: one for one in results if one["model"] != UDPIPE}
    theirs = {one["treebank"]: one for one in results if one["model"] == UDPIPE}
    for name, one in sorted(ours.items(), key=lambda pair: pair[1]["language"] or ""):
        language = f"{LANGUAGES.get(one['language'], '')} `{one['language']}`"
        cells = [
            f"{one[metric]:.1f} / {theirs[name][metric]:.1f}" if name in theirs else f"{one[metric]:.1f}"
            for metric in SHOWN
        ]
        mark = " ¹" if one["split"] == "dev" else ""
        about = f"{language} | {name}{mark} | {one['training_words']:,}"
        yield f"| {about} | {' | '.join(cells)} |"
    tested = [name for name in ours if ours[name]["split"] == "test"] or [*ours]
    large = [name for name in tested if ours[name]["training_words"] >= ENOUGH_TRAINING]
    for title, names, sides in (
        (f"mean of {len(theirs)}, beside UDPipe 1", [*theirs], (ours, theirs)),
        (f"mean of {len(tested)} ({ours[tested[0]]['split']})", tested, (ours,)),
        (f"mean of {len(large)} with {ENOUGH_TRAINING:,} training words or more", large, (ours,)),
    ):
        if names:
            means = [" / ".join(f"{_mean(side, names, metric):.1f}" for side in sides) for metric in SHOWN]
            yield f"| {title} | | | {' | '.join(means)} |"


def _mean(results: dict[str, dict[str, Any]], names: list[str], metric: str) -> float:
    return statistics.mean(results[name][metric] for name in names)


def main() -> None:
    """Print the scores, or the table."""
    options = common.parser(__doc__)
    options.set_defaults(rounds=1)
    options.add_argument("treebanks", nargs="*", type=Path, metavar="FOLDER", help="folders of treebanks")
    options.add_argument("--models", nargs="+", default=[], help="models of trees")
    options.add_argument("--split", default="test", choices=("dev", "test"))
    options.add_argument("--precision", default="auto")
    options.add_argument("--words", action="store_true", help="parse words, not raw text")
    options.add_argument("--own-domain", action="store_true", help="tell models of several treebanks which one it is")
    options.add_argument("--identify", action="store_true", help="find the language of sentences")
    options.add_argument("--udpipe", type=Path, metavar="DIR", help="folder with models of UDPipe 1")
    options.add_argument("--table", metavar="FILE", help="print the results in FILE as a table")
    arguments = options.parse_args()
    if arguments.table:
        print(*table(json.loads(Path(arguments.table).read_text(encoding="utf-8"))), sep="\n")
        return
    found = []
    for row in rows(arguments):
        print(json.dumps(row), flush=True)
        found.append(row)
    if arguments.output:
        write_json(arguments.output, found, indent=0)


if __name__ == "__main__":
    main()
