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
