"""The shipped experts."""

import re
from itertools import combinations
from pathlib import Path

import pytest
from skills_ref import validate

from cognition.skills.skill import Skill, read_skill
from cognition.skills.vault import SHIPPED, Vault

ROOT = Path(__file__).parents[3]
FOLDERS = sorted(path for path in SHIPPED.iterdir() if path.is_dir())


def expert(folder: Path) -> Skill:
    return read_skill((folder / "SKILL.md").read_text(encoding="utf-8"), folder.name, "shipped")


def phrases(skill: Skill) -> set[tuple[str, ...]]:
    """Return all runs of five words, without headings, which are the same in all skills."""
    text = re.sub(r"^## .*$", "", skill.instructions, flags=re.MULTILINE)
    words = re.findall(r"\w+", text.lower())
    return set(zip(*(words[start:] for start in range(5)), strict=False))


def test_there_are_at_least_eight(tmp_path: Path) -> None:
    assert SHIPPED == ROOT / "skills"
    skills = Vault(tmp_path, "ada").skills()
    assert [skill.skill_id for skill in skills] == [folder.name for folder in FOLDERS]
    assert len(skills) >= 8
    assert all(isinstance(skill, Skill) and skill.origin == "shipped" for skill in skills)
    assert len({skill.title for skill in skills if isinstance(skill, Skill)}) == len(skills)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_each_passes_the_reference_validator(folder: Path) -> None:
    assert validate(folder) == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_each_has_method_tone_constraints_and_output(folder: Path) -> None:
    skill = expert(folder)
    assert re.findall(r"^## (.*)$", skill.instructions, re.MULTILINE) == [
        "Method",
        "Tone",
        "Constraints",
        "Output",
    ]
    assert skill.instructions.startswith("You are ")
    assert "Ask it " in skill.description, "the description says when to ask"
    assert not set("<>&") & set(skill.instructions), "these are escaped in prompts"


def test_no_two_share_their_wording() -> None:
    for one, other in combinations(map(expert, FOLDERS), 2):
        shared = phrases(one) & phrases(other)
        assert len(shared) <= 3, (one.skill_id, other.skill_id, shared)


def test_the_example_of_the_architecture_is_a_skill() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```markdown\n(---\n.*?)```", text, re.DOTALL)
    assert read_skill(example, "negotiator", "shipped").title == "Negotiator"
