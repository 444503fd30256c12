//! Bursts, episodes and idle gaps as JSON objects. Every row is taken apart by name: a field that is added to a
//! row and forgotten here does not compile.

use super::write::{Put, apart, members, put_name};
use crate::simulate::outages::Labels;
use crate::told::{Difference, OfFlow, Told};
use analysis::rows::*;
use analysis::sure::{Grounds, Sure, grounds};
use std::sync::Arc;
use wire::Time;

/// What rows are written with.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    /// Times are seconds from it: the capture's first packet, or a run's beginning.
    pub origin: Time,
    /// Which known outages they were; only a run knows its outages.
    pub outages: Option<&'a Labels>,
    /// What the senders' own kernels told; only a recording has it.
    pub told: Option<&'a Told>,
}

/// A row that stands in one of a flow's lists.
pub trait Item {
    /// `flow`: whose it is.
    fn put(&self, out: &mut Vec<u8>, flow: &FlowRow, around: Around<'_>);
    /// Puts the kernel's word in; what it changes is added to `differ`.
    fn tell(&mut self, told: &OfFlow, differ: &mut Vec<Difference>);
    /// What it weighs where a page has room for the heaviest only.
    fn weight(&self) -> i64;
    fn start(&self) -> Time;
}

impl Item for BurstRow {
    fn put(&self, out: &mut Vec<u8>, whose: &FlowRow, around: Around<'_>) {
        apart!(self => BurstRow {
            flow: _, start, last, back, lost_copies, lost_segments, lost_bytes, lost_acks, trigger, first_repair,
            silence, seq_start, seq_end, episode, rtt_before, timer_ran_us: _, neighbours: _, told: _,
        });
        let origin = around.origin;
        out.push(b'{');
        members!(out, "",
            "start_s": *start - origin,
            "last_s": *last - origin,
            "back_s": back.map(|t| t - origin),
            lost_copies, lost_segments, lost_bytes, lost_acks, trigger,
            "first_repair_s": first_repair.map(|t| t - origin),
            "silence_s": silence,
            seq_start, seq_end, episode,
            "rtt_before_s": rtt_before,
        );
        put_sure(out, grounds::of_burst(whose, self));
        put_outage(out, around.outages.map(|o| o.of_burst(self)));
    }
    fn tell(&mut self, told: &OfFlow, differ: &mut Vec<Difference>) {
        told.burst(self, differ);
    }
    fn weight(&self) -> i64 {
        i64::from(self.lost_segments.max(self.lost_copies.unwrap_or(0)))
    }
    fn start(&self) -> Time {
        self.start
    }
}

impl Item for EpisodeRow {
    fn put(&self, out: &mut Vec<u8>, whose: &FlowRow, around: Around<'_>) {
        apart!(self => EpisodeRow {
            flow: _, number, start, first_repair, end, kind, trigger, bursts, lost_copies, lost_segments, lost_acks,
            retransmissions, needless, timeouts, probes, max_backoff, delivered_bytes, rate_before_bps, cost,
            flight_bytes, silence, silence_before: _, last_repair: _, sent_after_loss_bytes, limit, told: _,
        });
        let origin = around.origin;
        out.push(b'{');
        members!(out, "",
            number,
            "start_s": *start - origin,
            "first_repair_s": *first_repair - origin,
            "end_s": end.map(|t| t - origin),
            kind, bursts, lost_copies, lost_segments, lost_acks, retransmissions, needless, timeouts, probes,
            max_backoff, delivered_bytes, rate_before_bps,
            "cost_s": cost,
            flight_bytes,
            "silence_s": silence,
            sent_after_loss_bytes, limit, trigger,
            "tail": self.is_tail(),
        );
        put_sure(out, grounds::of_episode(whose, self));
        put_outage(out, around.outages.map(|o| o.of_episode(self)));
    }
    fn tell(&mut self, told: &OfFlow, differ: &mut Vec<Difference>) {
        told.episode(self, differ);
    }
    fn weight(&self) -> i64 {
        let took = self.end.map_or(0, |end| (end - self.start).0);
        self.cost.map_or(took, |cost| cost.0)
    }
    fn start(&self) -> Time {
        self.start
    }
}

impl Item for IdleRow {
    fn put(&self, out: &mut Vec<u8>, whose: &FlowRow, around: Around<'_>) {
        let IdleRow { flow: _, start, end, excess, cause, flight_bytes, told: _ } = self;
        let origin = around.origin;
        out.push(b'{');
        members!(out, "",
            "start_s": *start - origin,
            "length_s": *end - *start,
            "excess_s": excess,
            cause, flight_bytes,
        );
        put_sure(out, grounds::of_idle(whose, self));
        out.push(b'}');
    }
    fn tell(&mut self, told: &OfFlow, differ: &mut Vec<Difference>) {
        told.idle(self, differ);
    }
    fn weight(&self) -> i64 {
        self.excess.0
    }
    fn start(&self) -> Time {
        self.start
    }
}

/// How sure a row is, and what that rests on.
pub fn put_sure(out: &mut Vec<u8>, sure: Sure) {
    members!(out, ",", "certainty": sure.certainty.name(), "evidence": Names(sure.grounds));
}

/// Evidence by its names.
struct Names(Grounds);
impl Put for Names {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        for (i, e) in self.0.iter().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            put_name(e.name(), out);
        }
        out.push(b']');
    }
}

/// The last member and the end of an object: absent where no outage is known.
fn put_outage(out: &mut Vec<u8>, known: Option<Option<Arc<str>>>) {
    if let Some(outage) = known {
        members!(out, ",", "outage": outage.as_deref());
    }
    out.push(b'}');
}
