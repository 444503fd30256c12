//! The flows that cost most: a bounded list, kept while flows end.

use analysis::rows::{FlowId, FlowRow};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use wire::Span;

/// Worse is greater: by cost, then whether anything was repaired, then idle, then what was sent again, then size;
/// the earlier flow first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    cost: Span,
    repaired: bool,
    idle: Span,
    resent: u64,
    bytes: u64,
    flow: Reverse<FlowId>,
}

impl Rank {
    pub fn of(r: &FlowRow) -> Rank {
        Rank {
            cost: r.cost.unwrap_or(Span::ZERO),
            repaired: r.episodes > 0 || r.retransmitted_segments > 0,
            // A few segments in a long silence are a flow that waits for its application, as requests do.
            idle: if r.segments >= 10 { r.idle_total } else { Span::ZERO },
            resent: r.retransmitted_bytes,
            bytes: r.bytes,
            flow: Reverse(r.flow),
        }
    }
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

    fn row(flow: FlowId, cost_ms: i64, idle_ms: i64, bytes: u64) -> FlowRow {
        FlowRow {
            flow,
            cost: Some(Span::from_millis(cost_ms)),
            idle_total: Span::from_millis(idle_ms),
            bytes,
            segments: 10,
            ..FlowRow::default()
        }
    }

    #[test]
    fn cost_comes_before_idle_and_idle_before_size() {
        let mut worst = Worst::of(3);
        for r in
            [row(0, 0, 0, 9_000_000), row(2, 5, 0, 1), row(4, 0, 7, 10), row(6, 5, 1, 1), row(8, 0, 0, 1)]
        {
            worst.offer(&r);
        }
        assert_eq!(worst.first(9), [6, 2, 4]);
        assert_eq!(worst.first(1), [6]);
        assert!(worst.covers(3) && !worst.covers(4));
    }

    #[test]
    fn a_transfer_comes_before_the_silence_of_its_requests() {
        let mut worst = Worst::at_least(0);
        worst.offer(&FlowRow { segments: 2, ..row(1, 0, 15_000, 4) });
        worst.offer(&row(0, 0, 0, 10_000_000));
        worst.offer(&FlowRow { episodes: 1, ..row(2, 0, 0, 1000) });
        assert_eq!(worst.first(3), [2, 0, 1]);
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
