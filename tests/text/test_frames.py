"""The table of frames: what words evoke, and what is none."""

import pickle

import pytest

from tests.helpers.amr_walks import FRAMES
from transition_parser.base.errors import InputError
from transition_parser.text.frames import Evoked, frames_of, packaged
from transition_parser.text.lemmas import lemmatize


@pytest.mark.parametrize(
    ("lemmas", "following", "evoked"),
    [
        ("dog", "", Evoked("dog")),
        ("give", "", Evoked("give")),
        ("give", "it up", Evoked("give", "give-up")),
        ("give", "a b c d e up", Evoked("give", "give-up")),
        ("give", "a b c d e f up", Evoked("give")),
        ("give up", "", Evoked("give-up")),
        ("gift", "up", Evoked(None, None, "give", "hound")),
        ("follow-up", "", Evoked("follow-up")),
        ("follow", "up", Evoked(None, "follow-up")),
        ("clearly", "", Evoked(None, None, "clear")),
        ("unclear", "", Evoked(None, None, "clear")),
        ("giver", "", Evoked(None, None, "give")),
        ("dogged", "", Evoked(None, None, "dog")),
        ("big apple", "", Evoked(None, None, "new-york")),
        ("zorb", "", Evoked()),
        ("dog dog", "", Evoked()),
    ],
)
def test_what_spans_evoke(lemmas, following, evoked):
    assert FRAMES.evoked(lemmas.split(), (), following.split()) == evoked


def test_forms_evoke_what_their_lemmas_do_not():
    assert FRAMES.evoked(["dog"], ["Dogs"]) == Evoked("dog", None, "hound")


@pytest.mark.parametrize(
    ("form", "lemma"),
    [
        ("Regards", "regard"),
        ("supplies", "supply"),
        ("savings", "save"),
        ("realised", "realize"),
        ("organisation", "organize"),
        ("analyse", "analyze"),
        ("neighbours", "neighbor"),
        ("fulfil", "fulfill"),
        ("'s", "be"),
        ("wan", "want"),
    ],
)
def test_forms_whose_lemma_has_no_frame_evoke_one_nevertheless(form, lemma):
    assert packaged().evoked(lemmatize([form]), [form]) == Evoked(None, None, lemma)


def test_senses_and_roles():
    assert FRAMES.senses("give") == ("01", "03") and FRAMES.senses("zorb") == ()
    assert FRAMES.roles("give", "01") == (0, 1, 2) and FRAMES.roles("give", "02") == ()
    assert FRAMES.roles("out-of-date", "01") == ()


def test_the_table_of_the_package_is_sent_to_other_processes_by_name():
    assert pickle.loads(pickle.dumps(packaged())) is packaged()
    assert len(pickle.dumps(packaged())) < 1000
    again = pickle.loads(pickle.dumps(FRAMES))
    assert again.senses("give") == ("01", "03") and again.version == "test"


def test_versions():
    assert frames_of(packaged().version) is packaged()
    with pytest.raises(InputError, match="made with the frames 'another', but this version of transition-parser has"):
        frames_of("another")
