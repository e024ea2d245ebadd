"""The `cognition` command. What a command needs is imported when it is asked for: `--help` stays quick."""

import sqlite3
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cognition.levels import Policy


class Boundary(TyperGroup):
    """Turns what the application refuses into one sentence on stderr and exit code 1."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # whatever the terminal's encoding
        try:
            return super().invoke(ctx)
        except typer.BadParameter as wrong:
            wrong.message = wrong.message.removeprefix("Value error, ")  # pydantic's word for its own error
            raise
        except BrokenPipeError:
            raise  # click's way to end quietly when `| head` has read enough
        except (ValueError, RuntimeError, OSError, sqlite3.Error) as error:
            from cognition.cli.refusals import sentence_of
            from cognition.cli.view import printable

            if not (sentence := sentence_of(error)):
                raise
            typer.echo(printable(sentence), err=True)
            raise typer.Exit(1) from None


app = typer.Typer(
    cls=Boundary,
    name="cognition",
    help="An assistant that remembers across conversations and thinks at the level a task asks for.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
memory = typer.Typer(help="Look at what is remembered, and correct it.", no_args_is_help=True)
app.add_typer(memory, name="memory")
skills = typer.Typer(help="Look at the experts, and forge new ones.", no_args_is_help=True)
app.add_typer(skills, name="skills")
sessions = typer.Typer(help="Look at what chats hold, and end it.", no_args_is_help=True)
app.add_typer(sessions, name="sessions")
threads = typer.Typer(help="Look at the sub-agents of chats, and go on with them.", no_args_is_help=True)
app.add_typer(threads, name="threads")
admin = typer.Typer(help="Keep the folder in order.", no_args_is_help=True)
app.add_typer(admin, name="admin")

User = Annotated[str, typer.Option("--user", help="Whose memories are read and written.")]
Chat = Annotated[str, typer.Option("--chat", help="Go on with the chat of this id or name.")]
PolicyOption = Annotated[Policy, typer.Option("--policy", help="The levels that may think.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ChatId = Annotated[str, typer.Argument(help="The chat's id, as `sessions list` shows it, or its name.")]
SubSid = Annotated[str, typer.Argument(help="The sub-agent's id, as `threads list` shows it.")]
MemoryId = Annotated[str, typer.Argument(help="The memory's id, as `memory list` shows it.")]
SkillId = Annotated[str, typer.Argument(help="The expert's id, as `skills list` shows it.")]
Artifact = Annotated[str, typer.Option("--artifact", help="Only this meta-artifact.")]
Limit = Annotated[int, typer.Option("--limit", min=1, help="How many at most.")]
From = Annotated[str, typer.Option("--from", help="Changed on or after: 2026, 2026-05 or 2026-05-17.")]
To = Annotated[str, typer.Option("--to", help="Changed on or before, that day, month or year included.")]


@app.command()
def chat(user: User = "local", chat: Chat = "", policy: PolicyOption = "AUTO_PRO") -> None:
    """Talk. Lines that are piped in are answered one by one."""
    from cognition.cli import chat as command

    command.run(user, chat, policy)


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="What you say; - reads it from standard input.")],
    user: User = "local",
    chat: Chat = "",
    policy: PolicyOption = "AUTO_PRO",
    file: Annotated[
        list[Path] | None, typer.Option("--file", help="A file to ask about; may be given several times.")
    ] = None,
    json: Json = False,
) -> None:
    """Ask once. The exit code is 1 when no model answered."""
    from cognition.cli import ask as command

    command.run(question, user, chat, policy, file or [], as_json=json)


@app.command()
def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files, and folders with --recursive.")],
    user: User = "local",
    chat: Annotated[str, typer.Option("--chat", help="The chat's id or name; a new chat if none.")] = "",
    recursive: Annotated[
        bool, typer.Option("--recursive", "-r", help="Take the files in folders, and in those in them.")
    ] = False,
    json: Json = False,
) -> None:
    """Give files to a chat. Stopped half-way, it goes on when it is started again."""
    from cognition.cli import ingest as command

    command.run(paths, user, chat, recursive=recursive, as_json=json)


@sessions.command("list")
def sessions_list(user: User = "local", json: Json = False) -> None:
    """Show the chats that hold files, sources or sub-agents, the one that changed last first."""
    from cognition.cli import sessions as command

    command.show_all(user, as_json=json)


@sessions.command("show")
def sessions_show(chat: ChatId, user: User = "local", json: Json = False) -> None:
    """Show what a chat holds."""
    from cognition.cli import sessions as command

    command.show(user, chat, as_json=json)


@sessions.command("close")
@admin.command("close-session")
def sessions_close(chat: ChatId, user: User = "local", json: Json = False) -> None:
    """Delete the files, sources and sub-agents of a chat for good; its messages stay, and all memories."""
    from cognition.cli import sessions as command

    command.close(user, chat, as_json=json)


@app.command()
def council(
    question: Annotated[str, typer.Argument(help="What the council is to answer.")],
    participants: Annotated[
        str, typer.Option("--participants", help="Ids of skills, separated by commas; 2 to 5 of them.")
    ] = "",
    rounds: Annotated[int | None, typer.Option("--rounds", help="How often each speaks, 1 to 5.")] = None,
    user: User = "local",
    chat: Annotated[str, typer.Option("--chat", help="Tell the experts what this chat is about.")] = "",
    policy: PolicyOption = "AUTO_PRO",
    json: Json = False,
) -> None:
    """Let experts deliberate. The exit code is 1 when nobody answered."""
    from cognition.cli import council as command

    command.run(question, participants, user, chat, policy, rounds, as_json=json)


@threads.command("list")
def threads_list(user: User = "local", chat: Chat = "", json: Json = False) -> None:
    """Show the sub-agents of a chat, or of all, the one that moved last first."""
    from cognition.cli import threads as command

    command.show_all(user, chat, as_json=json)


@threads.command("show")
def threads_show(sub_sid: SubSid, user: User = "local", json: Json = False) -> None:
    """Show what was said in a sub-agent's thread."""
    from cognition.cli import threads as command

    command.show(user, sub_sid, as_json=json)


