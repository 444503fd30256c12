//! When is data in order acknowledged? (RFC 5681 §4.2: by the second full segment, within 500 ms.)
//!
//! Fillings of gaps and duplicates are acknowledged at once by every policy, and so are segments out of order, unless
//! their ACKs are compressed.

use super::Ack;
use super::window::Window;
use crate::stack::DelayedAck;
use wire::{Span, Time};

/// Linux guesses the peer's segments to be this long at most until it has seen longer ones, bytes.
const FIRST_GUESS_MSS: u32 = 536;

/// A segment in order: its payload, bytes, whether it has PSH, and whether it made the window grow.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    pub len: u32,
    pub psh: bool,
    pub grows: bool,
}

#[derive(Clone, Debug)]
pub struct AckPolicy {
    rule: Rule,
    /// `FAR_FUTURE` while no ACK is owed.
    deadline: Time,
    due: Due,
}

/// Why an ACK leaves at the deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    /// It leaves at once, or because what came has been read.
    AtOnce,
    /// The delay of a delayed ACK ends.
    Delay,
    /// The wait of a compressed ACK behind a hole ends.
    Compression,
}

#[derive(Clone, Debug)]
enum Rule {
    Off,
    Every { every: u32, timeout: Span, segments: u32, first_at_once: bool },
    Quick(Quick),
}

impl AckPolicy {
    pub fn new(spec: DelayedAck, mss: u32) -> AckPolicy {
        let rule = match spec {
            DelayedAck::Every { every, timeout } if every > 1 => {
                Rule::Every { every, timeout, segments: 0, first_at_once: false }
            }
            DelayedAck::Ns320 { every, timeout } if every > 1 => {
                Rule::Every { every, timeout, segments: 0, first_at_once: true }
            }
            DelayedAck::Off | DelayedAck::Every { .. } | DelayedAck::Ns320 { .. } => Rule::Off,
            DelayedAck::Quick { quick, min, max, compress, pushed, growing } => {
                Rule::Quick(Quick { compress, reads: pushed, growing, ..Quick::new(quick, min, max, mss) })
            }
        };
        AckPolicy { rule, deadline: Time::FAR_FUTURE, due: Due::AtOnce }
    }

    pub fn set_mss(&mut self, mss: u32) {
        if let Rule::Quick(quick) = &mut self.rule {
            quick.mss = mss;
        }
    }

    #[inline(always)]
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// The ACK that leaves at the deadline was held back by a timer.
    pub fn is_held(&self) -> bool {
        self.due != Due::AtOnce
    }

    /// A segment moved `next` while nothing was missing.
    #[inline]
    pub fn in_order(&mut self, now: Time, next: u64, segment: Segment, window: &Window) -> Ack {
        match &mut self.rule {
            Rule::Off => self.at_once(now),
            Rule::Every { every, timeout, segments, first_at_once } => {
                *segments += 1;
                if std::mem::take(first_at_once) || *segments >= *every {
                    return self.at_once(now);
                }
                let deadline = self.deadline.min(now + *timeout);
                self.later(deadline)
            }
            Rule::Quick(quick) => match quick.delay(now, next, segment, self.deadline, window) {
                None => self.at_once(now),
                Some(deadline) => self.later(deadline),
            },
        }
    }

    /// An ACK is owed now; it stays owed until one leaves.
    #[inline]
    pub fn at_once(&mut self, now: Time) -> Ack {
        self.deadline = self.deadline.min(now);
        self.due = Due::AtOnce;
        Ack::Now
    }

    /// A segment came behind a hole at `next`: at once, or with those that follow it.
    pub fn behind_a_hole(&mut self, now: Time, next: u64, window: &Window) -> Ack {
        let Rule::Quick(quick) = &mut self.rule else { return self.at_once(now) };
        let Some(wait) = quick.compressed(next, window) else { return self.at_once(now) };
        // The delay is no delayed ACK's: it says nothing of the spacing of arrivals.
        self.deadline = self.deadline.min(now + wait);
        self.due = Due::Compression;
        Ack::Later
    }

