"""The skills available to a user: the shipped ones and the user's own.

The user's own are in `{home}/vault/{user}`: `skills/{skill_id}/SKILL.md`, and older versions in
`versions/{skill_id}/{number}.md`. Everything here is blocking: call it from a worker thread.
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
from cognition.storage.disk.safe_names import folder_name

__all__ = ["InvalidSkill", "Skill", "SkillSaveResult", "UnreadableSkill", "Vault", "parse_skill_metadata"]

SHIPPED: Final = Path(__file__).parents[2] / "skills"
"""The folder of the shipped skills, next to this package in a checkout and in an installed wheel."""

SKILL_FILE: Final = "SKILL.md"
"""The file of a skill in its folder."""

MAX_BYTES: Final = 131_072
"""Maximum size of a SKILL.md; enough for 20,000 characters of four bytes and the frontmatter."""

NUMBER: Final = re.compile(r"[1-9][0-9]*")
"""The name of a version's file. Leading zeros are excluded because they would name a different file."""

KEPT_VERSIONS: Final = 20
"""Number of older versions to keep per skill."""


@dataclass(frozen=True)
class UnreadableSkill:
    """A skill folder without a valid skill, and the reason."""

    skill_id: str
    origin: SkillOrigin
    reason: str


@dataclass(frozen=True)
class SkillSaveResult:
    """The result of saving a skill.

    Args:
        skill: The stored skill.
        outcome: `unchanged` if the same text was already stored.
        version: The number of the current version, from 1.
        overrides: True if it replaces the shipped skill with this id.
    """

    skill: Skill
    outcome: Literal["new", "updated", "unchanged"]
    version: int
    overrides: bool


