//! One direction of a link: queue, transmitter, propagation, and the channels on the way.
//!
//! The order of events is that of a simulator which schedules, whenever a packet starts being sent, first its
//! arrival at the far end and then the end of its transmission, at which the next is taken from the queue (ns-2
//! does so). Both places in the order are taken at the start, but the end of a transmission becomes an event only
//! if somebody waits for it: a link that was idle costs one event a packet.

mod build;
mod extras;
mod managed;
#[cfg(test)]
mod tests;

use crate::context::{Context, lose};
use crate::counters::{Counters, Tallies};
use crate::facts::Cause;
use crate::key::Key;
use crate::line::Line;
use crate::memory;
use crate::pool::{PacketId, Pool};
use crate::queue::DropTail;
use crate::rate::Rate;
use crate::watch::{Backlog, Watch};
use extras::Extras;
use instant::{Span, Time};

/// One direction of a link. Four lines of the cache: what its next event is, how it sends, its queue, and what plain
/// links do not look at.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Link {
    flight: Line,
    /// When the packet being sent has left; in the past if none is.
    done: Key,
    /// The same, if anything waits for it.
    due: Key,
    framing: u32,
    /// Its packets may fly in the lanes of this kind, or of none.
    kind: u8,
    /// Sending takes time: without a rate a burst of one instant meets no queue.
    serialises: bool,
    way: Way,
    /// A schedule of this link or of its twin waits for the first packet.
    unanchored: bool,

    rate: Rate,
    delay: Span,
    /// What a plain link (drop-tail, no channels) has not.
    extras: Option<Box<Extras>>,

    queue: DropTail,
    /// In the order of use.
    counters: Counters,

    /// The next event of a side path: what is held, out of order, or destroyed by an outage.
    side: Key,
    /// By a rate trace, or with retries.
    paced_specially: bool,
    /// An outage destroys what is inside when it begins.
    flushes: bool,
}

/// What a link has on a packet's way through it, settled when it is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// A drop-tail queue and nothing else.
    Plain,
    /// Channels on the wire, too, behind which packets stay in order: nothing is ever on a side path.
    Wire,
    /// Whatever there is, but a drop-tail queue.
    Any,
    /// The same where RED, CoDel or FQ-CoDel decides what the queue takes and gives.
    Managed,
}

/// Of a link whose packets fly in its own flight.
const NO_LANES: u8 = u8::MAX;

impl Link {
    /// When its next event is; [`Key::NEVER`] if nothing is inside.
    #[inline]
    pub fn next(&self) -> Key {
        let next = self.flight.next().earlier(self.due);
        if self.is_straight() { next } else { next.earlier(self.side) }
    }

    /// It will be asked for its next event soon.
    #[inline(always)]
    pub fn prefetch(&self) {
        memory::prefetch(self);
    }

    /// The packet that arrives next will be asked for soon.
    #[inline(always)]
    pub fn prefetch_head<P: Copy>(&self, pool: &Pool<P>) {
        if let Some(head) = self.flight.head() {
            pool.prefetch_all(head);
        }
    }

    /// The packet that arrives next; the one behind it will be asked for when it does.
    #[inline(always)]
    pub fn head<P: Copy>(&self, pool: &Pool<P>) -> Option<PacketId> {
        let head = self.flight.head()?;
        pool.prefetch(pool.parcel(head).next);
        Some(head)
    }

    /// What [`Link::next`] is chosen from: as long as this is the same, so is the next event. Orders are unique, but
    /// for the zero of a flush, which is on the side.
    #[inline(always)]
    fn heads(&self) -> (u64, u64, Key) {
        (self.flight.next().order, self.due.order, self.side)
    }

