//! Queues: what waits for the transmitter. The packet being sent is not counted.

#[macro_use]
mod listed;

pub mod codel;
pub mod droptail;
pub mod fq_codel;
pub mod red;

pub(crate) use droptail::DropTail;

use crate::check::{Checked, require};
use crate::context::Context;
use crate::counters::Counters;
use crate::pool::PacketId;
use crate::random::Stream;
use crate::spec::Limit;
use crate::watch::{Backlog, Watch};
use instant::Span;
use params::keys::{BYTES, Forms, Key, Kind, Sign, flag, key, whole};
use params::problem::Problems;
use params::{Field, Lines, Values};

// The queues: what a queue is called and whose page it is on. What a file may say of it, its place in the enums and
// the calls follow from this line.
queues! {
    DropTail(droptail),
    Red(red),
    CoDel(codel),
    FqCoDel(fq_codel),
}

/// What a scenario says of a queue, whichever it is; each has its page.
pub(crate) trait Queue: params::Params {
    /// Its state, beside the packets that wait.
    type Manager: Manage;
    /// It looks at packets on their way in or out; without, a link takes the short way.
    const MANAGED: bool = true;
    fn limit(&self) -> Limit;
    /// Does it mark packets that can be marked?
    fn marks(&self) -> bool {
        false
    }
    /// Whether it can be: what its keys allow and a value made in code may not hold.
    fn check(&self) -> Checked;
    /// `stream` begins the queue's own random numbers.
    fn manager(&self, stream: impl Fn() -> Stream) -> Self::Manager;
}

/// A packet that comes to a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coming {
    pub id: PacketId,
    /// Framing included.
    pub bytes: u32,
    pub framing: u32,
    /// How long the link has been idle, and how long the packet will take to be sent, if it is idle and nothing waits.
    pub idle: Option<(Span, Span)>,
    pub waiting_packets: u32,
}

/// What becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// To the link's own chain, if it has room.
    Chain,
    Refused,
    /// The manager has it, or has lost it.
    Taken,
}

/// What manages a queue, other than its limit. RED and CoDel manage the link's own chain, FQ-CoDel has many.
pub(crate) trait Manage {
    fn admit<P: Copy, W: Watch<P>>(
        &mut self,
        _cx: &mut Context<P, W>,
        _counters: &mut Counters,
        _packet: Coming,
    ) -> Admission {
        Admission::Chain
    }
    /// The next packet to send; `queue` is the link's own chain.
    fn take<P: Copy, W: Watch<P>>(
        &mut self,
        cx: &mut Context<P, W>,
        _counters: &mut Counters,
        queue: &mut DropTail,
        framing: u32,
    ) -> Option<PacketId> {
        queue.pop(cx.pool, framing)
    }
    /// Any of those that wait elsewhere than in the link's own chain.
    fn take_any_of_own<P: Copy, W>(&mut self, _cx: &Context<P, W>, _framing: u32) -> Option<PacketId> {
        None
    }
    fn backlog(&self, queue: &DropTail) -> Backlog {
        queue.backlog()
    }
}

impl Default for Manager {
    fn default() -> Manager {
        Manager::DropTail(droptail::Unmanaged)
    }
}

// ---- what queues have in common ----

const PACKETS: Key = key(
    "packets",
    whole(1, u32::MAX as u64),
    "Packets that fit; the one being sent is not counted. Where neither `packets` nor `bytes` is said, 1000.",
)
.absent("see `bytes`");
const BYTES_INSTEAD: Key = key("bytes", BYTES, "Bytes that fit, instead of packets.").absent("see `packets`");
const LIMIT: Forms = Forms { sets: &[&["packets"], &["bytes"]], beside: &[], required: false };
const ECN: Key = flag(
    "ecn",
    "Marks packets that can be marked instead of dropping them (RFC 3168). Simulated endpoints send none: it is for \
     the kernels of the live bench, with `net.ipv4.tcp_ecn=1`.",
)
.default("false");
const TARGET: Key =
    key("target", Kind::Time(Sign::Positive), "Acceptable standing queue delay (RFC 8289, section 4.3).")
        .default("5ms");
const INTERVAL: Key = key(
    "interval",
    Kind::Time(Sign::Positive),
    "How long the delay may lie above the target before the first drop (RFC 8289, section 4.2).",
)
.default("100ms");

/// Two keys, `packets` and `bytes`, of which one is said.
impl Field for Limit {
    fn read(v: &Values, _: &Key, _: &mut Problems) -> Option<Limit> {
        match (v.item("packets"), v.item("bytes")) {
            (Some(packets), _) => Some(Limit::Packets(packets.whole()? as u32)),
            (None, Some(_)) => Some(Limit::Bytes(v.bytes("bytes")?)),
            (None, None) => Some(Limit::default()),
        }
    }
    fn write(&self, _: &Key, out: &mut Lines) {
        match *self {
            Limit::Packets(n) => out.whole("packets", n.into()),
            Limit::Bytes(n) => out.bytes("bytes", n),
        }
    }
}

impl Limit {
    fn check(self) -> Checked {
        match self {
            Limit::Packets(n) => require(n > 0, "queue.packets", n, "at least 1"),
            Limit::Bytes(n) => require(n > 0, "queue.bytes", n, "at least 1"),
        }
    }
}
