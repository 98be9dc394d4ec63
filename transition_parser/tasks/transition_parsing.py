"""The fairseq task `transition_parsing`: trains parsers on folders that `preprocess` wrote, and parses with them."""

# No `from __future__ import annotations` here: fairseq reads the types of the options at run time.
import logging
import os
from collections import Counter
from collections.abc import Collection
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional, cast

import torch
from fairseq.data import Dictionary, data_utils
from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from fairseq.logging import metrics
from fairseq.models import BaseFairseqModel, register_model, register_model_architecture
from fairseq.tasks import FairseqTask, register_task
from fairseq.tokenizer import tokenize_line
from omegaconf import II
from torch import Tensor

import transition_parser.models  # noqa: F401  (registers the architectures of the package)
from transition_parser.base.errors import InputError, input_error
from transition_parser.base.process import keep_freed_memory, limit_instructions
from transition_parser.data.dataset import TransitionDataset, WordData
from transition_parser.data.resources import SOURCE, SPECIAL, TARGET, Resources, Vocabulary
from transition_parser.kernels.encoders import has_fast_bf16
from transition_parser.models.registry import Architecture, architecture_of, on_registration
from transition_parser.modules.contract import ParserModel, StateDecoder
from transition_parser.modules.options import fairseq_option
from transition_parser.modules.tagging import TagHeads, check_tagged
from transition_parser.modules.tree_decoder import TreeDecoder
from transition_parser.modules.words import WordInputs, WordTensors
from transition_parser.parsing.formalisms import OF_SYSTEM
from transition_parser.parsing.search import search
from transition_parser.states.costs import GoldTrees
from transition_parser.states.states import States
from transition_parser.storage.transfer import start_from
from transition_parser.tasks import losses  # noqa: F401  (registers the criterion)
from transition_parser.tasks.exploration import explorer_of
from transition_parser.tasks.optimization import check_optimizer, tell_batches
from transition_parser.tasks.validation import COUNTS, FIGURES, counts_of, gold_graphs
from transition_parser.text.columns import read_annotations
from transition_parser.text.pieces import FILE_NAME as PIECES_FILE
from transition_parser.text.pieces import Pieces
from transition_parser.transitions.config import FILE_NAME as CONFIG_FILE
from transition_parser.transitions.config import ParserConfig

logger = logging.getLogger(__name__)
LONGEST = (int(1e6), int(1e9))  # the largest lengths of sentences and of derivations: practically any is allowed


@dataclass
class TransitionParsingConfig(FairseqDataclass):
    """The options of the task."""

    data: Optional[str] = fairseq_option(None, "data folder, written by preprocess and fairseq-preprocess")
    subword_regularization: float = fairseq_option(0.0, "BPE-dropout: probability of leaving out each merge of pieces")
    train_precision: ChoiceEnum(["auto", "fp32", "bf16"]) = fairseq_option(
        "auto", "number format of matrix products in training; auto: bf16 if the machine computes in it natively"
    )
    valid_beam: int = fairseq_option(1, "beam size of validation, which logs UAS and LAS, or Smatch; 0: do not parse")
    start_from: Optional[str] = fairseq_option(
        None,
        "model to take the first weights from: a checkpoint, an exported folder, or the name of a model; its "
        "vocabularies may differ (for trees, not its actions)",
    )
    oracle: ChoiceEnum(["static", "dynamic"]) = fairseq_option(
        "static",
        "derivations to train on; static: those of the data; dynamic (dependency trees): those that the model finds "
        "greedily, with all correct actions of each step as targets",
    )
    explore: float = fairseq_option(
        0.1,
        "with --oracle dynamic: probability of taking the best wrong action where the best correct action scores only "
        "slightly better; a wrong action that scores best is always taken",
    )
    explore_after: int = fairseq_option(
        1, "with --oracle dynamic: number of first epochs in which only correct actions are taken"
    )
    seed: int = II("common.seed")
    dataset_impl: Optional[str] = II("dataset.dataset_impl")


