//! A transfer as its sender's host saw it: what came in, what left, and what follows from both before any stack is asked.

use crate::index::Index;
use crate::mid_stream::under_way;
use crate::run::TOLERANCE;
use std::borrow::Cow;
use std::sync::Arc;
use tcp::rto::wheel;
use tcp::stack::{Options, Wire};
use wire::{Endpoint, Flags, Packet, Segment, Seq, Span, Time};

/// Why a transfer cannot be replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unknown {
    /// The capture begins within it, and no data that it shows is acknowledged in it.
    NoRoundTrip,
    /// The capture begins within it, and has nothing that came in.
    NoAcks,
    /// The SYN was captured, its answer was not.
    HalfHandshake,
    /// Nothing was sent.
    NoData,
    /// Options of the handshake were cut off by the snap length.
    OptionsCut,
    /// The data in its packets, and the data that the capture misses, is far more segments than there are packets.
    TooManySegments,
}

/// A capture may hold or miss 4,096 segments, and 64 more for each of its packets: a packet of 64 KiB has 45 segments of
/// the usual size. Each segment costs memory, and time at each timeout; with an MSS of 1 one packet has 65,535 of them.
const SEGMENTS: u64 = 1 << 12;
const SEGMENTS_OF_A_PACKET: u64 = 64;
/// No window is wider (RFC 7323 §2.3): data that lies farther beyond the data sent so far does not belong to the transfer.
const WIDEST_WINDOW: i64 = 1 << 30;

impl Unknown {
    /// What is missing, and what could be done, as the end of a sentence about the transfer.
    pub fn says(self) -> &'static str {
        match self {
            Unknown::NoRoundTrip => {
                "begins before the capture, and no data is acknowledged in it: how much may be out is not known; capture longer, or from its SYN on"
            }
            Unknown::NoAcks => {
                "begins before the capture, which has no ACKs: nothing tells when what left was acknowledged; capture both directions"
            }
            Unknown::HalfHandshake => {
                "has a SYN without its answer in the capture: what was negotiated is not known; capture both directions"
            }
            Unknown::NoData => "sent no data: there is nothing to compare",
            Unknown::TooManySegments => {
                "has too many segments for a replay: with the MSS of its handshake, the data that the capture holds or misses may be at most 4,096 segments and 64 more for each packet"
            }
            Unknown::OptionsCut => {
                "has its SYN's options cut off by the snap length: what was negotiated is not known; capture 96 bytes of each packet at least"
            }
        }
    }
}

/// A copy of data that left, cut to segments where the capture holds several in one packet (offloads).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Out {
    pub(crate) time: Time,
    /// Number of its packet in the capture, from 1.
    pub(crate) packet: u64,
    /// The SYN is 0, the first byte 1.
    pub(crate) offset: u64,
    pub(crate) payload: u32,
    pub(crate) fin: bool,
    /// Some of it had left before.
    pub(crate) again: bool,
    /// Nothing came or left for a while before it, and it is new: the application may have written it just then.
    pub(crate) after_silence: bool,
    /// It is new, and follows a segment that was not full.
    pub(crate) after_short: bool,
}

