"""Properties of skills: a forged skill round-trips, also through the reference parser, or is rejected."""

import re
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from skills_ref.parser import parse_frontmatter
from skills_ref.validator import validate_metadata

from cognition.skills.skill import (
    InvalidSkill,
    Skill,
    new_skill,
    parse_skill_metadata,
    read_skill,
    skill_file,
    tidy_id,
)
from cognition.skills.vault import Vault
from cognition.storage.disk.safe_names import RESERVED

yaml_like = st.text(st.sampled_from("-:#'\"\\{}[]&*!|>%@`?, \t\n\r\ufeff\x85\u2028\0\ud800xé😀~"))
texts = st.one_of(st.text(), yaml_like)
ids = st.one_of(st.text(), st.text("aZé9_- ./\\:\0"), st.sampled_from(sorted(RESERVED)))
files = st.one_of(
    st.binary(),
    st.builds(
        lambda head, body: f"---\nname: a\n{head}\n---\n{body}".encode("utf-8", "replace"), texts, texts
    ),
    st.builds(
        lambda value: f"---\nname: a\ndescription: {value}\n---\nx".encode("utf-8", "replace"), yaml_like
    ),
)


@settings(deadline=None)
@given(texts, texts, texts)
@example("a---b", "------", "---\nname: b\n---\n")
def test_p78_a_forged_skill_round_trips(title: str, description: str, instructions: str) -> None:
    try:
        skill = new_skill("baker", title, description, instructions)
    except InvalidSkill:
        blank = [text for text in (title, description, instructions) if not text.replace("\0", " ").strip()]
        assert blank or len(title) > 100
        return
    content = skill_file(skill)
    assert read_skill(content, "baker", "user") == skill
    assert parse_skill_metadata(content)["metadata"] == {"title": skill.title}
    metadata, body = parse_frontmatter(content)
    assert validate_metadata(metadata, Path("baker")) == []
    assert (metadata["description"], body) == (skill.description, skill.instructions)


@given(ids)
@example("LEAD_dev--rust ")
@example("x" * 65)
def test_p79_accepted_ids_are_plain(text: str) -> None:
    try:
        tidy = tidy_id(text)
    except InvalidSkill:
        return
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", tidy)
    assert len(tidy) <= 64
    assert tidy not in RESERVED
    assert tidy_id(tidy) == tidy


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(files)
def test_p78_any_file_is_a_skill_or_has_an_error_message(tmp_path: Path, data: bytes) -> None:
    vault = Vault(tmp_path, "ada")
    path = vault.folder / "a" / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    entries: Any = {entry.skill_id: entry for entry in vault.skills()}
    assert isinstance(entries["architect"], Skill)
    if isinstance(entries["a"], Skill):
        assert vault.find_skill("a") == entries["a"]
    else:
        assert entries["a"].reason.endswith(".")
        assert "\n" not in entries["a"].reason
