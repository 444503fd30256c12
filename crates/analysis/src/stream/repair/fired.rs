//! What comes after a timer's copy, seen away from the sender: what it tells of the path, and of the timer.

use super::{Attempt, PAUSE, Repair, State, TIMERS_SILENCE};
use wire::{Span, Time};

/// How the sender was thought to be before its timer was thought to fire.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fired {
    state: State,
    start: u64,
    high: u64,
    /// The timer's copy came here, and its answer left.
    at: Time,
    answered: Option<Time>,
    /// So soon after progress: it may turn out to have been a repair that a queue held up.
    unsure: bool,
    /// Three duplicate ACKs, or in fast recovery a partial one, had asked for it.
    asked: bool,
}

/// The first segment came again later than fast recovery would mostly send it, and sooner than any timer must.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unsure {
    may_be_none: bool,
    may_be_timers: bool,
    /// New segments since.
    new: u32,
}

/// The packet that comes next.
#[derive(Clone, Copy, Debug)]
pub struct Next {
    pub start: u64,
    /// When it passed here, whatever its own timestamp tells.
    pub seen: Time,
    /// What was sent after it came before it.
    pub overtaken: bool,
    /// How close to each other packets come that left together.
    pub spacing: Span,
}

/// What left together comes no further apart than this: the answer to the first takes longer on any path.
const TOGETHER: f64 = 1.02;

/// Two packets came so close to each other, and none ever closer than `spacing`.
pub fn left_together(gap: Span, spacing: Span) -> bool {
    spacing < Span::MAX && gap <= spacing.scale(TOGETHER)
}

/// A sender with a floor of a second (RFC 6298 §2.4) that goes on at once has fast recovery after a timeout.
const SURE: Span = Span::from_millis(800);
/// So many repairs in a row that answered a partial ACK each show that the sender is no Tahoe.
const ONE_BY_ONE: u32 = 3;

impl Repair {
    /// The timer is about to be taken to have fired.
    pub(super) fn note_fired(&mut self, a: &Attempt) {
        // What had arrived before is repeated needlessly: ACKs that tell of that may be on their way.
        let asked = match self.state {
            State::Open => self.duplicates >= 3 || self.asked_for[0] == a.start,
            State::Recovery { .. } => true,
            State::Loss { .. } => false,
        };
        self.afar.fired = (!a.acknowledged).then(|| Fired {
            state: self.state,
            start: a.start,
            high: a.next,
            at: a.seen,
            answered: None,
            unsure: a.now - self.last_progress < SURE,
            asked,
        });
    }

    /// What was taken for the timer's is repeated sooner than a timer that has just fired does (RFC 6298 §5.5), and fast
    /// recovery never does (RFC 6582 §3.2): that one was asked for by duplicate ACKs, and this one is the timer's.
    pub(super) fn see_timer_behind_repair(&mut self, a: &Attempt) {
        let early = self.is_timers() && a.now - self.timer.fired_at < TIMERS_SILENCE;
        if early && let Some(f) = self.afar.fired.take_if(|f| f.start == a.start && f.asked) {
            self.was_no_timer(&f);
            self.timer.fired_at = Time::FAR_PAST;
        }
    }

    /// What was taken for the timer's was a repair that duplicate ACKs asked for.
    fn was_no_timer(&mut self, f: &Fired) {
        self.timer.expiries = 0;
        self.afar.unsure = Unsure::default();
        if self.in_loss_state() {
            self.state = match f.state {
                State::Open => State::Recovery { recover: f.high, first_ts: 0 },
                before => before,
            };
        }
    }

    /// New data comes sooner than the answer to the timer's copy can set it off, and no ACK before that had advanced: in
    /// fast recovery duplicate ACKs let it go (RFC 5681 §3.2 step 4), after a timeout they do not.
    pub fn see_new_behind_timer(&mut self, next: &Next, turn: Span) {
        let soon = |f: &Fired| f.unsure && f.asked && next.seen - f.at < turn.scale(0.7);
        if self.in_loss_state()
            && !next.overtaken
            && let Some(f) = self.afar.fired.take_if(|f| soon(f))
        {
            self.was_no_timer(&f);
            self.timer.fired_at = Time::FAR_PAST;
        }
    }

