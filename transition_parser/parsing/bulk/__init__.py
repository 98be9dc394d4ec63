"""Floor 6: whole files parsed into files. `Job` parses, `outputs` writes, and `resume` continues an interrupted job."""

from transition_parser.parsing.bulk.job import Job

__all__ = ["Job"]
