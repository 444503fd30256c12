"""Values as a page's JSON has them: no NaN, no numpy, no text that is obeyed by whatever shows it."""

from __future__ import annotations

import math
from typing import Any

from rexmit import _core
from rexmit.screen.say import as_json


def plain(value: Any) -> Any:
    """The value with every number Python's own, and null for what is no number."""
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def in_html(value: Any) -> str:
    """As JSON that may stand in an element of a page."""
    return _core.report_in_html(_text(value))


def in_json(value: Any) -> bytes:
    """As JSON by itself."""
    return _text(value).encode()


def _text(value: Any) -> str:
    return _core.report_visible(as_json(plain(value), compact=True))
