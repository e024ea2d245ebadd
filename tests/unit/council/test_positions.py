from typing import Any

import pytest

from cognition.council.positions import Position, camps, majority_of, movements, read_position
from cognition.state.council import Statement


def stated(alias: str, current: int, stance: str, confidence: int | None = 50) -> Statement:
    made: Any = {"round": current, "alias": alias, "stance": stance, "confidence": confidence}
    return made


@pytest.mark.parametrize(
    "tail",
    [
        '{"stance": "Split it", "position": "We split.", "confidence": 70}',
        '```json\n{"stance": "Split it",\n "position": "We split.",\n "confidence": 70}\n```',
        '```\n{"confidence": "70 %", "position": "We\n split.", "stance": " Split  it "}\n```\n\n',
        '{"stance": "Split it", "position": "We split.", "confidence": 0.7}',
        '{"stance": "Split it", "position": "We split.", "confidence": "70,4 %", "extra": null}',
        '{"stance": "Split it", "position": "We split.", "confidence": 70, "why": "of {this} and {that"}',
        '{"stance": "Split it", "position": "We split.", "confidence": 70, "why": {"a": {}}}',
    ],
)
def test_a_position_is_parsed_from_the_end_in_any_formatting(tail: str) -> None:
    text, position = read_position(f"Because {{x}}.\n\n{tail}")
    assert text == "Because {x}."
    assert position == Position("Split it", "We split.", 70)


@pytest.mark.parametrize(
    "text",
    [
        "No position at all.",
        'It is {"stance": "Split it", "confidence": 70} in the middle of the text.',
        '{"stance": "Split it", "confidence": 7',
        'An object with other fields: {"a": 1}',
        "{not: json}",
        "",
    ],
)
def test_a_text_without_a_position_is_returned_unchanged(text: str) -> None:
    assert read_position(text) == (text.strip(), Position())


@pytest.mark.parametrize(
    ("confidence", "percent"),
    [
        *(("0", 0), ("100", 100), ("1", 1), ("1.0", 100), ("250", 100), ("-5", 0), ("0.004", 0)),
        *(("true", None), ("null", None), ('"very"', None), ("[70]", None), ("NaN", None), ("1e999", 100)),
    ],
)
def test_a_confidence_is_a_percentage_or_none(confidence: str, percent: int | None) -> None:
    tail = f'{{"stance": "Wait", "confidence": {confidence}}}'
    assert read_position(tail)[1].confidence == percent


def test_a_missing_field_is_filled_from_the_other_and_long_ones_are_shortened() -> None:
    assert read_position('{"position": "We wait."}')[1] == Position("We wait.", "We wait.", None)
    assert read_position('{"stance": "Wait", "position": 7}')[1] == Position("Wait", "Wait", None)
    long = read_position(f'{{"stance": "{"x" * 500}", "position": "{"y " * 500}"}}')[1]
    assert (len(long.stance), len(long.position)) == (80, 400)


def test_stances_are_compared_by_words_only() -> None:
    statements = [stated("A", 1, "Split it!"), stated("B", 1, " split  IT"), stated("C", 1, "Wait")]
    assert [len(camp) for camp in camps(statements)] == [2, 1]
    assert [s["alias"] for s in majority_of(statements)] == ["A", "B"]


def test_half_is_no_majority() -> None:
    assert majority_of([stated("A", 1, "Split"), stated("B", 1, "Wait")]) == []
    assert majority_of([]) == []


def test_the_last_stance_counts_and_an_absence_is_not_a_movement() -> None:
    statements = [
        stated("A", 1, "Wait"),
        stated("B", 1, "Split"),
        stated("A", 2, ""),
        stated("B", 2, "Split", 90),
        stated("A", 3, "Split"),
        stated("B", 3, "Split", 90),
    ]
    changes = movements(statements)
    assert [(m.alias, m.rounds, m.moved) for m in changes] == [("B", (1, 2), False), ("A", (1, 3), True)]
    assert len(majority_of(statements)) == 2
