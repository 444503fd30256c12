"""Where Wireshark looks for a user's own scripts and profiles, and rexmit's files put there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from rexmit.files.destination import check_file
from rexmit.files.whole import write

SCRIPT = "rexmit.lua"
RULES = "colorfilters"
#: The files of the profile, which Wireshark knows by these names.
PROFILE = (RULES, "dfilter_buttons", "preferences")
#: In the first line of each file. Wireshark leaves it out when it writes the file with a user's changes.
OURS = b"Written by rexmit wireshark"
#: Programs that say which folders they use, where no PATH leads to them.
PROGRAMS = (
    "/Applications/Wireshark.app/Contents/MacOS/tshark",
    r"C:\Program Files\Wireshark\tshark.exe",
)
#: Seconds that such a program may take: it loads all of its plugins first.
LIMIT_S = 60


def content(name: str) -> bytes:
    """One of the files."""
    return resources.files("rexmit.wireshark").joinpath(name).read_bytes()


def folders() -> tuple[Path, Path]:
    """The folder of a user's own Lua scripts, and the one of the configuration, which need not exist.

    Wireshark's own program is asked, since variables and folders of former versions move them. Where there is
    none, these are the places that its manual names.
    """
    scripts, configuration = _usual()
    found = dict(re.findall(r"^(Personal [\w ]+):\s+(.+?)\s*$", _said_by_wireshark(), re.M))
    return (
        Path(found.get("Personal Lua Plugins", scripts)),
        Path(found.get("Personal configuration", configuration)),
    )


def _usual() -> tuple[Path, Path]:
    if sys.platform == "win32":
        there = Path(os.environ.get("APPDATA", Path.home() / "AppData" / "Roaming")) / "Wireshark"
        return there / "plugins", there
    configuration = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "wireshark"
    return Path.home() / ".local" / "lib" / "wireshark" / "plugins", configuration


def _said_by_wireshark() -> str:
    program = next((found for name in ("tshark", *PROGRAMS) if (found := shutil.which(name))), None)
    if program is None:
        return ""
    try:
        done = subprocess.run(
            [program, "-G", "folders"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


def install(overwrite: bool) -> list[Path]:
    """Puts the script and the profile where Wireshark finds them; returns their paths.

    Raises TakenError, before anything is written, where a file is not rexmit's; `overwrite`
    replaces it.
    """
    planned = list(_planned())
    for path, _ in planned:
        check_file(path, is_ours, overwrite)
    for path, text in planned:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, [text])
    return [path for path, _ in planned]


def _planned() -> Iterator[tuple[Path, bytes]]:
    scripts, configuration = folders()
    yield scripts / SCRIPT, content(SCRIPT)
    for name in PROFILE:
        yield configuration / "profiles" / "rexmit" / name, content(name)


def is_ours(path: Path) -> bool:
    """Whether rexmit wrote this file, and Wireshark did not write it anew since."""
    with open(path, "rb") as file:
        return OURS in file.readline(200)
