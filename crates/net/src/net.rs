//! The net: links, routes, timers, and the order of what happens.

use crate::agenda::Agenda;
use crate::routes::Routes;
use crate::timers::Timers;
use crate::topology::{BuildError, Duplex, NodeId, TimerId, Topology};
use instant::Time;
use links::lanes::KINDS;
use links::memory;
use links::watch::Backlog;
use links::{Context, Counters, Facts, Key, Lanes, Link, LinkId, Orders, PacketId, Pool, Tallies, Watch};
use std::collections::BTreeMap;

/// What the owner of a net hears of, with its packet still in the net: see [`Net::content`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// A packet reached the node that it was sent to. It stays where it lies until the next step.
    Arrived {
        at: NodeId,
        packet: PacketId,
    },
    Timer(TimerId),
}

/// The same with its packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<P> {
    /// A packet reached the node that it was sent to.
    Arrived {
        at: NodeId,
        from: NodeId,
        facts: Facts,
        packet: P,
    },
    Timer(TimerId),
}

/// A graph of links under a passed-in clock, carrying packets of `P`.
#[derive(Clone, Debug)]
pub struct Net<P> {
    links: Vec<Link>,
    /// By pair of links: when its first packet came, where a schedule waited for it.
    anchors: BTreeMap<usize, Time>,
    /// By link, the node at its far end: of a packet that flew in a lane no more is asked of its link.
    ends: Vec<NodeId>,
    routes: Routes,
    pool: Pool<P>,
    lanes: Lanes,
    has_lanes: bool,
    orders: Orders,
    agenda: Agenda,
    timers: Timers,
    /// The event that is being handled, or was handled last.
    here: Key,
    /// The packet that the owner was told of last; its place is free from the next step on.
    landed: Option<PacketId>,
    unroutable: u64,
}

/// With fewer links all that events need stays in the cache, and looking ahead costs more than it gains.
const LARGE: usize = 2048;

/// With so few links the event queue costs less than lanes do.
const FEW: usize = 4;

impl<P: Copy> Net<P> {
    pub fn new(topology: &Topology, seed: u64) -> Result<Net<P>, BuildError> {
        Net::with(topology, seed, topology.links.len() * 2 > FEW)
    }

    fn with(topology: &Topology, seed: u64, has_lanes: bool) -> Result<Net<P>, BuildError> {
        topology.check()?;
        let mut links = Vec::with_capacity(topology.links.len() * 2);
        memory::prefer_large_pages(&mut links);
        links.extend(topology.links.iter().flat_map(|duplex| both(duplex, seed)));
        if has_lanes {
            share_lanes(topology, &mut links);
        }
        Ok(Net {
            agenda: match links.len() {
                LARGE.. => Agenda::looking_ahead(links.len()),
                few => Agenda::new(few),
            },
            links,
            anchors: BTreeMap::new(),
            ends: topology.links.iter().flat_map(|duplex| [duplex.between.1, duplex.between.0]).collect(),
            routes: Routes::new(topology),
            pool: Pool::default(),
            lanes: Lanes::default(),
            has_lanes,
            orders: Orders::default(),
            timers: Timers::default(),
            here: Key { time: Time::ZERO, order: 0 },
            landed: None,
            unroutable: 0,
        })
    }

    /// Sends a packet. `now` is the time of the event being handled, or later, but not past the next event.
    /// False if no way leads there (or the packet is there already): nothing is sent.
    #[inline(always)]
    pub fn send<W: Watch<P>>(
        &mut self,
        now: Time,
        from: NodeId,
        to: NodeId,
        facts: Facts,
        packet: P,
        watch: &mut W,
    ) -> bool {
        self.advance(now);
        let Some(link) = self.way_out(from, to) else {
            self.unroutable += 1;
            return false;
        };
        let id = self.pool.put(facts, from.0, to.0, packet);
        self.offer(link, id, watch);
        true
    }

    /// The first link on the way from one node to another: ways do not change.
    pub fn way_out(&mut self, from: NodeId, to: NodeId) -> Option<LinkId> {
        if from == to { None } else { self.routes.next_hop(from, to) }
    }

