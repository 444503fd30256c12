//! First in, first out; who finds no room is dropped.

use super::{BYTES_INSTEAD, LIMIT, Manage, PACKETS, Queue};
use crate::check::Checked;
use crate::pool::{Chain, PacketId, Pool};
use crate::random::Stream;
use crate::spec::Limit;
use crate::watch::Backlog;
use instant::Time;

params::params! {
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct Params: "droptail", "First in, first out; what does not fit is dropped.", forms LIMIT {
        limit: Limit = PACKETS, BYTES_INSTEAD;
    }
}

impl Queue for Params {
    type Manager = Unmanaged;
    const MANAGED: bool = false;
    fn limit(&self) -> Limit {
        self.limit
    }
    fn check(&self) -> Checked {
        Ok(())
    }
    fn manager(&self, _: impl Fn() -> Stream) -> Unmanaged {
        Unmanaged
    }
}

/// The chain and its limit are all there is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unmanaged;

impl Manage for Unmanaged {}

/// A chain with a limit. Also what RED and CoDel manage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DropTail {
    chain: Chain,
    backlog: Backlog,
    most_packets: u32,
    most_bytes: u64,
}

impl DropTail {
    pub fn new(limit: Limit) -> DropTail {
        let (most_packets, most_bytes) = match limit {
            Limit::Packets(n) => (n, u64::MAX),
            Limit::Bytes(n) => (u32::MAX, n),
        };
        DropTail { chain: Chain::default(), backlog: Backlog::default(), most_packets, most_bytes }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.backlog.packets == 0
    }
    #[inline]
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }
    #[inline]
    pub fn has_room(&self, bytes: u32) -> bool {
        self.backlog.packets < self.most_packets && self.backlog.bytes + bytes as u64 <= self.most_bytes
    }
    #[inline]
    pub fn push<P: Copy>(&mut self, pool: &mut Pool<P>, id: PacketId, now: Time, bytes: u32) {
        self.chain.push(pool, id).key.time = now;
        self.backlog.packets += 1;
        self.backlog.bytes += bytes as u64;
    }
    /// The head; `framing` is what each packet weighs besides its length.
    #[inline(always)]
    pub fn pop<P: Copy>(&mut self, pool: &Pool<P>, framing: u32) -> Option<PacketId> {
        let id = self.chain.pop(pool)?;
        // The next one's turn comes next: with 10,000 flows nothing of it is in the cache, and waiting for it is most of
        // what a packet costs there.
        if let Some(next) = self.chain.head() {
            pool.prefetch(next);
        }
        self.backlog.packets -= 1;
        self.backlog.bytes -= pool.facts(id).len as u64 + framing as u64;
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Facts;

    fn of(pool: &mut Pool<()>, len: u32) -> PacketId {
        pool.put(Facts { len, ..Facts::default() }, 0, 0, ())
    }

    #[test]
    fn holds_as_many_packets_as_its_limit_and_gives_them_back_in_order() {
        let mut pool = Pool::default();
        let mut queue = DropTail::new(Limit::Packets(3));
        let ids: Vec<PacketId> = (0..3).map(|_| of(&mut pool, 100)).collect();
        for id in &ids {
            assert!(queue.has_room(102));
            queue.push(&mut pool, *id, Time(1), 102);
        }
        assert!(!queue.has_room(1));
        assert_eq!(queue.backlog(), Backlog { packets: 3, bytes: 306 });
        let out: Vec<PacketId> = std::iter::from_fn(|| queue.pop(&pool, 2)).collect();
        assert_eq!(out, ids);
        assert_eq!(queue.backlog(), Backlog::default());
        assert!(queue.is_empty());
    }

    #[test]
    fn a_limit_in_bytes_is_met_exactly() {
        let mut pool = Pool::default();
        let mut queue = DropTail::new(Limit::Bytes(1000));
        let id = of(&mut pool, 600);
        queue.push(&mut pool, id, Time(0), 600);
        assert!(queue.has_room(400));
        assert!(!queue.has_room(401));
    }
}
