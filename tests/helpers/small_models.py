"""Small models with random weights over the sample corpora, made without leaving the process."""

import atexit
import shutil
import tempfile
from argparse import Namespace
from functools import cache, partial
from pathlib import Path

import torch
from fairseq.optim.adam import FairseqAdam
from fairseq.utils import apply_to_sample
from pytest import TempPathFactory

import tests.toy_plugin  # noqa: F401  (registers its model)
from tests.conftest import SAMPLE, SAMPLE_AMR, made_once, run_here
from tests.helpers.tiny_encoder import make_encoder
from transition_parser import Parser
from transition_parser.data.dataset import TransitionDataset
from transition_parser.data.resources import Resources
from transition_parser.models.registry import architecture_of
from transition_parser.modules.encoder import EncoderOut
from transition_parser.states.states import RANKS
from transition_parser.tasks.losses import LegalCrossEntropyCriterion
from transition_parser.tasks.transition_parsing import TrainingModel, TransitionParsingConfig, TransitionParsingTask
from transition_parser.tasks.validation import gold_graphs
from transition_parser.text.columns import UPOS, read_annotations
from transition_parser.transitions import TREE_SYSTEMS

TREES = ("arc-hybrid-swap", "arc-eager", "arc-standard")
SYSTEMS = (*TREES, "amr")
SEQ2SEQ = {"no_pushed": True, "no_removed": True, "attention_layers": 1}
RECURRENT = {"encoder_hidden": 16, "decoder_hidden": 32, "attention_width": 16}
USE_HEADS = {"action_heads": 0, "stack_heads": 1, "buffer_heads": 1, "arc_heads": 2, "relation_heads": 0}
# what a model sees of the parser state: architecture and options
MODELS = {
    "no state": ("transition_transformer_small", {}),
    "state": ("stack_transformer_small", {}),
    "positions": ("stack_transformer_small", {"state_positions": True, "encoder_local_layers": 1}),
    "sinusoids": (
        "stack_transformer_small",
        {"state_positions": True, "state_position_kind": "sinusoidal", "state_position_ranks": 2},
    ),
    "top2": ("stack_transformer_small", {"state_window": "top2", "stack_heads": 2, "buffer_heads": 0}),
    "shift words": ("stack_transformer_small", {"predict_shift_words": True, "state_positions": True}),
    "no memory": ("toy_top_two", {}),
    "stack attention": ("stack_attention_rnn_small", RECURRENT | {"decoder_layers": 2}),
    "seq2seq": ("stack_attention_rnn_small", RECURRENT | SEQ2SEQ),
    "columns": (
        "stack_transformer_small",
        {"character_width": 8, "affix_width": 8, "word_table": 60, "state_positions": True},
    ),
    "bot": ("spa_dp_small", {}),
    "tob": ("spa_dp_small", {"spa": "tob"}),
    "vanilla": ("spa_dp_small", {"spa": "vanilla"}),
    "side by side": (
        "spa_dp_small",
        {"join_inputs": "concat", "no_pieces": True, "character_width": 8, "word_table": 60, "word_table_width": 24},
    ),
    "heads": ("spa_dp_graph_small", {}),
    "structures": ("use_parser_small", {}),
    "few structures": ("use_parser_small", USE_HEADS),
    "sentence": ("sentence_transformer_small", {}),
    "sentence graph": ("sentence_transformer_g2g_small", {}),
    "composed": ("state_transformer_small", {}),
    "appendix A": ("state_transformer_small", {"no_composition_skip": True, "segment_positions": True}),
    "state graph": ("state_transformer_g2g_small", {}),
    "pretrained graph": ("sentence_transformer_g2g_small", {}),
    "refined": ("recursive_g2g_small", {"refine": 2}),
    "CLS": ("state_transformer_g2g_small", {"no_graph_output": True, "history_layers": 2}),
    "composed graph": ("state_transformer_g2g_small", {"composition": True}),
    "pretrained": ("stack_transformer_small", {"pretrained_layers": "last3", "pretrained_training": "adapters"}),
    "pretrained sentence": ("sentence_transformer_small", {"pretrained_training": "layers"}),
}
MEMORYLESS = ("no memory", "bot", "tob", "vanilla", "side by side")
GRAPHS = ("heads", "refined")  # they find trees of any shape
OF_TREES = (
    *("sentence", "sentence graph", "composed", "appendix A", "state graph"),
    *("pretrained graph", "pretrained sentence", "CLS", "composed graph"),
)
SIZES = {"encoder_embed_dim": 64, "encoder_ffn_embed_dim": 64, "encoder_attention_heads": 2}
SIZES |= {name.replace("encoder", "decoder"): size for name, size in SIZES.items()} | {"toy_width": 64}
SIZES |= {"word_width": 32, "scan_width": 16, "spa_width": 32, "mlp_width": 32}
SIZES |= {"use_width": 32, "action_width": 16, "marker_width": 8, "indicator_bound": 8}
SIZES |= {
    "relation_width": 8,
    "encoder_dropout": 0.0,
    "word_table_dropout": 0.0,
    "exist_width": 16,
    "classifier_dropout": 0.0,
    "longest": 64,
}
SIZES |= {"arc_width": 16, "composition_width": 16, "history_layers": 1, "history_width": 16}


