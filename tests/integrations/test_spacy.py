"""The components of spaCy pipelines."""

import copy
import os
import pickle
import shutil
from itertools import islice

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, Token
from spacy.training import Example
from spacy.vocab import Vocab

from tests.conftest import ROOT, SAMPLE, SAMPLE_AMR, python, run_code, run_here
from tests.helpers import strategies
from transition_parser import Parser
from transition_parser.base.errors import InputError
from transition_parser.graphs.bank import read_bank
from transition_parser.graphs.conllu import Sentence, read_conllu
from transition_parser.graphs.dependency import DependencyTree
from transition_parser.integrations.spacy import noun_chunks, sentences_of, set_trees, tree_sentences
from transition_parser.parsing.parses import Parse
from transition_parser.storage.cards import read_card
from transition_parser.text.characters import shows

TEXT = "  She didn't go to New York.\n\n It rained, alas!   \n"
EWT, AMR = {"model": "en-ewt"}, {"model": "en-amr"}


def trees_of(document: Doc) -> list[DependencyTree]:
    """The tree of each sentence that has words, without white space."""
    found = []
    for words in ([token for token in span if shows(token.text)] for span in document.sents):
        number = {token.i: k for k, token in enumerate(words, 1)}
        heads = [0 if token.head.i == token.i else number[token.head.i] for token in words]
        if words:
            found.append(DependencyTree(tuple(heads), tuple(token.dep_ for token in words)))
            assert found[-1].why_invalid() is None
    return found


def pipeline(*names: str, **config) -> spacy.Language:
    nlp = spacy.blank("en")
    for name in names:
        of_kind = EWT if name == "transition_parser" else AMR
        nlp.add_pipe(name, config={**of_kind, "precision": "fp32", **config})
    return nlp


@pytest.fixture(scope="module")
def trees() -> spacy.Language:
    return pipeline("transition_parser")


@pytest.fixture(scope="module")
def amrs() -> spacy.Language:
    return pipeline("transition_amr")


def of_words(nlp: spacy.Language, words: list[str]) -> Doc:
    """A document of one sentence."""
    return Doc(nlp.vocab, words=words, sent_starts=[i == 0 for i in range(len(words))])


def written(document: Doc) -> list:
    return [(t.head.i, t.dep_, t.pos_, t.lemma_, t.is_sent_start, t._.arc_score) for t in document]


def is_valid(document: Doc) -> None:
    """Each sentence is one tree that no head leaves."""
    reached = 0
    for sentence in document.sents:
        assert sentence.start == reached
        reached = sentence.end
        roots = [token for token in sentence if token.head == token]
        assert len(roots) == 1
        for token in sentence:
            assert sentence.start <= token.head.i < sentence.end
            assert token.dep_
            seen = token
            for _ in range(len(sentence)):
                seen = seen.head
            assert seen == roots[0]
    assert reached == len(document)


# --- the same parses as `parse` -----------------------------------------------------------------------


def check_same_trees(sentences: list[Sentence], nlp: spacy.Language, parser: Parser) -> None:
    plain = [Sentence.from_words(sentence.forms) for sentence in sentences]
    documents = list(nlp.pipe(of_words(nlp, sentence.forms) for sentence in plain))
    for document, parse in zip(documents, parser.parse(plain), strict=True):
        assert trees_of(document) == [parse.tree]
        assert [token.pos_ for token in document] == parse.upos
        assert [token.lemma_ for token in document] == [lemma or "" for lemma in parse.lemmas]
        assert [token._.arc_score for token in document] == pytest.approx(parse.arc_scores, abs=1e-4)


def test_trees_are_those_of_parse(trees):
    check_same_trees(list(read_conllu(SAMPLE)), trees, Parser.load("en-ewt", precision="fp32"))


def test_amrs_are_those_of_parse(amrs):
    entries = list(islice(read_bank(SAMPLE_AMR), 20))
    words = [(entry.tokens or entry.text.split()) for entry in entries]
    parses = Parser.load("en-amr", precision="fp32").parse(words)
    documents = list(amrs.pipe(of_words(amrs, some) for some in words))
    for document, parse in zip(documents, parses, strict=True):
        (sentence,) = document.sents
        assert sentence._.amr.penman == parse.to_penman()
        (text,) = document._.to_amr()
        assert text.endswith(parse.to_penman() + "\n\n")
        aligned = [tuple(token.i for token in tokens) for tokens in sentence._.amr_tokens]
        assert aligned == [*sentence._.amr.alignments]


