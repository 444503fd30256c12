//! What only shows away from the sender: repairs lost before they came here, ACKs lost after they passed.

use super::fired::Fired;
use super::{AckNews, Attempt, PAUSE, Pace, Repair, State};
use crate::assumptions::{DUP_THRESH, MIN_RTO_AWAY};
use std::mem::offset_of;
use wire::Time;

/// What is kept of a sender only where it is seen from afar.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Afar {
    /// What ACKs said that were lost on their way to the sender, until the next is heard.
    pub(super) missed: Option<Box<AckNews>>,
    /// New data packets since three duplicate ACKs were heard.
    passed_over: u32,
    /// The first segment not acknowledged when a repair was lost on its way here.
    lost_repair: (u64, Time),
    /// Fewer than three duplicate ACKs were enough for a repair (RFC 8985 §6.2).
    pub(super) quick: bool,
    /// How things stood before the timer was taken to have fired.
    pub(super) fired: Option<Fired>,
}

impl Default for Afar {
    fn default() -> Afar {
        Afar { missed: None, passed_over: 0, lost_repair: (0, Time::FAR_PAST), quick: false, fired: None }
    }
}

impl Afar {
    /// So many bytes of it are touched by each packet.
    pub(super) const OFTEN: usize = offset_of!(Afar, lost_repair);
}

impl Repair {
    /// The first segment not acknowledged comes again: was it the timer? A repair that waited behind a full queue comes
    /// late as well; but while it waits, ACKs that were on their way are heard, and what left before it comes.
    pub(super) fn timer_from_afar(&self, a: &Attempt, pace: &Pace) -> bool {
        let silent = self.silent(a.now);
        // What set the timer going is heard here by what the sender made of it, a little later.
        let stuck = a.now - self.last_progress >= MIN_RTO_AWAY;
        // RFC 8985 §6.2: what was sent after a repair and has arrived tells that the repair was lost.
        let told = a.sack_permitted && self.age.recent() && self.newest_delivered > a.previous;
        let again = !told && (a.previous_was_resend || a.start < self.resent.high);
        // The timer has just begun anew, and doubled (RFC 6298 §5.5 and §5.6).
        if self.is_timers() && a.now - self.timer.fired_at < MIN_RTO_AWAY {
            return false;
        }
        // RFC 8985 §6.2: by what is SACKed above, a sender that times each copy finds every loss, a repair's too, a
        // round trip and some more after it. What its timer sends comes after a silence.
        let timed = self.age.recent() && a.sack_permitted && a.sacked_above;
        if timed && !self.in_loss_state() && silent < MIN_RTO_AWAY {
            return false;
        }
        match self.state {
            State::Open => {
                // Without SACK it takes three duplicate ACKs (RFC 5681 §3.2), and fewer have passed here.
                let duplicates = self.duplicates + a.duplicates_on_the_way;
                let unasked = !a.sack_permitted && !a.acknowledged && duplicates < DUP_THRESH;
                // What was asked for, and passed over by new data until that ran out or for the RTO, was sent and lost.
                let overdue = a.now - self.last_progress >= pace.rto;
                let passed_over = self.afar.passed_over >= 4 && (silent > pace.tolerance || overdue);
                // Three duplicate ACKs are answered a round trip later, however long that is here.
                let asked = self.asked_for[0] == a.start || duplicates >= DUP_THRESH;
                silent > PAUSE && (stuck || !asked)
                    || stuck && (a.previous_was_resend && !told || passed_over || unasked)
            }
            // A partial ACK asks for the next (RFC 6582), a block for what is missing below it (RFC 6675): only the
            // timer repeats what waits for neither. What a full queue holds up comes about as late as the one before.
            State::Recovery { .. } => {
                let overdue = a.now - self.last_progress > self.resent.answered_in.scale(1.5);
                let quiet = silent > pace.tolerance.max(PAUSE);
                // Without SACK that one is sent at once. It was, and is missing; the timer has run since the first partial ACK.
                let lost = !a.sack_permitted && a.missing.is_some_and(|n| n > 0);
                let anew = !a.sack_permitted && self.begins_anew(a) && silent < PAUSE;
                stuck && again && !anew || (stuck || lost) && overdue && quiet
            }
            State::Loss { .. } => silent >= MIN_RTO_AWAY,
        }
    }

    /// Tahoe, which sends again what had arrived, begins anew where three duplicate ACKs say.
    pub(super) fn begins_anew(&self, a: &Attempt) -> bool {
        self.resent.goes_back && (self.duplicates >= DUP_THRESH || self.asked_for.contains(&a.start))
    }

    /// The timer's copy was lost on its way here, and what slow start sent behind it comes.
    pub(super) fn timer_went_unseen(&self, a: &Attempt) -> bool {
        let may_be_probe = a.tail && a.sack_permitted;
        !(a.head || may_be_probe)
            && a.missing.is_some_and(|n| n > 0)
            && !self.in_loss_state()
            && self.silent(a.now) >= MIN_RTO_AWAY
    }

