"""P74: detection of a question at the end of a sub-agent's answer."""

import pytest

from cognition.delegation.question import question_in


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("QUESTION: which one?", "which one?"),
        ("Done half.\n\nQUESTION: which one?\n\n", "which one?"),
        ("**QUESTION:** which one?", "which one?"),
        ("**QUESTION: which one?**", "which one?"),
        ("   QUESTION:which one?", "which one?"),
        ("```\nx = 1\n```\nQUESTION: which one?", "which one?"),
        ("> He asked.\n\nQUESTION: which one?", "which one?"),
        ("~~~\n```\n~~~\nQUESTION: which one?", "which one?"),
        ("```uv sync``` or ```pip```\n\nQUESTION: which one?", "which one?"),
        ("```sh\nuv sync\n```\nQUESTION: which one?", "which one?"),
        ("QUESTION : lequel ?", "lequel ?"),
        ("QUESTION\N{NO-BREAK SPACE}:\N{NO-BREAK SPACE}lequel ?", "lequel ?"),
        ("**QUESTION** : lequel ?", "lequel ?"),
        ("> He asked.\nQUESTION: which one?", "which one?"),
    ],
)
def test_a_question_in_the_last_line_is_found(text: str, question: str) -> None:
    assert question_in(text) == question


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "Which one?",
        "QUESTION:",
        "**QUESTION:**",
        "QUESTION: which one?\nNever mind.",
        "question: which one?",
        "My QUESTION: which one?",
        "QUESTIONS: which ones?",
        "> QUESTION: which one?",
        "QUESTION which one?",
        "```a\nQUESTION: which one?",
        '"QUESTION: which one?"',
        "- QUESTION: which one?",
        "    QUESTION: which one?",
        "\tQUESTION: which one?",
        "```\nQUESTION: which one?\n```",
        "```\nQUESTION: which one?",
        "````\n```\nQUESTION: which one?",
        "~~~text\nQUESTION: which one?",
        "```\n~~~\nQUESTION: which one?",
        "<file>\nQUESTION: which one?\n</file>",
    ],
)
def test_quotations_code_and_earlier_lines_are_not_questions(text: str) -> None:
    assert question_in(text) == ""