# --- documents ----------------------------------------------------------------------------------------


def test_names_of_amrs_are_entities_where_the_document_has_none(amrs):
    document = amrs(" He left New York.\n It rained.")
    (name,) = document.ents
    assert (name.text, name.label_, name.kb_id_) == ("New York", "city", "New_York_City")
    document = amrs.make_doc("He left New York.")
    document.ents = [document.char_span(12, 16, "GPE")]
    assert [(entity.text, entity.label_) for entity in amrs(document).ents] == [("York", "GPE")]


def test_tokens_stay_and_sentences_are_found(trees):
    document = trees(TEXT)
    assert document.text == TEXT
    assert [token.text for token in document] == [token.text for token in spacy.blank("en")(TEXT)]
    assert [sentence.text.strip() for sentence in document.sents] == ["She didn't go to New York.", "It rained, alas!"]
    assert [len(tree) for tree in trees_of(document)] == [8, 5]
    is_valid(document)
    assert [(t.dep_, t.pos_, t._.arc_score) for t in document if t.is_space] == [("dep", "SPACE", None)] * 3
    assert all(0 < token._.arc_score <= 1 for token in document if not token.is_space)


@pytest.mark.parametrize("starts", [{}, {3: False}, {3: False, 4: True}, {6: False}, {6: None, 2: True}, {9: True}])
def test_sentence_starts_that_a_component_sets_for_some_tokens(trees, amrs, starts):
    """The segmenter decides on all others: on tokens 4 and 8 of 'He left. Then; no. She ran. Go'."""
    for nlp in (trees, amrs):
        document = nlp.make_doc("He left. Then; no. She ran. Go")
        for token, value in starts.items():
            document[token].is_sent_start = value
        nlp.get_pipe(nlp.pipe_names[0])(document)
        expected = {0, 3, 7, 10} - {i for i, value in starts.items() if value is False}
        assert {span.start for span in document.sents} == expected | {i for i, value in starts.items() if value}


def test_sentences_do_not_start_inside_tokens(trees):
    words = ["Ask", "Stop.Go", "now", ".", "We", "left", "."]
    document = trees(Doc(trees.vocab, words=words, spaces=[True, True, False, True, True, False, False]))
    assert [span.start for span in document.sents] == [0, 4]


def test_tags_and_lemmas_that_a_document_has_are_kept(trees):
    words, pos = ["Dogs", "bark"], ["X", ""]
    plain = trees(of_words(trees, words))
    document = trees(Doc(trees.vocab, words=words, pos=pos, lemmas=["hound", ""], sent_starts=[True, False]))
    assert [token.pos_ for token in document] == ["X", plain[1].pos_] and plain[0].pos_ not in ("X", "")
    assert [token.lemma_ for token in document] == ["hound", "bark"] and plain[0].lemma_ != "hound"


def test_xpos_and_features_that_a_model_predicts():
    def parsed(document: Doc) -> Doc:
        """The document with a tree over Dogs, barked and the full stop."""
        (sentence,) = sentences_of(document)
        tree = DependencyTree((2, 0, 2), ("nsubj", "root", "punct"))
        predicted = {"upos": ("NOUN", "VERB", "PUNCT"), "xpos": ("NNS", "VBD", "."), "feats": ("Number=Plur", "_", "_")}
        tagged = next(tree_sentences(document, [sentence])).with_tags(**predicted)
        set_trees(document, [sentence], [Parse(tagged, tree, (1.0,) * 3)])
        return document

    words, vocab = ["Dogs", " ", "barked", "."], Vocab()
    Token.set_extension("arc_score", default=None, force=True)
    found = parsed(Doc(vocab, words=words))
    assert [token.tag_ for token in found] == ["NNS", "_SP", "VBD", "."]
    assert [str(token.morph) for token in found] == ["Number=Plur", "", "", ""]
    kept = parsed(Doc(vocab, words=words, tags=["own", "", "", ""], morphs=["", "", "Tense=Past", ""]))
    assert [token.tag_ for token in kept] == ["own", "_SP", "VBD", "."]
    assert [str(token.morph) for token in kept] == ["", "", "Tense=Past", ""]  # given features are given for all words


