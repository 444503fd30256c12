//! Every copy in the order of its transmission, until its fate is certain; from them come the bursts.
//!
//! A burst is a maximal run of lost copies in transmission order, so it can only be told once the fate of every
//! copy up to its end is known. The ledger exists while there is trouble: a stream without losses has none.

use super::board::Ordinal;
use crate::Fate;
use crate::prefetch;
use crate::rows::*;
use crate::stream::queue::Queue;
use std::cmp::Ordering;
use std::mem::offset_of;
use std::num::NonZeroU32;
use wire::{Span, Time};

/// One transmission.
#[derive(Clone, Copy, Debug, Default)]
pub struct Copy {
    pub time: Time,
    pub start: u64,
    pub len: u32,
    /// Bytes of it whose fate is certain, and those among them that were lost.
    pub settled: u32,
    pub lost: u32,
    /// Packets from the peer seen before it left; tells whether anything came back before the next copy.
    pub heard: u32,
    /// The copy that repaired it, as a distance in transmission order; 0 if none did.
    repair: u32,
    pub ts: u32,
    pub resend: bool,
    /// How many bytes of it were lost, where a second capture tells; one more, so that it takes four bytes.
    known: Option<NonZeroU32>,
    /// It was never seen here.
    pub unseen: bool,
}

impl Copy {
    /// How many bytes of it were lost, where a second capture tells.
    pub fn known(&self) -> Option<u32> {
        self.known.map(|n| n.get() - 1)
    }
    /// It stays open for ever: where it was repaired, it is taken for lost.
    fn at_the_end(mut self) -> Copy {
        let open = self.len - self.settled;
        let lost = match self.known() {
            Some(of_it) => of_it > 0,
            None => self.repair != 0,
        };
        if open > 0 && lost {
            self.lost = self.known().unwrap_or(self.lost + open);
            self.settled = self.len;
        }
        self
    }
    pub fn know(&mut self, lost: u32) {
        self.known = Some(NonZeroU32::MIN.saturating_add(lost));
    }
}

/// What is known of a retransmission beyond its being a copy.
#[derive(Clone, Debug, Default)]
pub struct Resend {
    pub ordinal: Ordinal,
    pub row: RetransmissionRow,
    /// From the last data packet before it.
    pub silence: Span,
    /// The round trip when the copy it replaces was sent.
    pub rtt_before: Option<Span>,
}

#[derive(Clone, Debug, Default)]
struct OpenBurst {
    row: BurstRow,
    copies: u32,
    last: Ordinal,
    /// Some of them never came here.
    unseen: bool,
}

/// A repair, as a burst wants to know it.
#[derive(Clone, Copy, Debug)]
struct Facts {
    time: Time,
    trigger: Trigger,
    silence: Span,
    episode: Option<u32>,
    rtt_before: Option<Span>,
}

impl Resend {
    fn facts(&self) -> Facts {
        Facts {
            time: self.row.time,
            trigger: self.row.trigger,
            silence: self.silence,
            episode: self.row.episode,
            rtt_before: self.rtt_before,
        }
    }
}

impl OpenBurst {
    /// Takes note of a repair, if it is the first.
    fn repaired(&mut self, by: &Facts) {
        let row = &mut self.row;
        if row.first_repair.is_some_and(|t| t <= by.time) {
            return;
        }
        row.first_repair = Some(by.time);
        row.trigger = by.trigger;
        row.silence = Some(by.silence);
        row.episode = by.episode.or(row.episode);
        row.rtt_before = row.rtt_before.or(by.rtt_before);
    }
    /// The first retransmission after a burst is understood: if it was the timer's, of data that had arrived
    /// (its ACK was lost with the burst), then the timer began the repair all the same (paper `interruption`,
    /// Fig. 10).
    fn released_by(&mut self, first: &Resend) {
        let by_timer = matches!(first.row.trigger, Trigger::TimerRto | Trigger::TimerProbe)
            && matches!(first.row.cause, Cause::Timeout | Cause::Probe);
        if by_timer && matches!(first.row.needless, Needless::Yes(_)) {
            self.repaired(&first.facts());
        }
    }
    fn row(mut self) -> BurstRow {
        // An ACK that sets a repair off says itself that something came through.
        self.row.back = self.row.back.filter(|_| self.row.trigger != Trigger::Ack);
        self.row.lost_copies = (!self.unseen).then_some(self.copies);
        self.row
    }
}