def runs_with(kind: str, system: str) -> bool:
    """Whether a model of `MODELS` is for the system: those of `GRAPHS` need one that builds every tree."""
    if kind in OF_TREES:
        return system in TREE_SYSTEMS
    return kind not in GRAPHS or (system in TREE_SYSTEMS and not TREE_SYSTEMS[system].projective_only)


def make_folder(system: str, factory: TempPathFactory, shift_words: int = 3) -> Path:
    """A folder of the sample corpus as `fairseq-preprocess` needs it, with its dictionaries. Some SHIFTs have words. It
    is made once for all tests, which only read it."""
    return made_once(factory, f"small_{system}_{shift_words}", partial(_preprocess, system, shift_words))


def _preprocess(system: str, shift_words: int, folder: Path) -> None:
    kind, sample, options = "amr", SAMPLE_AMR, ("--columns", "domain")
    if system != "amr":
        kind, sample, options = "dependency", SAMPLE, ("--system", system, "--columns", "upos", "lemma")
    corpora = [part for split in ("train", "valid", "test") for part in (f"--{split}", sample)]
    run_here(
        "preprocess", kind, *corpora, *options, "--pieces", "400", "--labeled-shift", shift_words, "--dest", folder
    )
    for side in ("src", "act"):
        dictionary = TransitionParsingTask.build_dictionary([str(folder / f"train.{side}")])
        dictionary.save(str(folder / f"dict.{side}.txt"))


def make_task(folder: Path, train_precision: str = "fp32", **options) -> TransitionParsingTask:
    config = TransitionParsingConfig(data=str(folder), train_precision=train_precision, seed=1, **options)
    return TransitionParsingTask.setup_task(config)


def task_of(system: str, factory: TempPathFactory, **options) -> TransitionParsingTask:
    return make_task(make_folder(system, factory), **options)


def task_and_batch(system: str, factory: TempPathFactory, lengths: range, count: int, needs=RANKS) -> tuple:
    """A task, and up to `count` sentences of so many words."""
    folder = make_folder(system, factory)
    task = make_task(folder)
    return task, make_batch(task, folder, lengths, count, needs)


def make_model(kind: str, resources: Resources, dropout: float = 0.0, **more) -> TrainingModel:
    """A model of `MODELS`, always with the same weights. more: further options of its architecture"""
    name, options = MODELS[kind]
    architecture = architecture_of(name)
    torch.manual_seed(1)
    if kind == "columns":
        of_trees = {"read_tags": True, "tag_loss": 0.5}
        of_amrs = {"read_domain": True, "lexical_prior": True, "role_functions": True}
        options = {**options, **(of_trees if UPOS in resources.columns else of_amrs)}
    if kind == "bot":  # not in `MODELS`: trainings would need data with columns
        options = {**options, "tags_read_words": True, "tag_loss": 0.1}
    if kind.startswith("pretrained"):
        options = {**options, "pretrained": tiny_encoder()}
    args = Namespace(**{**SIZES, **options, **more}, dropout=dropout)
    return TrainingModel(architecture.build(architecture.options.of_namespace(args, architecture.defaults), resources))


