"""Detection by duplicate ACKs (RFC 5681, section 3.2), the twin of the built-in `dup-acks`.

It gives the same packets at the same times, and tests/python/test_own_rules.py holds it to that. In Rust:
crates/tcp/src/detect/mod.rs.
"""

from __future__ import annotations

from rexmit.rules import DetectFacts, Detector, Verdict


class DupAcks(Detector):
    """DupThresh duplicates in a row begin a recovery; nothing but the oldest segment is condemned."""

    def judge(self, f: DetectFacts) -> Verdict:
        return Verdict(lost_below=f.una, begins=f.dupacks >= f.dupthresh)
