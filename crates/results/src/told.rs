//! What a sender's own kernel told (`rexmit record`), put in the place of what its packets alone say: its word is *known*.
//!
//! The analysis has read packets only; its rows are altered here, on their way to words and JSON. Where the two differ both
//! are told.

mod counted;

pub use counted::{Counted, Look};
use counted::{Holds, Stated};

use analysis::cause::Group;
use analysis::idle_cause;
use analysis::rows::*;
use std::collections::BTreeMap;
use wire::{Span, Time};

/// One retransmission of the capture, with the kernel's word for it.
#[derive(Clone, Copy, Debug)]
pub struct Repair {
    pub time: Time,
    pub segments: u32,
    pub episode: Option<u32>,
    /// What packets alone say.
    pub seen: Cause,
    /// `None`: the kernel told nothing of it.
    pub kernel: Option<Cause>,
    /// How often its timer had fired without progress, this time included (`icsk_retransmits`).
    pub retransmits: u32,
}

/// Something that packets say otherwise than the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub at: Time,
    pub what: &'static str,
    pub capture: String,
    pub kernel: String,
}

/// All flows of which a kernel told.
#[derive(Clone, Debug, Default)]
pub struct Told(BTreeMap<FlowId, OfFlow>);

impl Told {
    pub fn add(&mut self, flow: FlowId, of: OfFlow) {
        self.0.insert(flow, of);
    }
    pub fn of(&self, flow: FlowId) -> Option<&OfFlow> {
        self.0.get(&flow)
    }
}

/// What was told of one flow.
#[derive(Clone, Debug, Default)]
pub struct OfFlow {
    /// In order of time.
    repairs: Vec<Repair>,
    /// The kernel told of every retransmission that the capture shows, and the capture shows every one that it told of.
    whole: bool,
    stated: Vec<Stated>,
    counted: Option<Counted>,
}

/// By more of itself a gap lies in a time in which the kernel had nothing to send.
const MOST_OF_IT: f64 = 0.5;

impl OfFlow {
    /// `unseen`: the kernel told of retransmissions that the capture does not show.
    pub fn new(mut repairs: Vec<Repair>, unseen: bool, looks: &[Look]) -> OfFlow {
        repairs.sort_by_key(|r| r.time);
        let whole = !unseen && repairs.iter().all(|r| r.kernel.is_some());
        let stated = counted::stated(looks);
        OfFlow { repairs, whole, stated, counted: Counted::of(looks) }
    }

    pub fn counted(&self) -> Option<&Counted> {
        self.counted.as_ref()
    }

    /// The repair that left at that time, with the kernel's word.
    fn at(&self, time: Time) -> Option<(Repair, Cause)> {
        let from = self.repairs.partition_point(|r| r.time < time);
        let found = self.repairs.get(from).filter(|r| r.time == time)?;
        Some((*found, found.kernel?))
    }

    fn fired(&self, of: impl Fn(&Repair) -> bool) -> impl Iterator<Item = &Repair> {
        self.repairs.iter().filter(move |r| r.kernel == Some(Cause::Timeout) && of(r))
    }

    /// Counts of the whole flow.
    pub fn flow(&self, row: &mut FlowRow) {
        if self.repairs.is_empty() {
            return;
        }
        row.by_cause = Default::default();
        for r in &self.repairs {
            row.by_cause[r.kernel.unwrap_or(r.seen) as usize] += u64::from(r.segments);
        }
        if self.whole {
            row.timeouts = self.fired(|_| true).count() as u64;
            row.max_backoff = self.fired(|_| true).map(back_off).max().unwrap_or(0);
        }
    }

    /// What set its repair off.
    pub fn burst(&self, b: &mut BurstRow, differ: &mut Vec<Difference>) {
        let Some(time) = b.first_repair else { return };
        let Some(trigger) = self.at(time).and_then(|(_, cause)| trigger_of(cause)) else { return };
        b.told = true;
        if b.trigger != trigger {
            differ.push(Difference {
                at: time,
                what: "trigger",
                capture: b.trigger.name().into(),
                kernel: trigger.name().into(),
            });
            b.trigger = trigger;
        }
    }

