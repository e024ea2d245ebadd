"""The commands that come in groups, such as `cognition memory list`; they import late, as those of `main`."""

from typing import Annotated

import typer

from apps.cli.options import (
    Artifact,
    ChatId,
    From,
    Json,
    Limit,
    MemoryId,
    OfChat,
    PolicyAsBefore,
    SkillId,
    SubSid,
    To,
    User,
)


def _group(name: str, told: str) -> typer.Typer:
    return typer.Typer(name=name, help=told, no_args_is_help=True)


memory = _group("memory", "Look at what is remembered, and correct it.")
skills = _group("skills", "Look at the experts, and forge new ones.")
sessions = _group("sessions", "Look at what chats hold, and delete it.")
agents = _group("agents", "Look at the sub-agents of chats, and go on with them.")
admin = _group("admin", "Keep the folder in order.")


@memory.command("list")
def memory_list(
    user: User = "local",
    artifact: Artifact = "",
    limit: Limit = 20,
    start: From = "",
    end: To = "",
    json: Json = False,
) -> None:
    """Show what is remembered, newest first."""
    memory_search("", user, artifact, limit, start, end, json)


@memory.command("search")
def memory_search(
    query: Annotated[str, typer.Argument(help="A question or key words.")],
    user: User = "local",
    artifact: Artifact = "",
    limit: Limit = 20,
    start: From = "",
    end: To = "",
    json: Json = False,
) -> None:
    """Show what answers a question, best first; nothing where nothing does."""
    from apps.cli.commands import memory as command

    command.show(
        user, query=query, artifact_name=artifact, limit=limit, start_date=start, end_date=end, as_json=json
    )


@memory.command("delete")
def memory_delete(memory_id: MemoryId, user: User = "local") -> None:
    """Delete a memory for good."""
    from apps.cli.commands import memory as command

    command.delete(user, memory_id)


@memory.command("undo")
def memory_undo(memory_id: MemoryId, user: User = "local") -> None:
    """Bring back the text that a memory had before its last change."""
    from apps.cli.commands import memory as command

    command.undo(user, memory_id)


@skills.command("list")
def skills_list(user: User = "local", json: Json = False) -> None:
    """Show the experts that there are."""
    from apps.cli.commands import skills as command

    command.show_all(user, as_json=json)


@skills.command("show")
def skills_show(
    skill_id: SkillId,
    user: User = "local",
    version: Annotated[
        int, typer.Option("--version", min=0, show_default=False, help="An older text, by its number.")
    ] = 0,
) -> None:
    """Print an expert's SKILL.md."""
    from apps.cli.commands import skills as command

    command.show(user, skill_id, version)


@skills.command("forge")
def skills_forge(
    skill_id: Annotated[str, typer.Argument(help="Its id: a new one, or that of an expert to change.")],
    file: Annotated[str, typer.Argument(help="The file of its instructions; - reads standard input.")],
    name: Annotated[str, typer.Option("--name", help="The role as people see it.")],
    description: Annotated[str, typer.Option("--description", help="What it does and when to ask.")],
    user: User = "local",
) -> None:
    """Make an expert, or change one; its older text is kept."""
    from apps.cli.commands import skills as command

    command.forge(user, skill_id, name, description, file)


@skills.command("delete")
def skills_delete(skill_id: SkillId, user: User = "local") -> None:
    """Delete an expert of yours for good, with its older texts."""
    from apps.cli.commands import skills as command

    command.delete(user, skill_id)


@skills.command("validate")
def skills_validate(
    path: Annotated[str, typer.Argument(help="The folder of a skill; all that there are if none.")] = "",
    user: User = "local",
) -> None:
    """Say what can't be read as an Agent Skill, and why. The exit code is 1 when there is such."""
    from apps.cli.commands import skills as command

    command.validate(user, path)


@sessions.command("list")
def sessions_list(user: User = "local", json: Json = False) -> None:
    """Show the chats that hold files, sources or sub-agents, the one that changed last first."""
    from apps.cli.commands import sessions as command

    command.show_all(user, as_json=json)


@sessions.command("show")
def sessions_show(chat: ChatId, user: User = "local", json: Json = False) -> None:
    """Show what a chat holds."""
    from apps.cli.commands import sessions as command

    command.show(user, chat, as_json=json)


@sessions.command("close")
@admin.command("close-session")
def sessions_close(chat: ChatId, user: User = "local", json: Json = False) -> None:
    """Delete the files, sources and sub-agents of a chat for good; its messages stay, and all memories."""
    from apps.cli.commands import sessions as command

    command.close(user, chat, as_json=json)


@agents.command("list")
def agents_list(user: User = "local", chat: OfChat = "", json: Json = False) -> None:
    """Show the sub-agents of a chat, or of all, the one that moved last first."""
    from apps.cli.commands import agents as command

    command.show_all(user, chat, as_json=json)


@agents.command("show")
def agents_show(sub_sid: SubSid, user: User = "local", json: Json = False) -> None:
    """Show what was said in a sub-agent's thread."""
    from apps.cli.commands import agents as command

    command.show(user, sub_sid, as_json=json)


@agents.command("resume")
def agents_resume(
    sub_sid: SubSid,
    text: Annotated[
        str, typer.Argument(help="The answer to its question, or a task; none to finish what was cut off.")
    ] = "",
    user: User = "local",
    policy: PolicyAsBefore = None,
    json: Json = False,
) -> None:
    """Go on with a sub-agent. The exit code is 1 when it could not."""
    from apps.cli.commands import agents as command

    command.resume(user, sub_sid, text, policy, as_json=json)


@agents.command("close")
def agents_close(sub_sid: SubSid, user: User = "local", json: Json = False) -> None:
    """End a sub-agent, and delete its thread for good."""
    from apps.cli.commands import agents as command

    command.close(user, sub_sid, as_json=json)
