"""How much code `transition-parser parse MODEL FILE` runs through, for a FILE of one sentence.

    python run/bench/hops.py MODEL FILE [option of parse ...]

Prints the files of the package with a function that is called, the hops from file to file (calls whose nearest caller
in the package is in another file), and all calls of Python functions, loading of the model included. What runs while a
module is imported does not count.
"""

import sys
import threading
from collections import Counter
from pathlib import Path
from types import FrameType

import transition_parser

PACKAGE = f"{Path(transition_parser.__file__).resolve().parent}/"


class Tracer:
    """A function for `sys.setprofile` that counts calls and hops."""

    def __init__(self) -> None:
        self.files: Counter[str] = Counter()  # file of the package → calls of its functions
        self.calls = self.hops = self.imports = 0

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if frame.f_code.co_name == "<module>":
            self.imports += {"call": 1, "return": -1}.get(event, 0)
        path = frame.f_code.co_filename
        if event != "call" or self.imports or path.startswith("<frozen importlib"):
            return
        self.calls += 1
        if path.startswith(PACKAGE):
            self.files[path.removeprefix(PACKAGE)] += 1
            caller = frame.f_back
            while caller is not None and not caller.f_code.co_filename.startswith(PACKAGE):
                caller = caller.f_back
            self.hops += caller is not None and caller.f_code.co_filename != path


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit("usage: python run/bench/hops.py MODEL FILE [option of parse ...]")
    from transition_parser.cli.main import main as command

    tracer = Tracer()
    threading.setprofile(tracer)
    sys.setprofile(tracer)
    status = command(["parse", *sys.argv[1:], "-o", "/dev/null"])
    sys.setprofile(None)
    threading.setprofile(None)
    for path, calls in tracer.files.most_common():
        print(f"{calls:9,} {path}")
    print(f"files entered: {len(tracer.files)}; hops: {tracer.hops:,}; Python calls: {tracer.calls:,}")
    sys.exit(status)


if __name__ == "__main__":
    main()
