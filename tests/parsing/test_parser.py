"""The Python API."""

import math
import re
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import spacy
import torch

from tests.conftest import SAMPLE, SAMPLE_AMR
from tests.helpers.crosses import needs_int8
from tests.helpers.small_models import encode
from transition_parser import Parser
from transition_parser.base.errors import InputError, ParserWarning
from transition_parser.data import batches
from transition_parser.graphs.bank import parse_bank
from transition_parser.graphs.conllu import parse_conllu, read_conllu
from transition_parser.kernels.encoders import has_fast_bf16
from transition_parser.modules import precision
from transition_parser.modules.contract import ParserModel
from transition_parser.parsing.search import search
from transition_parser.parsing.texts import ToParse
from transition_parser.storage.checkpoints import load_model
from transition_parser.text.pieces import normalize


@pytest.fixture(scope="module")
def parser(checkpoint) -> Parser:
    return Parser.load(checkpoint)


def test_all_kinds_of_input(parser):
    words = ["Dogs", "bark", "."]
    (a,) = parser.parse(["Dogs bark."])
    (b,) = parser.parse("Dogs bark.")
    (c,) = parser.parse([words])
    assert a.tree == b.tree == c.tree and len(a.tree) == len(a.arc_scores) == 3
    sentences = list(read_conllu(SAMPLE))
    from_path, from_objects = parser.parse(Path(SAMPLE)), parser.parse(sentences)
    assert [p.tree for p in from_path] == [p.tree for p in from_objects]
    assert [p.sentence.id for p in from_path] == [s.id for s in sentences]
    assert parser.parse([]) == []
    assert [p.tree for p in parser.parse(s.forms for s in sentences)] == [p.tree for p in from_path]


def test_a_parser_is_called_with_a_text_or_the_words_of_one_sentence(parser):
    words = ["Dogs", "bark", "."]
    (called,) = parser(words)
    assert called.tree == parser.parse([words])[0].tree and parser(tuple(words)) == [called]
    assert [parse.forms for parse in parser("Dogs bark. Cats don't.")] == [words, ["Cats", "do", "n't", "."]]
    assert parser([]) == parser("") == [] and len(parser([words, words])) == 2
    with pytest.raises(InputError, match=r"hold spaces: call parser\.parse for a list of texts"):
        parser(["Dogs bark.", "Cats, too."])


@pytest.mark.parametrize(
    ("model", "shown"),
    [("en-ewt", r"trees: en-ewt, arc-hybrid-swap, spa_dp\w*, 4\.5 M"), ("en-amr", r"AMRs: en-amr, amr, \w+, 8\.\d M")],
)
def test_a_parser_shows_what_it_is(model, shown):
    assert re.fullmatch(f"<Parser of {shown} weights, beam 2, fp32>", repr(Parser.load(model, 2, precision="fp32")))


def test_tokens_alone(parser):
    (first, second), (entry,) = parser.tokenize("Don't! Go."), Parser.load("en-amr").tokenize("Don't go.")
    assert (first.forms, second.spans) == (["Do", "n't", "!"], ((7, 9), (9, 10))) and entry.forms[:2] == ["Do", "n't"]
    assert [one.id for one in parser.tokenize(Path(SAMPLE))] == [one.id for one in read_conllu(SAMPLE)]


@pytest.mark.parametrize(("model", "score"), [("en-fast", "las"), ("en-amr", "smatch")])
def test_files_are_parsed_and_evaluated(model, score, few_amrs, tmp_path):
    parser, path = Parser.load(model, beam=2, nbest=2), SAMPLE if model == "en-fast" else few_amrs
    parsed, again = tmp_path / "parsed", tmp_path / "again"
    figures = parser.evaluate(path, parsed)
    assert figures == parser.formalism.scoring.score(path, parsed) and figures[score]
    assert parser.evaluate(path) == figures
    parser.parse_file(path, again, scores=True)
    parses = parser.parse(Path(path))
    assert again.read_text() == "".join(str(one.annotated(scores=True)) for parse in parses for one in parse.ranked)
    with pytest.raises(InputError, match="is the file CoNLL-U" if model == "en-fast" else "the file is CoNLL-U"):
        parser.evaluate(SAMPLE_AMR if model == "en-fast" else SAMPLE, parsed)
    assert again.exists() and parser.formalism.scoring.score(path, parsed) == figures


