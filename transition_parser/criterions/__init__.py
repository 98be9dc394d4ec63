"""Floor 6: training criteria. The task imports them, because fairseq does not look here by itself."""

from transition_parser.criterions import legal_cross_entropy  # noqa: F401
