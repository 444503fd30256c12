//! RACK, RFC 8985: a segment is lost if one sent later was delivered, and a round trip and some time for reordering
//! have passed since it left.
//!
//! In the form that Linux gave it (net/ipv4/tcp_recovery.c): the reordering window is nothing in recovery, or with
//! DupThresh segments SACKed, until reordering was seen; it grows by a quarter of the smallest RTT in each round trip
//! that brings a DSACK, and holds for 16 recoveries.

use wire::{Span, Time};

/// One copy of a segment: when it left, and where it ends. Copies are ordered by that (RFC 8985 §6.2, RACK_sent_after).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Copy {
    pub sent: Time,
    /// Offset after its last byte.
    pub end: u64,
}

/// What is known of one segment that is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Lost,
    /// Not yet, but at this time, if it is not delivered before.
    Wait {
        until: Time,
    },
    /// Nothing that left later was delivered.
    Fine,
}

/// Against what copies are held at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Horizon {
    /// The copy that left last of those that were delivered (RACK.segment).
    pub newest: Copy,
    /// RACK.rtt and the reordering window.
    pub wait: Span,
    pub now: Time,
}

impl Horizon {
    /// RFC 8985 §6.2 step 5.
    #[inline]
    pub(crate) fn verdict(&self, copy: Copy) -> Verdict {
        if copy >= self.newest {
            return Verdict::Fine;
        }
        let until = copy.sent + self.wait;
        if until <= self.now { Verdict::Lost } else { Verdict::Wait { until } }
    }
}

/// What an ACK said about time and order, as far as RACK wants to know.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    pub now: Time,
    /// Of what this ACK newly delivered, the copy that left last.
    pub newest: Option<Copy>,
    /// When the copy left whose round trip counts.
    pub measured: Option<Time>,
    /// An original was delivered behind one that left later (RFC 8985 §6.2 step 3); how far behind, segments.
    pub reordered: Option<u32>,
    /// It reported a segment that was received twice, and that was no probe's.
    pub dsack: bool,
    /// SND.UNA and the highest offset sent.
    pub una: u64,
    pub max: u64,
}

/// What the reordering window depends on.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// In recovery, or repairing after a timeout.
    pub repairing: bool,
    pub sacked_segments: u32,
    /// The stack's DupThresh.
    pub dupthresh: u32,
    pub min_rtt: Option<Span>,
    pub srtt: Option<Span>,
}

/// What this finds lost, beside what FACK does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// What left so long before the newest copy delivered.
    ByTime,
    /// Repairs that left before the highest original SACKed.
    ByOrder,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rack {
    /// FACK finds what is lost first, and only while repairing this does: Linux before 4.15.
    beside_fack: Option<Lost>,
    newest: Copy,
    rtt: Span,
    /// Something was delivered since losses were last looked for.
    advanced: bool,
    /// Segments between a late original and the highest SACK, the most that was seen; DupThresh before.
    reordering: u32,
    /// How often (tcpi_reord_seen).
    reordering_seen: u32,
    /// RACK.reo_wnd_mult, and for how many recoveries more it holds.
    steps: u32,
    persist: u32,
    /// A DSACK came; the next step waits until this is acknowledged (RACK.dsack_round).
    dsack_seen: bool,
    round_end: u64,
}

/// RFC 8985 §6.2 step 4: 16 recoveries without a DSACK make the window small again.
const HOLDS_FOR: u32 = 16;
const STEPS_MAX: u32 = 255;
/// Beside FACK: the least that copies may come out of order.
const SETTLES: Span = Span::from_millis(1);
/// Linux: tcp_max_reordering.
const REORDERING_MAX: u32 = 300;

impl Rack {
    pub(crate) fn beside_fack(finds: Lost, dupthresh: u32) -> Rack {
        Rack { beside_fack: Some(finds), ..Rack::new(dupthresh) }
    }

    pub(crate) fn new(dupthresh: u32) -> Rack {
        Rack {
            beside_fack: None,
            newest: Copy { sent: Time::FAR_PAST, end: 0 },
            rtt: Span::ZERO,
            advanced: false,
            reordering: dupthresh,
            reordering_seen: 0,
            steps: 1,
            persist: 0,
            dsack_seen: false,
            round_end: 0,
        }
    }

