"""Floor 0: errors, files, settings of the process, progress bars and work-arounds."""