@register_task("transition_parsing", dataclass=TransitionParsingConfig)
class TransitionParsingTask(FairseqTask):
    """The task of predicting the actions of a transition system, which `parser.json` of the data defines."""

    source_dictionary: Any = None  # set below, in place of fairseq's properties
    target_dictionary: Any = None

    def __init__(self, cfg: TransitionParsingConfig, resources: Resources) -> None:
        super().__init__(cfg)
        self.resources = resources
        self.table = resources.table
        self._precision: torch.dtype | None = None  # the training precision; unknown before the first batch
        self.formalism = OF_SYSTEM[resources.parser.system]
        self._explorer = explorer_of(cfg, resources)
        self.needs: Collection[str] = ()  # set by `build_model`, which fairseq calls before it loads data
        self._of_trees = False  # set by `build_model`, too
        self._inputs: WordInputs | None = None  # set by `build_model`, too
        self._tag_heads: TagHeads | None = None
        self._optimizer_checked = False
        self.source_dictionary = fairseq_dictionary(resources.source_dictionary)
        self.target_dictionary = fairseq_dictionary(resources.target_dictionary)
        # checkpoints keep the fingerprint, so that a model is never used with the data files of another model
        self.state.merge_state_dict({"fingerprint": resources.fingerprint})

    @classmethod
    def setup_task(cls, cfg: TransitionParsingConfig, **kwargs) -> "TransitionParsingTask":
        limit_instructions()
        keep_freed_memory()
        return cls(cfg, Resources.load(str(cfg.data)))

    @classmethod
    def build_dictionary(cls, filenames, workers=1, threshold=-1, nwords=-1, padding_factor=8) -> Dictionary:
        """Return a dictionary with all pieces of `spm.model` or all actions of `parser.json`."""
        if max(threshold, nwords) > 0:
            raise InputError("the dictionaries are those of preprocess: leave out --threshold* and --nwords*")
        dictionary = Dictionary()
        for filename in sorted(filenames):
            Dictionary.add_file_to_dictionary(filename, dictionary, tokenize_line, workers)
        for filename in sorted(filenames):
            for symbol in _inventory(Path(filename)):
                dictionary.add_symbol(symbol, n=0)
        dictionary.finalize(threshold=-1, nwords=-1, padding_factor=padding_factor)
        return dictionary

    def build_model(self, cfg, from_checkpoint=False):
        """Build the model as fairseq does, and keep its needs (`Decoder.needs`), word inputs and tag heads."""
        model = super().build_model(cfg, from_checkpoint)
        if not from_checkpoint:
            check_tagged(getattr(cfg, "tag_loss", 0.0), model.plain.tags)
            if self.cfg.start_from:
                done = start_from(model.plain, self.resources, self.cfg.start_from)
                logger.info(f"started from {self.cfg.start_from}: {done}")
        if self._explorer is not None and model.plain.searches_directly:
            raise InputError(f"--oracle dynamic is for models that score actions, which {cfg.arch} does not")
        self.needs, self._of_trees = model.decoder.needs, model.plain.searches_directly
        self._inputs, self._tag_heads = model.plain.inputs, model.plain.tags
        return model

    # --- data -------------------------------------------------------------------------------

    def load_dataset(self, split: str, combine: bool = False, **kwargs) -> None:
        """Load `split`. Raises `InputError` where fairseq-preprocess has not written the split."""
        folder, training = str(self.cfg.data), split == "train"
        sides = []
        for language, dictionary in ((SOURCE, self.source_dictionary), (TARGET, self.target_dictionary)):
            path = str(Path(folder) / f"{split}.{SOURCE}-{TARGET}.{language}")
            sides.append(data_utils.load_indexed_dataset(path, dictionary, self.cfg.dataset_impl))
            if sides[-1] is None:
                raise input_error("not found: run `fairseq-preprocess` on the folder first", path)
        source, target = sides
        words = [self.resources.words(tokens.tolist()) for tokens in source]
        heads, masked = self._tag_heads, self._inputs.masked(training) if self._inputs else {}
        annotations = dict(read_annotations(folder, split, {*(heads or ()), *masked}, [*map(len, words)]))
        word_data = WordData(
            annotations,
            {column: fraction for column, fraction in masked.items() if column in annotations},
            self._inputs.read if self._inputs else None,
            None if heads is None else heads.targets,
        )
        self.datasets[split] = TransitionDataset(
            self.resources,
            words,
            source,
            target,
            word_data,
            needs=self.needs,
            trees=self._of_trees or (training and self._explorer is not None),
            references=None if training else gold_graphs(self.resources, folder, split, words, target),
            alpha=(self.cfg.subword_regularization or None) if training else None,
            seed=self.cfg.seed,
        )

    def get_batch_iterator(self, dataset, *args, **kwargs):
        """Return fairseq's iterator over batches, and tell schedulers the number of batches of a training epoch."""
        first = dataset not in self.dataset_to_epoch_iter
        iterator = super().get_batch_iterator(dataset, *args, **kwargs)
        if first and dataset is self.datasets.get("train"):
            tell_batches(len(iterator))
        return iterator

    def max_positions(self) -> tuple[int, int]:
        return LONGEST

    # --- training and validation ------------------------------------------------------------

    def begin_epoch(self, epoch, model) -> None:
        super().begin_epoch(epoch, model)
        if self._explorer is not None:
            self._explorer.epoch = epoch

    def train_step(self, sample, model, criterion, optimizer, update_num, ignore_grad=False):
        """Take fairseq's training step, with the loss computed in the training precision."""

        def loss(model, sample):  # autocasts inside fairseq's step, because the step turns autocasting off on GPUs
            if self._explorer is not None and sample:
                with self._autocast(sample, model):  # a context of its own: it caches cast weights without gradients
                    sample = self._explorer.explored(model.plain, sample, update_num)
            with self._autocast(sample, model):
                return criterion(model, sample)

        if not self._optimizer_checked:
            check_optimizer(optimizer, (p for p in model.parameters() if p.requires_grad))
            self._optimizer_checked = True
        return super().train_step(sample, model, loss, optimizer, update_num, ignore_grad)

    def _autocast(self, sample, model):
        if not sample:
            return nullcontext()
        device, weights = sample["target"].device, next(model.parameters()).dtype
        if self._precision is None:
            asked = str(self.cfg.train_precision)
            in_bf16 = asked == "bf16" or (asked == "auto" and weights == torch.float32 and has_fast_bf16(device))
            self._precision = torch.bfloat16 if in_bf16 else weights
            logger.info(f"training in {str(self._precision).removeprefix('torch.')} (--train-precision {asked})")
        return nullcontext() if self._precision == weights else torch.autocast(device.type, self._precision)

    def valid_step(self, sample, model, criterion):
        loss, sample_size, logging_output = super().valid_step(sample, model, criterion)
        if self.cfg.valid_beam:
            encoder_out, references = model.plain.encode(sample["net_input"]), sample["references"]
            if isinstance(model.plain.decoder, TreeDecoder):
                graphs = [found.tree for found in model.plain.decoder.trees(encoder_out)]
            else:
                found = search(model.plain, encoder_out, self.cfg.valid_beam, lenpen=self.formalism.lenpen)
                graphs = [
                    None if gold is None else self.table.graph_of(words, hypotheses[0].tokens)
                    for (words, gold), hypotheses in zip(references, found, strict=True)
                ]
            counts: Counter[str] = Counter()
            for (_, gold), graph in zip(references, graphs, strict=True):
                if gold is not None:
                    counts.update(counts_of(gold, graph))
            logging_output.update(counts)
        return loss, sample_size, logging_output

    def reduce_metrics(self, logging_outputs, criterion) -> None:
        """Log UAS and LAS (full labels, percent), or Smatch (F1, 0–1), beside the criterion's own figures."""
        super().reduce_metrics(logging_outputs, criterion)
        names = [name for name in COUNTS if any(name in log for log in logging_outputs)]
        sums = {name: sum(float(log.get(name, 0)) for log in logging_outputs) for name in names}
        if not any(sums.values()):
            return
        for name, value in sums.items():
            metrics.log_scalar(name, value, round=0)
        for name in self.formalism.figures:
            figure = FIGURES[name]
            metrics.log_derived(name, lambda meters, of=figure: of({key: float(meters[key].sum) for key in sums}))

    def build_generator(self, models, args, seq_gen_cls=None, extra_gen_cls_kwargs=None, **kwargs):
        raise InputError("fairseq-generate does not search for parses: use `transition-parser parse`")