    /// A segment behind a hole, or that fills one, made the window grow.
    #[inline]
    pub fn window_grows(&mut self) {
        if let Rule::Quick(quick) = &mut self.rule {
            quick.grows();
        }
    }

    #[inline]
    fn later(&mut self, deadline: Time) -> Ack {
        self.deadline = deadline;
        self.due = Due::Delay;
        Ack::Later
    }

    /// A segment that was here already or is outside the window: something is wrong, the sender wants to know.
    pub fn unneeded(&mut self, window: &Window) {
        if let Rule::Quick(quick) = &mut self.rule {
            quick.restart(window);
        }
    }

    /// The application reads everything, now or when it is its time to.
    #[inline]
    pub fn all_read(&mut self, now: Time) {
        if let Rule::Quick(quick) = &mut self.rule {
            let at = quick.read_by(now);
            if quick.pushed && !quick.conversation && self.deadline < Time::FAR_FUTURE && at < self.deadline {
                self.deadline = at;
                self.due = Due::AtOnce;
            }
        }
    }

    #[inline]
    pub fn sent(&mut self, now: Time, next: u64) {
        match &mut self.rule {
            Rule::Off => {}
            Rule::Every { segments, .. } => *segments = 0,
            Rule::Quick(quick) => quick.sent(next, self.due == Due::Delay && self.deadline <= now),
        }
        self.deadline = Time::FAR_FUTURE;
    }

    /// See [`super::Receiver::acks_alike`]. Linux counts how many it sends at once.
    #[inline]
    pub fn acks_alike(&self) -> bool {
        !matches!(&self.rule, Rule::Quick(quick) if quick.left > 0)
    }

    #[inline]
    pub fn data_sent(&mut self, now: Time) {
        if let Rule::Quick(quick) = &mut self.rule {
            // Linux: an answer within the delay of what it answers.
            quick.conversation |= now - quick.last_arrival < quick.delay;
        }
    }
}

/// Linux: quick at the start and after trouble, then a delay that follows the spacing of arrivals.
#[derive(Clone, Debug)]
struct Quick {
    /// Most ACKs sent at once in a row, and how many of them are left.
    budget: u32,
    left: u32,
    /// Bounds of the delay, and the delay (`ato`).
    min: Span,
    max: Span,
    delay: Span,
    last_arrival: Time,
    /// RCV.NXT as last acknowledged.
    acked: u64,
    mss: u32,
    /// Longest segment seen (`rcv_mss`), bytes.
    longest: u32,
    /// Data flows both ways (`pingpong`).
    conversation: bool,
    /// The end of a write, or of a packet of several segments, has arrived and waits to be acknowledged.
    pushed: bool,
    /// A full segment can be one (tcp_measure_rcv_mss since 6.6); the application reads so long after it last did, then,
    /// when that was, and whether something waits for the next time.
    reads: Option<Span>,
    read_at: Time,
    unread: bool,
    /// What makes the window grow is acknowledged at once.
    growing: bool,
    /// ACKs behind a hole wait for so long at most; how many were sent for the hole at this offset, and how many are put off.
    compress: Option<Span>,
    hole: (u64, u32),
    put_off: u32,
}

/// ACKs of a hole that leave before any is put off (TCP_FASTRETRANS_THRESH), and segments that one may stand for
/// (tcp_comp_sack_nr).
const BEFORE_COMPRESSION: u32 = 3;
const MOST_COMPRESSED: u32 = 44;
/// tcp_comp_sack_slack_ns: with nothing else to wake for, the timer fires that much later.
const COMPRESSION_SLACK: Span = Span::from_micros(100);

impl Quick {
    fn new(budget: u32, min: Span, max: Span, mss: u32) -> Quick {
        Quick {
            budget,
            left: 0,
            min,
            max: max.max(min),
            delay: min,
            last_arrival: Time::FAR_PAST,
            acked: 0,
            mss,
            longest: mss.min(FIRST_GUESS_MSS),
            conversation: false,
            pushed: false,
            reads: None,
            read_at: Time::FAR_PAST,
            unread: false,
            growing: false,
            compress: None,
            hole: (0, 0),
            put_off: 0,
        }
    }