    /// The slow start after a timeout was taken for over, and what comes again no ACK can have told to be lost: nothing
    /// beyond it has arrived (RFC 6675 §4; RFC 8985 §6.2).
    pub(super) fn slow_start_goes_on(&mut self, a: &Attempt) {
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

    /// ACKs have asked for a repair that was never seen.
    pub fn repair_due(&self) -> u32 {
        let due = match self.state {
            State::Open => self.is_asked() || self.any_sacked && self.afar.quick,
            // A partial ACK asked for the next (RFC 6582 §3.2), and nothing above it has been repaired.
            State::Recovery { .. } => self.resent.high <= self.una && self.last_progress >= self.resent.at,
            State::Loss { .. } => false,
        };
        // One that is known to be lost has been accounted for.
        u32::from(due && self.lost_repair().is_none())
    }
    /// So many repairs ACKs can have set off since the last packet that came, of `holes` that are open: each once, since
    /// nothing that left later has come to tell of its loss (RFC 8985 §6.2); without SACK the first segment's alone (RFC
    /// 6582 §3.2), unless it came since; one probe where nothing is missing (RFC 8985 §7.3). In slow start any number
    /// (`None`).
    pub fn repairs_at_most(&self, holes: u64, sack: bool) -> Option<u64> {
        match sack {
            _ if self.in_loss_state() || self.resent.goes_back => None,
            true => Some(holes.max(1)),
            false => {
                let came = self.state != State::Open && self.resent.high > self.una;
                Some(u64::from(self.is_asked() && !came))
            }
        }
    }
    /// Before its timer fired, a sender that repairs what SACKs tell of at once (RFC 8985 §6.2) repaired from here on, no more
    /// than so many.
    pub fn repairs_before_timer(&self) -> Option<(u64, u64)> {
        match self.state {
            _ if !self.age.recent() => None,
            State::Recovery { .. } => Some((self.resent.end, self.duplicates.into())),
            State::Open => Some((self.una, self.duplicates.checked_sub(2)?.into())),
            State::Loss { .. } => None,
        }
    }
    /// From where on holes below `start` have been repaired since the last repair came, in fast recovery; it begins with the
    /// first (RFC 6675 §5).
    pub fn repairs_after(&self, start: u64) -> u64 {
        match self.state {
            State::Recovery { .. } if start < self.resent.end => self.una,
            State::Recovery { .. } => self.resent.end,
            State::Open if self.duplicates > 0 && self.any_sacked => self.una,
            _ => start,
        }
    }
    /// The first segment not acknowledged has been asked for.
    pub fn is_asked(&self) -> bool {
        match self.state {
            State::Open => self.duplicates >= DUP_THRESH,
            State::Recovery { .. } => true,
            State::Loss { .. } => false,
        }
    }
    /// A repair was lost before it came here: of what was asked for, most likely.
    pub fn on_lost_repair(&mut self, now: Time) {
        self.afar.lost_repair = (self.una, now);
    }
    /// When the repair of the first segment was lost on its way here.
    pub fn lost_repair(&self) -> Option<Time> {
        (self.afar.lost_repair.0 == self.una && self.afar.lost_repair.1 > Time::FAR_PAST)
            .then_some(self.afar.lost_repair.1)
    }
    /// New data was sent though a repair was asked for, as the sender's own echoes tell: it was lost, or not sent.
    #[inline]
    pub fn note_passed_over(&mut self) {
        let asked = self.state == State::Open && self.duplicates >= DUP_THRESH;
        self.afar.passed_over = if asked { self.afar.passed_over + 1 } else { 0 };
    }
    /// The last that it sent was what its timer repeats.
    pub fn is_timers(&self) -> bool {
        self.timer.fired_at == self.last_sent && self.timer.fired_at > Time::FAR_PAST
    }
    /// Bytes that the repair after a timeout has still before it.
    pub fn left_to_repair(&self) -> u64 {
        match self.state {
            State::Loss { high, .. } => high.saturating_sub(self.resent.high.max(self.una)),
            _ => 0,
        }
    }

    /// An ACK was lost on its way to the sender: what it said is told by the next.
    pub fn on_lost_ack(&mut self, news: &AckNews) {
        self.afar.missed = Some(Box::new(match &self.afar.missed {
            Some(missed) => news.with(missed),
            None => *news,
        }));
    }

    /// What the last ACK said that it heard has been said more of since.
    pub fn missed_acks(&self) -> bool {
        self.afar.missed.is_some()
    }

    #[inline]
    pub(super) fn note_asked(&mut self) {
        if self.asked_for[0] != self.una {
            self.asked_for.rotate_right(1);
            self.asked_for[0] = self.una;
        }
    }
}
