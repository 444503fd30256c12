"""RACK (RFC 8985) as Linux has it, the twin of the built-in `rack`.

It gives the same packets at the same times, and tests/python/test_own_rules_by_time.py holds it to that. In
Rust: crates/tcp/src/detect/rack.rs.
"""

from __future__ import annotations

from rexmit.rules import Delivery, Horizon, Patience, TimeDetector

#: RFC 8985, section 6.2, step 4: so many recoveries without a DSACK make the window small again.
HOLDS_FOR = 16
STEPS_MAX = 255
#: Linux: tcp_max_reordering.
REORDERING_MAX = 300


class Rack(TimeDetector):
    """A copy is lost if one that left later was delivered, and a round trip and some time for reordering have
    passed since it left.
    """

    def __init__(self) -> None:
        # RACK.segment and RACK.rtt; before the first ACK nothing is older than it.
        self.newest = (-1, 0)
        self.rtt_ns = 0
        # Something was delivered since losses were last looked for.
        self.advanced = False
        # Segments between a late original and the highest SACK, the most that was seen; and how often.
        self.behind = 0
        self.seen = 0
        # RACK.reo_wnd_mult, and for how many recoveries more it holds.
        self.steps = 1
        self.persist = 0
        # A DSACK came; the next step waits until this is acknowledged (RACK.dsack_round).
        self.dsack = False
        self.round_end = 0

    def note_plain(self, newest: tuple[int, int], now_ns: int) -> None:
        self.advanced = True
        self.rtt_ns = now_ns - newest[0]
        # RFC 8985, section 6.2, RACK_sent_after: by the time, then by the end.
        self.newest = max(self.newest, newest)

    def note(self, d: Delivery) -> None:
        # RFC 8985, section 6.2, steps 1 to 4.
        newest = d.newest
        if newest is not None:
            self.note_plain(newest, d.now_ns)
            measured = d.measured_ns
            self.rtt_ns = d.now_ns - (newest[0] if measured is None else measured)
        if d.reordered is not None:
            self.seen += 1
            self.behind = max(self.behind, d.reordered)
        # Linux: a DSACK speaks for reordering only where some was seen.
        self.dsack |= d.dsack and self.seen > 0
        if newest is None:
            return
        if d.una < self.round_end:
            self.dsack = False
        if self.dsack:
            self.dsack = False
            self.steps = min(self.steps + 1, STEPS_MAX)
            self.persist = HOLDS_FOR
            self.round_end = d.max
        elif self.persist == 0:
            self.steps = 1

    def reordering_window(self, p: Patience) -> int:
        """RFC 8985, section 6.2, step 4; nanoseconds."""
        if self.seen == 0 and (p.repairing or p.sacked_segments >= self.reordering(p.dupthresh)):
            return 0
        return min((p.min_rtt_ns or 0) // 4 * self.steps, p.srtt_ns or 0)

    def look(self, p: Patience, now_ns: int) -> Horizon | None:
        if not self.advanced:
            return None
        self.advanced = False
        return self.horizon(p, now_ns)

    def horizon(self, p: Patience, now_ns: int) -> Horizon:
        return Horizon(newest=self.newest, wait_ns=self.rtt_ns + self.reordering_window(p))

    def spared_since(self, now_ns: int) -> int:
        # RFC 8985, section 6.3: what left less than a round trip ago may still arrive.
        return now_ns - self.rtt_ns

    def recovery_ended(self) -> None:
        self.persist = max(0, self.persist - 1)

    def taken_back(self) -> None:
        self.advanced = True

    def taken_back_by_dsack(self) -> None:
        # The wider window holds for longer.
        self.persist = min(self.persist + 1, HOLDS_FOR)
        self.advanced = True

    def reordering(self, dupthresh: int) -> int:
        if self.seen == 0:
            return dupthresh
        return min(max(dupthresh, self.behind), REORDERING_MAX)

    def reordering_seen(self) -> int:
        return self.seen
