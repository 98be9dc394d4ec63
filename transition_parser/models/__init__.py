"""Floor 5: the published systems, one file or folder each. Importing this room registers them.

A new system calls `register` in its file, which is named here; fairseq then knows it too (`tasks/wrappers.py`).
"""

from transition_parser.models import (  # noqa: F401
    graph2graph,
    spa_dp,
    stack_attention_rnn,
    stack_transformer,
    use_parser,
)