    /// [`Net::send`] of a packet that is written where it lies, over what an earlier one left there, by a way that
    /// [`Net::way_out`] gave. False if nothing was written.
    #[inline(always)]
    pub fn send_written<W: Watch<P>>(
        &mut self,
        now: Time,
        out: Option<LinkId>,
        (from, to): (NodeId, NodeId),
        watch: &mut W,
        write: impl FnOnce(&mut P, &mut W) -> Option<Facts>,
    ) -> bool
    where
        P: Default,
    {
        let Some(id) = self.pool.put_written(from.0, to.0, |packet| write(packet, watch)) else {
            return false;
        };
        self.advance(now);
        match out {
            Some(link) => self.offer(link, id, watch),
            None => {
                self.pool.free(id);
                self.unroutable += 1;
            }
        }
        true
    }

    /// `None` stops it. A timer set for the past fires now.
    #[inline(always)]
    pub fn set_timer(&mut self, id: TimerId, at: Option<Time>) {
        let deadline = match at {
            Some(time) => Key { time: time.max(self.here.time), order: self.orders.take() },
            None => Key::NEVER,
        };
        self.timers.set(id, deadline);
    }

    /// When a timer fires, if it runs.
    pub fn timer(&self, id: TimerId) -> Option<Time> {
        let deadline = self.timers.deadline(id);
        (deadline != Key::NEVER).then_some(deadline.time)
    }

    /// The time of the next event, inner ones (a packet goes on to its next link) included; `None` if nothing will
    /// ever happen unless something is sent or a timer is set.
    #[allow(clippy::should_implement_trait)] // a net is no iterator: stepping needs a watcher
    pub fn next(&mut self) -> Option<Time> {
        self.timers.settle();
        self.agenda.close();
        let key = self.agenda.first_key().earlier(self.lanes.next()).earlier(self.timers.first_look());
        (key != Key::NEVER).then_some(key.time)
    }

    /// Handles events until one concerns the owner.
    pub fn step<W: Watch<P>>(&mut self, watch: &mut W) -> Option<(Time, Event<P>)> {
        self.step_until(Time(i64::MAX - 1), watch)
    }

    /// The same, but nothing after `limit`: `None` if no event up to then concerns the owner.
    pub fn step_until<W: Watch<P>>(&mut self, limit: Time, watch: &mut W) -> Option<(Time, Event<P>)> {
        let (time, step) = self.advance_until(limit, watch)?;
        let event = match step {
            Step::Timer(id) => Event::Timer(id),
            Step::Arrived { at, packet: id } => {
                let (from, facts, packet) = (self.from(id), *self.facts(id), *self.content(id));
                self.take_away();
                Event::Arrived { at, from, facts, packet }
            }
        };
        Some((time, event))
    }

    /// The same without a copy of the packet.
    #[inline]
    pub fn advance_until<W: Watch<P>>(&mut self, limit: Time, watch: &mut W) -> Option<(Time, Step)> {
        self.take_away();
        loop {
            self.agenda.close();
            let (link, look) = (self.agenda.first_key(), self.timers.first_look());
            let is_link = link.is_before(look);
            let mut key = if is_link { link } else { look };
            let is_lane = self.has_lanes && self.lanes.next().is_before(key);
            if is_lane {
                key = self.lanes.next();
            }
            if key.time > limit {
                return None;
            }
            // A look that finds nothing due is no event, but its time has come all the same.
            self.here = key;
            let step = match is_link {
                _ if is_lane => self.land(watch),
                true => self.fire_link(watch),
                false => self.timers.look().map(Step::Timer),
            };
            if let Some(step) = step {
                return Some((key.time, step));
            }
        }
    }

    /// Of a packet that arrived in this step.
    #[inline]
    pub fn content(&self, id: PacketId) -> &P {
        self.pool.content(id)
    }
    #[inline]
    pub fn facts(&self, id: PacketId) -> &Facts {
        self.pool.facts(id)
    }
    pub fn from(&self, id: PacketId) -> NodeId {
        NodeId(self.pool.from_to(id).0)
    }

    #[inline]
    fn take_away(&mut self) {
        if let Some(id) = self.landed.take() {
            self.pool.free(id);
        }
    }

    /// The time of the event being handled, or handled last.
    pub fn now(&self) -> Time {
        self.here.time
    }

    /// The links from one node to another, in order; `None` if no way leads there.
    pub fn route(&mut self, from: NodeId, to: NodeId) -> Option<Vec<LinkId>> {
        let mut links = Vec::new();
        let mut here = from;
        while here != to {
            let link = self.routes.next_hop(here, to)?;
            links.push(link);
            here = *self.ends.get(link.index())?;
        }
        Some(links)
    }

