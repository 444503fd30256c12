"""`rexmit completion`: what a shell is told, and that the shell understands it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rexmit import cli
from rexmit.cli import completion

BASH = """
source "$1"
COMP_WORDS=(rexmit study run --qui)
COMP_CWORD=3
_shtab_rexmit 2>/dev/null
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_the_script_knows_commands_and_options(
    shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(word in script for word in ("analyze", "ladder", "study", "quick", "completion"))
    if shutil.which(shell):
        path = tmp_path / "script"
        path.write_text(script)
        subprocess.run([shell, "-n", str(path)], check=True)


@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
def test_bash_completes_an_option_of_a_subcommand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["completion", "bash"])
    path = tmp_path / "script"
    path.write_text(capsys.readouterr().out)
    done = subprocess.run(["bash", "-c", BASH, "bash", str(path)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["--quick"]


def test_the_library_is_loaded_for_this_command_only() -> None:
    code = "import sys; from rexmit import cli; cli.parser(); print('shtab' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
