"""Skills: experts described by SKILL.md files in the Agent Skills format (agentskills.io)."""

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

MAX_ID: Final = 64
MAX_TITLE: Final = 100
MAX_DESCRIPTION: Final = 1_024
MAX_INSTRUCTIONS: Final = 20_000

MAX_YAML_DEPTH: Final = 4
"""Maximum nesting of the frontmatter; the values under `metadata` are at the third level."""

FIELDS: Final = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
"""The frontmatter fields that the specification allows: agentskills.io/specification."""

FRONTMATTER: Final = re.compile(r"---[ \t]*\n(.*?)^---[ \t]*$(.*)", re.DOTALL | re.MULTILINE)

SkillOrigin = Literal["shipped", "user"]
"""`shipped`: part of the program; `user`: created by the user."""


class InvalidSkill(InvalidInput):
    """An invalid or unknown skill. The message gives the reason and what to do."""


@dataclass(frozen=True)
class Skill:
    """An expert.

    Args:
        skill_id: Lowercase letters, digits and single hyphens.
        title: The display name: the role that others see.
        description: The purpose of the expert, and when to consult it.
        instructions: The expert's system prompt, in Markdown.
        origin: The source of the skill.

    Raises:
        InvalidSkill: If a value is empty, too long or malformed.
    """

    skill_id: str
    title: str
    description: str
    instructions: str
    origin: SkillOrigin

    def __post_init__(self) -> None:
        check_id(self.skill_id)
        _check_length("name", self.title, MAX_TITLE)
        _check_length("description", self.description, MAX_DESCRIPTION)
        _check_length("text of the instructions", self.instructions, MAX_INSTRUCTIONS)


def check_id(skill_id: str) -> None:
    """Check the form of a skill id, which also keeps paths out.

    Raises:
        InvalidSkill: If the id is malformed, too long or reserved by an operating system.
    """
    if skill_id in RESERVED:
        msg = f"the skill id {skill_id!r} is a device name on Windows: choose another one."
        raise InvalidSkill(msg)
    if not _is_id(skill_id):
        msg = (
            f"the skill id {short_repr(skill_id)} is invalid: expected lowercase letters and digits with "
            f"single hyphens between them, at most {MAX_ID} characters, such as lead-dev-rust."
        )
        raise InvalidSkill(msg)


def tidy_id(skill_id: str) -> str:
    """Normalize the spelling of a skill id: `Lead_Dev Rust` becomes `lead-dev-rust`.

    Raises:
        InvalidSkill: If the id is invalid in other ways than case, accents, spaces and underscores.
    """
    bare = "".join(c for c in unicodedata.normalize("NFKD", skill_id) if not unicodedata.combining(c))
    tidy = re.sub(r"[\s_-]+", "-", bare.lower()).strip("-")
    check_id(tidy if _is_id(tidy) else skill_id)
    return tidy


def _is_id(text: str) -> bool:
    return len(text) <= MAX_ID and bool(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", text))


def new_skill(skill_id: str, title: str, description: str, instructions: str) -> Skill:
    """Create a user's skill from texts written by a model or a person; sanitize them first.

    Raises:
        InvalidSkill: If a value is empty, too long or malformed.
    """
    return Skill(
        tidy_id(skill_id),
        " ".join(clean(title).split()),
        _lines(clean(description)).strip(),
        _lines(clean(instructions)).strip(),
        "user",
    )


def skill_file(skill: Skill) -> str:
    """Return the contents of a skill's SKILL.md."""
    out = StringIO()
    yaml = YAML()
    yaml.width = 2**31
    head = {
        "name": skill.skill_id,
        "description": DoubleQuotedScalarString(skill.description),
        "metadata": {"title": DoubleQuotedScalarString(skill.title)},
    }
    yaml.dump(head, out)
    # Some readers, such as the reference validator, end the frontmatter at the first "---" anywhere in it.
    frontmatter = out.getvalue().replace("--", "-\\x2D")
    return f"---\n{frontmatter}---\n\n{skill.instructions}\n"


@lru_cache(maxsize=256)  # parsing takes a millisecond, and councils read each expert in every round
def read_skill(content: str, skill_id: str, origin: SkillOrigin) -> Skill:
    """Parse a SKILL.md.

    Args:
        content: The contents of the file, with or without a byte order mark, with any line endings.
        skill_id: The name of its folder.
        origin: The source of the skill.

    Raises:
        InvalidSkill: If the file is malformed, or its name does not match the folder.
    """
    fields, instructions = _parsed(content)
    if fields["name"] != skill_id:
        msg = (
            f"the name {short_repr(fields['name'])} does not match the folder {short_repr(skill_id)}: "
            "make them the same."
        )
        raise InvalidSkill(msg)
    title = fields["metadata"].get("title", skill_id.replace("-", " ").capitalize())
    return Skill(skill_id, " ".join(title.split()), fields["description"].strip(), instructions, origin)


def parse_skill_metadata(content: str) -> dict[str, Any]:
    """Parse the frontmatter of a SKILL.md: strings by field, and under `metadata` strings by key.

    Raises:
        InvalidSkill: If the frontmatter is missing, not valid YAML, or has missing or unknown fields.
    """
    return _parsed(content)[0]


def _parsed(content: str) -> tuple[dict[str, Any], str]:
    match = FRONTMATTER.match(_lines(content.removeprefix("\ufeff")))
    if not match:
        msg = "SKILL.md must start with YAML frontmatter between two lines of `---`."
        raise InvalidSkill(msg)
    fields = _yaml(match[1])
    if not isinstance(fields, dict):
        msg = "the frontmatter must consist of `field: value` lines, at least name and description."
        raise InvalidSkill(msg)
    if unknown := [field for field in fields if field not in FIELDS]:
        msg = (
            f"unknown field {short_repr(unknown[0])} in the frontmatter: expected {', '.join(FIELDS)}. Put "
            "other fields under metadata."
        )
        raise InvalidSkill(msg)
    fields.setdefault("metadata", {})
    for field in ("name", "description"):
        if not isinstance(fields.get(field), str) or not fields[field].strip():
            msg = f"the {field} is missing or not a string: write `{field}: …` in the frontmatter."
            raise InvalidSkill(msg)
    metadata = fields["metadata"]
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in (*metadata, *metadata.values())):
        msg = "the metadata must be indented `key: value` lines, and each value a string."
        raise InvalidSkill(msg)
    return fields, match[2].strip()


def _yaml(text: str) -> Any:
    """Load YAML with every scalar as a string, so that `no` and `1.0` stay as written."""
    yaml = YAML(typ="base", pure=True)
    yaml.max_depth = MAX_YAML_DEPTH
    yaml.composer.warn_double_anchors = False  # valid YAML, and no one would see the warning
    try:
        return yaml.load(text)
    except MaxDepthExceededError:
        msg = "the frontmatter is nested too deeply: use plain `field: value` lines."
        raise InvalidSkill(msg) from None
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        problem = shorten(str(error.problem), 120)
        msg = f"line {line} of SKILL.md is not valid YAML ({problem}): put the value in double quotes."
        raise InvalidSkill(msg) from None
    except YAMLError:
        msg = "the frontmatter contains a character that YAML doesn't allow: remove it."
        raise InvalidSkill(msg) from None


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _check_length(field: str, text: str, limit: int) -> None:
    if not 1 <= len(text) <= limit:
        msg = f"the {field} has {len(text):,} characters: expected 1 to {limit:,}."
        raise InvalidSkill(msg)
