//! What only shows away from the sender: repairs lost before they came here, ACKs lost after they passed.

use super::fired::{Fired, Unsure};
use super::{AckNews, Attempt, PAUSE, Pace, Repair, State, TIMERS_SILENCE};
use std::collections::VecDeque;
use std::mem::offset_of;
use wire::{Span, Time};

/// So many ACKs taken for heard are remembered, and no two closer than this: a window and a timer's wait.
const HEARD: usize = 64;
const HEARD_EVERY: Span = Span::from_millis(10);

/// What is kept of a sender only where it is seen from afar.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Afar {
    /// What ACKs said that were lost on their way to the sender, until the next is heard.
    pub(super) missed: Option<Box<AckNews>>,
    /// New data packets since three duplicate ACKs were heard.
    passed_over: u32,
    /// The most that it had in flight since it last took something for lost.
    pub(super) flight: u64,
    /// The last ACKs taken for heard, one of every few milliseconds, the newest at the end.
    heard: VecDeque<(u64, Time)>,
    /// The first segment not acknowledged when a repair was lost on its way here.
    lost_repair: (u64, Time),
    /// Fewer than three duplicate ACKs were enough for a repair (RFC 8985 §6.2).
    pub(super) quick: bool,
    /// How things stood before the timer was taken to have fired.
    pub(super) fired: Option<Fired>,
    /// What the last repair of the first segment was is to be seen by what comes next.
    pub(super) unsure: Unsure,
}

impl Default for Afar {
    fn default() -> Afar {
        Afar {
            missed: None,
            passed_over: 0,
            flight: 0,
            heard: VecDeque::new(),
            lost_repair: (0, Time::FAR_PAST),
            quick: false,
            fired: None,
            unsure: Unsure::default(),
        }
    }
}

impl Afar {
    /// So many bytes of it are touched by each packet.
    pub(super) const OFTEN: usize = offset_of!(Afar, heard);

    /// As if new, with the room it has.
    pub(super) fn cleared(mut self) -> Afar {
        self.heard.clear();
        Afar { heard: self.heard, ..Afar::default() }
    }
}

impl Repair {
    /// What may have happened unseen before a retransmission.
    pub(super) fn catch_up_away(&mut self, a: &Attempt, pace: &Pace) {
        if a.acks_seen && self.timer_went_unseen(a) {
            self.enter_loss(a, pace);
        } else if self.goes_on_behind_lost_timer(a) {
            self.state = State::Loss { high: a.next, f_rto: false, first_ts: 0 };
        }
        self.go_on_unseen(a);
        self.see_slow_start(a);
        self.slow_start_goes_on(a);
        self.see_timer_behind_repair(a);
    }

    /// The timer repeats what was repaired before, which the sender has not heard of: that repair goes on, and the clock of
    /// its first retransmission holds (RFC 3522 §3.2).
    pub(super) fn repaired_before(&self, a: &Attempt) -> Option<u32> {
        match self.left {
            Some(State::Recovery { first_ts, .. }) if a.start < self.resent.end => Some(first_ts),
            _ => None,
        }
    }

