"""Options of models: flags, defaults and config.json from one dataclass."""

import argparse
import re

import pytest

from transition_parser.base.errors import InputError
from transition_parser.models.registry import ARCHITECTURES, architecture_of, on_registration, register
from transition_parser.models.stack_transformer import StackTransformerOptions


def parsed(*flags: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    StackTransformerOptions.add_arguments(parser)
    return parser.parse_args(flags)


def test_what_no_flag_says_comes_from_the_architecture_and_then_from_the_option():
    small = architecture_of("transition_transformer_small").defaults
    options = StackTransformerOptions.of_namespace(parsed("--dropout", "0.1", "--state-positions"), {"stack_heads": 2})
    assert (options.dropout, options.state_positions, options.stack_heads) == (0.1, True, 2)
    options = StackTransformerOptions.of_namespace(parsed(), small)
    assert (options.encoder_layers, options.stack_heads, options.buffer_heads, options.dropout) == (2, 0, 0, 0.3)


def test_config_comes_back():
    options = StackTransformerOptions(encoder_layers=1, dropout=0.5, state_window="top2")
    assert StackTransformerOptions.of_config(options.as_config()) == options


def test_a_whole_number_may_stand_for_a_real_one():
    values = StackTransformerOptions().as_config() | {"dropout": 0}
    found = StackTransformerOptions.of_config(values)
    assert found.dropout == 0.0 and isinstance(found.dropout, float)


STACK, USE = "stack_transformer", "use_parser"
SENTENCE = "sentence_transformer"


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        (STACK, {"encoder_layers": "x"}, "--encoder-layers must be of type int, not 'x'"),
        (STACK, {"state_window": "top3"}, "must be one of all, top2, not 'top3'"),
        (STACK, {"dropout": 1.0}, "must be less than 1.0, not 1.0"),
        (STACK, {"decoder_layers": 0}, "must be 1 or more, not 0"),
        (STACK, {"encoder_ffn_embed_dim": 10**7}, "must be 65536 or less"),
        (STACK, {"new": 1}, "unknown option 'new'"),
        (STACK, {"stack_heads": 5}, "ask for 6 of 4 heads"),
        (STACK, {"state_positions": True, "stack_heads": 0, "buffer_heads": 0}, "needs stack or buffer heads"),
        (STACK, {"no_pieces": True}, "give --pretrained, --word-table, --affix-width or --ch"),
        (STACK, {"join_inputs": "concat"}, "words are read by their pieces alone; give some of --read-tags, "),
        (STACK, {"tag_width": 9}, "--tag-width does nothing without --read-tags: give --read-tags, too"),
        *(
            (STACK, {"character_width": 4, "character_windows": windows}, "must be numbers from 1 to 24, not")
            for windows in ("0", "1,,2", "a", "25", "-1", "3,")
        ),
        (USE, {"stack_heads": 3}, "the 9 heads of structures do not divide --use-width 256"),
        (USE, {"stack_heads": 0, "buffer_heads": 0, "action_heads": 0}, "are all 0"),
        (USE, {"encoder_attention_heads": 7}, "--encoder-attention-heads 7 does not divide --encoder-embed-dim 200"),
        ("sentence_transformer_g2g", {"tag_loss": 0.1}, "no --tag-loss here"),
        (SENTENCE, {"pretrained": "x", "pretrained_layers": "1-2"}, "is for other models"),
        (SENTENCE, {"fresh_layers": 1}, "--fresh-layers is for --pretrained"),
    ],
)
def test_config_is_checked(name, change, problem):
    architecture = architecture_of(name)
    with pytest.raises(InputError, match=re.escape(problem)) as error:
        architecture.options.of_config(architecture.options(**architecture.defaults).as_config() | change)
    assert len(str(error.value).splitlines()) == 1


def test_a_missing_option_has_its_default():
    assert StackTransformerOptions.of_config({"encoder_layers": 1}) == StackTransformerOptions(encoder_layers=1)
    with pytest.raises(InputError, match="options must be a JSON object"):
        StackTransformerOptions.of_config(None)


def test_names_of_architectures():
    with pytest.raises(InputError, match="unknown architecture 'nobody'"):
        architecture_of("nobody")
    with pytest.raises(InputError, match="unknown architecture None"):
        architecture_of(None)
    with pytest.raises(ValueError, match="already registered"):
        register("other", StackTransformerOptions, lambda *_: None, {"stack_transformer": {}})
    known: list[str] = []
    on_registration(lambda architecture: known.append(architecture.name))
    assert known == list(ARCHITECTURES)
