"""What a sub-agent's thread needs before a run: its expert, and the first time its role and task."""

from pathlib import Path

from cognition.delegation.assignment import Assignment
from cognition.errors import InvalidInput
from cognition.skills.skill import InvalidSkill
from cognition.skills.vault import Vault
from cognition.state.delegation import DelegationInput
from cognition.storage.agent_threads import AgentThread


def check_expert(thread: AgentThread, home: Path) -> None:
    """Refuse an agent whose skill is gone, before its thread takes a task that it can't do; blocking.

    Args:
        thread: The agent's.
        home: The folder that holds everything stored.

    Raises:
        InvalidInput: Its skill is deleted, or can't be read.
    """
    if not thread.skill_id:
        return
    try:
        Vault(home, thread.user_id).find_skill(thread.skill_id)
    except InvalidSkill as refusal:
        msg = (
            f"The sub-agent {thread.sub_sid!r} can't go on as {thread.role!r}. {refusal} Have the skill "
            "forged again, or close the agent."
        )
        raise InvalidInput(msg) from refusal


async def beginning(thread: AgentThread, assignment: Assignment) -> DelegationInput:
    """What a thread without checkpoints is given: a new one, or one that was cut off before its first.

    Args:
        thread: The agent's.
        assignment: Its task.

    Raises:
        InvalidInput: It had checkpoints, or a role that only they knew.
    """
    if thread.steps or not (thread.skill_id or thread.role == assignment.role):
        raise InvalidInput(lost(thread))
    opening = await assignment.opening() if assignment.opening else ""
    return DelegationInput(
        task=f"{opening}\n\n{assignment.task}".strip(),
        system_prompt=assignment.system_prompt,
        skill_id=thread.skill_id,
    )


def lost(thread: AgentThread) -> str:
    """What is said of a thread whose checkpoints are gone."""
    return (
        f"The thread of the sub-agent {thread.sub_sid!r} is lost, and with it what it knew: close it with "
        "close_agent_session, and send off a new one with all that it must know."
    )
