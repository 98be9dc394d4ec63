"""The percentage of parsing time that each part of the parser takes, and that the arithmetic alone would take.

The time of a part is the time within its methods, without the methods of other parts that they call. Rounds with and
without timers alternate. The arithmetic floor is the time that the linear layers of encoder and decoder would take at
the rate at which this process multiplies 4096 × 512 by 512 × 512. Search goes step by step, even if a kernel could
search whole derivations in one call, because no part can be timed within such a call.

    python run/bench/parts.py MODEL FILE [--beam 10] [--sentences N] [--precision auto] [--device cpu]
"""

from __future__ import annotations

import functools
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import Any

import torch
import torch.nn.functional as F
from common import parser, report
from torch import Tensor, nn

from transition_parser import Parser
from transition_parser.data.resources import Resources
from transition_parser.models.stack_transformer import decoder as decoder_module
from transition_parser.models.stack_transformer import layer as layer_module
from transition_parser.models.stack_transformer import rows as rows_module
from transition_parser.models.stack_transformer import search_attention as search_attention_module
from transition_parser.models.stack_transformer.cache import KeyValueCache
from transition_parser.models.stack_transformer.decoder import StackTransformerDecoder
from transition_parser.models.stack_transformer.search_attention import KernelAttention, MaskedAttention
from transition_parser.models.stack_transformer.state_masks import PositionScores, StateHeads
from transition_parser.modules import contract as contract_module
from transition_parser.modules import encoder as encoder_module
from transition_parser.modules import layers as layers_module
from transition_parser.modules import packing as packing_module
from transition_parser.modules.attention import HeadMask
from transition_parser.modules.packing import quantise
from transition_parser.parsing import parser as parser_module
from transition_parser.parsing.formalisms import amr as amr_module
from transition_parser.parsing.formalisms import trees as trees_module
from transition_parser.parsing.preparation import PRECISIONS
from transition_parser.states.amr_machine import AmrMachine
from transition_parser.states.batched import BatchedMachine
from transition_parser.states.machine import DependencyMachine

READING = "reading and pieces"
ENCODER = "encoder"
SELF_ATTENTION = "decoder self-attention"
CACHE = "key/value cache"
CROSS_ATTENTION = "decoder cross-attention"
FEED_FORWARD = "decoder feed-forward"
OUTPUT = "output layer"  # includes the masking of illegal actions
LAYERS = "decoder layers, the rest"  # layer norms and residual connections
STEPS = "decoder steps, the rest"  # such as the embedding of actions
MACHINE = "state machine"
MASKS = "masks"
SEARCH = "search book-keeping"
GRAPHS = "building graphs"
REST = "the rest"
NETWORK = [ENCODER, SELF_ATTENTION, CACHE, CROSS_ATTENTION, FEED_FORWARD, OUTPUT, LAYERS, STEPS, MASKS]
PARTS = [READING, *NETWORK, MACHINE, SEARCH, GRAPHS]
PLAIN, TIMED, FLOOR = "parsing", "parsing with timers", "arithmetic floor"
# parts that also count the time of other parts that they call
WHOLE = (READING, ENCODER, MACHINE, GRAPHS)

# part, class or module, names of its functions; a missing name ends the program
METHODS: list[tuple[str, Any, tuple[str, ...]]] = [
    (READING, Resources, ("encode_all", "features")),
    (SEARCH, parser_module, ("search",)),
    (GRAPHS, trees_module, ("replay_tree",)),
    (GRAPHS, amr_module, ("replay_amr",)),
    (STEPS, StackTransformerDecoder, ("start", "step")),
    (OUTPUT, StackTransformerDecoder, ("_output",)),
    (LAYERS, layers_module, ("add_and_normalise",)),
    (LAYERS, decoder_module, ("add_and_normalise",)),
    (LAYERS, layer_module, ("add_and_normalise",)),
    (MASKS, search_attention_module, ("needed_rows",)),
    (CACHE, KeyValueCache, ("open", "bias", "write", "reorder_beam", "select_sentences")),
    *((CACHE, kind, ("open", "move_rows")) for kind in (KernelAttention, MaskedAttention)),
    *((SELF_ATTENTION, kind, ("self_attention",)) for kind in (KernelAttention, MaskedAttention)),
    *((CROSS_ATTENTION, kind, ("cross_attention",)) for kind in (KernelAttention, MaskedAttention)),
    (CROSS_ATTENTION, decoder_module, ("search_attention",)),
    (MASKS, StateHeads, ("masks", "mask", "ranks")),
    (MASKS, HeadMask, ("from_visible",)),
    (MASKS, PositionScores, ("__call__",)),
    (MACHINE, contract_module, ("make_machine",)),
    (MACHINE, BatchedMachine, ("observe", "apply", "reorder", "legality", "legal_anywhere")),
]
MACHINE_METHODS = ("_apply", "is_final", "stack_ranks", "buffer_ranks")
BY_WEIGHT = ("decoder.output", ".mix")  # layers that may never run, because other code may read their weights
LOOKED_UP = ".characters.convolve"  # layers whose products `letter_maxima` looks up, so that they never run
# submodule of a decoder layer → its part
SUBMODULES = {"self_attention": SELF_ATTENTION, "cross_attention": CROSS_ATTENTION, "feed_forward": FEED_FORWARD}
ATTENTION_METHODS = ("attend", "keys_values")


