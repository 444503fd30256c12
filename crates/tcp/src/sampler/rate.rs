//! Delivery-rate samples, one an ACK (draft-ietf-ccwg-bbr, section 4.1; Linux: tcp_rate.c).
//!
//! How much was delivered from the time when a copy left to the time when it was found delivered, and how long that took:
//! the longer of the time in which it was sent and the time in which it was acknowledged, so that neither ACKs that come
//! together nor bursts look like a fast path. Counted in segments, as Linux counts.

use crate::queue::Queue;
use wire::{Span, Time};

/// What was known as the latest copy of a segment left.
#[derive(Clone, Copy, Debug)]
struct Left {
    at: Time,
    /// The sending that this copy ends began then (P.first_send_time).
    first: Time,
    /// What had been delivered by then, and when the last of it was (P.delivered, P.delivered_time).
    delivered: u64,
    delivered_at: Time,
    /// Copies that had been found lost, and those in flight with this one (P.lost, P.tx_in_flight).
    lost: u64,
    in_flight: u32,
    /// The low 32 bits of the offset of its end.
    end: u32,
    app_limited: bool,
    resent: bool,
    /// It was SACKed.
    counted: bool,
}

/// A copy that was found lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Which segment, from the first one on.
    pub number: u64,
    /// In flight as it left, and lost since then, itself included. Segments.
    pub in_flight: u32,
    pub since: u64,
    pub app_limited: bool,
}

/// What is sampled of one connection.
#[derive(Clone, Debug)]
pub struct Rates {
    /// One for each segment that is not acknowledged.
    copies: Queue<Left>,
    delivered: u64,
    delivered_at: Time,
    first: Time,
    /// Until more than this is delivered, samples may show the application's rate rather than the path's; 0 is none.
    app_limited: u64,
    /// Of what the ACK at hand delivered, the copy that left last; and its RTT sample.
    newest: Option<Left>,
    rtt: Option<Span>,
    /// Segments that are gone; and copies found lost and not told of yet.
    gone: u64,
    lost: Vec<Lost>,
}

/// How much was delivered so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Segments ever delivered, and when the last of them was.
    pub delivered: u64,
    pub delivered_at: Time,
    /// Copies ever found lost.
    pub lost: u64,
    /// The application is what limits.
    pub app_limited: bool,
}

/// What one ACK says. Segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// Delivered since the newest of what is delivered now left, and what had been delivered before; `None` where nothing
    /// is delivered now.
    pub delivered: Option<u64>,
    pub prior_delivered: u64,
    /// How long that took; `None` also where it was less than the smallest RTT: the first copy arrived, not the last.
    pub interval: Option<Span>,
    pub app_limited: bool,
    /// By this ACK.
    pub newly_delivered: u32,
    pub newly_lost: u32,
    /// In flight before it.
    pub prior_in_flight: u32,
    /// In flight as that newest copy left, and lost since then.
    pub in_flight_then: u32,
    pub lost_since: u64,
    pub rtt: Option<Span>,
    /// It acknowledges one short segment, and may have been delayed.
    pub ack_delayed: bool,
}

/// As things were before an ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    pub(crate) delivered: u64,
    pub(crate) lost: u64,
    pub(crate) in_flight: u32,
    pub(crate) una: u64,
}

impl Rates {
    /// The handshake is over; its SYN was delivered.
    pub(crate) fn new(now: Time) -> Rates {
        Rates {
            copies: Queue::default(),
            delivered: 1,
            delivered_at: now,
            first: now,
            app_limited: 0,
            newest: None,
            rtt: None,
            gone: 0,
            lost: Vec::new(),
        }
    }

    // ---- what leaves ----

    /// A new segment leaves, `alone` if nothing else is unacknowledged: sending and delivery begin anew then.
    pub(crate) fn left(&mut self, now: Time, end: u32, in_flight: u32, lost: u64, alone: bool) {
        if alone {
            self.first = now;
            self.delivered_at = now;
        }
        let left = self.now(now, end, in_flight, lost, false);
        self.copies.push_back(left);
    }

    pub(crate) fn left_again(&mut self, at: usize, now: Time, in_flight: u32, lost: u64) {
        if let Some(end) = self.copies.get(at).map(|l| l.end) {
            self.copies[at] = self.now(now, end, in_flight, lost, true);
        }
    }