    /// The first segment not acknowledged comes again: was it the timer? A repair that waited behind a full queue comes
    /// late as well; but while it waits, ACKs that were on their way are heard, and what left before it comes.
    pub(super) fn timer_from_afar(&self, a: &Attempt, pace: &Pace) -> bool {
        let silent = self.silent(a.now);
        // What set the timer going is heard here by what the sender made of it, a little later.
        let stuck = a.now - self.last_progress >= TIMERS_SILENCE;
        // RFC 8985 §6.2: what was sent after a repair and has arrived tells that the repair was lost.
        let told = a.sack_permitted && self.age.recent() && self.newest_delivered > a.previous;
        let again = !told && (a.previous_was_resend || a.start < self.resent.high);
        // The timer has just begun anew, and doubled (RFC 6298 §5.5 and §5.6).
        if self.is_timers() && a.now - self.timer.fired_at < TIMERS_SILENCE {
            return false;
        }
        // RFC 8985 §6.2: by what is SACKed above, a sender that times each copy finds every loss, a repair's too, a
        // round trip and some more after it. What its timer sends comes after a silence.
        let timed = self.age.recent() && a.sack_permitted && a.sacked_above;
        if timed && !self.in_loss_state() && silent < TIMERS_SILENCE {
            return false;
        }
        match self.state {
            State::Open => {
                // Without SACK it takes three duplicate ACKs (RFC 5681 §3.2), and fewer have passed here.
                let duplicates = self.duplicates + a.duplicates_on_the_way;
                let unasked = !a.sack_permitted && !a.acknowledged && duplicates < 3;
                // What was asked for, and passed over by new data until that ran out or for the RTO, was sent and lost.
                let overdue = a.now - self.last_progress >= pace.rto;
                let passed_over = self.afar.passed_over >= 4 && (silent > pace.tolerance || overdue);
                // Three duplicate ACKs are answered a round trip later, however long that is here.
                let asked = self.asked_for[0] == a.start || duplicates >= 3;
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
            State::Loss { .. } => silent >= TIMERS_SILENCE,
        }
    }

    /// Tahoe, which sends again what had arrived, begins anew where three duplicate ACKs say.
    pub(super) fn begins_anew(&self, a: &Attempt) -> bool {
        self.resent.goes_back && (self.duplicates >= 3 || self.asked_for.contains(&a.start))
    }

    /// What the timer sent was lost on its way here; what slow start sent behind it comes.
    pub(super) fn timer_went_unseen(&self, a: &Attempt) -> bool {
        let may_be_probe = a.tail && a.sack_permitted && !self.probing.has_none();
        !(a.head || may_be_probe)
            && a.missing.is_some_and(|n| n > 0)
            && !self.in_loss_state()
            && self.silent(a.now) >= TIMERS_SILENCE
    }

    /// An ACK that advances sets off a repair of the next segment, and nothing had asked for any: slow start does that. What
    /// the timer had sent before, in the silence up to that ACK, was lost on its way here (RFC 5681 §3.1).
    fn goes_on_behind_lost_timer(&self, a: &Attempt) -> bool {
        let unasked = self.duplicates + a.duplicates_on_the_way == 0 && !self.any_sacked && !a.sacked_above;
        let by_ack = self.last_progress == self.last_news && a.now - self.last_news < PAUSE;
        self.state == State::Open
            && a.head
            && a.missing.is_some_and(|n| n > 0)
            && unasked
            && by_ack
            && self.last_news - self.last_sent >= TIMERS_SILENCE
    }

    /// The repair after a timeout goes on, beyond what had been seen when it began and was taken for its end.
    pub(super) fn go_on_unseen(&mut self, a: &Attempt) {
        if a.unseen
            && self.state == State::Open
            && let Some(State::Loss { f_rto, first_ts, .. }) = self.left
        {
            self.state = State::Loss { high: a.next, f_rto, first_ts };
        }
    }

    /// The slow start after a timeout was taken for over, and what comes again no ACK can have told to be lost: nothing
    /// beyond it has arrived (RFC 6675 §4; RFC 8985 §6.2).
    fn slow_start_goes_on(&mut self, a: &Attempt) {
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
    pub fn repair_due(&self, sack: bool) -> u32 {
        let due = match self.state {
            State::Open => self.is_asked(sack) || self.any_sacked && self.afar.quick,
            // A partial ACK asked for the next (RFC 6582 §3.2), and nothing above it has been repaired.
            State::Recovery { .. } => self.resent.high <= self.una && self.last_progress >= self.resent.at,
            State::Loss { .. } => false,
        };
        // One that is known to be lost has been accounted for.
        u32::from(due && self.lost_repair().is_none())
    }
    /// Without SACK duplicate ACKs set no repair off after a timeout until something is acknowledged beyond what had been
    /// sent by then (RFC 6582 §3.2 steps 1 and 6: its own repeats may have caused them).
    fn holds_back(&self, sack: bool) -> bool {
        !sack && matches!(self.left, Some(State::Loss { high, .. }) if self.una <= high)
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
                Some(u64::from(self.is_asked(sack) && !came))
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
    pub fn is_asked(&self, sack: bool) -> bool {
        match self.state {
            State::Open => self.duplicates >= 3 && !self.holds_back(sack),
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
        let asked = self.state == State::Open && self.duplicates >= 3;
        self.afar.passed_over = if asked { self.afar.passed_over + 1 } else { 0 };
    }
    /// Data up to `end` is sent: for the first time or, where nothing is SACKed, `again`.
    #[inline]
    pub fn note_flight(&mut self, end: u64, again: bool) {
        match self.state {
            // The window of fast recovery is inflated by duplicate ACKs (RFC 5681 §3.2).
            State::Recovery { .. } => self.afar.flight = 0,
            // What was sent before the timeout that new data tests (RFC 5682) is in flight no more.
            State::Loss { .. } if !again => {}
            _ => self.afar.flight = self.afar.flight.max(end.saturating_sub(self.una)),
        }
    }
    /// As far as it has sent when it has heard of `una` and has data to send: but for losses its window does not
    /// shrink (RFC 5681 §3.1).
    pub fn sent_at_least(&self, una: u64) -> u64 {
        una + self.afar.flight
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

    /// The sender sends what begins at `start`, below which nothing is outstanding to it: it has heard of no more,
    /// whatever has had the time to arrive there. Returns what it is still to hear.
    pub fn rewind(&mut self, start: u64) -> Option<u64> {
        if start >= self.una {
            return None;
        }
        if self.state == State::Open {
            self.duplicates = 0; // of an ACK that it has not heard
        }
        if let (State::Open, Some(State::Recovery { recover: end, .. } | State::Loss { high: end, .. })) =
            (self.state, self.left)
            && start < end
        {
            self.state = self.left.unwrap_or_default();
        }
        self.unhear(start);
        Some(std::mem::replace(&mut self.una, start))
    }

    /// Puts the clocks back to when it heard last of what it has heard of.
    fn unhear(&mut self, start: u64) {
        let beyond = self.afar.heard.iter().rev().take_while(|(ack, _)| *ack > start).count();
        self.afar.heard.truncate(self.afar.heard.len() - beyond);
        if let Some(&(ack, at)) = self.afar.heard.back() {
            self.last_news = self.last_news.min(at);
            let since = self.afar.heard.iter().find(|(a, _)| *a == ack).map_or(at, |(_, t)| *t);
            self.last_progress = self.last_progress.min(since);
            self.timer.start = self.timer.start.min(since.max(self.timer.fired_at));
        }
    }

    /// The sender is taken to have heard this ACK, which it may turn out not to have.
    #[inline]
    pub fn note_heard(&mut self, ack: u64, at: Time) {
        if self.afar.heard.back().is_some_and(|(_, t)| at - *t < HEARD_EVERY) {
            return;
        }
        if self.afar.heard.len() == HEARD {
            self.afar.heard.pop_front();
        }
        self.afar.heard.push_back((ack, at));
    }

    #[inline]
    pub(super) fn note_asked(&mut self) {
        if self.asked_for[0] != self.una {
            self.asked_for.rotate_right(1);
            self.asked_for[0] = self.una;
        }
    }
}
