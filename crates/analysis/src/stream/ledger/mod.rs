//! The ledger of a stream: what was sent, what is outstanding, what was SACKed, which copy repaired which, and what
//! became of each.
//!
//! Who feeds it tells what passes ([`Ledger::append`], [`Ledger::reveal`], [`Ledger::repeat`]) and what is told of it
//! ([`Ledger::pop_plain`], [`Ledger::pop_acked`], [`Ledger::sack`], [`Ledger::take_dsack`]); what became certain by
//! that leaves through [`Ledger::next_certain`]. How it is kept is nobody else's matter:
//!
//! - Each first copy is an [`Entry`] of 32 bytes, in the order of transmission, which is that of sequence numbers: all of
//!   them are one [`list::List`]. Those that are outstanding are the [`Board`]'s; what an ACK takes off stays, as it is,
//!   while something sent before it is open. What arrived and was sent once joins the one that left before it.
//! - What only a range needs that was sent again (its first time, its later copies, what was heard of it) is its
//!   [`MultiCopy`], in a place that the entry knows: from its second copy on until it is decided which copy arrived.
//! - Each copy that repeated something is a [`copy::ResentCopy`], in the order of transmission: as a copy, and what is known of
//!   it as a retransmission, from which its row is made when it leaves.
//! - Bursts are made as copies leave, and are kept until the first retransmission after them is understood.
//!
//! All but the entries that are outstanding exists only while there is something to tell ([`LossTracking`]).

mod ack;
mod board;
mod bursts;
mod certain;
mod copy;
mod entry;
mod list;
mod multi_copy;
mod retired;
mod settle;
mod sizes;

use crate::Fate;
use crate::prefetch;
use crate::rows::TooLarge;
use board::Board;
use bursts::Size;
pub use copy::{Certain, Resend};
use copy::{Copy, known_loss};
use entry::{Entry, Origin};
use multi_copy::{Answers, MultiCopy};
use retired::LossTracking;
pub use settle::Conditions;
use wire::{Packet, Span, Time};

/// Place of a copy in transmission order, counting from 0 within the stream.
pub type Ordinal = u64;

/// Copies of one segment that are told apart; a sender gives up after 15 timeouts or so (RFC 9293 §3.8.3).
const MOST_COPIES: u32 = 128;

/// Adding a copy to a segment costs about as much as looking at so many segments.
const STEPS_OF_A_COPY: u64 = 8;

/// Segments outstanding at once; with 1448 bytes each, 190 MB.
pub const MOST_OUTSTANDING: usize = 1 << 17;

/// A copy that passes, placed in its stream.
#[derive(Clone, Copy, Debug)]
pub struct CopySeen {
    pub start: u64,
    pub end: u64,
    pub time: Time,
    pub ts: u32,
    pub ip_id: u16,
    pub checksum: u16,
    /// Packets from the peer seen before it left.
    pub heard: u32,
    /// What a second capture tells of it.
    pub fate: Fate,
}

impl CopySeen {
    #[inline(always)]
    pub fn new(packet: &Packet, (start, end): (u64, u64), ts: u32, heard: u32, fate: Fate) -> CopySeen {
        let Packet { time, ip_id, checksum, .. } = *packet;
        CopySeen { start, end, time, ts, ip_id, checksum, heard, fate }
    }
    fn len(&self) -> u32 {
        (self.end - self.start) as u32
    }
}

/// A segment that is outstanding, as it stands.
#[derive(Clone, Copy, Debug)]
pub struct Outstanding {
    pub end: u64,
    /// When its first copy passed, or for a hole, when it was revealed.
    pub first_time: Time,
    pub first_ts: u32,
    pub last_time: Time,
    pub last_ts: u32,
    pub ip_id: u16,
    pub checksum: u16,
    /// Its first copy was never seen.
    pub hole: bool,
    pub sacked: bool,
    /// Copies that were seen, and the unseen one besides.
    pub copies: u32,
    pub copies_in_all: u32,
}

/// What a copy repeats of what is outstanding.
#[derive(Clone, Copy, Debug)]
pub struct Repeated {
    pub ordinal: Ordinal,
    /// The copy before it: when it was sent, which it is, and whether it was the first.
    pub previous: Option<(Time, Ordinal, bool)>,
    pub bytes: u64,
    /// Of which so many in copies that are told apart.
    told_apart: u32,
    /// The how-maniest copy it is.
    pub copy: u32,
}

