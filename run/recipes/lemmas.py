"""Write the lemmas of a treebank that spaCy's tables do not have, for transition_parser/text/lemmas.tsv.

    python run/recipes/lemmas.py TRAIN.conllu -o lemmas.tsv    # forms whose usual lemma is not that of spaCy's tables
    python run/recipes/lemmas.py TRAIN.conllu --mend MODEL     # columns.json of a model of gold and silver trees

A form is written if two in three of its words have the same lemma, and half are nouns, verbs, adjectives or adverbs.
Silver trees have lemmas that are no words, such as `certifie`. --mend replaces them by those of the tables, or removes
them, so that the model predicts them. It also adds irregular forms and verbs of the tables.
"""

import argparse
from collections import Counter, defaultdict
from pathlib import Path

from shared import options, run, write

from transition_parser.graphs.conllu import read_conllu
from transition_parser.storage.exports import read_config, write_config
from transition_parser.text.columns import LEMMA, PAST, UPOS, Columns, values_of_forms
from transition_parser.text.lemmas import OVERRIDES, apply_rule, lemma_index, replaced, rule_of, table, table_lemma

MISTAKES = {  # other forms with a wrong lemma in spaCy's tables, such as `opera`, there a form of `opus`
    **{form: form for form in """
        acoustics acrobatics aesthetics athletics atlas biceps cola corduroys cornea corps crossroads dice dive
        forceps gemini graffiti gymnastics hypochondria innings insignia jeans kudos lei linguistics logistics
        magi maria measles memorabilia mumps opera optics ourselves pampas physics pliers rebound regalia relent
        resent robotics semantics sepia shorts statistics summons sweepstakes themselves tongs torus towards vs
        wales weed whereas yourselves zirconia
    """.split()},
    **{"weeds": "weed", "asses": "ass", "halves": "half", "calves": "calf", "criteria": "criterion", "laid": "lay",
       "founded": "found", "fleeing": "flee", "mimicked": "mimic", "mimicking": "mimic"},
}  # fmt: skip
PLURALS = {  # that spaCy's tables also list as singulars
    **{"algae": "alga", "bacteria": "bacterium", "businessmen": "businessman", "candelabra": "candelabrum"},
    **{"clostridia": "clostridium", "cocci": "coccus", "dominoes": "domino", "eaves": "eaves", "elves": "elf"},
    **{"fungi": "fungus", "linemen": "lineman", "memoranda": "memorandum", "mycobacteria": "mycobacterium"},
    **{"oxen": "ox", "protozoa": "protozoan", "staphylococci": "staphylococcus", "sterna": "sternum"},
    **{"stigmata": "stigma", "streptococci": "streptococcus", "teeth": "tooth"},
}
# Nouns whose plural ends as that of others: `cookies`, but `stories`
ENDINGS = ("ie", "oe", "che", "xe")
# Of `shan't`, `lemme`, `gimme`, `y'all`
PARTS = {
    **{("sha", "AUX"): "shall", ("lem", "VERB"): "let", ("gim", "VERB"): "give"},
    **{("y'", "PRON"): "you", ("y’", "PRON"): "you"},
}
CONTENT = frozenset({"NOUN", "VERB", "ADJ", "ADV"})


def learned(train: Path) -> dict[str, str]:
    """Return form → lemma, both in lower case, where most words of the form have another lemma than in the tables."""
    lemmas: defaultdict[str, Counter[str]] = defaultdict(Counter)
    content: Counter[str] = Counter()
    for word in (word for sentence in read_conllu(train) for word in sentence.words):
        lemmas[word.form.lower()][word.lemma.lower()] += 1
        content[word.form.lower()] += 1 if word.upos in CONTENT else -1
    found = {}
    for form in sorted({form for form, balance in content.items() if balance >= 0} - OVERRIDES.keys()):
        (lemma, count), *_ = lemmas[form].most_common(1)
        ours = table_lemma(form)
        is_usual = 3 * count >= 2 * lemmas[form].total()
        # the tables give ordinals a number, as AMRs do; the first part of a divided word has the lemma of the whole
        if is_usual and (form + lemma + ours).isalpha() and ours != lemma and lemma.removeprefix(form) in ("", lemma):
            found[form] = lemma
    return found


