"""Floor 7: pictures and error reports."""