class Clock:
    """A clock with the seconds of each part; the innermost running part gets the time.

    calls: the number of calls of each part
    stack: the running parts, the innermost last
    """

    def __init__(self, device: torch.device) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.calls: dict[str, int] = defaultdict(int)
        self.stack = [REST]
        self.synchronise = torch.cuda.synchronize if device.type == "cuda" else None
        self.last = self._now()

    def _now(self) -> float:
        if self.synchronise:
            self.synchronise()
        return time.perf_counter()

    def turn(self) -> None:
        """Add the time since the last turn to the innermost running part."""
        now = self._now()
        self.seconds[self.stack[-1]] += now - self.last
        self.last = now

    def timed(self, part: str, function: Callable) -> Callable:
        """Return the function, wrapped so that its time counts as time of the part."""

        @functools.wraps(function)
        def call(*arguments, **options):
            running = self.stack[-1]
            self.calls[part] += 1
            if running == part or running in WHOLE:
                return function(*arguments, **options)
            self.turn()
            self.stack.append(part)
            try:
                return function(*arguments, **options)
            finally:
                self.turn()
                self.stack.pop()

        return call


def found(owner: Any, name: str) -> Any:
    """Return the function or method `name` as `owner` stores it. Ends the program if there is none."""
    if not callable(getattr(owner, name, None)):
        raise SystemExit(
            f"{getattr(owner, '__name__', type(owner).__name__)} has no {name}: run/bench/parts.py times it"
        )
    return vars(owner)[name] if name in vars(owner) else getattr(owner, name)


@contextmanager
def replaced(owner: Any, name: str, wrap: Callable[[Callable], Callable]) -> Iterator[None]:
    """Wrap `owner.name`, a function or a method, within the block."""
    stored = found(owner, name)
    own = name in vars(owner)
    bound = isinstance(stored, classmethod | staticmethod)
    setattr(owner, name, type(stored)(wrap(stored.__func__)) if bound else wrap(stored))
    try:
        yield
    finally:
        if own:
            setattr(owner, name, stored)
        else:
            delattr(owner, name)


def places(model: nn.Module) -> Iterator[tuple[str, Any, str]]:
    """Yield (part, owner, name) for each function and method that is timed."""
    for part, owner, names in METHODS:
        yield from ((part, owner, name) for name in names)
    for machine in (DependencyMachine, AmrMachine):
        public = [name for name, value in vars(machine).items() if callable(value) and not name.startswith("_")]
        yield from ((MACHINE, machine, name) for name in sorted({*public, *MACHINE_METHODS}))
    yield ENCODER, model.encoder, "forward"
    for layer in model.decoder.layers:
        yield LAYERS, layer, "step"
        for name, part in SUBMODULES.items():
            top = layer.get_submodule(name)
            yield from ((part, module, "forward") for module in top.modules())
            if part in (SELF_ATTENTION, CROSS_ATTENTION):
                yield from ((part, top, method) for method in ATTENTION_METHODS)


def parse(model: Parser, arguments, clock: Clock | None = None) -> tuple[int, float]:
    """Parse the file, and return the number of its sentences and the seconds."""
    with ExitStack() as wrapped:
        wrapped.enter_context(replaced(StackTransformerDecoder, "search_at_once", lambda _: lambda *_arguments: None))
        sentences = islice(model.read(arguments.file), arguments.sentences)
        if clock:
            for part, owner, name in places(model.model):
                wrapped.enter_context(replaced(owner, name, functools.partial(clock.timed, part)))
            sentences = _timed_items(clock, sentences)
            clock.turn()
            clock.seconds.clear()  # the setup is not timed
        start = time.perf_counter()
        count = sum(1 for _ in model.parse_stream(sentences))
        if clock:
            clock.turn()
        if model.device.type == "cuda":
            torch.cuda.synchronize()
        return count, time.perf_counter() - start


def _timed_items(clock: Clock, items: Iterator) -> Iterator:
    """Yield the items; getting them counts as reading."""
    end = object()
    following = clock.timed(READING, functools.partial(next, items, end))
    while (item := following()) is not end:
        yield item


def shares(clock: Clock) -> dict[str, float]:
    """Return the percentage of the time of each part. Ends the program if a part never ran."""
    if never := [part for part in PARTS if not clock.calls[part]]:
        raise SystemExit(f"never called: {', '.join(never)}; run/bench/parts.py does not know what runs instead")
    total = sum(clock.seconds.values())
    return {part: 100 * clock.seconds[part] / total for part in (*PARTS, REST)}