def lemma_of_tables(form: str, tag: str) -> str | None:
    """Return the lemma that the tables give a content word in lower case; None where they do not have the word."""
    if tag == "NOUN" and form in PLURALS:
        return PLURALS[form]
    kind = tag.lower()
    known, irregular = lemma_index()[kind], table("exc")[kind].get(form, ())
    if form in MISTAKES or (form in known and not (irregular and tag == "VERB")):
        return MISTAKES.get(form, form if tag == "VERB" else None)
    if irregular and (tag == "VERB" or len(form) > 3):  # not `dui` of `duo`
        return OVERRIDES[form] if OVERRIDES.get(form) in irregular else irregular[0]
    stems = (form.removesuffix(suffix) + ending for suffix, ending in table("rules")[kind] if form.endswith(suffix))
    return next((stem for stem in stems if stem in known), None)


def mended(columns: Columns, train: Path) -> Columns:
    """Return columns in which content words that `train` lacks have known lemmas of their tag.

    Rules that replace a whole form, or change a number, are left for forms of `train` alone, the forms with several
    lemmas in `train` get them all, and irregular forms, verbs and some nouns of the tables are added.
    """
    sentences = list(read_conllu(train))
    words = {(word.form, word.upos): word.lemma.lower() for one in sentences for word in one.words}
    of_train = {(form.lower(), tag) for form, tag in words}
    known = {tag: lemma_index()[tag.lower()].union(words[word] for word in words if word[1] == tag) for tag in CONTENT}
    forms = {}
    for (form, tag), rule in columns.forms[LEMMA].items():
        lower, lemma = form.lower(), apply_rule(form, rule.split()[0]).lower()
        if (lower, tag) not in of_train:
            of_tables = lemma_of_tables(lower, tag) if tag in CONTENT else None
            if of_tables not in (None, lemma):
                rule = rule_of(form, of_tables)
            elif (
                (tag in CONTENT and lemma not in {lower, *known[tag]})
                or replaced(form, rule)[0] == lower != lemma
                or [*filter(str.isdigit, lower)] != [*filter(str.isdigit, lemma)]
            ):
                continue
        forms[form, tag] = rule
    for (form, tag), rules in values_of_forms(sentences, (UPOS, LEMMA))[LEMMA].items():
        if " " in rules:
            usual = lemma_of_tables(form.lower(), tag) if tag == "NOUN" else None
            rule = rule_of(form, usual) if usual else ""
            forms.setdefault((form, tag), rule if rule in rules.split() else rules)
    irregular = {(form, tag) for tag in CONTENT for form in table("exc")[tag.lower()]}
    verbs = lemma_index()["verb"]
    nouns = {noun for noun in lemma_index()["noun"] if noun.endswith(ENDINGS)} | PLURALS.keys()
    added = {pair: lemma_of_tables(*pair) for pair in irregular | {(verb, "VERB") for verb in verbs}}
    added |= {(noun, "NOUN"): PLURALS.get(noun, noun) for noun in nouns}
    past = {verb: one for verb in verbs if verb != (one := table("exc")["verb"].get(verb, [verb])[0])}
    added |= {(f"{verb.removesuffix('e')}ed", "VERB"): verb for verb in past if not verb.endswith("y")}
    for pair, lemma in sorted({**added, **PARTS}.items()):
        if lemma and (pair in PARTS or (pair[0] + lemma).isalpha()) and pair not in of_train and pair not in forms:
            forms[pair] = rule_of(pair[0], lemma)
    rules = {(verb, "VERB"): rule_of(verb, lemma) for verb, lemma in sorted(past.items())}
    return Columns(columns.values, {**columns.forms, LEMMA: forms, PAST: rules}, columns.seen, columns.of_domains)


def make(arguments: argparse.Namespace) -> None:
    """Write the table, or mend a model."""
    if arguments.output:
        lemmas = {**learned(arguments.train), **MISTAKES}
        write(arguments.output, "".join(f"{form}\t{lemma}\n" for form, lemma in sorted(lemmas.items())))
    if arguments.mend:
        exported, columns = read_config(arguments.mend), Columns.load(arguments.mend)
        mended(columns, arguments.train).save(arguments.mend)
        write_config(arguments.mend, exported)


if __name__ == "__main__":
    of = options(__doc__)
    of.add_argument("train", type=Path, metavar="TRAIN.conllu")
    of.add_argument("-o", "--output", metavar="FILE")
    of.add_argument("--mend", type=Path, metavar="MODEL", help="folder of a model of English trees")
    run(of, make)
