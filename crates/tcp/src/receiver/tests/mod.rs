//! Stories with times: segments in, ACKs out.

mod compression;
mod delayed_ack;
mod model;
mod sack;
mod windows;

use super::*;
use crate::stack::{DelayedAck, Receive, WindowPolicy};

const ROOM: usize = 4;

/// A receiver that acknowledges as its policy says, and an application that reads at once unless told otherwise.
struct Story {
    receiver: Receiver,
    now: Time,
    reads: bool,
}

impl Story {
    fn new(delayed_ack: DelayedAck, window: WindowPolicy, mss: u32, first: u64) -> Story {
        let spec = Receive { delayed_ack, dsack: true, sack_fin: true, window };
        let mut receiver = Receiver::new(&spec, mss, first, true);
        receiver.negotiated(mss, true, scale_for(window));
        // The ACK that ends the handshake has the first scaled window.
        receiver.ack_sent(Time::ZERO);
        Story { receiver, now: Time::ZERO, reads: true }
    }

    fn at_ms(&mut self, ms: i64) -> &mut Story {
        self.at(Time(ms * 1_000_000))
    }

    fn at(&mut self, now: Time) -> &mut Story {
        assert!(now >= self.now, "a story goes forwards");
        self.now = now;
        self
    }

    /// A segment `[start, end)`; an ACK that is wanted at once leaves. Returns the wish.
    fn data(&mut self, start: u64, end: u64) -> Ack {
        self.segment(start, end, false)
    }

    fn pushed(&mut self, start: u64, end: u64) -> Ack {
        self.segment(start, end, true)
    }

    fn segment(&mut self, start: u64, end: u64, psh: bool) -> Ack {
        let ack = self.receiver.on_data(self.now, start, (end - start) as u32, psh);
        if self.reads {
            self.receiver.read(self.now, u64::MAX);
        }
        if ack == Ack::Now {
            self.receiver.ack_sent(self.now);
        }
        ack
    }

    /// A segment whose ACK says `next` and reports `blocks`.
    fn reports(&mut self, segment: (u64, u64), next: u64, blocks: &[(u64, u64)]) -> &mut Story {
        let ack = self.receiver.on_data(self.now, segment.0, (segment.1 - segment.0) as u32, false);
        assert_eq!(ack, Ack::Now, "{segment:?}");
        assert_eq!(self.blocks(), blocks, "blocks after {segment:?}");
        assert_eq!(self.receiver.next(), next, "ACK after {segment:?}");
        self.receiver.ack_sent(self.now);
        self
    }

    fn blocks(&mut self) -> Vec<(u64, u64)> {
        let mut out = [(0, 0); 4];
        let n = self.receiver.blocks(&mut out, ROOM);
        out[..n].to_vec()
    }

    /// The delayed ACK is due after `ms` from the start, and leaves then.
    fn acks_late_at_ms(&mut self, ms: i64) -> &mut Story {
        assert_eq!(self.receiver.ack_deadline(), Time(ms * 1_000_000));
        self.at_ms(ms);
        self.receiver.ack_sent(self.now);
        self
    }
}

fn fixed(buffer_bytes: u32) -> WindowPolicy {
    WindowPolicy::Fixed { buffer_bytes }
}

/// Every segment acknowledged, a window of 64 KiB, segments of 500 bytes: as in the examples of the RFCs.
fn plain(first: u64) -> Story {
    Story::new(DelayedAck::Off, fixed(65_536), 500, first)
}
