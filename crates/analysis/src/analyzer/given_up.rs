//! A connection whose analysis fails is given up: its state is dropped, its packets are passed over, and it is told as a
//! row with its fault. The packets of all others are analysed as if nothing had been.

use super::{Analyzer, Place, Slot};
use crate::capture_progress::CaptureProgress;
use crate::connection_table::{NONE, hash};
use crate::fault;
use crate::sink::Sink;
use std::panic::resume_unwind;
use wire::{Packet, Time, Tuple};

/// A connection that is out of its slot while it grows up or ends.
#[derive(Clone, Copy)]
pub(super) struct Moving {
    pub(super) slot: u32,
    pub(super) tuple: Tuple,
    pub(super) start: Time,
    pub(super) last: Time,
    /// It leaves for good.
    pub(super) ends: bool,
}

impl Slot {
    /// When its first packet passed, and its last.
    pub(super) fn span(&self) -> (Time, Time) {
        match self {
            Slot::Young(young) => young.span(),
            Slot::Grown(_, connection) => connection.span(),
            Slot::Empty | Slot::GivenUp(_) => Default::default(),
        }
    }
}

impl<S: Sink> Analyzer<S> {
    pub(super) fn push_guarded(&mut self, batch: &[Packet], before: &[CaptureProgress]) {
        match self.survives {
            true => self.push_surviving(batch, before),
            false => self.push_batch(batch, before),
        }
    }

    /// The connection leaves its slot, for good if it `ends`.
    #[inline(always)]
    pub(super) fn note_moving(&mut self, slot: u32, ends: bool) {
        let of = &self.slots[slot as usize];
        let tuple = match of {
            Slot::Young(young) => young.towards_called(),
            Slot::Grown(tuple, _) => *tuple,
            Slot::Empty | Slot::GivenUp(_) => return,
        };
        let (start, last) = of.span();
        self.moving = Some(Moving { slot, tuple, start, last, ends });
    }

    /// Returns this analyzer, set to go on with the other connections where the analysis of one fails.
    pub fn surviving(mut self) -> Analyzer<S> {
        self.survives = true;
        self
    }

    /// A packet that meets a fault is given to the analysis again, once its connection is given up.
    pub(super) fn push_surviving(&mut self, mut batch: &[Packet], mut before: &[CaptureProgress]) {
        while !batch.is_empty() {
            let (began, course) = (self.totals.packets, self.course);
            let Err(why) = fault::caught(|| self.push_batch(batch, before)) else { return };
            let done = (self.totals.packets - began) as usize;
            self.course = course;
            batch[..done].iter().for_each(|packet| self.course.pass(packet));
            self.give_up(batch.get(done), why);
            batch = &batch[done..];
            before = before.get(done..).unwrap_or_default();
        }
    }

    /// The same of one packet and what it does.
    pub(super) fn surviving_one(&mut self, packet: &Packet, push: impl Fn(&mut Analyzer<S>)) {
        let course = self.course;
        while let Err(why) = fault::caught(|| push(self)) {
            self.course = course;
            self.give_up(Some(packet), why);
        }
    }

    /// The connection that was worked on: one that was growing up or ending, else the packet's.
    #[cold]
    fn give_up(&mut self, packet: Option<&Packet>, why: String) {
        if let Some(Moving { slot, tuple, start, last, ends }) = self.moving.take() {
            let at = slot as usize;
            self.tell_fault(slot, &tuple, (start, last), why);
            if ends {
                self.slots[at] = Slot::Empty;
                self.free.push(slot);
                self.numbers[at].1 = false;
            } else {
                self.slots[at] = Slot::GivenUp(tuple);
            }
            return;
        }
        let place = packet.map_or(Place::UNKNOWN, |p| self.find(hash(&p.tuple), &p.tuple));
        if place.slot == NONE || matches!(self.slots[place.slot as usize], Slot::GivenUp(_)) {
            // No connection can be blamed for this fault, so the panic goes on.
            resume_unwind(Box::new(why));
        }
        let slot = &mut self.slots[place.slot as usize];
        let span = slot.span();
        let tuple = match slot {
            Slot::Young(young) => young.towards_called(),
            Slot::Grown(tuple, _) => *tuple,
            Slot::Empty | Slot::GivenUp(_) => Tuple::default(),
        };
        *slot = Slot::GivenUp(tuple);
        self.tell_fault(place.slot, &tuple, span, why);
    }

    fn tell_fault(&mut self, slot: u32, tuple: &Tuple, (start, last): (Time, Time), why: String) {
        let number = self.numbers[slot as usize].0;
        self.totals.flows += 1;
        self.sink.connection(&[Some(fault::row(number, tuple, start, last, why)), None]);
    }

    /// Every connection that is still open ends.
    pub(super) fn end_all_surviving(&mut self) {
        let mut slot = 0;
        while let Err(why) = fault::caught(|| self.end_all_from(&mut slot)) {
            self.give_up(None, why);
        }
    }
}
