//! Stories with times: one endpoint that sends, and a hand that writes its peer's ACKs.
//!
//! Segments are counted from 0 in units of the SMSS; times are milliseconds after the handshake. Whatever leaves
//! must be told by the story: an event fails if something left before it that nobody mentioned.

use crate::endpoint::*;
use crate::stack;
use std::collections::VecDeque;
use std::ops::Range;
use wire::{Flags, SackBlocks, Timestamps};

pub struct Timeline {
    pub end: Endpoint,
    now: Time,
    /// What left and was not told yet.
    left: VecDeque<(Time, Sent)>,
    smss: u64,
    acked: u64,
    /// TSval of the latest copy of each segment, and what the peer echoes.
    stamps: Vec<u32>,
    echo: u32,
    window: u16,
    timeouts: u32,
}

const PEER: Seq = Seq(5_000_000);
/// The handshake ends here.
const START: Time = Time(10_000_000_000);

impl Timeline {
    /// A connection whose handshake took `rtt_ms`.
    pub fn established(spec: &stack::Wire, rtt_ms: i64) -> Timeline {
        let begin = START - Span::from_millis(rtt_ms);
        let mut end = Endpoint::connect(spec, Seq(u32::MAX - 10_000), begin);
        let syn = end.transmit(begin).unwrap().seg;
        let answer = Segment {
            seq: PEER,
            ack: end.seq(1),
            flags: Flags::SYN.with(Flags::ACK),
            window: u16::MAX,
            window_scale: Some(14),
            mss: syn.mss,
            sack_permitted: syn.sack_permitted,
            timestamps: syn.timestamps.map(|t| Timestamps { val: 1, ecr: t.val }),
            ..Segment::default()
        };
        end.receive(START, &answer);
        assert_eq!(end.transmit(START).unwrap().why, Why::Ack);
        let smss = u64::from(end.view().smss);
        let mut t = Timeline {
            end,
            now: START,
            left: VecDeque::new(),
            smss,
            acked: 0,
            stamps: Vec::new(),
            echo: 0,
            window: u16::MAX,
            timeouts: 0,
        };
        // The SYN's window was not scaled: now it is as large as they come.
        t.ack(0);
        t
    }

    /// Time passes; timers fire on the way.
    pub fn at_ms(&mut self, ms: i64) -> &mut Timeline {
        let to = START + Span::from_millis(ms);
        self.nothing_untold();
        assert!(to >= self.now, "time goes on");
        while let Some(wake) = self.end.next_wakeup().filter(|&t| t <= to) {
            self.now = wake;
            self.end.wake(wake);
            self.drain();
        }
        self.now = to;
        self
    }

    fn drain(&mut self) {
        while let Some(sent) = self.end.transmit(self.now) {
            self.timeouts += u32::from(matches!(sent.why, Why::Timeout { .. }));
            if sent.seg.payload > 0 {
                let at = ((sent.offset - 1) / self.smss) as usize;
                self.stamps.resize(self.stamps.len().max(at + 1), 0);
                self.stamps[at] = sent.seg.timestamps.map_or(0, |t| t.val);
            }
            self.left.push_back((self.now, sent));
        }
    }

    fn nothing_untold(&self) {
        let untold: Vec<_> = self.left.iter().map(|(t, s)| (*t - START, self.number(s), s.why)).collect();
        assert!(untold.is_empty(), "not told: {untold:?}; {:?}", self.end.view());
    }
    fn number(&self, s: &Sent) -> u64 {
        (s.offset - 1) / self.smss
    }

    // ---- what the world does ----

    pub fn app_writes(&mut self, bytes: u64) -> &mut Timeline {
        assert_eq!(self.end.write(bytes), bytes);
        self.drain();
        self
    }
    /// Segments, all of full size.
    pub fn app_writes_segments(&mut self, n: u64) -> &mut Timeline {
        self.app_writes(n * self.smss)
    }
    /// Everything before segment `next` is acknowledged.
    pub fn ack(&mut self, next: u64) -> &mut Timeline {
        self.receives(next, &[])
    }
    /// The same, and SACK blocks in the order of the option.
    pub fn sack(&mut self, next: u64, blocks: &[Range<u64>]) -> &mut Timeline {
        self.receives(next, blocks)
    }
    /// The peer's window from now on, in units of 2^14 bytes.
    pub fn window(&mut self, units: u16) -> &mut Timeline {
        self.window = units;
        self
    }

