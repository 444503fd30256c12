"""What needs packages beyond the base, and the command that adds them to this very installation."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

Extra = Literal["tables", "figures", "studies", "sweep", "mcp", "notebook", "cluster"]

#: Extras of pyproject.toml by name, with the modules that they bring.
MODULES: dict[Extra, tuple[str, ...]] = {
    "tables": ("pyarrow",),
    "figures": ("matplotlib", "numpy"),
    "studies": ("rexmit_studies", "matplotlib", "numpy", "pyarrow", "pywt", "scipy"),
    "sweep": ("duckdb", "fsspec", "numpy", "pyarrow", "scipy"),
    "mcp": ("mcp",),
    "notebook": ("ipykernel", "matplotlib", "numpy", "pyarrow"),
    "cluster": ("cryptography", "distributed", "numpy", "pyarrow", "scipy"),
}
PACKAGE = "rexmit"
#: The package of the studies, and the module by which it is known. It brings what else the extra names.
_STUDIES, _MODULE = "rexmit-studies", "rexmit_studies"
#: The folder of the source, if the package runs from there.
_CHECKOUT = Path(__file__).resolve().parents[2]


class MissingError(ImportError, ValueError):
    """A package is not installed that only an extra brings; the message says how to add it."""


def has(extra: Extra) -> bool:
    """Whether everything of an extra is installed."""
    return not _absent(MODULES[extra])


def need(extra: Extra, what: str, *modules: str) -> None:
    """Raises MissingError unless everything of the extra is installed, or these modules of it.

    what: the thing that needs them.
    """
    absent = _absent(modules or MODULES[extra])
    if _MODULE in absent:
        absent = [_STUDIES]
    if absent:
        listed = ", ".join(absent[:-1]) + " and " * (len(absent) > 1) + absent[-1]
        raise MissingError(f"{what} needs {listed}: {command(extra)}")


def told(error: ModuleNotFoundError) -> MissingError | None:
    """The same of an import that failed; None if no extra has the module."""
    module = (error.name or "").partition(".")[0]
    for extra, modules in MODULES.items():
        if module in modules:
            package = _STUDIES if module == _MODULE else module
            return MissingError(f"this needs {package}: {command(extra)}")
    return None


def _absent(modules: Sequence[str]) -> list[str]:
    return [name for name in modules if not _there(name)]


def _there(module: str) -> bool:
    # Python's import takes None in sys.modules for a module that cannot be imported; find_spec raises.
    if module in sys.modules:
        return sys.modules[module] is not None
    return find_spec(module) is not None


def command(extra: Extra) -> str:
    """The command line that adds an extra to the installation that is running."""
    if _from_checkout() and extra == "studies":
        return shlex.join([sys.executable, "-m", "pip", "install", "-e", str(_CHECKOUT / "studies")])
    if _from_checkout():
        return shlex.join([sys.executable, "-m", "pip", "install", *_requirements(extra)])
    prefix = Path(sys.prefix)
    # Tools are installed anew with all extras that are to be there.
    kept = [one for one in MODULES if one == extra or (one != "notebook" and has(one))]
    all_of_it = f"{PACKAGE}[{','.join(kept)}]"
    if (prefix / "uv-receipt.toml").exists():
        return shlex.join(["uv", "tool", "install", all_of_it])
    if (prefix / "pipx_metadata.json").exists():
        return shlex.join(["pipx", "install", "--force", all_of_it])
    wanted = f"{PACKAGE}[{extra}]"
    if {"archive-v0", "environments-v2"} & set(prefix.parts):
        # An environment in uv's cache, which uvx made for one run.
        return shlex.join(["uvx", "--from", all_of_it, "rexmit"])
    if find_spec("pip") is None and _made_by_uv(prefix):
        return shlex.join(["uv", "pip", "install", "--python", sys.prefix, wanted])
    if os.environ.get("VIRTUAL_ENV") == sys.prefix:
        return shlex.join(["pip", "install", wanted])
    return shlex.join([sys.executable, "-m", "pip", "install", wanted])


def _from_checkout() -> bool:
    """Whether the package runs from the folder of its source, as `make build` has it."""
    return (_CHECKOUT / "crates" / "py" / "Cargo.toml").exists()


def _made_by_uv(prefix: Path) -> bool:
    try:
        lines = (prefix / "pyvenv.cfg").read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    return any(line.partition("=")[0].strip() == "uv" for line in lines)


def _requirements(extra: Extra) -> list[str]:
    """What pip is to install for an extra, as the installed metadata says; else the modules."""
    try:
        lines = requires(PACKAGE) or []
    except PackageNotFoundError:
        lines = []
    mine = [line.partition(";") for line in lines]
    found = [name.strip() for name, _, marker in mine if f'extra == "{extra}"' in marker.replace("'", '"')]
    return found or list(MODULES[extra])
