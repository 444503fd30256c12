//! The longer way of a packet through a link that has channels, retries or a managed queue.

use super::{Link, tell_sending};
use crate::arq::Arq;
use crate::channel::{Calendar, Channels, Fate, Passing, RateTrace};
use crate::context::Context;
use crate::counters::{Tallies, Tally};
use crate::facts::{Cause, LinkId};
use crate::key::Key;
use crate::line::{DelayLine, Strays, place};
use crate::pool::PacketId;
use crate::queue::{DropTail, Manager};
use crate::spec::Flush;
use crate::watch::{Backlog, Held, Watch};
use instant::{Span, Time};

/// What a plain link has not.
#[derive(Clone, Debug)]
pub(crate) struct Extras {
    pub ingress: Channels,
    pub wire: Channels,
    pub egress: Channels,
    pub flushes: Vec<Flushing>,
    pub manager: Manager,
    pub arq: Option<Arq>,
    /// Tries, where there are retries.
    frames: Tally,
    /// Instead of the link's rate.
    pub trace: Option<RateTrace>,
    /// When the next outage destroys what is inside; [`Key::NEVER`] if none does.
    flush_at: Key,
    /// On its way to the queue.
    entering: DelayLine,
    /// The packet being sent, if its end is not simply that it propagates.
    sending: Option<Sending>,
    /// In flight, out of order.
    strays: Strays,
    /// When the last packet in order arrives.
    last_arrival: Time,
    /// At the far end, late.
    leaving: DelayLine,
}

#[derive(Clone, Copy, Debug)]
struct Sending {
    id: PacketId,
    fate: Fate,
    /// How often it was sent by now.
    tries: u32,
}

/// An outage that destroys what is inside when it begins.
#[derive(Clone, Debug)]
pub(crate) struct Flushing {
    pub channel: u16,
    pub what: Flush,
    pub calendar: Calendar,
}

impl Extras {
    pub fn new(manager: Manager, arq: Option<Arq>) -> Extras {
        Extras {
            manager,
            arq,
            frames: Tally::default(),
            ingress: Channels::default(),
            wire: Channels::default(),
            egress: Channels::default(),
            flushes: Vec::new(),
            trace: None,
            flush_at: Key::NEVER,
            entering: DelayLine::default(),
            sending: None,
            strays: Strays::default(),
            last_arrival: Time(i64::MIN),
            leaving: DelayLine::default(),
        }
    }

    /// A flush is no event for a link that is empty: a run may end.
    fn next(&self, occupied: bool) -> Key {
        let next = self.entering.next().earlier(self.strays.next()).earlier(self.leaving.next());
        if occupied { next.earlier(self.flush_at) } else { next }
    }

    pub fn backlog(&self, queue: &DropTail) -> Backlog {
        self.manager.backlog(queue)
    }

    pub fn tallies(&self) -> Tallies {
        let asked = [&self.ingress, &self.wire, &self.egress];
        let mut channels: Vec<(u16, Tally)> = asked.into_iter().flat_map(Channels::tallies).collect();
        channels.sort_unstable_by_key(|(index, _)| *index);
        Tallies { channels, frames: self.arq.as_ref().map(|_| Box::new(self.frames)) }
    }

    pub fn anchor(&mut self, at: Time) {
        for channels in [&mut self.ingress, &mut self.wire, &mut self.egress] {
            channels.anchor(at);
        }
        for flushing in &mut self.flushes {
            flushing.calendar.anchor(at);
        }
    }

    /// The next time at which an outage begins that destroys something. It comes before all that happens at the
    /// same time: a packet that would arrive just then is lost. Links that go down together do so in their order.
    fn plan_flush(&mut self, link: LinkId, now: Time) {
        let begins = self.flushes.iter_mut().filter_map(|f| f.calendar.next_begin(now));
        self.flush_at = begins.min().map_or(Key::NEVER, |time| Key { time, order: link.0.into() });
    }
}

#[cold]
fn empty() -> Box<Extras> {
    Box::new(Extras::new(Manager::default(), None))
}

impl Link {
    #[inline(always)]
    fn extras(&mut self) -> &mut Extras {
        // Only reached from a link that has them; a link without would get empty ones.
        self.extras.get_or_insert_with(empty)
    }