    fn receives(&mut self, next: u64, blocks: &[Range<u64>]) -> &mut Timeline {
        self.nothing_untold();
        if next > self.acked {
            // TS.Recent: of the segment that filled the gap, the first one not acknowledged before.
            self.echo = self.stamps.get(self.acked as usize).copied().unwrap_or(0);
            self.acked = next;
        }
        let mut sack = SackBlocks::NONE;
        for b in blocks {
            sack.push(self.end.seq(1 + b.start * self.smss), self.end.seq(1 + b.end * self.smss));
        }
        let seg = Segment {
            seq: PEER + 1,
            ack: self.end.seq(1 + next * self.smss),
            flags: Flags::ACK,
            window: self.window,
            timestamps: self
                .end
                .stamps
                .then(|| Timestamps { val: 2 + ((self.now - START).0 / 1_000_000) as u32, ecr: self.echo }),
            sack,
            ..Segment::default()
        };
        self.end.receive(self.now, &seg);
        self.drain();
        self
    }

    /// What arrived first were the originals of this TSval, not their repairs.
    pub fn echo_of_originals(&mut self, tsval: u32) -> &mut Timeline {
        self.stamps.fill(tsval);
        self
    }
    pub fn stamp_of(&self, segment: usize) -> u32 {
        self.stamps[segment]
    }

    // ---- what the endpoint does ----

    fn next_told(&mut self) -> (Time, u64, Why) {
        let (at, sent) =
            self.left.pop_front().unwrap_or_else(|| panic!("nothing left: {:?}", self.end.view()));
        (at, self.number(&sent), sent.why)
    }
    /// New segments leave now.
    pub fn sends(&mut self, segments: Range<u64>) -> &mut Timeline {
        for k in segments {
            assert_eq!(self.next_told(), (self.now, k, Why::New));
        }
        self
    }
    /// New segments leave now in one packet: the last of several has PSH, one alone has not.
    pub fn sends_packet(&mut self, segments: Range<u64>) -> &mut Timeline {
        let several = segments.end - segments.start > 1;
        for k in segments.clone() {
            let pushed = self.left.front().is_some_and(|(_, sent)| sent.seg.flags.has(Flags::PSH));
            assert_eq!(pushed, several && k + 1 == segments.end, "PSH of {k}");
            self.sends(k..k + 1);
        }
        self
    }
    /// A segment leaves again, not because a timer fired.
    pub fn resends(&mut self, segment: u64) -> &mut Timeline {
        let (at, k, why) = self.next_told();
        assert_eq!((at, k), (self.now, segment), "{why:?}");
        assert!(matches!(why, Why::Recovery { .. } | Why::LossState), "{k} left as {why:?}");
        self
    }
    /// `segment` leaves again, or nothing does; says which.
    pub fn resends_one_or_none(&mut self, segment: u64) -> bool {
        if self.left.is_empty() {
            return false;
        }
        self.resends(segment).quiet();
        true
    }
    /// New segments from `from` on leave, as many as there are; says how many.
    pub fn sends_as_it_likes(&mut self, from: u64) -> u64 {
        let n = self.left.len() as u64;
        self.sends(from..from + n);
        n
    }
    /// The timer has just resent a segment.
    pub fn times_out(&mut self, segment: u64) -> &mut Timeline {
        let (at, k, why) = self.next_told();
        assert_eq!((at, k), (self.now, segment), "{why:?}");
        assert!(matches!(why, Why::Timeout { .. }), "{why:?}");
        self
    }
    /// Nothing leaves.
    pub fn quiet(&mut self) -> &mut Timeline {
        self.nothing_untold();
        self
    }
    pub fn leaves(&mut self, what: Why) -> &mut Timeline {
        let (at, _, why) = self.next_told();
        assert_eq!((at, why), (self.now, what));
        self
    }
    /// So many timeouts in all, so far.
    pub fn timeouts(&mut self, n: u32) -> &mut Timeline {
        self.nothing_untold();
        assert_eq!(self.timeouts, n);
        self
    }
    /// cwnd and ssthresh in segments.
    pub fn cwnd(&mut self, segments: u64) -> &mut Timeline {
        assert_eq!(u64::from(self.end.view().cwnd), segments * self.smss, "cwnd");
        self
    }
    pub fn ssthresh(&mut self, segments: u64) -> &mut Timeline {
        assert_eq!(u64::from(self.end.view().ssthresh), segments * self.smss, "ssthresh");
        self
    }
    pub fn phase(&mut self, phase: Phase) -> &mut Timeline {
        assert_eq!(self.end.phase(), phase);
        self
    }
    /// When the timer fires next, milliseconds.
    pub fn timer_ms(&self) -> i64 {
        (self.end.next_wakeup().unwrap() - START).0 / 1_000_000
    }
}