@pytest.mark.parametrize("words", [[], ["\n"], [" ", "\n\n"]])
def test_documents_without_words(trees, amrs, words):
    for nlp in (trees, amrs):
        document = nlp(Doc(nlp.vocab, words=words))
        assert len(document) == len(words)
    document = trees(Doc(trees.vocab, words=words))
    is_valid(document)
    assert trees_of(document) == []
    assert amrs(Doc(amrs.vocab, words=words))._.to_amr() == []


WORDS = st.sampled_from(["She", "sells", "sea", "shells", ".", "Why", "?", "don't", " ", "\n", "\n\n", " \t "])


@given(st.lists(st.tuples(WORDS, st.booleans(), st.sampled_from([None, True, False])), max_size=10), st.booleans())
def test_documents_of_any_tokens_are_valid(trees, given_words, with_sentences):
    words, spaces, starts = (list(column) for column in zip(*given_words)) if given_words else ([], [], [])
    document = Doc(trees.vocab, words=words, spaces=spaces, sent_starts=starts if with_sentences else None)
    had = [token.is_sent_start for token in document]
    trees(document)
    is_valid(document)
    assert all(
        token.is_sent_start == value
        for token, value in zip(document, had, strict=True)
        if value is not None and token.i
    )
    assert sum(map(len, trees_of(document))) == sum(1 for word in words if word.strip())


@given(st.data())
def test_trees_of_any_shape_come_back(data):
    """Also those that are not projective, between and around white space."""
    Token.set_extension("arc_score", default=None, force=True)
    words = data.draw(st.lists(st.sampled_from(["w", "w", "w", " ", "\n"]), min_size=1, max_size=14))
    starts = data.draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
    document = Doc(Vocab(), words=words, sent_starts=starts)
    sentences, parses = sentences_of(document), []
    for sentence in sentences:
        n = len(sentence.words)
        tree = data.draw(strategies.trees(n, min_words=n)) if n else None
        row = Sentence.from_words(["w"] * n)
        parses.append(tree and Parse(row, tree, (0.5,) * n))
    set_trees(document, sentences, parses)
    is_valid(document)
    assert [span.start for span in document.sents] == [sentence.start for sentence in sentences]
    assert trees_of(document) == [parse.tree for parse in parses if parse]


def test_alignments_to_tokens_follow_merged_tokens(amrs):
    document = amrs("The boy wants to sleep.")
    (sentence,) = document.sents
    (node,) = (i for i, label in enumerate(sentence._.amr.graph.labels) if label == "boy")
    assert [token.text for token in sentence._.amr_tokens[node]] == ["boy"]
    with document.retokenize() as retokenizer:
        retokenizer.merge(document[:2])
    assert document[0].text == "The boy" and sentence._.amr_tokens[node] == (document[0],)
    assert document[0:1]._.amr == sentence._.amr


def test_amrs_follow_copied_parts_and_joined_documents(amrs):
    document = amrs("  The boy wants to sleep. It rained.\nShe left.")
    graphs = [span._.amr.graph for span in document.sents]
    second, third = list(document.sents)[1:]
    part = document[second.start : third.end].as_doc(copy_user_data=True)
    assert part._.to_amr() == document._.to_amr()[1:] == document[second.start : third.end]._.to_amr()
    assert second[:1]._.to_amr() == document._.to_amr()[1:2]
    assert document[second.start + 1 : third.end].as_doc(copy_user_data=True)._.to_amr() == document._.to_amr()[2:]
    joined = Doc.from_docs([part, amrs(""), document, second.as_doc(copy_user_data=True)])
    assert [span._.amr.graph for span in joined.sents] == [*graphs[1:], *graphs, graphs[1]]
    tokens = [[token.text for of_node in span._.amr_tokens for token in of_node] for span in joined.sents]
    assert tokens == [[t.text for of in s._.amr_tokens for t in of] for s in (second, third, *document.sents, second)]
    assert len(amrs(joined)._.to_amr()) == 6  # nothing is left of the earlier run


def test_evaluation_by_the_scorer_of_spacy(trees):
    gold = trees("She sells shells. It rained.")
    scores = trees.evaluate([Example(trees.make_doc(gold.text), gold)])
    names = ["dep_uas", "dep_las", "sents_f", "pos_acc", "tag_acc", "morph_acc", "lemma_acc"]
    assert [scores[name] for name in names] == [1] * len(names)
    gold[0].dep_, gold[0].lemma_ = "obj", "it"
    scores = trees.evaluate([Example(trees.make_doc(gold.text), gold)])
    assert scores["dep_las"] < 1 and scores["lemma_acc"] < 1 == scores["dep_uas"]


