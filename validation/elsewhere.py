"""Checks what cannot be run here: the Rust code for other systems, and the workflows that build on them.

`cargo check` over the extension for every system that has a wheel, where the standard library for it is
installed (rustup target add TARGET). zstd and liblzma are C: Zig compiles them for any system. A check is no
run; what it finds is code that only compiles on Linux.

What is not installed is named as skipped. Exit code: 0 nothing is wrong, 1 something is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = Path(sys.executable).parent
# Windows' wheel is for -msvc, whose C compiler and headers Zig does not have; the code is the same.
TARGETS = [
    "aarch64-unknown-linux-gnu",
    "aarch64-apple-darwin",
    "x86_64-apple-darwin",
    "x86_64-pc-windows-gnu",
]


def skip(what: str, fix: str) -> bool:
    print(f"skipped: {what} ({fix})", flush=True)
    return True


def has_target(target: str) -> bool:
    asked = ["rustc", "--print", "target-libdir", "--target", target]
    done = subprocess.run(asked, check=False, capture_output=True, text=True, cwd=ROOT)
    return done.returncode == 0 and any(Path(done.stdout.strip()).glob("libstd-*"))


def compiles(target: str) -> bool:
    """Whether the extension passes `cargo check` for that system, without a warning."""
    if not has_target(target):
        return skip(f"the code for {target}", f"rustup target add {target}")
    zigbuild = TOOLS / "cargo-zigbuild"
    if not zigbuild.exists():
        return skip(f"the code for {target}", "pip install cargo-zigbuild ziglang")
    command = [zigbuild, "check", "--quiet", "-p", "rexmit-py", "--features", "python", "--target", target]
    env = os.environ | {
        "PATH": os.pathsep.join([str(TOOLS), os.environ.get("PATH", os.defpath)]),
        "PYO3_NO_PYTHON": "1",
        "RUSTFLAGS": "-Dwarnings",
        # Flags of their own: in a folder of their own they leave other builds alone.
        "CARGO_TARGET_DIR": str(Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "elsewhere"),
    }
    well = subprocess.run(command, check=False, cwd=ROOT, env=env).returncode == 0
    print(f"{'compiles' if well else 'DOES NOT COMPILE'}: {target}", flush=True)
    return well


def workflows() -> bool:
    # Where `go install` puts it, which is on few paths.
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), str(Path.home() / "go" / "bin")])
    actionlint = shutil.which("actionlint", path=path)
    if actionlint is None:
        fix = "go install github.com/rhysd/actionlint/cmd/actionlint@latest"
        return skip("the workflow files", fix)
    well = subprocess.run([actionlint], check=False, cwd=ROOT).returncode == 0
    print(f"{'well-formed' if well else 'WRONG'}: .github/workflows", flush=True)
    return well


def main() -> int:
    return 0 if all([workflows(), *map(compiles, TARGETS)]) else 1


if __name__ == "__main__":
    sys.exit(main())
