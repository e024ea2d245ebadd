"""The vault of a user: the experts that are shipped, and those that the user has had forged.

In `{home}/vault/{user}`: `skills/{skill_id}/SKILL.md`, and older texts as `versions/{skill_id}/{number}.md`.
All of it blocks: call it in a thread.
"""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from reprlib import repr as short_repr
from shutil import rmtree
from typing import Final, Literal

import portalocker

from cognition.skills.skill import (
    InvalidSkill,
    Skill,
    SkillOrigin,
    check_id,
    new_skill,
    parse_skill_metadata,
    read_skill,
    skill_file,
    tidy_id,
)
from cognition.storage.disk.atomic import write_atomically
from cognition.storage.disk.safe_names import folder_of_user

__all__ = ["InvalidSkill", "Skill", "SkillSaveResult", "UnreadableSkill", "Vault", "parse_skill_metadata"]

SHIPPED: Final = Path(__file__).parents[2] / "skills"
"""Beside this package, in a checkout as in an installed wheel."""

FILE: Final = "SKILL.md"
MOST_BYTES: Final = 131_072
"""More than any skill within the bounds has: 20,000 characters of four bytes, and the frontmatter."""

NUMBER: Final = re.compile(r"[1-9][0-9]*")
"""As versions are named; with zeros before it, a number would lead to another file."""

KEPT_VERSIONS: Final = 20
"""How many older texts of a skill are kept."""


@dataclass(frozen=True)
class UnreadableSkill:
    """A folder among the skills that holds none, and why."""

    skill_id: str
    origin: SkillOrigin
    reason: str


@dataclass(frozen=True)
class SkillSaveResult:
    """What became of a skill that was to be kept.

    Args:
        skill: As it is stored.
        outcome: Whether it is new, took the place of an older text, or is the same as before.
        version: Its number; the first is 1.
        overrides: Whether a shipped skill of this id gives way to it.
    """

    skill: Skill
    outcome: Literal["new", "updated", "unchanged"]
    version: int
    overrides: bool


