//! What only a range needs that was sent again, or that a DSACK has named.

use super::Ordinal;
use super::entry::Entry;
use smallvec::SmallVec;
use wire::Time;

#[derive(Clone, Debug)]
pub struct MultiCopy {
    pub first_time: Time,
    /// When the first copy passed, or would have, if it was told apart from when it was sent.
    pub due: Time,
    /// When its arrival was first reported: by a SACK, or else by the ACK.
    pub reported: Time,
    pub last_dsack: Time,
    /// Once it has left: when its last copy passed.
    pub last_time: Time,
    /// Once it has left: a duplicate ACK can speak of copies sent from then on (without SACK only), those that the ACK
    /// of this segment cannot have been set off by.
    pub unblocked: Time,
    /// Copies after the first: mostly one.
    pub later: SmallVec<[Ordinal; 1]>,
    pub first_ts: u32,
    /// Once it has left: the timestamp that the ACK echoed, if this segment is what set that ACK off (RFC 7323 §4.3); or 0.
    pub echo: u32,
    /// DSACKs that named it.
    pub dsacks: u8,
    /// Of its latest copy.
    pub ip_id: u16,
    pub checksum: u16,
    /// Copies seen; the first copy of a hole was not (lost before it came here, or not captured).
    pub copies: u8,
    /// Once it has left: what is known of the answers to its copies.
    pub answers: Answers,
    /// Its last copy came behind that ACK, if at all: what left no later did, as its own answer says.
    pub behind: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answers {
    #[default]
    Unknown,
    /// Without SACK: the ACK came in answer to the last copy, whichever delivered it.
    OfLast,
    /// With SACK: its ACK is the first to tell of other data that arrived meanwhile, too. The way there was well, and the
    /// answers were lost until then.
    Lost,
}

impl MultiCopy {
    fn of(entry: &Entry) -> MultiCopy {
        let (ip_id, checksum) = entry.ip_id_and_checksum();
        MultiCopy {
            first_time: entry.time,
            due: entry.time,
            reported: Time::FAR_FUTURE,
            last_dsack: Time::FAR_PAST,
            last_time: entry.time,
            unblocked: Time::FAR_FUTURE,
            later: SmallVec::new(),
            first_ts: entry.last_ts(),
            echo: 0,
            dsacks: 0,
            ip_id,
            checksum,
            copies: u8::from(!entry.is_hole()),
            answers: Answers::Unknown,
            behind: false,
        }
    }
    pub fn note_dsack(&mut self, now: Time) {
        self.dsacks = self.dsacks.saturating_add(1);
        self.last_dsack = now;
    }
}

/// All of a stream's. Entries know theirs by its place.
#[derive(Clone, Debug)]
pub struct MultiCopies {
    all: Vec<Place>,
    /// The place that was left last, or [`NOWHERE`].
    free: u32,
    /// What they take, in ordinals' room: their own, and that of their later copies.
    room: u32,
}

/// The room of one.
const ONE: u32 = (size_of::<MultiCopy>() / size_of::<Ordinal>()) as u32;

#[derive(Clone, Debug)]
enum Place {
    Taken(MultiCopy),
    /// Which place was left before this one.
    Left(u32),
}

const NOWHERE: u32 = u32::MAX;

impl Default for MultiCopies {
    fn default() -> MultiCopies {
        MultiCopies { all: Vec::new(), free: NOWHERE, room: 0 }
    }
}

impl MultiCopies {
    fn get(&self, at: u32) -> Option<&MultiCopy> {
        match self.all.get(at as usize)? {
            Place::Taken(repaired) => Some(repaired),
            Place::Left(_) => None,
        }
    }
    pub fn get_mut(&mut self, at: u32) -> Option<&mut MultiCopy> {
        match self.all.get_mut(at as usize)? {
            Place::Taken(repaired) => Some(repaired),
            Place::Left(_) => None,
        }
    }
    /// What is kept of an entry, if anything is.
    #[inline(always)]
    pub fn of(&self, entry: &Entry) -> Option<&MultiCopy> {
        self.get(entry.kept()?)
    }
    /// What is kept of an entry from now on.
    pub fn keep(&mut self, entry: &mut Entry) -> Option<&mut MultiCopy> {
        if entry.kept().is_none() {
            let at = self.put(MultiCopy::of(entry));
            entry.keep(at);
        }
        self.get_mut(entry.kept()?)
    }
    fn put(&mut self, new: MultiCopy) -> u32 {
        self.room += ONE + new.later.len() as u32;
        let at = self.free;
        if let Some(place) = self.all.get_mut(at as usize) {
            self.free = match std::mem::replace(place, Place::Taken(new)) {
                Place::Left(before) => before,
                Place::Taken(_) => NOWHERE,
            };
            return at;
        }
        if self.all.len() == self.all.capacity() {
            self.all.reserve_exact(self.all.len() / 8 + 1);
        }
        self.all.push(Place::Taken(new));
        self.all.len() as u32 - 1
    }
    pub fn take(&mut self, at: u32) -> Option<MultiCopy> {
        let place = self.all.get_mut(at as usize).filter(|place| matches!(place, Place::Taken(_)))?;
        let Place::Taken(taken) = std::mem::replace(place, Place::Left(self.free)) else { return None };
        self.free = at;
        self.room -= ONE + taken.later.len() as u32;
        if self.room == 0 {
            self.all.clear();
            self.free = NOWHERE;
        }
        Some(taken)
    }
    /// An entry is cut in two: the right part gets its own.
    pub fn part(&mut self, right: &mut Entry) {
        if let Some(copy) = self.of(right).cloned() {
            let at = self.put(copy);
            right.keep(at);
        }
    }
    /// Another copy of an entry passed.
    pub fn add_copy(&mut self, entry: &mut Entry, ordinal: Ordinal, time: Time) {
        let sacked = entry.is_sacked();
        let Some(of) = self.keep(entry) else { return };
        of.later.push(ordinal);
        of.copies = of.copies.saturating_add(1);
        if sacked {
            of.reported = of.reported.min(time);
        }
        self.room += 1;
    }
    /// Bytes that they take.
    pub fn held(&self) -> u64 {
        u64::from(self.room) * size_of::<Ordinal>() as u64
    }
    /// The trouble is over: their room is given back.
    pub fn rest(&mut self) {
        if self.room == 0 {
            *self = MultiCopies::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_was_left_is_taken_by_the_next() {
        assert_eq!(size_of::<Place>(), size_of::<MultiCopy>());
        let (mut all, mut segs) = (MultiCopies::default(), [Entry::default(); 4]);
        for (time, seg) in (0..).zip(&mut segs) {
            *seg = Entry::new(0, 100, Time(time), 0, 0);
            all.keep(seg);
        }
        let at = segs.map(|s| s.kept().expect("it is kept"));
        assert_eq!(at, [0, 1, 2, 3]);
        assert_eq!(all.take(1).map(|r| r.due), Some(Time(1)));
        assert_eq!(all.take(2).map(|r| r.due), Some(Time(2)));
        assert!(all.take(2).is_none() && all.of(&segs[1]).is_none());
        let mut next = [Entry::new(0, 100, Time(5), 0, 0); 3];
        next.iter_mut().for_each(|seg| _ = all.keep(seg));
        assert_eq!(next.map(|s| s.kept()), [Some(2), Some(1), Some(4)]);
        assert_eq!(all.of(&segs[3]).map(|r| r.due), Some(Time(3)));
        (0..5).for_each(|at| _ = all.take(at));
        assert_eq!((all.held(), all.all.len()), (0, 0));
    }
}
