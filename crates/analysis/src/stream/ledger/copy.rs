//! What a copy is, and the queue of those that repeated something: retransmissions.

use super::Ordinal;
use crate::Fate;
use crate::rows::*;
use std::cmp::Ordering;
use std::collections::VecDeque;
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
    pub repair: u32,
    pub ts: u32,
    /// How many bytes of it were lost, where a second capture tells; one more, so that it takes four bytes.
    pub(super) known: Option<NonZeroU32>,
    /// It was never seen here.
    pub unseen: bool,
}

impl Copy {
    /// How many bytes of it were lost, where a second capture tells.
    pub fn known(&self) -> Option<u32> {
        self.known.map(|n| n.get() - 1)
    }
    pub fn know(&mut self, lost: Option<u32>) {
        self.known = lost.map(|n| NonZeroU32::MIN.saturating_add(n));
    }
    /// The fate of `bytes` of it is certain.
    pub fn settle(&mut self, bytes: u32, lost: bool) {
        let bytes = bytes.min(self.len - self.settled);
        self.settled += bytes;
        self.lost += match self.known() {
            Some(of_it) => bytes.min(of_it.saturating_sub(self.lost)),
            None if lost => bytes,
            None => 0,
        };
    }
    pub fn is_settled(&self) -> bool {
        self.settled >= self.len
    }
    /// What is open of it stays open for ever: where it was repaired, it is taken for lost.
    pub fn at_the_end(mut self) -> Copy {
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
}

/// How many of its bytes were lost, as a second capture tells.
#[inline(always)]
pub fn known_loss(fate: Fate, len: u32) -> Option<u32> {
    match fate {
        Fate::Unknown | Fate::SeenArriving => None,
        Fate::Lost => Some(len),
        Fate::PartlyLost(bytes) => Some(bytes.min(len)),
        Fate::Arrived | Fate::Late | Fate::Damaged | Fate::UnderWay => Some(0),
    }
}

/// A span of time, or none, in eight bytes.
#[derive(Clone, Copy, Debug)]
pub struct Perhaps(Span);

impl Default for Perhaps {
    fn default() -> Perhaps {
        Perhaps(Span::MAX)
    }
}

impl From<Option<Span>> for Perhaps {
    fn from(span: Option<Span>) -> Perhaps {
        span.map_or_else(Perhaps::default, Perhaps)
    }
}

impl Perhaps {
    pub fn get(self) -> Option<Span> {
        Some(self.0).filter(|s| *s != Span::MAX)
    }
}

/// What is known of a retransmission beyond its being a copy.
#[derive(Clone, Debug, Default)]
pub struct Resend {
    /// The packet that it was.
    pub packet: u64,
    /// From the last data packet before it, and from the copy before it.
    pub silence: Span,
    pub since_previous: Perhaps,
    /// The round trip when the copy it replaces was sent.
    pub rtt_before: Perhaps,
    /// For how long the retransmission timer had run, in microseconds.
    pub timer_ran_us: u32,
    pub segments: u32,
    pub backoff: u32,
    pub episode: u32,
    /// The how-maniest copy of its data it is.
    pub copy: u16,
    pub cause: Cause,
    pub other_candidate: Option<Cause>,
    pub evidence: Evidence,
    pub trigger: Trigger,
    pub needless: Needless,
    pub lost: Option<bool>,
}

/// A fact that became certain.
pub enum Certain {
    Burst(BurstRow),
    Resend(RetransmissionRow),
}

/// A copy that repeated something.
#[derive(Clone, Debug, Default)]
pub struct ResentCopy {
    pub ordinal: Ordinal,
    pub copy: Copy,
    pub resend: Resend,
}

impl ResentCopy {
    /// Its row, but for the flow and for where that begins.
    pub fn row(&self, lost: bool) -> RetransmissionRow {
        let (copy, resend) = (&self.copy, &self.resend);
        RetransmissionRow {
            flow: FlowId::default(),
            packet: resend.packet,
            time: copy.time,
            seq_start: copy.start,
            seq_end: copy.start + u64::from(copy.len),
            segments: resend.segments,
            cause: resend.cause,
            other_candidate: resend.other_candidate,
            evidence: resend.evidence,
            trigger: resend.trigger,
            backoff: resend.backoff,
            copy: resend.copy.into(),
            since_previous: resend.since_previous.get(),
            needless: resend.needless,
            lost: resend.lost.or(Some(lost)),
            episode: Some(resend.episode),
        }
    }
}

/// Room for so many is kept.
const FEW: usize = 4;

/// Those whose fate is open, or that wait for what was sent before them; in the order of their transmission.
#[derive(Clone, Debug, Default)]
pub struct ResentCopies {
    all: VecDeque<ResentCopy>,
}

impl ResentCopies {
    pub fn len(&self) -> usize {
        self.all.len()
    }
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
    pub fn front(&self) -> Option<&ResentCopy> {
        self.all.front()
    }
    pub fn pop_front(&mut self) -> Option<ResentCopy> {
        self.all.pop_front()
    }
    /// To be called when some have left: room for more than four times as many is given back.
    pub fn trim(&mut self) {
        if self.all.len() * 4 < self.all.capacity() && self.all.capacity() > FEW {
            self.all.shrink_to((self.all.len() * 2).max(FEW));
        }
    }
    pub fn push(&mut self, ordinal: Ordinal, copy: Copy) {
        if self.all.len() == self.all.capacity() {
            self.all.reserve_exact(self.all.len() / 8 + 2);
        }
        self.all.push_back(ResentCopy { ordinal, copy, resend: Resend::default() });
    }
    /// What is known of the one that passed last.
    pub fn describe_last(&mut self, resend: Resend) {
        if let Some(last) = self.all.back_mut() {
            last.resend = resend;
        }
    }
    pub fn get(&self, ordinal: Ordinal) -> Option<&ResentCopy> {
        self.all.get(self.place(ordinal)?)
    }
    pub fn get_mut(&mut self, ordinal: Ordinal) -> Option<&mut ResentCopy> {
        self.all.get_mut(self.place(ordinal)?)
    }
    /// The fate of `bytes` of one is certain.
    pub fn settle(&mut self, ordinal: Ordinal, bytes: u64, lost: bool) {
        if let Some(r) = self.get_mut(ordinal) {
            r.copy.settle(u32::try_from(bytes).unwrap_or(u32::MAX), lost);
        }
    }
    /// What is open stays unknown: nothing waits for it any more.
    pub fn settle_all(&mut self) {
        self.all.iter_mut().for_each(|r| r.copy.settled = r.copy.len);
    }
    /// `by` carried again what `of`, one of them, had carried.
    pub fn repaired(&mut self, of: Ordinal, by: Ordinal) {
        if let Some(r) = self.get_mut(of).filter(|r| r.copy.repair == 0) {
            r.copy.repair = distance(of, by);
        }
    }
    /// They are spread evenly mostly, so the place can be guessed: of a few dozen rows only some are looked at.
    fn place(&self, ordinal: Ordinal) -> Option<usize> {
        let all = &self.all;
        let (first, last) = (all.front()?.ordinal, all.back()?.ordinal);
        match ordinal {
            _ if ordinal < first || ordinal > last => return None,
            _ if ordinal == first => return Some(0),
            _ => {}
        }
        let guess = ((ordinal - first) * (all.len() as u64 - 1) / (last - first).max(1)) as usize;
        let mut at = guess;
        for _ in 0..8 {
            at = match all.get(at)?.ordinal.cmp(&ordinal) {
                Ordering::Less => at + 1,
                Ordering::Equal => return Some(at),
                Ordering::Greater => at.checked_sub(1)?,
            };
        }
        all.binary_search_by_key(&ordinal, |r| r.ordinal).ok()
    }
}

/// From a copy to the one that repaired it; never 0.
pub fn distance(of: Ordinal, by: Ordinal) -> u32 {
    u32::try_from(by.saturating_sub(of)).unwrap_or(u32::MAX)
}
