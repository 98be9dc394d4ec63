"""Training criteria (floor 6, see CONTRIBUTING.md). The task imports them, because fairseq does not."""

from transition_parser.criterions import legal_cross_entropy  # noqa: F401
