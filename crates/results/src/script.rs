//! One real endpoint whose peer is a script: what it sends at each event, and what it knows and has decided after it.

use crate::json::write::{By, object};
use instant::{Span, Time};
use tcp::endpoint::{Config, Endpoint, Phase, Sent, View, Why};
use tcp::stack::Wire;
use wire::{Flags, SackBlocks, Segment, Seq, Timestamps};

/// Something that happens to the endpoint.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    pub at: Span,
    pub what: What,
}

/// Offsets count the stream's bytes from 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum What {
    /// Only time passes.
    #[default]
    Wait,
    /// The application writes so many bytes.
    Write(u64),
    Close,
    /// The peer acknowledges everything before `next`.
    Ack(Ack),
    /// The peer sends these bytes of its own stream.
    Data {
        from: u64,
        to: u64,
    },
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ack {
    pub next: u64,
    /// In the order of the option.
    pub sack: Vec<(u64, u64)>,
    /// The peer's window from now on, bytes.
    pub window: Option<u32>,
    /// The ACK echoes the timestamp of the copy that was sent last by then. Without it, the copy sent last of the
    /// segment that filled the gap, as a receiver does that saw only that (RFC 7323 §4.3).
    pub echo: Option<Span>,
}

/// What happened at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub time: Span,
    /// The event's place in the script; `None`: a timer.
    pub event: Option<usize>,
    pub sent: Vec<Sent>,
    pub view: View,
}

/// A copy of data that left.
#[derive(Clone, Copy, Debug)]
struct Copy {
    time: Time,
    from: u64,
    to: u64,
    stamp: u32,
}

pub struct Script {
    end: Endpoint,
    now: Time,
    copies: Vec<Copy>,
    /// What the application has written and the send buffer has not taken yet.
    unwritten: u64,
    closing: bool,
    window: u32,
    shift: u8,
    stamps: bool,
    echo: u32,
    acked: u64,
    peer_next: u64,
    steps: Vec<Step>,
}

const ISN: Seq = Seq(1_000_000);
const PEER: Seq = Seq(5_000_000);
/// The handshake ends here, which is 0 s for the script.
const START: Time = Time(10_000_000_000);
/// The peer's window scale: windows up to 8 MiB, in units of 128 bytes.
const SHIFT: u8 = 7;

impl Script {
    /// A connection whose handshake took `rtt`.
    pub fn new(spec: &Wire, rtt: Span) -> Script {
        let begin = START - rtt;
        let mut end = Endpoint::connect_with(spec, &Config { isn: ISN, ..Config::default() }, begin);
        let syn = end.transmit(begin).map(|sent| sent.seg).unwrap_or_default();
        let answer = Segment {
            seq: PEER,
            ack: ISN + 1,
            flags: Flags::SYN.with(Flags::ACK),
            window: u16::MAX,
            window_scale: syn.window_scale.map(|_| SHIFT),
            mss: Some(spec.options.mss_bytes),
            sack_permitted: syn.sack_permitted,
            timestamps: syn.timestamps.map(|t| Timestamps { val: 1, ecr: t.val }),
            ..Segment::default()
        };
        end.receive(START, &answer);
        while end.transmit(START).is_some() {}
        let mut script = Script {
            end,
            now: START,
            copies: Vec::new(),
            unwritten: 0,
            closing: false,
            window: u32::MAX,
            shift: syn.window_scale.map_or(0, |_| SHIFT),
            stamps: syn.timestamps.is_some(),
            echo: syn.timestamps.map_or(0, |t| t.val),
            acked: 0,
            peer_next: 0,
            steps: Vec::new(),
        };
        // The window of a SYN is not scaled: now it is as large as they come.
        script.hear(&Ack::default());
        script
    }

    pub fn smss(&self) -> u32 {
        self.end.view().smss
    }

    /// What follows from the events, timers included. An error says which event cannot be.
    pub fn play(mut self, events: &[Event]) -> Result<Vec<Step>, String> {
        for (number, event) in events.iter().enumerate() {
            let to = START + event.at;
            if to < self.now {
                let (at, now) = (event.at.as_secs(), (self.now - START).as_secs());
                return Err(format!(
                    "event {number}: {at} s is before {now} s, where the script has come to"
                ));
            }
            self.pass(to);
            self.happen(&event.what);
            self.note(Some(number));
        }
        Ok(self.steps)
    }

    /// Timers fire on the way; a timer that only moves itself is no step.
    fn pass(&mut self, to: Time) {
        while let Some(wake) = self.end.next_wakeup().filter(|t| *t <= to) {
            let before = self.end.view();
            self.now = self.now.max(wake);
            self.end.wake(self.now);
            let mut sent = Vec::new();
            self.drain(&mut sent);
            if !sent.is_empty() || self.end.view() != before {
                self.steps.push(Step { time: self.now - START, event: None, sent, view: self.end.view() });
            }
        }
        self.now = to;
    }

    fn happen(&mut self, what: &What) {
        match what {
            What::Wait => {}
            What::Write(bytes) => self.unwritten += bytes,
            What::Close => self.closing = true,
            What::Ack(ack) => self.hear(ack),
            What::Data { from, to } => self.hear_data(*from, *to),
        }
    }

