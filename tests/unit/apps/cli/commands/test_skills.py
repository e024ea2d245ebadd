import json
from pathlib import Path

import pytest
from skills_ref import validate

from tests.unit.apps.cli.conftest import Run

DESCRIBED = ("--name", "Lead Rust developer", "--description", "Rust: ask it.")
FORGE = ("skills", "forge", "lead_dev_rust", "-", *DESCRIBED)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Return the folder of the local user's experts."""
    return tmp_path / "home" / "vault" / "local" / "skills"


def test_an_expert_is_forged_listed_shown_and_deleted(run: Run, own: Path) -> None:
    forged = run(*FORGE, stdin="You ship Rust. Él decide.\n".encode())
    assert (forged.exit_code, forged.stdout) == (0, "new: lead-dev-rust, version 1\n")
    assert validate(own / "lead-dev-rust") == []
    listing = json.loads(run("skills", "list", "--json").stdout)
    (mine,) = (skill for skill in listing["skills"] if skill["origin"] == "user")
    assert mine == {
        "skill_id": "lead-dev-rust",
        "title": "Lead Rust developer",
        "description": "Rust: ask it.",
        "origin": "user",
    }
    assert (listing["unreadable"], listing["folder"]) == ([], str(own))
    listed = run("skills", "list").stdout
    assert "lead-dev-rust · Lead Rust developer · your own\n  Rust: ask it.\n" in listed
    assert "architect · Software architect · shipped\n" in listed
    assert run("skills", "show", "lead-dev-rust").stdout.endswith("You ship Rust. Él decide.\n")
    assert run("skills", "delete", "lead-dev-rust").stdout == "Deleted permanently: lead-dev-rust\n"
    assert "lead-dev-rust" not in run("skills", "list").stdout


def test_older_versions_are_shown_by_their_number(run: Run) -> None:
    run(*FORGE, stdin=b"First text.")
    assert run(*FORGE, stdin=b"Second text.").stdout == "updated: lead-dev-rust, version 2\n"
    shown = run("skills", "show", "lead-dev-rust")
    assert "Second text." in shown.stdout
    assert "Older versions: 1" in shown.stderr
    assert "First text." in run("skills", "show", "lead-dev-rust", "--version", "1").stdout
    assert run("skills", "show", "lead-dev-rust", "--version", "2").stdout == shown.stdout
    rejected = run("skills", "show", "lead-dev-rust", "--version", "7")
    assert rejected.exit_code == 1
    assert rejected.stderr == "Unknown version 7 of 'lead-dev-rust': expected one of 1, 2.\n"


def test_instructions_are_read_from_a_file(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "instructions.md"
    path.write_bytes(b"\xef\xbb\xbfYou are read.\r\n")
    forged = run("skills", "forge", "architect", str(path), *DESCRIBED)
    assert forged.stdout == "new: architect, version 1, replaces the shipped expert\n"
    assert run("skills", "show", "architect").stdout.endswith("---\n\nYou are read.\n")
    path.write_bytes("You are read.".encode("utf-16"))
    rejected = run("skills", "forge", "architect", str(path), *DESCRIBED)
    assert (rejected.exit_code, rejected.stdout) == (1, "")
    assert "is not valid UTF-8" in rejected.stderr
    for wrong, reason in ((tmp_path / "none.md", "No such file"), (tmp_path, "Is a directory")):
        rejected = run("skills", "forge", "architect", str(wrong), *DESCRIBED)
        assert rejected.exit_code == 1
        assert f"Can't read {str(wrong)!r}: {reason}" in rejected.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("forge", "../x", "-", "--name", "X", "--description", "X"),
            "Nothing was saved: the skill id '../x' is invalid",
        ),
        (
            ("forge", "x", "-", "--name", "", "--description", "X"),
            "Nothing was saved: the name has 0",
        ),
        (("show", "archtect"), "Unknown skill 'archtect' (similar: architect)."),
        (("show", "../../lock"), "Unknown skill '../../lock'."),
        (
            ("delete", "architect"),
            "You have no skill 'architect' of your own. Shipped skills can't be deleted.",
        ),
        (("list", "--user", " "), "not blank"),
    ],
)
def test_errors_are_one_line(run: Run, own: Path, arguments: tuple[str, ...], message: str) -> None:
    rejected = run("skills", *arguments, stdin=b"You are X.")
    assert (rejected.exit_code, rejected.stdout) == (1, "")
    assert message in rejected.stderr
    assert rejected.stderr.count("\n") == 1
    assert not own.exists()


def test_validate_reports_unreadable_experts(run: Run, own: Path) -> None:
    assert run("skills", "validate").exit_code == 0
    (own / "baker").mkdir(parents=True)
    (own / "baker" / "SKILL.md").write_text("---\nname: baker\ndescription: Use it: often\n---\nBake.")
    checked = run("skills", "validate")
    assert checked.exit_code == 1
    assert "✓ architect\n" in checked.stdout
    assert "✗ baker: line 3 of SKILL.md is not valid YAML" in checked.stdout
    listed = json.loads(run("skills", "list", "--json").stdout)
    assert [entry["skill_id"] for entry in listed["unreadable"]] == ["baker"]
    assert "baker · your own · unreadable\n" in run("skills", "list").stdout


def test_validate_accepts_a_folder_or_its_file(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "butcher"
    folder.mkdir()
    assert "✗ butcher: the folder has no file SKILL.md" in run("skills", "validate", str(folder)).stdout
    missing = run("skills", "validate", str(tmp_path / "nowhere"))
    assert (missing.exit_code, missing.stdout) == (1, "")
    assert "No such folder" in missing.stderr
    (folder / "SKILL.md").write_text("---\nname: butcher\ndescription: Cuts.\n---\nCut.")
    for path in (folder, folder / "SKILL.md"):
        checked = run("skills", "validate", str(path))
        assert (checked.exit_code, checked.stdout) == (0, "✓ butcher\n")


def test_p47_experts_are_private_to_a_user(run: Run) -> None:
    run(*FORGE, stdin=b"You are mine.")
    assert "lead-dev-rust" not in run("skills", "list", "--user", "bob").stdout
    assert run("skills", "show", "lead-dev-rust", "--user", "bob").exit_code == 1
    assert run("skills", "delete", "lead-dev-rust", "--user", "LOCAL").exit_code == 1
    assert run("skills", "show", "lead-dev-rust").exit_code == 0


def test_p51_control_characters_of_a_skill_are_removed(run: Run) -> None:
    run(*FORGE[:-1], "Rust\x1b[2J", stdin=b"You \x1b]0;title\x07 clear.")
    for arguments in (("list",), ("show", "lead-dev-rust"), ("validate",)):
        assert not {"\x1b", "\x07"} & set(run("skills", *arguments).stdout)
