"""`python -m transition_parser`: the same as `transition-parser`."""

import sys

from transition_parser.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
