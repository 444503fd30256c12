//! Segments that leave: what comes first, and the header it gets.

use super::{Endpoint, Owed, Sent, Stage, Why};
use crate::sender::{Outgoing, Run};
use wire::Time;
use wire::{Flags, SackBlocks, Segment, Seq, Timestamps, tcp};

/// The most bytes that a header takes.
const LARGEST: u32 = 60;
/// NOP NOP and the timestamps option.
const STAMPS: u32 = 12;

/// What leaves an endpoint at one moment: most often some full segments of new data that differ in their numbers only,
/// and then whatever else there is.
#[derive(Clone, Copy, Debug)]
pub struct Burst {
    /// For full segments, none of them the last that was written, bytes; and for as many as the peer's window and what
    /// was written have room for, whatever cwnd says.
    room: u32,
    beyond: u64,
    smss: u32,
    /// cwnd has room for others behind them.
    more: bool,
    /// The last of them ends a packet of several.
    pushes: bool,
    /// Of their headers all but their numbers.
    ack: Seq,
    window: u16,
    header_len: u8,
    stamps: Option<Timestamps>,
    /// Nothing is left to leave.
    over: bool,
}

/// Nothing leaves.
impl Default for Burst {
    fn default() -> Burst {
        Burst {
            room: 0,
            beyond: 0,
            smss: 1,
            more: false,
            pushes: false,
            ack: Seq(0),
            window: 0,
            header_len: tcp::MIN_HEADER as u8,
            stamps: None,
            over: true,
        }
    }
}

impl Burst {
    #[inline(always)]
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// The next is a full segment of new data: [`Endpoint::transmit_full`].
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.room >= self.smss
    }
}

impl Endpoint {
    /// The next segment to leave at `now`; call until there is none.
    pub fn transmit(&mut self, now: Time) -> Option<Sent> {
        let mut seg = Segment::default();
        let (offset, why) = self.transmit_to(now, &mut seg)?;
        Some(Sent { seg, offset, why })
    }

    /// The same, written where the caller wants to have it; gives its offset in the stream, and why it is sent. If
    /// nothing is sent, what is there may be anything.
    #[inline]
    pub fn transmit_to(&mut self, now: Time, seg: &mut Segment) -> Option<(u64, Why)> {
        if self.owed != Owed::Nothing && self.only_owes() {
            return Some(self.bare_ack(now, seg));
        }
        if self.is_quiet() { None } else { self.emit(now, seg) }
    }

    /// An ACK is to leave alone, and nothing else: [`Endpoint::transmit_ack`] is that.
    #[inline(always)]
    pub fn is_quiet_but_for_an_ack(&self) -> bool {
        self.owed != Owed::Nothing && self.only_owes()
    }

    /// [`Endpoint::transmit_to`] where [`Endpoint::is_quiet_but_for_an_ack`]; the endpoint is quiet then.
    #[inline(always)]
    pub fn transmit_ack(&mut self, now: Time, seg: &mut Segment) -> u64 {
        self.bare_ack(now, seg).0
    }

    /// What is to leave at `now`, for [`Endpoint::transmit_next`]: nothing else may be asked of the endpoint until it
    /// is over.
    #[inline(always)]
    pub fn burst(&mut self, now: Time) -> Burst {
        let mut burst = Burst { over: false, ..Burst::default() };
        let plain = self.stage == Stage::Open
            && self.owed != Owed::Alone
            && self.rst.is_none()
            && !self.keepalive_due
            && !(self.ecn && (self.echoes || self.sender.owes_cwr()));
        if plain && let Some(run) = self.sender.run(now) {
            self.begin_run(now, &run, &mut burst);
        }
        burst
    }

    /// Full segments of new data follow each other, and differ in their numbers only.
    #[inline(always)]
    fn begin_run(&mut self, now: Time, run: &Run, burst: &mut Burst) {
        burst.smss = run.smss;
        if run.room < run.smss || self.receiver.out_of_order() > 0 || !self.receiver.acks_alike() {
            // Too large for cwnd, if it would fit the rest.
            burst.over =
                run.room < run.smss && run.beyond >= u64::from(run.smss) && self.owed == Owed::Nothing;
            return;
        }
        burst.pushes = self.sender.takes(run);
        (burst.room, burst.beyond, burst.more) = (run.room, run.beyond, run.more);
        burst.ack = self.rcv_nxt();
        if self.stamps {
            burst.stamps = Some(Timestamps { val: self.clock.value(now), ecr: self.recent });
            burst.header_len = tcp::MIN_HEADER as u8 + STAMPS as u8;
        }
        burst.window = self.acknowledge(now);
        self.receiver.data_sent(now);
    }

