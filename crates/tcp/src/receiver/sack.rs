//! What an ACK reports beside its number: SACK blocks in the order of RFC 2018, duplicates by RFC 2883.

use super::reassembly::{Block, Range, Reassembly};

/// Most blocks that an option has room for.
const MOST: usize = 4;

#[derive(Clone, Debug)]
pub struct Report {
    sack: bool,
    dsack: bool,
    /// The ranges that segments reached last, the last one first; exact copies of ranges of the stream.
    recent: [Block; MOST],
    count: usize,
    duplicate: Option<Block>,
}

impl Report {
    pub fn new(sack: bool, dsack: bool) -> Report {
        Report { sack, dsack, recent: [(0, 0); MOST], count: 0, duplicate: None }
    }

    pub fn set_sack(&mut self, sack: bool) {
        self.sack = sack;
    }

    /// A stretch arrived a second time. Only the latest is kept: it is the one that triggers the next ACK.
    pub fn duplicate(&mut self, block: Block) {
        if self.sack && self.dsack {
            self.duplicate = Some(block);
        }
    }

    /// A segment went into this range, which may have swallowed others.
    pub fn held(&mut self, block: Block) {
        if !self.sack {
            return;
        }
        self.keep(|b| b.0 < block.0 || b.1 > block.1);
        self.count = (self.count + 1).min(MOST);
        self.recent.copy_within(0..self.count - 1, 1);
        self.recent[0] = block;
    }

    /// The cumulative ACK moved to `next`.
    pub fn advanced(&mut self, next: u64) {
        self.keep(|b| b.0 > next);
    }

    /// Nothing but what was SACKed is to be told.
    pub fn tells_blocks_alone(&self) -> bool {
        self.sack && self.duplicate.is_none()
    }

    /// Beside what the stream holds.
    #[inline]
    pub fn is_pending(&self) -> bool {
        self.count > 0 || self.duplicate.is_some()
    }

    pub fn blocks(&mut self, stream: &Reassembly, out: &mut [Block; MOST], room: usize) -> usize {
        if !self.sack {
            return 0;
        }
        let mut n = 0;
        let room = room.min(MOST);
        if room > 0
            && let Some(duplicate) = self.duplicate.take()
        {
            // RFC 2883 §4: first; the block that contains it, if any, is the most recent and follows.
            out[0] = duplicate;
            n = 1;
        }
        if self.count < MOST && self.count < stream.ranges().len() {
            self.refill(stream);
        }
        for &block in self.recent[..self.count].iter().take(room - n) {
            out[n] = block;
            n += 1;
        }
        n
    }

    /// Blocks that fell off the list come back as others leave it: as many as fit are reported (RFC 2018 §4).
    fn refill(&mut self, stream: &Reassembly) {
        while self.count < MOST {
            let listed = &self.recent[..self.count];
            let unlisted = |r: &&Range| !listed.contains(&(r.start, r.end));
            let Some(range) = stream.ranges().iter().filter(unlisted).max_by_key(|r| r.stamp) else { break };
            self.recent[self.count] = (range.start, range.end);
            self.count += 1;
        }
    }

    fn keep(&mut self, wanted: impl Fn(&Block) -> bool) {
        let mut kept = 0;
        for i in 0..self.count {
            if wanted(&self.recent[i]) {
                self.recent[kept] = self.recent[i];
                kept += 1;
            }
        }
        self.count = kept;
    }
}