def linear_operations(model: Parser, arguments) -> dict[str, float]:
    """Return how many billion floating-point operations linear layers do, without padding, to parse the file.

    The figures are for the linear layers and convolutions of the encoder and of the decoder, and for calls of
    `F.linear` elsewhere. Ends the program where a layer never runs.
    """
    done = {"encoder": 0.0, "decoder": 0.0, "elsewhere": 0.0}
    names = {module: name for name, module in model.model.named_modules() if _multiplies(module)}
    called: set[nn.Module] = set()
    within: list[nn.Module] = []

    def before(module: nn.Module, _inputs: tuple) -> None:
        within.append(module)

    def after(module: nn.Module, inputs: tuple, result: Tensor) -> None:
        called.add(within.pop())
        inner = module.weight[0].numel() if isinstance(module, nn.Conv1d) else inputs[0].size(-1)
        done[names[module].split(".")[0]] += 2e-9 * result.numel() * inner

    def counted(linear: Callable) -> Callable:
        def call(x: Tensor, weight: Tensor, *rest, **options) -> Tensor:
            if not within:
                done["elsewhere"] += 2e-9 * x.numel() * weight.size(0)
            return linear(x, weight, *rest, **options)

        return call

    with ExitStack() as hooks:
        for module in names:
            hooks.callback(module.register_forward_pre_hook(before).remove)
            hooks.callback(module.register_forward_hook(after).remove)
        hooks.enter_context(replaced(F, "linear", counted))
        for module in (
            packing_module,
            decoder_module,
            encoder_module,
            layers_module,
            rows_module,
            search_attention_module,
        ):
            hooks.enter_context(replaced(module, "padded", lambda _: lambda rows, _step=None: rows))
        parse(model, arguments)
    never = sorted(name for module, name in names.items() if module not in called and LOOKED_UP not in name)
    if never := [name for name in never if not name.endswith(BY_WEIGHT)]:
        raise SystemExit(f"linear layers that never ran: {', '.join(never)}: the floor would be too low")
    return done


def _multiplies(module: nn.Module) -> bool:
    return isinstance(module, nn.Conv1d) or hasattr(module, "in_features")  # quantised layers are not nn.Linear


def product_rate(model: Parser, seconds: float = 1.0) -> float:
    """Return the rate of a linear layer, 4096 × 512 by 512 × 512, in the model's precision: 10⁹ operations a second."""
    rows, size = 4096, 512
    dtype = torch.bfloat16 if model.precision == "bf16" else torch.float
    layer: nn.Module = nn.Sequential(nn.Linear(size, size, bias=False)).to(model.device, dtype)
    if model.precision == "int8":
        quantise(layer)
    x = torch.randn(rows, size, device=model.device, dtype=dtype)
    synchronise = torch.cuda.synchronize if model.device.type == "cuda" else lambda: None
    with torch.inference_mode():
        for _ in range(3):
            layer(x)
        synchronise()
        start, times = time.perf_counter(), 0
        while time.perf_counter() - start < seconds:
            for _ in range(10):
                layer(x)
            synchronise()
            times += 10
        return 2e-9 * rows * size * size * times / (time.perf_counter() - start)


def main() -> None:
    """Measure parsing without timers and with them, and the rate of products, round by round."""
    options = parser(__doc__)
    options.add_argument("model", help="checkpoint, exported folder, or name")
    options.add_argument("file", help="CoNLL-U, AMR bank or text")
    options.add_argument("--sentences", type=int, help="how many of FILE, from the start (default: all)")
    options.add_argument("--beam", type=int, default=10)
    options.add_argument("--batch-tokens", type=int, help="words times beam parsed at once")
    options.add_argument("--device", default="cpu")
    options.add_argument("--precision", default="auto", choices=["auto", *PRECISIONS])
    options.set_defaults(threads=1)
    arguments = options.parse_args()
    if arguments.threads != 1:
        options.error("parts are timed in one thread: leave out --threads")
    torch.set_num_threads(1)  # also for the products
    model = Parser.load(
        arguments.model, arguments.beam, arguments.batch_tokens, arguments.device, arguments.precision, threads=1
    )
    operations = linear_operations(model, arguments)  # also warms up
    rates: dict[str, list[float]] = defaultdict(list)
    parts: dict[str, list[float]] = defaultdict(list)
    products, reached = [], []
    for number in range(arguments.rounds):
        for timed in (False, True) if number % 2 == 0 else (True, False):
            clock = Clock(model.device) if timed else None
            count, taken = parse(model, arguments, clock)
            rates[TIMED if timed else PLAIN].append(count / taken)
            if clock is None:
                seconds = taken
                continue
            for part, share in shares(clock).items():
                parts[part].append(share)
        products.append(product_rate(model))
        floor = sum(operations.values()) / products[-1]
        rates[FLOOR].append(count / floor)
        reached.append(100 * floor / seconds)
    more = {
        "sentences_parsed": count,
        "precision_used": model.precision,
        "share_percent": {part: round(statistics.median(values), 2) for part, values in parts.items()},
        "linear_gflop": {where: round(value, 3) for where, value in operations.items()},
        "product_gflop_per_second": round(statistics.median(products), 1),
        "floor_reached_percent": round(statistics.median(reached), 2),
    }
    report("parts of parsing, sentences/s", arguments, rates, PLAIN, **more)


if __name__ == "__main__":
    main()
