"""The vault on a real folder: saved skills can be read again, and no path leads out of it."""

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from skills_ref import validate

from cognition.skills.skill import InvalidSkill, Skill
from cognition.skills.vault import KEPT_VERSIONS, MAX_BYTES, SHIPPED, UnreadableSkill, Vault

ROOT = Path(__file__).parents[3]
BODY = "You are a baker.\n\n## Method\n\n1. Knead."

HOSTILE_TEXTS = (
    'He said: "no" – it\'s # not, a comment',
    "first: line\n---\nname: other\n--- and -----",
    "- [x] {a: b} & *c !!d | > % @ `e`",
    "yes",
    "null",
    "2024-01-01",
    "~",
    "\ufeffwith a mark, a tab\t, a bell\x07, a line\u2028separator and 😀",
    "C:\\temp\\x2d---",
)

# Invalid skill ids with a part of the error message.
NO_IDS = {
    "../ada": "single hyphens",
    "..": "single hyphens",
    ".": "single hyphens",
    "a/b": "single hyphens",
    "/etc/passwd": "single hyphens",
    "a\\b": "single hyphens",
    "C:\\skills": "single hyphens",
    "c:": "single hyphens",
    "baker\0": "single hyphens",
    "baker\u202e": "single hyphens",
    "\uff0e\uff0e\uff0fada": "single hyphens",
    "baker.md": "single hyphens",
    "a" * 300: "at most 64",
    "": "single hyphens",
    " _-": "single hyphens",
    "con": "Windows",
    "NUL": "Windows",
    "com1": "Windows",
    "lpt9": "Windows",
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def vault(home: Path) -> Vault:
    return Vault(home, "ada")


@pytest.fixture
def write(vault: Vault) -> Callable[..., Path]:
    """Write a SKILL.md directly into Ada's vault."""

    def put(content: str | bytes, folder: str = "baker") -> Path:
        path = vault.folder / folder / "SKILL.md"
        path.parent.mkdir(parents=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


def forge(vault: Vault, skill_id: str = "baker", instructions: str = BODY) -> Any:
    return vault.save_skill(skill_id, "Baker", "Bakes. Ask it about bread.", instructions)


def tree(folder: Path) -> dict[str, bytes]:
    """Return the contents of all files in a folder, links included, except the lock."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "lock")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def reason(vault: Vault, skill_id: str = "baker") -> str:
    (entry,) = (entry for entry in vault.skills() if entry.skill_id == skill_id)
    assert isinstance(entry, UnreadableSkill), entry
    with pytest.raises(InvalidSkill) as raised:
        vault.find_skill(skill_id)
    assert str(raised.value) == f"The skill {skill_id!r} can't be read: {entry.reason}"
    return entry.reason


def test_a_skill_is_created_found_updated_and_deleted(vault: Vault) -> None:
    new = forge(vault)
    assert (new.outcome, new.version, new.overrides) == ("new", 1, False)
    assert vault.find_skill("baker") == new.skill
    assert new.skill == Skill("baker", "Baker", "Bakes. Ask it about bread.", BODY, "user")
    assert new.skill in vault.skills()
    updated = forge(vault, instructions="You are another baker.")
    assert (updated.outcome, updated.version) == ("updated", 2)
    assert vault.find_skill("baker").instructions == "You are another baker."
    assert list(vault.versions("baker")) == [1]
    assert BODY in vault.versions("baker")[1]
    assert vault.delete_skill("Baker") == "baker"
    assert all(entry.origin == "shipped" for entry in vault.skills())
    assert forge(vault).version == 1, "older versions were deleted with it"


@pytest.mark.parametrize("text", HOSTILE_TEXTS)
def test_p78_a_saved_skill_can_be_read_and_passes_the_reference_validator(vault: Vault, text: str) -> None:
    saved = vault.save_skill("baker", text, text, text)
    assert saved.skill.description == text.strip()
    assert saved.skill.title == " ".join(text.split())
    assert Vault.find_skill(vault, "baker") == saved.skill
    assert validate(vault.folder / "baker") == []


def test_p52_invalid_characters_are_replaced(vault: Vault) -> None:
    saved = vault.save_skill("baker", "Ba\0ker", "Half \ud83d character", "You\0 are\r\n\ud83d a baker.\r")
    assert saved.skill == vault.find_skill("baker")
    assert saved.skill.title == "Ba ker"
    assert saved.skill.instructions == "You  are\n? a baker."
    assert validate(vault.folder / "baker") == []


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("lead_dev_rust", "lead-dev-rust"),
        (" Lead Dev  Rust ", "lead-dev-rust"),
        ("lead--dev-_rust-", "lead-dev-rust"),
        ("Développeur Rust", "developpeur-rust"),
        ("3d-artist", "3d-artist"),
    ],
)
def test_an_id_in_another_spelling_is_the_same_id(vault: Vault, asked: str, written: str) -> None:
    assert forge(vault, asked).skill.skill_id == written
    assert vault.find_skill(asked) == vault.find_skill(written)


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"title": " "}, "the name has 0 characters: expected 1 to 100."),
        ({"title": "x" * 101}, "the name has 101 characters: expected 1 to 100."),
        ({"description": ""}, "the description has 0 characters: expected 1 to 1,024."),
        ({"description": "x" * 1_025}, "the description has 1,025 characters: expected 1 to 1,024."),
        ({"instructions": "\n"}, "the text of the instructions has 0 characters: expected 1 to 20,000."),
        ({"instructions": "x" * 20_001}, "the text of the instructions has 20,001 characters"),
    ],
)
def test_an_invalid_length_is_rejected_and_changes_nothing(
    vault: Vault, home: Path, own: dict[str, str], message: str
) -> None:
    forge(vault)
    before = tree(home)
    valid = {"skill_id": "baker", "title": "Baker", "description": "Bakes.", "instructions": BODY}
    with pytest.raises(InvalidSkill, match=message):
        vault.save_skill(**{**valid, **own})
    assert tree(home) == before


def test_the_longest_texts_are_accepted(vault: Vault) -> None:
    saved = vault.save_skill("x" * 64, "😀" * 100, "😀" * 1_024, "😀" * 20_000)
    assert vault.find_skill("x" * 64) == saved.skill
    assert validate(vault.folder / ("x" * 64)) == []


def test_p78_a_byte_order_mark_and_any_line_endings_are_accepted(
    write: Callable[..., Path], vault: Vault
) -> None:
    text = "---\nname: baker\ndescription: >\n  Bakes\n  bread.\nlicense: MIT\n---\n\nYou bake.\n\nWell.\n"
    write(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert vault.find_skill("baker") == Skill("baker", "Baker", "Bakes bread.", "You bake.\n\nWell.", "user")


HEAD = "---\nname: baker\ndescription: Bakes.\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "---\nname: baker\ndescription: Use it: always\n---\nBake.",
            "line 3 of SKILL.md is not valid YAML (mapping",
        ),
        (HEAD + "description: Twice.\n---\nBake.", 'found duplicate key "description"'),
        (HEAD + "metadata:\n  title: A\n  title: B\n---\nBake.", 'found duplicate key "title"'),
        (HEAD + "Bake.", "must start with YAML frontmatter"),
        ("You are a baker.", "must start with YAML frontmatter"),
        ("", "must start with YAML frontmatter"),
        ("---\n- name\n---\nBake.", "must consist of `field: value` lines"),
        ("---\n---\nBake.", "must consist of `field: value` lines"),
        ("---\nname: baker\n---\nBake.", "description is missing"),
        ("---\nname: baker\ndescription: [a, b]\n---\nBake.", "description is missing or not a string"),
        ("---\nname: baker\ndescription:\n---\nBake.", "description is missing or not a string"),
        ("---\ndescription: Bakes.\n---\nBake.", "name is missing"),
        (
            "---\nname: butcher\ndescription: Cuts.\n---\nCut.",
            "the name 'butcher' does not match the folder 'baker'",
        ),
        (HEAD + "model: big\n---\nBake.", "unknown field 'model' in the frontmatter: expected name,"),
        (HEAD + "metadata: none\n---\nBake.", "metadata must be indented `key: value` lines"),
        (HEAD + "metadata:\n  tags: [a]\n---\nBake.", "metadata must be indented `key: value` lines"),
        (HEAD + "---\n\n", "text of the instructions has 0 characters"),
        (HEAD + "---\n" + "x" * 20_001, "text of the instructions has 20,001 characters"),
        (HEAD + "---\n" + "x" * MAX_BYTES, f"more than {MAX_BYTES:,} bytes"),
        (HEAD + "metadata: " + "[" * 100_000 + "\n---\nBake.", "nested too deeply"),
        (HEAD + "license: \x07\n---\nBake.", "a character that YAML doesn't allow"),
        ((HEAD + "---\nBake.").encode("utf-16"), "is not valid UTF-8"),
        (b"\x89PNG\r\n\x1a\n\x00\xff", "is not valid UTF-8"),
    ],
    ids=range(23),
)
def test_p78_an_unreadable_skill_is_listed_with_the_reason_and_breaks_nothing_else(
    write: Callable[..., Path], vault: Vault, content: str | bytes, message: str
) -> None:
    forge(vault, "butcher")
    write(content)
    assert message in reason(vault)
    assert vault.find_skill("butcher").title == "Baker"
    assert len(vault.skills()) == 2 + len(list(SHIPPED.iterdir()))


def test_a_folder_without_a_skill_or_with_an_invalid_name_is_listed_with_the_reason(vault: Vault) -> None:
    for name in ("empty", "Baker", ".git", "a b"):
        (vault.folder / name).mkdir(parents=True)
    (vault.folder / "notes.txt").write_text("no folder")
    assert "has no file SKILL.md" in reason(vault, "empty")
    assert "single hyphens" in reason(vault, "Baker")
    assert "single hyphens" in reason(vault, "a b")
    assert {entry.skill_id for entry in vault.skills() if entry.origin == "user"} == {"empty", "Baker", "a b"}
    assert vault.delete_skill("a b") == "a b"
    assert not (vault.folder / "a b").exists()


def test_the_users_own_replaces_the_shipped_one_even_if_it_is_unreadable(
    vault: Vault, home: Path, write: Callable[..., Path]
) -> None:
    saved = forge(vault, "architect")
    assert (saved.outcome, saved.overrides) == ("new", True)
    assert vault.find_skill("architect").instructions == BODY
    assert Vault(home, "bob").find_skill("architect").origin == "shipped"
    vault.delete_skill("architect")
    assert vault.find_skill("architect").origin == "shipped"
    write("broken", "architect")
    assert "must start with" in reason(vault, "architect")
    with pytest.raises(InvalidSkill, match="can't be read"):
        vault.get_skill_content("architect")


def test_shipped_experts_are_never_deleted(vault: Vault) -> None:
    with pytest.raises(InvalidSkill, match="You have no skill 'architect' of your own"):
        vault.delete_skill("architect")
    assert (SHIPPED / "architect" / "SKILL.md").is_file()
    assert vault.get_skill_content("architect") == (SHIPPED / "architect" / "SKILL.md").read_text("utf-8")


def test_one_error_names_all_problems(vault: Vault, write: Callable[..., Path]) -> None:
    write("broken")
    with pytest.raises(InvalidSkill) as raised:
        vault.find_skills(["architect", "archtect", "baker", "zzz", "../x"])
    assert str(raised.value) == (
        "Unknown skill 'archtect' (similar: architect). "
        "The skill 'baker' can't be read: SKILL.md must start with YAML frontmatter between two lines of "
        "`---`. Unknown skill 'zzz'. Unknown skill '../x'."
    )
    found = vault.find_skills(["researcher", "Architect", "researcher"])
    assert [skill.skill_id for skill in found] == ["researcher", "architect", "researcher"]


def test_a_limited_number_of_older_versions_is_kept(vault: Vault) -> None:
    for number in range(1, KEPT_VERSIONS + 4):
        assert forge(vault, instructions=f"Text {number}.").version == number
    assert forge(vault, instructions=f"Text {number}.").outcome == "unchanged"
    assert list(vault.versions("baker")) == [*range(3, KEPT_VERSIONS + 3)]
    assert all(f"Text {n}." in text for n, text in vault.versions("baker").items())


@pytest.mark.parametrize("name", ["007", "0", "\N{ARABIC-INDIC DIGIT FIVE}"])
def test_other_files_in_the_versions_folder_are_ignored(vault: Vault, home: Path, name: str) -> None:
    forge(vault)
    folder = home / "vault" / "ada" / "versions" / "baker"
    folder.mkdir(parents=True)
    (folder / f"{name}.md").write_text("Something else.")
    assert vault.versions("baker") == {}
    assert forge(vault, instructions="Other.").version == 2
    assert list(vault.versions("baker")) == [1]


def test_concurrent_writers_lose_no_text(home: Path) -> None:
    texts = [f"Text {number}." for number in range(12)]
    with ThreadPoolExecutor(6) as threads:
        saved = list(threads.map(lambda text: forge(Vault(home, "ada"), instructions=text), texts))
    vault = Vault(home, "ada")
    kept = "\n".join([*vault.versions("baker").values(), vault.get_skill_content("baker")])
    assert all(text in kept for text in texts)
    assert sorted(done.version for done in saved) == [*range(1, 13)]


def test_a_killed_writer_leaves_a_complete_text(home: Path, vault: Vault) -> None:
    code = (
        "import sys; from pathlib import Path; from cognition.skills.vault import Vault\n"
        "vault = Vault(Path(sys.argv[1]), 'ada')\n"
        "for n in range(10**6):\n"
        "    vault.save_skill('baker', 'Baker', 'Bakes.', f'{n} ' * 2_000)\n"
        "    print(n, flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(home)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout
        for _ in range(30):
            writer.stdout.readline()
        writer.kill()
    whole = vault.find_skill("baker").instructions.split()
    assert (len(whole), len(set(whole))) == (2_000, 1)
    assert all(len(set(text.split("---")[2].split())) == 1 for text in vault.versions("baker").values())
    assert forge(vault).outcome == "updated", "the lock was released with the process"


@pytest.mark.parametrize("skill_id", NO_IDS, ids=[f"{skill_id[:12]!r}" for skill_id in NO_IDS])
def test_p79_an_invalid_id_reaches_no_file(vault: Vault, home: Path, skill_id: str) -> None:
    forge(vault)
    forge(Vault(home, "bob"))
    before = tree(home.parent)
    with pytest.raises(InvalidSkill, match=NO_IDS[skill_id]):
        forge(vault, skill_id)
    with pytest.raises(InvalidSkill, match=NO_IDS[skill_id]):
        vault.versions(skill_id)
    for act in (vault.find_skill, vault.get_skill_content, vault.delete_skill):
        with pytest.raises(InvalidSkill, match=r"Unknown skill|You have no skill"):
            act(skill_id)
    assert tree(home.parent) == before


@pytest.mark.parametrize("linked", ["vault", "vault/ada", "vault/ada/skills", "vault/ada/skills/baker"])
def test_p79_a_link_is_rejected(vault: Vault, home: Path, tmp_path: Path, linked: str) -> None:
    secret = tmp_path / "outside"
    Vault(secret, "ada").save_skill("baker", "Secret", "Of someone else.", "You are secret.")
    path = home / linked
    path.parent.mkdir(parents=True)
    path.symlink_to(secret / linked)
    before = tree(secret)
    for act in (vault.find_skill, vault.get_skill_content, vault.delete_skill, lambda i: forge(vault, i)):
        with pytest.raises(InvalidSkill, match="is a link") as raised:
            act("baker")
        assert "ecret" not in str(raised.value)
    assert tree(secret) == before


def test_p79_a_linked_file_is_neither_read_nor_written(vault: Vault, tmp_path: Path) -> None:
    secret = tmp_path / "outside.md"
    secret.write_text(HEAD + "---\nYou are secret.")
    path = vault.folder / "baker" / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.symlink_to(secret)
    for act in (vault.find_skill, vault.get_skill_content, lambda i: forge(vault, i)):
        with pytest.raises(InvalidSkill, match="is a link"):
            act("baker")
    vault.delete_skill("baker")
    assert secret.read_text().endswith("You are secret.")


@pytest.mark.parametrize("linked", ["vault/ada/versions", "vault/ada/versions/baker"])
def test_p79_a_link_in_the_versions_folder_is_rejected(
    vault: Vault, home: Path, tmp_path: Path, linked: str
) -> None:
    forge(vault)
    secret = tmp_path / "outside"
    (secret / "baker").mkdir(parents=True)
    (secret / "1.md").write_text("secret")
    (secret / "baker" / "1.md").write_text("secret")
    path = home / linked
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(secret)
    before = tree(secret)
    for act in (vault.versions, vault.delete_skill, lambda skill_id: forge(vault, skill_id, "Other.")):
        with pytest.raises(InvalidSkill, match="is a link"):
            act("baker")
    assert tree(secret) == before
    assert vault.find_skill("baker").instructions == BODY


def test_p79_a_linked_skill_is_listed_with_the_reason(vault: Vault, tmp_path: Path) -> None:
    forge(vault, "butcher")
    (tmp_path / "outside").mkdir()
    (vault.folder / "baker").symlink_to(tmp_path / "outside")
    assert "is a link" in reason(vault)
    assert vault.find_skill("butcher").title == "Baker"


@pytest.mark.parametrize("other", ["bob", "Ada", "ADA", "ada ", "a\u0301da", "ada/skills", "../ada"])
def test_p47_a_user_cannot_reach_the_skills_of_another(home: Path, vault: Vault, other: str) -> None:
    forge(vault)
    forge(vault, instructions="You are a second baker.")
    stranger = Vault(home, other)
    before = tree(home)
    assert all(entry.origin == "shipped" for entry in stranger.skills())
    for act in (stranger.find_skill, stranger.get_skill_content, stranger.delete_skill):
        with pytest.raises(InvalidSkill):
            act("baker")
    assert stranger.versions("baker") == {}
    assert tree(home) == before
    assert forge(stranger, instructions="You are theirs.").outcome == "new"
    assert vault.find_skill("baker").instructions == "You are a second baker."
    stranger.delete_skill("baker")
    assert tree(home) == before


@pytest.mark.parametrize("blank", ["", " ", None])
def test_p47_a_blank_user_has_no_vault(home: Path, blank: Any) -> None:
    with pytest.raises(ValueError, match="blank"):
        Vault(home, blank)
