//! What is counted of a stream.

use super::Account;
use crate::rows::{ByCause, FlowRow, Inference, TooLarge};
use wire::Span;

/// First what any data packet counts.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Counts {
    pub packets: u64,
    pub bytes: u64,
    pub segments: u64,
    pub resent_segments: u64,
    pub resent_packets: u64,
    pub resent_bytes: u64,
    pub keep_alives: u64,
    pub window_probes: u64,
    pub window_probes_unanswered: u64,
    trouble: Option<Box<LossCounts>>,
}

/// What streams count that have lost something, or sent it again: most have not.
#[derive(Clone, Copy, Debug, Default)]
pub struct LossCounts {
    pub by_cause: ByCause,
    pub needless: u64,
    pub needless_unknown: u64,
    /// ACKs that told of one (RFC 2883).
    pub dsacks: u32,
    pub most_copies: u32,
    pub probes_new: u64,
    pub probes_repeat: u64,
    pub lost_copies: u64,
    pub copies_unknown: bool,
    pub lost_segments: u64,
    pub bursts: u32,
    pub largest_burst: u32,
    pub timeouts: u64,
    pub max_backoff: u32,
    too_large: Option<TooLarge>,
    /// What its episodes cost, where that is known.
    cost: Option<Span>,
}

impl Counts {
    /// To count in.
    pub fn trouble(&mut self) -> &mut LossCounts {
        self.trouble.get_or_insert_default()
    }
    fn losses(&self) -> LossCounts {
        self.trouble.as_deref().copied().unwrap_or_default()
    }
    /// What an episode cost, where that is known.
    pub fn add_cost(&mut self, cost: Option<Span>) {
        if let Some(cost) = cost {
            let trouble = self.trouble();
            trouble.cost = Some(trouble.cost.unwrap_or(Span::ZERO) + cost);
        }
    }
}

impl Account {
    /// What the sizes of copies that were lost said; of several times the one at which most were counts.
    pub fn note_too_large(&mut self, size: Option<TooLarge>) {
        let Some(size) = size else { return };
        let before = &mut self.counts.trouble().too_large;
        if before.is_none_or(|b| b.lost <= size.lost) {
            *before = Some(size);
        }
    }

    /// What is counted, in the row of the stream, whose vantage point it tells already.
    pub fn put_counts(&self, row: &mut FlowRow) {
        let (c, trouble) = (&self.counts, self.counts.losses());
        let elsewhere = row.vantage.is_remote();
        row.first_data = self.first_data;
        (row.packets, row.segments) = (c.packets, c.segments);
        (row.acks, row.duplicate_acks) = (self.acks, self.duplicate_acks);
        row.retransmitted_segments = c.resent_segments;
        row.retransmitted_packets = c.resent_packets;
        row.retransmitted_bytes = c.resent_bytes;
        row.by_cause = trouble.by_cause;
        (row.needless, row.needless_unknown) = (trouble.needless, trouble.needless_unknown);
        row.dsacks = trouble.dsacks.into();
        row.most_copies_of_one_segment = trouble.most_copies.max(u32::from(c.packets > 0));
        (row.probes_new_data, row.probes_repeat) = (trouble.probes_new, trouble.probes_repeat);
        (row.keep_alives, row.window_probes) = (c.keep_alives, c.window_probes);
        row.window_probes_unanswered = c.window_probes_unanswered;
        row.lost_copies = (!trouble.copies_unknown && !elsewhere).then_some(trouble.lost_copies);
        row.lost_segments = Some(trouble.lost_segments);
        (row.bursts, row.largest_burst) = (trouble.bursts, trouble.largest_burst);
        row.episodes = self.episodes.count();
        (row.timeouts, row.max_backoff) = (trouble.timeouts, trouble.max_backoff);
        // An episode comes out negative where the transfer ran faster than before it; together they cannot have
        // gained time.
        row.cost = trouble.cost.map(|cost| cost.max(Span::ZERO));
        row.idle_total = self.idle.total;
        row.idle_blocked = self.idle.blocked;
        row.idle_longest = self.idle.longest;
        row.idle_gaps = self.idle.gaps;
        row.flight_max_bytes = self.flight_max;
        row.too_large = trouble.too_large;
    }

    /// What is worked out at the end, where it is wanted.
    pub fn complete(&self, row: &mut FlowRow) {
        let trouble = self.counts.losses();
        row.mean_burst = trouble.lost_copies as f64 / f64::from(trouble.bursts.max(1));
        row.rtt_ack = self.rtt.by_ack();
        row.rtt_timestamps = self.rtt.by_timestamps();
        row.timers = self.timers.report();
        row.inference = self.infer.as_ref().map_or_else(Inference::default, |i| i.report(row.vantage));
    }
}