    /// The first segment comes again, and is about to be taken in.
    #[inline]
    pub(super) fn note_unsure(&mut self, a: &Attempt) {
        if !a.head {
            return;
        }
        let since = a.now - self.last_progress;
        // Since RFC 6928 new data is sent amid the repair after a timeout, too.
        let before = !self.resent.goes_back && !self.age.recent();
        let unsure = !a.sack_permitted && !a.acknowledged && before;
        // Three duplicate ACKs are answered amid what they set off.
        let answers = self.duplicates >= 3 || self.asked_for[0] == a.start;
        self.afar.unsure = Unsure {
            may_be_none: unsure && (TIMERS_SILENCE..SURE).contains(&since),
            may_be_timers: !(answers && self.silent(a.now) < PAUSE),
            new: 0,
        };
    }

    /// Fast recovery without SACK repeats the first segment only (RFC 6582 §3.2); slow start goes on with the next.
    pub(super) fn see_slow_start(&mut self, a: &Attempt) {
        let next = !a.head && a.start == self.resent.end;
        // It has answered partial ACKs one by one, and echoes no ACK that would ask for this: a timer came between.
        let pairs = !a.sack_permitted && !a.acknowledged && a.ts != 0 && !self.resent.goes_back;
        // What it sends that left together with the repair before it no ACK of that asked for.
        let right_behind = a.missing == Some(0) && self.resent.at == self.last_sent;
        let together = !a.sack_permitted && a.together && right_behind;
        let turned = pairs && self.resent.one_by_one >= ONE_BY_ONE || together && self.inflates();
        if let State::Recovery { recover, first_ts } = self.state
            && next
            && (self.afar.unsure.may_be_none && self.afar.unsure.may_be_timers || turned)
        {
            self.state = State::Loss { high: recover, f_rto: false, first_ts };
        }
    }

    /// New data leaves: fast recovery sends it while ACKs come in, slow start when all has been sent again. F-RTO may
    /// send two segments (RFC 5682 §2.1 step 2b).
    #[inline]
    pub fn see_recovery(&mut self, segments: u32) {
        self.afar.unsure.new = self.afar.unsure.new.saturating_add(segments);
        if let State::Recovery { recover, .. } = self.state
            && self.resent.high.max(self.una) < recover
        {
            self.resent.inflated = self.resent.inflated.saturating_add(segments);
            self.resent.goes_back &= !self.inflates();
        }
        if self.afar.unsure.may_be_none && self.afar.unsure.new > 2 && self.left_to_repair() > 0 {
            self.afar.unsure.may_be_none = false;
            if let State::Loss { high, first_ts, .. } = self.state {
                self.state = State::Recovery { recover: high, first_ts };
            }
        }
    }

    /// An ACK passes on its way to the sender.
    #[inline]
    pub fn note_answer(&mut self, now: Time) {
        if let Some(fired) = &mut self.afar.fired {
            fired.answered.get_or_insert(now);
        }
    }

    /// A timer sends one segment (RFC 5681 §3.1) and waits for the answer. Returns how long that took to the sender,
    /// and what it set off from there. What comes right behind the copy left with it: then no timer sent either.
    pub fn after_timeout(&mut self, next: &Next) -> Option<Span> {
        let fired = self.afar.fired.take_if(|f| next.start != f.start && !next.overtaken)?;
        if next.spacing == Span::MAX {
            return None;
        }
        if !left_together(next.seen - fired.at, next.spacing) {
            let turn = fired.answered.map(|t| next.seen - t);
            return turn.filter(|turn| !left_together(*turn, next.spacing));
        }
        if fired.unsure {
            self.was_no_timer(&fired);
        }
        None
    }
}