impl Out {
    pub(crate) fn end(&self) -> u64 {
        self.offset + u64::from(self.payload)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    In(Time, Segment),
    /// A segment of the handshake.
    Opening(Time),
    /// The place in [`Transfer::outs`].
    Out(usize),
}

impl Event {
    pub(crate) fn time(&self, outs: &[Out]) -> Time {
        match *self {
            Event::In(t, _) | Event::Opening(t) => t,
            Event::Out(at) => outs[at].time,
        }
    }
}

/// One connection, from its handshake on, as the host of `sender` saw it.
#[derive(Clone, Debug)]
pub struct Transfer {
    pub(crate) events: Vec<Event>,
    pub(crate) outs: Vec<Out>,
    pub(crate) index: Arc<Index>,
    /// The segments that may be in the packets or missing.
    pub(crate) most_segments: u64,
    pub(crate) isn: Seq,
    /// The sender sent the SYN, rather than the SYN-ACK.
    pub(crate) opened: bool,
    /// What its SYN offered.
    mss: Option<u16>,
    window_scale: bool,
    sack: bool,
    timestamps: bool,
    /// A short segment left while data was out.
    short_while_out: bool,
    /// Of its timestamps, if there are enough to tell.
    tick: Option<Span>,
    /// What was added to the capture's times.
    pub(crate) shift: Span,
    /// Of one that the capture finds under way.
    pub(crate) under_way: Option<Began>,
    /// What the sending host's buffer is taken to hold, bytes.
    pub(crate) buffer: Option<u64>,
}

/// How a transfer is entered that had begun before its capture, or whose first round trips cannot be told apart.
#[derive(Clone, Debug)]
pub(crate) struct Began {
    /// From this event on it is judged: the first data that was captured is acknowledged.
    pub(crate) judged_from: usize,
    /// It is taken to be in slow start, rather than beyond it.
    pub(crate) slow_start: bool,
    /// The most that was out before, bytes; `None` leaves the window that the stack has by then.
    pub(crate) flight: Option<u32>,
    /// What its handshake would have told, as sentences; empty where it was captured.
    assumed: Vec<String>,
}

impl Began {
    /// What its handshake agreed upon, and where it stood before, is not in the capture.
    pub(crate) fn before_the_capture(&self) -> bool {
        !self.assumed.is_empty()
    }
}

/// A new segment after so much silence may have waited for the application.
const SILENCE: Span = Span::from_millis(5);
/// Round trips in a row with the most data out, each within a segment of the others, that show a full buffer.
const STANDS: usize = 8;
const MILLISECOND: Span = Span::from_millis(1);
/// What comes this close after each other is one burst: ACKs, whose sends may follow the last of it.
pub(crate) const BURST: Span = Span::from_micros(100);
/// Ticks of timestamp clocks that are in use.
const TICKS: [Span; 7] = [
    Span(1_000),
    Span::from_millis(1),
    Span::from_millis(4),
    Span::from_millis(10),
    Span::from_millis(100),
    Span::from_millis(500),
    Span::from_millis(1000),
];

impl Transfer {
    /// Of a capture's packets those of one connection, in their order; `sender` sent the data.
    pub fn new(packets: &[Packet], sender: Endpoint) -> Result<Transfer, Unknown> {
        let syn = |from_sender: bool| {
            packets
                .iter()
                .find(|p| p.seg.flags.has(Flags::SYN) && (p.tuple.src == sender) == from_sender)
                .map(|p| p.seg)
        };
        let first = packets.first().ok_or(Unknown::NoData)?;
        if !first.seg.flags.has(Flags::SYN) {
            // Another connection of the same ports is no part of it.
            let until = packets.iter().position(|p| p.seg.flags.has(Flags::SYN)).unwrap_or(packets.len());
            let under_way = under_way(&packets[..until], sender)?;
            let mut transfer = Transfer::new(&under_way.packets, sender)?;
            let judged_from = under_way.judged_from + transfer.shift;
            let is_judged = |e: &Event| matches!(e, Event::In(t, _) if *t >= judged_from);
            transfer.under_way = Some(Began {
                judged_from: transfer.events.iter().position(is_judged).unwrap_or(0),
                slow_start: false,
                flight: Some(under_way.flight),
                assumed: under_way.assumed,
            });
            return Ok(transfer);
        }
        let (Some(own), Some(peer)) = (syn(true), syn(false)) else { return Err(Unknown::HalfHandshake) };
        if own.options_cut || peer.options_cut {
            return Err(Unknown::OptionsCut);
        }
        let (tick, shift) = clock(packets, sender);
        let mut transfer = Transfer {
            events: Vec::with_capacity(packets.len()),
            outs: Vec::new(),
            index: Arc::default(),
            most_segments: SEGMENTS + SEGMENTS_OF_A_PACKET * packets.len() as u64,
            isn: own.seq,
            opened: !own.flags.has(Flags::ACK),
            mss: own.mss,
            window_scale: own.window_scale.is_some(),
            sack: own.sack_permitted,
            timestamps: own.timestamps.is_some(),
            short_while_out: false,
            tick,
            shift,
            under_way: None,
            buffer: None,
        };
        let stamps = if own.timestamps.is_some() && peer.timestamps.is_some() { 12 } else { 0 };
        let smss = own.mss.unwrap_or(u16::MAX).min(peer.mss.unwrap_or(536)).saturating_sub(stamps).max(1);
        transfer.read(packets, sender, u32::from(smss))?;
        transfer.index = Arc::new(Index::new(&transfer.events, &transfer.outs));
        transfer.under_way = transfer.after_what_is_too_close();
        if transfer.outs.is_empty() { Err(Unknown::NoData) } else { Ok(transfer) }
    }

