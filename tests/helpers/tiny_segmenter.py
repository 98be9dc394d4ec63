"""A tiny treebank in an invented language, and a segmenter that is trained on it in a second."""

from dataclasses import replace
from pathlib import Path

from transition_parser.text.learned_segmentation import LearnedSegmenter
from transition_parser.training.segmenter import SegmenterOptions, train_segmenter, written_sentences

# sentences end with ;; and `du` is `de le`, which English rules do not know
_BLOCKS = (
    "1\tle\n2\tchat\n3-4\tdu\n3\tde\n4\tle\n5\troi\tSpaceAfter=No\n6\t;;",
    "1\til\n2\ta\n3\t20 000\n4\tchats\tSpaceAfter=No\n5\t;;",
    "1-2\tDu\n1\tDe\n2\tle\n3\troi\tSpaceAfter=No\n4\t;;",
)
TINY = SegmenterOptions(epochs=25, size=16, layers=3, dropout=0.0, decay=0.9, rate=0.02)


def write_treebank(path: Path, repeat: int = 20) -> Path:
    """Write the treebank, whose sentences come again and again."""
    path.write_text("".join(map(_block, _BLOCKS * repeat)), encoding="utf-8")
    return path


def tiny_segmenter(folder: Path, pretrained: str | None = None, blanks: bool = True) -> LearnedSegmenter:
    """Return a segmenter of the invented language, which may be written without blanks."""
    treebank = written_sentences([write_treebank(folder / "tiny.conllu")])
    if not blanks:
        treebank = [one._replace(tokens=tuple(t._replace(space_after=False) for t in one.tokens)) for one in treebank]
    return train_segmenter(treebank, replace(TINY, pretrained=pretrained))


def _block(lines: str) -> str:
    rows = (line.split("\t") for line in lines.split("\n"))
    return "".join("\t".join((id_, form, *"_" * 7, *(misc or "_"))) + "\n" for id_, form, *misc in rows) + "\n"
