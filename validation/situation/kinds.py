"""All kinds by name."""

from __future__ import annotations

from situation import bulk, messages, readers, trouble, turns
from situation.kind import Kind

KINDS: dict[str, Kind] = {
    kind.name: kind for kind in (*turns.KINDS, *trouble.KINDS, *messages.KINDS, *readers.KINDS, *bulk.KINDS)
}


def kind_of(name: str) -> Kind:
    """Raises ValueError if there is no such kind."""
    if name not in KINDS:
        raise ValueError(f"kind = {name!r} is no kind: {', '.join(KINDS)}")
    return KINDS[name]
