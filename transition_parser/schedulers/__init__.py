"""Learning-rate schedulers and an optimizer (floor 6, see CONTRIBUTING.md). The task imports them: fairseq does not."""

from transition_parser.schedulers import adam_by_part, epochs_polynomial  # noqa: F401
