"""The options of the Stack-Transformer.

Source: Fernandez Astudillo et al. 2020, secs. 3.1 and 4
"""

from __future__ import annotations

from dataclasses import dataclass

from transition_parser.modules.options import option
from transition_parser.modules.words import WordOptions

_MOST_LAYERS, _WIDEST = 100, 1 << 16  # a larger number is a typing error: no Transformer has as many


@dataclass(frozen=True)
class StackTransformerOptions(WordOptions):
    """The options of a Stack-Transformer, with widths and sizes as in the paper."""

    encoder_layers: int = option(6, "encoder layers", least=0, most=_MOST_LAYERS)
    encoder_embed_dim: int = option(256, "encoder width", least=2, most=_WIDEST)
    encoder_ffn_embed_dim: int = option(512, "encoder feed-forward width", least=1, most=_WIDEST)
    encoder_attention_heads: int = option(4, "encoder attention heads", least=1, most=_WIDEST)
    decoder_layers: int = option(6, "decoder layers", least=1, most=_MOST_LAYERS)
    decoder_embed_dim: int = option(256, "decoder width", least=2, most=_WIDEST)
    decoder_ffn_embed_dim: int = option(512, "decoder feed-forward width", least=1, most=_WIDEST)
    decoder_attention_heads: int = option(4, "decoder attention heads", least=1, most=_WIDEST)
    dropout: float = option(0.3, "dropout of layer outputs", least=0.0, below=1.0)
    attention_dropout: float = option(0.0, "dropout of attention weights", least=0.0, below=1.0)
    activation_dropout: float = option(0.0, "dropout inside feed-forward", least=0.0, below=1.0)
    word_dropout: float = option(0.0, "dropout of whole words of the sentence", least=0.0, below=1.0)
    action_dropout: float = option(0.0, "dropout of whole actions of the history", least=0.0, below=1.0)
    share_decoder_input_output_embed: bool = option(
        False, "one embedding for the actions read and the actions predicted"
    )
    encoder_local_layers: int = option(
        0, "convolutions over three words each, before the encoder's attention layers", least=0, most=_MOST_LAYERS
    )
    stack_heads: int = option(1, "cross-attention heads that see the stack", least=0, most=_WIDEST)
    buffer_heads: int = option(1, "cross-attention heads that see the buffer", least=0, most=_WIDEST)
    state_window: str = option(
        "all", "state heads see the whole stack and buffer, or the two words on top of them", choices=("all", "top2")
    )
    state_positions: bool = option(False, "add embeddings of the rank in stack or buffer to what state heads see")
    predict_shift_words: bool = option(
        False,
        "with labelled SHIFT: in training the words of SHIFT compete with each other (the paper's multi-task); "
        "without it the state machine gives the word away",
    )

    def contradictions(self) -> str | None:
        if self.encoder_embed_dim != self.decoder_embed_dim:
            return "--encoder-embed-dim and --decoder-embed-dim must be equal"
        for side in ("encoder", "decoder"):
            dim, heads = getattr(self, f"{side}_embed_dim"), getattr(self, f"{side}_attention_heads")
            if dim % heads:
                return f"--{side}-attention-heads {heads} does not divide --{side}-embed-dim {dim}"
        state_heads = self.stack_heads + self.buffer_heads
        if state_heads > self.decoder_attention_heads:
            return f"--stack-heads and --buffer-heads ask for {state_heads} of {self.decoder_attention_heads} heads"
        if self.state_positions and not state_heads:
            return "--state-positions needs stack or buffer heads"
        return super().contradictions()
