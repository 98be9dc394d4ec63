"""The options of the Stack-Transformer (Fernandez Astudillo et al. 2020, secs. 3.1 and 4)."""

from __future__ import annotations

from dataclasses import dataclass

from transition_parser.modules.options import dropout_option, layers_option, option, size_option
from transition_parser.modules.words import WordOptions


@dataclass(frozen=True)
class StackTransformerOptions(WordOptions):
    """The options of a Stack-Transformer, with sizes as in the paper (the feed-forward width is ours)."""

    encoder_layers: int = layers_option(6, "encoder layers", least=0)
    encoder_embed_dim: int = size_option(256, "encoder width", least=2)
    encoder_ffn_embed_dim: int = size_option(512, "encoder feed-forward width")
    encoder_attention_heads: int = size_option(4, "encoder attention heads")
    decoder_layers: int = layers_option(6, "decoder layers")
    decoder_embed_dim: int = size_option(256, "decoder width", least=2)
    decoder_ffn_embed_dim: int = size_option(512, "decoder feed-forward width")
    decoder_attention_heads: int = size_option(4, "decoder attention heads")
    dropout: float = dropout_option(0.3, "dropout of layer outputs")
    attention_dropout: float = dropout_option(0.0, "dropout of attention weights")
    activation_dropout: float = dropout_option(0.0, "dropout inside feed-forward")
    word_dropout: float = dropout_option(0.0, "dropout of whole words of the sentence")
    action_dropout: float = dropout_option(0.0, "dropout of whole actions of the history")
    share_decoder_input_output_embed: bool = option(False, "one embedding for the actions read and predicted")
    encoder_local_layers: int = layers_option(
        0, "convolutions over three words each, before the encoder's attention layers", least=0
    )
    stack_heads: int = size_option(1, "cross-attention heads that see the stack", least=0)
    buffer_heads: int = size_option(1, "cross-attention heads that see the buffer", least=0)
    state_window: str = option(
        "all",
        "words that stack and buffer heads see; all: the whole stack or buffer; top2: its top two words",
        choices=("all", "top2"),
    )
    state_positions: bool = option(False, "add embeddings of the rank in stack or buffer to the keys of their heads")
    state_position_ranks: int = size_option(
        31, "with --state-positions: ranks with an embedding of their own; the ranks below share one", most=1024
    )
    state_position_kind: str = option(
        "learned",
        "with --state-positions: learned embeddings of ranks, or fixed sinusoids",
        choices=("learned", "sinusoidal"),
    )
    predict_shift_words: bool = option(
        False,
        "with labelled SHIFT: train the model to predict the word of SHIFT, too (the paper's multi-task)",
    )
    lexical_prior: bool = option(
        False, "AMR: scores of the actions that name nodes also depend on how often they named the same words"
    )

    def contradictions(self) -> str | None:
        if self.encoder_embed_dim != self.decoder_embed_dim:
            return "--encoder-embed-dim and --decoder-embed-dim must be equal"
        for side in ("encoder", "decoder"):
            if problem := self.indivisible(side):
                return problem
        state_heads = self.stack_heads + self.buffer_heads
        if state_heads > self.decoder_attention_heads:
            return f"--stack-heads and --buffer-heads ask for {state_heads} of {self.decoder_attention_heads} heads"
        if self.state_positions and not state_heads:
            return "--state-positions needs stack or buffer heads"
        return super().contradictions()
