//! FlowQueue-CoDel (RFC 8290): flows hashed to queues, served by deficit round robin, each under CoDel.

use super::codel::{Codel, Law, Source, check_law};
use super::{
    Admission, BYTES_INSTEAD, Coming, DropTail, ECN, INTERVAL, LIMIT, Manage, PACKETS, Queue, TARGET,
};
use crate::check::{Checked, require};
use crate::context::{Context, lose};
use crate::counters::Counters;
use crate::facts::Cause;
use crate::pool::PacketId;
use crate::random::Stream;
use crate::spec::Limit;
use crate::watch::{Backlog, Watch};
use instant::Span;
use params::keys::{BYTES, key, whole};

params::params! {
    /// RFC 8290.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Params: "fq-codel", "Flow queues with controlled delay (RFC 8290).", forms LIMIT {
        limit: Limit = PACKETS, BYTES_INSTEAD;
        target: Span = TARGET;
        interval: Span = INTERVAL;
        flows: u32 =
            key("flows", whole(1, 65_536), "Queues into which flows are hashed (RFC 8290, section 5.2.2).")
                .default("1024");
        quantum_bytes: u32 =
            key("quantum", BYTES, "Bytes that a queue sends in its turn (RFC 8290, section 5.2.3).").default("1514B");
        ecn: bool = ECN;
    }
}

impl Queue for Params {
    type Manager = Box<FqCodel>;
    fn limit(&self) -> Limit {
        self.limit
    }
    fn marks(&self) -> bool {
        self.ecn
    }
    fn check(&self) -> Checked {
        let Params { flows, quantum_bytes, .. } = *self;
        require((1..=1 << 20).contains(&flows), "queue.flows", flows, "from 1 to 1048576")?;
        require(quantum_bytes > 0, "queue.quantum", quantum_bytes, "at least 1 byte")?;
        require(quantum_bytes < 1 << 30, "queue.quantum", quantum_bytes, "below 2^30 bytes")?;
        check_law(self.target, self.interval)
    }
    fn manager(&self, stream: impl Fn() -> Stream) -> Box<FqCodel> {
        Box::new(FqCodel::new(self, stream()))
    }
}

/// Its packets wait in queues of its own.
impl Manage for Box<FqCodel> {
    fn admit<P: Copy, W: Watch<P>>(
        &mut self,
        cx: &mut Context<P, W>,
        counters: &mut Counters,
        packet: Coming,
    ) -> Admission {
        self.enqueue(cx, counters, packet.id, packet.bytes, packet.framing);
        Admission::Taken
    }
    fn take<P: Copy, W: Watch<P>>(
        &mut self,
        cx: &mut Context<P, W>,
        counters: &mut Counters,
        _queue: &mut DropTail,
        framing: u32,
    ) -> Option<PacketId> {
        self.dequeue(cx, counters, framing)
    }
    fn take_any_of_own<P: Copy, W>(&mut self, cx: &Context<P, W>, framing: u32) -> Option<PacketId> {
        self.pop_any(cx, framing)
    }
    fn backlog(&self, _queue: &DropTail) -> Backlog {
        self.backlog
    }
}

const NONE: u32 = u32::MAX;
/// From the fattest queue half is dropped, but no more than so many at once (RFC 8290 section 4.1).
const MOST_DROPPED_AT_ONCE: u32 = 64;

#[derive(Clone, Debug)]
pub(crate) struct FqCodel {
    law: Law,
    quantum: i64,
    limit: Limit,
    perturbation: u64,
    flows: Vec<Flow>,
    new: Ring,
    old: Ring,
    backlog: Backlog,
}

#[derive(Clone, Debug)]
struct Flow {
    queue: DropTail,
    codel: Codel,
    /// Bytes that it may still send in this round.
    deficit: i64,
    /// The next in its ring.
    next: u32,
    active: bool,
}

/// Flows that take turns.
#[derive(Clone, Copy, Debug)]
struct Ring {
    head: u32,
    tail: u32,
}

impl FqCodel {
    fn new(params: &Params, mut stream: Stream) -> FqCodel {
        let Params { limit, target, interval, flows, quantum_bytes, ecn } = *params;
        let law = Law { target, interval, ecn };
        let queue = DropTail::new(Limit::Packets(u32::MAX));
        let flow = Flow { queue, codel: Codel::default(), deficit: 0, next: NONE, active: false };
        let empty = Ring { head: NONE, tail: NONE };
        FqCodel {
            law,
            quantum: quantum_bytes as i64,
            limit,
            perturbation: stream.next_u64(),
            flows: vec![flow; flows.max(1) as usize],
            new: empty,
            old: empty,
            backlog: Backlog::default(),
        }
    }

