//! What all flows between two hosts show of the path between them: its rate, who shares it, whether a queue stands, and
//! when nothing came through.

mod capacity;
mod policer;

pub use capacity::{Capacity, How, is_even};
pub use policer::Policer;

use crate::assumptions::{FULL, OFTEN, PLATEAU_ROUNDS, SHARED};
use crate::conversation::{Conversation, has_others};
use analysis::rows::{BurstRow, PathRow, RoundRow};
use wire::{Span, Time};

/// One direction of the path of a conversation.
#[derive(Clone, Debug, Default)]
pub struct Path<'a> {
    pub rows: &'a [PathRow],
    pub rounds: &'a [RoundRow],
    pub base_rtt: Option<Span>,
    pub least_queue: Span,
    pub capacity: Option<Capacity>,
    pub policer: Option<Policer>,
    /// A short queue is overrun: most of what was lost was lost out of what came at once.
    pub overruns: bool,
    /// The packets of this direction were captured as they left.
    seen_leaving: bool,
    mss: u64,
}

impl<'a> Path<'a> {
    fn new(
        rows: &'a [PathRow],
        rounds: &'a [RoundRow],
        base_rtt: Option<Span>,
        least_queue: Span,
    ) -> Path<'a> {
        Path { rows, rounds, base_rtt, least_queue, ..Path::default() }
    }

    /// The queues that hold all flows of a host at which a capture was taken, where one does: their sum has the same rate for
    /// as long as they wait.
    pub fn of_hosts(c: &Conversation<'a>, side: usize) -> Vec<Path<'a>> {
        let of = |rows: &'a [PathRow]| {
            let mut path = Path::new(rows, &[], Some(Span::ZERO), c.least_queue());
            path.capacity = capacity::of(c, side, &path).filter(|p| p.how == How::Full);
            capacity::is_flat(&path).then_some(path)
        };
        c.flows[side].hosts.into_iter().filter_map(of).collect()
    }

    pub fn of(c: &Conversation<'a>, side: usize) -> Path<'a> {
        let flow = &c.flows[side];
        let mut path = Path::new(flow.path, flow.rounds, c.base_rtt, c.least_queue());
        (path.seen_leaving, path.mss) = (c.seen_leaving(side), c.mss(side));
        path.capacity = capacity::of(c, side, &path);
        path.policer = policer::of(c, side, &path);
        let lost = |some: &dyn Fn(&BurstRow) -> bool| {
            flow.bursts.iter().filter(|b| some(b)).map(|b| u64::from(b.lost_segments)).sum::<u64>()
        };
        let at_once = |more: usize| lost(&|b| b.lost_segments as usize > more && path.is_at_once(b));
        let empty = |yes| lost(&|b| path.leaves_its_time_empty(b) == Some(yes));
        let behind = || empty(true) > empty(false);
        path.overruns = at_once(OFTEN) > 0 && at_once(1) * 2 >= lost(&|_| true) && !behind();
        path
    }

    /// Its copies came faster than the path takes them: a queue had to hold them.
    pub fn is_at_once(&self, b: &BurstRow) -> bool {
        match self.seen_leaving {
            true => 2.0 * self.taken(b.last - b.start) <= b.lost_bytes as f64,
            // Where data arrives it does not show when they left.
            false => self.leaves_its_time_empty(b) != Some(true),
        }
    }

    /// Where data arrives: nothing came for as long as the path would have taken for what was lost. So it had passed the
    /// queue; what a queue drops leaves no such hole. `None` where a pause hides it.
    fn leaves_its_time_empty(&self, b: &BurstRow) -> Option<bool> {
        let gap = b.start - b.neighbours.as_deref().filter(|_| !self.seen_leaving)?.before;
        let empty = self.taken(gap) - self.mss as f64;
        (gap * 2 < self.base_rtt?).then_some(2.0 * empty >= b.lost_bytes as f64)
    }

    /// Bytes that the path can carry in this time; 0 where its capacity is not known.
    fn taken(&self, time: Span) -> f64 {
        self.capacity.map_or(0.0, |c| c.bytes_per_s * time.as_secs())
    }

    /// Bins that overlap an interval, and for what share of the bin each.
    fn within(&self, start: Time, end: Time) -> impl Iterator<Item = (&'a PathRow, f64)> {
        let rows = self.rows;
        let from = rows.partition_point(move |r| r.start + r.width <= start);
        rows[from..].iter().take_while(move |r| r.start < end).map(move |r| {
            let overlap = (r.start + r.width).min(end) - r.start.max(start);
            (r, overlap.0.max(0) as f64 / r.width.0.max(1) as f64)
        })
    }

    /// Payload that all flows of the path delivered in an interval.
    pub fn delivered(&self, start: Time, end: Time) -> f64 {
        self.within(start, end).map(|(r, share)| r.delivered_bytes as f64 * share).sum()
    }

    fn rate(&self, start: Time, end: Time) -> f64 {
        self.delivered(start, end) / (end - start).as_secs().max(1e-9)
    }

    /// Of the bytes that the path delivered in an interval, the share that is not this conversation's.
    pub fn others(&self, start: Time, end: Time, own: f64) -> f64 {
        let all = self.delivered(start, end);
        if all <= 0.0 { 0.0 } else { (1.0 - own / all).clamp(0.0, 1.0) }
    }

    /// Others take a good part of what the path carries.
    pub fn is_shared(&self, start: Time, end: Time, own: f64) -> bool {
        has_others(self.rows, self.rounds) && self.others(start, end, own) >= SHARED
    }

    /// How long the path was busy with `bytes` of one flow that took `length` to deliver them: their time at the path's
    /// rate, or all the time where all flows together filled it.
    pub fn busy(&self, start: Time, end: Time, bytes: f64) -> Option<Span> {
        let capacity = self.capacity.filter(|c| c.how != How::Reached)?;
        let length = (end - start).as_secs();
        if length <= 0.0 || bytes <= 0.0 {
            return Some(Span::ZERO);
        }
        // A bin is as wide as a round trip or wider: a row of less than that has its bytes spread over its neighbours.
        let (from, to) = self.at_least_a_bin(start, end);
        let all = self.rate(from, to) / capacity.bytes_per_s;
        let own = (bytes / capacity.bytes_per_s / length).min(1.0);
        let busy = match all >= FULL {
            true if self.is_shared(from, to, bytes / length * (to - from).as_secs()) => 1.0,
            true => own.max(FULL).max(own / FULL).min(1.0),
            false => own,
        };
        Some(Span::from_secs_f64(busy * length))
    }

    /// All flows together fill it, and others have a good part of that.
    pub fn is_full_of_others(&self, start: Time, end: Time, own: f64) -> bool {
        let Some(capacity) = self.capacity else { return false };
        let (from, to) = self.at_least_a_bin(start, end);
        let all = self.rate(from, to);
        let own = own * (to - from).as_secs() / (end - start).as_secs().max(1e-9);
        all >= FULL * capacity.bytes_per_s && self.others(from, to, own) >= SHARED
    }

    fn at_least_a_bin(&self, start: Time, end: Time) -> (Time, Time) {
        let least = self.base_rtt.unwrap_or(Span::ZERO).max(Span::from_millis(10));
        let missing = (least - (end - start)).max(Span::ZERO);
        (start - missing / 2, end + missing / 2)
    }

    /// Payload of this conversation's flow that arrived in an interval.
    pub fn own(&self, start: Time, end: Time) -> f64 {
        let part = |r: &RoundRow| {
            let overlap = (r.end.min(end) - r.start.max(start)).as_secs().max(0.0);
            r.delivered_bytes as f64 * (overlap / r.length().as_secs().max(1e-9)).min(1.0)
        };
        self.rounds_in(start, end).map(part).sum()
    }

    /// Some flow of this path had data delivered in the interval: this one in a round trip within it, or another one.
    pub fn delivers(&self, start: Time, end: Time) -> bool {
        let within = |r: &RoundRow| r.start >= start && r.end <= end && r.delivered_bytes > 0;
        let whole = self.within(start, end).filter(|(_, share)| *share >= 1.0);
        let all: u64 = whole.map(|(r, _)| r.delivered_bytes).sum();
        let own: u64 = self.rounds_in(start, end).map(|r| r.delivered_bytes).sum();
        self.rounds_in(start, end).any(within) || all > own
    }

    /// The rounds of this conversation's flow that overlap an interval.
    pub fn rounds_in(&self, start: Time, end: Time) -> impl Iterator<Item = &'a RoundRow> {
        let rounds = self.rounds;
        let from = rounds.partition_point(move |r| r.end <= start);
        rounds[from..].iter().take_while(move |r| r.start < end)
    }

    /// Neighbouring round trips are alike: the mean square of their differences is at most their variance, of which it is twice
    /// for values that do not depend on each other (von Neumann, Annals of Mathematical Statistics 12, 1941).
    pub fn waits_follow_one_another(&self, start: Time, end: Time) -> bool {
        let all: Vec<f64> =
            self.rounds_in(start, end).filter_map(|r| Some(r.rtt_mean()?.as_secs())).collect();
        let n = all.len() as f64;
        let mean = all.iter().sum::<f64>() / n;
        let variance = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
        let steps = all.windows(2).map(|two| (two[1] - two[0]).powi(2)).sum::<f64>() / (n - 1.0);
        all.len() >= PLATEAU_ROUNDS && steps <= variance
    }

    /// The mean wait in queues in an interval, by this flow's round trips or else by those of the path.
    pub fn queued(&self, start: Time, end: Time) -> Option<Span> {
        let base = self.base_rtt?;
        let own = self.rounds_in(start, end).map(|r| (r.rtt_sum, i64::from(r.rtt_n)));
        let (mut sum, mut n) = own.fold((Span::ZERO, 0), |(s, n), (rtt, k)| (s + rtt, n + k));
        if n == 0 {
            let all = self.within(start, end).map(|(r, _)| (r.rtt_sum, r.rtt_n as i64));
            (sum, n) = all.fold((Span::ZERO, 0), |(s, n), (rtt, k)| (s + rtt, n + k));
        }
        (n > 0).then(|| (sum / n - base).max(Span::ZERO))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::rows::Neighbours;

    /// Two segments of 1,000 bytes are lost on a path that takes a millisecond for each; nothing came for so long.
    fn lost_in_a_gap_of(us: i64) -> Option<bool> {
        let mut path = Path::new(&[], &[], Some(Span::from_millis(40)), Span::from_millis(2));
        path.capacity = Some(Capacity { bytes_per_s: 1e6, how: How::Trains });
        (path.seen_leaving, path.mss) = (false, 1000);
        let before = Time(5_000_000_000);
        let neighbours = Some(Box::new(Neighbours { before, after: None }));
        let start = before + Span::from_micros(us);
        let burst = BurstRow { start, last: start, lost_bytes: 2000, neighbours, ..BurstRow::default() };
        assert_eq!(path.is_at_once(&burst), path.leaves_its_time_empty(&burst) != Some(true));
        path.leaves_its_time_empty(&burst)
    }

    #[test]
    fn what_is_lost_behind_the_queue_leaves_its_time_empty_where_data_arrives() {
        assert_eq!(lost_in_a_gap_of(3000), Some(true));
        // The next packet came right behind the one before: nothing else was sent to the slowest link.
        assert_eq!(lost_in_a_gap_of(1000), Some(false));
        // Half a round trip may be a pause of the sender's.
        assert_eq!(lost_in_a_gap_of(20_000), None);
    }
}
