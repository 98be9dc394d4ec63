"""Speed, sentences/s from words in Python to graphs in Python, in interleaved rounds without loading.

    python run/bench/parsing.py MODEL GOLD [--others MODEL ...] [--beams 1 10] [--precisions fp32 bf16 int8]
        [--spacy TRAIN.conllu] [--device cuda] [--one-by-one] [--lengths 15 25]

GOLD: CoNLL-U file or AMR bank. --spacy: also the speed of spaCy's parser on one core, set up from this treebank.
--one-by-one parses each sentence by itself, and also reports the median and the 95th percentile of the times, in
milliseconds.
"""

import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from itertools import islice, product
from pathlib import Path

import torch
from common import parser, report, rounds, spacy_parser

from transition_parser import Parser
from transition_parser.base.errors import InputError
from transition_parser.modules.precision import PRECISIONS

WARM_UP = 20  # sentences parsed before the time starts


def main() -> None:
    options = parser(__doc__)
    options.add_argument("model", help="checkpoint, exported folder, or name")
    options.add_argument("gold", help="CoNLL-U file or AMR bank")
    options.add_argument("--others", metavar="MODEL", nargs="+", default=[], help="measure these models, too")
    options.add_argument("--sentences", type=int, help="how many of the file, from the start (default: all)")
    options.add_argument("--beams", type=int, nargs="+", default=[1])
    options.add_argument("--precisions", nargs="+", choices=("auto", *PRECISIONS), default=["fp32", "bf16"])
    options.add_argument("--spacy", metavar="TRAIN", type=Path, help="measure spaCy's parser, set up from this file")
    options.add_argument("--device", default="cpu")
    options.add_argument("--one-by-one", action="store_true", help="parse each sentence by itself")
    options.add_argument("--lengths", type=int, nargs=2, default=(0, 10**6), help="only sentences of so many words")
    arguments = options.parse_args()
    torch.set_num_threads(arguments.threads)
    models: dict[str, Parser] = {}
    try:
        kinds = product([arguments.model, *arguments.others], arguments.beams, arguments.precisions)
        for name, beam, precision in kinds:
            loaded = Parser.load(name, beam, device=arguments.device, precision=precision, threads=arguments.threads)
            models[f"{name}, beam {beam}, {precision}"] = loaded
        read = next(iter(models.values())).read(arguments.gold)
        fit = (one for one in read if arguments.lengths[0] <= len(one.forms) <= arguments.lengths[1])
        sentences = list(islice(fit, arguments.sentences))
        contenders: dict[str, Callable[[list], list]] = {name: loaded.parse for name, loaded in models.items()}
        if arguments.spacy:
            contenders["spaCy"] = spacy_parser(arguments.spacy)
    except (InputError, OSError) as error:
        options.error(str(error))
    times: dict[str, list[float]] = defaultdict(list)
    batches = [[sentence] for sentence in sentences] if arguments.one_by_one else [sentences]

    def rate(name: str, parse: Callable[[list], list]) -> float:
        start = time.perf_counter()
        for batch in batches:
            began = time.perf_counter()
            parse(batch)
            times[name].append(1000 * (time.perf_counter() - began))
        return len(sentences) / (time.perf_counter() - start)

    for parse in contenders.values():
        parse(sentences[:WARM_UP])
    rates = rounds({name: partial(rate, name, parse) for name, parse in contenders.items()}, arguments.rounds)
    more: dict[str, object] = {"sentences_measured": len(sentences), "words": sum(len(one.forms) for one in sentences)}
    if arguments.one_by_one:
        more["ms, median and 95th percentile"] = {
            name: (round(statistics.median(of), 2), round(sorted(of)[int(0.95 * (len(of) - 1))], 2))
            for name, of in times.items()
        }
    report("parsing, sentences/s", arguments, rates, **more)


if __name__ == "__main__":
    main()
