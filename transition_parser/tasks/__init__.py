"""Floor 6: the fairseq task. fairseq imports every file of this folder, `wrappers` with the models too."""

from transition_parser.base.compat import allow_fairseq_checkpoints

allow_fairseq_checkpoints()