/// A segment that was sent once and is acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct AckedOnce {
    pub end: u64,
    pub len: u32,
    pub sacked: bool,
    pub time: Time,
    pub ts: u32,
}

/// A segment that an ACK took off, and that had to be looked at.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    pub end: u64,
    pub len: u64,
    pub sacked: bool,
    pub resent: bool,
    /// No copy of it was ever seen.
    pub unseen: bool,
    pub first_time: Time,
    pub first_ts: u32,
    pub last_time: Time,
    pub last_ts: u32,
}

impl Acked {
    /// A segment as it stands, with what is kept of it besides.
    #[inline(always)]
    fn of(seg: &Entry, repaired: Option<&MultiCopy>) -> Acked {
        let (time, ts, hole) = (seg.time, seg.last_ts(), seg.is_hole());
        Acked {
            end: seg.end(),
            len: seg.len().into(),
            sacked: seg.is_sacked(),
            resent: repaired.is_some_and(|r| r.copies + u8::from(hole) > 1),
            unseen: false,
            first_time: repaired.map_or(time, |r| r.first_time),
            first_ts: repaired.map_or(ts, |r| r.first_ts),
            last_time: time,
            last_ts: ts,
        }
    }
    /// When the copy of it left that carried that timestamp.
    pub fn echoed(&self, echo: Option<u32>) -> Option<Time> {
        let echo = echo.filter(|e| *e != 0)?;
        match () {
            () if echo == self.first_ts => Some(self.first_time),
            () if echo == self.last_ts => Some(self.last_time),
            () => None,
        }
    }
}

/// The ACK that takes segments off.
#[derive(Clone, Copy, Debug)]
pub struct AckSeen {
    pub time: Time,
    /// What was outstanding began here.
    pub head: u64,
    /// The timestamp that it echoes.
    pub echo: Option<u32>,
    /// When the newest of what was delivered before had been sent.
    pub newest_delivered: Time,
    /// Without SACK: it came in answer to what left then, since nothing else had left for longer than any answer takes.
    pub answers: Option<Time>,
    /// Answers to other data that arrived were lost on their way, for longer than a round trip.
    pub deaf: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Ledger {
    next: Ordinal,
    /// What is outstanding: first copies, and which copies repeated them.
    board: Board,
    /// What has left and is not certain, and retransmissions; while there is something to tell.
    trouble: Option<Box<LossTracking>>,
}

impl Ledger {
    /// As if new, with the room it has.
    pub fn clear(&mut self) {
        let Ledger { next, board, trouble } = self;
        (*next, *trouble) = (0, None);
        board.clear();
    }
    /// More is to be put at the end soon, or the front to be acknowledged.
    #[inline(always)]
    pub fn warm(&self, at_end: bool) {
        match at_end {
            true => self.board.warm_end(),
            false => self.board.warm_for_ack(),
        }
        if let Some(trouble) = &self.trouble {
            prefetch::lines(&**trouble, 0, 2);
        }
    }