    /// [`Endpoint::transmit_to`] of the next segment of what leaves now.
    #[inline(always)]
    pub fn transmit_next(&mut self, now: Time, burst: &mut Burst, seg: &mut Segment) -> Option<(u64, Why)> {
        if burst.is_full() {
            return Some((self.transmit_full(now, burst, seg), Why::New));
        }
        let sent = self.transmit_to(now, seg)?;
        burst.over = self.is_quiet();
        Some(sent)
    }

    /// The same where [`Burst::is_full`]: its offset.
    #[inline(always)]
    pub fn transmit_full(&mut self, now: Time, burst: &mut Burst, seg: &mut Segment) -> u64 {
        let offset = self.sender.next_of_run(now, burst.smss, &mut self.timers);
        let pushes = burst.pushes && burst.room < 2 * burst.smss;
        *seg = Segment {
            seq: self.seq(offset),
            ack: burst.ack,
            payload: burst.smss,
            window: burst.window,
            flags: if pushes { Flags::ACK.with(Flags::PSH) } else { Flags::ACK },
            header_len: burst.header_len,
            timestamps: burst.stamps,
            ..Segment::default()
        };
        burst.room -= burst.smss;
        burst.beyond -= u64::from(burst.smss);
        burst.over = burst.room < burst.smss && burst.beyond >= u64::from(burst.smss) && !burst.more;
        offset
    }

    /// Nothing is to be sent, whatever the windows say: how most data leaves a receiver that sends nothing itself.
    #[inline(always)]
    pub fn is_quiet(&self) -> bool {
        self.owed == Owed::Nothing && self.only_owes()
    }

    /// Nothing but an ACK may be to be sent.
    #[inline(always)]
    fn only_owes(&self) -> bool {
        self.stage == Stage::Open && self.rst.is_none() && !self.keepalive_due && self.sender.is_quiet()
    }

    fn emit(&mut self, now: Time, seg: &mut Segment) -> Option<(u64, Why)> {
        if self.stage == Stage::Open && self.owed != Owed::Alone && self.rst.is_none() {
            let sent =
                if self.sender.is_plain() { self.emit_new(now, seg) } else { self.emit_repair(now, seg) };
            if sent.is_some() {
                return sent;
            }
            if self.owed == Owed::Nothing && !self.keepalive_due {
                return None;
            }
        }
        self.emit_other(now, seg)
    }

    /// Data while nothing is wrong. Apart from the rest, so that what is sent stays in registers.
    #[inline(always)]
    fn emit_new(&mut self, now: Time, seg: &mut Segment) -> Option<(u64, Why)> {
        let out = self.sender.next_new(now, &mut self.timers)?;
        let tsval = if self.stamps { self.clock.value(now) } else { 0 };
        Some(self.data(now, &out, tsval, seg))
    }

    #[inline(never)]
    fn emit_repair(&mut self, now: Time, seg: &mut Segment) -> Option<(u64, Why)> {
        let tsval = if self.stamps { self.clock.value(now) } else { 0 };
        let out = self.sender.next_of_all(now, tsval, &mut self.timers)?;
        Some(self.data(now, &out, tsval, seg))
    }

    /// Everything but data. Apart, so that data needs a small frame.
    #[inline(never)]
    fn emit_other(&mut self, now: Time, seg: &mut Segment) -> Option<(u64, Why)> {
        if let Some(rst) = self.rst.take() {
            *seg = Segment { seq: rst.seq, flags: Flags::RST, ..Segment::default() };
            if let Some(ack) = rst.ack {
                (seg.ack, seg.flags) = (ack, Flags::RST.with(Flags::ACK));
            }
            return Some(written(seg, 0, Why::Rst));
        }
        if self.syn_due {
            *seg = self.handshake_segment(now);
            return Some(written(seg, 0, Why::Handshake));
        }
        if self.owed != Owed::Nothing && matches!(self.stage, Stage::Open | Stage::TimeWait) {
            return Some(self.bare_ack(now, seg));
        }
        if self.keepalive_due {
            self.keepalive_due = false;
            return Some(self.keepalive(now, seg));
        }
        None
    }

