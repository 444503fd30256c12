//! What packets will need, asked for while those before them are worked on.

use super::{Analyzer, BATCH, Place, Slot};
use crate::connection_table::{hash, is};
use crate::prefetch;
use crate::short_connections::DEPTH;
use crate::sink::Sink;
use wire::Packet;

/// How many packets ahead memory is asked for: first what a connection holds, then what that points to.
const AHEAD: usize = 6;
const NEXT: usize = 3;
/// The second cache holds the table and slots of so many connections.
const MANY: usize = 1 << 10;

impl<S: Sink> Analyzer<S> {
    /// Whether what was found is sure.
    pub(super) fn look_up(&self, batch: &[Packet], places: &mut [Place; BATCH]) -> bool {
        for (place, packet) in places.iter_mut().zip(batch) {
            place.hash = hash(&packet.tuple);
            place.carries = packet.seg.payload > 0;
        }
        if self.slots.len() > MANY {
            self.look_up_many(&mut places[..batch.len()]);
            return false;
        }
        for (place, packet) in places.iter_mut().zip(batch) {
            let Place { slot, towards, .. } = self.find(place.hash, &packet.tuple);
            (place.slot, place.towards) = (slot, towards);
        }
        true
    }

    /// Of many connections table and slots are far away: both are asked for before they are looked at.
    fn look_up_many(&self, places: &mut [Place]) {
        places.iter().for_each(|p| self.table.warm(p.hash));
        for place in places {
            if let Some(slot) = self.table.likely(place.hash) {
                place.slot = slot;
                prefetch::lines(&self.slots[slot as usize], 0, 2);
            }
        }
    }

    /// Fetches what the packets some places behind number `i` will need; changes nothing. `sure`: their ways are known.
    #[inline(always)]
    pub(super) fn warm(&self, i: usize, batch: &[Packet], places: &mut [Place], sure: bool) {
        if let Some(place) = places.get_mut(i + AHEAD) {
            match self.slots.get(place.slot as usize) {
                Some(Slot::Young(young)) => self.short_connections.warm(young),
                Some(Slot::Grown(tuple, connection)) => {
                    if !sure {
                        place.towards = is(&batch[i + AHEAD].tuple.src, &tuple.src);
                    }
                    connection.warm(place.towards, place.carries);
                }
                _ => {}
            }
        }
        if let Some(place) = places.get(i + NEXT)
            && let Some(Slot::Grown(_, connection)) = self.slots.get(place.slot as usize)
        {
            connection.warm_beyond(place.towards, place.carries);
        }
    }

    /// Fetches what the connections that are to be let go of next will need.
    #[inline]
    pub(super) fn warm_ended(&self, ahead: impl Fn(usize) -> Option<u32>) {
        for depth in 0..DEPTH {
            if let Some(slot) = ahead(2 * (DEPTH - depth))
                && let Some(Slot::Young(young)) = self.slots.get(slot as usize)
            {
                self.short_connections.warm_all(young, depth);
            }
        }
        if let Some(slot) = ahead(2 * DEPTH + 2).and_then(|slot| self.slots.get(slot as usize)) {
            prefetch::lines(slot, 0, 2);
        }
    }

    /// The table is asked for these connections' entries soon, to take them out.
    #[inline]
    pub(super) fn warm_entries(&self) {
        if let Some((_, slot, _)) = self.ended.get(4)
            && let Some(tuple) = self.slots.get(*slot as usize).and_then(Slot::tuple)
        {
            self.table.warm(hash(tuple));
        }
        if let Some((_, slot, _)) = self.ended.get(8)
            && let Some(number) = self.numbers.get(*slot as usize)
        {
            prefetch::lines(number, 0, 1);
        }
    }
}
