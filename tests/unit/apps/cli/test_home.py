"""A home folder written by an earlier release can still be used."""

import json
import tarfile
from pathlib import Path

import pytest

from tests.unit.apps.cli.conftest import ROOT, Run


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Unpack a home folder written by release 0.1.0."""
    with tarfile.open(ROOT / "tests" / "data" / "home-0.1.0.tar.xz") as archive:
        archive.extraction_filter = getattr(
            tarfile, "data_filter", None
        )  # before Python 3.11.4 there is none
        archive.extractall(tmp_path / "home")
    return tmp_path / "home"


@pytest.mark.usefixtures("home")
def test_a_home_of_0_1_0_opens_and_answers(run: Run) -> None:
    memories = json.loads(run("memory", "list", "--json").stdout)["memories"]
    assert {memory["fact"] for memory in memories} == {
        "I live in Lyon",
        "I live in Paris",
        "my sister Lena is a painter",
    }
    assert {memory["artifact_name"] for memory in memories} == {"Profil d'Alignement"}
    assert "Lena is a painter" in run("memory", "search", "who is my sister?").stdout
    assert "7:30" in run("ask", "when does the fuel dock open?", "--chat", "winter").stdout
    (agent,) = json.loads(run("agents", "list", "--json").stdout)["agents"]
    assert agent["status"] == "waiting"
    assert "Status: success" in run("ask", "forty, and six of them children", "--chat", "feast").stdout
    assert "You are a baker." in run("skills", "show", "master-baker").stdout
    assert "✗" not in run("doctor").stdout