    /// What leaves says that the peer may mark it instead of dropping it, ECT(0): new data, where both agreed
    /// (RFC 3168 §6.1.5: no repairs; nor what holds no data).
    #[inline]
    pub fn is_markable(&self, payload: u32, why: Why) -> bool {
        self.ecn && payload > 0 && !why.is_retransmission() && why != Why::Persist
    }

    #[cold]
    fn flags_of_ecn(&mut self, out: &Outgoing) -> Flags {
        let flags = if self.echoes { Flags::ACK.with(Flags::ECE) } else { Flags::ACK };
        if self.is_markable(out.payload, out.why) && self.sender.take_cwr() {
            return flags.with(Flags::CWR);
        }
        flags
    }

    #[inline(always)]
    fn data(&mut self, now: Time, out: &Outgoing, tsval: u32, seg: &mut Segment) -> (u64, Why) {
        let mut flags = if self.ecn { self.flags_of_ecn(out) } else { Flags::ACK };
        if out.psh {
            flags = flags.with(Flags::PSH);
        }
        if out.fin {
            flags = flags.with(Flags::FIN);
        }
        *seg = Segment {
            seq: self.seq(out.offset),
            ack: self.rcv_nxt(),
            payload: out.payload,
            flags,
            timestamps: self.stamps.then_some(Timestamps { val: tsval, ecr: self.recent }),
            ..Segment::default()
        };
        if self.receiver.out_of_order() > 0 && self.sender.sack {
            // Blocks ride along where the segment leaves room for them.
            let room = self.sender.window.smss.saturating_sub(out.payload);
            self.add_blocks(seg, room);
        }
        seg.window = self.acknowledge(now);
        if out.payload > 0 {
            self.receiver.data_sent(now);
        }
        written(seg, out.offset, out.why)
    }

    /// In line: every second packet of data is answered by one.
    #[inline(always)]
    fn bare_ack(&mut self, now: Time, seg: &mut Segment) -> (u64, Why) {
        let offset = self.sender.nxt().max(self.sender.board.end());
        *seg = Segment {
            seq: self.seq(offset),
            ack: self.rcv_nxt(),
            flags: if self.echoes { Flags::ACK.with(Flags::ECE) } else { Flags::ACK },
            timestamps: self.stamps.then(|| Timestamps { val: self.clock.value(now), ecr: self.recent }),
            ..Segment::default()
        };
        if self.sender.sack && self.receiver.has_report() {
            self.add_blocks(seg, LARGEST);
        }
        seg.window = self.acknowledge(now);
        written(seg, offset, Why::Ack)
    }

    /// SACK blocks, as many as fit `room` bytes and the header.
    fn add_blocks(&mut self, seg: &mut Segment, room: u32) {
        let stamps = if self.stamps { STAMPS } else { 0 };
        let room = room.min(LARGEST - tcp::MIN_HEADER as u32 - stamps).saturating_sub(4) / 8;
        if room == 0 {
            return;
        }
        let mut blocks = [(0, 0); 4];
        let count = self.receiver.blocks(&mut blocks, room as usize);
        seg.sack = SackBlocks::NONE;
        for &(left, right) in &blocks[..count] {
            seg.sack.push(self.peer_seq(left), self.peer_seq(right));
        }
    }

    /// The window that goes out, and the books that an ACK closes.
    #[inline]
    pub(super) fn acknowledge(&mut self, now: Time) -> u16 {
        self.last_ack_sent = self.receiver.next();
        self.owed = Owed::Nothing;
        (self.receiver.ack_sent(now) >> self.shift_out).min(0xffff) as u16
    }
}

/// All of it stands but how long its header is.
#[inline]
pub(super) fn written(seg: &mut Segment, offset: u64, why: Why) -> (u64, Why) {
    seg.header_len = tcp::header_len(seg);
    (offset, why)
}