def test_roots_may_have_the_relation_of_spacy_s_own_parsers():
    nlp = spacy.blank("en")
    nlp.add_pipe("transition_parser", config={"model": "en-fast", "root": "ROOT"})
    document = nlp("We saw a house.")
    assert [token.text for token in document if token.dep_ == "ROOT"] == [next(document.sents).root.text] == ["saw"]
    assert [chunk.text for chunk in document.noun_chunks] == ["We", "a house"]
    assert Parser.load("en-fast").parse("We saw a house.")[0].to_spacy(root="ROOT")[1].dep_ == "ROOT"
    with pytest.raises(InputError, match="root is an option of trees"):
        spacy.blank("en").add_pipe("transition_amr", config={"root": "ROOT"})


def test_both_components_in_one_pipeline():
    document = pipeline("transition_parser", "transition_amr")(TEXT)
    assert len(trees_of(document)) == len(document._.to_amr()) == 2
    assert [span._.amr.id for span in document.sents] == ["1", "2"]
    again = Doc(document.vocab).from_bytes(document.to_bytes())
    assert (trees_of(again), again._.to_amr()) == (trees_of(document), document._.to_amr())
    assert written(again) == written(document)


# --- pipelines ----------------------------------------------------------------------------------------


def test_spacy_finds_the_components_of_an_installed_package(tmp_path):
    """By its entry points, with no import."""
    python("setup.py", "-q", "egg_info", "-e", tmp_path)
    code = """
import sys, spacy
nlp = spacy.blank("en")
assert "transition_parser.parsing.parser" not in sys.modules  # starting spaCy loads nothing heavy of ours
nlp.add_pipe("transition_parser", config={"model": "en-ewt"})
nlp.add_pipe("transition_amr", config={"model": "en-amr"})
doc = nlp("She sleeps.")
assert len(list(doc.sents)) == len(doc._.to_amr()) == 1
"""
    python("-c", code, cwd=tmp_path, PYTHONPATH=os.pathsep.join([str(tmp_path), str(ROOT)]))


def test_an_extension_of_another_package_is_not_replaced(monkeypatch):
    monkeypatch.setitem(spacy.tokens.underscore.Underscore.token_extensions, "arc_score", (7, None, None, None))
    with pytest.raises(ValueError, match="arc_score"):
        pipeline("transition_parser")


def test_a_model_of_other_graphs_is_refused():
    with pytest.raises(InputError, match="en-amr is a model of AMRs, and the component one of trees"):
        pipeline("transition_parser", model="en-amr")("x")
    with pytest.raises(InputError, match="no such checkpoint"):
        pipeline("transition_parser", model="nowhere")("x")


def test_several_processes():
    """spaCy forks; what is parsed travels back in documents."""
    code = f"""
import spacy, transition_parser.integrations.spacy
nlp = spacy.blank("en")
nlp.add_pipe("transition_parser", config={{"model": "en-ewt", "threads": 1}})
nlp.add_pipe("transition_amr", config={{"model": "en-amr", "threads": 1}})
texts = ["She sleeps.", "He ran away. Why?", {TEXT!r}, ""]
there = list(nlp.pipe(texts, n_process=2, batch_size=1))
for text, found in zip(texts, there, strict=True):
    here = nlp(text)
    assert [t.head.i for t in found] == [t.head.i for t in here] and found._.to_amr() == here._.to_amr(), text
    assert [t._.arc_score for t in found] == [t._.arc_score for t in here]
"""
    run_code(code)


# --- saving -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def exported(checkpoint, tmp_path_factory):
    folder = tmp_path_factory.mktemp("spacy") / "my-model"
    run_here("export", checkpoint, "-o", folder)
    return folder