    /// The side paths have changed.
    fn refresh_side(&mut self) {
        let occupied = self.flushes && self.counters.inside() > 0;
        self.side = self.extras().next(occupied);
    }

    /// At the near end: the channels before the queue.
    #[inline(never)]
    pub(super) fn enter<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>, id: PacketId) {
        if self.flushes {
            if self.counters.inside() == 1 {
                self.extras().plan_flush(cx.link, cx.key.time);
            }
            self.ask_ingress(cx, id);
            return self.refresh_side();
        }
        if self.extras().ingress.is_empty() {
            return self.admit(cx, id);
        }
        self.ask_ingress(cx, id);
    }

    fn ask_ingress<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>, id: PacketId) {
        let bytes = self.weight(cx, id);
        let passing = Passing { time: cx.key.time, facts: cx.pool.facts(id), bytes };
        let fate = self.extras().ingress.ask(passing).unwrap_or_default();
        if let Some(cause) = fate.dropped_by {
            return self.lose(cx, id, cause);
        }
        for n in 0..=fate.copies {
            let id = if n < fate.copies { self.copy(cx, id) } else { id };
            self.pass_ingress(cx, id, fate);
        }
    }

    fn pass_ingress<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>, id: PacketId, fate: Fate) {
        let time = fate.passes_at(cx.key.time);
        let waits = fate.is_late() || self.extras().entering.blocks();
        if !waits {
            return self.admit(cx, id);
        }
        tell_held(cx, id, cx.key.time, time, fate);
        let key = Key { time, order: cx.orders.take() };
        self.extras().entering.push(cx.pool, id, key, fate.order);
        self.refresh_side();
    }

    /// One more of the same, ahead of it.
    fn copy<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>, id: PacketId) -> PacketId {
        let copy = cx.pool.copy(id);
        self.counters.copies += 1;
        cx.watch.copied(cx.link, cx.key.time, cx.pool.facts(copy), cx.pool.content(copy));
        copy
    }

    /// A packet begins to be sent.
    #[inline(never)]
    pub(super) fn start_asking<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>, id: PacketId) {
        let mut tries = 1;
        while let Some(sending) = self.start_try(cx, id, tries) {
            // It was sent in no time: what becomes of it is known at once.
            if !self.end_try(cx, sending) {
                return;
            }
            tries += 1;
        }
    }

    /// Sends it for the `tries`-th time. What becomes of it is settled when it has left, unless it simply goes on;
    /// returned if that is now.
    #[inline(always)]
    fn start_try<P: Copy, W: Watch<P>>(
        &mut self,
        cx: &mut Context<P, W>,
        id: PacketId,
        tries: u32,
    ) -> Option<Sending> {
        let bytes = self.weight(cx, id);
        let end = match self.paced_specially {
            false => self.rate.send(cx.key.time, bytes),
            true => self.end_of_try(cx.key.time, bytes, tries),
        };
        tell_sending(cx, id, end);
        let passing = Passing { time: end, facts: cx.pool.facts(id), bytes };
        let extras = self.extras();
        extras.frames.see();
        match extras.wire.ask(passing) {
            None => {
                self.propagate_plainly(cx, id, end);
                self.busy_until(cx, end);
                None
            }
            Some(fate) => self.meet_fate(cx, id, tries, end, fate),
        }
    }

    /// A packet begins to be sent at a straight link with channels. Nothing is sent twice there.
    #[inline(always)]
    pub(super) fn start_on_wire<P: Copy, W: Watch<P>>(
        &mut self,
        cx: &mut Context<P, W>,
        id: PacketId,
        bytes: u32,
        end: Time,
    ) -> Key {
        let passing = Passing { time: end, facts: cx.pool.facts(id), bytes };
        match self.extras().wire.ask(passing) {
            None => {
                self.propagate_plainly(cx, id, end);
                self.busy_until(cx, end)
            }
            Some(fate) => {
                let cx = &mut cx.copy();
                if let Some(sending) = self.meet_fate(cx, id, 1, end, fate) {
                    self.end_try(cx, sending);
                }
                self.done
            }
        }
    }

    /// A channel said something. Returned is what is settled now.
    #[inline(never)]
    fn meet_fate<P: Copy, W: Watch<P>>(
        &mut self,
        cx: &mut Context<P, W>,
        id: PacketId,
        tries: u32,
        end: Time,
        fate: Fate,
    ) -> Option<Sending> {
        if fate.dropped_by.is_some() {
            self.extras().frames.hit();
        }
        if fate.dropped_by.is_none() && fate.copies == 0 {
            self.propagate(cx, id, end, fate);
            self.busy_until(cx, end);
            return None;
        }
        self.busy_until(cx, end);
        let sending = Sending { id, fate, tries };
        if self.is_idle(cx.key) {
            return Some(sending);
        }
        self.extras().sending = Some(sending);
        self.due = self.done;
        None
    }

    /// When a packet that begins now, after what the retries ask for, has left.
    fn end_of_try(&mut self, now: Time, bytes: u32, tries: u32) -> Time {
        let Link { extras, rate, .. } = self;
        let Some(extras) = extras else { return rate.send(now, bytes) };
        let begin = now + extras.arq.as_mut().map_or(Span::ZERO, |arq| arq.wait_before(tries));
        let overhead = extras.arq.as_ref().map_or(Span::ZERO, Arq::overhead);
        match &mut extras.trace {
            Some(trace) => trace.send(begin, bytes) + overhead,
            None => rate.send_with(begin, bytes, overhead),
        }
    }

    /// The end of a transmission for which something waits.
    #[inline(never)]
    pub(super) fn sent<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>) {
        if self.finish_sending(cx) {
            self.send_next(cx);
        }
        if self.is_sending_specially() {
            self.due = self.done;
        }
        if self.flushes {
            self.refresh_side();
        }
    }

    /// Settles what becomes of the packet being sent. True if the link is free.
    fn finish_sending<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>) -> bool {
        let Some(sending) = self.extras().sending.take() else { return true };
        self.due = Key::NEVER;
        !self.end_try(cx, sending) || self.retry(cx, sending)
    }

    /// Sends it once more. True if the link is free again at once.
    fn retry<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>, sending: Sending) -> bool {
        let mut sending = sending;
        while let Some(again) = self.start_try(cx, sending.id, sending.tries + 1) {
            if !self.end_try(cx, again) {
                return true;
            }
            sending = again;
        }
        if self.backlog().packets > 0 {
            self.due = self.done;
        }
        self.is_idle(cx.key)
    }

    #[inline(always)]
    pub(super) fn is_sending_specially(&self) -> bool {
        self.extras.as_ref().is_some_and(|extras| extras.sending.is_some())
    }

    /// A packet has left, and was lost, copied or made late. True if it is to be sent once more.
    fn end_try<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>, sending: Sending) -> bool {
        let Sending { id, fate, tries } = sending;
        if let Some(cause) = fate.dropped_by {
            let cause = match (&self.extras().arq, cause.channel()) {
                (Some(arq), _) if arq.has_another(tries) => return true,
                (Some(_), Some(channel)) => Cause::ArqGaveUp(channel),
                _ => cause,
            };
            self.lose(cx, id, cause);
            return false;
        }
        for n in 0..=fate.copies {
            let id = if n < fate.copies { self.copy(cx, id) } else { id };
            self.propagate(cx, id, cx.key.time, fate);
        }
        false
    }

    #[inline(always)]
    fn propagate_plainly<P: Copy, W>(&mut self, cx: &mut Context<P, W>, id: PacketId, end: Time) {
        let Link { extras, flight, delay, .. } = self;
        let time = match extras {
            Some(extras) => {
                extras.last_arrival = extras.last_arrival.max(end + *delay);
                extras.last_arrival
            }
            None => end + *delay,
        };
        flight.push(cx.pool, id, Key { time, order: cx.orders.take() });
    }

    /// Off to the far end, having left at `end`.
    fn propagate<P: Copy, W: Watch<P>>(
        &mut self,
        cx: &mut Context<P, W>,
        id: PacketId,
        end: Time,
        fate: Fate,
    ) {
        let arrival = (fate.passes_at(end) + self.delay).max(end);
        let key = Key { time: arrival, order: cx.orders.take() };
        let delay = self.delay;
        let extras = self.extras();
        let placed = place(fate.order, arrival, &mut extras.last_arrival);
        tell_held(cx, id, end, placed.unwrap_or(arrival) - delay, fate);
        match placed {
            Some(time) => self.flight.push(cx.pool, id, Key { time, ..key }),
            None => {
                extras.strays.push(id, key);
                self.refresh_side();
            }
        }
    }

    /// At the far end: the channels behind the wire.
    #[inline(never)]
    pub(super) fn arrive<P: Copy, W: Watch<P>>(
        &mut self,
        cx: &mut Context<P, W>,
        id: PacketId,
    ) -> Option<PacketId> {
        if self.extras().egress.is_empty() {
            let arrived = self.deliver(cx, id);
            if self.flushes {
                self.refresh_side();
            }
            return arrived;
        }
        let arrived = self.ask_egress(cx, id);
        self.refresh_side();
        arrived
    }

    fn ask_egress<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>, id: PacketId) -> Option<PacketId> {
        let now = cx.key.time;
        let bytes = self.weight(cx, id);
        let extras = self.extras();
        let fate =
            extras.egress.ask(Passing { time: now, facts: cx.pool.facts(id), bytes }).unwrap_or_default();
        if let Some(cause) = fate.dropped_by {
            self.lose(cx, id, cause);
            return None;
        }
        if !fate.is_late() && fate.copies == 0 && !self.extras().leaving.blocks() {
            return self.deliver(cx, id);
        }
        for n in 0..=fate.copies {
            let id = if n < fate.copies { self.copy(cx, id) } else { id };
            let key = Key { time: fate.passes_at(now).max(now), order: cx.orders.take() };
            tell_held(cx, id, now, key.time, fate);
            self.extras().leaving.push(cx.pool, id, key, fate.order);
        }
        None
    }

    /// An event of one of the side paths.
    #[inline(never)]
    pub(super) fn fire_side<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>) -> Option<PacketId> {
        let arrived = self.take_side(cx);
        self.refresh_side();
        arrived
    }

    fn take_side<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>) -> Option<PacketId> {
        let extras = self.extras();
        if cx.key == extras.flush_at {
            self.flush(cx);
            return None;
        }
        if cx.key == extras.entering.next() {
            let id = extras.entering.pop(cx.pool)?;
            self.admit(cx, id);
            return None;
        }
        if cx.key == extras.strays.next() {
            let id = extras.strays.pop()?;
            return self.arrive(cx, id);
        }
        let id = extras.leaving.pop(cx.pool)?;
        self.deliver(cx, id)
    }

    /// An outage begins that destroys what is inside.
    fn flush<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>) {
        let now = cx.key.time;
        let beginning = |f: &mut Flushing| f.calendar.outage_at(now).is_some().then_some((f.channel, f.what));
        let begun: Vec<(u16, Flush)> = self.extras().flushes.iter_mut().filter_map(beginning).collect();
        for (channel, what) in begun {
            self.flush_queue(cx, Cause::Flushed(channel));
            if what == Flush::Flight {
                self.flush_flight(cx, Cause::Flushed(channel));
            }
        }
        self.extras().plan_flush(cx.link, now);
    }

    /// The transmitter stays busy until the lost packet would have left.
    fn flush_flight<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>, cause: Cause) {
        while let Some(id) = self.flight.pop(cx.pool) {
            self.lose(cx, id, cause);
        }
        while let Some(id) = self.extras().strays.pop() {
            self.lose(cx, id, cause);
        }
        if let Some(sending) = self.extras().sending.take() {
            self.lose(cx, sending.id, cause);
        }
        self.due = Key::NEVER;
        while let Some(id) = self.extras().entering.pop(cx.pool) {
            self.lose(cx, id, cause);
        }
        while let Some(id) = self.extras().leaving.pop(cx.pool) {
            self.lose(cx, id, cause);
        }
        let extras = self.extras();
        extras.last_arrival = cx.key.time;
    }
}

/// A channel delays a packet.
fn tell_held<P: Copy, W: Watch<P>>(
    cx: &mut Context<P, W>,
    id: PacketId,
    from: Time,
    until: Time,
    fate: Fate,
) {
    if let (true, Some(channel)) = (W::IS_ON, fate.delayed_by) {
        let held = Held { channel, kept: fate.hold.is_some(), from, until };
        cx.watch.held(cx.link, cx.pool.facts(id), cx.pool.content(id), held);
    }
}
