"""The sentences of silver AMRs, from treebanks and from the examples of PropBank's frames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from transition_parser.graphs.bank import EXAMPLE, AmrEntry
from transition_parser.graphs.conllu import Sentence, read_conllu, unspaced
from transition_parser.graphs.propbank import Annotation, Predicate
from transition_parser.parsing.given import Given
from transition_parser.parsing.parser import Parser
from transition_parser.parsing.parses import Parse
from transition_parser.training.silver.facts import facts_of
from transition_parser.training.silver.propbank import Example

LEAST, MOST = 3, 40  # the bounds of the number of words of a sentence


class Source(NamedTuple):
    """A sentence to parse and the facts about it, None where there are none."""

    entry: AmrEntry
    facts: Given | None = None


class Sources:
    """A collector of sentences, each text once.

    excluded: texts to leave out
    inventory: the rolesets that AMR uses
    found: the sentences
    counts: the numbers of predicates, of arguments and of sentences with facts
    left_out: reason → number of sentences or facts that were left out
    annotated: how many sentences of treebanks have PropBank's annotation
    """

    def __init__(self, excluded: Container[str] = (), inventory: Collection[str] = ()) -> None:
        self.excluded, self.inventory = excluded, inventory
        self.found: list[Source] = []
        self.counts: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()
        self.annotated = 0
        self._seen: set[str] = set()

    def add_treebank(self, path: Path, annotations: Mapping[str, Annotation]) -> None:
        """Add the sentences of a CoNLL-U file that have `LEAST` to `MOST` words.

        The new id joins the name of the file and the id of the sentence, or the sentence's number if it has no id.

        annotations: PropBank's annotation of sentences, by their ids

        Raises `InputError` for a broken file, and for annotation whose words differ from the sentence's.
        """
        for number, sentence in enumerate(read_conllu(path), 1):
            annotation = annotations.get(sentence.id or "")
            if annotation is not None:
                annotation.check(sentence.forms)
                self.annotated += 1
            name = unspaced(sentence.id or str(number))
            self._add(f"{path.stem}.{name}", sentence, annotation.predicates if annotation else ())

    def add_examples(self, examples: Iterable[Example], parser: Parser[Parse]) -> None:
        """Add examples of frames.

        parser: a model of trees with tags, to find the heads of arguments
        """
        some = [one for one in examples if " ".join(one.words) not in self._seen]
        parses = parser.parse_stream(Sentence.from_words(one.words) for one in some)
        for example, parse in zip(some, parses, strict=True):
            of = {EXAMPLE: example.predicate.roleset}
            self._add(f"frames.{example.id}", parse.annotated(), [example.predicate], of)

    def _add(
        self, name: str, sentence: Sentence, predicates: Sequence[Predicate], more: Mapping[str, str] | None = None
    ) -> None:
        """Add a sentence, unless its text has come before, is excluded, or is too short or too long.

        more: further metadata of its entry
        """
        words = [*map(unspaced, sentence.forms)]
        text = " ".join(words)
        if not (all(words) and LEAST <= len(words) <= MOST) or text in self._seen:
            return
        self._seen.add(text)
        if text in self.excluded or sentence.text in self.excluded:
            self.left_out["sentence of an excluded text"] += 1
            return
        facts = facts_of(sentence, predicates, self.inventory) if predicates else None
        given = facts.given if facts else None
        self.left_out.update(facts.left_out if facts else {})
        self.counts.update(_counted(given))
        self.found.append(Source(AmrEntry.from_words(words, {"id": name, **(more or {})}), given))

    def __iter__(self) -> Iterator[Source]:
        return iter(self.found)


def _counted(given: Given | None) -> dict[str, int]:
    if given is None:
        return {}
    return {"predicate": len(given.nodes), "argument": len(given.edges), "sentence with facts": 1}
