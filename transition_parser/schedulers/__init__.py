"""Floor 6: learning-rate schedulers and an optimizer. The task imports them: fairseq does not import them by itself."""

from transition_parser.schedulers import adam_by_part, epochs_polynomial  # noqa: F401
