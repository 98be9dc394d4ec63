"""Floor 5: the published systems, one file or folder each.

Importing this room registers the systems. The file of a new system calls `register`, and this file imports it. Fairseq
then knows the new system too (`tasks/wrappers.py`).
"""

from transition_parser.models import (  # noqa: F401
    graph2graph,
    spa_dp,
    stack_attention_rnn,
    stack_transformer,
    use_parser,
)
