"""Assignments for sub-agents, and the reports on them."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import sha256
from textwrap import shorten
from typing import Final
from uuid import uuid4

from cognition.errors import InvalidInput
from cognition.skills.skill import MAX_INSTRUCTIONS, Skill
from cognition.state.delegation import AgentOutcome
from cognition.text.blocks import DATA, block
from cognition.text.sanitize import clean

LONGEST_NAME: Final = 80
"""Maximum characters of a role's display name."""

ROLE_KEPT_NOTE: Final = (
    "The sub-agent keeps the role it was created with. To use another role, leave sub_sid empty."
)
"""The note for a caller who gave an existing sub-agent another role."""

QUESTION_FIRST_NOTE: Final = (
    "It was interrupted during an earlier task and has a question about that task; it has not received the "
    "new task. Call it with the answer, or with a task that says what to do about the earlier one."
)
"""The note for a caller whose task has to wait for an answer."""


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """A task for a sub-agent, or the answer to its question.

    Raises:
        InvalidInput: If the task is blank or the role is too long.
    """

    task: str
    system_prompt: str = ""
    """The role of a new sub-agent, in the caller's words."""
    skill: Skill | None = None
    """The expert that a new sub-agent acts as."""
    sub_sid: str = ""
    """The id of an existing sub-agent; empty for a new one."""
    request_id: str = ""
    """The idempotency key: a request that is repeated after a crash is not executed twice."""
    opening: Callable[[], Awaitable[str]] | None = None
    """Returns text to put before the task of a new sub-agent, such as a summary of the chat."""

    def __post_init__(self) -> None:
        for name in ("task", "system_prompt", "sub_sid"):
            object.__setattr__(self, name, clean(getattr(self, name)).strip())
        object.__setattr__(self, "request_id", self.request_id or uuid4().hex)
        if not self.task:
            msg = "The task is blank: describe what the sub-agent should do."
            raise InvalidInput(msg)
        if len(self.system_prompt) > MAX_INSTRUCTIONS:
            msg = (
                f"The system_prompt has {len(self.system_prompt):,} characters, but the limit is "
                f"{MAX_INSTRUCTIONS:,}: shorten it."
            )
            raise InvalidInput(msg)

    @property
    def skill_id(self) -> str:
        """The id of the expert; empty if there is none."""
        return self.skill.skill_id if self.skill else ""

    @property
    def role(self) -> str:
        """The display name of the role: the expert's title, or the start of the caller's description."""
        if self.skill:
            return self.skill.title
        first = self.system_prompt.partition("\n")[0]
        return shorten(first, LONGEST_NAME, placeholder="…") or "agent"

    def new_sid(self, user_id: str, chat_id: str, attempt: int) -> str:
        """Return an id for a new sub-agent.

        The id is `dlg_` and 10 hexadecimal digits, or the id of the skill, `_` and 8 digits. It depends only
        on the request, so that a request repeated after a crash finds the sub-agent it created.

        Args:
            user_id: The user.
            chat_id: The chat.
            attempt: The number of candidate ids that are already in use.
        """
        identity = json.dumps([user_id, chat_id, self.request_id, attempt])
        digits = sha256(identity.encode()).hexdigest()
        return f"{self.skill_id}_{digits[:8]}" if self.skill else f"dlg_{digits[:10]}"


@dataclass(frozen=True, kw_only=True)
class Report:
    """The result of an assignment, with the sub-agent that produced it."""

    sub_sid: str
    role: str
    outcome: AgentOutcome
    note: str = ""
    """A remark for the caller, such as a difference from the request; empty if there is none."""


def finished_first_note(task: str, outcome: AgentOutcome) -> str:
    """Return the note with the result of an interrupted task that was finished before the new one."""
    answer = block("earlier_answer", outcome["text"], task=task, status=outcome["status"], note=DATA)
    return f"It was interrupted during an earlier task and finished that first:\n{answer}"
