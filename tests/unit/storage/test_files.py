"""The files of a chat: synced to disk before they are reported, and separate from all other chats."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cognition.storage.files import STALE_SECONDS, FileRejected, Files
from cognition.storage.resources import Resource

ROOT = Path(__file__).parents[3]


def row(path: str) -> Resource:
    return Resource(
        id="r",
        user_id="ada",
        chat_id="c",
        name="a",
        resource_type="text",
        mime="text/plain",
        size=1,
        sha256="",
        status="PENDING_INGESTION",
        storage_path=path,
    )


def everything(home: Path) -> list[str]:
    return sorted(str(path.relative_to(home)) for path in home.rglob("*") if path.is_file())


def test_p60_p62_a_content_is_there_once_per_chat_and_a_purge_takes_one_chats_only(tmp_path: Path) -> None:
    files = Files(tmp_path)
    stored = files.store("ada", "c", b"same", name="a.txt", limit=9)
    assert files.store("ada", "c", b"same", name="b.txt", limit=9) == stored
    others = [
        files.store(user, chat, b"same", name="a.txt", limit=9) for user, chat in (("ada", "d"), ("bob", "c"))
    ]
    assert len({stored.path, *(other.path for other in others)}) == 3
    files.purge("ada", "c")
    assert not (tmp_path / stored.path).exists()
    assert all((tmp_path / other.path).read_bytes() == b"same" for other in others)
    files.purge("ada", "c")


def test_a_copy_does_not_change_with_its_original(tmp_path: Path) -> None:
    original = tmp_path / "a.txt"
    original.write_bytes(b"one")
    stored = Files(tmp_path / "home").store("ada", "c", original, name="a.txt", limit=9)
    original.write_bytes(b"two")
    assert (tmp_path / "home" / stored.path).read_bytes() == b"one"
    assert stored.size == 3


def test_p61_what_is_too_large_or_no_file_leaves_nothing(tmp_path: Path) -> None:
    files = Files(tmp_path / "home")
    pipe, link, folder = tmp_path / "pipe", tmp_path / "link", tmp_path / "folder"
    os.mkfifo(pipe)
    link.symlink_to("/etc/hostname")
    folder.mkdir()
    with pytest.raises(FileRejected, match="The file is larger than"):
        files.store("ada", "c", b"0123456789", name="a", limit=9)
    with pytest.raises(FileRejected, match="not a regular file"):
        files.store("ada", "c", pipe, name="a", limit=9)
    for path in (link, folder, tmp_path / "none"):
        with pytest.raises(OSError):  # noqa: PT011  # the message depends on the system
            files.store("ada", "c", path, name="a", limit=9)
    assert everything(tmp_path / "home") == []


def test_a_full_disk_is_an_error_and_leaves_nothing_half_written(tmp_path: Path) -> None:
    """Simulated in a separate process whose files cannot grow beyond 4 KiB."""
    code = (
        "import resource, signal, sys; from pathlib import Path; from cognition.storage.files import Files;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096));"
        "Files(Path(sys.argv[1])).store('ada', 'c', b'x' * 5000, name='a', limit=9000)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "OSError" in ran.stderr
    assert everything(tmp_path) == []


def test_what_a_dead_process_left_behind_is_swept_and_what_is_being_written_stays(tmp_path: Path) -> None:
    files = Files(tmp_path)
    stored = files.store("ada", "c", b"first", name="a", limit=9)
    incoming = (tmp_path / stored.path).parents[2] / "incoming"
    (incoming / "dead").write_bytes(b"half")
    (incoming / "alive").write_bytes(b"half")
    os.utime(incoming / "dead", (0, os.stat(incoming).st_mtime - STALE_SECONDS - 9))
    files.store("ada", "c", b"second", name="a", limit=9)
    assert [path.name for path in incoming.iterdir()] == ["alive"]


def test_a_text_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    files = Files(tmp_path)
    resource = row(files.store("ada", "c", b"x", name="a", limit=9).path)

    def fail() -> None:
        with files.writing_text(resource) as place:
            place.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert not files.text(resource).exists()
    with files.writing_text(resource) as place:
        place.write_text("whole")
    assert files.text(resource).read_text() == "whole"
    assert len(everything(tmp_path)) == 2
    files.delete(resource)
    assert everything(tmp_path) == []


def test_a_text_of_a_purged_chat_comes_to_nothing(tmp_path: Path) -> None:
    files = Files(tmp_path)
    resource = row(files.store("ada", "c", b"x", name="a", limit=9).path)

    def write_late() -> None:
        with files.writing_text(resource) as place:
            place.write_text("late")
            files.purge("ada", "c")

    with pytest.raises(FileNotFoundError):
        write_late()
    assert everything(tmp_path) == []


@pytest.mark.parametrize(("user", "chat"), [("../bob", "c"), ("ada", "../../bob"), ("a/b", "..")])
def test_p47_p79_no_id_leads_out_of_its_folder(tmp_path: Path, user: str, chat: str) -> None:
    stored = Files(tmp_path).store(user, chat, b"x", name="a", limit=9)
    assert (tmp_path / stored.path).resolve().is_relative_to(tmp_path / "files")
    assert ".." not in stored.path


@pytest.mark.parametrize(("user", "chat"), [("", "c"), (" ", "c"), ("ada", ""), ("ada", " ")])
def test_p47_a_missing_user_or_chat_is_refused(tmp_path: Path, user: str, chat: str) -> None:
    with pytest.raises(ValueError, match="blank"):
        Files(tmp_path).store(user, chat, b"x", name="a", limit=9)
    with pytest.raises(ValueError, match="blank"):
        Files(tmp_path).purge(user, chat)
