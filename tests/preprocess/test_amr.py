"""`preprocess amr`: the files, and that search can find every training derivation."""

import json
from pathlib import Path

import pytest
import torch

from tests.conftest import SAMPLE_AMR, run_here
from tests.helpers.tables import SPECIAL
from transition_parser.base.errors import InputError
from transition_parser.graphs.bank import read_bank
from transition_parser.preprocess.amr import AmrOptions, preprocess_amr
from transition_parser.states.machine import make_machine
from transition_parser.states.states import DeviceTable
from transition_parser.states.table import ActionTable
from transition_parser.text.frames import packaged
from transition_parser.text.pieces import Pieces, normalize
from transition_parser.transitions import Action
from transition_parser.transitions.config import ParserConfig

CATS = "# ::id cats\n# ::snt The cats sleep.\n# ::tok The cats sleep .\n(s / sleep-01\n      :ARG0 (c / cat))\n"
ROME = (
    "# ::id rome\n# ::snt The cats saw Rome .\n(s / see-01~2 :ARG0 (c / cat~1)\n"
    '      :ARG1 (c2 / city~3 :wiki "Rome" :name (n / name~3 :op1 "Rome"~3)))\n'
)
LOOP = "# ::id loop\n# ::tok a b\n(s / see-01 :ARG1 s)\n"
BROKEN = "# ::id broken\n# ::tok a b\n(s / see-01\n"
NO_SENTENCE = "# ::id bare\n(s / see-01)\n"
SMALL = AmrOptions(pieces=300)


