#!/usr/bin/env bash
# Trains a model of many languages, such as xx: bash run/recipes/multilingual.sh FOLDER DIR [option of train …] [-- flag …]
# FOLDER has treebanks of Universal Dependencies, one a language, with train.conllu and dev.conllu (UD_German-GSD/…). In
# DIR/corpora they get the codes of their languages as names; the model is then DIR/xx/model. Run it again to resume.
. "$(dirname "${BASH_SOURCE[0]}")/../environment.sh"
[ $# -ge 2 ] && [ -d "$1" ] || usage "FOLDER DIR [option of train …] [-- flag …]"
needs_fairseq
python - "$1" "$2/corpora" <<'END'
import sys
from pathlib import Path

from transition_parser.text.languages import language_of

source, dest = map(Path, sys.argv[1:])
for folder in sorted(source.resolve().glob("UD_*-*")):
    code = language_of(folder.name.removeprefix("UD_").partition("-")[0])
    if code is None:
        sys.stderr.write(f"{folder}: not a language that the package names: left out\n")
        continue
    (dest / code).mkdir(parents=True, exist_ok=True)
    for split in ("train", "dev"):
        link = dest / code / f"{split}.conllu"
        link.unlink(missing_ok=True)
        link.symlink_to(folder / link.name)
END
transition-parser train "$2"/corpora/* -o "$2/xx" --config ud-e5-many --columns upos lemma feats domain "${@:3}"
