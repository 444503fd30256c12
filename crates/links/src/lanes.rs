//! Lanes: flights that links share.
//!
//! What leaves links of one rate and delay, in frames of about one size, arrives in the order in which it left. Such
//! packets fly in one lane, first in first out, and the first of a lane is the next of them all: that needs no event
//! queue, however many links there are. Whoever would arrive before the last of its lane flies alone, in its link's own
//! flight. Keys are the same in either, and so is the order of events.

use crate::facts::LinkId;
use crate::key::Key;
use crate::line::Line;
use crate::pool::{PacketId, Pool};

/// Kinds of links that have lanes.
pub const KINDS: usize = 4;
/// One for large frames of each kind, one for small ones: ACKs are as long as each other, or nearly.
const LANES: usize = KINDS * 2;
const SMALL_BYTES: u32 = 512;
/// So many packets ahead of its turn a packet is asked for.
const LEAD: u32 = 4;

#[derive(Clone, Debug)]
pub struct Lanes {
    lanes: [Lane; LANES],
    /// More than the first four are in use.
    many: bool,
    least: Key,
    /// Whose that is.
    first: usize,
}

#[derive(Clone, Copy, Debug)]
struct Lane {
    line: Line,
    /// When the last that was put in arrives.
    last: Key,
    /// A packet up to [`LEAD`] behind the head, and how far it is.
    ahead: PacketId,
    lead: u32,
}

impl Default for Lanes {
    fn default() -> Lanes {
        let lane = Lane { line: Line::default(), last: Key::FIRST, ahead: PacketId::NONE, lead: 0 };
        Lanes { lanes: [lane; LANES], many: false, least: Key::NEVER, first: 0 }
    }
}

impl Lanes {
    /// For a frame of a link of this kind.
    #[inline(always)]
    pub(crate) fn put<P: Copy>(
        &mut self,
        (kind, bytes): (u8, u32),
        pool: &mut Pool<P>,
        link: LinkId,
        id: PacketId,
        key: Key,
    ) -> bool {
        let number = (usize::from(kind) * 2 + usize::from(bytes < SMALL_BYTES)) % LANES;
        let lane = &mut self.lanes[number];
        if !lane.last.is_before(key) {
            return false;
        }
        lane.last = key;
        pool.parcel_mut(id).link = link;
        if lane.line.head().is_none() {
            (lane.ahead, lane.lead) = (id, 0);
            if key.is_before(self.least) {
                (self.least, self.first) = (key, number);
            }
            self.many |= number >= LANES / 2;
        }
        lane.line.push(pool, id, key);
        true
    }

    /// When the next packet arrives; [`Key::NEVER`] if none flies here.
    #[inline(always)]
    pub fn next(&self) -> Key {
        self.least
    }

    /// The packet that arrives, and the link that it leaves.
    #[inline(always)]
    pub fn pop<P: Copy>(&mut self, pool: &Pool<P>) -> Option<(PacketId, LinkId)> {
        let lane = &mut self.lanes[self.first % LANES];
        let id = lane.line.pop(pool)?;
        // Whose turn comes next: with a hundred flows it is no more in the nearest cache.
        if let Some(head) = lane.line.head() {
            pool.prefetch(pool.parcel(head).next);
        }
        match lane.lead {
            0 => lane.ahead = lane.line.head().unwrap_or(PacketId::NONE),
            _ => lane.lead -= 1,
        }
        self.find_least();
        Some((id, pool.parcel(id).link))
    }

    #[inline(always)]
    fn find_least(&mut self) {
        let of_four = least(self.of_two(0), self.of_two(2));
        let of_all = if self.many { least(of_four, least(self.of_two(4), self.of_two(6))) } else { of_four };
        (self.least, self.first) = of_all;
    }

    #[inline(always)]
    fn of_two(&self, number: usize) -> (Key, usize) {
        least((self.lanes[number].line.next(), number), (self.lanes[number + 1].line.next(), number + 1))
    }

    /// Before [`Lanes::pop`]: the packet behind the one that arrives now, and those that come so near now that they are
    /// to be asked for, with their links.
    #[inline]
    pub fn look_ahead<P: Copy>(
        &mut self,
        pool: &Pool<P>,
        mut near: impl FnMut(PacketId, LinkId),
    ) -> Option<(PacketId, LinkId)> {
        let lane = &mut self.lanes[self.first % LANES];
        let head = lane.line.head()?;
        while lane.lead < LEAD {
            let next = pool.parcel(lane.ahead).next;
            if next == PacketId::NONE {
                break;
            }
            (lane.ahead, lane.lead) = (next, lane.lead + 1);
            let parcel = pool.parcel(next);
            pool.prefetch(parcel.next);
            near(next, parcel.link);
        }
        let second = pool.parcel(head).next;
        (second != PacketId::NONE).then(|| (second, pool.parcel(second).link))
    }

    /// The links of all packets that fly here.
    pub fn under_way<P: Copy>(&self, pool: &Pool<P>) -> impl Iterator<Item = LinkId> {
        let chains = self.lanes.iter().map(|lane| lane.line.head());
        let behind = move |id: &PacketId| {
            let next = pool.parcel(*id).next;
            (next != PacketId::NONE).then_some(next)
        };
        chains.flat_map(move |head| std::iter::successors(head, behind)).map(|id| pool.parcel(id).link)
    }
}

/// Without a branch: which one is the first cannot be predicted.
#[inline(always)]
fn least(one: (Key, usize), other: (Key, usize)) -> (Key, usize) {
    let swap = other.0.is_before(one.0);
    let key = Key {
        time: if swap { other.0.time } else { one.0.time },
        order: if swap { other.0.order } else { one.0.order },
    };
    (key, if swap { other.1 } else { one.1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Facts;
    use crate::random::Stream;
    use instant::Time;

    #[test]
    fn what_is_put_in_comes_out_in_order_and_who_would_overtake_is_not_taken() {
        let mut stream = Stream::new(1, "lanes", "test");
        let (mut lanes, mut pool) = (Lanes::default(), Pool::default());
        let (mut inside, mut refused, mut before) = (Vec::new(), 0, Key::FIRST);
        for order in 0..20_000u64 {
            let (kind, bytes) = (stream.below(KINDS as u64) as u8, 1 + stream.below(1500) as u32);
            let now = before.time.max(Time::ZERO);
            let key =
                Key { time: Time(now.0 + 100 * (1 + i64::from(kind)) + stream.below(40) as i64), order };
            let id = pool.put(Facts::default(), 0, 1, order);
            if lanes.put((kind, bytes), &mut pool, LinkId(kind.into()), id, key) {
                inside.push((key.time, order, LinkId(kind.into())));
            } else {
                refused += 1;
                let lane = &lanes.lanes[usize::from(kind) * 2 + usize::from(bytes < SMALL_BYTES)];
                assert!(key.is_before(lane.last));
                pool.free(id);
            }
            while inside.len() > 50 || (order == 19_999 && !inside.is_empty()) {
                inside.sort();
                let (time, order, link) = inside.remove(0);
                assert_eq!(lanes.next(), Key { time, order });
                assert_eq!(lanes.under_way(&pool).count(), inside.len() + 1);
                if stream.chance(0.5) {
                    lanes.look_ahead(&pool, |_, _| {});
                }
                let (id, of) = lanes.pop(&pool).unwrap();
                assert_eq!((*pool.content(id), of), (order, link));
                pool.free(id);
                before = Key { time, order };
            }
        }
        assert!(refused > 1000, "{refused}");
        assert_eq!((lanes.next(), lanes.pop(&pool)), (Key::NEVER, None));
    }
}
