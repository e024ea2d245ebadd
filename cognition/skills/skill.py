"""A skill: an expert as a SKILL.md file describes it, in the form of Agent Skills (agentskills.io)."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from reprlib import repr as short_repr
from textwrap import shorten
from typing import Any, Final, Literal

from ruamel.yaml import YAML
from ruamel.yaml.composer import MaxDepthExceededError
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from cognition.errors import InvalidInput
from cognition.storage.disk.safe_names import RESERVED
from cognition.text.sanitize import clean

MOST_ID: Final = 64
MOST_TITLE: Final = 100
MOST_DESCRIPTION: Final = 1_024
MOST_INSTRUCTIONS: Final = 20_000

DEEPEST: Final = 4
"""Levels of YAML that are read: the values under `metadata` are at the third."""

FIELDS: Final = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
"""What the specification lets a frontmatter hold: agentskills.io/specification."""

FRONTMATTER: Final = re.compile(r"---[ \t]*\n(.*?)^---[ \t]*$(.*)", re.DOTALL | re.MULTILINE)

SkillOrigin = Literal["shipped", "user"]


class InvalidSkill(InvalidInput):
    """What is no skill, or can't be done with one; the sentence says why and what to do."""


@dataclass(frozen=True)
class Skill:
    """An expert.

    Args:
        skill_id: Lower-case letters, digits and single hyphens.
        title: The name for people: the role that others see.
        description: What the expert does, and when to ask.
        instructions: Markdown; the expert's system prompt.
        origin: Whether it came with the program or is the user's own.

    Raises:
        InvalidSkill: A value is empty, too long or not of its form.
    """

    skill_id: str
    title: str
    description: str
    instructions: str
    origin: SkillOrigin

    def __post_init__(self) -> None:
        check_id(self.skill_id)
        _check_length("name for people", self.title, MOST_TITLE)
        _check_length("description", self.description, MOST_DESCRIPTION)
        _check_length("text of the instructions", self.instructions, MOST_INSTRUCTIONS)


def check_id(skill_id: str) -> None:
    """Refuse what is no skill id, such as a path.

    Raises:
        InvalidSkill: It has another form, is too long, or a system keeps the name for itself.
    """
    if skill_id in RESERVED:
        msg = f"the skill id {skill_id!r} is a name that Windows keeps for a device: choose another one."
        raise InvalidSkill(msg)
    if not _is_id(skill_id):
        msg = (
            f"the skill id {short_repr(skill_id)} must be lower-case letters and digits with single hyphens "
            f"between them, at most {MOST_ID} characters: write it as lead-dev-rust."
        )
        raise InvalidSkill(msg)


def tidy_id(skill_id: str) -> str:
    """The id that is meant by one in another spelling: `Lead_Dev Rust` is `lead-dev-rust`.

    Raises:
        InvalidSkill: Case, accents, spaces and underscores are not all that is wrong with it.
    """
    bare = "".join(c for c in unicodedata.normalize("NFKD", skill_id) if not unicodedata.combining(c))
    tidy = re.sub(r"[\s_-]+", "-", bare.lower()).strip("-")
    check_id(tidy if _is_id(tidy) else skill_id)
    return tidy


