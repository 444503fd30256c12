"""A virtual environment as a user has it: rexmit as it is built here and what it depends on, no more.

It has the extras that `make build` installs, or others, or none. What the running interpreter has is linked,
so that it takes a second and no network. rexmit itself and its studies may come from wheels instead.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from importlib.metadata import Distribution, distribution
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Extras that `make build` installs (USED in the Makefile).
USED = ("tables", "figures", "studies", "sweep")

#: The package of the papers, which is in studies/.
STUDIES = "rexmit-studies"
#: Packages of the development tools: none may be found.
FOREIGN = ("pandas", "polars", "jsonschema", "pytest")
SCRIPT = """#!{python}
import sys
from rexmit.cli import main
sys.exit(main())
"""


def make(folder: Path, wheels: Sequence[Path] = (), extras: Sequence[str] = USED) -> Path:
    """Makes it; returns its folder. Raises RuntimeError if it is not what it should be.

    wheels: what rexmit, and its studies where the extras name them, are installed from; else they are linked
    to where their source is.  extras: of pyproject.toml.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = folder / "lib" / version / "site-packages"
    for dist in needed(extras):
        _link(dist, packages)
    if wheels:
        pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
        told = [str(wheel) for wheel in wheels]
        subprocess.run([*pip, "install", "--quiet", "--no-index", "--no-deps", *told], check=True)
    else:
        _use_source(folder, packages)
        if "studies" in extras:
            # With its folder and its entry point, as `make build` installs it.
            _link(distribution(STUDIES), packages)
    code = f"import importlib.util as u; print(*(n for n in {FOREIGN} if u.find_spec(n)))"
    found = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True, env={})
    if found.stdout.strip():
        raise RuntimeError(f"{folder} is not plain: {found.stdout.strip()} can be imported")
    return folder


def _use_source(folder: Path, packages: Path) -> None:
    import rexmit

    # The package is where its source is.
    (packages / "rexmit.pth").write_text(f"{Path(rexmit.__file__).parents[1]}\n")
    script = folder / "bin" / "rexmit"
    script.write_text(SCRIPT.format(python=folder / "bin" / "python"))
    script.chmod(0o755)


def needed(extras: Sequence[str] = ()) -> list[Distribution]:
    """What rexmit needs at run time with these extras, by pyproject.toml, and what those packages need."""
    from packaging.requirements import Requirement

    project, studies = (
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for folder in (".", "studies")
    )
    optional = project["optional-dependencies"] | {"studies": studies["dependencies"]}
    lists = [project["dependencies"], *(optional[extra] for extra in extras)]
    found: dict[str, Distribution] = {}
    waiting = [Requirement(text).name for texts in lists for text in texts]
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in found or name == "rexmit":
            continue
        found[name] = distribution(name)
        wanted = [Requirement(text) for text in found[name].requires or []]
        waiting += [w.name for w in wanted if w.marker is None or w.marker.evaluate({"extra": ""})]
    return list(found.values())


def _link(dist: Distribution, packages: Path) -> None:
    """Links what lies in the folder of packages, as a whole: a package's own folder, its metadata."""
    tops = {file.parts[0] for file in dist.files or []} - {"..", "__pycache__"}
    for top in tops:
        link = packages / top
        if not link.exists():
            os.symlink(dist.locate_file(top), link)
