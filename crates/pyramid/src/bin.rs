//! What happened in a stretch of time.

/// The least and the largest of something; nothing yet where the least is above the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub least: i64,
    pub most: i64,
}

impl Default for Range {
    fn default() -> Range {
        Range { least: i64::MAX, most: i64::MIN }
    }
}

impl Range {
    pub fn add(&mut self, least: i64, most: i64) {
        self.least = self.least.min(least);
        self.most = self.most.max(most);
    }
    /// Both ends, if there is anything.
    pub fn ends(self) -> Option<(i64, i64)> {
        (self.least <= self.most).then_some((self.least, self.most))
    }
}

/// All of it for one bin. Counts are of packets; sequence numbers are relative to the stream's first. A retransmission has
/// one of `CAUSES` causes, a number from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bin<const CAUSES: usize> {
    pub packets: u32,
    /// Payload that travelled with the data, bytes.
    pub bytes: u64,
    /// Of data, sent first or again: from the first byte to the one behind the last.
    pub seq: Range,
    /// The highest acknowledged byte, and the highest that the window allowed; `i64::MIN`: none.
    pub ack_most: i64,
    pub edge_most: i64,
    pub lost: u32,
    pub lost_seq: Range,
    /// Sent again, by cause (from 1, so one less).
    pub again: [u32; CAUSES],
    pub again_seq: Range,
    pub needless: u32,
    /// ACKs with blocks, and what these reach over; a DSACK's own block is none.
    pub sack: u32,
    pub sack_seq: Range,
    pub dsack: u32,
    /// Bytes; `i64::MIN`: none.
    pub flight_most: i64,
    pub rtt_us: Range,
}

impl<const CAUSES: usize> Default for Bin<CAUSES> {
    fn default() -> Self {
        let none = Range::default();
        Bin {
            packets: 0,
            bytes: 0,
            seq: none,
            ack_most: i64::MIN,
            edge_most: i64::MIN,
            lost: 0,
            lost_seq: none,
            again: [0; CAUSES],
            again_seq: none,
            needless: 0,
            sack: 0,
            sack_seq: none,
            dsack: 0,
            flight_most: i64::MIN,
            rtt_us: none,
        }
    }
}

impl<const CAUSES: usize> Bin<CAUSES> {
    pub fn is_empty(&self) -> bool {
        self.packets == 0 && self.rtt_us.ends().is_none()
    }
    /// Adds what happened in another: sums, and the ends of both.
    pub fn join(&mut self, other: &Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
        self.lost += other.lost;
        self.needless += other.needless;
        self.sack += other.sack;
        self.dsack += other.dsack;
        for (mine, theirs) in self.again.iter_mut().zip(other.again) {
            *mine += theirs;
        }
        self.ack_most = self.ack_most.max(other.ack_most);
        self.edge_most = self.edge_most.max(other.edge_most);
        self.flight_most = self.flight_most.max(other.flight_most);
        for (mine, theirs) in [
            (&mut self.seq, other.seq),
            (&mut self.lost_seq, other.lost_seq),
            (&mut self.again_seq, other.again_seq),
            (&mut self.sack_seq, other.sack_seq),
            (&mut self.rtt_us, other.rtt_us),
        ] {
            mine.add(theirs.least, theirs.most);
        }
    }
}
