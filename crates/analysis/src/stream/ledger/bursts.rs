//! A loss burst is a maximal run of lost copies in transmission order. It can be reported only when the fate of every
//! copy up to its end is known.

use super::Ordinal;
use super::copy::{Copy, ResentCopies, ResentCopy};
use super::sizes::Sizes;
use crate::rows::*;
use std::collections::VecDeque;
use wire::Time;

#[derive(Clone, Debug, Default)]
struct Burst {
    row: BurstRow,
    copies: u32,
    last: Ordinal,
    /// Some of the lost copies were lost before the capture point, so how many they were is not known.
    unseen: bool,
}

impl ResentCopy {
    /// A timer sent it.
    fn is_timers(&self) -> bool {
        matches!(self.resend.cause, Cause::Timeout | Cause::Probe)
    }
}

impl Burst {
    /// Takes note of a repair, if it is the first.
    fn repaired(&mut self, by: &ResentCopy) {
        let (row, time, by) = (&mut self.row, by.copy.time, &by.resend);
        if row.first_repair.is_some_and(|t| t <= time) {
            return;
        }
        row.first_repair = Some(time);
        row.trigger = by.trigger;
        row.silence = Some(by.silence);
        row.timer_ran_us = by.timer_ran_us;
        row.episode = Some(by.episode);
        row.rtt_before = row.rtt_before.or(by.rtt_before.get());
    }
    /// The first retransmission after the burst has been judged. If a timer sent it and its data had already arrived
    /// (because the ACK was lost), it was needless, but the timer still began the repair (paper `interruption`, Fig.
    /// 10).
    fn released_by(&mut self, first: &ResentCopy) {
        let by_timer =
            first.is_timers() && matches!(first.resend.trigger, Trigger::TimerRto | Trigger::TimerProbe);
        if by_timer && matches!(first.resend.needless, Needless::Yes(_)) {
            self.repaired(first);
        }
    }
    fn row(mut self) -> BurstRow {
        // An ACK that sets a repair off says itself that something came through.
        self.row.back = self.row.back.filter(|_| self.row.trigger != Trigger::Ack);
        self.row.lost_copies = (!self.unseen).then_some(self.copies);
        self.row
    }
}

/// What tells how many segments were in lost bytes.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub mss: u32,
    pub fin_end: Option<u64>,
}

#[derive(Clone, Debug, Default)]
pub struct Bursts {
    /// Bursts that ended, until the first retransmission after them is understood; in the order of transmission.
    all: VecDeque<Burst>,
    /// The last of them has not ended.
    open: bool,
    /// The last thing that a timer sent again.
    timer: Option<Box<ResentCopy>>,
    /// Copies lost before they came here, and after.
    pub lost_before: u32,
    pub lost_after: u32,
    pub sizes: Sizes,
}

impl Bursts {
    /// True if a burst has begun that has not been reported.
    pub fn any(&self) -> bool {
        !self.all.is_empty()
    }
    pub fn is_open(&self) -> bool {
        self.open
    }
    pub fn bytes(&self) -> u64 {
        (self.all.len() * size_of::<Burst>()) as u64
    }
    /// Records the fate of the next copy in transmission order.
    pub fn take(&mut self, ordinal: Ordinal, copy: &Copy, repairs: &ResentCopies, size: &Size) {
        if copy.lost == 0 {
            // What is settled without a loss has arrived; at the end there may be others.
            if copy.is_settled() {
                self.sizes.through(copy.len, copy.time);
            }
            self.end(Some(copy.time).filter(|_| copy.is_settled()));
            return;
        }
        self.lost_before += u32::from(copy.unseen);
        self.lost_after += u32::from(!copy.unseen);
        self.extend(ordinal, copy, repairs, size);
        if copy.unseen {
            return; // a hole does not show in how many pieces it was sent
        }
        self.sizes.lost(copy.lost.min(size.mss.max(1)), copy.time);
        if copy.settled > copy.lost {
            self.sizes.through((copy.settled - copy.lost).min(size.mss.max(1)), copy.time);
        }
    }
    /// A copy was not lost; if it arrived, it was sent at `arrived`.
    pub fn end(&mut self, arrived: Option<Time>) {
        if std::mem::take(&mut self.open)
            && let Some(b) = self.all.back_mut()
        {
            b.row.back = arrived.filter(|t| *t >= b.row.last);
        }
    }
    /// The next burst that waited for this retransmission, which is understood.
    pub fn released_by(&mut self, first: &ResentCopy) -> Option<BurstRow> {
        let ended = self.all.len() - usize::from(self.open);
        let mut burst = self.all.pop_front_if(|b| ended > 0 && b.last < first.ordinal)?;
        burst.released_by(first);
        Some(burst.row())
    }
    /// It leaves: if a timer sent it, a burst right behind it may be the timer's to repair.
    pub fn note_timer(&mut self, repair: ResentCopy) {
        if repair.is_timers() {
            self.timer = Some(Box::new(repair));
        }
    }
    /// At the end of the stream nothing is waited for.
    pub fn next_at_the_end(&mut self) -> Option<BurstRow> {
        self.open = false;
        self.all.pop_front().map(Burst::row)
    }
    fn extend(&mut self, ordinal: Ordinal, copy: &Copy, repairs: &ResentCopies, size: &Size) {
        let Size { mss, fin_end } = *size;
        let own = repairs.get(ordinal);
        // A FIN takes a sequence number, and no room in a segment.
        let fin = fin_end == Some(copy.start + u64::from(copy.len)) && copy.lost == copy.len;
        let bytes = copy.lost - u32::from(fin);
        let segments = bytes.div_ceil(mss.max(1)).max(1);
        let repair = (copy.repair != 0).then(|| ordinal + u64::from(copy.repair));
        let again = match self.all.back() {
            Some(b) if self.open => own.is_some() && (b.row.seq_start..b.row.seq_end).contains(&copy.start),
            _ => false,
        };
        // Found now: when the repair leaves the ledger, the burst may still be open.
        let first_repair = repair.and_then(|o| repairs.get(o));
        // A hole that shows right behind a timer's retransmission was made before it: the timer began its repair.
        let before = self.timer.as_deref().filter(|t| copy.unseen && t.ordinal + 1 == ordinal && !self.open);
        // A timer's attempt that was lost with the rest began the repair, even so.
        let attempt = own.filter(|r| self.open && r.is_timers());
        if !self.open {
            let (start, last, seq_start) = (copy.time, copy.time, copy.start);
            let row = BurstRow { start, last, seq_start, ..BurstRow::default() };
            if self.all.len() == self.all.capacity() {
                self.all.reserve_exact(self.all.len() / 4 + 1);
            }
            self.all.push_back(Burst { row, copies: 0, last: ordinal, unseen: false });
            self.open = true;
        }
        let Some(b) = self.all.back_mut() else { return };
        b.row.last = b.row.last.max(copy.time);
        b.last = ordinal;
        b.unseen |= copy.unseen;
        b.row.seq_start = b.row.seq_start.min(copy.start);
        b.row.seq_end = b.row.seq_end.max(copy.start + u64::from(copy.len));
        b.row.lost_bytes += u64::from(bytes);
        b.copies = b.copies.saturating_add(segments);
        b.row.lost_segments = b.row.lost_segments.saturating_add(if again { 0 } else { segments });
        for by in [before, attempt, first_repair].into_iter().flatten() {
            b.repaired(by);
        }
    }
}
