//! Where data arrives: the packets around each that showed a gap in the sequence.

use crate::rows::{BurstRow, Neighbours};
use wire::Time;

/// Kept at most; each waits for the burst that it is of to be told.
const KEPT: usize = 64;

/// Most streams have none.
#[derive(Clone, Debug, Default)]
pub struct Silences(Option<Box<Kept>>);

/// In order of time, each with when the gap was seen.
#[derive(Clone, Debug, Default)]
struct Kept(Vec<(Time, Neighbours)>);

impl Silences {
    pub fn clear(&mut self) {
        self.0 = None;
    }
    /// Data passes at `now`, beyond a gap or not; the data before it passed at `before`.
    #[inline(always)]
    pub fn note(&mut self, now: Time, before: Option<Time>, gap: bool) {
        if let Some((_, last)) = self.0.as_mut().and_then(|kept| kept.0.last_mut()) {
            last.after = last.after.or(Some(now));
        }
        if let Some(before) = before.filter(|_| gap) {
            let kept = &mut self.0.get_or_insert_default().0;
            if kept.len() == KEPT {
                kept.remove(0);
            }
            kept.push((now, Neighbours { before, after: None }));
        }
    }
    /// The packets around the packet that showed this burst.
    pub fn put_into(&mut self, row: &mut BurstRow) {
        let Some(kept) = &mut self.0 else { return };
        let found = kept.0.iter().find(|(at, _)| *at == row.start);
        row.neighbours = found.map(|(_, ctx)| Box::new(*ctx));
        // Bursts are told in order of time; the last of them may not have all that it needs yet.
        kept.0.retain(|(at, ctx)| *at > row.start || ctx.after.is_none());
        if kept.0.is_empty() {
            self.0 = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::Span;

    fn ms(ms: i64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    fn told(silences: &mut Silences, start: i64) -> Option<(Time, Option<Time>)> {
        let mut row = BurstRow { start: ms(start), ..BurstRow::default() };
        silences.put_into(&mut row);
        row.neighbours.map(|h| (h.before, h.after))
    }

    #[test]
    fn a_burst_knows_the_packets_around_the_one_that_showed_it() {
        let mut silences = Silences::default();
        silences.note(ms(0), None, false);
        silences.note(ms(10), Some(ms(0)), false); // no gap
        silences.note(ms(210), Some(ms(10)), true);
        silences.note(ms(215), Some(ms(210)), false);
        silences.note(ms(220), Some(ms(215)), false);
        silences.note(ms(520), Some(ms(220)), true);
        assert_eq!(told(&mut silences, 10), None);
        assert_eq!(told(&mut silences, 210), Some((ms(10), Some(ms(215)))));
        assert_eq!(told(&mut silences, 520), Some((ms(220), None)));
    }

    #[test]
    fn no_more_are_kept_than_there_is_room_for() {
        let mut silences = Silences::default();
        for i in 1..1000 {
            silences.note(ms(100 * i), Some(ms(100 * i - 100)), true);
        }
        assert_eq!(silences.0.as_ref().map(|kept| kept.0.len()), Some(KEPT));
        assert_eq!(told(&mut silences, 99_900), Some((ms(99_800), None)));
    }
}