class TrainingModel(BaseFairseqModel):
    """The model `plain` with the interface of `fairseq-train`; parameters keep their names."""

    def __init__(self, plain: ParserModel) -> None:
        super().__init__()
        self.__dict__["plain"] = plain  # not registered: its parts are registered below
        for name, part in plain.named_children():
            self.add_module(name, part)

    @classmethod
    def build_model(cls, args, task) -> "TrainingModel":
        architecture = architecture_of(args.arch)
        options = architecture.options.of_namespace(args, architecture.defaults)
        return cls(architecture.build(options, task.resources))

    def forward(
        self,
        src_tokens: Tensor,
        src_lengths: Tensor | None = None,
        prev_output_tokens: Tensor | None = None,
        states: dict[str, Tensor] | None = None,
        trees: dict[str, Tensor] | None = None,
        features: Tensor | None = None,
        words: WordTensors | None = None,
    ) -> tuple[Tensor, dict[str, Any]]:
        """Return the scores before the softmax, (B, T, V), and fairseq's dictionary of extras."""
        plain, decoder = self.plain, self.plain.decoder
        encoder_out = plain.encode({"src_tokens": src_tokens, "features": features, "words": words})
        if isinstance(decoder, StateDecoder):
            given = None if states is None else States(**states)
            has_all = given is not None and given.has(decoder.needs)
            read = given if has_all else decoder.states(prev_output_tokens, encoder_out)
            sampled_steps = decoder.sampled_steps(prev_output_tokens) if plain.training else None
            scores = decoder.scores(prev_output_tokens, encoder_out, read, sampled_steps)
            extra = {"legal": decoder.legality(read), "sampled_steps": sampled_steps}
        else:
            decisions = cast(TreeDecoder, decoder).decisions(encoder_out, GoldTrees(**trees))
            scores, extra = decisions[0].scores, {"decisions": decisions}
        return scores, extra | {"tagged": encoder_out.tagged, "tag_heads": plain.tags}


