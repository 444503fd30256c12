//! ns-3.20's complete traces, event for event: two endpoints over a link as ns-3.20 has it.
//!
//! 5 Mbps and 5 ms each way, PPP framing (2 bytes), a queue of ten packets at the sender's device that does not
//! count the packet being sent; errors are the arrivals at the receiver's device that a list names.

use flate2::read::GzDecoder;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use tcp::congestion::aimd::{self, AimdCount};
use tcp::endpoint::{Endpoint, Sent};
use tcp::stack::*;
use wire::{Flags, Segment, Seq};
use wire::{Span, Time};

const DELAY: Span = Span::from_millis(5);
const QUEUE: usize = 10;
/// IPv4 and PPP.
const FRAMING: i64 = 22;
const START: Time = Time(1_000_000_000);
const END: Time = Time(10_000_000_000);

fn stack(variant: Ns320) -> Wire {
    Wire {
        options: Options {
            mss_bytes: 536,
            announces_mss: false,
            window_scale: false,
            window_shift: None,
            sack: false,
            timestamps: false,
            timestamp_tick: Span::from_millis(1),
            ecn: EcnUse::Off,
        },
        detect: Detect::new(DetectRule::DupAcks, 3, false),
        recovery: Recovery::new(RecoveryRule::Ns320 { variant }, AfterTimeout::GoBackN),
        congestion: Congestion {
            rule: WindowRuleKind::Aimd(aimd::Params { beta: 0.5, count: AimdCount::PerAck }),
            initial_window: InitialWindow::Segments(1),
            initial_ssthresh_bytes: Some(65535),
            slow_start: SlowStartKind::PerAck,
            restart_after_idle: false,
            grows_only_when_limited: false,
            limited_by: LimitedBy::Now,
        },
        rto: RtoRule {
            rule: RtoKind::Ns320,
            initial: Span::from_secs(1),
            min: Span::from_millis(200),
            max: Span::from_secs(3600),
            granularity: Span::from_millis(1),
            slop: Span::ZERO,
            wheel: false,
        },
        undo: Undo::default(),
        send: Send {
            nagle: false,
            buffer_bytes: Some(131_072),
            max_burst_segments: None,
            pacing: false,
            offload: false,
            keepalive_idle: None,
            keepalive_interval: Span::from_secs(75),
            keepalive_probes: 8,
            max_retries: 0,
            retries: Default::default(),
            thin_linear_timeouts: false,
            window_probe: WindowProbe::Byte,
        },
        receive: Receive {
            delayed_ack: DelayedAck::Ns320 { every: 2, timeout: Span::from_millis(200) },
            dsack: false,
            sack_fin: true,
            window: WindowPolicy::Fixed { buffer_bytes: 65535 },
        },
        own: Default::default(),
    }
}

/// One line of `full_*_segments`: nanoseconds, sent?, sequence and ACK numbers, payload.
type Row = (i64, bool, u32, u32, u32);

/// A sender's device: one packet on the line, ten in the queue.
#[derive(Default)]
struct Device {
    queue: VecDeque<Segment>,
    busy_until: Option<Time>,
}

impl Device {
    fn put(&mut self, seg: Segment) -> bool {
        let room = self.queue.len() < QUEUE || (self.busy_until.is_none() && self.queue.is_empty());
        if room {
            self.queue.push_back(seg);
        }
        room
    }
}

struct Net {
    ends: [Endpoint; 2],
    devices: [Device; 2],
    flying: BTreeMap<(Time, u64), (usize, Segment)>,
    ticket: u64,
    now: Time,
    lost: HashSet<u64>,
    arrivals: u64,
    rows: Vec<Row>,
    cwnd: Vec<(i64, u32)>,
}

impl Net {
    fn new(variant: Ns320, lost: HashSet<u64>) -> Net {
        let spec = stack(variant);
        Net {
            ends: [Endpoint::connect(&spec, Seq(0), START), Endpoint::listen(&spec, Seq(0))],
            devices: Default::default(),
            flying: BTreeMap::new(),
            ticket: 0,
            now: START,
            lost,
            arrivals: 0,
            rows: Vec::new(),
            cwnd: vec![(START.0, 536)],
        }
    }

    /// Everything that can leave goes to the devices; the line takes the next packet.
    fn settle(&mut self) {
        for side in 0..2 {
            if self.ends[0].is_established() && side == 0 {
                self.ends[0].write(u64::MAX);
            }
            // The sink reads before the ACK is made: the window is always 65535.
            self.ends[side].read(self.now, u64::MAX);
            while let Some(Sent { seg, .. }) = self.ends[side].transmit(self.now) {
                self.devices[side].put(seg);
                self.feed(side);
            }
        }
        self.note_cwnd();
    }

