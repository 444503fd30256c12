//! How far a capture has come, and which part of it is whose: what connections share, so that each can be analysed
//! by itself.
//!
//! A connection that ended is forgotten when enough of the *capture* has passed, whoever else is analysed beside it.
//! Whoever has but a part of the packets is told with each how far the capture had come before it (see
//! [`Analyzer::push_part`](crate::Analyzer::push_part)), and decides as if it had seen them all.

use crate::connection_table::hash;
use wire::{Flags, Packet, Span, Time, Tuple};

/// A connection that ended stays known for this long, for late packets...
const LINGER: Span = Span::from_secs(10);
/// ...unless so many packets that end something have passed since: two for each connection, or one reset.
const MOST_ENDINGS: u64 = 1 << 15;

/// What has passed of a capture.
#[derive(Clone, Copy, Debug)]
pub struct CaptureProgress {
    /// The latest time so far.
    latest: Time,
    /// Packets with FIN or RST so far.
    endings: u64,
    /// TCP packets so far.
    packets: u64,
}

impl Default for CaptureProgress {
    fn default() -> CaptureProgress {
        CaptureProgress { latest: Time::FAR_PAST, endings: 0, packets: 0 }
    }
}

impl CaptureProgress {
    #[inline(always)]
    pub fn pass(&mut self, packet: &Packet) {
        self.latest = self.latest.max(packet.time);
        self.endings += u64::from(packet.seg.flags.has(Flags::FIN.with(Flags::RST)));
        self.packets += 1;
    }
    /// The same of many that end nothing, in order of time.
    #[inline(always)]
    pub(crate) fn pass_run(&mut self, run: &[Packet]) {
        if let Some(last) = run.last() {
            self.latest = self.latest.max(last.time);
            self.packets += run.len() as u64;
        }
    }
    /// The latest time so far.
    pub(crate) fn latest(&self) -> Time {
        self.latest
    }
    pub(crate) fn packets(&self) -> u64 {
        self.packets
    }
    /// Is a connection that ended at `since` to be forgotten by now?
    #[inline(always)]
    pub(crate) fn has_outlived(&self, since: &CaptureProgress) -> bool {
        self.latest - since.latest >= LINGER || self.endings - since.endings >= MOST_ENDINGS
    }
}

/// All connections are so many shares: what is decided for a share is the same in however many parts they are analysed. So
/// many that parts are nearly equal.
pub const SHARES: usize = 48;

/// To which of `parts` a packet's connection belongs: by both of its ends, so that its two directions and all
/// connections between these ends stay together, and by its share, so that no share is in two parts.
#[inline]
pub fn part(tuple: &Tuple, parts: usize) -> usize {
    // A table takes the top bits of the hash for a place: mixed anew, what a part has is spread over all of its own.
    let mixed = hash(tuple).wrapping_mul(0x9e37_79b9);
    let share = (u64::from(mixed) * SHARES as u64) >> 32;
    (share * parts as u64 / SHARES as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(ms: i64, flags: Flags) -> Packet {
        let mut packet = Packet { time: Time(ms * 1_000_000), ..Packet::default() };
        packet.seg.flags = flags;
        packet
    }

    #[test]
    fn a_connection_is_outlived_after_ten_seconds_whoever_sent_in_them() {
        let mut course = CaptureProgress::default();
        course.pass(&packet(0, Flags::FIN));
        let since = course;
        course.pass(&packet(9_999, Flags::ACK));
        assert!(!course.has_outlived(&since));
        course.pass(&packet(10_000, Flags::ACK));
        // Written down late: time does not go back.
        course.pass(&packet(5_000, Flags::ACK));
        assert!(course.has_outlived(&since));
    }

    #[test]
    fn or_when_many_others_have_ended_since() {
        let mut course = CaptureProgress::default();
        course.pass(&packet(0, Flags::FIN));
        let since = course;
        (1..MOST_ENDINGS).for_each(|_| course.pass(&packet(0, Flags::RST)));
        assert!(!course.has_outlived(&since));
        course.pass(&packet(0, Flags::FIN.with(Flags::ACK)));
        assert!(course.has_outlived(&since));
    }

    #[test]
    fn a_run_passes_as_its_packets_do_one_by_one() {
        let run = [packet(3, Flags::ACK), packet(5, Flags::ACK), packet(8, Flags::PSH.with(Flags::ACK))];
        let (mut one_by_one, mut at_once) = (CaptureProgress::default(), CaptureProgress::default());
        run.iter().for_each(|p| one_by_one.pass(p));
        at_once.pass_run(&run);
        assert_eq!((one_by_one.latest, one_by_one.packets), (at_once.latest, at_once.packets));
    }
}
