"""A kind of transfer: one entry of the list that situations.py draws from."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from situation.oracle import Truth
from situation.setting import Draw, Setting


@dataclass(frozen=True)
class Kind:
    """near: a kind that looks alike, whose cause is another one.  by: the program, where that is idle."""

    name: str
    cause: str
    make: Callable[[Draw], Setting]
    near: str
    by: str | None = None
    is_bulk: bool = False

    def drawn(self, seed: int) -> Setting:
        """The same setting whenever it is drawn from the same seed."""
        return self.make(random.Random(f"{self.name} {seed}"))

    @property
    def answer(self) -> str:
        return f"{self.cause} ({self.by})" if self.by else self.cause

    def is_cause_of(self, truth: Truth) -> bool:
        return (truth.cause, truth.by) == (self.cause, self.by)
