import pytest
from hypothesis import given
from hypothesis import strategies as st

from transition_parser.transitions import Action, Kind

labels = st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"])))


@given(st.sampled_from(Kind), labels)
def test_tokens_are_exact(kind, label):
    action = Action(kind, label)
    assert Action.parse(str(action)) == action


@given(st.sampled_from(Kind), st.text(st.characters(exclude_categories=["Cs"])))
def test_a_token_is_one_word_of_a_line(kind, label):
    assert str(Action(kind, label)).split() == [str(Action(kind, label))]


@pytest.mark.parametrize("label", ["a b", "(", ")", '"', "'", "%", "%20", "ü", "\t", "\u2028", "", "x(y)"])
def test_odd_labels(label):
    token = str(Action(Kind.LEFT_ARC, label))
    assert token.count("(") == token.count(")") == 1
    assert Action.parse(token).label == label


@pytest.mark.parametrize("token", ["<pad>", "</s>", "LEFT-ARC(", "left-arc", "JUMP", "", "SHIFT(a)b"])
def test_other_tokens_are_no_actions(token):
    with pytest.raises(ValueError):
        Action.parse(token)
