"""The command groups, such as `cognition memory`. Commands import their dependencies as in `main`."""

from typing import Annotated

import typer

from apps.cli.options import (
    Artifact,
    ChatFilter,
    ChatId,
    From,
    Json,
    Limit,
    MemoryId,
    ResumePolicy,
    SkillId,
    SubSid,
    To,
    User,
)


def _group(name: str, help_text: str) -> typer.Typer:
    return typer.Typer(name=name, help=help_text, no_args_is_help=True)


memory = _group("memory", "List, search, delete and restore memories.")
skills = _group("skills", "List, show, create and delete experts.")
sessions = _group("sessions", "List, show and delete the files, sources and sub-agents of chats.")
agents = _group("agents", "List, show, resume and close sub-agents.")
admin = _group("admin", "Maintain the home folder.")


@memory.command("list")
def memory_list(
    user: User = "local",
    artifact: Artifact = "",
    limit: Limit = 20,
    start: From = "",
    end: To = "",
    json: Json = False,
) -> None:
    """List memories, newest first."""
    memory_search("", user, artifact, limit, start, end, json)


@memory.command("search")
def memory_search(
    query: Annotated[str, typer.Argument(help="A question or keywords.")],
    user: User = "local",
    artifact: Artifact = "",
    limit: Limit = 20,
    start: From = "",
    end: To = "",
    json: Json = False,
) -> None:
    """Search memories, best match first. Memories that don't match are left out."""
    from apps.cli.commands import memory as command

    command.show(
        user, query=query, artifact_name=artifact, limit=limit, start_date=start, end_date=end, as_json=json
    )


@memory.command("delete")
def memory_delete(memory_id: MemoryId, user: User = "local") -> None:
    """Delete a memory permanently."""
    from apps.cli.commands import memory as command

    command.delete(user, memory_id)


@memory.command("undo")
def memory_undo(memory_id: MemoryId, user: User = "local") -> None:
    """Restore the text that a memory had before its last change."""
    from apps.cli.commands import memory as command

    command.undo(user, memory_id)


@skills.command("list")
def skills_list(user: User = "local", json: Json = False) -> None:
    """List the available experts."""
    from apps.cli.commands import skills as command

    command.show_all(user, as_json=json)


@skills.command("show")
def skills_show(
    skill_id: SkillId,
    user: User = "local",
    version: Annotated[
        int,
        typer.Option(
            "--version",
            min=0,
            show_default=False,
            help="The number of a version; omit it to print the current one.",
        ),
    ] = 0,
) -> None:
    """Print the SKILL.md of an expert."""
    from apps.cli.commands import skills as command

    command.show(user, skill_id, version)


@skills.command("forge")
def skills_forge(
    skill_id: Annotated[str, typer.Argument(help="A new id, or the id of an expert to change.")],
    file: Annotated[str, typer.Argument(help="A file with the instructions; - reads standard input.")],
    name: Annotated[str, typer.Option("--name", help="The display name of the role.")],
    description: Annotated[
        str, typer.Option("--description", help="What the expert does and when to consult it.")
    ],
    user: User = "local",
) -> None:
    """Create or change an expert. Older versions are kept."""
    from apps.cli.commands import skills as command

    command.forge(user, skill_id, name, description, file)


@skills.command("delete")
def skills_delete(skill_id: SkillId, user: User = "local") -> None:
    """Delete one of your own experts permanently, with its older versions."""
    from apps.cli.commands import skills as command

    command.delete(user, skill_id)


@skills.command("validate")
def skills_validate(
    path: Annotated[
        str, typer.Argument(help="The folder of a skill; omit it to check all available skills.")
    ] = "",
    user: User = "local",
) -> None:
    """Check that experts are valid Agent Skills. The exit code is 1 if any is not."""
    from apps.cli.commands import skills as command

    command.validate(user, path)


@sessions.command("list")
def sessions_list(user: User = "local", json: Json = False) -> None:
    """List the chats that hold files, sources or sub-agents, most recently changed first."""
    from apps.cli.commands import sessions as command

    command.show_all(user, as_json=json)


@sessions.command("show")
def sessions_show(chat: ChatId, user: User = "local", json: Json = False) -> None:
    """Show the files, sources and sub-agents of a chat."""
    from apps.cli.commands import sessions as command

    command.show(user, chat, as_json=json)


@sessions.command("close")
@admin.command("close-session")
def sessions_close(chat: ChatId, user: User = "local", json: Json = False) -> None:
    """Delete a chat's files, sources and sub-agents permanently. Its messages and all memories are kept."""
    from apps.cli.commands import sessions as command

    command.close(user, chat, as_json=json)


@agents.command("list")
def agents_list(user: User = "local", chat: ChatFilter = "", json: Json = False) -> None:
    """List the sub-agents of all chats or of one, most recently active first."""
    from apps.cli.commands import agents as command

    command.show_all(user, chat, as_json=json)


@agents.command("show")
def agents_show(sub_sid: SubSid, user: User = "local", json: Json = False) -> None:
    """Show a sub-agent and the messages of its thread."""
    from apps.cli.commands import agents as command

    command.show(user, sub_sid, as_json=json)


@agents.command("resume")
def agents_resume(
    sub_sid: SubSid,
    text: Annotated[
        str,
        typer.Argument(help="The answer to its question, or a new task; omit it to finish its last task."),
    ] = "",
    user: User = "local",
    policy: ResumePolicy = None,
    json: Json = False,
) -> None:
    """Resume a sub-agent. The exit code is 1 if it failed."""
    from apps.cli.commands import agents as command

    command.resume(user, sub_sid, text, policy, as_json=json)


@agents.command("close")
def agents_close(sub_sid: SubSid, user: User = "local", json: Json = False) -> None:
    """Close a sub-agent and delete its thread permanently."""
    from apps.cli.commands import agents as command

    command.close(user, sub_sid, as_json=json)