    fn read(&mut self, packets: &[Packet], sender: Endpoint, smss: u32) -> Result<(), Unknown> {
        let (mut max, mut una) = (1, 1);
        // All data below `sent` was sent, whether the capture holds it or not; `segments` counts it with its repetitions.
        let (mut sent, mut segments) = (1, 0);
        let most = self.most_segments;
        let in_segments = |bytes: u64| bytes.div_ceil(u64::from(smss));
        let mut before = Time::FAR_PAST;
        let mut short = false;
        for p in packets {
            let time = p.time + self.shift;
            if p.tuple.src != sender {
                una = una.max(self.acknowledged(&p.seg));
                let acked = self.near(max, p.seg.ack);
                if p.seg.flags.has(Flags::ACK) && (sent as i64..sent as i64 + WIDEST_WINDOW).contains(&acked)
                {
                    segments += in_segments(acked as u64 - sent);
                    sent = acked as u64;
                }
                self.events.push(Event::In(time, p.seg));
            } else if p.seg.flags.has(Flags::SYN) {
                self.events.push(Event::Opening(time));
            } else if p.seg.payload > 0 || p.seg.flags.has(Flags::FIN) {
                let offset = self.near(max, p.seg.seq).max(0) as u64;
                if offset as i64 - sent as i64 > WIDEST_WINDOW {
                    continue;
                }
                // A keep-alive probe repeats a byte that was acknowledged.
                if offset < una && offset + u64::from(p.seg.payload) <= una && p.seg.payload <= 1 {
                    continue;
                }
                segments += in_segments(offset.saturating_sub(sent)) + in_segments(p.seg.payload.into());
                if segments > most {
                    return Err(Unknown::TooManySegments);
                }
                let fresh = offset >= max;
                for piece in cut(p, time, offset, smss) {
                    let new = piece.offset >= max;
                    let silent = fresh && time - before > SILENCE;
                    self.short_while_out |= new && short_segment(&piece, smss) && piece.offset > una;
                    self.events.push(Event::Out(self.outs.len()));
                    self.outs.push(Out {
                        again: !new,
                        after_silence: new && silent,
                        after_short: new && short,
                        ..piece
                    });
                    if new {
                        short = short_segment(&piece, smss);
                    }
                    max = max.max(piece.end() + u64::from(piece.fin));
                }
                sent = sent.max(max);
            }
            before = time;
        }
        if segments > most { Err(Unknown::TooManySegments) } else { Ok(()) }
    }

    /// The offset of a sequence number that is nearest to `offset`.
    fn near(&self, offset: u64, number: Seq) -> i64 {
        offset as i64 + i64::from(number - (self.isn + offset as u32))
    }

    /// Where the first ACKs come so soon behind what was sent that the capture does not tell in which order the host saw
    /// both: from the first on that does not, the transfer is judged.
    fn after_what_is_too_close(&self) -> Option<Began> {
        let (mut una, mut max, mut flight, mut close) = (1, 1, 0, false);
        let (mut before, mut oldest) = (Time::FAR_PAST, 0);
        for (at, event) in self.events.iter().enumerate() {
            let time = event.time(&self.outs);
            match *event {
                Event::Out(k) => max = max.max(self.outs[k].end()),
                Event::In(_, seg) if seg.flags.has(Flags::ACK) && max > 1 => {
                    flight = flight.max(max.saturating_sub(una));
                    let acked = self.acknowledged(&seg);
                    if acked > una {
                        if time - before > BURST {
                            return close.then_some(Began {
                                judged_from: at,
                                slow_start: true,
                                flight: Some(flight as u32),
                                assumed: Vec::new(),
                            });
                        }
                        oldest += self.outs[oldest..].iter().take_while(|o| o.end() < acked).count();
                        close |= self.outs.get(oldest).is_some_and(|o| time - o.time <= BURST);
                        una = acked;
                    }
                }
                _ => {}
            }
            before = time;
        }
        None
    }

    /// The offset up to which an ACK acknowledges.
    pub(crate) fn acknowledged(&self, seg: &Segment) -> u64 {
        i64::from(seg.ack - self.isn).max(1) as u64
    }

