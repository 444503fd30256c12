//! Where packets lie while links have them: one slab for all links of a net, chains through it.
//!
//! A link's queue and its flight are chains of packet numbers, so that a packet is written once when it is sent
//! and read once when it arrives, however many links lie between, and an idle link owns no memory.

use crate::facts::{Facts, LinkId};
use crate::key::Key;
use crate::memory;

/// A packet's place in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PacketId(pub u32);

impl PacketId {
    pub(crate) const NONE: PacketId = PacketId(u32::MAX);
}

/// What a link needs to know of a packet inside it. What every link looks at is in the first 32 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Parcel {
    /// When it arrives, once it is on its way; while it waits in a queue, its time is when it came there.
    pub key: Key,
    pub next: PacketId,
    /// Where it goes, for the net.
    pub to: u32,
    /// The link that it is on, if it flies in a lane with packets of other links.
    pub link: LinkId,
    pub facts: Facts,
    /// Whence it came.
    pub from: u32,
}

impl Parcel {
    #[inline(always)]
    fn new(facts: Facts, from: u32, to: u32) -> Parcel {
        Parcel { key: Key::NEVER, next: PacketId::NONE, to, link: LinkId(0), facts, from }
    }
}

/// All packets that are in any link of a net.
#[derive(Clone, Debug)]
pub struct Pool<P> {
    slots: Vec<Slot<P>>,
    free: PacketId,
    used: usize,
}

/// What links look at lies in one line of the cache, wherever the slot begins; the content is read when it has arrived.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
struct Slot<P> {
    parcel: Parcel,
    content: P,
}

impl<P> Default for Pool<P> {
    fn default() -> Pool<P> {
        Pool { slots: Vec::new(), free: PacketId::NONE, used: 0 }
    }
}

impl<P: Copy> Pool<P> {
    /// How many packets are inside.
    pub fn len(&self) -> usize {
        self.used
    }
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// The packets that are inside, by place.
    pub fn inside(&self) -> impl Iterator<Item = PacketId> + '_ {
        let mut used = vec![true; self.slots.len()];
        let mut free = self.free;
        while let Some(slot) = self.slots.get(free.0 as usize) {
            used[free.0 as usize] = false;
            free = slot.parcel.next;
        }
        (0..).zip(used).filter_map(|(at, used)| used.then_some(PacketId(at)))
    }

    #[inline]
    pub fn put(&mut self, facts: Facts, from: u32, to: u32, content: P) -> PacketId {
        let parcel = Parcel::new(facts, from, to);
        self.used += 1;
        let id = self.free;
        if id == PacketId::NONE {
            return self.grow(Slot { parcel, content });
        }
        let slot = &mut self.slots[id.0 as usize];
        self.free = slot.parcel.next;
        *slot = Slot { parcel, content };
        id
    }

    /// A packet that is written where it will lie, without a copy. What is there first is whatever the last packet
    /// left behind. `None` if nothing was written.
    #[inline(always)]
    pub fn put_written(
        &mut self,
        from: u32,
        to: u32,
        write: impl FnOnce(&mut P) -> Option<Facts>,
    ) -> Option<PacketId>
    where
        P: Default,
    {
        if self.free == PacketId::NONE {
            self.free =
                self.grow(Slot { parcel: Parcel::new(Facts::default(), 0, 0), content: P::default() });
        }
        let id = self.free;
        let slot = self.slots.get_mut(id.0 as usize)?;
        let facts = write(&mut slot.content)?;
        self.free = slot.parcel.next;
        self.used += 1;
        // The rest is written when it comes into a chain.
        let parcel = &mut slot.parcel;
        (parcel.facts, parcel.from, parcel.to) = (facts, from, to);
        Some(id)
    }

    #[cold]
    fn grow(&mut self, slot: Slot<P>) -> PacketId {
        if self.slots.len() == self.slots.capacity() {
            self.make_room();
        }
        self.slots.push(slot);
        // 2^32 packets would be 600 GB: memory ends first.
        PacketId((self.slots.len() - 1) as u32)
    }

    /// Much, so that it is rare: room that nothing is in takes no memory, but while all moves it is there twice, and
    /// with 100,000 flows the pool is most of the memory.
    fn make_room(&mut self) {
        let packets = self.slots.len();
        let mut larger = Vec::new();
        if larger.try_reserve_exact(packets * 4 + 64).is_err() {
            larger.reserve_exact(packets + packets / 4 + 64);
        }
        // Before anything is in it: what has a page keeps it.
        memory::prefer_large_pages(&mut larger);
        larger.append(&mut self.slots);
        self.slots = larger;
    }

    /// Takes it out of the pool. It must be in no chain.
    #[inline]
    pub fn free(&mut self, id: PacketId) {
        self.slots[id.0 as usize].parcel.next = self.free;
        self.free = id;
        self.used -= 1;
    }

    /// A link will ask for the packet soon.
    #[inline(always)]
    pub(crate) fn prefetch(&self, id: PacketId) {
        if let Some(slot) = self.slots.get(id.0 as usize) {
            memory::prefetch(&slot.parcel);
        }
    }

    /// The packet is about to arrive.
    #[inline(always)]
    pub fn prefetch_all(&self, id: PacketId) {
        if let Some(slot) = self.slots.get(id.0 as usize) {
            memory::prefetch(slot);
        }
    }

    pub fn copy(&mut self, id: PacketId) -> PacketId {
        let Slot { parcel: p, content } = self.slots[id.0 as usize];
        self.put(p.facts, p.from, p.to, content)
    }

    #[inline]
    pub fn content(&self, id: PacketId) -> &P {
        &self.slots[id.0 as usize].content
    }
    #[inline]
    pub fn facts(&self, id: PacketId) -> &Facts {
        &self.slots[id.0 as usize].parcel.facts
    }
    #[inline]
    pub fn facts_mut(&mut self, id: PacketId) -> &mut Facts {
        &mut self.slots[id.0 as usize].parcel.facts
    }
    #[inline]
    pub fn from_to(&self, id: PacketId) -> (u32, u32) {
        let p = &self.slots[id.0 as usize].parcel;
        (p.from, p.to)
    }
    #[inline]
    pub(crate) fn parcel(&self, id: PacketId) -> &Parcel {
        &self.slots[id.0 as usize].parcel
    }
    #[inline]
    pub(crate) fn parcel_mut(&mut self, id: PacketId) -> &mut Parcel {
        &mut self.slots[id.0 as usize].parcel
    }
}

/// A chain of packets, first in first out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    head: PacketId,
    tail: PacketId,
}

impl Default for Chain {
    fn default() -> Chain {
        Chain { head: PacketId::NONE, tail: PacketId::NONE }
    }
}

impl Chain {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == PacketId::NONE
    }
    #[inline]
    pub fn head(&self) -> Option<PacketId> {
        (self.head != PacketId::NONE).then_some(self.head)
    }
    /// Gives what is pushed, which most often has more to be written.
    #[inline(always)]
    pub fn push<'a, P: Copy>(&mut self, pool: &'a mut Pool<P>, id: PacketId) -> &'a mut Parcel {
        match self.is_empty() {
            true => self.head = id,
            false => pool.parcel_mut(self.tail).next = id,
        }
        self.tail = id;
        let parcel = pool.parcel_mut(id);
        parcel.next = PacketId::NONE;
        parcel
    }
    #[inline(always)]
    pub fn pop<P: Copy>(&mut self, pool: &Pool<P>) -> Option<PacketId> {
        let id = self.head()?;
        self.head = pool.parcel(id).next;
        Some(id)
    }
}
