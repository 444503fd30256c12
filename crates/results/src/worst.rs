//! The flows that cost most: a bounded list, kept while flows end.

use analysis::ascending::{Ascending, Walk};
use analysis::rows::{FlowId, FlowRow};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use wire::Span;

/// Worse is greater: one whose analysis failed, then by what the flow could have carried in the time that it lost, then by that time, then whether
/// anything was repaired, then by size; the earlier flow first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    failed: bool,
    stakes_bytes: u64,
    lost: Span,
    repaired: bool,
    bytes: u64,
    flow: Reverse<FlowId>,
}

/// A flow that lost no time counts with this part of what it carried: a transfer that went well is of more interest than
/// a connection beside it that carried a thousandth of that and lost a moment. It is the share of the duration from which
/// on a verdict names somebody.
const CARRIED: f64 = 0.03;
/// At most so many times what a flow carried is what it could have carried besides: a few segments do not show a rate.
const SHOWN: f64 = 8.0;

impl Rank {
    pub fn of(r: &FlowRow) -> Rank {
        let lost = r.lost();
        Rank {
            failed: r.fault.is_some(),
            stakes_bytes: stakes_bytes(r, lost),
            lost,
            repaired: (r.episodes > 0 || r.retransmitted_segments > 0) && !repeated_its_fin_only(r),
            bytes: r.bytes,
            flow: Reverse(r.flow),
        }
    }
}

/// What a flow could have carried while it lost `lost`, at the rate of the rest of its time, and a part of what it carried.
/// The time in which it was asked for nothing belongs to the rest: of who asks seldom more would not have been sent.
fn stakes_bytes(r: &FlowRow, lost: Span) -> u64 {
    let (carried, lost) = (r.bytes as f64, lost.as_secs());
    let rest = (r.end - r.start).as_secs() - lost;
    let could = match lost > 0.0 {
        true if rest > 0.0 => (carried * lost / rest).min(SHOWN * carried),
        true => SHOWN * carried,
        false => 0.0,
    };
    (could + CARRIED * carried) as u64
}

/// A direction without data or SYNs to repair that had to send its FIN again.
fn repeated_its_fin_only(r: &FlowRow) -> bool {
    r.bytes == 0 && r.retransmitted_segments > 0 && r.syn_retransmissions == 0
}

/// The worst `limit` flows so far.
pub struct Worst {
    limit: usize,
    heap: BinaryHeap<Reverse<Rank>>,
}

/// What became of a flow that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    Taken,
    InPlaceOf(FlowId),
    Refused,
}