    /// How often the timer fired in it, and what began its repair.
    pub fn episode(&self, e: &mut EpisodeRow, differ: &mut Vec<Difference>) {
        let own = |r: &Repair| r.episode == Some(e.number);
        if !self.whole || !self.repairs.iter().any(own) {
            return;
        }
        e.told = true;
        let fired: Vec<&Repair> = self.fired(own).collect();
        let timeouts = fired.len() as u32;
        if e.timeouts != timeouts {
            differ.push(Difference {
                at: e.first_repair,
                what: "timeouts",
                capture: e.timeouts.to_string(),
                kernel: timeouts.to_string(),
            });
        }
        let seen = self.repairs.iter().filter(|r| own(r) && r.seen == Cause::Probe).count() as u32;
        let probed = self.repairs.iter().filter(|r| own(r) && r.kernel == Some(Cause::Probe)).count() as u32;
        // Probes with new data are no retransmissions.
        e.probes = e.probes.saturating_sub(seen) + probed;
        e.timeouts = timeouts;
        e.max_backoff = fired.iter().map(|r| back_off(r)).max().unwrap_or(0);
        let first = self.at(e.first_repair).and_then(|(_, cause)| trigger_of(cause));
        e.trigger = first.unwrap_or(e.trigger);
        let by_trigger = matches!(
            e.kind,
            EpisodeKind::Ack | EpisodeKind::TimerRto | EpisodeKind::TimerProbe | EpisodeKind::Intermittent
        );
        if by_trigger && (e.kind != EpisodeKind::Intermittent || timeouts < 2) {
            e.kind = match first {
                Some(Trigger::Ack) => EpisodeKind::Ack,
                Some(Trigger::TimerRto) => EpisodeKind::TimerRto,
                Some(Trigger::TimerProbe) => EpisodeKind::TimerProbe,
                Some(Trigger::Unrepaired) | None => e.kind,
            };
        }
    }

    /// Why nothing was sent.
    pub fn idle(&self, i: &mut IdleRow, differ: &mut Vec<Difference>) {
        let Some(cause) = self.cause_of(i) else { return };
        i.told = true;
        if i.cause != cause {
            differ.push(Difference {
                at: i.start,
                what: "idle",
                capture: i.cause.name().into(),
                kernel: cause.name().into(),
            });
            i.cause = cause;
        }
    }

    fn cause_of(&self, i: &IdleRow) -> Option<IdleCause> {
        if let Some((repair, cause)) = self.at(i.end) {
            return match cause {
                Cause::Timeout if repair.retransmits > 1 => Some(IdleCause::TimeoutBackoff),
                Cause::Timeout | Cause::Probe => Some(IdleCause::Timeout),
                Cause::Persist => Some(IdleCause::ZeroWindow),
                // A window that was full is no less so.
                cause
                    if cause.group() == Group::Ack && i.cause.about().group != idle_cause::Group::Window =>
                {
                    Some(IdleCause::AckClock)
                }
                _ => None,
            };
        }
        if i.cause == IdleCause::Handshake {
            return None;
        }
        let nothing = self.stated.iter().filter(|s| s.holds == Holds::NothingToSend);
        let within = nothing.map(|s| (s.end.min(i.end) - s.start.max(i.start)).max(Span::ZERO).as_secs());
        (within.sum::<f64>() > MOST_OF_IT * (i.end - i.start).as_secs()).then_some(match i.cause {
            IdleCause::Peer => IdleCause::Peer,
            _ => IdleCause::Application,
        })
    }
}

fn back_off(r: &Repair) -> u32 {
    r.retransmits.saturating_sub(1)
}

/// Slow start after a timeout repairs on ACKs.
fn trigger_of(cause: Cause) -> Option<Trigger> {
    match cause {
        Cause::Timeout => Some(Trigger::TimerRto),
        Cause::Probe => Some(Trigger::TimerProbe),
        cause => (cause.group() == Group::Ack).then_some(Trigger::Ack),
    }
}

#[cfg(test)]
mod tests;
