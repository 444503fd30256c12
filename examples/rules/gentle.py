"""A window rule that takes a loss for noise while the queue is empty, and for congestion otherwise."""

from rexmit.rules import AckFacts, LossFacts, Window, WindowRule


class Gentle(WindowRule):
    def __init__(self, queued: float = 0.25, noise: float = 0.9) -> None:
        # How much above the smallest RTT is a queue, and what noise leaves of the window.
        self.queued = queued
        self.noise = noise
        self.crowded = False
        self.counted = 0

    def measure(self, w: Window, a: AckFacts, open: bool) -> None:
        if a.rtt_ns is not None and a.min_rtt_ns is not None:
            self.crowded = a.rtt_ns > a.min_rtt_ns * (1 + self.queued)

    def avoid(self, w: Window, a: AckFacts, acked: int) -> None:
        # RFC 3465: one SMSS for each window's worth of acknowledged bytes.
        self.counted += acked
        if self.counted >= w.cwnd:
            self.counted -= w.cwnd
            w.cwnd += w.smss

    def ssthresh(self, w: Window, loss: LossFacts) -> int:
        self.counted = 0
        left = 0.5 if self.crowded or loss.timeout else self.noise
        return max(int(loss.flight * left), 2 * w.smss)
