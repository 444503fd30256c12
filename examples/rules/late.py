"""A copy is late after a round trip and a share of it, if one that left later was delivered."""

from rexmit.rules import Delivery, Horizon, Patience, TimeDetector


class Late(TimeDetector):
    def __init__(self, share: float = 0.25) -> None:
        self.share = share
        self.newest = (-1, 0)
        self.rtt_ns = 0

    def note(self, d: Delivery) -> None:
        if d.newest is not None:
            self.newest = max(self.newest, d.newest)
            self.rtt_ns = d.now_ns - d.newest[0]

    def look(self, p: Patience, now_ns: int) -> Horizon:
        return Horizon(newest=self.newest, wait_ns=int(self.rtt_ns * (1 + self.share)))

    horizon = look
