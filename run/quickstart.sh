#!/usr/bin/env bash
# Sets up, parses a sentence into a tree, one into an AMR, and three in other languages, and says how to go on.
if [ $# -ne 0 ]; then
    echo "usage: bash run/quickstart.sh" >&2
    exit 2
fi
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh" parsing

python - "$root/tests/data" <<'END'
import sys

from transition_parser import Parser
from transition_parser.base.errors import InputError

for name, beam, file, title in (
    ("en", 1, "sentences.txt", "The tree of a sentence: which word depends on which"),
    ("amr", 10, "amr_sentences.txt", "The AMR of a sentence: who does what to whom"),
):
    with open(f"{sys.argv[1]}/{file}", encoding="utf-8") as lines:
        text = next(lines).strip()
    print(f"{title}\n\n{text}\n")
    for parse in Parser.load(name, beam=beam).parse(text):
        print(parse, end="\n\n")

print("Trees of other languages, by one model that finds the language itself\n")
try:
    languages = Parser.load("xx")
except InputError as error:  # its encoder could not be installed
    print(error, end="\n\n")
else:
    for text in ("Die Katze schläft auf dem warmen Dach.", "私は昨日新しい本を買いました。", "ذهب الولد إلى المدرسة صباحا."):
        for parse in languages.parse(text):
            print(f"{text}  ({parse.language})\n\n{parse}", end="\n\n")
END

cat <<'END'
It works. Now parse sentences of your own:

    source .venv/bin/activate
    echo "Type a sentence here." | transition-parser parse en -
    echo "Type a sentence here." | transition-parser parse amr -
    echo "Schreib hier einen Satz." | transition-parser parse de -     # or any of 45 languages
    transition-parser serve         # a page that draws both, in your browser
END