@pytest.mark.parametrize("kind", ["name", "folder", "checkpoint"])
def test_the_model_is_saved_with_the_pipeline(kind, exported, checkpoint, tmp_path):
    source = tmp_path / "model"
    if kind == "folder":
        source.mkdir()
        for file in exported.iterdir():
            (source / file.name).write_bytes(file.read_bytes())
    model = {"name": "en", "folder": str(source), "checkpoint": str(checkpoint)}[kind]
    nlp = pipeline("transition_parser", model=model, beam=2)
    expected = written(nlp(TEXT))
    nlp.to_disk(tmp_path / "nlp")
    if kind == "folder":
        source.rename(tmp_path / "gone")
    again = spacy.load(tmp_path / "nlp")
    assert written(again(TEXT)) == expected and again.get_pipe("transition_parser").parser.beam == 2
    assert len(Parser.load(tmp_path / "nlp" / "transition_parser").parse("She ran.")) == 1
    again.to_disk(tmp_path / "second")  # what was loaded can be saved again, and over itself
    again.to_disk(tmp_path / "nlp")
    for folder in ("second", "nlp"):
        assert written(spacy.load(tmp_path / folder)(TEXT)) == expected
    component = spacy.blank("en").from_config(again.config).from_bytes(again.to_bytes()).get_pipe("transition_parser")
    assert kind == "folder" or written(component(spacy.blank("en")(TEXT))) == expected  # bytes name the model
    component = again.get_pipe("transition_parser")
    assert len(pickle.loads(pickle.dumps(component.parser)).parse("She ran.")) == 1
    pickled = pickle.dumps(component)
    Token.remove_extension("arc_score")  # as in another process
    for other in (pickle.loads(pickled), copy.deepcopy(component)):
        assert written(other(spacy.blank("en")(TEXT))) == expected


def test_a_saved_model_keeps_its_card(exported, tmp_path):
    """Its language decides about edits of AMRs."""
    source = tmp_path / "model"
    shutil.copytree(exported, source)
    (source / "README.md").write_text("---\nlanguage: hu\n---\n", encoding="utf-8")
    pipeline("transition_parser", model=str(source)).to_disk(tmp_path / "nlp")
    assert read_card(tmp_path / "nlp" / "transition_parser").language == "hu"


def test_tokens_that_do_not_show_are_no_words(trees):
    document = trees(Doc(trees.vocab, words=["\u200b", "Bob", "\ufeff", "left", ".", "\u00ad", "She", "ran", "."]))
    plain = trees(Doc(trees.vocab, words=["Bob", "left", ".", "She", "ran", "."]))
    assert [str(tree) for tree in trees_of(document)] == [str(tree) for tree in trees_of(plain)]
    assert [token.dep_ for token in document if token.text in "\u200b\ufeff\u00ad"] == ["dep"] * 3


@pytest.mark.parametrize("flag", ["\U0001f1e9\U0001f1ea", "1\ufe0f\u20e3", "\U0001f468\u200d\U0001f469"])
def test_tokens_that_spacy_makes_of_a_grapheme_cluster_are_words(trees, amrs, flag):
    document = trees(f"The flag {flag} is here.")
    is_valid(document)
    (sentence,) = sentences_of(document)
    shown = [token.text for token in document if shows(token.text)]
    assert next(tree_sentences(document, [sentence])).forms == shown and len(trees_of(document)[0]) == len(shown)
    (span,) = amrs(document.text).sents
    assert list(span._.amr.tokens) == shown


CONFIG = {"model": "en-ewt", "precision": "fp32", "threads": 1}


def tree(vocab: Vocab, text: str) -> Doc:
    """A document of `word/UPOS/head/relation` items; heads are counted from 1, 0 is the root."""
    words, tags, heads, relations = zip(*(item.split("/") for item in text.split()))
    places = [int(head) - 1 if head != "0" else i for i, head in enumerate(heads)]
    return Doc(vocab, words=list(words), pos=list(tags), heads=places, deps=list(relations))


@pytest.mark.parametrize(
    "written, chunks",
    [
        (
            "The/DET/3/det old/ADJ/3/amod house/NOUN/8/nsubj of/ADP/6/case my/PRON/6/nmod:poss friend/NOUN/3/nmod "
            "has/AUX/8/aux burned/VERB/0/root",
            ["The old house", "my friend"],
        ),
        (
            "She/PRON/5/nsubj is/AUX/5/cop really/ADV/5/advmod a/DET/5/det doctor/NOUN/0/root ./PUNCT/5/punct",
            ["She", "a doctor"],
        ),
        (
            "John/PROPN/3/nsubj Smith/PROPN/1/flat saw/VERB/0/root cats/NOUN/3/obj and/CCONJ/7/cc "
            "big/ADJ/7/amod dogs/NOUN/4/conj",
            ["John Smith", "cats", "big dogs"],
        ),
        (
            "Mary/PROPN/3/nmod:poss 's/PART/1/case dog/NOUN/6/compound and/CCONJ/5/cc cat/NOUN/3/conj "
            "food/NOUN/7/nsubj stinks/VERB/0/root",
            ["Mary 's dog and cat food"],
        ),
        ("There/PRON/2/expl rained/VERB/0/root hard/ADV/2/advmod", []),
    ],
)
def test_chunks_are_nominals_with_what_modifies_them_from_the_left(written, chunks):
    document = tree(Vocab(), written)
    found = [document[first:end].text for first, end, _ in noun_chunks(document)]
    assert found == chunks


