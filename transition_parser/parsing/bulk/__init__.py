"""Floor 6: whole files parsed into files: `Job`, what it writes (`outputs`), and what an interrupted one has left
(`resume`)."""

from transition_parser.parsing.bulk.job import Job

__all__ = ["Job"]
