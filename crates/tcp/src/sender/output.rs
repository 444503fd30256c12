//! What may be sent next: repairs first, then what the application wrote.

use super::{Phase, ProbeDue, Sender};
use crate::endpoint::Why;
use crate::stack::{AfterTimeout, RestartsTimer, WindowProbe};
use crate::timers::{Timer, Timers};
use wire::Time;

/// One data segment (or a bare FIN) to be put on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outgoing {
    pub(crate) offset: u64,
    pub(crate) payload: u32,
    pub(crate) fin: bool,
    pub(crate) psh: bool,
    pub(crate) why: Why,
}

/// Full segments of new data, of `smss` bytes. Bytes that the windows have room for; and those that they would have room
/// for if cwnd had. Where packets hold several segments, no more than belong to one of `packet` segments: `more` says that
/// the windows had room for others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) room: u32,
    pub(crate) beyond: u64,
    pub(crate) smss: u32,
    pub(crate) packet: u32,
    pub(crate) more: bool,
}

impl Sender {
    /// The next segment while something is amiss, if the windows allow one. `tsval` is the timestamp it will carry.
    pub(crate) fn next_of_all(&mut self, now: Time, tsval: u32, timers: &mut Timers) -> Option<Outgoing> {
        if let Some(repair) = self.next_repair(now, tsval, timers) {
            return Some(repair);
        }
        if self.held || self.nxt < self.board.end() || self.only_repairs() {
            return None;
        }
        let new = self.next_new(now, timers);
        if new.is_none() && self.phase == Phase::Recovery {
            return self.next_reserve(now, tsval, timers);
        }
        new
    }