def bank(path: Path, *entries: str) -> Path:
    path.write_text("\n".join(entries), encoding="utf-8")
    return path


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The sample with 3 labeled SHIFTs."""
    dest = tmp_path_factory.mktemp("preprocessed") / "data"
    preprocess_amr({"train": [SAMPLE_AMR], "valid": [SAMPLE_AMR]}, dest, AmrOptions(400, labeled_shift=3))
    return dest


def test_files(folder):
    assert {path.name for path in folder.iterdir()} == {
        *("train.src", "train.act", "train.amr", "valid.src", "valid.act", "valid.amr"),
        *("spm.model", "parser.json", "lexicon.json", "words.txt"),
    }
    entries, gold = list(read_bank(folder / "train.amr")), list(read_bank(SAMPLE_AMR))
    assert [entry.id for entry in entries] == [entry.id for entry in gold]
    assert all(entry.tokens and all(entry.alignments) for entry in entries)
    assert [entry.text for entry in entries] == [entry.text for entry in gold]
    pieces = Pieces.load(folder)
    spelled = [pieces.words(line.split()) for line in lines(folder / "train.src")]
    assert spelled == [[normalize(form) for form in entry.forms] for entry in entries]
    assert len(lines(folder / "train.act")) == len(entries)


def test_derivations_build_the_graphs_under_the_lexicon(folder):
    """The machine of search, which knows what training has seen, forbids nothing that training does."""
    system = ParserConfig.load(folder).transition_system()
    assert system.lexicon and system.shift_words
    for line, entry in zip(lines(folder / "train.act"), read_bank(folder / "train.amr"), strict=True):
        actions = [Action.parse(token) for token in line.split()]
        graph = system.replay(system.read([normalize(form) for form in entry.forms]), actions)
        assert sorted(graph.labels) == sorted(entry.graph.labels)
        assert len(graph.edges) == len(entry.graph.edges)


def test_labeled_shifts(folder):
    config = ParserConfig.load(folder)
    assert config.shift_words[:2] == (".", "the") and len(config.shift_words) == 3
    tokens = {token for line in lines(folder / "train.act") for token in line.split()}
    shifts = {token for token in tokens if token.startswith("SHIFT")}
    assert shifts == {"SHIFT", *(f"SHIFT({word})" for word in config.shift_words)}
    for line, entry in zip(lines(folder / "train.act"), read_bank(folder / "train.amr"), strict=True):
        found = [token for token in line.split() if token.startswith(("SHIFT", "MERGE"))]
        assert len(found) == len(entry.forms)
        for token, form in zip(found, entry.forms, strict=True):
            assert token == "MERGE" or token == (f"SHIFT({form})" if form in config.shift_words else "SHIFT")


def test_lexicon(tmp_path):
    other = ROME.replace("id rome", "id other").replace('"Rome" ', '"Rome,_Italy" ')
    train = bank(tmp_path / "train.amr", CATS, other, ROME, ROME.replace("id rome", "id again"))
    preprocess_amr({"train": [train], "valid": [train]}, tmp_path / "data", SMALL)
    values = json.loads((tmp_path / "data" / "lexicon.json").read_text(encoding="utf-8"))
    assert values == {
        "format_version": 2,
        "spans": {},  # all are copies
        "wiki": {'city "Rome"': '"Rome"', '"Rome"': '"Rome"'},
        # no role was seen often enough to be borne once; for the targets see tests/transitions/test_amr_limits.py
        "limits": {"once": [], "targets": values["limits"]["targets"]},
        "counts": {"cat": {"COPY_LEMMA": 4}, "rome": {"ENTITY(city)": 3}, "see": {"FRAME(01)": 3}},
    }
    train = bank(tmp_path / "train.amr", CATS, *(ROME.replace("id rome", f"id {i}") for i in range(10)))
    preprocess_amr({"train": [train], "valid": [train]}, tmp_path / "data", SMALL)
    values = json.loads((tmp_path / "data" / "lexicon.json").read_text(encoding="utf-8"))
    assert {"name", "op1"} <= set(values["limits"]["once"])
    german = "# ::id g\n# ::tok Germans do n't sleep\n(s / sleep-01~3 :polarity -~2 :ARG0 (p / person~0 :mod "
    german += '(c / country~0 :name (n / name~0 :op1 "Germany"~0))))\n'
    train = bank(tmp_path / "train.amr", CATS, german)
    preprocess_amr({"train": [train], "valid": [train]}, tmp_path / "data", SMALL)
    lexicon = ParserConfig.load(tmp_path / "data").lexicon
    assert lexicon.spans == {"german": ['ENTITY(country,"Germany")', "PRED(person)"], "not": ["VALUE(-)"]}
    assert lexicon.wiki == {}


def test_silver_amrs_that_search_could_not_make_are_left_out(tmp_path):
    """The limits of gold hold for all silver AMRs that are trained on, and for none where there is no gold."""
    gold = "# ::id g\n# ::tok dogs\n(d / dog~0 :polite + )\n"
    wrong = "# ::id w\n# ::agreement 0.9\n# ::tok cats\n(c / cat~0 :polarity + )\n"
    right = "# ::id r\n# ::agreement 0.9\n# ::tok cats\n(c / cat~0 :polite + )\n"
    for name, entries, kept in (("both", (gold, wrong, right), ["g", "r"]), ("silver", (wrong, right), ["w", "r"])):
        train, folder = bank(tmp_path / f"{name}.amr", *entries), tmp_path / name
        _counts, problems = preprocess_amr({"train": [train], "valid": [train]}, folder, SMALL)
        assert [entry.id for entry in read_bank(folder / "train.amr")] == kept
        left_out = [": sentence w: a silver AMR with + under :polarity, which gold AMRs never have"]
        assert [wanted in str(error) for wanted, error in zip(left_out, problems)] == [True] * (name == "both")


def test_silver_amrs_teach_no_limits_beside_gold_ones(tmp_path):
    """Else the errors of the parser that made them would be legal."""
    gold = "# ::id g\n# ::tok cats\n(c / cat~0)\n"
    silver = "# ::id s\n# ::agreement 0.9\n# ::tok cats\n(c / cat~0 :polite (d / dog~0) :mod + )\n"
    limits = {}
    for name, entries in (("both", (gold, silver)), ("gold", (gold,)), ("silver", (silver,))):
        train = bank(tmp_path / f"{name}.amr", *entries)
        preprocess_amr({"train": [train], "valid": [train]}, tmp_path / name, SMALL)
        limits[name] = ParserConfig.load(tmp_path / name).lexicon.limits
    assert limits["both"] == limits["gold"] != limits["silver"]


def test_frames_name_what_training_has_not_seen(tmp_path):
    gave = "# ::id g\n# ::tok They gave it up\n(g / give-up-07~1 :ARG0 (t / they~0) :ARG1 (i / it~2))\n"
    train = bank(tmp_path / "train.amr", gave)
    preprocess_amr({"train": [train], "valid": [train]}, tmp_path / "data", SMALL)
    config = ParserConfig.load(tmp_path / "data")
    assert config.frames == packaged().version and not config.lexicon.spans
    assert "FRAME(07,particle)" in lines(tmp_path / "data" / "train.act")[0]
    system = config.transition_system()
    sold = [Action.parse(token) for token in "SHIFT COPY_LEMMA SHIFT FRAME(01) ROOT LA(ARG0) REDUCE CLOSE".split()]
    assert system.replay(system.read(["They", "sold"]), sold).labels == ("they", "sell-01")


def test_bad_entries_stop_it_or_are_left_out(tmp_path):
    train = bank(tmp_path / "train.amr", CATS, LOOP, BROKEN, NO_SENTENCE, ROME)
    splits = {"train": [train], "valid": [bank(tmp_path / "valid.amr", ROME, LOOP)]}
    with pytest.raises(InputError, match=r"train\.amr:13: sentence broken: "):
        preprocess_amr(splits, tmp_path / "data", SMALL)
    assert not (tmp_path / "data").exists() and len(list(tmp_path.iterdir())) == 2
    counts, problems = preprocess_amr(splits, tmp_path / "data", AmrOptions(300, skip_bad=True))
    assert counts == {"train": {"sentences": 2, "skipped": 3}, "valid": {"sentences": 1, "skipped": 1}}
    said = [str(problem).partition("\n")[0] for problem in problems]
    assert [line.split(": ")[1] for line in said] == [f"sentence {name}" for name in ("broken", "bare", "loop", "loop")]
    assert [entry.id for entry in read_bank(tmp_path / "data" / "train.amr")] == ["cats", "rome"]
    assert len(lines(tmp_path / "data" / "train.act")) == len(lines(tmp_path / "data" / "train.src")) == 2


def test_an_input_is_never_replaced(tmp_path):
    for name in ("train.amr", "valid.amr", "mine.amr"):
        (tmp_path / name).write_bytes(SAMPLE_AMR.read_bytes())
    command = ("preprocess", "amr", "--valid", SAMPLE_AMR, "--dest", tmp_path, "--pieces", "400", "--train")
    said = run_here(*command, tmp_path / "train.amr", status=2).stderr
    assert "train.amr: would be replaced by a file of the same name" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.amr", "train.amr", "valid.amr"]
    run_here(*command, tmp_path / "mine.amr")
    assert (tmp_path / "mine.amr").read_bytes() == SAMPLE_AMR.read_bytes()


@pytest.mark.slow
def test_processes_change_no_byte(folder, tmp_path):
    splits = {"train": [SAMPLE_AMR], "valid": [SAMPLE_AMR]}
    preprocess_amr(splits, tmp_path / "data", AmrOptions(400, labeled_shift=3, processes=2))
    assert {path.name: path.read_bytes() for path in (tmp_path / "data").iterdir()} == {
        path.name: path.read_bytes() for path in folder.iterdir()
    }


def test_every_training_token_is_legal_in_the_batched_machine(folder):
    config = ParserConfig.load(folder)
    derivations = [line.split() for line in lines(folder / "train.act")]
    tokens = dict.fromkeys([*(token for line in derivations for token in line), *map(str, config.actions())])
    table = ActionTable(config.transition_system(), [*SPECIAL, *tokens])
    words = [entry.forms for entry in read_bank(folder / "train.amr")]
    features = torch.nn.utils.rnn.pad_sequence([torch.tensor(table.features(forms)) for forms in words], True)
    machine = make_machine(DeviceTable(table), torch.tensor([len(forms) for forms in words]), features)
    place = {token: i for i, token in enumerate(table.tokens)}
    for step in range(max(map(len, derivations)) + 1):
        due = torch.tensor([place[line[step]] if step < len(line) else table.end for line in derivations])
        legal = machine.legal().gather(1, due[:, None])[:, 0]
        assert legal.all(), (step, derivations[int((~legal).nonzero()[0])])
        machine.apply(due)
    assert machine.is_final().all()
