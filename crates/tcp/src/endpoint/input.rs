//! Segments that arrive: which are acceptable, and what they change (RFC 9293 §3.10.7, RFC 5961, RFC 7323).

use super::{Endpoint, Failure, Owed, Rst, Stage, TIME_WAIT};
use crate::receiver::Ack;
use crate::sender::AckIn;
use crate::timers::Timer;
use wire::{Flags, Segment};
use wire::{Span, Time};

/// RFC 7323 §5.5: a TS.Recent that was not renewed for so long says nothing.
const RECENT_HOLDS: Span = Span::from_secs(24 * 24 * 3600);

impl Endpoint {
    #[inline]
    pub fn receive(&mut self, now: Time, seg: &Segment) {
        if !self.take_expected(now, seg) {
            self.receive_any(now, seg);
        }
    }

    /// The same of a packet whose IP header says that it met congestion (CE).
    pub fn receive_marked(&mut self, now: Time, seg: &Segment) {
        self.marked = self.ecn;
        self.receive_any(now, seg);
        self.marked = false;
    }

    /// RFC 3168 §6.1.3: a mark is echoed until data says that the window was reduced. Linux answers the next two segments
    /// at once, so that the echo is soon there (tcp_enter_quickack_mode).
    #[cold]
    fn hear_congestion(&mut self, seg: &Segment) {
        if seg.flags.has(Flags::CWR) {
            self.echoes = false;
        }
        if self.marked && !self.echoes {
            self.echoes = true;
            self.owed = if self.owed == Owed::Nothing { Owed::Ack } else { self.owed };
        }
    }

    #[inline(never)]
    pub(super) fn receive_any(&mut self, now: Time, seg: &Segment) {
        match self.stage {
            Stage::Open | Stage::TimeWait => self.in_open(now, seg),
            Stage::Closed => self.refuse(seg),
            Stage::Listen => self.in_listen(now, seg),
            Stage::SynSent => self.in_syn_sent(now, seg),
            Stage::SynReceived => {
                if self.in_syn_received(now, seg) {
                    self.in_open(now, seg);
                }
            }
        }
    }

    /// RFC 9293 §3.10.7.4, in its order.
    fn in_open(&mut self, now: Time, seg: &Segment) {
        self.heard = now;
        self.keepalives = 0;
        // Where the segment begins in the peer's stream; negative before the SYN.
        let next = self.receiver.next();
        let at = next as i64 + i64::from(seg.seq - self.rcv_nxt());
        if self.stamps && !self.stamps_acceptable(now, seg, at) {
            return;
        }
        // The next one that says no more than ACK is in the window, whatever that is.
        let expected = at == next as i64 && seg.flags.without(Flags::PSH) == Flags::ACK;
        if !expected && !self.passes(now, seg, at, next) {
            return;
        }
        if self.stamps {
            self.note_stamp(now, seg, at);
        }
        if !expected && seg.flags.has(Flags::SYN) {
            // RFC 5961 §4: a SYN in a connection is answered by a challenge ACK.
            self.owed = Owed::Alone;
            return;
        }
        if !seg.flags.has(Flags::ACK) || !self.on_ack(now, seg, at) {
            return;
        }
        if self.ecn && seg.payload > 0 {
            self.hear_congestion(seg);
        }
        if seg.payload > 0 || seg.flags.has(Flags::FIN) {
            self.on_text(now, seg, at as u64, next);
        }
        if self.receiver.finished() {
            self.on_peer_closed(now);
        }
    }

    /// The tests that an expected segment passes anyway: is it in the window, and no RST?
    #[inline(never)]
    fn passes(&mut self, now: Time, seg: &Segment, at: i64, next: u64) -> bool {
        if !self.acceptable(now, seg, at, next) {
            return false;
        }
        let reset = seg.flags.has(Flags::RST);
        if reset {
            self.on_rst(at, next);
        }
        !reset
    }

    /// PAWS (RFC 7323 §5.3 R1).
    #[inline]
    fn stamps_acceptable(&mut self, now: Time, seg: &Segment, at: i64) -> bool {
        if seg.flags.has(Flags::RST) {
            return true;
        }
        // RFC 7323 §3.2: a segment without the option is dropped once it was negotiated.
        let Some(stamps) = seg.timestamps else { return false };
        let newer = stamps.val.wrapping_sub(self.recent) as i32;
        if newer < 0 && now - self.recent_at < RECENT_HOLDS {
            self.owed = Owed::Alone;
            if seg.payload > 0 && at >= 0 {
                // An old duplicate is reported as one, and nothing of it is new.
                self.report_old(now, seg, at);
            }
            return false;
        }
        true
    }

