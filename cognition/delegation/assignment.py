"""What a sub-agent is to do, who it is, and what came of it."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import sha256
from textwrap import shorten
from typing import Final
from uuid import uuid4

from cognition.errors import InvalidInput
from cognition.skills.skill import MOST_INSTRUCTIONS, Skill
from cognition.state.delegation import AgentOutcome
from cognition.text.blocks import DATA, block
from cognition.text.sanitize import clean

LONGEST_NAME: Final = 80
"""Characters of a role that serve as its name."""


KEEPS_ITS_ROLE: Final = "The agent keeps the role that it was opened with; leave sub_sid empty for another."
ASKS_FIRST: Final = (
    "It had been cut off at an earlier task and asks this about it; the new task was not given to it. Call "
    "it with the answer, or with a task that says what becomes of the earlier one."
)


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """A task for a sub-agent, or the answer to its question.

    Raises:
        InvalidInput: The task is blank, or the role too long.
    """

    task: str
    system_prompt: str = ""
    """Who a new agent is, in the caller's words."""
    skill: Skill | None = None
    """The expert that a new agent is."""
    sub_sid: str = ""
    """The agent that is gone on with; empty for a new one."""
    request_id: str = ""
    """The same for the same request: when it comes again after a crash, nothing is done twice."""
    opening: Callable[[], Awaitable[str]] | None = None
    """Makes what a new agent is told before its task."""

    def __post_init__(self) -> None:
        for name in ("task", "system_prompt", "sub_sid"):
            object.__setattr__(self, name, clean(getattr(self, name)).strip())
        object.__setattr__(self, "request_id", self.request_id or uuid4().hex)
        if not self.task:
            msg = "The task is blank: say what the sub-agent shall do."
            raise InvalidInput(msg)
        if len(self.system_prompt) > MOST_INSTRUCTIONS:
            msg = (
                f"The system_prompt has {len(self.system_prompt):,} characters: give at most "
                f"{MOST_INSTRUCTIONS:,}."
            )
            raise InvalidInput(msg)

    @property
    def skill_id(self) -> str:
        """The id of the expert; empty for none."""
        return self.skill.skill_id if self.skill else ""

    @property
    def role(self) -> str:
        """A name for the agent: the expert's, or the beginning of what the caller says that it is."""
        if self.skill:
            return self.skill.title
        first = self.system_prompt.partition("\n")[0]
        return shorten(first, LONGEST_NAME, placeholder="…") or "agent"

    def new_sid(self, user_id: str, chat_id: str, attempt: int) -> str:
        """An id for a new agent: `dlg_` and 10 hexadecimal digits, or the skill's id, `_` and 8.

        It follows from the request, so that one which comes again after a crash finds its agent again.

        Args:
            user_id: Whose agent.
            chat_id: Of which chat.
            attempt: How many ids are taken by others.
        """
        told = json.dumps([user_id, chat_id, self.request_id, attempt])
        digits = sha256(told.encode()).hexdigest()
        return f"{self.skill_id}_{digits[:8]}" if self.skill else f"dlg_{digits[:10]}"


@dataclass(frozen=True, kw_only=True)
class Report:
    """What came of an assignment, and from whom."""

    sub_sid: str
    role: str
    outcome: AgentOutcome
    note: str = ""
    """What was done otherwise than asked."""


def finished_first_note(asked: str, outcome: AgentOutcome) -> str:
    """What came of the task that a thread had been cut off at, for the caller who gave it another."""
    told = block("earlier_answer", outcome["text"], task=asked, status=outcome["status"], note=DATA)
    return f"It had been cut off at an earlier task, and finished that first:\n{told}"