def _add_to_fairseq(architecture: Architecture) -> None:
    options, defaults = architecture.options, architecture.defaults

    def fill_in(args) -> None:
        for name, value in options.of_namespace(args, defaults).completed().as_config().items():
            setattr(args, name, value)

    members = {"__doc__": f"`{architecture.name}`", "add_args": staticmethod(options.add_arguments)}
    model = type(f"Fairseq_{architecture.name}", (TrainingModel,), members)
    register_model(architecture.name)(model)
    register_model_architecture(architecture.name, architecture.name)(fill_in)


on_registration(_add_to_fairseq)


def fairseq_dictionary(vocabulary: Vocabulary) -> Dictionary:
    """Return the vocabulary as fairseq's own class, with the same symbols and ids."""
    dictionary = Dictionary()
    for symbol, count in list(zip(vocabulary.symbols, vocabulary.counts))[len(SPECIAL) :]:
        dictionary.add_symbol(symbol, count, overwrite=True)
    return dictionary


def _inventory(path: Path) -> list[str]:
    """Return the symbols that the dictionary of a file of `preprocess` must hold: the pieces or the actions."""
    if path.suffix == ".src" and os.path.exists(path.with_name(PIECES_FILE)):
        return Pieces.load(path.parent).inventory()
    if path.suffix == ".act" and os.path.exists(path.with_name(CONFIG_FILE)):
        return [str(action) for action in ParserConfig.load(path.parent).actions()]
    return []