class Vault:
    """The skills that a user can reach. A skill of the user's own hides the shipped one of its id.

    Args:
        home: The folder that holds everything stored.
        user_id: Whose vault it is.

    Raises:
        ValueError: The user is nobody.
    """

    def __init__(self, home: Path, user_id: str) -> None:
        self._home = home
        self._user = folder_of_user(user_id)

    @property
    def folder(self) -> Path:
        """Where the user's own skills are."""
        return self._home / "vault" / self._user / "skills"

    def skills(self) -> list[Skill | UnreadableSkill]:
        """Every skill by its id, the unreadable ones with the reason."""
        return [self._read(skill_id, origin) for skill_id, origin in sorted(self._origins().items())]

    def find_skill(self, skill_id: str) -> Skill:
        """The skill of an id, in whatever spelling.

        Raises:
            InvalidSkill: There is none, or it can't be read.
        """
        return self.find_skills([skill_id])[0]

    def find_skills(self, skill_ids: Iterable[str]) -> list[Skill]:
        """The skills of some ids, in their order.

        Raises:
            InvalidSkill: Some are unknown or can't be read: all of them are named, with the nearest ids.
        """
        origins = self._origins()
        found, wrong = [], []
        for skill_id in skill_ids:
            known = _known(skill_id, origins)
            read = self._read(known, origins[known]) if known else None
            if isinstance(read, Skill):
                found.append(read)
            elif read:
                wrong.append(f"The skill {known!r} can't be read: {read.reason}")
            else:
                near = get_close_matches(skill_id, origins, n=3)
                nearest = f"; near it: {', '.join(near)}" if near else ""
                wrong.append(f"No skill has the id {short_repr(skill_id)}{nearest}.")
        if wrong:
            raise InvalidSkill(" ".join(wrong))
        return found

    def get_skill_content(self, skill_id: str) -> str:
        """The text of a skill's SKILL.md.

        Raises:
            InvalidSkill: There is none of that id, or it can't be read.
        """
        skill = self.find_skill(skill_id)
        return _text(self._file(skill.skill_id, skill.origin))

    def save_skill(self, skill_id: str, title: str, description: str, instructions: str) -> SkillSaveResult:
        """Keep a skill of the user's own; the text that was there becomes an older version.

        Raises:
            InvalidSkill: It is no skill; nothing is changed.
        """
        skill = new_skill(skill_id, title, description, instructions)
        data = skill_file(skill).encode()
        overrides = (SHIPPED / skill.skill_id).is_dir()
        with self._alone():
            path = self._file(skill.skill_id, "user")
            older = path.read_bytes() if path.is_file() else None
            version = max(self._numbers(skill.skill_id), default=0) + 1
            if older == data:
                return SkillSaveResult(skill, "unchanged", version, overrides)
            if older is None:
                write_atomically(path, data)
                return SkillSaveResult(skill, "new", version, overrides)
            write_atomically(self._version(skill.skill_id, version), older)
            write_atomically(path, data)
            for number in sorted(self._numbers(skill.skill_id))[:-KEPT_VERSIONS]:
                self._version(skill.skill_id, number).unlink()
            return SkillSaveResult(skill, "updated", version + 1, overrides)

    def versions(self, skill_id: str) -> dict[int, str]:
        """The older texts of a skill of the user's own, by their number, oldest first.

        Raises:
            InvalidSkill: The id is none.
        """
        skill_id = tidy_id(skill_id)
        kept = {number: self._version(skill_id, number) for number in sorted(self._numbers(skill_id))}
        return {number: path.read_bytes().decode(errors="replace") for number, path in kept.items()}

    def delete_skill(self, skill_id: str) -> str:
        """Delete a skill of the user's own with its older versions, and return its id.

        Raises:
            InvalidSkill: The user has none of that id.
        """
        with self._alone():
            origins = self._origins()
            known = _known(skill_id, origins)
            if origins.get(known) != "user":
                msg = f"You have no skill {short_repr(skill_id)} of your own: there is nothing to delete."
                raise InvalidSkill(msg)
            folder, versions = self._confined("skills", known), self._confined("versions", known)
            rmtree(folder)
            if versions.is_dir():
                rmtree(versions)
        return known

    def _origins(self) -> dict[str, SkillOrigin]:
        """Whose each id is, the user's before the shipped ones."""
        own: dict[str, SkillOrigin] = dict.fromkeys(_folders(self._confined("skills")), "user")
        shipped: dict[str, SkillOrigin] = dict.fromkeys(_folders(SHIPPED), "shipped")
        return {**shipped, **own}

    def _read(self, skill_id: str, origin: SkillOrigin) -> Skill | UnreadableSkill:
        try:
            return read_folder(self._file(skill_id, origin).parent, origin)
        except InvalidSkill as refusal:
            return UnreadableSkill(skill_id, origin, str(refusal))
        except OSError as error:
            return UnreadableSkill(skill_id, origin, f"{error.strerror}.")

    def _file(self, skill_id: str, origin: SkillOrigin) -> Path:
        check_id(skill_id)
        if origin == "shipped":
            return SHIPPED / skill_id / FILE
        return self._confined("skills", skill_id, FILE)

    def _version(self, skill_id: str, number: int) -> Path:
        return self._confined("versions", skill_id, f"{number}.md")

    def _numbers(self, skill_id: str) -> list[int]:
        folder = self._confined("versions", skill_id)
        return [int(path.stem) for path in folder.glob("*.md") if NUMBER.fullmatch(path.stem)]

    def _confined(self, *parts: str) -> Path:
        """A path in the vault. A link could lead out of it, so there is none on the way."""
        path = self._home
        for part in ("vault", self._user, *parts):
            path /= part
            if path.is_symlink():
                msg = f"{str(path)!r} is a link, which may lead out of the vault: put what it leads to there."
                raise InvalidSkill(msg)
        return path

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One writer at a time, of whatever thread and process."""
        path = self._confined("lock")
        path.parent.mkdir(parents=True, exist_ok=True)
        no_link = getattr(os, "O_NOFOLLOW", 0)  # unknown to Windows
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | no_link, 0o600), "r+b") as file:
            portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE)
            yield


def read_folder(folder: Path, origin: SkillOrigin) -> Skill:
    """The skill of a folder, wherever it is.

    Raises:
        InvalidSkill: It holds no skill.
    """
    return read_skill(_text(folder / FILE), folder.name, origin)


def _folders(root: Path) -> list[str]:
    """The names of the folders in one; what begins with a dot is no skill."""
    if not root.is_dir():
        return []
    return [path.name for path in root.iterdir() if path.is_dir() and not path.name.startswith(".")]


def _known(skill_id: str, origins: dict[str, SkillOrigin]) -> str:
    """The id among those that there are; empty when it is none of them."""
    if skill_id in origins:
        return skill_id
    try:
        tidy = tidy_id(skill_id)
    except InvalidSkill:
        return ""
    return tidy if tidy in origins else ""


def _text(path: Path) -> str:
    if not path.is_file():
        msg = f"its folder has no file {FILE}: write one, or take the folder away."
        raise InvalidSkill(msg)
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        msg = f"its {FILE} has more than {MOST_BYTES:,} bytes: shorten it."
        raise InvalidSkill(msg)
    try:
        return data.decode()
    except UnicodeDecodeError:
        msg = f"its {FILE} is not UTF-8: save it as UTF-8."
        raise InvalidSkill(msg) from None
