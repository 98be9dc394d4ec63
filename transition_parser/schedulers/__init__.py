"""Floor 6: learning-rate schedulers. The task imports them, because fairseq does not look here by itself."""

from transition_parser.schedulers import epochs_polynomial  # noqa: F401
