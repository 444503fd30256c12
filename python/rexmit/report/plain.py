"""Values as a page's JSON has them: no NaN, no numpy, no text that is obeyed by whatever shows it."""

from __future__ import annotations

import math
from typing import Any

from rexmit.screen.say import as_json, visible

#: What could end the element that holds the JSON, or a line of a script.
_IN_HTML = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def plain(value: Any) -> Any:
    """The value with every text made visible, every number Python's own, and null for what is no number."""
    if isinstance(value, str):
        # Most are: looked at sooner than rewritten.
        return value if value.isascii() and value.isprintable() else visible(value)
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, dict):
        return {plain(str(key)): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def in_html(value: Any) -> str:
    """As JSON that may stand in an element of a page."""
    return as_json(plain(value), compact=True).translate(_IN_HTML)


def in_json(value: Any) -> bytes:
    """As JSON by itself."""
    return as_json(plain(value), compact=True).encode()