    fn feed(&mut self, side: usize) {
        if self.devices[side].busy_until.is_some() {
            return;
        }
        let Some(seg) = self.devices[side].queue.pop_front() else { return };
        let bytes = i64::from(seg.payload) + i64::from(seg.header_len) + FRAMING;
        let until = self.now + Span(bytes * 1600);
        self.devices[side].busy_until = Some(until);
        if side == 0 {
            self.rows.push((self.now.0, true, seg.seq.0, seg.ack.0, seg.payload));
        }
        self.ticket += 1;
        self.flying.insert((until + DELAY, self.ticket), (1 - side, seg));
    }

    fn note_cwnd(&mut self) {
        let cwnd = self.ends[0].view().cwnd;
        let (at, last) = *self.cwnd.last().unwrap();
        if cwnd != last {
            if at == self.now.0 {
                self.cwnd.pop();
            }
            self.cwnd.push((self.now.0, cwnd));
        }
    }

    fn step(&mut self) -> bool {
        self.settle();
        let lines = self.devices.iter().filter_map(|d| d.busy_until).min();
        let arrival = self.flying.keys().next().map(|k| k.0);
        let wake = self.ends.iter().filter_map(|e| e.next_wakeup()).min();
        let Some(next) = [lines, arrival, wake].into_iter().flatten().min() else { return false };
        if next > END {
            return false;
        }
        self.now = next;
        // Of events at one time the one that was scheduled first: an arrival was, before the end of a transmission.
        if arrival == Some(next) {
            self.arrive();
        } else if let Some(side) = (0..2).find(|&s| self.devices[s].busy_until == Some(next)) {
            self.devices[side].busy_until = None;
            self.feed(side);
        } else {
            self.ends.iter_mut().for_each(|e| e.wake(next));
        }
        true
    }

    fn arrive(&mut self) {
        let (_, (to, seg)) = self.flying.pop_first().unwrap();
        if to == 1 {
            self.arrivals += 1;
            if self.lost.contains(&self.arrivals) {
                return;
            }
        } else {
            self.rows.push((self.now.0, false, seg.seq.0, seg.ack.0, seg.payload));
        }
        self.ends[to].receive(self.now, &seg);
    }
}

fn text(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference/ns-3.20").join(name);
    let file = File::open(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text
}

/// "1.010134400" in nanoseconds.
fn nanos(s: &str) -> i64 {
    let (whole, part) = s.split_once('.').unwrap();
    whole.parse::<i64>().unwrap() * 1_000_000_000 + format!("{part:0<9}").parse::<i64>().unwrap()
}

fn rows(name: &str) -> Vec<Row> {
    text(name)
        .lines()
        .map(|l| {
            let c: Vec<&str> = l.split(',').collect();
            let n = |i: usize| c[i].parse::<u32>().unwrap();
            (nanos(c[0]), c[1] == "send", n(2), n(4), n(3))
        })
        .collect()
}

/// The last value at each time at which cwnd changed.
fn windows(name: &str) -> Vec<(i64, u32)> {
    let mut all: Vec<(i64, u32)> = Vec::new();
    for l in text(name).lines() {
        let c: Vec<&str> = l.split(',').collect();
        let row = (nanos(c[0]), c[2].parse().unwrap());
        if all.last().is_some_and(|last| last.0 == row.0) {
            all.pop();
        }
        all.push(row);
    }
    all
}

fn replay(name: &str, variant: Ns320) {
    let lost = text(&format!("full_{name}_errors.csv.gz"))
        .lines()
        .filter_map(|l| l.split(',').nth(1)?.parse().ok())
        .collect();
    let mut net = Net::new(variant, lost);
    while net.step() {}
    let want = rows(&format!("full_{name}_segments.csv.gz"));
    for (i, (got, want)) in net.rows.iter().zip(&want).enumerate() {
        assert_eq!(got, want, "{name}: segment event {i}; before: {:?}", &net.rows[i.saturating_sub(6)..i]);
    }
    assert!(net.rows.len() >= want.len(), "{name}: {} of {} events", net.rows.len(), want.len());
    let want = windows(&format!("full_{name}_cwnd.csv.gz"));
    for (i, (got, want)) in net.cwnd.iter().zip(&want).enumerate() {
        assert_eq!(got, want, "{name}: cwnd change {i}");
    }
    assert!(net.cwnd.len() >= want.len());
    assert!(want.len() > 4000);
}

#[test]
fn tahoe() {
    replay("Tahoe", Ns320::Tahoe);
}
#[test]
fn reno() {
    replay("Reno", Ns320::Reno);
}
#[test]
fn newreno() {
    replay("NewReno", Ns320::NewReno);
}
#[test]
fn newreno_with_errors() {
    replay("base", Ns320::NewReno);
}

#[test]
fn a_syn_is_what_it_is_there() {
    let mut e = Endpoint::connect(&stack(Ns320::Reno), Seq(0), START);
    let syn = e.transmit(START).unwrap().seg;
    assert_eq!((syn.header_len, syn.window, syn.flags, syn.mss), (20, 65535, Flags::SYN, None));
    assert_eq!(e.next_wakeup(), Some(START + Span::from_secs(3)));
}