    /// Linux, __tcp_ack_snd_check: how long the ACK of a segment behind the hole at `next` may wait; `None` for not at all.
    fn compressed(&mut self, next: u64, window: &Window) -> Option<Span> {
        let most = self.compress?;
        let quick = self.left > 0 && !self.conversation;
        if quick || next - self.acked > u64::from(self.longest) || self.put_off >= MOST_COMPRESSED {
            return None;
        }
        if self.hole.0 != next {
            self.hole = (next, 0);
        }
        if self.hole.1 < BEFORE_COMPRESSION {
            self.hole.1 += 1;
            return None;
        }
        self.put_off += 1;
        // 5% of the round trip.
        window.rtt().map(|rtt| Span(rtt.0 / 20).min(most) + COMPRESSION_SLACK)
    }

    /// `None`: acknowledge at once. Otherwise the deadline.
    fn delay(
        &mut self,
        now: Time,
        next: u64,
        segment: Segment,
        before: Time,
        window: &Window,
    ) -> Option<Time> {
        let len = segment.len;
        self.pushed |= segment.psh && (self.reads.is_some() || len < self.longest);
        self.longest = self.longest.max(len.min(self.mss));
        self.follow(now, next - u64::from(len), window);
        if segment.grows {
            self.grows();
        }
        let quick = self.left > 0 && !self.conversation;
        if quick || next - self.acked > u64::from(self.longest) {
            return None;
        }
        let longest_delay = window.rtt().map_or(self.max, |rtt| self.max.min(rtt.max(self.min)));
        let delay = self.delay.min(longest_delay);
        // An ACK that is nearly due anyway goes now (within a quarter of the delay).
        if before < Time::FAR_FUTURE && before <= now + delay / 4 {
            return None;
        }
        Some(before.min(now + delay))
    }

    /// The delay follows the spacing of arrivals; `start` is where this one began.
    fn follow(&mut self, now: Time, start: u64, window: &Window) {
        if self.last_arrival == Time::FAR_PAST {
            self.acked = self.acked.max(start);
            self.refill(window);
        } else {
            let spacing = now - self.last_arrival;
            if spacing <= self.min / 2 {
                self.delay = self.delay / 2 + self.min / 2;
            } else if spacing < self.delay {
                self.delay = self.delay / 2 + spacing;
            } else if spacing > self.max + window.rtt().unwrap_or(Span::ZERO) {
                // Longer than the sender's time-out: it starts slowly again and wants every ACK.
                self.refill(window);
            }
        }
        self.last_arrival = now;
    }

    /// When what is here is read: what came before may have been read meanwhile.
    fn read_by(&mut self, now: Time) -> Time {
        let Some(pause) = self.reads else { return now };
        if self.unread && now >= self.read_at + pause {
            self.read_at += pause;
        }
        self.unread = now < self.read_at + pause;
        if self.unread {
            return self.read_at + pause;
        }
        self.read_at = now;
        now
    }

    /// tcp_grow_window: quick |= 1, which is one more where an even number is left.
    fn grows(&mut self) {
        if self.growing {
            self.left |= 1;
        }
    }

    /// Half the window in segments, 2 at least: what a sender in slow start needs.
    fn refill(&mut self, window: &Window) {
        let next = self.acked;
        let half = window.left(next) / (2 * u64::from(self.longest));
        self.left = self.left.max((half.max(2)).min(u64::from(self.budget)) as u32);
    }

    fn restart(&mut self, window: &Window) {
        self.refill(window);
        self.conversation = false;
        self.delay = self.min;
    }

    /// `late`: the delay ran out, nothing came in time to carry the ACK.
    fn sent(&mut self, next: u64, late: bool) {
        if late {
            self.delay = if self.conversation { self.min } else { (self.delay * 2).min(self.max) };
            self.conversation = false;
        }
        if self.left > 0 {
            self.left -= 1;
            if self.left == 0 {
                self.delay = self.min;
            }
        }
        self.acked = next;
        self.pushed = false;
        self.put_off = 0;
    }
}
