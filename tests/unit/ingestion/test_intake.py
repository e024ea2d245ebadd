"""The intake of files: allowed paths, folders, and repeated content."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cognition.ingestion.attachments import Attachment
from cognition.ingestion.intake import MAX_FILES, Intake, from_path
from cognition.settings import Settings
from cognition.storage.files import FileRejected, Files
from cognition.storage.resources import ResourceTable
from cognition.storage.sqlite.database import Database
from tests.unit.documents.samples import archive

Open = Callable[..., Intake]


@pytest.fixture
def open_intake(tmp_path: Path) -> Iterator[Open]:
    database = Database(tmp_path / "home")

    def make(**own: Any) -> Intake:
        return Intake(
            Files(tmp_path / "home"), ResourceTable(database), Settings(home=tmp_path / "home", **own)
        )

    yield make
    database.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An allowed folder with visible files, hidden files and symlinks, next to a file outside it."""
    root = tmp_path / "root"
    (root / "sub" / ".git").mkdir(parents=True)
    (tmp_path / "secret.txt").write_text("secret")
    (root / "a.txt").write_text("one")
    (root / "sub" / "b.md").write_text("two")
    (root / ".env").write_text("KEY=1")
    (root / "sub" / ".git" / "config").write_text("hidden")
    (root / "out.txt").symlink_to(tmp_path / "secret.txt")
    (root / "inside.txt").symlink_to(root / "a.txt")
    (root / "loop").symlink_to(root)
    return root


def one(intake: Intake, path: object, **more: Any) -> tuple[str, str]:
    (received,) = intake.receive("ada", "c", {"path": str(path), **more})
    return received["resource_id"], received["error"]


def test_p61_a_path_leads_into_allowed_folders_only_with_symlinks_resolved(
    open_intake: Open, root: Path, tmp_path: Path
) -> None:
    intake = open_intake(file_roots=(root,))
    assert one(intake, root / "a.txt")[0]
    assert one(intake, root / "inside.txt")[0] == one(intake, root / "a.txt")[0]
    outside = [
        tmp_path / "secret.txt",
        root / "out.txt",
        root / ".." / "secret.txt",
        root.parent / "root2" / "x",
        "/etc/passwd",
        "~/.ssh/id_rsa",
        "a\x00b",
        "~nobody-of-this-name/x",
    ]
    for path in outside:
        resource_id, error = one(intake, path)
        assert not resource_id
        assert "not in an allowed folder" in error or "Invalid path" in error


def test_no_path_is_allowed_unless_a_folder_is_set(open_intake: Open, root: Path) -> None:
    assert "COGNITION_FILE_ROOTS: none" in one(open_intake(), root / "a.txt")[1]


def test_p47_what_is_stored_here_is_never_taken_by_its_path(
    open_intake: Open, root: Path, tmp_path: Path
) -> None:
    intake = open_intake(file_roots=(tmp_path,))
    one(intake, root / "a.txt")
    stored = next((tmp_path / "home" / "files").rglob("a.txt"))
    for path in (stored, tmp_path / "home" / "cognition.sqlite"):
        assert "not in an allowed folder" in one(intake, path)[1]


def test_a_folders_files_are_taken_when_asked_for_without_the_hidden_and_what_leads_out(
    open_intake: Open, root: Path
) -> None:
    intake = open_intake(file_roots=(root,))
    assert "recursive" in one(intake, root)[1]
    received = intake.receive("ada", "c", {"path": str(root), "recursive": True})
    assert [(one["name"], one["error"]) for one in received] == [("a.txt", ""), ("a.txt", ""), ("b.md", "")]


def test_a_folder_of_too_many_files_is_refused_as_a_whole(tmp_path: Path) -> None:
    for number in range(MAX_FILES + 1):
        (tmp_path / f"{number}").touch()
    with pytest.raises(FileRejected, match="more than 1,000"):
        list(from_path(tmp_path, recursive=True))


def test_a_limit_says_so(open_intake: Open, root: Path) -> None:
    _, error = one(open_intake(file_roots=(root,), file_bytes=2), root / "a.txt")
    assert "COGNITION_FILE_BYTES (now 2)" in error


@pytest.mark.parametrize("item", ["a.txt", None, 7, ["a"], {}, {"path": 7}])
def test_what_is_no_file_is_a_sentence(open_intake: Open, item: Any) -> None:
    (received,) = open_intake().receive("ada", "c", item)
    assert not received["resource_id"]
    assert "file" in received["error"]


def test_p61_a_damaged_archive_is_taken_as_one_and_the_files_beside_it_are_too(
    open_intake: Open, root: Path
) -> None:
    content = archive({"mimetype": "application/epub+zip"})
    begin = content.index(b"mimetype") + len("mimetype")
    (root / "Z.epub").write_bytes(content[:begin] + b"\xff" * 12 + content[begin + 12 :])
    intake = open_intake(file_roots=(root,))
    received = intake.receive("ada", "c", {"path": str(root), "recursive": True})
    assert [one["error"] for one in received] == [""] * 4
    (damaged,) = (one for one in received if one["name"] == "Z.epub")
    assert intake.existing("ada", "c", damaged["resource_id"]).mime == "application/zip"


def test_p60_the_same_content_under_another_name_is_the_same_resource(open_intake: Open) -> None:
    intake = open_intake()
    first, new = intake.take("ada", "c", Attachment("a.txt", b"same"))
    again, newer = intake.take("ada", "c", Attachment("b.txt", b"same"))
    assert (first.id, new, newer) == (again.id, True, False)


def test_p47_a_resource_is_gone_on_with_in_its_own_chat_only(open_intake: Open) -> None:
    intake = open_intake()
    resource, _ = intake.take("ada", "c", Attachment("a.txt", b"x"))
    assert intake.receive("ada", "c", {"resource_id": resource.id})[0]["resource_id"] == resource.id
    for user, chat in (("bob", "c"), ("ada", "d")):
        (received,) = intake.receive(user, chat, {"resource_id": resource.id})
        assert received["resource_id"] == ""
        assert "Unknown resource" in received["error"]


@pytest.mark.parametrize("name", ["../../../escaped", "a\0b", "a\ud83d", "", "..", "x" * 9_000])
def test_p52_p79_no_name_leads_out_of_the_chats_files(name: str, open_intake: Open, tmp_path: Path) -> None:
    resource, new = open_intake().take("ada", "c", Attachment(name, b"kept"))
    assert new
    kept = (tmp_path / "home" / resource.storage_path).resolve()
    assert kept.is_relative_to(tmp_path / "home" / "files" / "ada" / "c")
    assert kept.read_bytes() == b"kept"
    assert resource.name == kept.name


def test_p52_an_id_with_half_a_character_is_no_resource(open_intake: Open) -> None:
    (received,) = open_intake().receive("ada", "c", {"resource_id": "a\ud83d"})
    assert received["error"].startswith("Unknown resource 'a\\ud83d': expected an id")
