//! State of the model away from the sender: repairs that were lost before they came here, ACKs that were lost after they
//! passed.

use super::after_rto::RtoGuess;
use super::{AckEvent, PAUSE, PathTiming, RetransmittedSegment, SenderModel, State};
use crate::assumptions::{DUP_THRESH, MIN_RTO_SEEN};
use std::mem::offset_of;
use wire::Time;

/// What is kept of a sender only where it is seen from remote.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct RemoteState {
    /// What ACKs reported that were lost on their way to the sender, until the next ACK arrives there.
    pub(super) lost_acks: Option<Box<AckEvent>>,
    /// New data packets since the third duplicate ACK reached the sender.
    passed_over: u32,
    /// The first outstanding segment when a repair was lost on its way here, and when.
    lost_repair: (u64, Time),
    /// Fewer than three duplicate ACKs were enough for a repair (RFC 8985 §6.2).
    pub(super) quick: bool,
    /// The model's state before it assumed a timeout: most streams have none.
    pub(super) rto_guess: Option<Box<RtoGuess>>,
}

impl Default for RemoteState {
    fn default() -> RemoteState {
        RemoteState {
            lost_acks: None,
            passed_over: 0,
            lost_repair: (0, Time::FAR_PAST),
            quick: false,
            rto_guess: None,
        }
    }
}

impl RemoteState {
    /// Bytes of it that each packet touches.
    pub(super) const OFTEN: usize = offset_of!(RemoteState, lost_repair);
}

impl SenderModel {
    /// Whether a timer sent the first outstanding segment again. A repair that waited in a full queue is late as well; but
    /// meanwhile the sender receives the ACKs in flight, and packets that it sent before the repair arrive.
    pub(super) fn is_remote_timeout(&self, a: &RetransmittedSegment, timing: &PathTiming) -> bool {
        let silent = self.silent(a.now);
        // The ACK that restarted the timer shows here a little later, by the packets that it triggered.
        let stuck = a.now - self.last_progress >= MIN_RTO_SEEN;
        // RFC 8985 §6.2: the repair is found lost because something that was sent after it has arrived.
        let found_lost = a.sack_permitted && self.era.since_2013() && self.newest_delivered > a.previous;
        let again = !found_lost && (a.previous_was_resend || a.start < self.trace.high);
        // The timer has just been restarted with twice the RTO (RFC 6298 §5.5 and §5.6).
        if self.is_timers() && a.now - self.timer.fired_at < MIN_RTO_SEEN {
            return false;
        }
        // RFC 8985 §6.2: with RACK the SACKed data above reveals every loss, a repair's as well, a little more than a round
        // trip after it. A timeout of such a sender comes after a silence.
        let timed = self.era.since_2013() && a.sack_permitted && a.sacked_above;
        if timed && !self.in_loss_state() && silent < MIN_RTO_SEEN {
            return false;
        }
        match self.state {
            State::Open => {
                // Without SACK a fast retransmit needs three duplicate ACKs (RFC 5681 §3.2), and fewer have passed here.
                let duplicates = self.duplicates + a.duplicates_in_flight;
                let unasked = !a.sack_permitted && !a.acknowledged && duplicates < DUP_THRESH;
                // Three duplicate ACKs came, and new data followed until it ran out or for an RTO: the fast retransmit was lost.
                let overdue = a.now - self.last_progress >= timing.rto;
                let passed_over = self.remote.passed_over >= 4 && (silent > timing.tolerance || overdue);
                // A fast retransmit arrives a round trip after the third duplicate ACK, however long the round trip is here.
                let asked = self.asked_for[0] == a.start || duplicates >= DUP_THRESH;
                silent > PAUSE && (stuck || !asked)
                    || stuck && (a.previous_was_resend && !found_lost || passed_over || unasked)
            }
            // A partial ACK triggers the next repair (RFC 6582), a SACK block the repair of what is missing below it (RFC
            // 6675); anything else is the timer's. A repair delayed by a full queue is about as late as the one before.
            State::Recovery { .. } => {
                let overdue = a.now - self.last_progress > self.trace.answered_in.scale(1.5);
                let quiet = silent > timing.tolerance.max(PAUSE);
                // Without SACK a partial ACK triggers the repair at once. It is missing here; the timer has been running since the
                // first partial ACK.
                let lost = !a.sack_permitted && a.missing.is_some_and(|n| n > 0);
                let anew = !a.sack_permitted && self.tahoe_restarts(a) && silent < PAUSE;
                stuck && again && !anew || (stuck || lost) && overdue && quiet
            }
            State::Loss { .. } => silent >= MIN_RTO_SEEN,
        }
    }

    /// Tahoe resends data that had arrived, and restarts where three duplicate ACKs point.
    pub(super) fn tahoe_restarts(&self, a: &RetransmittedSegment) -> bool {
        self.trace.go_back_n && (self.duplicates >= DUP_THRESH || self.asked_for.contains(&a.start))
    }

    /// The timer's packet was lost on its way here, and this packet of the slow start behind it arrived.
    pub(super) fn timer_went_unseen(&self, a: &RetransmittedSegment) -> bool {
        let may_be_probe = a.tail && a.sack_permitted;
        !(a.head || may_be_probe)
            && a.missing.is_some_and(|n| n > 0)
            && !self.in_loss_state()
            && self.silent(a.now) >= MIN_RTO_SEEN
    }

