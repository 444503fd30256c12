//! Controlled delay (RFC 8289): drops at the head when packets have waited too long for too long.

use super::{
    Admission, BYTES_INSTEAD, Coming, DropTail, ECN, INTERVAL, LIMIT, Manage, PACKETS, Queue, TARGET,
};
use crate::check::{Checked, LONGEST, duration, require};
use crate::context::{Context, lose};
use crate::counters::Counters;
use crate::facts::{Cause, Ecn};
use crate::pool::PacketId;
use crate::random::Stream;
use crate::spec::Limit;
use crate::watch::Watch;
use instant::{Span, Time};

params::params! {
    /// RFC 8289.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Params: "codel", "Controlled delay (RFC 8289).", forms LIMIT {
        limit: Limit = PACKETS, BYTES_INSTEAD;
        target: Span = TARGET;
        interval: Span = INTERVAL;
        ecn: bool = ECN;
    }
}

impl Queue for Params {
    type Manager = Managed;
    fn limit(&self) -> Limit {
        self.limit
    }
    fn marks(&self) -> bool {
        self.ecn
    }
    fn check(&self) -> Checked {
        check_law(self.target, self.interval)
    }
    fn manager(&self, _: impl Fn() -> Stream) -> Managed {
        let Params { target, interval, ecn, .. } = *self;
        Managed { law: Law { target, interval, ecn }, codel: Codel::default() }
    }
}

pub(super) fn check_law(target: Span, interval: Span) -> Checked {
    duration("queue.target", target)?;
    require(interval > Span::ZERO && interval < LONGEST, "queue.interval", interval, "above 0")
}

/// CoDel over the link's own chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Managed {
    law: Law,
    codel: Codel,
}

impl Manage for Managed {
    fn admit<P: Copy, W: Watch<P>>(
        &mut self,
        _cx: &mut Context<P, W>,
        _counters: &mut Counters,
        packet: Coming,
    ) -> Admission {
        match packet.idle {
            Some(_) => self.codel.passed_idle(packet.bytes),
            None => self.codel.saw(packet.bytes),
        }
        Admission::Chain
    }

    fn take<P: Copy, W: Watch<P>>(
        &mut self,
        cx: &mut Context<P, W>,
        counters: &mut Counters,
        queue: &mut DropTail,
        framing: u32,
    ) -> Option<PacketId> {
        self.codel.dequeue(self.law, cx, counters, Source { queue, elsewhere_bytes: 0, framing })
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Law {
    pub target: Span,
    pub interval: Span,
    pub ecn: bool,
}

/// Whence packets are taken.
pub(crate) struct Source<'a> {
    pub queue: &'a mut DropTail,
    /// What waits in other queues of the same link: Linux counts it where it asks whether less than a packet waits.
    pub elsewhere_bytes: u64,
    pub framing: u32,
}

/// The state of one queue, named as in the pseudocode of RFC 8289 section 5.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Codel {
    first_above: Option<Time>,
    drop_next: Time,
    count: u32,
    last_count: u32,
    dropping: bool,
    /// The largest packet seen; with no more than one such waiting nothing is dropped.
    max_packet: u32,
}

impl Codel {
    /// A packet passed an idle link: it waited for nothing.
    pub fn passed_idle(&mut self, bytes: u32) {
        self.max_packet = self.max_packet.max(bytes);
        self.first_above = None;
        self.dropping = false;
    }

    pub fn saw(&mut self, bytes: u32) {
        self.max_packet = self.max_packet.max(bytes);
    }

    /// The next packet to send, after those that are dropped in its favour (RFC 8289 section 5, the dequeue routine).
    pub fn dequeue<P: Copy, W: Watch<P>>(
        &mut self,
        law: Law,
        cx: &mut Context<P, W>,
        counters: &mut Counters,
        mut source: Source,
    ) -> Option<PacketId> {
        let now = cx.key.time;
        let (mut id, mut may_drop) = self.take(law, cx, &mut source);
        if self.dropping {
            self.dropping = may_drop;
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                if mark(law, cx, id) {
                    self.drop_next = control(law, self.drop_next, self.count);
                    break;
                }
                drop(cx, counters, id);
                (id, may_drop) = self.take(law, cx, &mut source);
                self.dropping = may_drop;
                if may_drop {
                    self.drop_next = control(law, self.drop_next, self.count);
                }
            }
        } else if may_drop {
            if !mark(law, cx, id) {
                drop(cx, counters, id);
                (id, _) = self.take(law, cx, &mut source);
            }
            self.start_dropping(law, now);
        }
        id
    }

    /// The head, and whether it may be dropped: packets have waited for `target` or more during an `interval`.
    fn take<P: Copy, W: Watch<P>>(
        &mut self,
        law: Law,
        cx: &mut Context<P, W>,
        source: &mut Source,
    ) -> (Option<PacketId>, bool) {
        let id = source.queue.pop(cx.pool, source.framing);
        let backlog = source.queue.backlog().bytes + source.elsewhere_bytes;
        let now = cx.key.time;
        let is_fine = |id| {
            let waited = now - cx.pool.parcel(id).key.time;
            waited < law.target || backlog <= self.max_packet as u64
        };
        if id.is_none_or(is_fine) {
            self.first_above = None;
            return (id, false);
        }
        match self.first_above {
            None => {
                self.first_above = Some(now + law.interval);
                (id, false)
            }
            Some(time) => (id, now >= time),
        }
    }

    /// If dropping stopped only lately, it goes on at the rate that had helped.
    fn start_dropping(&mut self, law: Law, now: Time) {
        self.dropping = true;
        let delta = self.count.wrapping_sub(self.last_count);
        let lately = now - self.drop_next < law.interval * 16;
        self.count = if delta > 1 && lately { delta } else { 1 };
        self.drop_next = control(law, now, self.count);
        self.last_count = self.count;
    }
}

/// The time of the next drop: the distance falls with the square root of their number.
fn control(law: Law, from: Time, count: u32) -> Time {
    from + Span((law.interval.0 as f64 / (count as f64).sqrt()) as i64)
}

/// Sets "congestion experienced" instead of dropping, where both sides know of it.
fn mark<P: Copy, W: Watch<P>>(law: Law, cx: &mut Context<P, W>, id: Option<PacketId>) -> bool {
    let Some(id) = id.filter(|id| law.ecn && cx.pool.facts(*id).ecn.is_capable()) else { return false };
    cx.pool.facts_mut(id).ecn = Ecn::Marked;
    cx.watch.marked(cx.link, cx.key.time, cx.pool.facts(id), cx.pool.content(id));
    true
}

fn drop<P: Copy, W: Watch<P>>(cx: &mut Context<P, W>, counters: &mut Counters, id: Option<PacketId>) {
    if let Some(id) = id {
        lose(cx, counters, id, Cause::Aqm);
    }
}
