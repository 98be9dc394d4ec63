"""Floor 6: training criteria. The task imports this package, because fairseq does not import it by itself."""

from transition_parser.criterions import legal_cross_entropy  # noqa: F401
