//! Segments that leave: what comes first, and the header it gets.

use super::{Endpoint, Owed, Sent, Stage, Why};
use crate::sender::Outgoing;
use wire::time::Time;
use wire::{Flags, SackBlocks, Segment, Timestamps, tcp};

/// The most bytes that a header takes.
const LARGEST: u32 = 60;
/// NOP NOP and the timestamps option.
const STAMPS: u32 = 12;

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
        if self.is_quiet() { None } else { self.emit(now, seg) }
    }

    /// Nothing is to be sent, whatever the windows say: how most data leaves a receiver that sends nothing itself.
    #[inline]
    fn is_quiet(&self) -> bool {
        self.stage == Stage::Open
            && self.owed == Owed::Nothing
            && self.rst.is_none()
            && !self.keepalive_due
            && self.sender.is_quiet()
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

    /// Data while nothing is amiss. Apart from the rest, so that what is sent stays in registers.
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

    #[inline(always)]
    fn data(&mut self, now: Time, out: &Outgoing, tsval: u32, seg: &mut Segment) -> (u64, Why) {
        let mut flags = Flags::ACK;
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
        self.acknowledge(now, seg);
        if out.payload > 0 {
            self.receiver.data_sent(now);
        }
        written(seg, out.offset, out.why)
    }

    fn bare_ack(&mut self, now: Time, seg: &mut Segment) -> (u64, Why) {
        let offset = self.sender.nxt().max(self.sender.board.end());
        *seg = Segment {
            seq: self.seq(offset),
            ack: self.rcv_nxt(),
            flags: Flags::ACK,
            timestamps: self.stamps.then(|| Timestamps { val: self.clock.value(now), ecr: self.recent }),
            ..Segment::default()
        };
        if self.sender.sack {
            self.add_blocks(seg, LARGEST);
        }
        self.acknowledge(now, seg);
        written(seg, offset, Why::Ack)
    }

    /// A segment below what was sent, so that it must be answered (RFC 9293 §3.8.4).
    fn keepalive(&mut self, now: Time, seg: &mut Segment) -> (u64, Why) {
        let offset = self.sender.nxt() - 1;
        *seg = Segment {
            seq: self.seq(offset),
            ack: self.rcv_nxt(),
            flags: Flags::ACK,
            timestamps: self.stamps.then(|| Timestamps { val: self.clock.value(now), ecr: self.recent }),
            ..Segment::default()
        };
        self.acknowledge(now, seg);
        written(seg, offset, Why::KeepAlive)
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
    fn acknowledge(&mut self, now: Time, seg: &mut Segment) {
        seg.window = (self.receiver.ack_sent(now) >> self.shift_out).min(0xffff) as u16;
        self.last_ack_sent = self.receiver.next();
        self.owed = Owed::Nothing;
    }
}

/// All of it stands but how long its header is.
#[inline]
fn written(seg: &mut Segment, offset: u64, why: Why) -> (u64, Why) {
    seg.header_len = tcp::header_len(seg);
    (offset, why)
}
