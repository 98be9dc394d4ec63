"""fairseq imports this folder: the task of the package, with its models."""

from transition_parser.tasks import transition_parsing  # noqa: F401