    /// RFC 7323 §5.3 R3: after the window test, so that an old duplicate does not count.
    #[inline]
    pub(super) fn note_stamp(&mut self, now: Time, seg: &Segment, at: i64) {
        if let Some(stamps) = seg.timestamps
            && at <= self.last_ack_sent as i64
        {
            (self.recent, self.recent_at) = (stamps.val, now);
        }
    }

    /// A segment that PAWS drops: DSACK tells of it where it repeats what is here already.
    fn report_old(&mut self, now: Time, seg: &Segment, at: i64) {
        let end = at as u64 + u64::from(seg.payload);
        if end <= self.receiver.next() {
            self.receiver.on_data(now, at as u64, seg.payload, false);
        }
    }

    /// The window test of RFC 9293 §3.10.7.4. What fails it is answered by an ACK, with a DSACK if it was data.
    #[inline]
    fn acceptable(&mut self, now: Time, seg: &Segment, at: i64, next: u64) -> bool {
        let window = i64::from(self.receiver.window());
        let next = next as i64;
        let len = i64::from(seg.seq_len());
        // A bare ACK may carry the number after a window that its sender has filled.
        let fits = if len == 0 {
            next <= at && at <= next + window
        } else {
            at + len > next && (at < next + window || (window == 0 && at == next))
        };
        if fits {
            return true;
        }
        if seg.flags.has(Flags::RST) {
            return false;
        }
        self.owed = Owed::Alone;
        if seg.payload > 0 && at >= 0 {
            self.receiver.on_data(now, at as u64, seg.payload, false);
        }
        if seg.flags.has(Flags::FIN) && self.stage == Stage::TimeWait {
            // RFC 9293 §3.10.7.4: the FIN again starts 2 MSL again.
            self.timers.start(Timer::TimeWait, now, TIME_WAIT);
        }
        false
    }

    /// RFC 5961 §3: only the exact number resets.
    fn on_rst(&mut self, at: i64, next: u64) {
        if at == next as i64 {
            // In TIME-WAIT all is said: a late copy of the last ACK was answered by a peer that has forgotten.
            self.end((self.stage != Stage::TimeWait).then_some(Failure::Reset));
        } else {
            self.owed = Owed::Alone;
        }
    }

    /// The ACK field; false where the segment is to be dropped.
    #[inline]
    fn on_ack(&mut self, now: Time, seg: &Segment, at: i64) -> bool {
        let una = self.sender.una();
        let step = i64::from(seg.ack - self.seq(una));
        if step < 0 {
            // An old ACK; one that is absurdly old is challenged (RFC 5961 §5).
            if -step > i64::from(self.peer_window.max(1 << 16)) + i64::from(self.sender.board.out()) {
                self.owed = Owed::Alone;
                return false;
            }
            if !seg.sack.is_empty() && self.sender.hears_late_reports() {
                self.hear_old(now, seg, una);
            }
            return true;
        }
        let ack = una + step as u64;
        if ack > self.sender.max() {
            self.owed = Owed::Alone;
            return false;
        }
        let before = self.peer_window;
        self.update_window(seg, at, ack);
        let reports = !seg.sack.is_empty() && self.sender.hears_late_reports();
        if self.sender.max() == una && self.peer_window == before && !reports {
            // Nothing is unacknowledged: it says nothing new, as in all data that goes one way.
            self.sender.heard_of_peer();
            return true;
        }
        let bare = seg.payload == 0
            && !seg.flags.has(Flags::FIN)
            && (self.peer_window == before || ack < self.wl2)
            && ack == una;
        let tsecr = if self.stamps { seg.timestamps.map(|t| t.ecr) } else { None };
        let echoed = match tsecr {
            Some(ecr) if ack > una => self.clock.since(ecr, now),
            _ => None,
        };
        let mut blocks = [(0, 0); 4];
        let count = self.read_blocks(seg, una, &mut blocks);
        let ece = self.ecn && seg.flags.has(Flags::ECE);
        let a = AckIn { now, ack, bare, ece, blocks: &blocks[..count], tsecr, echoed };
        self.sender.on_ack(&a, &mut self.timers);
        self.sender.window_seen(now, &mut self.timers);
        true
    }

