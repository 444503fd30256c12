//! What only a range needs that was sent again, or that a DSACK has named.

use super::Ordinal;
use super::entry::Entry;
use smallvec::SmallVec;
use wire::Time;

#[derive(Clone, Debug)]
pub struct Repaired {
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
    /// Once it has left, without SACK: the ACK came in answer to the last copy, whichever delivered it.
    pub answered: bool,
    /// Its last copy came behind that ACK, if at all: what left no later did, as its own answer says.
    pub behind: bool,
}

impl Repaired {
    fn of(entry: &Entry) -> Repaired {
        let (ip_id, checksum) = entry.told();
        Repaired {
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
            answered: false,
            behind: false,
        }
    }
    pub fn note_dsack(&mut self, now: Time) {
        self.dsacks = self.dsacks.saturating_add(1);
        self.last_dsack = now;
    }
}

/// All of a stream's. Entries know theirs by its place.
#[derive(Clone, Debug, Default)]
pub struct Repaireds {
    all: Vec<Option<Repaired>>,
    /// Places that are free.
    free: Vec<u32>,
    /// Copies after the first, of all of them.
    later: usize,
}

impl Repaireds {
    pub fn get(&self, at: u32) -> Option<&Repaired> {
        self.all.get(at as usize)?.as_ref()
    }
    pub fn get_mut(&mut self, at: u32) -> Option<&mut Repaired> {
        self.all.get_mut(at as usize)?.as_mut()
    }
    /// What is kept of an entry, if anything is.
    #[inline(always)]
    pub fn of(&self, entry: &Entry) -> Option<&Repaired> {
        self.get(entry.kept()?)
    }
    /// What is kept of an entry from now on.
    pub fn keep(&mut self, entry: &mut Entry) -> Option<&mut Repaired> {
        if entry.kept().is_none() {
            let at = self.put(Repaired::of(entry));
            entry.keep(at);
        }
        self.get_mut(entry.kept()?)
    }
    fn put(&mut self, new: Repaired) -> u32 {
        self.later += new.later.len();
        let at = self.free.pop().unwrap_or(self.all.len() as u32);
        match self.all.get_mut(at as usize) {
            Some(place) => *place = Some(new),
            None => {
                if self.all.len() == self.all.capacity() {
                    self.all.reserve_exact(self.all.len() / 4 + 4);
                }
                self.all.push(Some(new));
            }
        }
        at
    }
    pub fn take(&mut self, at: u32) -> Option<Repaired> {
        let taken = self.all.get_mut(at as usize)?.take()?;
        self.later -= taken.later.len();
        self.free.push(at);
        if self.free.len() == self.all.len() {
            self.all.clear();
            self.free.clear();
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
        self.later += 1;
    }
    /// Bytes that they take.
    pub fn held(&self) -> u64 {
        let live = self.all.len() - self.free.len();
        (live * size_of::<Option<Repaired>>() + self.later * size_of::<Ordinal>()) as u64
    }
    /// The trouble is over: their room is given back.
    pub fn rest(&mut self) {
        if self.free.len() == self.all.len() {
            *self = Repaireds::default();
        }
    }
    pub fn clear(&mut self) {
        *self = Repaireds::default();
    }
}
