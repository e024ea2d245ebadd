import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_existing_objects_are_excluded_once_and_later_ones_are_collected() -> None:
    code = """
import gc, weakref
from cognition.models.client import freeze_gc
freeze_gc()
frozen = gc.get_freeze_count()
class Node: pass
node = Node(); node.itself = node
gone = weakref.ref(node)
del node
freeze_gc()
assert gc.get_freeze_count() == frozen > 1_000
gc.collect()
assert gone() is None
"""
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
