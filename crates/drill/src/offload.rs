//! Segmentation offload as Linux sees its own packets: what is queued in large buffers leaves in large packets.
//!
//! Scripts say what a capture on the sending host shows. There a packet holds several segments where they lie in one
//! buffer and leave together (net/ipv4/tcp_output.c, tcp_write_xmit and tcp_tso_segs), and one that does is pushed. The
//! endpoint sends segments; this puts them together again, and says where the kernel would push.

use std::collections::VecDeque;
use tcp::endpoint::{Sent, View, Why};
use tcp::packet::{self, Packets};
use wire::{Flags, Segment, Time};

/// The largest packet with its headers (GSO_LEGACY_MAX_SIZE), and what of it headers may take (MAX_TCP_HEADER).
const LARGEST: u64 = 65_536;
const HEADERS: u64 = 320;
/// What is left for payload (sk_gso_max_size).
const MOST_BYTES: u64 = LARGEST - 1 - HEADERS;

/// A packet as it left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    pub(crate) at: Time,
    pub(crate) seg: Segment,
    pub(crate) offset: u64,
    pub(crate) why: Why,
    /// ECT(0)
    pub(crate) markable: bool,
}

/// One buffer of the send queue (an skb): `[from, to)` of the stream.
#[derive(Clone, Copy, Debug)]
struct Buffer {
    from: u64,
    to: u64,
    pushed: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Offload {
    packets: Packets,
    buffers: VecDeque<Buffer>,
    /// The offset after the last byte written; the highest sent.
    written: u64,
    sent: u64,
    /// Up to here the application's data was pushed (pushed_seq).
    pushed: u64,
    largest_window: u64,
    /// What is being put together.
    open: Option<Left>,
    open_segments: u32,
}

/// What a write comes to: pieces, each handed over before the next, and how many packets leave between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// As many as may.
    PushAll,
    /// One (tcp_push_one).
    PushOne,
}

impl Offload {
    pub(crate) fn new(least_segments: u32) -> Offload {
        Offload {
            packets: Packets { most_bytes: MOST_BYTES, least_segments },
            buffers: VecDeque::new(),
            written: 1,
            sent: 1,
            pushed: 1,
            largest_window: 0,
            open: None,
            open_segments: 0,
        }
    }

    pub(crate) fn peer_offers(&mut self, window: u32) {
        self.largest_window = self.largest_window.max(u64::from(window));
    }

    // ---- writing (tcp_sendmsg) ----

    /// The next piece of a write of `left` bytes: its length, and what follows it. `None`: nothing yet.
    pub(crate) fn write(&mut self, left: u64, view: &View) -> (u64, Option<Step>) {
        let goal = self.goal(view);
        let has_room = self.buffers.back().is_some_and(|b| b.to > self.sent && b.to - b.from < goal);
        if !has_room {
            self.buffers.push_back(Buffer { from: self.written, to: self.written, pushed: false });
        }
        let Some(tail) = self.buffers.back_mut() else { return (left, None) };
        let piece = left.min(goal - (tail.to - tail.from));
        tail.to += piece;
        self.written += piece;
        if piece == left {
            tail.pushed = true;
            self.pushed = self.written;
            return (piece, Some(Step::PushAll));
        }
        if self.written > self.pushed + (self.largest_window >> 1) {
            tail.pushed = true;
            self.pushed = self.written;
            return (piece, Some(Step::PushAll));
        }
        let is_next = tail.from <= self.sent;
        (piece, is_next.then_some(Step::PushOne))
    }

    /// tcp_xmit_size_goal: no buffer holds more than half of the peer's largest window, in full segments.
    fn goal(&self, view: &View) -> u64 {
        let half = if self.largest_window > 536 { self.largest_window >> 1 } else { self.largest_window };
        let bytes = if half > 0 { MOST_BYTES.min(half.max(68 - 40)) } else { MOST_BYTES };
        let mss = u64::from(view.smss.max(1));
        (bytes / mss * mss).max(mss)
    }

    // ---- sending ----

    fn largest_segments(&self, view: &View) -> u32 {
        let rate = packet::rate_of_window(view.cwnd, view.ssthresh, view.flight, view.srtt);
        self.packets.segments(rate.unwrap_or(u64::MAX), view.smss, view.min_rtt)
    }

    /// A segment left; gives the packet before it, if it begins another.
    pub(crate) fn left(&mut self, at: Time, sent: &Sent, view: &View, markable: bool) -> Option<Left> {
        let mut seg = sent.seg;
        let end = sent.offset + u64::from(seg.payload);
        let buffer = self.buffer_of(sent.offset, seg.payload);
        if let Some(b) = buffer {
            seg.flags = seg.flags.without(Flags::PSH);
            if b.pushed && b.to == end {
                seg.flags = seg.flags.with(Flags::PSH);
            }
        }
        self.sent = self.sent.max(end);
        let most = self.most(sent.why, view);
        if let (Some(open), Some(b)) = (&mut self.open, buffer) {
            let follows = open.at == at
                && open.offset + u64::from(open.seg.payload) == sent.offset
                && open.why == sent.why
                && open.seg.payload.is_multiple_of(view.smss.max(1))
                && b.from <= open.offset
                && self.open_segments < most;
            if follows {
                open.seg.payload += seg.payload;
                // More than one segment is pushed, whatever the application said (since 5.2).
                open.seg.flags = open.seg.flags.with(seg.flags).with(Flags::PSH);
                self.open_segments += 1;
                return None;
            }
        }
        let before = self.flush();
        self.open = Some(Left { at, seg, offset: sent.offset, why: sent.why, markable });
        self.open_segments = 1;
        before
    }

    /// Nothing follows at once: the packet that was being put together.
    pub(crate) fn flush(&mut self) -> Option<Left> {
        let left = self.open.take()?;
        if left.seg.payload > 0 {
            self.split(left.offset);
            self.split(left.offset + u64::from(left.seg.payload));
        }
        Some(left)
    }

    /// How many segments one packet may hold.
    fn most(&self, why: Why, view: &View) -> u32 {
        match why {
            // tcp_cwnd_test: the window is to hold two packets.
            Why::New => self.largest_segments(view).min((view.cwnd / view.smss.max(1) / 2).max(1)),
            Why::Recovery { .. } | Why::LossState => self.largest_segments(view),
            _ => 1,
        }
    }

    pub(crate) fn most_new(&self, view: &View) -> u32 {
        self.most(Why::New, view)
    }

    /// What is acknowledged is no longer held.
    pub(crate) fn acknowledged(&mut self, una: u64) {
        while self.buffers.front().is_some_and(|b| b.to <= una) {
            self.buffers.pop_front();
        }
    }

    fn buffer_of(&self, offset: u64, payload: u32) -> Option<Buffer> {
        let at = self.buffers.partition_point(|b| b.to <= offset);
        self.buffers.get(at).copied().filter(|b| payload > 0 && b.from <= offset)
    }

    /// A packet's edge is a buffer's from now on; what was pushed stays so at its end (tcp_fragment).
    fn split(&mut self, edge: u64) {
        let at = self.buffers.partition_point(|b| b.to <= edge);
        if let Some(b) = self.buffers.get_mut(at)
            && b.from < edge
        {
            let rest = Buffer { from: edge, ..*b };
            *b = Buffer { to: edge, pushed: false, ..*b };
            self.buffers.insert(at + 1, rest);
        }
    }
}
