"""The `cognition skills` commands, which manage experts."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from apps.cli.terminal.view import decode_argument, printable
from cognition.errors import InvalidInput
from cognition.settings import process_settings
from cognition.skills.skill import InvalidSkill, Skill
from cognition.skills.vault import SKILL_FILE, UnreadableSkill, Vault, read_folder

ORIGINS = {"shipped": "shipped", "user": "your own"}


def show_all(user: str, *, as_json: bool) -> None:
    """Print the experts available to a user, and the unreadable ones with the reason."""
    vault = _vault(user)
    entries = vault.skills()
    if as_json:
        typer.echo(json.dumps(_listing(entries, vault.folder), ensure_ascii=False, indent=2))
    else:
        lines = [_line(entry) for entry in entries]
        typer.echo(printable("\n".join([*lines, f"Your own experts are in {vault.folder}"])))


def show(user: str, skill_id: str, version: int) -> None:
    """Print the current or an older version of a SKILL.md.

    Args:
        user: The user.
        skill_id: The id of the expert.
        version: The number of the version; 0 for the current one.

    Raises:
        InvalidInput: If there is no such expert or version.
    """
    vault = _vault(user)
    text = vault.get_skill_content(skill_id)
    older = vault.versions(skill_id)
    versions = {**older, max(older, default=0) + 1: text}
    if version and version not in versions:
        msg = f"Unknown version {version} of {skill_id!r}: expected one of {_numbers(versions)}."
        raise InvalidInput(msg)
    typer.echo(printable(versions[version] if version else text), nl=False)
    if older and not version:
        typer.echo(f"Older versions: {_numbers(older)}. Use --version to show one.", err=True)


def forge(user: str, skill_id: str, name: str, description: str, file: str) -> None:
    """Create or change an expert.

    Args:
        user: The user who will own it.
        skill_id: Its id.
        name: Its display name.
        description: Its purpose and when to consult it.
        file: The path of its instructions; `-` reads standard input.

    Raises:
        InvalidInput: If the file can't be read, or the result is not a valid skill.
    """
    instructions = _read(file)
    try:
        saved = _vault(user).save_skill(
            skill_id, decode_argument(name), decode_argument(description), instructions
        )
    except InvalidSkill as error:
        msg = f"Nothing was saved: {error}"
        raise InvalidInput(msg) from None
    suffix = ", replaces the shipped expert" if saved.overrides else ""
    typer.echo(f"{saved.outcome}: {saved.skill.skill_id}, version {saved.version}{suffix}")


def delete(user: str, skill_id: str) -> None:
    """Delete one of the user's own experts permanently.

    Raises:
        InvalidInput: If the user has no such expert.
    """
    typer.echo(f"Deleted permanently: {printable(_vault(user).delete_skill(skill_id))}")


def validate(user: str, path: str) -> None:
    """Check the skill in a folder, or all skills available to a user, and print the results.

    Raises:
        InvalidInput: If the folder does not exist.
        typer.Exit: If a skill is not valid.
    """
    if path and not Path(path).exists():
        msg = (
            f"No such folder: {path!r}. Give the folder of a skill, or omit it to check all available skills."
        )
        raise InvalidInput(msg)
    entries = [_checked(Path(path))] if path else _vault(user).skills()
    for entry in entries:
        problem = f": {entry.reason}" if isinstance(entry, UnreadableSkill) else ""
        typer.echo(printable(f"{'✗' if problem else '✓'} {entry.skill_id}{problem}"))
    if any(isinstance(entry, UnreadableSkill) for entry in entries):
        raise typer.Exit(1)


def _vault(user: str) -> Vault:
    return Vault(process_settings().home, user)


def _checked(path: Path) -> Skill | UnreadableSkill:
    folder = (path.parent if path.name == SKILL_FILE else path).resolve()
    try:
        return read_folder(folder, "user")
    except InvalidSkill as error:
        return UnreadableSkill(folder.name, "user", str(error))


def _read(file: str) -> str:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        msg = (
            f"Can't read {file!r}: {error.strerror}. Give a file with instructions, or - to read them from "
            "standard input."
        )
        raise InvalidInput(msg) from None
    except UnicodeDecodeError:
        msg = f"{file!r} is not valid UTF-8. Save it as UTF-8."
        raise InvalidInput(msg) from None


def _listing(entries: list[Skill | UnreadableSkill], folder: Path) -> dict[str, Any]:
    skills = [asdict(entry) for entry in entries if isinstance(entry, Skill)]
    for skill in skills:
        del skill["instructions"]
    unreadable = [asdict(entry) for entry in entries if isinstance(entry, UnreadableSkill)]
    return {"skills": skills, "unreadable": unreadable, "folder": str(folder)}


def _line(entry: Skill | UnreadableSkill) -> str:
    if isinstance(entry, UnreadableSkill):
        return f"{entry.skill_id} · {ORIGINS[entry.origin]} · unreadable\n  {entry.reason}"
    description = " ".join(entry.description.split())
    return f"{entry.skill_id} · {entry.title} · {ORIGINS[entry.origin]}\n  {description}"


def _numbers(versions: dict[int, str]) -> str:
    return ", ".join(map(str, versions))
