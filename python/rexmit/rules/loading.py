"""From `class = "mine:Gentle"` to objects: the class is found, looked over and tried, before anything runs.

What is wrong with it is a sentence without its subject, which is the key that names it.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import astuple, dataclass
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

from rexmit.rules.hooks import Detector, DrivingRule, Habits, Recovery, TimeDetector, WindowRule


@dataclass(frozen=True)
class Kind:
    """What a class may derive from, the hooks that it must have then, and what it says once."""

    base: type
    needed: tuple[str, ...]
    says: str | None = None


#: By the section that names the class.
KINDS: dict[str, tuple[Kind, ...]] = {
    "congestion": (
        Kind(WindowRule, ("avoid", "ssthresh"), "counts_segments"),
        Kind(DrivingRule, ("drive",)),
    ),
    "detect": (
        Kind(Detector, ("judge",), "counts_news"),
        Kind(TimeDetector, ("note", "look", "horizon")),
    ),
    "recovery": (Kind(Recovery, ("enter", "on_ack", "exit"), "uses_pipe"),),
}


#: Why no class is loaded now, if none is: whoever opens what others have made does not run their code.
REFUSED: ContextVar[str | None] = ContextVar("REFUSED", default=None)


@contextmanager
def refusing(why: str) -> Iterator[None]:
    """No class is loaded within; why: a sentence without its subject."""
    before = REFUSED.set(why)
    try:
        yield
    finally:
        REFUSED.reset(before)


class Held:
    """Ctrl-C while rules are asked: the first is noted, so that no hook ends halfway; the second ends it."""

    def __init__(self) -> None:
        self.pressed = False
        self._before: Any = None
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._press)

    def _press(self, number: int, frame: Any) -> None:
        if self.pressed:
            raise KeyboardInterrupt
        self.pressed = True

    def release(self) -> None:
        """As it was before."""
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)


class NoRule(Exception):
    """Why a class is no rule: a sentence without its subject."""


class Found:
    """A class that may be asked. `hooks`: those that it has of its own; nothing else is called."""

    def __init__(self, cls: type, params: Mapping[str, Any], kind: Kind) -> None:
        self.cls = cls
        self.params = dict(params)
        self.kind = kind.base.__name__
        self.hooks = own_hooks(cls, kind.base, kind.needed)
        first = self.make()
        self.flag = False if kind.says is None else getattr(first, kind.says)
        if not isinstance(self.flag, bool):
            raise NoRule(f"has {kind.says} = {self.flag!r}: True or False")
        self.habits = habits_of(first) if kind.base is Recovery else ()

    def make(self) -> Any:
        return self.cls(**self.params)


def load(section: str, named: str, params: Mapping[str, Any]) -> Found:
    """The class that `[section]` names, made once to see that it can be. Raises NoRule."""
    why = REFUSED.get()
    if why is not None:
        raise NoRule(why)
    where, _, name = named.rpartition(":")
    module = module_of(where)
    cls = getattr(module, name, None)
    if cls is None:
        classes = [key for key, value in vars(module).items() if inspect.isclass(value)]
        raise NoRule(f"is not there: {short(where)} has no {name}{near(name, classes)}")
    kinds = KINDS[section]
    kind = next((one for one in kinds if inspect.isclass(cls) and issubclass(cls, one.base)), None)
    if kind is None:
        names = [one.base.__name__ for one in kinds]
        listed = " or ".join(f"rexmit.rules.{one}" for one in names)
        raise NoRule(f"is no {' or '.join(names)}: a class of [{section}] derives from {listed}")
    try:
        return Found(cls, params, kind)
    except NoRule:
        raise
    except (Exception, SystemExit) as error:
        raise NoRule(f"cannot be made with its params: {told(error)}{taken(cls, params)}") from error


def module_of(where: str) -> ModuleType:
    try:
        if where.endswith(".py"):
            return module_of_file(Path(where))
        with current_folder():
            return importlib.import_module(where)
    except NoRule:
        raise
    except ModuleNotFoundError as error:
        if error.name is not None and (where == error.name or where.startswith(f"{error.name}.")):
            fix = f'a file beside the stack: class = "./{where.rpartition(".")[2]}.py:…"'
            raise NoRule(f"is not there: Python finds no module {error.name}; {fix}") from None
        raise NoRule(f"cannot be imported: {told(error)}") from error
    except (Exception, SystemExit) as error:
        raise NoRule(f"cannot be imported: {told(error)}") from error


def module_of_file(path: Path) -> ModuleType:
    """A file's module, each file once: two stacks that name it have the same classes."""
    if not path.is_file():
        nearby = [one.name for one in path.parent.glob("*.py")] if path.parent.is_dir() else []
        raise NoRule(f"is not there: there is no file {path}{near(path.name, nearby)}")
    whole = os.path.realpath(path)
    stamp = os.stat(whole).st_mtime_ns
    known = FILES.get(whole)
    if known is not None and known[0] == stamp:
        return known[1]
    spec = importlib.util.spec_from_file_location(f"rexmit_rule_{path.stem}_{len(FILES)}", whole)
    assert spec is not None
    assert spec.loader is not None, "a .py file has one"
    module = importlib.util.module_from_spec(spec)
    # Data classes and copies look their module up.
    sys.modules[spec.name] = module
    try:
        with beside(Path(whole).parent):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[spec.name]
        raise
    FILES[whole] = (stamp, module)
    return module


