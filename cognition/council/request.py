"""Validation of a request for a council: question, participants, levels and rounds."""

import re
from collections.abc import Sequence
from reprlib import repr as short_repr
from textwrap import shorten
from typing import Final

from cognition.errors import InvalidInput
from cognition.levels import LEVELS, Level, Policy, ceiling
from cognition.settings import Settings
from cognition.skills.skill import InvalidSkill, Skill
from cognition.skills.vault import Vault
from cognition.state.council import CouncilInput, Seat
from cognition.text.sanitize import clean

FEWEST: Final = 2
"""Minimum number of participants."""

LONGEST_QUESTION: Final = 20_000
"""Maximum characters of a question."""

HISTORY_DEPTH: Final = 20
"""Default number of the chat's newest messages to condense for the participants."""


class InvalidCouncil(InvalidInput):
    """An invalid request for a council. No model was called.

    Args:
        sentence: The message for people, which the server returns as the error of the run.
        for_model: The message for models, if different; it may list the skills with their descriptions.
    """

    def __init__(self, sentence: str, for_model: str = "") -> None:
        super().__init__(sentence)
        self.for_model = for_model or sentence


def question_of(request: CouncilInput) -> str:
    """Return the sanitized question.

    Raises:
        InvalidCouncil: If the question is blank, not a string or too long.
    """
    question = request.get("question", "")
    if not isinstance(question, str) or not question.strip():
        msg = (
            f"Invalid question {short_repr(question)}: expected a non-blank string for the council to answer."
        )
        raise InvalidCouncil(msg)
    if len(question) > LONGEST_QUESTION:
        msg = (
            f"The question has {len(question):,} characters, but the limit is {LONGEST_QUESTION:,}: "
            "shorten it and leave the details to the conversation."
        )
        raise InvalidCouncil(msg)
    return clean(question).strip()


def named_participants(participants: object) -> list[str]:
    """Return the ids from a list or a comma-separated string, in order and without duplicates.

    Raises:
        InvalidCouncil: If the value is neither.
    """
    parts = [participants] if isinstance(participants, str) else participants
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        msg = f"Invalid participants {short_repr(participants)}: expected skill ids separated by commas."
        raise InvalidCouncil(msg)
    ids = (part.strip(" \t`'\"[]") for part in re.split(r"[,;\n]", ",".join(parts)))
    return list(dict.fromkeys(filter(None, ids)))


def seated_skills(vault: Vault, ids: Sequence[str], settings: Settings) -> list[Skill]:
    """Load the skills of the participants, without duplicates. Blocking.

    Raises:
        InvalidCouncil: If there are too few or too many participants, or if some are unknown; the message
            names the unknown ones and the available skills.
    """
    _check_number(ids, vault, settings)
    try:
        found = vault.find_skills(ids)
    except InvalidSkill as error:
        raise _with_available(str(error), vault) from None
    skills = list({skill.skill_id: skill for skill in found}.values())
    _check_number([skill.skill_id for skill in skills], vault, settings)
    return skills


def _check_number(ids: Sequence[str], vault: Vault, settings: Settings) -> None:
    if len(ids) < FEWEST:
        named = f" ({short_repr(ids[0])})" if ids else ""
        msg = f"A council needs at least {FEWEST} different participants, got {len(ids)}{named}."
        raise _with_available(msg, vault)
    if len(ids) > (most := settings.council_max_participants):
        msg = f"A council has at most {most} participants, got {len(ids)}: remove {len(ids) - most}."
        raise InvalidCouncil(msg)


def _with_available(reason: str, vault: Vault) -> InvalidCouncil:
    """Return the error about invalid participants, with a list of the available skills."""
    skills = [skill for skill in vault.skills() if isinstance(skill, Skill)]
    lines = [f"\n- {skill.skill_id}: {shorten(skill.description, 160, placeholder='…')}" for skill in skills]
    listed = f"Available skills:{''.join(lines)}\n" if lines else "There are no skills yet. "
    ids = ", ".join(skill.skill_id for skill in skills) or "none"
    return InvalidCouncil(
        f"{reason} Available skills: {ids}.",
        for_model=f"{reason} {listed}Create a missing skill with forge_skill.",
    )


def seats_of(skills: Sequence[Skill]) -> list[Seat]:
    """Return a seat for each skill, under an alias that does not reveal the skill."""
    return [
        Seat(alias=f"Participant {number}", role=skill.title, skill_id=skill.skill_id)
        for number, skill in enumerate(skills, 1)
    ]


def within_ceiling(request: CouncilInput, key: str, default: Level, policy: Policy) -> tuple[Level, str]:
    """Return the requested level, limited by the policy, and a note if it was lowered.

    Raises:
        InvalidCouncil: If the value is not a level.
    """
    level = request.get(key) or default
    if level not in LEVELS:
        msg = f"Invalid {key} {short_repr(level)}: expected one of {', '.join(LEVELS)}."
        raise InvalidCouncil(msg)
    highest = ceiling(policy)
    if LEVELS.index(level) <= LEVELS.index(highest):
        return level, ""
    return highest, f"{key} {level} is above what this chat allows ({highest}), so {highest} was used."


def rounds_of(request: CouncilInput, settings: Settings) -> tuple[int, str]:
    """Return the number of rounds within the limits, and a note if it differs from the request.

    Raises:
        InvalidCouncil: If the number is not an integer.
    """
    most = settings.council_rounds_max
    rounds = _integer(request, "rounds", min(settings.council_rounds_default, most))
    allowed = min(max(rounds, 1), most)
    note = f"{rounds} rounds were requested; the number was set to {allowed} (allowed: 1–{most})."
    return allowed, "" if allowed == rounds else note


def depth_of(request: CouncilInput) -> int:
    """Return the number of the chat's newest messages to condense.

    Raises:
        InvalidCouncil: If the number is not an integer.
    """
    return max(_integer(request, "history_depth", HISTORY_DEPTH), 0)


def focus_of(request: CouncilInput) -> str:
    """Return the topic that matters most to the caller; empty if none was given.

    Raises:
        InvalidCouncil: If the value is not a string.
    """
    focus = request.get("distillation_focus") or ""
    if not isinstance(focus, str):
        msg = f"Invalid distillation_focus {short_repr(focus)}: expected a string."
        raise InvalidCouncil(msg)
    return focus


def _integer(request: CouncilInput, key: str, default: int) -> int:
    value = request.get(key)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool):
        msg = f"Invalid {key} {short_repr(value)}: expected an integer."
        raise InvalidCouncil(msg)
    return value