def test_evaluation_hides_tags_and_may_begin_with_raw_text():
    parser = Parser.load("en-ewt")
    figures, of_text = parser.evaluate(SAMPLE, conll18=True), parser.evaluate(SAMPLE, segment=True)
    assert figures.pop("conll18") and figures["upos"] < 100
    assert of_text.keys() - figures.keys() == {"tokens_f1", "sentences_f1", "words_f1"}


def test_an_exhaustive_beam_finds_the_best_derivation(parser):
    """A beam that holds every derivation of two words: nothing scores better than what it returns."""
    found = search(parser.model, encode(parser, [["Stop", "!"]]), beam=2000, nbest=2000)[0]
    scores = [hypothesis.score for hypothesis in found]
    assert scores == sorted(scores, reverse=True)
    assert len({tuple(h.tokens) for h in found}) == len(found)
    total = sum(math.exp(sum(h.step_scores)) for h in found)
    assert total == pytest.approx(1.0, abs=1e-3)  # all derivations together are the whole probability


def test_bad_options(checkpoint):
    for beam in (0, 10**9):
        with pytest.raises(InputError, match="beam"):
            Parser.load(checkpoint, beam=beam)


@needs_int8
@pytest.mark.parametrize(("model", "path"), [("en-ewt", SAMPLE), ("en-amr", SAMPLE_AMR)])
@pytest.mark.parametrize("bf16", [True, False], ids=["beside bf16", "beside fp32"])
def test_int8_parses_nearly_alike(model, path, bf16, monkeypatch):
    some = list(Parser.load(model).read(path))[:20]
    full = Parser.load(model, precision="fp32").parse(some)
    if bf16 and not has_fast_bf16(torch.device("cpu")):
        pytest.skip("bf16 is emulated here")
    monkeypatch.setattr(precision, "has_fast_bf16", lambda device: bf16)
    parser = Parser.load(model, precision="int8")
    small = parser.parse(some)
    assert sum(a.actions == b.actions for a, b in zip(full, small, strict=True)) > len(some) // 2
    for part in (parser.model.encoder, parser.model.decoder):
        assert "Int8Linear" in {type(m).__name__ for m in part.modules()}
    for sentence, parse in zip(some, small, strict=True):
        (alone,) = parser.parse([sentence])  # whatever is beside it
        assert alone.actions == parse.actions and alone.mean_log_probability == pytest.approx(
            parse.mean_log_probability, abs=1e-5
        )


@pytest.mark.parametrize(
    ("bf16", "int8", "amx", "expected"),
    [
        (True, True, False, "int8"),
        (True, True, True, "bf16"),
        (True, False, False, "bf16"),
        (False, True, False, "int8"),
        (False, True, True, "int8"),
        (False, False, False, "fp32"),
    ],
)
def test_the_precision_of_auto(monkeypatch, bf16, int8, amx, expected):
    monkeypatch.setattr(precision, "has_fast_bf16", lambda device: bf16)
    monkeypatch.setattr(precision, "has_int8", lambda: int8)
    monkeypatch.setattr(precision, "has_amx", lambda: amx)
    assert precision.checked_precision("auto", torch.device("cpu")) == expected
    assert precision.checked_precision("auto", torch.device("cuda")) == ("bf16" if bf16 else "fp32")


@pytest.mark.parametrize("model", ["en-ewt", "en-amr"])
def test_words_and_their_pieces_are_read_alike(model):
    """Parsing reads words; fairseq's programs read the words that their piece ids spell."""
    resources = Parser.load(model).resources
    sentences = [
        ["Dogs", "bark"],
        ["antidisestablishmentarianism"],
        ["☃", "1 000", "a▁b"],
        ["She", "sleeps", "today", "."],
    ]
    normalized = [[normalize(word) for word in words] for words in sentences]
    found = resources.encode_all(normalized)
    pieces = [[piece for word in resources.pieces.encode(words) for piece in word] for words in sentences]
    assert [t.tolist() for t in found] == [resources.encode_pieces(of_words).tolist() for of_words in pieces]
    assert [resources.words(t.tolist()) for t in found] == normalized


