//! Tail-loss probes (RFC 8985 §7): does this sender send any, and is a packet that nothing else triggered one of them?

use super::{PathTiming, SenderModel};
use crate::assumptions::probe_not_before;
use wire::{Span, Time};

#[derive(Clone, Debug, Default)]
pub(super) struct Probing {
    /// What must be acknowledged before another may be sent (TLP.end_seq, RFC 8985 §7.3); 0 if none is outstanding.
    until: u64,
    /// Bytes acknowledged since it last sent anything: room that it did not use.
    unanswered: u64,
    /// An ACK triggered what it sent last. The application or pacing triggers packets that do not fill the window.
    clocked: bool,
    /// The longest recent wait before a packet that neither an ACK nor a timer triggered.
    unprompted: Span,
    /// The most in flight before such a packet since the last loss: the window is larger.
    fits: u64,
    /// Probes that it seems to have sent; timeouts before which a probe was due and did not come.
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
    /// A loss is being repaired: the probe is over (RFC 8985 §7.4.2).
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
    /// It waited about as long recently before a packet that neither an ACK nor a timer triggered.
    fn is_usual_interval(&self, waited: Span) -> bool {
        waited < self.unprompted * 2
    }
    /// It has sent probes, in most cases where one was due.
    pub(super) fn has_shown(&self) -> bool {
        self.shown > self.missed
    }
}

impl SenderModel {
    /// Bytes acknowledged since it sent anything.
    pub fn unanswered(&self) -> u64 {
        self.probing.unanswered()
    }

    /// New data leaves after a pause, with nothing known to be missing: is it a probe?
    pub(super) fn new_data_probes(
        &mut self,
        now: Time,
        flight: u64,
        head: Time,
        timing: &PathTiming,
    ) -> bool {
        let waited = self.silent(now);
        let p = &mut self.probing;
        let least = probe_not_before(timing.srtt, false);
        // The window was not full: the application or pacing may have triggered the packet.
        let room = flight <= p.fits || p.is_usual_interval(waited);
        let own_pace = !p.clocked && room && !self.era.only_first_write_acked(self.una);
        let pause = Span::from_millis(5).max(timing.tolerance);
        // Not after the RTO, which Linux counts from when the first segment left (RFC 8985 §7.2), unless the RTO had passed
        // when the probe's timer was set (tcp_schedule_loss_probe).
        let ahead = now - waited - head < timing.rto;
        let due = waited >= least || (ahead && now - head >= timing.rto.scale(0.9));
        let long = waited >= pause && due;
        if long && !p.outstanding() && !(own_pace && timing.judge().sees_it_send()) {
            return true;
        }
        if now - self.last_news > timing.tolerance {
            p.fits = p.fits.max(flight);
            p.unprompted = waited.max(p.unprompted - p.unprompted / 8);
        }
        false
    }

    /// A retransmission of a single outstanding segment may be a probe: the sender has sent probes before, or its stack is
    /// recent enough. Otherwise it is the RTO's.
    pub(super) fn may_probe_alone(&self) -> bool {
        self.era.since_2013() || self.probing.has_shown()
    }

    /// It had sent probes before the one just sent, in most cases where one was due.
    pub fn has_shown_before(&self) -> bool {
        self.probing.shown > 1 && self.probing.shown - 1 > self.probing.missed
    }

    /// New data leaves after a pause: did an ACK trigger it?
    pub(super) fn note_clock(&mut self, now: Time, timing: &PathTiming) {
        let since_news = now - self.last_news;
        let follows = self.probing.clocked && since_news <= timing.tolerance;
        self.probing.clocked = follows || since_news <= timing.judge().tight(self, timing);
    }
}
