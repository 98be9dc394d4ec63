"""Floor 5 (see CONTRIBUTING.md): the published models, one file or folder each, which importing this package registers.

To add a model, write a file that calls `registry.register`, and import that file here; fairseq then knows it, too.
"""

from transition_parser.models import (  # noqa: F401
    graph2graph,
    spa_dp,
    stack_attention_rnn,
    stack_transformer,
    use_parser,
)