def test_a_pipeline_with_the_component_has_noun_chunks_of_our_trees():
    nlp = spacy.blank("en")
    before = nlp.make_doc("We bought the red house of his parents.")
    nlp.add_pipe("transition_parser", config=CONFIG)
    chunks = ["We", "the red house", "his parents"]
    assert [chunk.text for chunk in nlp("We bought the red house of his parents.").noun_chunks] == chunks
    assert [chunk.text for chunk in nlp(before).noun_chunks] == chunks
    assert all(chunk.label_ == "NP" for chunk in nlp(before).noun_chunks)
    kept = Doc(nlp.vocab).from_bytes(nlp(before).to_bytes())
    assert [chunk.text for chunk in kept.noun_chunks] == chunks
    assert pickle.loads(pickle.dumps(nlp.vocab)).get_noun_chunks == nlp.vocab.get_noun_chunks


def test_options_reach_the_parser():
    nlp = pipeline("transition_parser", beam=3, threads=2, batch_tokens=500)
    parser = nlp.get_pipe("transition_parser").parser
    assert (parser.beam, parser.threads, parser.batch_tokens) == (3, 2, 500)
    assert nlp.config["components"]["transition_parser"]["beam"] == 3


def test_a_batch_that_fails_goes_to_the_error_handler(trees, monkeypatch):
    nlp = pipeline("transition_parser")
    failed = []
    nlp.set_error_handler(lambda name, component, docs, error: failed.append((name, len(docs), str(error))))
    component = nlp.get_pipe("transition_parser")
    monkeypatch.setattr(type(component), "_write", lambda *_: 1 / 0)
    assert list(nlp.pipe(["a", "b", "c"], batch_size=2)) == []
    assert failed == [("transition_parser", 2, "division by zero"), ("transition_parser", 1, "division by zero")]


def test_languages_without_an_iterator_of_their_own_get_ours():
    nlp = spacy.blank("xx")
    nlp.add_pipe("transition_parser", config=CONFIG)
    assert [chunk.text for chunk in nlp("We saw a house.").noun_chunks] == ["We", "a house"]


def test_tokens_with_white_space_in_them(trees, amrs):
    words = ["New\tYork", "has", "many\nold", "bridges", "."]
    (tree,) = trees_of(trees(of_words(trees, words)))
    assert len(tree) == 5
    document = amrs(of_words(amrs, words))
    (sentence,) = document.sents
    assert len(sentence._.amr.tokens) == 7
    assert {token.text for tokens in sentence._.amr_tokens for token in tokens} <= set(words)


def test_documents_keep_their_order_in_batches(trees):
    texts = [f"She sold {n} shells. " * (n % 4) for n in range(11)]
    documents = list(trees.pipe(texts, batch_size=3))
    assert [document.text for document in documents] == texts
    found, alone = ([row for document in some for row in written(document)] for some in (documents, map(trees, texts)))
    assert [row[:-1] for row in found] == [row[:-1] for row in alone]
    scores, expected = ([row[-1] for row in rows if row[-1] is not None] for rows in (found, alone))
    assert scores == pytest.approx(expected, abs=1e-4)  # sums are rounded otherwise in batches of other sizes


def test_a_sentence_starts_at_a_token_with_what_does_not_show_before_it(trees):
    document = trees.make_doc("He left. \u200bShe ran.")
    assert [span.text for span in trees(document).sents] == ["He left.", "\u200bShe ran."]


def test_documents_without_a_tree_have_no_noun_chunks():
    with pytest.raises(ValueError, match="E029"):
        list(noun_chunks(Doc(Vocab(), words=["a"])))
