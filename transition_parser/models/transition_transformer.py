"""Encoder-decoder Transformers that predict actions, with and without the parser state.

Source: Fernandez Astudillo et al. 2020, secs. 3.1 and 4.
"""

from __future__ import annotations

from fairseq.models import (
    FairseqEncoderDecoderModel,
    register_model,
    register_model_architecture,
)

from transition_parser.data.resources import Resources
from transition_parser.errors import InputError
from transition_parser.modules.decoder import ActionDecoder
from transition_parser.modules.encoder import WordEncoder


@register_model("transition_transformer")
class TransitionTransformer(FairseqEncoderDecoderModel):
    """Words to actions. With `--stack-heads 0 --buffer-heads 0` the vanilla Transformer of the paper (variant a)."""

    @staticmethod
    def add_args(parser) -> None:
        """Adds the options of this model to fairseq's parser."""
        for side in ("encoder", "decoder"):
            parser.add_argument(f"--{side}-layers", type=int, metavar="N", help=f"{side} layers")
            parser.add_argument(f"--{side}-embed-dim", type=int, metavar="N", help=f"{side} width")
            parser.add_argument(f"--{side}-ffn-embed-dim", type=int, metavar="N", help=f"{side} feed-forward width")
            parser.add_argument(f"--{side}-attention-heads", type=int, metavar="N", help=f"{side} attention heads")
        parser.add_argument("--dropout", type=float, metavar="P", help="dropout of layer outputs")
        parser.add_argument("--attention-dropout", type=float, metavar="P", help="of attention weights")
        parser.add_argument("--activation-dropout", type=float, metavar="P", help="inside feed-forward")
        parser.add_argument("--word-dropout", type=float, metavar="P", help="of whole words of the sentence")
        parser.add_argument("--action-dropout", type=float, metavar="P", help="of whole actions of the history")
        parser.add_argument(
            "--share-decoder-input-output-embed",
            action="store_true",
            help="one embedding for the actions read and the actions predicted",
        )
        parser.add_argument(
            "--encoder-local-layers",
            type=int,
            metavar="N",
            help="convolutions over three words each, before the encoder's attention layers",
        )
        parser.add_argument("--stack-heads", type=int, metavar="N", help="cross-attention heads that see the stack")
        parser.add_argument("--buffer-heads", type=int, metavar="N", help="cross-attention heads that see the buffer")
        parser.add_argument(
            "--state-window",
            choices=["all", "top2"],
            help="state heads see the whole stack and buffer, or the two words on top of them",
        )
        parser.add_argument(
            "--state-positions",
            action="store_true",
            help="add embeddings of the place in stack or buffer to what state heads see",
        )
        parser.add_argument(
            "--predict-shift-words",
            action="store_true",
            help="with labelled SHIFT: in training the words of SHIFT compete with each other (the "
            "paper's multi-task); without it the state machine gives the word away",
        )

    @classmethod
    def build_model(cls, args, task) -> TransitionTransformer:
        """The model of `args` over the dictionaries of `task`."""
        return cls.over(args, task.resources)

    @classmethod
    def over(cls, args, resources: Resources) -> TransitionTransformer:
        """The model of `args` over the dictionaries of `resources`."""
        base_architecture(args)
        _check(args)
        opens = resources.opens_word()
        opens[resources.source_dictionary.eos()] = True
        encoder = WordEncoder(resources.source_dictionary, opens, args)
        return cls(encoder, ActionDecoder(resources.target_dictionary, resources.table, args))

    def forward(self, src_tokens, src_lengths, prev_output_tokens, state=None, features=None, mask_illegal=True):
        """(B, T, V) scores of the actions; see `ActionDecoder.forward`."""
        encoder_out = self.encoder(src_tokens, src_lengths, features=features)
        return self.decoder(prev_output_tokens, encoder_out, state=state, mask_illegal=mask_illegal)

    def max_positions(self) -> tuple[int, int]:
        """The longest source and target."""
        return self.encoder.max_positions(), self.decoder.max_positions()


def _check(args) -> None:
    """Raises `InputError` for options that contradict each other."""
    if args.encoder_embed_dim != args.decoder_embed_dim:
        raise InputError("--encoder-embed-dim and --decoder-embed-dim must be equal")
    state_heads = args.stack_heads + args.buffer_heads
    if min(args.stack_heads, args.buffer_heads) < 0 or state_heads > args.decoder_attention_heads:
        raise InputError(
            f"--stack-heads and --buffer-heads ask for {state_heads} of {args.decoder_attention_heads} heads"
        )
    if args.state_positions and not state_heads:
        raise InputError("--state-positions needs stack or buffer heads")
    for name in ("dropout", "attention_dropout", "activation_dropout", "word_dropout", "action_dropout"):
        if not 0.0 <= getattr(args, name) < 1.0:
            raise InputError(f"--{name.replace('_', '-')} must be 0 or more and less than 1")


DEFAULTS = {
    "encoder_layers": 6,
    "encoder_embed_dim": 256,
    "encoder_ffn_embed_dim": 512,
    "encoder_attention_heads": 4,
    "decoder_layers": 6,
    "decoder_embed_dim": 256,
    "decoder_ffn_embed_dim": 512,
    "decoder_attention_heads": 4,
    "dropout": 0.3,
    "attention_dropout": 0.0,
    "activation_dropout": 0.0,
    "word_dropout": 0.0,
    "action_dropout": 0.0,
    "share_decoder_input_output_embed": False,
    "encoder_local_layers": 0,
    "stack_heads": 0,
    "buffer_heads": 0,
    "state_window": "all",
    "state_positions": False,
    "predict_shift_words": False,
}


def _fill(args, values: dict) -> None:
    for name, value in values.items():
        if getattr(args, name, None) is None:
            setattr(args, name, value)


@register_model_architecture("transition_transformer", "transition_transformer")
def base_architecture(args) -> None:
    """6/6 layers, no parser state."""
    _fill(args, DEFAULTS)


@register_model_architecture("transition_transformer", "transition_transformer_small")
def transition_transformer_small(args) -> None:
    """2/2 layers, no parser state."""
    _fill(args, {"encoder_layers": 2, "decoder_layers": 2})
    base_architecture(args)


@register_model_architecture("transition_transformer", "stack_transformer")
def stack_transformer(args) -> None:
    """6/6 layers, one head sees the stack and one the buffer (variant c of the paper)."""
    _fill(args, {"stack_heads": 1, "buffer_heads": 1})
    base_architecture(args)


@register_model_architecture("transition_transformer", "stack_transformer_small")
def stack_transformer_small(args) -> None:
    """2/2 layers, one head sees the stack and one the buffer."""
    _fill(args, {"encoder_layers": 2, "decoder_layers": 2})
    stack_transformer(args)
