"""Floor 6 (see CONTRIBUTING.md): whole files parsed into files by `Job`, and interrupted jobs continued (`resume`)."""

from transition_parser.parsing.bulk.job import Job

__all__ = ["Job"]