    /// RFC 8290 section 4.1.
    fn enqueue<P: Copy, W: Watch<P>>(
        &mut self,
        cx: &mut Context<P, W>,
        counters: &mut Counters,
        id: PacketId,
        bytes: u32,
        framing: u32,
    ) {
        let index = self.queue_of(cx.pool.facts(id).flow);
        let flow = &mut self.flows[index as usize];
        flow.codel.saw(bytes);
        flow.queue.push(cx.pool, id, cx.key.time, bytes);
        self.backlog.packets += 1;
        self.backlog.bytes += bytes as u64;
        if !flow.active {
            flow.active = true;
            flow.deficit = self.quantum;
            self.new.push(&mut self.flows, index);
        }
        cx.watch.enqueued(cx.link, cx.key.time, cx.pool.facts(id), cx.pool.content(id), self.backlog);
        if self.is_over_limit() {
            self.drop_from_fattest(cx, counters, framing);
        }
    }

    /// RFC 8290 section 4.2.
    fn dequeue<P: Copy, W: Watch<P>>(
        &mut self,
        cx: &mut Context<P, W>,
        counters: &mut Counters,
        framing: u32,
    ) -> Option<PacketId> {
        loop {
            let (index, is_new) = match (self.new.head, self.old.head) {
                (NONE, NONE) => return None,
                (NONE, old) => (old, false),
                (new, _) => (new, true),
            };
            if self.flows[index as usize].deficit <= 0 {
                self.flows[index as usize].deficit += self.quantum;
                self.leave_ring(is_new);
                self.old.push(&mut self.flows, index);
                continue;
            }
            let flow = &mut self.flows[index as usize];
            let before = flow.queue.backlog();
            let elsewhere_bytes = self.backlog.bytes - before.bytes;
            let source = Source { queue: &mut flow.queue, elsewhere_bytes, framing };
            let taken = flow.codel.dequeue(self.law, cx, counters, source);
            let after = flow.queue.backlog();
            self.backlog.packets -= before.packets - after.packets;
            self.backlog.bytes -= before.bytes - after.bytes;
            if let Some(id) = taken {
                flow.deficit -= cx.pool.facts(id).len as i64 + framing as i64;
                return Some(id);
            }
            self.leave_ring(is_new);
            // A new queue that ran empty takes a turn among the old ones, so that it cannot stay "new" by
            // sending a little at a time.
            match is_new {
                true => self.old.push(&mut self.flows, index),
                false => self.flows[index as usize].active = false,
            }
        }
    }

    /// Everything, in the order of the queues: for what destroys the queue.
    fn pop_any<P: Copy, W>(&mut self, cx: &Context<P, W>, framing: u32) -> Option<PacketId> {
        if self.backlog.packets == 0 {
            return None;
        }
        let id = self.flows.iter_mut().find_map(|flow| flow.queue.pop(cx.pool, framing))?;
        self.backlog.packets -= 1;
        self.backlog.bytes -= cx.pool.facts(id).len as u64 + framing as u64;
        Some(id)
    }

    fn is_over_limit(&self) -> bool {
        match self.limit {
            Limit::Packets(n) => self.backlog.packets > n,
            Limit::Bytes(n) => self.backlog.bytes > n,
        }
    }

    fn drop_from_fattest<P: Copy, W: Watch<P>>(
        &mut self,
        cx: &mut Context<P, W>,
        counters: &mut Counters,
        framing: u32,
    ) {
        // Of equals the first, on every platform.
        let fattest = self.flows.iter_mut().rev().max_by_key(|flow| flow.queue.backlog().bytes);
        let Some(flow) = fattest else { return };
        let half = (flow.queue.backlog().packets / 2).clamp(1, MOST_DROPPED_AT_ONCE);
        for _ in 0..half {
            let Some(id) = flow.queue.pop(cx.pool, framing) else { return };
            self.backlog.packets -= 1;
            self.backlog.bytes -= cx.pool.facts(id).len as u64 + framing as u64;
            lose(cx, counters, id, Cause::QueueFull);
        }
    }

    fn leave_ring(&mut self, is_new: bool) {
        let ring = if is_new { &mut self.new } else { &mut self.old };
        ring.pop(&self.flows);
    }

    /// SplitMix64's last steps over flow and a number that nobody outside knows.
    fn queue_of(&self, flow: u32) -> u32 {
        let z = (flow as u64 ^ self.perturbation).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((z ^ (z >> 31)) as u128 * self.flows.len() as u128) >> 64) as u32
    }
}

impl Ring {
    fn push(&mut self, flows: &mut [Flow], index: u32) {
        flows[index as usize].next = NONE;
        match self.head {
            NONE => self.head = index,
            _ => flows[self.tail as usize].next = index,
        }
        self.tail = index;
    }
    fn pop(&mut self, flows: &[Flow]) {
        if self.head != NONE {
            self.head = flows[self.head as usize].next;
        }
    }
}
