"""The fairseq task (floor 6, see CONTRIBUTING.md). fairseq imports every file here."""

from transition_parser.base.machine import allow_fairseq_checkpoints

allow_fairseq_checkpoints()
