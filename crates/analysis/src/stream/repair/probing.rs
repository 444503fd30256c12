//! Tail-loss probes (RFC 8985 §7): does this sender send any, and is a packet that nothing else let go one of them?

use super::{Pace, Repair};
use wire::{Span, Time};

#[derive(Clone, Debug, Default)]
pub(super) struct Probing {
    /// What must be acknowledged before another may be sent (TLP.end_seq, RFC 8985 §7.3); 0 if none is outstanding.
    until: u64,
    /// Acknowledged since it sent anything: room that it had no use for.
    unanswered: u64,
    /// An ACK set off what it sent last. What the application or pacing lets go fills no window.
    clocked: bool,
    /// How long it waited, at most and of late, before it sent what neither an ACK nor a timer let go.
    unprompted: Span,
    /// What was in flight then, at most, since it last took something for lost: its window is wider.
    fits: u64,
    /// Probes that it seems to have sent; timeouts before which one was due and did not come.
    shown: u32,
    missed: u32,
}

impl Probing {
    pub(super) fn outstanding(&self) -> bool {
        self.until > 0
    }
    /// The cumulative ACK moved on by so many bytes.
    #[inline]
    pub(super) fn on_progress(&mut self, una: u64, bytes: u64) {
        self.unanswered += bytes;
        if una >= self.until {
            self.until = 0;
        }
    }
    /// Losses are being repaired: the probe has done its work (RFC 8985 §7.4.2).
    pub(super) fn over(&mut self) {
        (self.until, self.fits) = (0, 0);
    }
    #[inline]
    pub(super) fn on_sent(&mut self) {
        self.unanswered = 0;
    }
    #[inline]
    pub(super) fn on_sent_on_ack(&mut self) {
        (self.unanswered, self.clocked) = (0, true);
    }
    pub(super) fn unanswered(&self) -> u64 {
        self.unanswered
    }
    pub(super) fn begin(&mut self, until: u64) {
        self.until = until;
        self.shown += 1;
    }
    pub(super) fn miss(&mut self) {
        self.missed += 1;
    }
    /// A short while ago it waited about as long before it sent what neither an ACK nor a timer let go.
    fn is_its_pace(&self, waited: Span) -> bool {
        waited < self.unprompted * 2
    }
    /// It has sent probes, and more often than not where one was due.
    pub(super) fn has_shown(&self) -> bool {
        self.shown > self.missed
    }
}

impl Repair {
    /// Bytes acknowledged since it sent anything.
    pub fn unanswered(&self) -> u64 {
        self.probing.unanswered()
    }

    /// New data leaves after a pause, with nothing known to be missing: is it a probe?
    pub(super) fn new_data_probes(&mut self, now: Time, flight: u64, head: Time, pace: &Pace) -> bool {
        let waited = self.silent(now);
        let p = &mut self.probing;
        let least = Span::from_millis(2) + pace.srtt.scale(if p.clocked { 1.4 } else { 1.8 });
        // A window fills by what ACKs let go, or with the first that a sender may send.
        let room = flight <= p.fits || p.is_its_pace(waited);
        let own_pace = !p.clocked && room && !self.age.in_opening(self.una);
        let pause = Span::from_millis(5).max(pace.tolerance);
        // Never past the RTO, which Linux reckons from when the first segment left (RFC 8985 §7.2), unless that was over
        // as the probe's timer was set (tcp_schedule_loss_probe).
        let ahead = now - waited - head < pace.rto;
        let due = waited >= least || (ahead && now - head >= pace.rto.scale(0.9));
        let long = waited >= pause && due;
        if long && !p.outstanding() && !(own_pace && pace.judge().sees_it_send()) {
            return true;
        }
        if now - self.last_news > pace.tolerance {
            p.fits = p.fits.max(flight);
            p.unprompted = waited.max(p.unprompted - p.unprompted / 8);
        }
        false
    }

    /// It was seen to send probes before, or is of the age of senders that do: a single segment that is sent again may
    /// be one. Else only its timer is known to do that.
    pub(super) fn may_probe_alone(&self) -> bool {
        self.age.recent() || self.probing.has_shown()
    }

    /// It had sent probes before the one just sent, and more often than not where one was due.
    pub fn has_shown_before(&self) -> bool {
        self.probing.shown > 1 && self.probing.shown - 1 > self.probing.missed
    }

    /// New data leaves after a pause: had an ACK let it go?
    pub(super) fn note_clock(&mut self, now: Time, pace: &Pace) {
        let since_news = now - self.last_news;
        let follows = self.probing.clocked && since_news <= pace.tolerance;
        self.probing.clocked = follows || since_news <= pace.judge().tight(self, pace);
    }
}