impl Worst {
    /// As many as a page names, or more.
    pub fn at_least(limit: usize) -> Worst {
        Worst::of(limit.max(64))
    }
    pub fn of(limit: usize) -> Worst {
        Worst { limit, heap: BinaryHeap::new() }
    }
    pub fn offer(&mut self, r: &FlowRow) -> Offered {
        if !self.takes(r) {
            return Offered::Refused;
        }
        let is_full = self.heap.len() >= self.limit;
        let gone = if is_full { self.heap.pop() } else { None };
        self.heap.push(Reverse(Rank::of(r)));
        gone.map_or(Offered::Taken, |least| Offered::InPlaceOf(least.0.flow.0))
    }
    /// Whether this flow would be taken if it were offered.
    pub fn takes(&self, r: &FlowRow) -> bool {
        self.heap.len() < self.limit || self.heap.peek().is_some_and(|least| least.0 < Rank::of(r))
    }
    /// Of the flows of a part of the connections; `numbers`: among all connections, of each of these.
    pub fn number(&mut self, numbers: &Ascending) {
        let mut ranks: Vec<Rank> = self.heap.drain().map(|rank| rank.0).collect();
        ranks.sort_unstable_by_key(|rank| rank.flow.0);
        let mut passed = Walk::new(numbers).enumerate().peekable();
        for rank in &mut ranks {
            let of = rank.flow.0 as usize / 2;
            while passed.next_if(|(i, _)| *i < of).is_some() {}
            if let Some((_, number)) = passed.peek() {
                rank.flow.0 = *number as FlowId * 2 + rank.flow.0 % 2;
            }
        }
        self.heap = ranks.into_iter().map(Reverse).collect();
    }
    /// The worst of these and of another part's.
    pub fn take_in(&mut self, part: Worst) {
        self.heap.extend(part.heap);
        while self.heap.len() > self.limit {
            self.heap.pop();
        }
    }
    /// Whether `n` flows can be named without looking at all of them again.
    pub fn covers(&self, n: usize) -> bool {
        n <= self.limit || self.heap.len() < self.limit
    }
    /// The worst `n` flows, the worst first.
    pub fn first(&self, n: usize) -> Vec<FlowId> {
        let mut ranks: Vec<Rank> = self.heap.iter().map(|r| r.0).collect();
        ranks.sort_by(|a, b| b.cmp(a));
        ranks.into_iter().take(n).map(|r| r.flow.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::rows::Closed;
    use wire::Time;

    /// A flow of ten seconds.
    fn row(flow: FlowId, cost_ms: i64, blocked_ms: i64, bytes: u64) -> FlowRow {
        FlowRow {
            flow,
            start: Time::ZERO,
            end: Time::ZERO + Span::from_secs(10),
            cost: Some(Span::from_millis(cost_ms)),
            idle_total: Span::from_millis(blocked_ms),
            idle_blocked: Span::from_millis(blocked_ms),
            bytes,
            ..FlowRow::default()
        }
    }

    #[test]
    fn what_could_have_been_carried_decides_and_then_the_time() {
        let mut worst = Worst::of(3);
        // 5 ms of 10 s at 9 MB in all are 4.5 kB; 7 ms of blocked idle time at 90 MB are 63 kB.
        for r in [row(0, 0, 0, 9_000_000), row(2, 5, 0, 9_000_000), row(4, 0, 7, 90_000_000), row(6, 0, 0, 1)]
        {
            worst.offer(&r);
        }
        assert_eq!(worst.first(9), [4, 2, 0]);
        assert_eq!(worst.first(1), [4]);
        assert!(worst.covers(3) && !worst.covers(4));
    }

    #[test]
    fn the_transfer_of_iperf3_comes_before_its_control_connection() {
        let mut worst = Worst::at_least(0);
        // 330 bytes in ten seconds, of which nine were spent waiting to be asked.
        let asked = FlowRow { idle_total: Span::from_secs(9), idle_blocked: Span::ZERO, ..row(1, 0, 0, 330) };
        worst.offer(&asked);
        worst.offer(&row(4, 2150, 0, 10_000_000));
        worst.offer(&row(0, 0, 0, 10_000_000));
        // A short request beside them waited a second for its timer.
        worst.offer(&FlowRow { episodes: 1, ..row(2, 1000, 0, 1000) });
        assert_eq!(worst.first(4), [4, 0, 2, 1]);
    }

    #[test]
    fn a_flow_that_died_at_once_is_worse_than_one_that_went_well() {
        let mut worst = Worst::at_least(0);
        worst.offer(&row(0, 0, 0, 10_000_000));
        worst.offer(&row(2, 0, 10_000, 1_000_000));
        assert_eq!(worst.first(2), [2, 0]);
    }

    #[test]
    fn a_request_that_waited_for_its_syn_comes_before_one_that_was_resent_at_once() {
        let mut worst = Worst::at_least(0);
        let request =
            |flow, took_ms| FlowRow { end: Time::ZERO + Span::from_millis(took_ms), ..row(flow, 0, 0, 442) };
        // Reset at once, with more bytes: nothing waited for it.
        worst.offer(&FlowRow { end: Time::ZERO, ..row(0, 0, 0, 1448) });
        worst.offer(&FlowRow { episodes: 1, retransmitted_segments: 1, ..request(3, 211) });
        let handshake = Some(Span::from_millis(1060));
        worst.offer(&FlowRow { handshake, handshake_resent: 1, ..request(5, 1140) });
        // As long, and nothing had to be sent again: a host that answers late.
        worst.offer(&FlowRow { handshake, ..request(7, 1140) });
        assert_eq!(worst.first(4), [5, 0, 3, 7]);
    }

    #[test]
    fn a_call_in_vain_lost_all_its_time_and_one_that_was_refused_none() {
        for seconds in 1..=20 {
            let end = Time::ZERO + Span::from_secs(seconds);
            let called = FlowRow { end, syn_retransmissions: 3, handshake_resent: 3, ..row(0, 0, 0, 0) };
            assert_eq!(called.lost(), Span::from_secs(seconds));
            let refused = FlowRow { closed: Closed::Reset, flow: 2, ..called.clone() };
            assert_eq!(refused.lost(), Span::ZERO);
            let mut worst = Worst::at_least(0);
            worst.offer(&refused);
            worst.offer(&called);
            assert_eq!(worst.first(2), [0, 2]);
        }
    }

    #[test]
    fn a_fin_sent_again_is_no_repair_of_a_transfer() {
        let mut worst = Worst::at_least(0);
        worst.offer(&FlowRow { retransmitted_segments: 1, ..row(0, 0, 0, 0) });
        worst.offer(&row(2, 0, 0, 0));
        worst.offer(&FlowRow { retransmitted_segments: 1, syn_retransmissions: 1, ..row(4, 0, 0, 0) });
        assert_eq!(worst.first(3), [4, 0, 2]);
    }

    #[test]
    fn among_equals_the_earlier_flow_stays() {
        let mut worst = Worst::of(2);
        for flow in [8, 2, 6, 0, 4] {
            worst.offer(&row(flow, 0, 0, 1));
        }
        assert_eq!(worst.first(2), [0, 2]);
    }

    #[test]
    fn whoever_is_offered_learns_who_had_to_go() {
        let mut worst = Worst::of(2);
        let offered =
            [row(0, 5, 0, 1), row(2, 1, 0, 1), row(4, 3, 0, 1), row(6, 2, 0, 1)].map(|r| worst.offer(&r));
        assert!(worst.takes(&row(8, 4, 0, 1)) && !worst.takes(&row(10, 3, 0, 1)));
        assert_eq!(offered, [Offered::Taken, Offered::Taken, Offered::InPlaceOf(2), Offered::Refused]);
    }
}
