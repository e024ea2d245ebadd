"""Experts, on the command line."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from apps.cli.terminal.view import printable, readable
from cognition.errors import InvalidInput
from cognition.settings import process_settings
from cognition.skills.skill import InvalidSkill, Skill
from cognition.skills.vault import FILE, UnreadableSkill, Vault, read_folder

WHOSE = {"shipped": "shipped", "user": "your own"}


def show_all(user: str, *, as_json: bool) -> None:
    """Print the experts that a user can reach, and what can't be read with the reason."""
    vault = _vault(user)
    entries = vault.skills()
    if as_json:
        typer.echo(json.dumps(_listing(entries, vault.folder), ensure_ascii=False, indent=2))
    else:
        lines = [_line(entry) for entry in entries]
        typer.echo(printable("\n".join([*lines, f"Your own are in {vault.folder}"])))


def show(user: str, skill_id: str, version: int) -> None:
    """Print a SKILL.md, as it is or as it was.

    Args:
        user: Whose vault it is.
        skill_id: Which skill.
        version: The number of a text; 0 for the one that counts.

    Raises:
        InvalidInput: There is no such skill or version.
    """
    vault = _vault(user)
    text = vault.get_skill_content(skill_id)
    older = vault.versions(skill_id)
    known = {**older, max(older, default=0) + 1: text}
    if version and version not in known:
        msg = f"{skill_id!r} has no version {version}: there are {_numbers(known)}."
        raise InvalidInput(msg)
    typer.echo(printable(known[version] if version else text), nl=False)
    if older and not version:
        typer.echo(f"Older versions: {_numbers(older)}; --version shows one.", err=True)


def forge(user: str, skill_id: str, name: str, description: str, file: str) -> None:
    """Make an expert, or change one.

    Args:
        user: Whose it is.
        skill_id: Its id.
        name: The name for people.
        description: What it does and when to ask.
        file: The path of its instructions; `-` is standard input.

    Raises:
        InvalidInput: It is no skill.
    """
    instructions = _read(file)
    try:
        saved = _vault(user).save_skill(skill_id, readable(name), readable(description), instructions)
    except InvalidSkill as refusal:
        msg = f"Nothing is forged: {refusal}"
        raise InvalidInput(msg) from None
    instead = ", in place of the shipped one" if saved.overrides else ""
    typer.echo(f"{saved.outcome}: {saved.skill.skill_id}, version {saved.version}{instead}")


def delete(user: str, skill_id: str) -> None:
    """Delete an expert of the user's own.

    Raises:
        InvalidInput: There is none of that id.
    """
    typer.echo(f"Deleted for good: {printable(_vault(user).delete_skill(skill_id))}")


def validate(user: str, path: str) -> None:
    """Say of a folder, or of every skill that a user can reach, whether it is one.

    Raises:
        InvalidInput: There is no such folder.
        typer.Exit: One is not.
    """
    if path and not Path(path).exists():
        msg = f"There is no folder at {path!r}: give that of a skill, or none to look at all that there are."
        raise InvalidInput(msg)
    entries = [_checked(Path(path))] if path else _vault(user).skills()
    for entry in entries:
        wrong = f": {entry.reason}" if isinstance(entry, UnreadableSkill) else ""
        typer.echo(printable(f"{'✗' if wrong else '✓'} {entry.skill_id}{wrong}"))
    if any(isinstance(entry, UnreadableSkill) for entry in entries):
        raise typer.Exit(1)


def _vault(user: str) -> Vault:
    return Vault(process_settings().home, user)


def _checked(path: Path) -> Skill | UnreadableSkill:
    folder = (path.parent if path.name == FILE else path).resolve()
    try:
        return read_folder(folder, "user")
    except InvalidSkill as refusal:
        return UnreadableSkill(folder.name, "user", str(refusal))


def _read(file: str) -> str:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        msg = f"{file!r} can't be read: {error.strerror}. Give a file of instructions, or - and a text."
        raise InvalidInput(msg) from None
    except UnicodeDecodeError:
        msg = f"{file!r} is not UTF-8: save it as UTF-8."
        raise InvalidInput(msg) from None


def _listing(entries: list[Skill | UnreadableSkill], folder: Path) -> dict[str, Any]:
    skills = [asdict(entry) for entry in entries if isinstance(entry, Skill)]
    for skill in skills:
        del skill["instructions"]
    unreadable = [asdict(entry) for entry in entries if isinstance(entry, UnreadableSkill)]
    return {"skills": skills, "unreadable": unreadable, "folder": str(folder)}


def _line(entry: Skill | UnreadableSkill) -> str:
    if isinstance(entry, UnreadableSkill):
        return f"{entry.skill_id} · {WHOSE[entry.origin]} · can't be read\n  {entry.reason}"
    description = " ".join(entry.description.split())
    return f"{entry.skill_id} · {entry.title} · {WHOSE[entry.origin]}\n  {description}"


def _numbers(versions: dict[int, str]) -> str:
    return ", ".join(map(str, versions))
