"""Ingestions that are killed and continued by another process."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_an_ingestion_killed_at_any_step_comes_out_as_if_it_had_not_been(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.graphs.interrupting", str(tmp_path)]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    outcome = json.loads(process.stdout or "{}")
    assert outcome, process.stderr
    assert outcome["wrong"] == []
    steps = ["receive", "extract", "decide", "vectorize", "vectorize", "sum_up", "VECTORIZED_SUM_UP"]
    assert outcome["killed"] == steps
    expected = outcome["expected"]
    assert expected["texts"] == [True]
    assert len(expected["chunks"]) == expected["vectors"][0] > 3
    assert expected["files"] == 2
