"""Floor 1 (see CONTRIBUTING.md): the kernels written in C, the loader of their libraries, and checks of arguments."""
