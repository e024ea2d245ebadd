"""What a council is asked for: who sits, on which levels, for how many rounds; or why it can't be held."""

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

LONGEST_QUESTION: Final = 20_000
HISTORY_DEPTH: Final = 20
"""How many of the chat's newest messages are distilled when the caller doesn't say."""


class InvalidCouncil(InvalidInput):
    """A council that can't be held; the sentence says why and what to do. No model was asked.

    Args:
        sentence: For a person, who gets it as the error of a run, through a server too.
        told: For a model, where that differs: it may list the skills with their descriptions.
    """

    def __init__(self, sentence: str, told: str = "") -> None:
        super().__init__(sentence)
        self.told = told or sentence


def question_of(asked: CouncilInput) -> str:
    """The question, without what breaks encoders.

    Raises:
        InvalidCouncil: It is blank, no text or too long.
    """
    question = asked.get("question", "")
    if not isinstance(question, str) or not question.strip():
        msg = f"The question {short_repr(question)} is blank: say what the council is to answer."
        raise InvalidCouncil(msg)
    if len(question) > LONGEST_QUESTION:
        msg = (
            f"The question has {len(question):,} characters, and a council takes {LONGEST_QUESTION:,}: "
            "ask in short, and let the conversation hold the rest."
        )
        raise InvalidCouncil(msg)
    return clean(question).strip()


def named_participants(participants: object) -> list[str]:
    """The ids in a list or in a text that separates them by commas, each once, in their order.

    Raises:
        InvalidCouncil: It is neither.
    """
    parts = [participants] if isinstance(participants, str) else participants
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        msg = f"The participants {short_repr(participants)} are no skill ids: separate them by commas."
        raise InvalidCouncil(msg)
    ids = (part.strip(" \t`'\"[]") for part in re.split(r"[,;\n]", ",".join(parts)))
    return list(dict.fromkeys(filter(None, ids)))


def seated_skills(vault: Vault, ids: Sequence[str], settings: Settings) -> list[Skill]:
    """The skills of the participants, each once; blocking.

    Raises:
        InvalidCouncil: They are too few or too many, or some are unknown: all of these are named, and the
            skills that there are.
    """
    _check_number(ids, vault, settings)
    try:
        found = vault.find_skills(ids)
    except InvalidSkill as refusal:
        raise _without(str(refusal), vault) from None
    skills = list({skill.skill_id: skill for skill in found}.values())
    _check_number([skill.skill_id for skill in skills], vault, settings)
    return skills


def _check_number(ids: Sequence[str], vault: Vault, settings: Settings) -> None:
    if len(ids) < FEWEST:
        given = f" ({short_repr(ids[0])})" if ids else ""
        msg = f"A council needs at least {FEWEST} different participants, and got {len(ids)}{given}."
        raise _without(msg, vault)
    if len(ids) > (most := settings.council_max_participants):
        msg = f"A council seats at most {most} participants, and got {len(ids)}: leave {len(ids) - most} out."
        raise InvalidCouncil(msg)


def _without(reason: str, vault: Vault) -> InvalidCouncil:
    """The refusal of participants, with those that there are."""
    skills = [skill for skill in vault.skills() if isinstance(skill, Skill)]
    lines = [f"\n- {skill.skill_id}: {shorten(skill.description, 160, placeholder='…')}" for skill in skills]
    listed = f"There are:{''.join(lines)}\n" if lines else "There are no skills yet. "
    ids = ", ".join(skill.skill_id for skill in skills) or "no skills yet"
    return InvalidCouncil(
        f"{reason} There are: {ids}.", told=f"{reason} {listed}Forge a missing one with forge_skill."
    )


def seats_of(skills: Sequence[Skill]) -> list[Seat]:
    """A seat for each skill, under an alias that tells the others nothing of it."""
    return [
        Seat(alias=f"Participant {number}", role=skill.title, skill_id=skill.skill_id)
        for number, skill in enumerate(skills, 1)
    ]


def within_ceiling(asked: CouncilInput, key: str, default: Level, policy: Policy) -> tuple[Level, str]:
    """The level that was asked for or the policy's highest, and what is to be said of it.

    Raises:
        InvalidCouncil: It is none of the levels.
    """
    level = asked.get(key) or default
    if level not in LEVELS:
        msg = f"{key} {short_repr(level)} is no level: take one of {', '.join(LEVELS)}."
        raise InvalidCouncil(msg)
    highest = ceiling(policy)
    if LEVELS.index(level) <= LEVELS.index(highest):
        return level, ""
    return highest, f"{key} {level} is above what this chat allows ({highest}), which was taken instead."


def rounds_of(asked: CouncilInput, settings: Settings) -> tuple[int, str]:
    """The number of rounds within the limits, and what is to be said of it.

    Raises:
        InvalidCouncil: It is no whole number.
    """
    most = settings.council_rounds_max
    rounds = _whole_number(asked, "rounds", min(settings.council_rounds_default, most))
    taken = min(max(rounds, 1), most)
    said = f"{rounds} rounds were asked for; {taken} is what is allowed (1–{most})."
    return taken, "" if taken == rounds else said


def depth_of(asked: CouncilInput) -> int:
    """How many of the chat's newest messages are distilled.

    Raises:
        InvalidCouncil: It is no whole number.
    """
    return max(_whole_number(asked, "history_depth", HISTORY_DEPTH), 0)


def focus_of(asked: CouncilInput) -> str:
    """What of the chat matters most to the caller.

    Raises:
        InvalidCouncil: It is no text.
    """
    focus = asked.get("distillation_focus") or ""
    if not isinstance(focus, str):
        msg = f"distillation_focus {short_repr(focus)} is no text."
        raise InvalidCouncil(msg)
    return focus


def _whole_number(asked: CouncilInput, key: str, default: int) -> int:
    value = asked.get(key)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool):
        msg = f"{key} {short_repr(value)} is no whole number."
        raise InvalidCouncil(msg)
    return value