    /// An ACK that was overtaken: what it SACKs is news all the same (Linux, tcp_ack from old_ack on).
    #[cold]
    fn hear_old(&mut self, now: Time, seg: &Segment, una: u64) {
        let mut blocks = [(0, 0); 4];
        let count = self.read_blocks(seg, una, &mut blocks);
        let tsecr = if self.stamps { seg.timestamps.map(|t| t.ecr) } else { None };
        let ece = self.ecn && seg.flags.has(Flags::ECE);
        let a = AckIn { now, ack: una, bare: false, ece, blocks: &blocks[..count], tsecr, echoed: None };
        self.sender.on_ack(&a, &mut self.timers);
    }

    /// RFC 9293 §3.10.7.4: only newer segments move the window.
    #[inline(always)]
    pub(super) fn update_window(&mut self, seg: &Segment, at: i64, ack: u64) {
        let at = at.max(0) as u64;
        if self.wl1 < at || (self.wl1 == at && self.wl2 <= ack) {
            let window = self.window_of(seg);
            self.peer_window = window;
            (self.wl1, self.wl2) = (at, ack);
            self.sender.set_edge(ack, window);
        }
    }

    #[inline(always)]
    pub(super) fn window_of(&self, seg: &Segment) -> u32 {
        u32::from(seg.window) << self.shift_in
    }

    /// SACK blocks as offsets; malformed ones are dropped.
    #[inline]
    fn read_blocks(&self, seg: &Segment, una: u64, out: &mut [(u64, u64); 4]) -> usize {
        if seg.sack.is_empty() || !self.sender.sack {
            return 0;
        }
        let base = self.seq(una);
        let mut count = 0;
        for &(left, right) in seg.sack.as_slice() {
            let (l, r) = (una as i64 + i64::from(left - base), una as i64 + i64::from(right - base));
            if l >= 0 && l < r && r as u64 <= self.sender.max() {
                out[count] = (l as u64, r as u64);
                count += 1;
            }
        }
        count
    }

    /// A full segment echoes this side's ACK of a round trip ago: what the receive window is sized by.
    #[inline(always)]
    fn hint_rtt(&mut self, now: Time, seg: &Segment) {
        if !self.stamps || seg.payload < self.sender.window.smss {
            return;
        }
        let Some(stamps) = seg.timestamps else { return };
        if self.receiver.tells_rtt(stamps.ecr)
            && let Some(rtt) = self.clock.since(stamps.ecr, now)
        {
            self.receiver.rtt_hint(rtt);
        }
    }

    /// Payload and FIN.
    #[inline(always)]
    pub(super) fn on_text(&mut self, now: Time, seg: &Segment, at: u64, next: u64) {
        let mut ack = Ack::None;
        if self.deaf && at + u64::from(seg.payload) > next && seg.payload > 0 {
            self.rst = Some(Rst { seq: seg.ack, ack: None });
            self.end(Some(Failure::Aborted));
            return;
        }
        if seg.payload > 0 {
            self.hint_rtt(now, seg);
            ack = self.receiver.on_data(now, at, seg.payload, seg.flags.has(Flags::PSH));
        }
        if seg.flags.has(Flags::FIN) {
            ack = self.receiver.on_fin(now, at + u64::from(seg.payload));
        }
        if ack == Ack::Now {
            let in_order = at == next && self.receiver.out_of_order() == 0;
            self.owed = if in_order && self.owed != Owed::Alone { Owed::Ack } else { Owed::Alone };
        }
    }

    /// What FINs, sent and received, make of the connection; the peer's has come.
    #[inline(never)]
    pub(super) fn on_peer_closed(&mut self, now: Time) {
        if !self.sender.fin_sent() {
            self.passive_close = true;
        }
        if !self.sender.fin_acknowledged() || self.stage != Stage::Open {
            return;
        }
        if self.passive_close {
            self.end(None);
            return;
        }
        self.stage = Stage::TimeWait;
        self.timers.stop_all();
        self.timers.start(Timer::TimeWait, now, TIME_WAIT);
    }
}
