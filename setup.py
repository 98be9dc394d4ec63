"""Packaging of transition-parser."""

from pathlib import Path

from setuptools import Extension, find_packages, setup

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
            for name in ("machine", "amr_machine", "legality")
        ),
    ],
    package_data={
        "transition_parser": ["pretrained/*/*", "py.typed"],
        "oracles": ["py.typed"],
        "preprocess": ["py.typed"],
    },
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
        "penman>=1.3.0",
        # for fairseq alone, which does not import without it; nothing here uses BLEU
        "sacrebleu>=2.4",
        "safetensors>=0.4",
        "tqdm>=4.60",
        "matplotlib>=3.8",
    ],
    extras_require={
        "test": ["pytest>=8", "hypothesis>=6.100", "ruff==0.17.5", "import-linter==2.16", "mypy==2.4.1"],
        # the parsers that run/bench measures beside ours
        "bench": ["ufal.udpipe>=1.3", "supar==1.1.4"],
    },
    entry_points={"console_scripts": ["transition-parser=transition_parser.cli.main:main"]},
)
