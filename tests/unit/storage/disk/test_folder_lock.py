"""The lock on the home folder, on this system and on Windows."""

import subprocess
import sys
from pathlib import Path

import pytest

from cognition.storage.disk.folder_lock import FolderInUse, FolderLock, holder_of

ROOT = Path(__file__).parents[4]

AS_ON_WINDOWS = """
import asyncio, fcntl, importlib, os, sys, types
from pathlib import Path

def locking(handle, mode, length):
    try:
        fcntl.flock(handle, {0: fcntl.LOCK_UN, 1: fcntl.LOCK_EX}.get(mode, fcntl.LOCK_EX | fcntl.LOCK_NB))
    except BlockingIOError:
        raise PermissionError(13, "Permission denied") from None

sys.modules["msvcrt"] = types.SimpleNamespace(
    locking=locking, LK_UNLCK=0, LK_LOCK=1, LK_NBLCK=2, LK_RLCK=3, LK_NBRLCK=4
)
import portalocker
name, os.name = os.name, "nt"
importlib.reload(portalocker.constants)
importlib.reload(portalocker.portalocker)
os.name = name
importlib.reload(portalocker)
assert hasattr(portalocker.portalocker, "MsvcrtLocker")
sys.modules["fcntl"] = None
for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "pwrite"):
    delattr(os, flag)

from cognition.skills.vault import Vault
from cognition.storage.disk.folder_lock import FolderInUse, FolderLock, holder_of
from cognition.storage.disk.free_space import require_free_space
from cognition.storage.files import Files

home = Path(sys.argv[1])
require_free_space(home)
with FolderLock(home, "http://127.0.0.1:2024"):
    try:
        FolderLock(home)
    except FolderInUse as error:
        assert error.holder.pid == os.getpid(), error.holder
        assert "http://127.0.0.1:2024" in str(error), error
    else:
        raise AssertionError("locked twice")
assert holder_of(home) is None
Vault(home, "ada").save_skill("baker", "Baker", "Bakes.", "You bake.")
source = home / "tide.txt"
source.write_text("High at noon.")
assert Files(home).store("ada", "chat", source, name="tide.txt", limit=1_000).size == 13
print("locked, rejected and released")
"""


def test_it_is_held_by_one_and_free_after_its_release(tmp_path: Path) -> None:
    with FolderLock(tmp_path, "http://127.0.0.1:2024"):
        with pytest.raises(
            FolderInUse, match=r"in use by process \d+ \(serving http://127\.0\.0\.1:2024\)\. Use"
        ):
            FolderLock(tmp_path)
        holder = holder_of(tmp_path)
        assert holder
        assert holder.url == "http://127.0.0.1:2024"
    assert holder_of(tmp_path) is None


def test_it_is_released_when_its_process_is_killed(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from cognition.storage.disk.folder_lock import FolderLock\n"
        "lock = FolderLock(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        found = holder_of(tmp_path)
        assert found
        assert found.pid == process.pid
        process.kill()
    assert holder_of(tmp_path) is None


def test_the_windows_branch_locks_refuses_and_releases(tmp_path: Path) -> None:
    """Uses a stand-in for `msvcrt`, without `fcntl` and without the parts of `os` that Windows lacks."""
    ran = subprocess.run(
        [sys.executable, "-c", AS_ON_WINDOWS, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "locked, rejected and released\n"
