//! xnu-1699's "bad retransmit" test: an ACK within a full SRTT of the first timeout.
//!
//! It was meant for half an SRTT, and timestamps are not asked. After an outage the queues are empty, so the
//! retransmission's own ACK comes back sooner than a smoothed RTT, and a timeout that was right is undone.

use wire::Time;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BadRetransmit {
    until: Option<Time>,
}

impl BadRetransmit {
    pub(super) fn armed(until: Time) -> BadRetransmit {
        BadRetransmit { until: Some(until) }
    }

    /// The next ACK that advances: does it come too early to be the retransmission's? Asked once.
    pub(crate) fn on_advance(&mut self, now: Time) -> bool {
        self.until.take().is_some_and(|until| now < until)
    }
}