    /// Nothing is wrong: new data only, as nearly always.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.phase == Phase::Open
            && self.resend_first.is_none()
            && self.probe_due == ProbeDue::None
            && self.nxt >= self.board.end()
    }

    /// There is nothing that could be sent: all that was written has left, and nothing is wrong.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        self.written <= self.nxt && self.is_plain() && (!self.closing || self.fin_sent)
    }

    /// What may leave of new data in full segments, one after the other, while nothing is wrong: [`Sender::next_new`]
    /// would find no reason but the windows to send any of them otherwise, or not.
    #[inline]
    pub(crate) fn run(&mut self, now: Time) -> Option<Run> {
        let usual = self.is_plain()
            && self.dupacks == 0
            && self.new_allowed == 0
            && self.assumed_sacked == 0
            && self.burst_left == u32::MAX
            && !self.guided
            && self.board.out() > 0;
        if !usual {
            return None;
        }
        // The last of what was written is marked as such, and may wait for more (Nagle).
        let beyond = self.edge.saturating_sub(self.nxt).min(self.written.saturating_sub(self.nxt + 1));
        let by_cwnd = self.window.cwnd.saturating_sub(self.occupied());
        let room = beyond.min(u64::from(by_cwnd)) as u32;
        let run = Run { room, beyond, smss: self.window.smss, packet: 0, more: false };
        Some(if self.rules.offload { self.run_of_packet(now, run) } else { run })
    }

    /// One segment of a [`Run`]: its offset.
    #[inline(always)]
    pub(crate) fn next_of_run(&mut self, now: Time, smss: u32, timers: &mut Timers) -> u64 {
        self.send_new(smss, false, false, Why::New, now, timers).offset
    }

    /// What was sent before and has to go again. Apart, so that the common case stays small.
    #[inline(never)]
    fn next_repair(&mut self, now: Time, tsval: u32, timers: &mut Timers) -> Option<Outgoing> {
        match std::mem::take(&mut self.probe_due) {
            ProbeDue::None => {}
            ProbeDue::Window => return self.probe(now, tsval, timers),
            ProbeDue::Tail => return self.tail_probe(now, tsval, timers),
        }
        if let Some(why) = self.resend_first.take()
            && self.board.segments() > 0
        {
            return Some(self.resend(0, why, now, tsval, timers));
        }
        if self.held {
            return None;
        }
        if self.nxt < self.board.end() {
            return self.next_going_back(now, tsval, timers);
        }
        if !self.repairs_by_marks() || self.holds_repairs || (self.new_first && self.new_leaves_first()) {
            return None;
        }
        let at = self.board.next_lost()?;
        if !self.fits(self.board.get(at)?.space(), now, timers) {
            return None;
        }
        let why = if self.phase == Phase::Loss { Why::LossState } else { self.why_recovery() };
        Some(self.resend(at, why, now, tsval, timers))
    }

    /// Linux 2.2 takes Nagle's rule to mean this too (tcp_snd_test, `retransmits`; paper `rto`, section 2).
    pub(super) fn only_repairs(&self) -> bool {
        self.phase == Phase::Loss && self.rules.recovery.after_timeout == AfterTimeout::RepairsOnly
    }

    pub(super) fn repairs_by_marks(&self) -> bool {
        match self.phase {
            Phase::Open => false,
            Phase::Recovery => self.recovery.uses_pipe(),
            Phase::Loss => self.marks_lost(),
        }
    }

    /// Go-back-N: the next segment from SND.NXT on that was not SACKed meanwhile.
    fn next_going_back(&mut self, now: Time, tsval: u32, timers: &mut Timers) -> Option<Outgoing> {
        let mut at = self.board.find(self.nxt);
        while self.board.get(at).is_some_and(|s| s.sacked()) {
            self.nxt = self.board.offset(at) + u64::from(self.board.get(at)?.space());
            at += 1;
        }
        let seg = self.board.get(at)?;
        let end = self.board.offset(at) + u64::from(seg.space());
        if !self.fits(seg.space(), now, timers) || (end > self.edge && at > 0) {
            return None;
        }
        let why = if self.phase == Phase::Loss { Why::LossState } else { self.why_recovery() };
        Some(self.resend(at, why, now, tsval, timers))
    }

    /// NextSeg (3) and (4) of RFC 6675 §4: what is not known lost, when there is no new data to send.
    #[inline(never)]
    fn next_reserve(&mut self, now: Time, tsval: u32, timers: &mut Timers) -> Option<Outgoing> {
        let may = self.rules.recovery.rescue && self.sack && self.recovery.uses_pipe();
        if !may || !self.fits(self.window.smss, now, timers) {
            return None;
        }
        let why = self.why_recovery();
        if let Some(at) = self.board.next_hole() {
            return Some(self.resend(at, why, now, tsval, timers));
        }
        if self.rescued {
            return None;
        }
        // One rescue for each recovery, so that a lost tail does not need the timer. HighRxt stays.
        self.rescued = true;
        let at = self.board.last_unsacked()?;
        if self.board.get(at)?.resent > 0 {
            return None;
        }
        Some(self.resend_uncounted(at, why, now, tsval, timers))
    }

    pub(super) fn resend(
        &mut self,
        at: usize,
        why: Why,
        now: Time,
        tsval: u32,
        timers: &mut Timers,
    ) -> Outgoing {
        self.board.sent_again(at, true, now);
        self.resent(at, why, now, tsval, timers)
    }

    pub(super) fn resend_uncounted(
        &mut self,
        at: usize,
        why: Why,
        now: Time,
        tsval: u32,
        timers: &mut Timers,
    ) -> Outgoing {
        self.board.sent_again(at, false, now);
        self.resent(at, why, now, tsval, timers)
    }

    fn resent(&mut self, at: usize, why: Why, now: Time, tsval: u32, timers: &mut Timers) -> Outgoing {
        let offset = self.board.offset(at);
        let (payload, fin, psh, space) = match self.board.get(at) {
            Some(seg) => (seg.payload(), seg.fin(), seg.psh(), seg.space()),
            None => (0, false, false, 0),
        };
        self.undo.resent(tsval);
        self.recovery.sent(self.counted(space));
        if self.guided {
            self.pace_again(at, why, now, payload);
        }
        self.last_sent = now;
        if self.nxt >= offset {
            self.nxt = self.nxt.max(offset + u64::from(space));
        }
        // RFC 6298 (5.1).
        let anew = at == 0 && self.rules.recovery.restarts_timer == RestartsTimer::Oldest;
        let unset = !timers.is_set(Timer::Retransmit) && !self.tail.shares_timer();
        if unset || (anew && !timers.is_set(Timer::Reorder)) {
            timers.arm(Timer::Retransmit, self.rto.fires_at(now, self.rto_within_patience(now)));
        } else if self.phase != Phase::Open && self.rules.recovery.restarts_timer != RestartsTimer::Oldest {
            // RFC 8985 §7.2: what was to be probed for is being repaired. Linux leaves it to the oldest one's repair.
            self.end_probing(now, timers);
        }
        Outgoing { offset, payload, fin, psh, why }
    }

    /// Does cwnd have room for `bytes` more, and is it time for them?
    #[inline(always)]
    fn fits(&self, bytes: u32, now: Time, timers: &mut Timers) -> bool {
        self.has_room(bytes) && (!self.guided || self.is_time(now, timers))
    }

    #[inline(always)]
    pub(super) fn has_room(&self, bytes: u32) -> bool {
        self.occupied().saturating_add(bytes) <= self.window.cwnd.saturating_add(self.limited_transmit())
    }

    /// RFC 3042: one segment beyond cwnd on each of the first two duplicate ACKs.
    #[inline]
    fn limited_transmit(&self) -> u32 {
        if self.dupacks == 0
            || self.phase != Phase::Open
            || !self.rules.detect.limited_transmit
            || self.recovery.uses_pipe()
        {
            return 0;
        }
        self.dupacks.min(2) * self.window.smss
    }

    /// Data that was never sent, or the FIN.
    #[inline(always)]
    pub(crate) fn next_new(&mut self, now: Time, timers: &mut Timers) -> Option<Outgoing> {
        let waiting = self.written - self.nxt.min(self.written);
        if waiting == 0 {
            return if self.closing && !self.fin_sent { Some(self.next_fin(now, timers)) } else { None };
        }
        let smss = self.window.smss;
        if self.board.out() == 0 && self.edge > self.nxt {
            self.after_idle(now);
        }
        let payload = waiting.min(u64::from(smss)) as u32;
        let allowed = self.edge.saturating_sub(self.nxt);
        let payload = if allowed < u64::from(payload) {
            self.part_worth_sending(allowed as u32, now, timers)?
        } else {
            payload
        };
        if payload < smss && self.held_by_nagle(waiting, payload) {
            return None;
        }
        let mut ends_packet = false;
        if self.new_allowed > 0 {
            self.new_allowed -= 1;
        } else if self.burst_left == 0
            || !self.fits(payload, now, timers)
            || (self.hands_over_packets() && self.waits_for_its_packet(now))
        {
            return None;
        } else {
            ends_packet = self.ends_its_packet();
        }
        if self.burst_left < u32::MAX {
            self.burst_left -= 1;
        }
        if self.dupacks > 0 && self.phase == Phase::Open {
            self.limited_bytes += payload;
        }
        let last = waiting == u64::from(payload);
        let mut out = self.send_new(payload, last && self.closing, last, Why::New, now, timers);
        out.psh |= ends_packet;
        Some(out)
    }

    /// The peer's window has room for less than a segment. RFC 9293 §3.8.6.2.1 (3): half of the largest window
    /// is worth a segment; otherwise the rest waits, and something must ask for it.
    #[cold]
    fn part_worth_sending(&mut self, allowed: u32, now: Time, timers: &mut Timers) -> Option<u32> {
        if self.is_worth_sending(allowed.into()) {
            return Some(allowed);
        }
        if self.board.out() == 0 {
            self.persist(now, timers);
        }
        None
    }

    #[inline(always)]
    pub(super) fn is_worth_sending(&self, allowed: u64) -> bool {
        allowed > 0 && allowed >= u64::from(self.largest_window / 2)
    }

    /// RFC 9293 §3.7.4. A FIN behind the data ends the wait for more.
    #[inline]
    pub(super) fn held_by_nagle(&self, waiting: u64, payload: u32) -> bool {
        self.rules.nagle && self.board.out() > 0 && !(self.closing && waiting == u64::from(payload))
    }

    #[inline(never)]
    fn next_fin(&mut self, now: Time, timers: &mut Timers) -> Outgoing {
        self.send_new(0, true, false, Why::Fin, now, timers)
    }

    #[inline(always)]
    pub(super) fn send_new(
        &mut self,
        payload: u32,
        fin: bool,
        mut psh: bool,
        why: Why,
        now: Time,
        timers: &mut Timers,
    ) -> Outgoing {
        let offset = self.nxt;
        self.board.push(payload, fin, psh, now);
        self.nxt = self.board.end();
        self.max = self.max.max(self.nxt);
        self.fin_sent |= fin;
        self.usage.sent();
        self.last_sent = now;
        self.recovery.sent(self.counted(payload));
        if self.guided {
            psh |= self.pace_new(now, payload);
        }
        if self.tail.shares_timer() {
            self.time_new(now, timers);
        } else if !timers.is_set(Timer::Retransmit) {
            timers.set(Timer::Retransmit, self.rto.fires_at(now, self.rto.rto()));
        }
        Outgoing { offset, payload, fin, psh, why }
    }

    /// RFC 5681 §4.1 and the window rule's own view of silence.
    #[inline(never)]
    fn after_idle(&mut self, now: Time) {
        if self.guided {
            self.restart(now);
        }
        if self.last_sent > Time::FAR_PAST && now - self.last_sent > self.rto.rto() {
            self.congestion.after_idle(&mut self.window, now);
            self.last_sent = now;
        }
    }

    /// One byte beyond a closed window (RFC 9293 §3.8.6.1), or that byte again; or nothing but a number that must be
    /// answered (tcp_xmit_probe_skb).
    fn probe(&mut self, now: Time, tsval: u32, timers: &mut Timers) -> Option<Outgoing> {
        self.probes += 1;
        self.unanswered_probes += 1;
        if self.rules.window_probe == WindowProbe::Old && self.board.segments() == 0 {
            self.persist(now, timers);
            return Some(Outgoing {
                offset: self.una() - 1,
                payload: 0,
                fin: false,
                psh: false,
                why: Why::Persist,
            });
        }
        let out = if self.board.segments() > 0 {
            self.resend(0, Why::Persist, now, tsval, timers)
        } else if self.written > self.nxt {
            self.send_new(1, false, self.written == self.nxt + 1, Why::Persist, now, timers)
        } else {
            return None;
        };
        timers.stop(Timer::Retransmit);
        self.persist(now, timers);
        Some(out)
    }
}