    /// The model had left the loss state, but nothing beyond this retransmission has arrived, so no ACK can have reported it
    /// lost (RFC 6675 §4; RFC 8985 §6.2): the slow start after the timeout goes on.
    pub(super) fn reenter_loss_state(&mut self, a: &RetransmittedSegment) {
        if a.sack_permitted
            && a.untold
            && !a.overtaken
            && !self.in_loss_state()
            && self.silent(a.now) < PAUSE
            && let Some(State::Loss { high, first_ts, .. }) = self.left
            && a.start < high
        {
            self.state = State::Loss { high, f_rto: false, first_ts };
        }
    }

    /// Repairs that ACKs have asked for and that were never seen.
    pub fn repair_due(&self) -> u32 {
        let due = match self.state {
            State::Open => self.is_asked() || self.any_sacked && self.remote.quick,
            // A partial ACK asked for the next repair (RFC 6582 §3.2), and nothing above it has been repaired.
            State::Recovery { .. } => self.trace.high <= self.una && self.last_progress >= self.trace.at,
            State::Loss { .. } => false,
        };
        // A repair that is known to be lost has been counted.
        u32::from(due && self.lost_repair().is_none())
    }
    /// Upper bound on retransmissions that ACKs can have triggered since the last packet: one for each of `holes` open holes,
    /// because nothing sent later has arrived to report it lost again (RFC 8985 §6.2); without SACK only the first segment's
    /// (RFC 6582 §3.2), unless it came since; one probe where nothing is missing (RFC 8985 §7.3). `None`: any number, in
    /// slow start.
    pub fn repairs_at_most(&self, holes: u64, sack: bool) -> Option<u64> {
        match sack {
            _ if self.in_loss_state() || self.trace.go_back_n => None,
            true => Some(holes.max(1)),
            false => {
                let came = self.state != State::Open && self.trace.high > self.una;
                Some(u64::from(self.is_asked() && !came))
            }
        }
    }
    /// Where the repairs before a timeout began, and how many there were at most, of a sender with RACK (RFC 8985 §6.2).
    pub fn repairs_before_timer(&self) -> Option<(u64, u64)> {
        match self.state {
            _ if !self.era.since_2013() => None,
            State::Recovery { .. } => Some((self.trace.end, self.duplicates.into())),
            State::Open => Some((self.una, self.duplicates.checked_sub(2)?.into())),
            State::Loss { .. } => None,
        }
    }
    /// Offset from which on holes below `start` have been repaired since the last repair; fast recovery begins with the first
    /// hole (RFC 6675 §5).
    pub fn repairs_after(&self, start: u64) -> u64 {
        match self.state {
            State::Recovery { .. } if start < self.trace.end => self.una,
            State::Recovery { .. } => self.trace.end,
            State::Open if self.duplicates > 0 && self.any_sacked => self.una,
            _ => start,
        }
    }
    /// ACKs have asked for the first outstanding segment.
    pub fn is_asked(&self) -> bool {
        match self.state {
            State::Open => self.duplicates >= DUP_THRESH,
            State::Recovery { .. } => true,
            State::Loss { .. } => false,
        }
    }
    /// A repair was lost before it came here, most likely of the segment that ACKs asked for.
    pub fn on_lost_repair(&mut self, now: Time) {
        self.remote.lost_repair = (self.una, now);
    }
    /// When the repair of the first segment was lost on its way here.
    pub fn lost_repair(&self) -> Option<Time> {
        (self.remote.lost_repair.0 == self.una && self.remote.lost_repair.1 > Time::FAR_PAST)
            .then_some(self.remote.lost_repair.1)
    }
    /// New data came though ACKs had asked for a repair, and its timestamp echo shows that the sender had them: the repair was
    /// lost or not sent.
    #[inline]
    pub fn note_passed_over(&mut self) {
        let asked = self.state == State::Open && self.duplicates >= DUP_THRESH;
        self.remote.passed_over = if asked { self.remote.passed_over + 1 } else { 0 };
    }
    /// The last packet that it sent was a timeout's.
    pub fn is_timers(&self) -> bool {
        self.timer.fired_at == self.last_sent && self.timer.fired_at > Time::FAR_PAST
    }
    /// Bytes that the slow start after a timeout has not yet retransmitted.
    pub fn left_to_repair(&self) -> u64 {
        match self.state {
            State::Loss { high, .. } => high.saturating_sub(self.trace.high.max(self.una)),
            _ => 0,
        }
    }

    /// An ACK was lost on its way to the sender: the next one reports the same.
    pub fn on_lost_ack(&mut self, news: &AckEvent) {
        self.remote.lost_acks = Some(Box::new(match &self.remote.lost_acks {
            Some(lost) => news.with(lost),
            None => *news,
        }));
    }

    /// ACKs have been lost on their way to the sender since the last that it received.
    pub fn has_lost_acks(&self) -> bool {
        self.remote.lost_acks.is_some()
    }

    #[inline]
    pub(super) fn note_asked(&mut self) {
        if self.asked_for[0] != self.una {
            self.asked_for.rotate_right(1);
            self.asked_for[0] = self.una;
        }
    }
}
