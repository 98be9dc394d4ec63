"""The entry point of `python -m transition_parser`, which is the same as the command `transition-parser`."""

import sys

from transition_parser.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