    /// Directions of links: twice the topology's links.
    pub fn links(&self) -> usize {
        self.links.len()
    }
    /// The counters of a link; all zero for one that there is not.
    pub fn counters(&self, link: LinkId) -> Counters {
        let mut counters = self.links.get(link.index()).map(|l| *l.counters()).unwrap_or_default();
        counters.delivered -= self.lanes.under_way(&self.pool).filter(|on| *on == link).count() as u64;
        counters
    }
    /// Those of all links, by pair: forward, back.
    pub fn counters_of_pairs(&self) -> Vec<[Counters; 2]> {
        let mut all: Vec<_> =
            self.links.chunks_exact(2).map(|p| [*p[0].counters(), *p[1].counters()]).collect();
        for link in self.lanes.under_way(&self.pool) {
            all[link.pair()][usize::from(!link.is_forward())].delivered -= 1;
        }
        all
    }
    /// What the channels and retries of a link met.
    pub fn tallies(&self, link: LinkId) -> Tallies {
        self.links.get(link.index()).map(|l| l.tallies()).unwrap_or_default()
    }
    /// When a link's first packet came, where a schedule waited for it.
    pub fn anchored(&self, link: LinkId) -> Option<Time> {
        self.anchors.get(&link.pair()).copied()
    }
    /// What waits in the queue of a link.
    pub fn backlog(&self, link: LinkId) -> Backlog {
        self.links.get(link.index()).map(|l| l.backlog()).unwrap_or_default()
    }
    /// Packets inside links, all together.
    pub fn inside(&self) -> usize {
        self.pool.len() - usize::from(self.landed.is_some())
    }
    /// Each of them, with the node that it goes to.
    pub fn under_way(&self) -> impl Iterator<Item = (NodeId, &Facts, &P)> {
        let inside = self.pool.inside().filter(|id| Some(*id) != self.landed);
        inside.map(|id| (NodeId(self.pool.from_to(id).1), self.pool.facts(id), self.pool.content(id)))
    }
    /// Packets that were to be sent where no way leads.
    pub fn unroutable(&self) -> u64 {
        self.unroutable
    }
    /// Events scheduled so far.
    pub fn scheduled(&self) -> u64 {
        self.orders.taken()
    }

    /// What is done at a later time than that of the last event comes after all that was scheduled for it so far.
    #[inline]
    fn advance(&mut self, now: Time) {
        debug_assert!(now >= self.here.time, "{now} is before {}", self.here.time);
        if now > self.here.time {
            self.here = Key { time: now, order: self.orders.take() };
        }
    }

    /// The first of what flies in lanes arrives. Apart, so that a net without lanes keeps its registers.
    #[inline(never)]
    fn land<W: Watch<P>>(&mut self, watch: &mut W) -> Option<Step> {
        if self.agenda.looks_ahead() {
            self.look_ahead_in_lanes(watch);
        }
        let (id, link) = self.lanes.pop(&self.pool)?;
        if W::IS_ON {
            watch.delivered(link, self.here.time, self.pool.facts(id), self.pool.content(id));
        }
        self.pass_on(*self.ends.get(link.index())?, id, watch)
    }

    #[inline]
    fn fire_link<W: Watch<P>>(&mut self, watch: &mut W) -> Option<Step> {
        let source = self.agenda.first_source();
        let link = self.links.get_mut(source as usize)?;
        let mut cx = Context {
            link: LinkId(source),
            key: self.here,
            orders: &mut self.orders,
            pool: &mut self.pool,
            lanes: &mut self.lanes,
            watch,
        };
        let arrived = link.fire(&mut cx);
        let next = link.next();
        let step = match arrived {
            Some(id) => {
                self.agenda.set_first(next);
                self.pass_on(*self.ends.get(source as usize)?, id, watch)
            }
            None => {
                self.agenda.set_first(next);
                None
            }
        };
        if self.agenda.looks_ahead() {
            self.look_ahead(watch);
        }
        step
    }