    fn now(&self, at: Time, end: u32, in_flight: u32, lost: u64, resent: bool) -> Left {
        Left {
            at,
            first: self.first,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            lost,
            in_flight,
            end,
            app_limited: self.app_limited > 0,
            resent,
            counted: false,
        }
    }

    /// What is there to send is less than a segment, and cwnd has room: until what is in flight is delivered, samples say
    /// so.
    pub(crate) fn limit_to_application(&mut self, in_flight: u32) {
        self.app_limited = (self.delivered + u64::from(in_flight)).max(1);
    }

    // ---- what arrives ----

    /// All but `left` segments are acknowledged.
    pub(crate) fn acknowledged(&mut self, left: usize) {
        while self.copies.len() > left {
            self.gone += 1;
            if let Some(copy) = self.copies.pop_front().filter(|c| !c.counted) {
                self.count(copy);
            }
        }
    }

    /// The copy of entry `at` is lost; with it, so many were.
    pub(crate) fn lost(&mut self, at: usize, losses: u64) {
        if let Some(copy) = self.copies.get(at) {
            let number = self.gone + at as u64;
            let since = losses - copy.lost;
            self.lost.push(Lost { number, in_flight: copy.in_flight, since, app_limited: copy.app_limited });
        }
    }

    /// The copies found lost since it was last asked; the list is for [`Rates::told`] to have back.
    pub(crate) fn take_lost(&mut self) -> Vec<Lost> {
        std::mem::take(&mut self.lost)
    }
    pub(crate) fn told(&mut self, mut lost: Vec<Lost>) {
        lost.clear();
        self.lost = lost;
    }

    pub(crate) fn sacked(&mut self, at: usize) {
        if let Some(copy) = self.copies.get_mut(at).filter(|c| !c.counted) {
            copy.counted = true;
            let copy = *copy;
            self.count(copy);
        }
    }

    /// The peer reports segments that it had: they were delivered, too.
    pub(crate) fn came_twice(&mut self, segments: u32) {
        self.delivered += u64::from(segments);
    }

    fn count(&mut self, copy: Left) {
        self.delivered += 1;
        let later =
            |n: &Left| copy.at > n.at || (copy.at == n.at && (copy.end.wrapping_sub(n.end) as i32) > 0);
        if self.newest.as_ref().is_none_or(later) {
            self.newest = Some(copy);
            self.first = copy.at;
        }
    }

    /// Nothing is unacknowledged any more.
    pub(crate) fn forget(&mut self) {
        self.gone += self.copies.len() as u64;
        self.copies.clear();
    }

    pub(crate) fn note_rtt(&mut self, rtt: Option<Span>) {
        self.rtt = rtt;
    }

    pub(crate) fn progress(&self, lost: u64) -> Progress {
        Progress {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            lost,
            app_limited: self.app_limited > 0,
        }
    }
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }

    // ---- the sample ----

    /// After the ACK was taken; `advanced` is by how many bytes SND.UNA moved.
    pub(crate) fn sample(
        &mut self,
        now: Time,
        before: &Before,
        lost: u64,
        advanced: u64,
        smss: u32,
        min_rtt: Option<Span>,
    ) -> RateSample {
        if self.app_limited > 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        let newly_delivered = (self.delivered - before.delivered) as u32;
        if newly_delivered > 0 {
            self.delivered_at = now;
        }
        let mut sample = RateSample {
            newly_delivered,
            newly_lost: (lost - before.lost) as u32,
            prior_in_flight: before.in_flight,
            rtt: self.rtt.take(),
            ..RateSample::default()
        };
        let Some(newest) = self.newest.take() else { return sample };
        sample.delivered = Some(self.delivered - newest.delivered);
        sample.prior_delivered = newest.delivered;
        sample.app_limited = newest.app_limited;
        sample.in_flight_then = newest.in_flight;
        sample.lost_since = lost - newest.lost;
        sample.ack_delayed = newly_delivered == 1
            && advanced > 0
            && advanced < u64::from(smss)
            && newest.delivered + 1 == self.delivered
            && !newest.resent;
        let interval = (newest.at - newest.first).max(now - newest.delivered_at);
        sample.interval = Some(interval).filter(|&i| i > Span::ZERO && min_rtt.is_none_or(|rtt| i >= rtt));
        sample
    }
}

#[cfg(test)]
mod tests;
