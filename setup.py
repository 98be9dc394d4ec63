"""Packaging of transition-parser."""

import tempfile
import zipfile
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_py import build_py
from setuptools.command.editable_wheel import editable_wheel

PACKAGE = Path(__file__).resolve().with_name("transition_parser")
STAND_IN = """\
# fairseq looks here for --user-dir transition_parser. Imported, this becomes the real package.
import sys
from importlib.util import module_from_spec, spec_from_file_location

spec = spec_from_file_location(__name__, {path!r})
sys.modules[__name__] = module_from_spec(spec)
spec.loader.exec_module(sys.modules[__name__])
"""


class EditableWheel(editable_wheel):
    """What pip installs in editable mode, and a stand-in for the package.

    fairseq takes --user-dir for a folder in the working folder, or else beside its own, and imports what is in `tasks`
    there. Installed packages are beside fairseq; an editable one would have nothing there.
    """

    def run(self) -> None:
        from wheel.wheelfile import WheelFile

        super().run()
        (path,) = Path(self.dist_dir).glob("transition_parser-*editable*.whl")
        files = {"__init__.py": STAND_IN.format(path=str(PACKAGE / "__init__.py")), "tasks/transition_parsing.py": ""}
        with tempfile.TemporaryDirectory() as folder:
            with zipfile.ZipFile(path) as wheel:
                wheel.extractall(folder)
            for name, text in files.items():
                file = Path(folder, PACKAGE.name, name)
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


setup(
    name="transition-parser",
    version="0.1.0",
    description="Transition-based dependency and AMR parsing as a fairseq plug-in",
    long_description=Path(__file__).with_name("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="MIT",
    license_files=["LICENSE"],
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Science/Research",
        "Natural Language :: English",
        "Operating System :: POSIX",
        "Programming Language :: C",
        "Programming Language :: Python :: 3 :: Only",
        "Programming Language :: Python :: 3.11",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Topic :: Text Processing :: Linguistic",
        "Typing :: Typed",
    ],
    python_requires=">=3.11",
    packages=find_packages(include=["transition_parser*", "oracles*", "preprocess*"], exclude=["tests*"]),
    # Not Python modules but libraries that transition_parser/kernels/loader.py loads. Without them search finds the
    # same more slowly.
    ext_modules=[
        Extension(
            "transition_parser.kernels._search_kernels",
            ["transition_parser/kernels/search_kernels.c"],
            depends=[
                f"transition_parser/kernels/{name}.h" for name in ("variant", "vectors", "attention", "continuations")
            ],
            # These let sums be computed in any order, and know that numbers are finite; -ffast-math would change how
            # all of Python computes.
            extra_compile_args=[
                *("-O3", "-Wno-psabi", "-fno-math-errno", "-fno-trapping-math", "-ffinite-math-only"),
                *("-fassociative-math", "-fno-signed-zeros", "-freciprocal-math", "-pthread"),
            ],
            extra_link_args=["-pthread"],
            optional=True,
        ),
        *(
            Extension(
                f"transition_parser.kernels._{name}_kernels",
                [f"transition_parser/kernels/{name}_kernels.c"],
                extra_compile_args=["-O3"],
                optional=True,
            )
            for name in ("machine", "amr_machine", "legality", "costs")
        ),
    ],
    package_data={
        "transition_parser": ["pretrained/*/*", "reports/*.html", "integrations/page/*", "py.typed"],
        "oracles": ["py.typed"],
        "preprocess": ["py.typed"],
    },
    cmdclass={"build_py": BuildPy, "editable_wheel": EditableWheel},
    install_requires=[
        # fairseq 0.12.2 does not import on Python >= 3.11; this is its main branch with the fixes.
        "fairseq-fixed==0.12.3.1",
        # the version that the work-arounds of transition_parser/compat.py were tested with
        "torch==2.13.0",
        "numpy>=1.26,<3",
        "sentencepiece>=0.2.0",
        "spacy>=3.7,<4",
        # spaCy's tables of English lemmas
        "spacy-lookups-data>=1.0.5",
        "smatch>=1.0.4",
        # the arithmetic of SemBLEU (graphs/sembleu.py); fairseq does not import without it either
        "sacrebleu>=2.4",
        "safetensors>=0.4",
        # the best tree over scores of heads, for graph-based parsers
        "ufal.chu_liu_edmonds>=1.0.3",
        "tqdm>=4.60",
        # the error reports of `score --html`
        "Jinja2>=3.1",
        # the front matter of models' cards
        "PyYAML>=6",
        "matplotlib>=3.8",
    ],
    extras_require={
        # encoders that read words, see --pretrained
        "pretrained": ["transformers>=5.0,<6", "peft>=0.17"],
        # the page and the JSON API, see `serve`
        "serve": ["fastapi>=0.115", "uvicorn>=0.30"],
        "test": [
            # FastAPI's test client; what drives Chromium, which is not installed with it
            "httpx>=0.27",
            "playwright>=1.45",
            "pytest>=8",
            "pytest-xdist>=3.6",
            "penman>=1.3.0",
            "hypothesis>=6.100",
            "ruff==0.17.5",
            "import-linter==2.16",
            "mypy==2.4.1",
            "shtab>=1.7",
        ],
        # what shells need to complete commands (transition-parser completion)
        "completion": ["shtab>=1.7"],
        # the parsers that run/bench measures beside ours
        "bench": ["ufal.udpipe>=1.3", "supar==1.1.4"],
    },
    entry_points={
        "console_scripts": ["transition-parser=transition_parser.cli.main:main"],
        # so that `nlp.add_pipe("transition_parser")` needs no import
        "spacy_factories": [
            "transition_parser=transition_parser.integrations.spacy:make_tree_component",
            "transition_amr=transition_parser.integrations.spacy:make_amr_component",
        ],
    },
)