def _is_id(text: str) -> bool:
    return len(text) <= MOST_ID and bool(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", text))


def new_skill(skill_id: str, title: str, description: str, instructions: str) -> Skill:
    """A skill of a user, from texts as a model or a person writes them.

    Raises:
        InvalidSkill: A value is empty, too long or not of its form.
    """
    return Skill(
        tidy_id(skill_id),
        " ".join(clean(title).split()),
        _lines(clean(description)).strip(),
        _lines(clean(instructions)).strip(),
        "user",
    )


def skill_file(skill: Skill) -> str:
    """The text of a skill's SKILL.md."""
    out = StringIO()
    yaml = YAML()
    yaml.width = 2**31
    head = {
        "name": skill.skill_id,
        "description": DoubleQuotedScalarString(skill.description),
        "metadata": {"title": DoubleQuotedScalarString(skill.title)},
    }
    yaml.dump(head, out)
    # Readers that cut at the first "---" they meet, as the reference validator does, must not meet one here.
    frontmatter = out.getvalue().replace("--", "-\\x2D")
    return f"---\n{frontmatter}---\n\n{skill.instructions}\n"


@lru_cache(maxsize=256)  # YAML takes a millisecond, and each expert of a council is read in every round
def read_skill(content: str, skill_id: str, origin: SkillOrigin) -> Skill:
    """The skill that a SKILL.md holds.

    Args:
        content: The file's text, with or without a byte order mark, with any line ends.
        skill_id: The name of its folder.
        origin: Whose it is.

    Raises:
        InvalidSkill: The file is not of the form, or says another name than its folder.
    """
    fields, instructions = _parsed(content)
    if fields["name"] != skill_id:
        msg = (
            f"its name is {short_repr(fields['name'])}, but its folder {short_repr(skill_id)}: "
            "make them the same."
        )
        raise InvalidSkill(msg)
    title = fields["metadata"].get("title", skill_id.replace("-", " ").capitalize())
    return Skill(skill_id, " ".join(title.split()), fields["description"].strip(), instructions, origin)


def parse_skill_metadata(content: str) -> dict[str, Any]:
    """The frontmatter of a SKILL.md: texts by field, and under `metadata` texts by key.

    Raises:
        InvalidSkill: There is none, it is no YAML, or it has not the fields of a skill.
    """
    return _parsed(content)[0]


def _parsed(content: str) -> tuple[dict[str, Any], str]:
    found = FRONTMATTER.match(_lines(content.removeprefix("\ufeff")))
    if not found:
        msg = "its SKILL.md must begin with a line ---, then YAML, then a line --- again."
        raise InvalidSkill(msg)
    fields = _yaml(found[1])
    if not isinstance(fields, dict):
        msg = "its frontmatter is no list of `field: value` lines: write name and description so."
        raise InvalidSkill(msg)
    if unknown := [field for field in fields if field not in FIELDS]:
        msg = f"its field {short_repr(unknown[0])} is none of {', '.join(FIELDS)}: put it under metadata."
        raise InvalidSkill(msg)
    fields.setdefault("metadata", {})
    for field in ("name", "description"):
        if not isinstance(fields.get(field), str) or not fields[field].strip():
            msg = f"its {field} is missing or no text: write `{field}: …` in its frontmatter."
            raise InvalidSkill(msg)
    metadata = fields["metadata"]
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in (*metadata, *metadata.values())):
        msg = "its metadata must be indented lines `key: value`, each value a text."
        raise InvalidSkill(msg)
    return fields, found[2].strip()


def _yaml(text: str) -> Any:
    """YAML with every scalar as the text that was written: `no` and `1.0` are what they look like."""
    yaml = YAML(typ="base", pure=True)
    yaml.max_depth = DEEPEST
    yaml.composer.warn_double_anchors = False  # YAML allows them, and a warning reaches nobody
    try:
        return yaml.load(text)
    except MaxDepthExceededError:
        msg = "its frontmatter is nested too deep: write plain `field: value` lines."
        raise InvalidSkill(msg) from None
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        problem = shorten(str(error.problem), 120)
        msg = f"line {line} of its SKILL.md is no YAML ({problem}): put the value in double quotes."
        raise InvalidSkill(msg) from None
    except YAMLError:
        msg = "its frontmatter holds a character that YAML doesn't allow: take it out."
        raise InvalidSkill(msg) from None


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _check_length(what: str, text: str, most: int) -> None:
    if not 1 <= len(text) <= most:
        msg = f"the {what} has {len(text):,} characters: give 1 to {most:,}."
        raise InvalidSkill(msg)