    /// Its sender offered SACK.
    pub(crate) fn sacks(&self) -> bool {
        self.sack
    }

    /// When round trips begin, in the capture's time: each with the first ACK of all that was out as the one before began.
    pub(crate) fn round_trips(&self) -> Vec<Time> {
        let (mut starts, mut end, mut max) = (Vec::new(), 0, 0_i64);
        for event in &self.events {
            match *event {
                Event::Out(k) => max = max.max(self.outs[k].end() as i64),
                Event::In(time, seg) if seg.flags.has(Flags::ACK) && max > 0 => {
                    let acked = self.near(max as u64, seg.ack);
                    if acked > end {
                        starts.push(time - self.shift);
                        end = max;
                    }
                }
                _ => {}
            }
        }
        starts
    }

    /// Where a host that was called begins to answer: as it is asked, by the last data that came before any of its own, or
    /// else at once. `None` for one that called.
    pub(crate) fn asked(&self) -> Option<usize> {
        let before = self.events.iter().take_while(|e| !matches!(e, Event::Out(_))).enumerate();
        let data = before.filter(|(_, e)| matches!(e, Event::In(_, seg) if seg.payload > 0));
        (!self.opened).then(|| data.last().map_or(0, |(at, _)| at))
    }

    /// What is taken for granted of a transfer that the capture finds under way, as sentences; `None` where it has the
    /// handshake.
    pub fn assumed(&self) -> Option<&[String]> {
        self.under_way.as_ref().filter(|b| b.before_the_capture()).map(|began| began.assumed.as_slice())
    }

    /// By how many milliseconds the stack's timers may stand apart from the timestamps' clock: steps, and how many of each;
    /// of a tick, and of the wheel's next two levels, where a timer may have waited for long enough to stand in them.
    pub(crate) fn phases(&self, stack: &Wire) -> Vec<(u32, u32)> {
        if self.tick.is_some_and(|tick| tick != MILLISECOND) {
            return Vec::new();
        }
        let grain = (stack.rto.granularity.0 / MILLISECOND.0).clamp(1, 10) as u32;
        let mut phases = vec![(1, grain)];
        if stack.rto.wheel {
            let longest = self.longest_wait() + TOLERANCE;
            let levels = [(0, grain), (1, 8 * grain)];
            let stands_in = |level| longest >= wheel::least_wait(level, stack.rto.granularity);
            phases
                .extend(levels.into_iter().filter(|(level, _)| stands_in(*level)).map(|(_, step)| (step, 8)));
        }
        phases
    }

    /// The longest time in which nothing new was acknowledged: what is acknowledged sets every timer of data anew (RFC 6298
    /// §5.3), so none has waited for longer.
    fn longest_wait(&self) -> Span {
        let Some(first) = self.events.first() else { return Span::ZERO };
        let (mut since, mut acked, mut longest) = (first.time(&self.outs), None, Span::ZERO);
        for event in &self.events {
            let time = event.time(&self.outs);
            longest = longest.max(time - since);
            match event {
                Event::In(_, seg)
                    if seg.flags.has(Flags::ACK) && acked.is_none_or(|acked| seg.ack - acked > 0) =>
                {
                    (since, acked) = (time, Some(seg.ack));
                }
                _ => {}
            }
        }
        longest
    }

    /// The most data that was out, where it stood there for many round trips: a window that grows does not, and a host
    /// whose send buffer is full sends what is acknowledged anew, no more. Bytes.
    pub(crate) fn standing_flight(&self, stack: &Wire) -> Option<u64> {
        let smss = u64::from(self.mss.unwrap_or(stack.options.mss_bytes));
        // The most that was out in each round trip.
        let (mut trips, mut una, mut max, mut end, mut most) = (Vec::new(), 1_u64, 1_u64, 1_u64, 0);
        for event in &self.events {
            match *event {
                Event::Out(k) => {
                    max = max.max(self.outs[k].end());
                    most = most.max(max.saturating_sub(una));
                }
                Event::In(_, seg) if seg.flags.has(Flags::ACK) => {
                    una = una.max(self.near(max, seg.ack).max(0) as u64);
                    if una > end {
                        trips.push(most);
                        (end, most) = (max, 0);
                    }
                }
                _ => {}
            }
        }
        let largest = trips.iter().copied().max()?;
        let stands = trips.split(|most| most + smss <= largest).map(<[u64]>::len).max()?;
        (stands >= STANDS).then_some(largest)
    }