    /// What their sizes say of the copies that were lost.
    pub fn too_large(&self) -> Option<TooLarge> {
        self.trouble.as_ref()?.bursts.sizes.too_large()
    }
    /// Is nothing outstanding?
    pub fn is_empty(&self) -> bool {
        self.board.is_empty()
    }
    /// Segments outstanding.
    pub fn len(&self) -> usize {
        self.board.len()
    }
    pub fn sacked_bytes(&self) -> u64 {
        self.board.sacked_bytes
    }
    /// The copy that comes next has this place.
    pub fn next_ordinal(&self) -> Ordinal {
        self.next
    }
    /// When the latest copy of the oldest segment outstanding passed.
    pub fn head_time(&self) -> Option<Time> {
        self.board.front().map(|s| s.time)
    }
    /// The segment that holds `offset`, if it is outstanding.
    pub fn find(&self, offset: u64) -> Option<Outstanding> {
        let seg = self.board.find(offset).and_then(|i| self.board.get(i))?;
        let repaired = self.board.repaired.of(seg);
        let (ip_id, checksum) = repaired.map_or(seg.ip_id_and_checksum(), |r| (r.ip_id, r.checksum));
        Some(Outstanding {
            end: seg.end(),
            first_time: repaired.map_or(seg.time, |r| r.first_time),
            first_ts: repaired.map_or(seg.last_ts(), |r| r.first_ts),
            last_time: seg.time,
            last_ts: seg.last_ts(),
            ip_id,
            checksum,
            hole: seg.is_hole(),
            sacked: seg.is_sacked(),
            copies: self.board.copies(seg),
            copies_in_all: self.board.copies_in_all(seg),
        })
    }
    /// When the last left of what is outstanding, not SACKed, and left before what ends there and left then.
    pub fn last_before(&self, (time, end): (Time, u64)) -> Option<Time> {
        let first_time = |s: &Entry| self.board.repaired.of(s).map_or(s.time, |r| r.first_time);
        let outstanding = (0..).map_while(|i| self.board.get(i)).take_while(|s| first_time(s) <= time);
        let open = outstanding.filter(|s| !s.is_sacked() && (s.time, s.end()) < (time, end));
        open.map(|s| s.time).max()
    }
    /// Bytes from one place to another that are outstanding and not SACKed, counted up to `most`.
    pub fn open_between(&mut self, from: u64, to: u64, most: u64) -> u64 {
        let mut bytes = 0;
        for i in self.board.find(from).unwrap_or(self.board.len()).. {
            let Some(seg) = self.board.get(i).filter(|s| s.start() < to && bytes < most) else { break };
            if !seg.is_sacked() {
                bytes += seg.end().min(to) - seg.start().max(from);
            }
            self.board.steps += 1;
        }
        bytes.min(most)
    }
    pub fn is_sacked(&self, offset: u64) -> bool {
        self.find(offset).is_some_and(|s| s.sacked)
    }
    /// Copies lost on their way here, and beyond.
    pub fn losses_around(&self) -> (u32, u32) {
        self.trouble.as_ref().map_or((0, 0), |t| (t.bursts.lost_before, t.bursts.lost_after))
    }

    /// Is every copy followed, since there is something to tell?
    #[inline(always)]
    pub fn is_followed(&self) -> bool {
        self.trouble.is_some()
    }
    /// Segments, copies and whatever else was looked at, beyond the few that any packet needs.
    #[inline(always)]
    pub fn steps(&self) -> u64 {
        self.board.steps
    }
    /// So many were looked at elsewhere.
    pub fn add_steps(&mut self, steps: usize) {
        self.board.steps += steps as u64;
    }
    /// Bytes that it takes.
    #[inline(always)]
    pub fn held(&self) -> u64 {
        ((self.board.len() + self.board.list.retired().len()) * size_of::<Entry>()) as u64
            + self.board.repaired.held()
            + self.trouble.as_ref().map_or(0, |t| t.held())
    }
    /// Room that is used no more is given back.
    #[inline(always)]
    pub fn trim(&mut self) {
        self.board.list.trim();
    }

    /// From now on every copy is followed: there is something to tell.
    pub fn follow(&mut self) {
        self.trouble.get_or_insert_default();
    }

