"""Times of day and numbers that words say."""

import pytest

from transition_parser.text.measures import (
    fractions,
    measures,
    numbers_of_several_words,
    shares,
    times_of_day,
)


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("at 9:30 a.m. and 2:30 p.m .", ["9:30", "14:30"]),
        ("12:05 AM or 12 pm", ["0:05", "12:00"]),
        ("6:45p.m.", ["18:45"]),
        ("at quarter to three", ["2:45"]),
        ("at 8:50 p.m. , half past six , at ten to nine", ["20:50", "6:30", "8:50"]),
        ("at 10:40 today", ["10:40"]),
        ("8 o'clock", ["8:00"]),
        ("at nine thirty I woke , at five fifteen the bell rang", ["9:30", "5:15"]),
        ("it was already a quarter to nine when he came , it was quarter to six", ["8:45", "5:45"]),
        ("it was ten past two , twenty - five minutes past 3 , at six thirty", ["2:10", "3:25", "6:30"]),
        (
            "at six thirty p.m. today , it was ten past two a.m. , it was twenty five past three",
            ["2:10", "3:25", "18:30"],
        ),
        ("five to six men ran past the house , they won 2 to 1 and moved past Ann , it is five to six miles away", []),
        ("around two thirty people came , about six thirty - year - olds , after two thirty - minute talks", []),
        ("I am 5 , Psalm 12:5 , ten to nine people , 9 to 5", []),
        ("a quarter to three beggars , 25:00 pm , 3 p.m.x", []),
    ],
)
def test_times_of_day(text, times):
    assert [said.value for said in times_of_day(text.split())] == times


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("half a million", ["500000"]),
        ("half of a billion", ["500000000"]),
        ("three quarters of a million", ["750000"]),
        ("two and a half million", ["2500000"]),
        ("2 and a half", ["2.5"]),
        ("minus 1,200", ["-1200"]),
        ("minus ten", ["-10"]),
        ("twenty - three and a half", ["23.5"]),
        ("three hundred and thirty - two", ["332"]),
        ("two hundred and fifty thousand , a hundred and fifty two", ["250000", "152"]),
        ("between one hundred and two hundred , party and a half , he and thirty men", []),
        ("lanes 9 - 12 , half a day , a quarter of a year", []),
    ],
)
def test_numbers_of_several_words(text, numbers):
    assert [said.value for said in numbers_of_several_words(text.split())] == numbers


def test_fractions_are_percentages():
    found = fractions("two thirds of it , three quarters of an hour , two fifths".split())
    assert [said.value for said in found] == ["67", "75"]


def test_shares_are_percentages():
    found = shares("one in five boys , two out of three men , one in every ten cats , two in one day , in 5".split())
    assert [said.value for said in found] == ["20", "67", "10"]


def test_measures():
    said = (
        "an hour and a half , three quarters of an hour , 2 years and a half , a quarter of an hour , "
        "minus 12 degrees Celsius , 5 degrees fahrenheit , 90 degrees , six pounds fifty and 4 euros 20 each , "
        "two dollars 20 years ago , five euros two"
    )
    assert [(one.span.value, one.kind, one.unit) for one in measures(said.split())] == [
        ("-12", "temperature", "celsius"),
        ("5", "temperature", "fahrenheit"),
        ("45", "temporal", "minute"),
        ("15", "temporal", "minute"),
        ("1.5", "temporal", "hour"),
        ("2.5", "temporal", "year"),
        ("6.50", "monetary", "pound"),
        ("4.20", "monetary", "euro"),
    ]
