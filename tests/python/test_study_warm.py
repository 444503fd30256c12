"""What a study loads beforehand: all of it, or nothing more once it is stopped, and later all the same."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import sys
import rexmit
from rexmit_studies.warm import warm
asked = 0
def stopped():
    global asked
    asked += 1
    return asked > {most}
warm(stopped, writes=True)
print("scipy.stats" in sys.modules, "pyarrow" in sys.modules, len(sys.meta_path))
import scipy.stats
print(scipy.stats.norm.cdf(0.0))
"""


def told(most: float) -> list[str]:
    script = SCRIPT.format(most=most)
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.splitlines()


def test_all_is_loaded() -> None:
    found, value = told(1e9)
    assert found.startswith("True True ")
    assert value == "0.5"


def test_stopped_at_any_module_it_can_be_loaded_later() -> None:
    # 5: in what writing needs; 400 to 900: in the middle of scipy.
    places = told(5)[0].split()[2]
    for most in (5, 400, 700, 900):
        found, value = told(most)
        assert found.split() == ["False", str(most > 5), places], most
        assert value == "0.5", most
