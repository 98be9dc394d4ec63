"""Floor 6: pictures and error reports."""