    /// What has begun to fly in a lane counts as delivered: see [`Lanes::under_way`].
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Has no channels, and a drop-tail queue: what leaves it arrives after a time that is always the same.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        self.way == Way::Plain
    }

    /// Nothing but the queue is ahead of the transmitter, and nothing behind the channels on the wire.
    #[inline(always)]
    fn is_straight(&self) -> bool {
        matches!(self.way, Way::Plain | Way::Wire)
    }

    /// What leaves a plain link may fly in lanes, with what leaves others of the same kind.
    pub fn share_lanes(&mut self, kind: u8) {
        debug_assert!(self.is_plain());
        self.kind = kind;
    }

    /// What its channels and retries met.
    pub fn tallies(&self) -> Tallies {
        self.extras.as_ref().map_or_else(Tallies::default, |extras| extras.tallies())
    }

    /// What waits in its queue.
    pub fn backlog(&self) -> Backlog {
        match &self.extras {
            None => self.queue.backlog(),
            Some(extras) => extras.backlog(&self.queue),
        }
    }

    /// A schedule anchored at the link's first packet does not know its time zero yet.
    #[inline]
    pub fn awaits_anchor(&self) -> bool {
        self.unanchored
    }

    /// The first packet, in either direction, came at `at`.
    pub fn anchor(&mut self, at: Time) {
        self.unanchored = false;
        if let Some(extras) = &mut self.extras {
            extras.anchor(at);
        }
    }

    /// A packet comes to the near end. False if [`Link::next`] is the same as before.
    #[inline(always)]
    pub fn offer<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>, id: PacketId) -> bool {
        self.counters.offered += 1;
        if self.is_straight() {
            return self.admit_straight(cx, id);
        }
        let before = self.heads();
        self.enter(&mut cx.copy(), id);
        self.heads() != before
    }

    /// Handles the event at [`Link::next`], whose key the context carries. What it gives back has arrived at the
    /// far end; it stays in the pool and is its taker's.
    #[inline(always)]
    pub fn fire<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>) -> Option<PacketId> {
        let straight = self.is_straight();
        // Orders are unique, but for the zero of a flush, which is on the side.
        if cx.key.order == self.flight.next().order {
            let id = self.flight.pop(cx.pool)?;
            return if straight { self.deliver(cx, id) } else { self.arrive(&mut cx.copy(), id) };
        }
        match (cx.key.order == self.due.order, straight) {
            (true, true) if !self.is_sending_specially() => self.send_next_straight(cx),
            (true, _) => self.sent(&mut cx.copy()),
            (false, _) => return self.fire_side(&mut cx.copy()),
        }
        None
    }

    #[inline(always)]
    fn deliver<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>, id: PacketId) -> Option<PacketId> {
        self.counters.delivered += 1;
        if W::IS_ON {
            cx.watch.delivered(cx.link, cx.key.time, cx.pool.facts(id), cx.pool.content(id));
        }
        Some(id)
    }

    fn lose<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>, id: PacketId, cause: Cause) {
        lose(cx, &mut self.counters, id, cause);
    }

    fn weight<P: Copy, W>(&self, cx: &Context<P, W>, id: PacketId) -> u32 {
        cx.pool.facts(id).len.saturating_add(self.framing)
    }

    /// The packet being sent, if any, has left before this event.
    #[inline]
    fn is_idle(&self, key: Key) -> bool {
        self.done.is_before(key)
    }

    /// To the queue, or past it if the link is idle.
    #[inline]
    fn admit<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>, id: PacketId) {
        if self.way == Way::Managed { self.admit_managed(cx, id) } else { self.admit_plain(cx, id) }
    }

    /// Drop-tail, with something else on the way.
    #[inline]
    fn admit_plain<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>, id: PacketId) {
        let bytes = self.weight(cx, id);
        if !self.is_free(cx.key) {
            self.wait_in_queue(cx, id, bytes);
            return;
        }
        self.tell_of_passing(cx, id, bytes);
        self.start_asking(cx, id);
    }

    /// The same at a straight link. False if [`Link::next`] is the same as before.
    #[inline(always)]
    fn admit_straight<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>, id: PacketId) -> bool {
        let bytes = self.weight(cx, id);
        if !self.is_idle(cx.key) {
            return self.wait_in_queue(cx, id, bytes);
        }
        // Whoever waits is sent when the transmitter is free: the queue need not be looked at.
        debug_assert!(self.queue.is_empty());
        self.tell_of_passing(cx, id, bytes);
        let before = (self.flight.next().order, self.due.order);
        self.start_straight(cx, id, bytes);
        (self.flight.next().order, self.due.order) != before
    }

    /// What comes now is sent at once.
    #[inline(always)]
    fn is_free(&self, key: Key) -> bool {
        self.is_idle(key) && self.queue.is_empty()
    }

    /// In and out of the queue at one moment.
    #[inline(always)]
    fn tell_of_passing<P: Copy, W: Watch<P>>(&self, cx: &mut Context<P, W>, id: PacketId, bytes: u32) {
        if !W::IS_ON {
            return;
        }
        let (now, facts, packet) = (cx.key.time, cx.pool.facts(id), cx.pool.content(id));
        cx.watch.enqueued(cx.link, now, facts, packet, Backlog { packets: 1, bytes: bytes as u64 });
        cx.watch.dequeued(cx.link, now, facts, packet, Span::ZERO, Backlog::default());
    }

    /// Until the transmitter is free, if there is room. False if [`Link::next`] is the same as before.
    #[inline(always)]
    fn wait_in_queue<P: Copy, W: Watch<P>>(
        &mut self,
        cx: &mut Context<P, W>,
        id: PacketId,
        bytes: u32,
    ) -> bool {
        if !self.queue.has_room(bytes) {
            self.lose(&mut cx.copy(), id, Cause::QueueFull);
            return false;
        }
        let now = cx.key.time;
        self.queue.push(cx.pool, id, now, bytes);
        let is_first = self.due.order != self.done.order;
        self.due = self.done;
        if W::IS_ON {
            cx.watch.enqueued(cx.link, now, cx.pool.facts(id), cx.pool.content(id), self.queue.backlog());
        }
        is_first
    }

    /// The transmitter is free: the next from the queue. A link that sends in no time empties it.
    fn send_next<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>) {
        self.due = Key::NEVER;
        loop {
            let managed = self.way == Way::Managed;
            let taken = match managed {
                false => self.queue.pop(cx.pool, self.framing),
                true => self.take_managed(cx),
            };
            let Some(id) = taken else { return };
            let bytes = self.weight(cx, id);
            let backlog = if managed { self.backlog() } else { self.queue.backlog() };
            tell_dequeued(cx, id, backlog);
            if self.is_straight() {
                self.start_straight(cx, id, bytes);
            } else {
                self.start_asking(cx, id);
            }
            if backlog.packets == 0 {
                return;
            }
            if !self.is_idle(cx.key) {
                self.due = self.done;
                return;
            }
        }
    }

    /// The same at a straight link: one packet, as the transmitter is not free any more then. A link that sends in no
    /// time has no queue.
    #[inline(always)]
    fn send_next_straight<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>) {
        self.due = Key::NEVER;
        let Some(id) = self.queue.pop(cx.pool, self.framing) else { return };
        let bytes = self.weight(cx, id);
        tell_dequeued(cx, id, self.queue.backlog());
        let done = self.start_straight(cx, id, bytes);
        if !self.queue.is_empty() {
            self.due = done;
        }
    }

    /// A packet begins to be sent at a straight link. Returns when it has left: what was just stored is not read back.
    #[inline(always)]
    fn start_straight<P: Copy, W: Watch<P>>(
        &mut self,
        cx: &mut Context<P, W>,
        id: PacketId,
        bytes: u32,
    ) -> Key {
        let end = self.rate.send(cx.key.time, bytes);
        tell_sending(cx, id, end);
        if self.way == Way::Wire {
            return self.start_on_wire(cx, id, bytes, end);
        }
        let key = Key { time: end + self.delay, order: cx.orders.take() };
        let done = self.busy_until(cx, end);
        if self.kind != NO_LANES && cx.lanes.put((self.kind, bytes), cx.pool, cx.link, id, key) {
            // Nothing happens to it any more, and the link is not asked again when it arrives.
            self.counters.delivered += 1;
            return done;
        }
        self.flight.push(cx.pool, id, key);
        done
    }

    #[inline(always)]
    fn busy_until<P: Copy, W>(&mut self, cx: &mut Context<P, W>, end: Time) -> Key {
        if !self.serialises && end <= cx.key.time {
            return self.done;
        }
        let done = Key { time: end, order: cx.orders.take() };
        self.done = done;
        done
    }
}

/// A packet is being sent.
#[inline(always)]
fn tell_sending<P: Copy, W: Watch<P>>(cx: &mut Context<P, W>, id: PacketId, until: Time) {
    if W::IS_ON {
        cx.watch.sending(cx.link, cx.key.time, cx.pool.facts(id), cx.pool.content(id), until);
    }
}

/// A packet left the queue.
#[inline(always)]
fn tell_dequeued<P: Copy, W: Watch<P>>(cx: &mut Context<P, W>, id: PacketId, backlog: Backlog) {
    if !W::IS_ON {
        return;
    }
    let waited = cx.key.time - cx.pool.parcel(id).key.time;
    cx.watch.dequeued(cx.link, cx.key.time, cx.pool.facts(id), cx.pool.content(id), waited, backlog);
}
