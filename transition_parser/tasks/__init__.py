"""Floor 4: the fairseq task. fairseq imports every file of this folder."""

from transition_parser.compat import allow_fairseq_checkpoints

allow_fairseq_checkpoints()