class Vault:
    """The skills available to a user. The user's own skills replace shipped ones with the same id.

    Args:
        home: The home folder.
        user_id: The user.

    Raises:
        InvalidInput: If the user is blank.
    """

    def __init__(self, home: Path, user_id: str) -> None:
        self._home = home
        self._user = folder_name(user_id)

    @property
    def folder(self) -> Path:
        """The folder of the user's own skills."""
        return self._home / "vault" / self._user / "skills"

    def skills(self) -> list[Skill | UnreadableSkill]:
        """Return all skills, sorted by id, and the unreadable ones with the reason."""
        return [self._read(skill_id, origin) for skill_id, origin in sorted(self._origins().items())]

    def find_skill(self, skill_id: str) -> Skill:
        """Return a skill by its id, in any spelling.

        Raises:
            InvalidSkill: If the skill is unknown or can't be read.
        """
        return self.find_skills([skill_id])[0]

    def find_skills(self, skill_ids: Iterable[str]) -> list[Skill]:
        """Return skills by their ids, in the given order.

        Raises:
            InvalidSkill: If any are unknown or can't be read; the message names them, with similar ids.
        """
        origins = self._origins()
        skills, problems = [], []
        for skill_id in skill_ids:
            known = _known(skill_id, origins)
            entry = self._read(known, origins[known]) if known else None
            if isinstance(entry, Skill):
                skills.append(entry)
            elif entry:
                problems.append(f"The skill {known!r} can't be read: {entry.reason}")
            else:
                matches = get_close_matches(skill_id, origins, n=3)
                similar = f" (similar: {', '.join(matches)})" if matches else ""
                problems.append(f"Unknown skill {short_repr(skill_id)}{similar}.")
        if problems:
            raise InvalidSkill(" ".join(problems))
        return skills

    def get_skill_content(self, skill_id: str) -> str:
        """Return the contents of a skill's SKILL.md.

        Raises:
            InvalidSkill: If the skill is unknown or can't be read.
        """
        skill = self.find_skill(skill_id)
        return _text(self._file(skill.skill_id, skill.origin))

    def save_skill(self, skill_id: str, title: str, description: str, instructions: str) -> SkillSaveResult:
        """Save a skill of the user's own; the previous text becomes an older version.

        Raises:
            InvalidSkill: If the skill is invalid, in which case nothing is changed.
        """
        skill = new_skill(skill_id, title, description, instructions)
        data = skill_file(skill).encode()
        overrides = (SHIPPED / skill.skill_id).is_dir()
        with self._locked():
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
        """Return the older versions of a skill of the user's own by their number, oldest first.

        Raises:
            InvalidSkill: If the id is invalid.
        """
        skill_id = tidy_id(skill_id)
        kept = {number: self._version(skill_id, number) for number in sorted(self._numbers(skill_id))}
        return {number: path.read_bytes().decode(errors="replace") for number, path in kept.items()}

    def delete_skill(self, skill_id: str) -> str:
        """Delete a skill of the user's own with its older versions, and return its id.

        Raises:
            InvalidSkill: If the user has no skill with this id.
        """
        with self._locked():
            origins = self._origins()
            known = _known(skill_id, origins)
            if origins.get(known) != "user":
                msg = (
                    f"You have no skill {short_repr(skill_id)} of your own. Shipped skills can't be deleted."
                )
                raise InvalidSkill(msg)
            folder, versions = self._confined("skills", known), self._confined("versions", known)
            rmtree(folder)
            if versions.is_dir():
                rmtree(versions)
        return known

    def _origins(self) -> dict[str, SkillOrigin]:
        """Return the origin of each id; the user's own skills take precedence."""
        own: dict[str, SkillOrigin] = dict.fromkeys(_folders(self._confined("skills")), "user")
        shipped: dict[str, SkillOrigin] = dict.fromkeys(_folders(SHIPPED), "shipped")
        return {**shipped, **own}

    def _read(self, skill_id: str, origin: SkillOrigin) -> Skill | UnreadableSkill:
        try:
            return read_folder(self._file(skill_id, origin).parent, origin)
        except InvalidSkill as error:
            return UnreadableSkill(skill_id, origin, str(error))
        except OSError as error:
            return UnreadableSkill(skill_id, origin, f"{error.strerror}.")

    def _file(self, skill_id: str, origin: SkillOrigin) -> Path:
        check_id(skill_id)
        if origin == "shipped":
            return SHIPPED / skill_id / SKILL_FILE
        return self._confined("skills", skill_id, SKILL_FILE)

    def _version(self, skill_id: str, number: int) -> Path:
        return self._confined("versions", skill_id, f"{number}.md")

    def _numbers(self, skill_id: str) -> list[int]:
        folder = self._confined("versions", skill_id)
        return [int(path.stem) for path in folder.glob("*.md") if NUMBER.fullmatch(path.stem)]

    def _confined(self, *parts: str) -> Path:
        """Return a path in the vault. Reject symbolic links, which could lead out of it."""
        path = self._home
        for part in ("vault", self._user, *parts):
            path /= part
            if path.is_symlink():
                msg = (
                    f"{str(path)!r} is a link, which could lead out of the vault: replace it with its target."
                )
                raise InvalidSkill(msg)
        return path

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the vault's lock, which admits one writer at a time across threads and processes."""
        path = self._confined("lock")
        path.parent.mkdir(parents=True, exist_ok=True)
        no_link = getattr(os, "O_NOFOLLOW", 0)  # not available on Windows
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | no_link, 0o600), "r+b") as file:
            portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE)
            yield


def read_folder(folder: Path, origin: SkillOrigin) -> Skill:
    """Read the skill in any folder.

    Raises:
        InvalidSkill: If the folder does not contain a valid skill.
    """
    return read_skill(_text(folder / SKILL_FILE), folder.name, origin)


def _folders(root: Path) -> list[str]:
    """Return the names of the subfolders, except those that start with a dot."""
    if not root.is_dir():
        return []
    return [path.name for path in root.iterdir() if path.is_dir() and not path.name.startswith(".")]


def _known(skill_id: str, origins: dict[str, SkillOrigin]) -> str:
    """Return the existing id that matches an id in any spelling; empty if there is none."""
    if skill_id in origins:
        return skill_id
    try:
        tidy = tidy_id(skill_id)
    except InvalidSkill:
        return ""
    return tidy if tidy in origins else ""


def _text(path: Path) -> str:
    if not path.is_file():
        msg = f"the folder has no file {SKILL_FILE}: add one, or remove the folder."
        raise InvalidSkill(msg)
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        msg = f"{SKILL_FILE} has more than {MAX_BYTES:,} bytes: shorten it."
        raise InvalidSkill(msg)
    try:
        return data.decode()
    except UnicodeDecodeError:
        msg = f"{SKILL_FILE} is not valid UTF-8: save it as UTF-8."
        raise InvalidSkill(msg) from None