    /// The next ACK while nothing is wrong: the last of what it acknowledges was sent once, and last.
    #[inline]
    pub(crate) fn note_plain(&mut self, newest: Copy, now: Time) {
        self.advanced = true;
        self.rtt = now - newest.sent;
        self.newest = self.newest.max(newest);
    }

    /// RFC 8985 §6.2 steps 1 to 4.
    pub(crate) fn note(&mut self, d: &Delivery) {
        if let Some(newest) = d.newest {
            self.note_plain(newest, d.now);
            self.rtt = d.now - d.measured.unwrap_or(newest.sent);
        }
        if let Some(behind) = d.reordered {
            self.reordering_seen += 1;
            self.reordering = self.reordering.max(behind).min(REORDERING_MAX);
        }
        // Linux: a DSACK speaks for reordering only where some was seen.
        self.dsack_seen |= d.dsack && self.reordering_seen > 0;
        if d.newest.is_none() {
            return;
        }
        if d.una < self.round_end {
            self.dsack_seen = false;
        }
        if self.dsack_seen {
            self.dsack_seen = false;
            self.steps = (self.steps + 1).min(STEPS_MAX);
            self.persist = HOLDS_FOR;
            self.round_end = d.max;
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// RFC 8985 §6.2 step 4.
    fn reordering_window(&self, p: &Patience) -> Span {
        if self.reordering_seen == 0 && (p.repairing || p.sacked_segments >= self.reordering) {
            return Span::ZERO;
        }
        let quarter = p.min_rtt.unwrap_or(Span::ZERO).0 / 4;
        Span(quarter * i64::from(self.steps)).min(p.srtt.unwrap_or(Span::ZERO))
    }

    /// What to hold copies against, if anything was delivered since the last time this was asked.
    pub(crate) fn look(&mut self, p: &Patience, now: Time) -> Option<Horizon> {
        std::mem::take(&mut self.advanced).then(|| self.horizon(p, now))
    }

    /// The same when the reorder timer fired.
    pub(crate) fn horizon(&self, p: &Patience, now: Time) -> Horizon {
        Horizon { newest: self.newest, wait: self.rtt + self.reordering_window(p), now }
    }

    /// At a timeout what left less than a round trip ago may still arrive (RFC 8985 §6.3): what left since is spared. FACK
    /// spares nothing (Linux before 4.15: tcp_enter_loss).
    pub(crate) fn spared_since(&self, now: Time) -> Time {
        if self.beside_fack.is_some() { Time::FAR_FUTURE } else { now - self.rtt }
    }

    pub(crate) fn is_beside_fack(&self) -> bool {
        self.beside_fack.is_some()
    }
    pub(crate) fn goes_by_order(&self) -> bool {
        self.beside_fack == Some(Lost::ByOrder)
    }

    /// Beside FACK, while repairing, once something was delivered: what left a millisecond, or with reordering a quarter of the
    /// smallest RTT, before the newest delivered is lost; nothing is waited for (Linux 4.4 to 4.14: tcp_rack_mark_lost).
    pub(crate) fn look_beside_fack(&mut self, min_rtt: Option<Span>) -> Option<Horizon> {
        let quarter = min_rtt.filter(|_| self.reordering_seen > 0).map_or(Span::ZERO, |rtt| Span(rtt.0 / 4));
        let wait = quarter.max(SETTLES) + Span(1);
        std::mem::take(&mut self.advanced).then_some(Horizon {
            newest: self.newest,
            wait,
            now: self.newest.sent,
        })
    }

    /// A recovery ended, and was not needless.
    pub(crate) fn recovery_ended(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    /// A repair was taken back: what is on its way is looked at anew.
    pub(crate) fn taken_back(&mut self) {
        self.advanced = true;
    }

    /// By DSACKs: the wider window holds for longer.
    pub(crate) fn taken_back_by_dsack(&mut self) {
        self.persist = (self.persist + 1).min(HOLDS_FOR);
        self.advanced = true;
    }

    /// Segments may come so far out of order that the window grows by what is SACKed, too (Linux).
    pub(crate) fn reordering(&self) -> u32 {
        self.reordering
    }
    pub(crate) fn reordering_seen(&self) -> u32 {
        self.reordering_seen
    }
}

#[cfg(test)]
mod tests;
