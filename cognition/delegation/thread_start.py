"""Preparation of a sub-agent's run: the check of its expert and the first input of its thread."""

from pathlib import Path

from cognition.delegation.assignment import Assignment
from cognition.errors import InvalidInput
from cognition.skills.skill import InvalidSkill
from cognition.skills.vault import Vault
from cognition.state.delegation import DelegationInput
from cognition.storage.agent_threads import AgentThread


def check_expert(thread: AgentThread, home: Path) -> None:
    """Check that the skill of a sub-agent still exists, before its thread accepts a task. Blocking.

    Args:
        thread: The thread of the sub-agent.
        home: The home folder.

    Raises:
        InvalidInput: If the skill was deleted or can't be read.
    """
    if not thread.skill_id:
        return
    try:
        Vault(home, thread.user_id).find_skill(thread.skill_id)
    except InvalidSkill as error:
        msg = (
            f"The sub-agent {thread.sub_sid!r} can't continue as {thread.role!r}. {error} Create the skill "
            "again, or close the sub-agent."
        )
        raise InvalidInput(msg) from error


async def initial_input(thread: AgentThread, assignment: Assignment) -> DelegationInput:
    """Return the input for a thread without checkpoints: new, or interrupted before its first one.

    Args:
        thread: The thread of the sub-agent.
        assignment: The assignment.

    Raises:
        InvalidInput: If the thread has lost its checkpoints or a role that was stored only in them.
    """
    if thread.steps or not (thread.skill_id or thread.role == assignment.role):
        raise InvalidInput(lost_thread_message(thread))
    opening = await assignment.opening() if assignment.opening else ""
    return DelegationInput(
        task=f"{opening}\n\n{assignment.task}".strip(),
        system_prompt=assignment.system_prompt,
        skill_id=thread.skill_id,
    )


def lost_thread_message(thread: AgentThread) -> str:
    """Return the error message for a thread whose checkpoints are missing."""
    return (
        f"The thread of the sub-agent {thread.sub_sid!r} is lost, with everything it knew: close it with "
        "close_agent_session, then start a new one and include all it needs to know in the task."
    )