@cache
def tiny_encoder() -> str:
    """The folder of an encoder, without dropout, for as long as the tests run."""
    parent = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, parent)
    return str(make_encoder(parent / "encoder", dropout=0.0))


def with_words(model: TrainingModel, task: TransitionParsingTask, batch: dict) -> dict:
    """The batch with what the model reads of words beside their pieces, and predicts of them."""
    net_input = batch["net_input"]
    words = [task.resources.words(tokens) for tokens in net_input["src_tokens"].tolist()]
    inputs, heads, annotations = model.plain.inputs, model.plain.tags, batch["annotations"]
    if heads is not None:
        batch = {**batch, "tags": heads.targets(annotations, max(map(len, words)) + 1)}
    if UPOS in annotations:  # those of every other sentence have to be predicted
        annotations = {**annotations, UPOS: [v if i % 2 else ["_"] * len(v) for i, v in enumerate(annotations[UPOS])]}
    return {**batch, "net_input": {**net_input, "words": inputs.read(words, annotations)}} if inputs else batch


def encode(parser: Parser, sentences: list[list[str]]) -> EncoderOut:
    """What the encoder of a parser makes of sentences."""
    resources, inputs = parser.resources, parser.model.inputs
    tokens = resources.encode_all(sentences)
    source = torch.nn.utils.rnn.pad_sequence(tokens, True, resources.source_dictionary.pad())
    words = inputs.read(sentences) if inputs else None
    net_input = {"src_tokens": source, "features": resources.features_of(sentences), "words": words}
    with torch.inference_mode():
        return parser.model.encode(apply_to_sample(lambda tensor: tensor.to(parser.device), net_input))


def make_batch(task: TransitionParsingTask, folder: Path, lengths: range, count: int, needs=RANKS) -> dict:
    """Up to `count` sentences of so many words: gold derivations, the fields `needs` of their states, and trees."""
    resources, opens = task.resources, task.resources.opens_word()
    pieces, actions = ((folder / f"valid.{side}").read_text(encoding="utf-8").splitlines() for side in ("src", "act"))
    sources = [resources.encode_pieces(line.split()) for line in pieces]
    index, end = resources.target_dictionary.index, resources.table.end
    targets = [torch.tensor([*map(index, line.split()), end]) for line in actions]
    words = [resources.words(source.tolist()) for source in sources]
    graphs = gold_graphs(resources, folder, "valid", words, targets)
    annotations = read_annotations(folder, "valid", resources.columns.values, [*map(len, words)])
    fit = [number for number, source in enumerate(sources) if int(opens[source].sum()) in lengths][:count]
    sources, targets, graphs = ([column[number] for number in fit] for column in (sources, targets, graphs))

    def collated(**options) -> dict:
        pairs = (words_of(resources, sources), sources, targets)
        dataset = TransitionDataset(resources, *pairs, references=graphs, **options)
        return dataset.collater([dataset[i] for i in range(len(sources))])

    batch = collated(needs=needs)
    if resources.parser.system in TREE_SYSTEMS:
        batch["net_input"]["trees"] = collated(trees=True)["net_input"]["trees"]
    return {**batch, "annotations": {name: [column[number] for number in fit] for name, column in annotations.items()}}


def words_of(resources: Resources, sources: list[torch.Tensor]) -> list[list[str]]:
    """The words of sentences of piece ids."""
    return [resources.words(ids.tolist()) for ids in sources]


def make_criterion(task: TransitionParsingTask) -> LegalCrossEntropyCriterion:
    return LegalCrossEntropyCriterion(task, sentence_avg=False, label_smoothing=0.1)


def make_optimizer(model: TrainingModel) -> FairseqAdam:
    # Adam divides gradients by their size, even those that are 0 but for rounding: a large epsilon hides these
    options = {"lr": [0.005], "adam_betas": "(0.9, 0.98)", "adam_eps": 1e-4, "weight_decay": 0.01}
    return FairseqAdam(Namespace(**options, use_old_adam=False, fp16_adam_stats=False), list(model.parameters()))
