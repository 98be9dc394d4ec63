"""Floor 1: what is written in C, how it is loaded, and the guards of what it is given."""
