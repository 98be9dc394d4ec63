"""Floor 1: the kernels written in C, the loader of their libraries, and the checks of their arguments."""