@pytest.mark.parametrize(("model", "path"), [("en-ewt", SAMPLE), ("en-amr", SAMPLE_AMR)])
def test_threads_that_share_a_parser_get_the_parses_of_one(model, path):
    """Each parses the same sentences, from another one on; so do a text, and a stream that is left half read."""
    parser = Parser.load(model, precision="fp32", threads=2)
    sentences = list(parser.read(path))[:12]
    expected = [parse.actions for parse in parser.parse(sentences)]
    of_text = [parse.actions for parse in parser.parse("He ran. Why did she sleep?")]
    before = torch.get_num_threads(), sys.getswitchinterval()

    def parse_from(start: int) -> bool:
        own = sentences[start:] + sentences[:start]
        stream = parser.parse_stream(own, chunk=5)
        half_read = [next(stream).actions for _ in range(3)]
        stream.close()
        found = [parse.actions for parse in parser.parse(own)]
        texts = [parse.actions for parse in parser.parse("He ran. Why did she sleep?")]
        right = expected[start:] + expected[:start]
        return found == right and half_read == right[:3] and texts == of_text

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(parse_from, range(0, 12, 3)))
    assert (torch.get_num_threads(), sys.getswitchinterval()) == before


@pytest.mark.parametrize("options", [{"beam": 4}, {"nbest": 3}, {"beam": 2, "nbest": 2}])
def test_a_model_without_a_beam_says_so(options, monkeypatch):
    monkeypatch.setattr(ParserModel, "searches_directly", True)
    with pytest.warns(ParserWarning, match="en-fast: the model finds .* without a beam: beam and nbest do nothing"):
        Parser.load("en-fast", **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Parser.load("en-fast")


def test_likely_mistakes_are_said_once_with_the_right_way(parser, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("letter.txt").write_text("Dogs bark.")
    for given, way in (("letter.txt", "give a pathlib.Path of"), (["It", "rained", "."], r"as parser\(words\) or")):
        with pytest.warns(ParserWarning, match=way) as caught:
            parser.parse(given)
        assert len(caught) == 1 and caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for given in (
            Path("letter.txt"),
            "letter",
            ["Yes."],
            ["Yes.", "No!"],
            ["Yes", "It rained"],
            [["It", "rained"]],
        ):
            assert parser.parse(given)
        assert parser(["It", "rained"]) and [*parser.stream(["It", "rained"])]


def test_amrs_of_text_that_is_divided_anew_are_not_scored(amr_checkpoint):
    with pytest.raises(InputError, match="segment and conll18 are for trees"):
        Parser.load(amr_checkpoint).evaluate(SAMPLE_AMR, segment=True)


@pytest.mark.parametrize(("name", "meant"), [("EN", "en"), ("en_ewt", "en-ewt"), ("AMR", "amr"), ("en-emr", "en-amr")])
def test_mistyped_names_of_models(name, meant):
    with pytest.raises(InputError, match=rf"^{name}: no such .* model with a name: did you mean {meant}\?$"):
        Parser.load(name)


def test_sentences_to_text():
    """One parse for each string, whatever full stops it holds; joined they are a file."""
    texts = ["She ran. He slept.", " Don't\n go! "]
    for model, read in (("en-ewt", parse_conllu), ("en-amr", parse_bank)):
        parser = Parser.load(model)
        found = parser.parse_sents(texts)
        assert len(found) == 2 and parser.parse_sents([]) == []
        assert parser.parse_sents([texts[0], " \n", ""]) == [found[0], "", ""]
        again = list(read("".join(found).encode().splitlines(keepends=True)))
        assert [entry.forms for entry in again] == [["She", "ran", ".", "He", "slept", "."], ["Do", "n't", "go", "!"]]
        assert [str(entry) for entry in again] == found and "# ::node" not in found[1]
        assert "Don't go!\n" in found[1]
        assert parser.parse_spans([spacy.blank("en")(texts[0])[:]]) == found[:1]
        bare = parser.parse_sents(texts, add_metadata=False)
        assert bare == ["".join(t for t in text.splitlines(True) if t[0] != "#") for text in found] and bare != found


@pytest.mark.parametrize(
    ("model", "beam", "words"),
    [
        ("en-ewt", 1, 1000),
        ("en-ewt", 4, 4000),
        ("en-ewt", 10, 8000),
        ("en-fast", 1, 2000),
        ("en-ewt-minilm", 1, 1000),
        ("en-amr", 1, 2000),
        ("en-amr", 10, 16000),
    ],
)
def test_the_usual_batch_is_of_few_words_on_a_cpu(model, beam, words):
    parser = Parser.load(model, beam)
    assert parser.batch_tokens == words and Parser.load(model, beam, 300).batch_tokens == 300
    assert batches.usual_batch(parser.model.decoder.words_at_once, torch.device("cuda"), beam) == 8000 * min(beam, 4)


@pytest.mark.parametrize("precision", ["fp32", pytest.param("int8", marks=needs_int8)])
@pytest.mark.parametrize(("model", "path"), [("en-ewt", SAMPLE), ("en-amr", SAMPLE_AMR)])
def test_a_sentence_has_the_same_graph_alone_beside_others_and_in_any_order(model, path, precision):
    """So docs/parsing.md says; scores and confidences may differ by 1e-6."""
    close = 1e-6
    parser = Parser.load(model, beam=4, precision=precision)
    sentences = sorted(parser.read(path), key=lambda sentence: len(sentence.forms))[::9][:6]
    together = parser.parse(sentences)
    threads = Parser.load(model, beam=4, batch_tokens=60, precision=precision, threads=3)
    for others in (
        [parser.parse([one])[0] for one in sentences],
        parser.parse(sentences[::-1])[::-1],
        threads.parse(sentences),
    ):
        for parse, other in zip(together, others, strict=True):
            assert str(parse.annotated()) == str(other.annotated())
            assert parse.mean_log_probability == pytest.approx(other.mean_log_probability, abs=close)
            confidences = [one.arc_scores if model == "en-ewt" else one.node_scores for one in (parse, other)]
            assert confidences[0] == pytest.approx(confidences[1], abs=close)


def test_work_that_overlaps_leaves_the_process_as_it_was():
    before = torch.get_num_threads(), sys.getswitchinterval()
    both = [batches.workers(3, torch.device("cpu")) for _ in range(2)]
    for one in both:
        one.__enter__()
    assert sys.getswitchinterval() < before[1]
    for one in both:  # the first to begin is the first to end
        one.__exit__(None, None, None)
    assert (torch.get_num_threads(), sys.getswitchinterval()) == before


def test_a_stream_that_is_half_read_leaves_the_process_as_it_was():
    parser, sentences = Parser.load("en-ewt", threads=3), list(read_conllu(SAMPLE))[:8]
    before = torch.get_num_threads(), sys.getswitchinterval(), threading.active_count()
    stream = parser.parse_stream(sentences, chunk=4)
    for _ in sentences:
        next(stream)
        assert (torch.get_num_threads(), sys.getswitchinterval(), threading.active_count()) == before


@pytest.mark.parametrize(("beam", "last"), [(1, 1000), (2, 500)])
def test_batches_of_a_beam_become_smaller_towards_the_end(beam, last):
    parser = Parser.load("en-ewt", beam, threads=2)
    sizes = [10 * len(batch) for batch in parser._batches([ToParse(None, ["a"] * 10)] * 450)]
    assert sum(sizes) == 4500 and sizes == sorted(sizes, reverse=True)
    assert sizes[0] == 1000 and sizes[-2] == last
    parser.batch_tokens = 8000
    sizes = [10 * len(batch) for batch in parser._batches([ToParse(None, ["a"] * 10)] * 450)]
    assert sizes[0] == 1120 and sizes[-2] == last  # the cores share what one batch could hold


@pytest.mark.skipif(not has_fast_bf16(torch.device("cpu")), reason="bf16 is slow here")
def test_bf16_packs_its_own_copy_and_parses_nearly_alike():
    some = list(read_conllu(SAMPLE))[:40]
    model, resources = load_model("en-ewt")
    full, half = (Parser(model, resources, precision=p) for p in ("fp32", "bf16"))
    assert {p.dtype for p in model.parameters()} == {torch.float}
    for part in (half.model.encoder, half.model.decoder):
        assert "_PackedLinear" in {type(m).__name__ for m in part.modules()}
    assert "_PackedLinear" not in {type(m).__name__ for m in model.modules()}
    heads = [[head for parse in parser.parse(some) for head in parse.tree.heads] for parser in (full, half)]
    assert sum(a == b for a, b in zip(*heads, strict=True)) >= 0.97 * len(heads[0])