    /// The same from a host whose buffer holds so many bytes.
    pub(crate) fn with_buffer(&self, bytes: u64) -> Transfer {
        Transfer { buffer: Some(bytes), ..self.clone() }
    }

    /// The same, so many milliseconds later.
    pub(crate) fn at_phase(&self, milliseconds: u32) -> Cow<'_, Transfer> {
        let mut shifted = Cow::Borrowed(self);
        if milliseconds > 0 {
            shifted.to_mut().shift_clock(milliseconds);
        }
        shifted
    }

    /// All happens so many milliseconds later, and echoes say so.
    pub(crate) fn shift_clock(&mut self, milliseconds: u32) {
        let by = MILLISECOND * i64::from(milliseconds);
        self.shift += by;
        for out in &mut self.outs {
            out.time += by;
        }
        for event in &mut self.events {
            match event {
                Event::In(time, seg) => {
                    *time += by;
                    if let Some(stamps) = &mut seg.timestamps {
                        stamps.ecr = stamps.ecr.wrapping_add(milliseconds);
                    }
                }
                Event::Opening(time) => *time += by,
                Event::Out(_) => {}
            }
        }
    }

    /// The stack as this connection had it: options are the handshake's, the clock is the capture's, and what the
    /// application had is told by what left, so that no buffer limits it.
    pub(crate) fn fitted(&self, stack: &Wire) -> Wire {
        let options = Options {
            mss_bytes: self.mss.unwrap_or(stack.options.mss_bytes),
            announces_mss: self.mss.is_some(),
            window_scale: self.window_scale,
            sack: self.sack,
            timestamps: self.timestamps,
            timestamp_tick: self.tick.unwrap_or(stack.options.timestamp_tick),
            ..stack.options
        };
        let mut fitted = Wire { options, ..stack.clone() };
        fitted.send.buffer_bytes = None;
        fitted.send.nagle &= !self.short_while_out;
        fitted
    }
}

fn short_segment(out: &Out, smss: u32) -> bool {
    out.payload > 0 && out.payload < smss
}

/// The segments of a packet.
fn cut(p: &Packet, time: Time, offset: u64, smss: u32) -> impl Iterator<Item = Out> + use<> {
    let (payload, fin, packet) = (p.seg.payload, p.seg.flags.has(Flags::FIN), p.number);
    let pieces = payload.div_ceil(smss).max(1);
    (0..pieces).map(move |k| {
        let from = k * smss;
        Out {
            time,
            packet,
            offset: offset + u64::from(from),
            payload: (payload - from).min(smss),
            fin: fin && k + 1 == pieces,
            again: false,
            after_silence: false,
            after_short: false,
        }
    })
}

/// The tick of the sender's timestamp clock, and what to add to the capture's times so that whole ticks are the values that
/// it stamped: the echoes then say the same here as there.
pub(crate) fn clock(packets: &[Packet], sender: Endpoint) -> (Option<Span>, Span) {
    let base = packets.first().map_or(Time(0), |p| p.time);
    let stamped: Vec<(Time, u32)> = packets
        .iter()
        .filter(|p| p.tuple.src == sender)
        .filter_map(|p| Some((p.time, p.seg.timestamps?.val)))
        .collect();
    let from_zero = (None, Time(0) - base);
    let (Some(&(t0, v0)), Some(&(t1, v1))) = (stamped.first(), stamped.last()) else { return from_zero };
    let ticks = v1.wrapping_sub(v0) as i32;
    if ticks <= 0 {
        return from_zero;
    }
    let mean = (t1 - t0).0 / i64::from(ticks);
    let off = |tick: &Span| (tick.0 as f64 / mean.max(1) as f64).ln().abs();
    let Some(tick) = TICKS.into_iter().min_by(|a, b| off(a).total_cmp(&off(b))) else { return from_zero };
    let ahead = |&(t, v): &(Time, u32)| {
        let by_stamps = Span(i64::from(v.wrapping_sub(v0) as i32) * tick.0);
        (t - t0 - by_stamps).0
    };
    let least = stamped.iter().map(ahead).min().unwrap_or(0);
    // The moment of `v0`'s beginning becomes v0 whole ticks.
    (Some(tick), Time(i64::from(v0) * tick.0) - (t0 + Span(least)))
}