FILES: dict[str, tuple[int, ModuleType]] = {}


@contextmanager
def beside(folder: Path) -> Iterator[None]:
    """What lies in the folder can be imported, as for `python FILE`."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


@contextmanager
def current_folder() -> Iterator[None]:
    """Modules are found from here, too, as for `python -m`: a script's own path need not have it."""
    here = os.getcwd()
    if here in sys.path or "" in sys.path:
        yield
        return
    sys.path.append(here)
    try:
        yield
    finally:
        sys.path.remove(here)


def own_hooks(cls: type, base: type, needed: tuple[str, ...]) -> frozenset[str]:
    bases = [kind for kind in base.__mro__ if kind is not object]
    hooks = [name for kind in bases for name, value in vars(kind).items() if inspect.isfunction(value)]
    own = frozenset(name for name in hooks if getattr(cls, name) is not getattr(base, name))
    mine = {
        name
        for kind in cls.__mro__
        if kind not in base.__mro__
        for name, it in vars(kind).items()
        if callable(it)
    }
    strange = sorted(name for name in mine - set(hooks) if not name.startswith("_"))
    for name in needed:
        if name not in own:
            like = get_close_matches(name, strange, 1)
            says = f"; its {like[0]} is none: did you mean {name}?" if like else ""
            taken = ", ".join(inspect.signature(getattr(base, name)).parameters)
            raise NoRule(f"lacks the hook {name}({taken}){says}")
    for name in strange:
        like = get_close_matches(name, [hook for hook in hooks if hook not in own], 1, 0.8)
        if like:
            raise NoRule(f"has {name}, which is no hook: did you mean {like[0]}?")
    return own


def habits_of(rule: Any) -> tuple[bool, ...]:
    if not isinstance(rule.habits, Habits):
        raise NoRule(f"has habits = {rule.habits!r}: rexmit.rules.Habits(…)")
    return tuple(bool(one) for one in astuple(rule.habits))


def taken(cls: type, params: Mapping[str, Any]) -> str:
    """Which params a constructor takes, where one that was given is not among them."""
    try:
        arguments = inspect.signature(cls).parameters.values()
    except ValueError:
        return ""
    if any(one.kind is one.VAR_KEYWORD for one in arguments):
        return ""
    names = [one.name for one in arguments]
    unknown = [key for key in params if key not in names]
    if not unknown:
        return ""
    return f"; it takes {', '.join(names) or 'none'}{near(unknown[0], names)}"


def near(word: str, allowed: list[str]) -> str:
    like = get_close_matches(word, allowed, 1)
    return f"; did you mean {like[0]}?" if like else ""


def short(where: str) -> str:
    return Path(where).name if where.endswith(".py") else where


def told(error: BaseException) -> str:
    """An exception on one line: what it says, and the last places in the user's code, the innermost first."""
    said = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    if isinstance(error, SyntaxError):
        return f"{said} ({Path(error.filename or '?').name}, line {error.lineno})"
    frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename != __file__]
    frames = [one for one in frames if not one.filename.startswith("<frozen ")]
    places = [
        f"{Path(one.filename).name}, line {one.lineno}, in {one.name}: {one.line}" for one in frames[-2:]
    ]
    return f"{said} ({'; called from '.join(reversed(places))})" if places else said