@threads.command("resume")
def threads_resume(
    sub_sid: SubSid,
    text: Annotated[str, typer.Argument(help="An answer or a task; none to finish what was cut off.")] = "",
    user: User = "local",
    policy: Annotated[
        Policy | None, typer.Option("--policy", help="The levels that may think; as before if none.")
    ] = None,
    json: Json = False,
) -> None:
    """Go on with a sub-agent. The exit code is 1 when it could not."""
    from cognition.cli import threads as command

    command.resume(user, sub_sid, text, policy, as_json=json)


@threads.command("close")
def threads_close(sub_sid: SubSid, user: User = "local", json: Json = False) -> None:
    """End a sub-agent, and delete its thread for good."""
    from cognition.cli import threads as command

    command.close(user, sub_sid, as_json=json)


@memory.command("list")
@memory.command("search")
def memory_show(
    query: Annotated[str, typer.Argument(help="A question or key words; without it all are shown.")] = "",
    user: User = "local",
    artifact: Artifact = "",
    limit: Limit = 20,
    start: From = "",
    end: To = "",
    json: Json = False,
) -> None:
    """Show what is remembered: what answers a question, best first, or everything, newest first."""
    from cognition.cli import memory as command

    command.show(
        user, query=query, artifact_name=artifact, limit=limit, start_date=start, end_date=end, as_json=json
    )


@memory.command("delete")
def memory_delete(memory_id: MemoryId, user: User = "local") -> None:
    """Delete a memory for good."""
    from cognition.cli import memory as command

    command.delete(user, memory_id)


@memory.command("undo")
def memory_undo(memory_id: MemoryId, user: User = "local") -> None:
    """Bring back the text that a memory had before its last change."""
    from cognition.cli import memory as command

    command.undo(user, memory_id)


@skills.command("list")
def skills_list(user: User = "local", json: Json = False) -> None:
    """Show the experts that there are."""
    from cognition.cli import skills as command

    command.show_all(user, as_json=json)


@skills.command("show")
def skills_show(
    skill_id: SkillId,
    user: User = "local",
    version: Annotated[int, typer.Option("--version", min=0, help="One of its texts, by its number.")] = 0,
) -> None:
    """Print an expert's SKILL.md."""
    from cognition.cli import skills as command

    command.show(user, skill_id, version)


@skills.command("forge")
def skills_forge(
    skill_id: SkillId,
    file: Annotated[str, typer.Argument(help="The file of its instructions; - reads standard input.")],
    name: Annotated[str, typer.Option("--name", help="The role as people see it.")],
    description: Annotated[str, typer.Option("--description", help="What it does and when to ask.")],
    user: User = "local",
) -> None:
    """Make an expert, or change one; its older text is kept."""
    from cognition.cli import skills as command

    command.forge(user, skill_id, name, description, file)


@skills.command("delete")
def skills_delete(skill_id: SkillId, user: User = "local") -> None:
    """Delete an expert of yours for good, with its older texts."""
    from cognition.cli import skills as command

    command.delete(user, skill_id)


@skills.command("validate")
def skills_validate(
    path: Annotated[str, typer.Argument(help="The folder of a skill; all that there are if none.")] = "",
    user: User = "local",
) -> None:
    """Say what can't be read as an Agent Skill, and why. The exit code is 1 when there is such."""
    from cognition.cli import skills as command

    command.validate(user, path)


@app.command()
def doctor(json: Json = False) -> None:
    """Check keys, models, stores and versions; say what is wrong and how to mend it."""
    from cognition.cli import doctor as command

    command.run(as_json=json)


@app.command()
def calibrate(
    model: Annotated[str, typer.Argument(help="A model's name; the one of the settings if none.")] = "",
) -> None:
    """Measure what the cosines of an embedding model mean, and keep that in COGNITION_HOME."""
    from cognition.cli import calibrate as command

    command.run(model)
