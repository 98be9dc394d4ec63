"""The library in C, and editable installation. All else about the package is in pyproject.toml."""

import tempfile
import zipfile
import zlib
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.editable_wheel import editable_wheel

PACKAGE = Path(__file__).resolve().with_name("transition_parser")
SOURCES = sorted((PACKAGE / "kernels").glob("*.[ch]"))  # as loader.py beside them has it
LIBRARY_SUFFIX = ".so"  # as transition_parser/kernels/loader.py has it
STAND_IN = """\
# fairseq looks here for --user-dir transition_parser. Imported, this becomes the real package.
import sys
from importlib.util import module_from_spec, spec_from_file_location

spec = spec_from_file_location(__name__, {path!r})
sys.modules[__name__] = module_from_spec(spec)
spec.loader.exec_module(sys.modules[__name__])
"""


class EditableWheel(editable_wheel):
    """The wheel that pip installs in editable mode, with a stand-in for the package.

    fairseq takes --user-dir for a folder in the working folder, or else beside its own, and imports what is in `tasks`
    there. Installed packages are beside fairseq; an editable one would have nothing there.
    """

    def run(self) -> None:
        from wheel.wheelfile import WheelFile

        super().run()
        (path,) = Path(self.dist_dir).glob("transition_parser-*editable*.whl")
        files = {
            f"{PACKAGE.name}/__init__.py": STAND_IN.format(path=str(PACKAGE / "__init__.py")),
            f"{PACKAGE.name}/tasks/transition_parsing.py": "",
            f"{PACKAGE.name}.pth": f"{PACKAGE.parent}\n",  # type checkers import nothing: they search this path
        }
        with tempfile.TemporaryDirectory() as folder:
            with zipfile.ZipFile(path) as wheel:
                wheel.extractall(folder)
            for name, text in files.items():
                file = Path(folder, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            with WheelFile(path, "w") as wheel:
                wheel.write_files(folder)


class BuildPy(build_py):
    """The Python files, and the configs that `transition-parser train` knows by name. In a checkout, and for an
    editable installation, they stay in `configs`."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            folder = Path(self.build_lib, PACKAGE.name, "configs")
            self.mkpath(str(folder))
            for path in sorted(Path(__file__).resolve().parent.glob("configs/*.flags")):
                self.copy_file(str(path), str(folder / path.name))


class PlainLibraries(build_ext):
    """Compiles libraries that Python does not import: their names say nothing of a version of Python."""

    def get_ext_filename(self, fullname: str) -> str:
        return str(Path(*fullname.split(".")).with_suffix(LIBRARY_SUFFIX))


class AnyPythonWheel(bdist_wheel):
    """A wheel for one kind of machine and every Python 3: ctypes loads the libraries."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


# An installation leaves nothing beside the sources, and works where their folder can't be written.
with tempfile.TemporaryDirectory() as scratch:
    setup(
        # Not a Python module but a library that transition_parser/kernels/loader.py loads. Without it search finds the
        # same more slowly.
        ext_modules=[
            Extension(
                "transition_parser.kernels._kernels",
                [f"transition_parser/kernels/{name}.c" for name in ("kernels", "tree_replay")],
                depends=[str(path.relative_to(PACKAGE.parent)) for path in SOURCES],
                define_macros=[("CHECKSUM", f"{zlib.crc32(b''.join(path.read_bytes() for path in SOURCES))}u")],
                # These let sums be computed in any order, and know that numbers are finite; -ffast-math would change
                # how all of Python computes.
                extra_compile_args=[
                    *("-O3", "-Wno-psabi", "-fno-math-errno", "-fno-trapping-math", "-ffinite-math-only"),
                    *("-fassociative-math", "-fno-signed-zeros", "-freciprocal-math", "-pthread"),
                ],
                extra_link_args=["-pthread"],
                optional=True,
            )
        ],
        cmdclass={
            "bdist_wheel": AnyPythonWheel,
            "build_ext": PlainLibraries,
            "build_py": BuildPy,
            "editable_wheel": EditableWheel,
        },
        options={"build": {"build_base": scratch}, "egg_info": {"egg_base": scratch}},
    )
