//! How much memory the connections of a capture may take, decided by its packets alone.
//!
//! Connections are shared out by their endpoints to [`SHARES`] shares, each with an equal part of the memory. At
//! fixed places of the capture ([`review_every`]) the memory that each share's connections take is added up. A share that
//! has more than its part takes no packets from there on: they are counted. Neither the number of threads nor what else is
//! in memory has an influence, so the same capture and the same bound always give the same answer.

use super::{Analyzer, BATCH, Slot};
use crate::capture_progress::{CaptureProgress, SHARES, part};
use crate::connection::Connection;
use crate::sink::Sink;
use wire::{Packet, Tuple};

/// Packets of the capture from one review to the next: between two of them connections grow by a few hundred bytes a packet
/// at most, which is a part of what is allowed, and to look at them all costs little beside the packets.
pub fn review_every(max_memory: u64) -> u64 {
    (max_memory / 2048).max(4096)
}

/// A young connection's place in the lists of connections beside its slot, and what each of its packets takes.
const PLACE: u64 = 24;
const YOUNG_PACKET: u64 = 24;
/// Bytes that a connection followed in full takes besides, for what it learns of its senders and rounds.
const LEARNED: u64 = 4096;

/// The memory that each share of the connections may take, and which shares have used theirs up.
pub(super) struct Shares {
    most: u64,
    /// One bit for each share.
    used_up: u64,
    /// Packets of shares without memory left: they are counted and not analysed.
    pub(super) counted: u64,
}

impl Shares {
    pub(super) fn unbounded() -> Shares {
        Shares { most: u64::MAX, used_up: 0, counted: 0 }
    }
    #[inline(always)]
    pub(super) fn any_used_up(&self) -> bool {
        self.used_up != 0
    }
    fn takes(&self, tuple: &Tuple) -> bool {
        self.used_up >> part(tuple, SHARES) & 1 == 0
    }
}

impl Slot {
    /// Bytes that it takes, nearly.
    fn held(&self) -> u64 {
        let slot = size_of::<Slot>() as u64 + PLACE;
        match self {
            Slot::Empty => 0,
            Slot::GivenUp(_) => slot,
            Slot::Young(young) => slot + young.packets() * YOUNG_PACKET,
            Slot::Grown(_, c) => slot + size_of::<Connection>() as u64 + LEARNED + c.held(),
        }
    }
}

impl<S: Sink> Analyzer<S> {
    pub(super) fn push_to_shares(&mut self, batch: &[Packet], before: &[CaptureProgress]) {
        match self.shares.any_used_up() {
            false => self.push_guarded(batch, before),
            true => self.push_to_open_shares(batch, before),
        }
    }

    /// The same within so much memory; whoever gives it packets has it [`Analyzer::review`] its shares then.
    pub fn within(mut self, max_memory: Option<u64>) -> Analyzer<S> {
        self.shares.most = max_memory.map_or(u64::MAX, |most| most / SHARES as u64);
        self
    }

    /// The capture has come so far: which shares have used up their memory? To be called after each
    /// [`review_every`] packets of the capture; a part of a capture is told how far the whole of it has come.
    #[cold]
    #[inline(never)]
    pub fn review(&mut self, course: Option<&CaptureProgress>) {
        self.catch_up(course);
        let mut held = [0u64; SHARES];
        for slot in 0..self.slots.len() {
            if let Some(tuple) = self.slots[slot].tuple() {
                held[part(tuple, SHARES)] += self.slots[slot].held();
            }
        }
        for (share, held) in held.iter().enumerate() {
            self.shares.used_up |= u64::from(*held > self.shares.most) << share;
        }
    }

    /// Packets of which some are of shares that take no more.
    #[cold]
    #[inline(never)]
    pub(super) fn push_to_open_shares(&mut self, packets: &[Packet], before: &[CaptureProgress]) {
        let mut kept = Vec::with_capacity(BATCH);
        let mut course = self.course;
        for (i, packet) in packets.iter().enumerate() {
            course = before.get(i).copied().unwrap_or(course);
            if self.shares.takes(&packet.tuple) {
                kept.push((*packet, course));
            }
            course.pass(packet);
        }
        self.shares.counted += (packets.len() - kept.len()) as u64;
        let (packets, before): (Vec<Packet>, Vec<CaptureProgress>) = kept.into_iter().unzip();
        self.push_guarded(&packets, &before);
        self.course = course;
    }

    /// Does this packet's share take no more? Then it is counted.
    #[inline(always)]
    pub(super) fn is_counted_only(&mut self, packet: &Packet) -> bool {
        let counted = self.shares.any_used_up() && !self.shares.takes(&packet.tuple);
        if counted {
            self.shares.counted += 1;
            self.course.pass(packet);
        }
        counted
    }
}
