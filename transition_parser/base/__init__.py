"""Floor 0 (see CONTRIBUTING.md): errors, files, settings of the process, progress bars and work-arounds."""

__version__ = "0.1.0"
