import json
import os
import subprocess

import pytest

from tests.unit.apps.cli.conftest import PROGRAM, Run


@pytest.fixture
def remembered(run: Run) -> str:
    """Store a memory for the local user and one for Bob; return the id of the first."""
    run("chat", stdin=b"remember that I live in Lyon\n")
    run("chat", "--user", "bob", stdin=b"remember that my dog is called Rex\n")
    return str(json.loads(run("memory", "list", "--json").stdout)["memories"][0]["memory_id"])


def test_listing(run: Run, remembered: str) -> None:
    listing = json.loads(run("memory", "list", "--json").stdout)
    assert listing["total"] == 1
    assert listing["artifacts"] == {"Profil d'Alignement": 1}
    assert [m["fact"] for m in listing["memories"]] == ["I live in Lyon"]
    shown = run("memory", "list").stdout
    assert remembered in shown
    assert "I live in Lyon" in shown
    assert "Rex" not in shown
    assert "Rex" in run("memory", "list", "--user", "bob").stdout


def test_search(run: Run, remembered: str) -> None:
    listing = json.loads(run("memory", "search", "where do I live?", "--json").stdout)
    assert [m["memory_id"] for m in listing["memories"]] == [remembered]
    assert listing["memories"][0]["score"] > 0
    assert "I live in Lyon" in run("memory", "search", "Lyon").stdout
    assert run("memory", "search", "Rex").stdout == "No matching memories.\n"


def test_filters(run: Run, remembered: str) -> None:
    assert "Lyon" not in run("memory", "list", "--to", "2020").stdout
    assert "Lyon" in run("memory", "list", "--from", "2020").stdout
    assert run("memory", "list", "--artifact", "Projet").stdout == "No matching memories.\n"
    assert run("memory", "list", "--limit", "0").exit_code == 2
    rejected = run("memory", "list", "--from", "yesterday")
    assert rejected.exit_code == 1
    assert rejected.stderr.startswith("Invalid --from 'yesterday'")
    assert run("memory", "search", "x", "--to", "2026-13").stderr.startswith("Invalid --to '2026-13'")
    swapped = run("memory", "list", "--from", "2026", "--to", "2025")
    assert swapped.stderr == "--from '2026' is after --to '2025': swap them.\n"


def test_delete(run: Run, remembered: str) -> None:
    foreign = run("memory", "delete", remembered, "--user", "bob")
    assert foreign.exit_code == 1
    wrong = run("memory", "delete", remembered[:-2])
    assert wrong.exit_code == 1
    assert f"Similar ids: {remembered}" in wrong.stderr
    assert run("memory", "delete", remembered).exit_code == 0
    assert run("memory", "list").stdout == "No memories yet.\n"


def test_undo_without_an_older_text_is_rejected(run: Run, remembered: str) -> None:
    shown = run("memory", "undo", remembered)
    assert shown.exit_code == 1
    assert remembered in shown.stderr


def test_p47_a_blank_user_is_rejected(run: Run, remembered: str) -> None:
    for arguments in (("list",), ("search", "Lyon"), ("delete", remembered), ("undo", remembered)):
        shown = run("memory", *arguments, "--user", " ")
        assert shown.exit_code == 1
        assert "blank" in shown.stderr
        assert "Lyon" not in shown.stdout


def test_a_closed_pipe_is_not_an_error(run: Run, remembered: str, bare_environment: dict[str, str]) -> None:
    read, written = os.pipe()
    os.close(read)
    shown = subprocess.run(
        [*PROGRAM, "memory", "list"],
        env=bare_environment,
        stdout=written,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(written)
    assert shown.stderr == b""
