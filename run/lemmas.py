"""Write the lemmas of a treebank that spaCy's tables do not have, for transition_parser/text/lemmas.tsv.

    python run/lemmas.py TRAIN.conllu -o lemmas.tsv        # forms whose usual lemma is not that of spaCy's tables
    python run/lemmas.py --test TEST.conllu                # how many content words have their lemma
    python run/lemmas.py TRAIN.conllu --mend MODEL         # columns.json of a model that learned from silver trees, too

A form is written if two in three of its words have the same lemma, and half are nouns, verbs, adjectives or adverbs.
Silver trees have lemmas that are no words, such as `certifie`. --mend replaces them by those of the tables, or removes
them, so that the model predicts them.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from pathlib import Path

from transition_parser.graphs.conllu import read_conllu
from transition_parser.storage.exports import read_config, write_config
from transition_parser.text.columns import LEMMA, Columns
from transition_parser.text.lemmas import OVERRIDES, lemma_index, lemma_of, lemmatise, rule_of, table, table_lemma

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


def mended(columns: Columns, train: Path) -> Columns:
    """Return columns whose content words, if `train` lacks them, have known lemmas of their tag."""
    words = {(word.form, word.upos): word.lemma.lower() for one in read_conllu(train) for word in one.words}
    known = {tag: lemma_index()[tag.lower()].union(words[word] for word in words if word[1] == tag) for tag in CONTENT}
    forms = {}
    for (form, tag), rule in columns.forms[LEMMA].items():
        lemma, lower = lemma_of(form, rule).lower(), form.lower()
        irregular = table("exc")["verb"].get(lower, ()) if tag == "VERB" else ()
        is_known = lemma in irregular if irregular else lemma == lower or lemma in known.get(tag, ())
        if (form, tag) not in words and tag in CONTENT and not is_known:
            lemma = irregular[0] if irregular else lemmatise([form])[0]
            if lemma == lower or not any(lemma in lemmas for lemmas in known.values()):
                continue
            rule = rule_of(form, lemma)
        forms[form, tag] = rule
    return Columns(columns.values, {**columns.forms, LEMMA: forms}, columns.seen, columns.of_domains)


def main() -> None:
    of = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    of.add_argument("train", nargs="?", type=Path, metavar="TRAIN.conllu")
    of.add_argument("-o", "--output", type=Path, metavar="FILE")
    of.add_argument("--test", type=Path, metavar="TEST.conllu")
    of.add_argument("--mend", type=Path, metavar="MODEL", help="folder of a model of English trees")
    options = of.parse_args()
    if options.train and options.output:
        lemmas = {**learned(options.train), **MISTAKES}
        lines = [f"{form}\t{lemma}\n" for form, lemma in sorted(lemmas.items())]
        options.output.write_text("".join(lines), encoding="utf-8")
    if options.train and options.mend:
        exported, columns = read_config(options.mend), Columns.load(options.mend)
        mended(columns, options.train).save(options.mend)
        write_config(options.mend, *exported)
    if options.test:
        words = [word for sentence in read_conllu(options.test) for word in sentence.words if word.upos in CONTENT]
        right = sum(
            one == word.lemma.lower() for one, word in zip(lemmatise([w.form for w in words]), words, strict=True)
        )
        print(f"{right} of {len(words)} content words have their lemma: {100 * right / len(words):.2f} %")


if __name__ == "__main__":
    main()