    /// Memory that is asked for in time is not waited for: with thousands of flows little of what an event needs is in
    /// the cache. A link is fetched a few dozen events ahead, the packet that arrives at its end a few events ahead,
    /// and what it meets there when it is next.
    #[inline(never)]
    fn look_ahead<W: Watch<P>>(&mut self, watch: &W) {
        self.agenda.close();
        if self.agenda.take_cleared() {
            for link in self.agenda.later().filter_map(|source| self.links.get(source as usize)) {
                link.prefetch();
            }
            for link in self.agenda.soon().filter_map(|source| self.links.get(source as usize)) {
                link.prefetch_head(&self.pool);
            }
        }
        if let Some((_, source)) = self.agenda.first()
            && let Some(link) = self.links.get(source as usize)
            && let Some(head) = link.head(&self.pool)
        {
            let (end, to) = (self.ends[source as usize], NodeId(self.pool.from_to(head).1));
            if to == end {
                watch.coming(self.pool.content(head));
            } else if let Some(next) = self.routes.next_hop(end, to)
                && let Some(next) = self.links.get(next.index())
            {
                next.prefetch();
            }
        }
    }

    /// The same of lanes: the packet that arrives, or the link that it goes on to, a few packets ahead; what it meets
    /// when it is the one after the next.
    #[inline(never)]
    fn look_ahead_in_lanes<W: Watch<P>>(&mut self, watch: &W) {
        let Net { lanes, pool, routes, links, ends, .. } = self;
        let second = lanes.look_ahead(pool, |id, link| {
            let (end, to) = (ends[link.index()], NodeId(pool.from_to(id).1));
            if to == end {
                pool.prefetch_all(id);
            } else if let Some(next) = routes.next_hop(end, to)
                && let Some(next) = links.get(next.index())
            {
                next.prefetch();
            }
        });
        if let Some((id, link)) = second
            && pool.from_to(id).1 == ends[link.index()].0
        {
            watch.coming(pool.content(id));
        }
    }

    /// A packet came to the end of a link: it is there, or goes on.
    #[inline(always)]
    fn pass_on<W: Watch<P>>(&mut self, at: NodeId, id: PacketId, watch: &mut W) -> Option<Step> {
        let (_, to) = self.pool.from_to(id);
        if at.0 == to {
            self.landed = Some(id);
            return Some(Step::Arrived { at, packet: id });
        }
        match self.routes.next_hop(at, NodeId(to)) {
            Some(link) => self.offer(link, id, watch),
            None => self.pool.free(id),
        }
        None
    }

    /// The first packet that a link and its twin see.
    #[cold]
    fn anchor(&mut self, id: LinkId) {
        self.anchors.insert(id.pair(), self.here.time);
        for direction in [id, id.twin()] {
            self.links[direction.index()].anchor(self.here.time);
        }
    }

    #[inline]
    fn offer<W: Watch<P>>(&mut self, id: LinkId, packet: PacketId, watch: &mut W) {
        if self.links[id.index()].awaits_anchor() {
            self.anchor(id);
        }
        let link = &mut self.links[id.index()];
        let mut cx = Context {
            link: id,
            key: self.here,
            orders: &mut self.orders,
            pool: &mut self.pool,
            lanes: &mut self.lanes,
            watch,
        };
        if link.offer(&mut cx, packet) {
            self.agenda.set(id.0, link.next());
        }
    }
}

/// The commonest kinds of plain links share lanes: those of one rate and delay.
fn share_lanes(topology: &Topology, links: &mut [Link]) {
    let specs = || topology.links.iter().flat_map(|duplex| [&duplex.forward, &duplex.back]);
    let mut counts = BTreeMap::new();
    for (spec, _) in specs().zip(&*links).filter(|(_, link)| link.is_plain()) {
        *counts.entry((spec.rate_bps, spec.delay)).or_insert(0) += 1;
    }
    let mut kinds: Vec<_> = counts.into_iter().collect();
    kinds.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (spec, link) in specs().zip(links).filter(|(_, link)| link.is_plain()) {
        let kind = kinds.iter().take(KINDS).position(|(kind, _)| *kind == (spec.rate_bps, spec.delay));
        if let Some(kind) = kind {
            link.share_lanes(kind as u8);
        }
    }
}

fn both(duplex: &Duplex, seed: u64) -> [Link; 2] {
    let mut forward = Link::new(&duplex.forward, &duplex.name, true, seed);
    let mut back = Link::new(&duplex.back, &duplex.name, false, seed);
    if forward.awaits_anchor() || back.awaits_anchor() {
        forward.await_anchor();
        back.await_anchor();
    }
    [forward, back]
}

#[cfg(test)]
mod tests;
