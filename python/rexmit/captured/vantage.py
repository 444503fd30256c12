"""Where a flow was seen from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def is_away(flow: Mapping[str, Any]) -> bool:
    """Seen where its data arrives, or midway: ACKs show there how soon the host answers, no round trip."""
    return flow.get("vantage") in ("receiver", "middle")
