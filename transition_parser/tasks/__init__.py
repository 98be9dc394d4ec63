"""Floor 6: the fairseq task. fairseq imports every file of this folder, so that `wrappers` registers the models."""

from transition_parser.base.compat import allow_fairseq_checkpoints

allow_fairseq_checkpoints()