    /// Another copy in the order of transmission.
    #[inline(always)]
    fn enter(&mut self) -> Ordinal {
        let ordinal = self.next;
        self.next += 1;
        ordinal
    }
    /// New data passes.
    #[inline(always)]
    pub fn append(&mut self, p: &CopySeen) {
        let ordinal = self.enter();
        if let Some(lost) = known_loss(p.fate, p.len()) {
            self.trouble.get_or_insert_default().know(ordinal, lost, p.len());
        }
        self.board.push(Entry::of(p, p.start, ordinal));
    }
    /// Of the copy that passed last, the bytes from `start` on are new.
    pub fn append_rest(&mut self, p: &CopySeen, start: u64) {
        self.board.push(Entry::rest_of(p, start, self.next - 1));
    }
    /// Data from beyond a gap passes: what begins at `start` was sent before it and has not been seen.
    pub fn reveal(&mut self, start: u64, beyond: &CopySeen) {
        self.follow();
        let (ordinal, id) = (self.enter(), beyond.ip_id);
        self.board.push(Entry::hole(start, beyond.start, beyond.time, beyond.ts, ordinal, id));
    }
    /// Data passes that is in order and not new: it was sent before, at `sent`, which would have been here at `due`.
    pub fn reveal_earlier(&mut self, p: &CopySeen, sent: Time, due: Time) {
        self.follow();
        let mut hole = Entry::hole(p.start, p.end, sent, 0, self.enter(), 0);
        if let Some(of) = self.board.repaired.keep(&mut hole) {
            of.due = due;
        }
        self.board.push(hole);
    }
    /// Data was acknowledged that has never been seen, beyond all that was.
    pub fn acked_unseen(&mut self, start: u64, bytes: u64, time: Time) {
        if let Some(trouble) = &mut self.trouble {
            let unseen = Entry::unseen(self.next, start, start + bytes, time);
            trouble.push(unseen, &mut self.board.list);
            self.next += 1;
        }
    }
    /// A copy that only came late fills what was taken for a hole.
    pub fn fill(&mut self, start: u64, end: u64) {
        let Some(i) = self.board.find(start) else { return };
        let i = self.board.split_at(i, start);
        self.board.split_at(i, end);
        let Some(seg) = self.board.get_mut(i) else { return };
        seg.fill();
        let kept = seg.kept();
        if let Some(of) = kept.and_then(|at| self.board.repaired.get_mut(at)) {
            of.copies = 1;
        }
        self.board.resent_or_unseen -= 1;
    }
    /// A copy passes of data that may be outstanding, of which all before `una` is acknowledged. Of each part that was
    /// never seen `unfilled` hears how old it is.
    pub fn repeat(&mut self, p: &CopySeen, una: u64, unfilled: impl FnMut(Span)) -> Repeated {
        let ordinal = self.enter();
        let repeated = self.lay_on_board(p, una, ordinal, unfilled);
        let CopySeen { time, start, heard, ts, .. } = *p;
        let mut copy = Copy { time, start, len: p.len(), heard, ts, ..Copy::default() };
        copy.know(known_loss(p.fate, p.len()));
        // What was acknowledged before, or has been sent too often, nothing is waited for.
        copy.settle(p.len() - repeated.told_apart, false);
        self.trouble.get_or_insert_default().repairs.push(ordinal, copy);
        repeated
    }
    /// Adds the copy to every segment outstanding that it repeats.
    fn lay_on_board(
        &mut self,
        p: &CopySeen,
        una: u64,
        ordinal: Ordinal,
        mut unfilled: impl FnMut(Span),
    ) -> Repeated {
        let mut repeated = Repeated { ordinal, previous: None, bytes: 0, told_apart: 0, copy: 2 };
        let start = p.start.max(una);
        let Some(i) = self.board.find(start) else { return repeated };
        let mut i = self.board.split_at(i, start);
        while self.board.get(i).is_some_and(|s| s.start() < p.end) {
            self.board.split_at(i, p.end);
            let Some(s) = self.board.get(i) else { break };
            let of = self.board.repaired.of(s);
            let (copies, in_all) = (self.board.copies(s), self.board.copies_in_all(s));
            if s.is_hole() && copies == 0 {
                unfilled(p.time - of.map_or(s.time, |r| r.first_time));
            }
            let was_trouble = self.board.is_resent_or_unseen(s);
            let last = of.and_then(|r| r.later.last().copied()).unwrap_or(s.first());
            repeated.copy = repeated.copy.max(in_all + 1);
            repeated.previous.get_or_insert((s.time, last, in_all == 1));
            repeated.bytes += u64::from(s.len());
            let of_repair = last != s.first() || s.origin() == Origin::Rest;
            if copies < MOST_COPIES {
                repeated.told_apart += s.len();
                self.board.add_copy(i, ordinal, p.time, p.ts);
                self.board.steps += STEPS_OF_A_COPY;
                let is_trouble = self.board.get(i).is_some_and(|s| self.board.is_resent_or_unseen(s));
                self.board.resent_or_unseen += u32::from(is_trouble) - u32::from(was_trouble);
                if let Some(trouble) = self.trouble.as_mut().filter(|_| of_repair) {
                    trouble.repairs.repaired(last, ordinal);
                }
            }
            self.board.note_ip_id_and_checksum(i, p.ip_id, p.checksum);
            i += 1;
        }
        repeated
    }
    /// What is known of a retransmission that passed.
    pub fn note_resend(&mut self, resend: Resend) {
        if let Some(trouble) = &mut self.trouble {
            trouble.repairs.describe_last(resend);
        }
    }
    /// The oldest segment outstanding is followed no more. True if it was never seen.
    pub fn forget_oldest(&mut self) -> bool {
        let Some(seg) = self.board.pop_front() else { return false };
        let unfilled = self.board.is_unfilled(&seg);
        let board = &mut self.board;
        if let Some(trouble) = &mut self.trouble {
            for ordinal in board.repaired.of(&seg).iter().flat_map(|r| r.later.iter()) {
                trouble.repairs.settle(*ordinal, seg.len().into(), false);
            }
            trouble.push_arrived(&seg, board);
        } else {
            seg.leave(&mut board.repaired);
        }
        unfilled
    }
}