    fn note(&mut self, event: Option<usize>) {
        let mut sent = Vec::new();
        self.drain(&mut sent);
        self.steps.push(Step { time: self.now - START, event, sent, view: self.end.view() });
    }

    /// The buffer takes what it has room for, and whatever may leave does.
    fn drain(&mut self, out: &mut Vec<Sent>) {
        loop {
            self.unwritten -= self.end.write(self.unwritten).min(self.unwritten);
            if self.closing && self.unwritten == 0 {
                self.closing = false;
                self.end.close();
            }
            let before = out.len();
            while let Some(sent) = self.end.transmit(self.now) {
                self.keep(&sent);
                out.push(sent);
            }
            if out.len() == before {
                return;
            }
        }
    }

    fn keep(&mut self, sent: &Sent) {
        if sent.seg.payload > 0 {
            let from = sent.offset - 1;
            let to = from + u64::from(sent.seg.payload);
            let stamp = sent.seg.timestamps.map_or(0, |t| t.val);
            self.copies.push(Copy { time: self.now, from, to, stamp });
        }
    }

    fn hear(&mut self, ack: &Ack) {
        if let Some(at) = ack.echo {
            let by = START + at;
            self.echo = self.copies.iter().rfind(|c| c.time <= by).map_or(self.echo, |c| c.stamp);
        } else if ack.next > self.acked {
            let filled = self.copies.iter().rfind(|c| (c.from..c.to).contains(&self.acked));
            self.echo = filled.map_or(self.echo, |c| c.stamp);
        }
        self.acked = self.acked.max(ack.next);
        self.window = ack.window.unwrap_or(self.window);
        let mut sack = SackBlocks::NONE;
        for (left, right) in &ack.sack {
            sack.push(offset(*left), offset(*right));
        }
        let seg = Segment { ack: offset(ack.next), sack, ..self.peer_segment(self.peer_next) };
        self.end.receive(self.now, &seg);
        self.end.read(self.now, u64::MAX);
    }

    fn hear_data(&mut self, from: u64, to: u64) {
        let payload = u32::try_from(to.saturating_sub(from)).unwrap_or(u32::MAX);
        let seg = Segment { ack: offset(self.acked), payload, ..self.peer_segment(from) };
        self.end.receive(self.now, &seg);
        self.end.read(self.now, u64::MAX);
        self.peer_next = self.end.delivered();
    }

    fn peer_segment(&self, from: u64) -> Segment {
        let val = 2 + ((self.now - START).0 / 1_000_000) as u32;
        Segment {
            seq: PEER + (1 + from as u32),
            flags: Flags::ACK,
            window: (self.window >> self.shift).min(u32::from(u16::MAX)) as u16,
            timestamps: self.stamps.then_some(Timestamps { val, ecr: self.echo }),
            ..Segment::default()
        }
    }
}

/// A sequence number of the endpoint's stream.
fn offset(byte: u64) -> Seq {
    ISN + (1 + byte as u32)
}

/// Why a segment was sent, in one word.
fn why(why: Why) -> &'static str {
    match why {
        Why::Handshake => "handshake",
        Why::New => "new",
        Why::Probe { .. } => "probe",
        Why::Recovery { .. } => "recovery",
        Why::Timeout { .. } => "timeout",
        Why::LossState => "loss-state",
        Why::Persist => "persist",
        Why::KeepAlive => "keep-alive",
        Why::Ack => "ack",
        Why::Fin => "fin",
        Why::Rst => "rst",
    }
}

fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Open => "open",
        Phase::Recovery => "recovery",
        Phase::Loss => "loss",
    }
}

pub fn put_step(step: &Step, out: &mut Vec<u8>) {
    let v = &step.view;
    object!(out,
        "time_s": step.time,
        "event": step.event,
        "sent": step.sent.iter().map(|sent| By(move |out: &mut Vec<u8>| put_sent(sent, out))).collect::<Vec<_>>(),
        "smss_bytes": v.smss,
        "cwnd_bytes": v.cwnd,
        "ssthresh_bytes": (v.ssthresh != u32::MAX).then_some(v.ssthresh),
        "flight_bytes": v.flight,
        "pipe_bytes": v.pipe,
        "srtt_s": v.srtt,
        "rttvar_s": v.rttvar,
        "rto_s": v.rto,
        v.{ backoff, dupacks },
        "phase": phase(v.phase),
        "una": v.una.saturating_sub(1),
        "nxt": v.nxt.saturating_sub(1),
        "timeouts": v.timeouts,
    );
}

fn put_sent(sent: &Sent, out: &mut Vec<u8>) {
    let seg = &sent.seg;
    let blocks = seg.sack.as_slice().iter().map(|(left, right)| {
        let [left, right] = [left, right].map(|seq| (*seq - (PEER + 1)) as u32);
        By(move |out: &mut Vec<u8>| object!(out, "start": left, "end": right))
    });
    object!(out,
        "seq": sent.offset.saturating_sub(1),
        "bytes": seg.payload,
        "why": why(sent.why),
        "ack": seg.flags.has(Flags::ACK).then(|| (seg.ack - (PEER + 1)) as u32),
        "sack": blocks.collect::<Vec<_>>(),
        "window_field": u32::from(seg.window),
        "tsval": seg.timestamps.map(|t| t.val),
    );
}

#[cfg(test)]
mod tests;
