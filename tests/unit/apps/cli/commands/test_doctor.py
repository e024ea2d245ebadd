import json
from pathlib import Path

import pytest

from cognition.rehearsal import RehearsalServer, Reply
from cognition.settings import process_settings
from cognition.storage.disk.folder_lock import FolderLock
from tests.conftest import FLASH, LITE, PRO
from tests.unit.apps.cli.conftest import Run


def test_a_working_installation(run: Run) -> None:
    run("ask", "delegate: plan a trip, and ask me where to go")
    shown = run("doctor", "--json")
    checks = {check["name"]: check for check in json.loads(shown.stdout)}
    assert shown.exit_code == 0, shown.stdout
    assert set(checks) == {
        "versions",
        "key",
        "models",
        "folder",
        "embedding",
        "memories",
        "threads",
        "register",
    }
    assert checks["threads"]["found"] == "1 chat"
    assert checks["register"]["found"] == "0 files"
    assert "rehearsed" in checks["key"]["found"]
    assert run("doctor").exit_code == 0


@pytest.fixture
def with_a_key(monkeypatch: pytest.MonkeyPatch, rehearsal: RehearsalServer) -> RehearsalServer:
    monkeypatch.setenv("GOOGLE_API_KEY", "AIza-secret")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", rehearsal.url)
    for model in (LITE, FLASH, PRO):
        rehearsal.script(model, [Reply(text="Ready.")])
    return rehearsal


def test_each_model_is_called_and_the_key_is_never_shown(run: Run, with_a_key: RehearsalServer) -> None:
    shown = run("doctor")
    assert "✓ key" in shown.stdout
    assert "✓ models" in shown.stdout
    assert "AIza-secret" not in shown.output
    assert {request.model for request in with_a_key.requests} == {LITE, FLASH, PRO}


def test_p76_a_model_unknown_to_the_provider(
    run: Run, with_a_key: RehearsalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COGNITION_MODEL_PRO", "google_genai:palm-9")
    shown = run("doctor")
    assert shown.exit_code == 1
    assert "✗ models" in shown.stdout
    assert "palm-9 is not found" in shown.stdout


def test_a_missing_embedding_model(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COGNITION_MEMORY_EMBEDDING", "/nowhere/model")
    shown = run("doctor")
    assert shown.exit_code == 1
    assert "✗ embedding: /nowhere/model" in shown.stdout
    assert "→" in shown.stdout


def test_p40_vectors_of_another_model(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("chat", stdin=b"remember that I live in Lyon\n")
    monkeypatch.setenv("COGNITION_MEMORY_EMBEDDING", "use-multilingual")
    process_settings.cache_clear()
    shown = run("doctor")
    assert shown.exit_code == 1
    assert "✗ memories" in shown.stdout
    assert "cognition reembed" in shown.stdout
    rejected = run("ask", "where do I live?")
    assert rejected.exit_code == 1
    assert "cognition reembed" in rejected.stderr


def test_p76_a_model_of_an_unknown_provider_is_reported_and_prevents_a_chat(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COGNITION_MODEL_PRO", "nobody:model")
    shown = run("doctor")
    assert shown.exit_code == 1
    assert "✗ models" in shown.stdout
    rejected = run("ask", "hello")
    assert rejected.exit_code == 1
    assert "'nobody:model' can't be used" in rejected.stderr


def test_a_locked_home_folder(run: Run, tmp_path: Path) -> None:
    with FolderLock(tmp_path / "home", "http://127.0.0.1:9"):
        shown = run("doctor")
    assert shown.exit_code == 1
    assert "✗ folder" in shown.stdout
    assert "http://127.0.0.1:9" in shown.stdout


@pytest.mark.parametrize(("name", "file"), [("threads", "threads.sqlite"), ("register", "cognition.sqlite")])
def test_a_file_that_is_not_a_database(run: Run, tmp_path: Path, name: str, file: str) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / file).write_text("this is not a database " * 99)
    shown = run("doctor")
    assert shown.exit_code == 1
    assert f"✗ {name}" in shown.stdout
    assert f"{file}' away" in shown.stdout
    rejected = run("ask", "hello")
    assert rejected.exit_code == 1
    assert "Run `cognition doctor` to find out which" in rejected.stderr
