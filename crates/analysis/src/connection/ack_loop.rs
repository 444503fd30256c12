//! ACK loops: each host takes the other one's ACK for one that it must answer with its own ACK (RFC 9293 section 3.10.7.4), and
//! both repeat themselves until one of these packets is lost.

use super::*;
use crate::assumptions::DELAYED_ACK;

/// A loop is at least this many packets: they alternate between the hosts, and each repeats what its host said before.
const LOOP: u32 = 10;
/// A closed window is probed, and each probe has the same answer: no sender probes as often as that.
const MORE_OFTEN_THAN_PROBES: Span = Span::from_millis(10);

/// Packets without data, each of which repeats what its host said before and answers the other host's.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Exchange {
    packets: u32,
    /// When the last of them passed, and which host sent it.
    last: Time,
    side: u8,
}

impl Connection {
    /// A packet without data repeats what its host said last; the packet before it passed so long ago.
    #[cold]
    pub(super) fn note_repeated_ack(&mut self, now: Time, side: usize, silence: Span) {
        let e = &mut self.exchange;
        let answers = e.packets > 0 && now - silence == e.last && usize::from(e.side) != side;
        let closed = || self.streams.iter().any(Stream::is_window_closed);
        // No answer to an ACK takes longer, and keep-alives leave at greater distances.
        let at_once = || if closed() { MORE_OFTEN_THAN_PROBES } else { DELAYED_ACK };
        e.packets = if answers && silence < at_once() { e.packets + 1 } else { 1 };
        (e.last, e.side) = (now, side as u8);
        if e.packets < LOOP {
            return;
        }
        if e.packets == LOOP {
            self.streams[0].ack_way().looped += u64::from(LOOP / 2);
            self.streams[1].ack_way().looped += u64::from(LOOP / 2);
        } else {
            self.streams[1 - side].ack_way().looped += 1;
        }
    }
}
