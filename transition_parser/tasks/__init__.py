"""Floor 4: the fairseq task. fairseq imports every file of this folder."""

from transition_parser.compat import allow_fairseq_checkpoints, quiet_penman

allow_fairseq_checkpoints()
quiet_penman()
