"""The causes of a slow transfer: the closed list that the oracle, the kinds and the removal test share."""

from __future__ import annotations

CAUSES = (
    *("request-response", "sender-idle", "receiver-not-reading", "receive-window", "delayed-ack"),
    *("receiver-stack", "send-window", "slow-start", "pacing", "timer", "sender-stalled", "handshake"),
    *("bottleneck", "shared-bottleneck", "policer", "standing-queue", "loss-random", "loss-queue"),
    *("outage", "path-died", "packets-held", "mtu", "reordering", "ack-loss", "middlebox", "reset"),
    *("nothing", "cannot-tell"),
)

#: Causes that no simulated transfer can have: hosts that throw data away, boxes that rewrite options,
#: programs that reset a connection, captures with parts missing.
NOT_SIMULATED = frozenset({"receiver-stack", "middlebox", "reset", "cannot-tell"})