/// Fields in the order of their use: those before `burst` for each packet.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub struct Copies {
    base: Ordinal,
    copies: Queue<Copy>,
    front_settled: bool,
    /// Copies lost before they came here, and after.
    pub lost_before: u32,
    pub lost_after: u32,
    resends: Queue<Resend>,
    /// Bursts that ended, until the first retransmission after them is understood.
    waiting: Vec<OpenBurst>,
    burst: Option<OpenBurst>,
    /// The last thing that a timer sent again, and which copy it was.
    timer: Option<(Ordinal, Facts)>,
    /// The retransmission that leaves, and whether it was lost.
    leaving: Option<(Ordinal, bool)>,
    /// The stream has ended: nothing more will be known.
    ended: bool,
}

/// A fact that became certain.
pub enum Certain {
    Burst(BurstRow),
    Resend(RetransmissionRow),
}

impl Copies {
    pub fn starting_at(base: Ordinal) -> Copies {
        Copies { base, ..Copies::default() }
    }
    /// It is needed soon; at the `end`, or its front.
    #[inline(always)]
    pub fn warm(&self, end: bool) {
        prefetch::lines(self, 0, offset_of!(Copies, burst) / 64 + 1);
        if let Some(copy) = if end { self.copies.back() } else { self.copies.front() } {
            prefetch::lines(copy, 0, 2);
        }
    }
    pub fn next_ordinal(&self) -> Ordinal {
        self.base + self.copies.len() as u64
    }
    /// The oldest copy whose fate is open.
    pub fn base(&self) -> Ordinal {
        self.base
    }
    pub fn has_resends(&self) -> bool {
        !self.resends.is_empty()
    }
    pub fn copies(&self) -> usize {
        self.copies.len()
    }
    pub fn resends(&self) -> usize {
        self.resends.len()
    }
    pub fn bytes_of_bursts(&self) -> u64 {
        (self.waiting.len() * size_of::<OpenBurst>()) as u64
    }
    /// What is open stays unknown: nothing waits for it any more.
    pub fn settle_all(&mut self) {
        self.copies.all_mut().iter_mut().for_each(|c| c.settled = c.len);
        self.front_settled = true;
    }
    pub fn burst_is_open(&self) -> bool {
        self.burst.is_some() || !self.waiting.is_empty()
    }
    #[inline(always)]
    pub fn push(&mut self, time: Time, start: u64, len: u32, heard: u32, ts: u32) -> Ordinal {
        self.front_settled |= self.copies.is_empty();
        let copy = Copy {
            time,
            start,
            len,
            settled: 0,
            lost: 0,
            heard,
            repair: 0,
            ts,
            resend: false,
            known: None,
            unseen: false,
        };
        self.copies.push(copy);
        self.next_ordinal() - 1
    }
    /// A second capture tells what became of a copy.
    pub fn know(&mut self, ordinal: Ordinal, fate: Fate) {
        if let Some(copy) = self.copy_mut(ordinal) {
            copy.know(match fate {
                Fate::Lost => copy.len,
                Fate::PartlyLost(bytes) => bytes.min(copy.len),
                Fate::Arrived | Fate::Late | Fate::Damaged | Fate::UnderWay | Fate::Unknown => 0,
            });
        }
    }
    pub fn push_resend(&mut self, resend: Resend) {
        if let Some(copy) = self.copy_mut(resend.ordinal) {
            copy.resend = true;
        }
        self.resends.push(resend);
    }
    pub fn copy(&self, ordinal: Ordinal) -> Option<&Copy> {
        self.copies.get(ordinal.checked_sub(self.base)? as usize)
    }
    pub fn copy_mut(&mut self, ordinal: Ordinal) -> Option<&mut Copy> {
        self.copies.get_mut(ordinal.checked_sub(self.base)? as usize)
    }
    /// What is known of a copy that is a retransmission.
    pub fn resend_mut(&mut self, ordinal: Ordinal) -> Option<&mut Resend> {
        if self.copy(ordinal).is_none_or(|c| !c.resend) {
            return None;
        }
        let i = self.place_of_resend(ordinal)?;
        self.resends.get_mut(i)
    }
    fn resend(&self, ordinal: Ordinal) -> Option<&Resend> {
        self.resends.get(self.place_of_resend(ordinal)?)
    }
    /// They are spread evenly mostly, so the place can be guessed: of a few dozen rows only some are looked at.
    fn place_of_resend(&self, ordinal: Ordinal) -> Option<usize> {
        let resends = self.resends.all();
        let (first, last) = (resends.first()?.ordinal, resends.last()?.ordinal);
        if ordinal < first || ordinal > last {
            return None;
        }
        let guess = ((ordinal - first) * (resends.len() as u64 - 1) / (last - first).max(1)) as usize;
        let mut at = guess;
        for _ in 0..8 {
            at = match resends.get(at)?.ordinal.cmp(&ordinal) {
                Ordering::Less => at + 1,
                Ordering::Equal => return Some(at),
                Ordering::Greater => at.checked_sub(1)?,
            };
        }
        resends.binary_search_by_key(&ordinal, |r| r.ordinal).ok()
    }
    /// `by` carried again what `of` had carried.
    pub fn repaired(&mut self, of: Ordinal, by: Ordinal) {
        if let Some(copy) = self.copy_mut(of)
            && copy.repair == 0
        {
            copy.repair = u32::try_from(by.saturating_sub(of)).unwrap_or(u32::MAX);
        }
    }
    /// The fate of `bytes` of a copy is certain.
    pub fn settle(&mut self, ordinal: Ordinal, bytes: u64, lost: bool) {
        self.front_settled |= ordinal == self.base;
        if let Some(copy) = self.copy_mut(ordinal) {
            let bytes = bytes.min(u64::from(copy.len - copy.settled)) as u32;
            copy.settled += bytes;
            copy.lost += match copy.known() {
                Some(of_it) => bytes.min(of_it.saturating_sub(copy.lost)),
                None if lost => bytes,
                None => 0,
            };
        }
    }
    /// Something was settled about the oldest copy, so others may have waited for it.
    pub fn may_advance(&self) -> bool {
        self.front_settled
    }
    /// Takes off the front what is certain, up to the next burst that ended or retransmission: that is given.
    pub fn next_certain(&mut self, mss: u32, fin_end: Option<u64>) -> Option<Certain> {
        loop {
            if let Some((ordinal, lost)) = self.leaving {
                if let Some(fact) = self.leave(ordinal, lost) {
                    return Some(fact);
                }
                self.leaving = None;
            }
            let Some(copy) = self.front_if_certain() else { break };
            let ordinal = self.base;
            if copy.lost > 0 {
                self.lost_before += u32::from(copy.unseen);
                self.lost_after += u32::from(!copy.unseen);
                self.extend_burst(ordinal, &copy, mss, fin_end);
            } else if let Some(mut b) = self.burst.take() {
                // What is settled without a loss has arrived; at the end there may be others.
                let arrived = copy.len > 0 && copy.settled >= copy.len && copy.time >= b.row.last;
                b.row.back = arrived.then_some(copy.time);
                self.waiting.push(b);
            }
            self.leaving = copy.resend.then_some((ordinal, copy.lost > 0));
            self.copies.drop_front();
            self.base += 1;
        }
        self.front_settled = false;
        self.copies.trim();
        self.resends.trim();
        if self.ended {
            self.waiting.extend(self.burst.take());
            return (!self.waiting.is_empty()).then(|| Certain::Burst(self.waiting.remove(0).row()));
        }
        None
    }
    /// The oldest copy, once its fate is certain, or was asked for in vain.
    fn front_if_certain(&mut self) -> Option<Copy> {
        while let Some(copy) = self.copies.front() {
            if copy.settled < copy.len {
                return if self.ended { Some(copy.at_the_end()) } else { None };
            }
            if copy.lost > 0 || copy.resend || self.burst.is_some() {
                return Some(*copy);
            }
            // Nothing to tell of it, as of most.
            self.copies.drop_front();
            self.base += 1;
        }
        None
    }
    /// What is to be told of retransmissions up to `ordinal`, which leave: the bursts that waited for each, and itself.
    fn leave(&mut self, ordinal: Ordinal, lost: bool) -> Option<Certain> {
        let first = self.resends.front().filter(|r| r.ordinal <= ordinal)?;
        if let Some(i) = self.waiting.iter().position(|b| b.last < first.ordinal) {
            let mut burst = self.waiting.remove(i);
            burst.released_by(first);
            return Some(Certain::Burst(burst.row()));
        }
        let mut r = self.resends.pop_front()?;
        r.row.lost.get_or_insert(lost);
        if matches!(r.row.cause, Cause::Timeout | Cause::Probe) {
            self.timer = Some((r.ordinal, r.facts()));
        }
        Some(Certain::Resend(r.row))
    }
    /// The end of the stream: what is still open stays unknown, unless it was repaired in vain.
    pub fn end(&mut self) {
        self.ended = true;
    }
    fn extend_burst(&mut self, ordinal: Ordinal, copy: &Copy, mss: u32, fin_end: Option<u64>) {
        // A FIN takes a sequence number, and no room in a segment.
        let fin = fin_end == Some(copy.start + u64::from(copy.len)) && copy.lost == copy.len;
        let bytes = copy.lost - u32::from(fin);
        let segments = bytes.div_ceil(mss.max(1)).max(1);
        let repair = (copy.repair != 0).then(|| ordinal + u64::from(copy.repair));
        let again = match &self.burst {
            Some(b) => copy.resend && copy.start < b.row.seq_end && copy.start >= b.row.seq_start,
            None => false,
        };
        // Found now: when the repair leaves the ledger, the burst may still be open.
        let first_repair = repair.and_then(|o| self.resend(o)).map(Resend::facts);
        // A hole that shows right behind a timer's retransmission was made before it: the timer began its repair.
        let before = self.timer.filter(|(o, _)| copy.unseen && o + 1 == ordinal && self.burst.is_none());
        // A timer's attempt that was lost with the rest began the repair, even so.
        let attempt = (copy.resend && self.burst.is_some())
            .then(|| self.resend(ordinal))
            .flatten()
            .filter(|r| matches!(r.row.cause, Cause::Timeout | Cause::Probe))
            .map(Resend::facts);
        let b = self.burst.get_or_insert_with(|| OpenBurst {
            row: BurstRow { start: copy.time, last: copy.time, seq_start: copy.start, ..BurstRow::default() },
            copies: 0,
            last: ordinal,
            unseen: false,
        });
        b.row.last = b.row.last.max(copy.time);
        b.last = ordinal;
        b.unseen |= copy.unseen;
        b.row.seq_start = b.row.seq_start.min(copy.start);
        b.row.seq_end = b.row.seq_end.max(copy.start + u64::from(copy.len));
        b.row.lost_bytes += u64::from(bytes);
        b.copies = b.copies.saturating_add(segments);
        b.row.lost_segments = b.row.lost_segments.saturating_add(if again { 0 } else { segments });
        for facts in [before.map(|(_, f)| f), attempt, first_repair].into_iter().flatten() {
            b.repaired(&facts);
        }
    }
}
