//! A connection: two streams, one each way, their handshake and their end.

mod ack_held;
mod ack_loop;
mod bare;
mod ecn;
mod ends;
mod seen;
mod steady;

use crate::Fate;
use crate::assumptions::MIN_RTO_SEEN;
use crate::config::Config;
use crate::connection_table::is;
use crate::incarnation::{Opening, reopens, stale};
use crate::negotiated::Negotiated;
use crate::prefetch;
use crate::rows::*;
use crate::sender_clock::SenderClock;
use crate::sink::Sink;
use crate::stream::report::Ending;
use crate::stream::{Answers, Context, SHORTEST_WAIT, Stream, USUAL_MSS, View, close};
use crate::vantage::Place;
use crate::waits::Waits;
use ack_loop::Exchange;
use bare::{BARE, Bare};
use ecn::EcnSeen;
use std::mem::offset_of;
use wire::{Endpoint, Flags, Notes, Packet, Segment, Seq, Span, Time, Tuple};

/// What one host said of itself on its SYN, and how it ended its stream. Fields in the order of their use: those before
/// `clock` for each packet.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Side {
    packets: u32,
    last_ack: (Seq, u16),
    next_bare: u32,
    /// The timestamp of its last packet without data, and when that passed.
    bare_ts: u32,
    bare_at: Time,
    /// Its last data passed then.
    spoke: Time,
    opening: Opening,
    bare: [Bare; BARE],
    clock: SenderClock,
    sack_permitted: bool,
    timestamps: bool,
    isn: Option<Seq>,
    mss: Option<u16>,
    window_scale: Option<u8>,
    /// Its SYN was seen, with all that it offers.
    has_offered: bool,
    /// Its last SYN, and its first: the handshake takes from that on.
    syn_time: Option<Time>,
    first_syn: Option<Time>,
    /// All its data that was seen is acknowledged since then: what comes next may be the answer to that.
    asked: Option<Time>,
    /// When the last data passed that its own last data acknowledged, together with all before.
    answered: Time,
}

impl Side {
    /// The segment acknowledges and advertises what the one before it did.
    #[inline(always)]
    fn repeats(&self, seg: &Segment) -> bool {
        (seg.ack, seg.window) == self.last_ack
    }
}

#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub struct Connection {
    /// Towards the one that was called.
    pub tuple: Tuple,
    at: [Vantage; 2],
    /// Of two captures this one sees what that side sends as it arrives.
    arrives: [bool; 2],
    /// Window scales in force: none, unless both hosts offered one (RFC 7323 §2.2).
    scales: [u8; 2],
    /// When its handshake was over.
    established: Option<Time>,
    reset: bool,
    reset_by: u8,
    reset_time: Time,
    /// Packets from that host since.
    since_reset: u8,
    /// Nothing but ordinary packets, of which little has to be asked, is expected.
    steady: bool,
    start: Time,
    last: Time,
    /// What the times between packets are multiples of, until that is too fine to matter.
    tick: Span,
    place: Place,
    sides: [Side; 2],
    /// Losses around here when the place was last asked for.
    lost: [(u32, u32); 2],
    handshake: Option<Span>,
    turn: Turn,
    exchange: Exchange,
    /// When the first FIN of each host came.
    fins: Option<Box<[Option<Time>; 2]>>,
    ecn: [EcnSeen; 2],
    waits: Waits,
    streams: [Stream; 2],
}

/// How many cache lines of a connection, and then of its second side, ordinary packets touch.
const NEAR: usize = (offset_of!(Connection, sides) + offset_of!(Side, clock) - 1) / 64 + 1;
const FAR: usize = (offset_of!(Side, clock) + size_of::<SenderClock>() - 1) / 64 + 1;

/// Packets from a host after its reset that are more than what was on its way, or out of order.
const SURVIVED: u8 = 8;

/// As many packets of a side are asked where they were captured.
const FIRST: u32 = 32;

/// How long the client takes to answer, where its handshake did not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Turn {
    #[default]
    Known,
    Unknown,
    /// The first answer to its data passed then.
    Since(Time),
}

/// What all connections of a capture share.
pub struct Capture<'a, S: Sink> {
    pub config: &'a Config,
    pub sink: &'a mut S,
    /// When it began.
    pub origin: Time,
    pub negotiated: &'a Negotiated,
}

impl<S: Sink> Capture<'_, S> {
    fn ctx<'b>(
        &'b mut self,
        view: View,
        waits: &'b mut Waits,
        (tuple, side): (&'b Tuple, usize),
    ) -> Context<'b, S> {
        Context { config: self.config, sink: self.sink, view, origin: self.origin, waits, side, tuple }
    }
}

/// What is to be done with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    Yes,
    /// It opens a new connection between the same endpoints.
    Reopens,
}

impl Connection {
    pub fn new(number: u32) -> Connection {
        let mut new = Connection::default();
        new.reset(number);
        new
    }

    /// Makes it a new connection, where it is; the room that its streams have stays theirs.
    pub fn reset(&mut self, number: u32) {
        let Connection {
            tuple, at, arrives, scales, established, reset, reset_by, since_reset, steady, ..
        } = self;
        *tuple = Tuple::default();
        *at = [Vantage::Unknown; 2];
        *arrives = [false; 2];
        *scales = [0; 2];
        *established = None;
        (*reset, *reset_by, *since_reset, *steady) = (false, 0, 0, false);
        let Connection { start, last, tick, sides, place, lost, handshake, turn, ecn, .. } = self;
        (*start, *last, *tick) = (Time::FAR_FUTURE, Time::FAR_PAST, Span::MAX);
        *sides = [Side { spoke: Time::FAR_PAST, ..Side::default() }; 2];
        *place = Place { news: true, ..Place::default() };
        *lost = [(0, 0); 2];
        *handshake = None;
        *ecn = [EcnSeen::default(); 2];
        *turn = Turn::Known;
        (self.exchange, self.fins) = (Exchange::default(), None);
        let [towards, back] = &mut self.streams;
        towards.reset(number * 2);
        back.reset(number * 2 + 1);
    }

    fn begin(&mut self, first: &Packet, negotiated: &Negotiated) {
        // A SYN-ACK comes from the one that was called.
        let answers = first.seg.flags.has(Flags::SYN) && first.seg.flags.has(Flags::ACK);
        self.tuple = if answers { first.tuple.reversed() } else { first.tuple };
        self.start = first.time;
        self.last = first.time;
        self.waits.begin(first.time);
        if !first.seg.flags.has(Flags::SYN) {
            for (side, tuple) in [self.tuple, self.tuple.reversed()].into_iter().enumerate() {
                if let Some(opening) = negotiated.of(&tuple) {
                    self.sides[side].offer(opening);
                }
            }
        }
    }

    /// A packet of this connection is a few packets away. `towards`: it goes the way of the first one.
    #[inline]
    pub fn warm(&self, towards: bool, carries: bool) {
        // Of the other side little is touched, but by its own packets.
        prefetch::lines(self, 0, NEAR);
        prefetch::lines(&self.sides[1], 0, if towards { 1 } else { FAR });
        self.streams[usize::from(towards != carries)].warm(carries);
        if !carries {
            self.streams[usize::from(!towards)].warm_ids();
        }
    }

    /// It is the next but a few, and what the connection itself holds is here: now what that points to.
    #[inline]
    pub fn warm_beyond(&self, towards: bool, carries: bool) {
        self.streams[usize::from(towards != carries)].warm_beyond(carries);
    }

    /// Are its first packets still being looked at for what they tell of the place of the capture?
    pub fn is_new(&self) -> bool {
        self.sides[0].packets.max(self.sides[1].packets) < FIRST
    }

    /// When its first packet passed, and its last.
    pub fn span(&self) -> (Time, Time) {
        (self.start, self.last)
    }
    /// Bytes that are kept of what is outstanding or not understood yet.
    pub fn held(&self) -> u64 {
        self.streams.iter().map(Stream::held).sum()
    }

    /// When the first FIN of a host came.
    fn fin_of(&self, side: usize) -> Option<Time> {
        self.fins.as_ref()?[side]
    }

    fn have_closed(&self) -> bool {
        self.fins.as_ref().is_some_and(|fins| fins.iter().all(Option::is_some))
    }

    pub fn is_over(&self) -> bool {
        let acked = || self.streams.iter().all(Stream::everything_acked);
        self.reset || (self.have_closed() && acked())
    }

    /// Takes a packet that does not go the short way (see [`Connection::take_run`]).
    #[inline]
    pub fn take<S: Sink>(&mut self, packet: &Packet, fate: Fate, capture: &mut Capture<'_, S>) -> Taken {
        let taken = self.take_any(packet, fate, capture);
        self.steady = self.is_steady(capture.config);
        taken
    }

    /// Takes whatever comes; for the first packets of a connection.
    #[inline(never)]
    pub fn take_any<S: Sink>(&mut self, packet: &Packet, fate: Fate, capture: &mut Capture<'_, S>) -> Taken {
        if self.start == Time::FAR_FUTURE {
            self.begin(packet, capture.negotiated);
        }
        let side = usize::from(!is(&packet.tuple.src, &self.tuple.src));
        if packet.notes.has(Notes::BAD_CHECKSUM)
            && (fate == Fate::Damaged || self.is_seen_remotely(side))
            && !self.spoils_all(side)
        {
            // Damaged before it came here: the host behind drops it (RFC 9293 §3.1), as if it had been lost.
            self.streams[side].limits.bad_checksums += 1;
            return Taken::Yes;
        }
        let fate = self.see_arrive(side, fate);
        let flags = packet.seg.flags;
        if flags.has(Flags::SYN) && self.is_new_incarnation(packet, side) {
            return Taken::Reopens;
        }
        let in_order;
        let packet = match packet.time < self.last {
            false => packet,
            true => {
                // Written down late: it cannot have passed before what passed before it.
                self.streams[side].limits.out_of_capture_order += 1;
                in_order = Packet { time: self.last, ..*packet };
                &in_order
            }
        };
        let silence = packet.time - self.last;
        self.note_step(silence);
        self.last = packet.time;
        if self.is_of_one_before(packet, side) {
            return Taken::Yes;
        }
        self.note(packet, side, capture);
        if packet.notes.ecn() != 0 || flags.has(Flags::SYN.with(Flags::ECE).with(Flags::CWR)) {
            self.note_ecn(packet, side);
        }
        self.place_again(capture.config);
        let twice = capture.config.may_hold_twice && self.is_bare_packet_twice(packet, side);
        if twice {
            self.streams[1 - side].limits.captured_twice += 1;
            return Taken::Yes;
        }
        if flags.has(Flags::SYN) {
            self.on_syn(packet, side, capture);
        }
        if self.turn != Turn::Known {
            self.learn_turn(packet, side);
        }
        let repeats = self.sides[side].repeats(&packet.seg);
        let acked = self.streams[1 - side].acked();
        if flags.has(Flags::ACK) && !flags.has(Flags::RST) && !self.repeats_its_ack(packet, side) {
            self.on_ack(packet, side, capture);
        }
        let carries = packet.seg.payload > 0 || flags.has(Flags::FIN);
        if carries && !flags.has(Flags::RST) {
            if let Some(asked) = self.sides[side].asked.take() {
                self.place.to[side].load(packet.time - asked);
            }
            let mut view = self.view(packet, side, true);
            if view.sender_loop > Span::ZERO {
                view.answers = self.answers(side, self.streams[1 - side].acked() > acked);
            }
            view.peer_goes_on = self.streams[1 - side].goes_on();
            let fin = packet.seg.payload == 0;
            let all_acked = self.streams[1 - side].everything_acked();
            if fin && view.peer_goes_on && self.is_seen_remotely(1 - side) && all_acked {
                view.answers = Answers::Unfinished;
            }
            let mut ctx = capture.ctx(view, &mut self.waits, (&self.tuple, side));
            let spoke = self.streams[side].on_data(packet, fate, &mut ctx);
            if self.streams[side].turn_at_most < self.place.turn(side, self.at[side]) {
                self.place.to[side].bound(self.streams[side].turn_at_most);
            }
            if spoke {
                self.sides[side].spoke = packet.time;
            }
        } else if !flags.has(Flags::SYN) {
            self.on_bare(packet, side, repeats, silence);
        }
        if flags.has(Flags::FIN) {
            self.fins.get_or_insert_default()[side].get_or_insert(packet.time);
        }
        self.note_reset(packet, side);
        Taken::Yes
    }

    /// What a data packet of this side says of the other's data by its ACK, where it is seen away from its sender.
    fn answers(&mut self, side: usize, acks_more: bool) -> Answers {
        let spoke = self.sides[1 - side].spoke;
        let before = std::mem::replace(&mut self.sides[side].answered, spoke);
        match () {
            () if !self.streams[1 - side].everything_acked() => {
                self.sides[side].answered = Time::FAR_PAST;
                if acks_more { Answers::Part } else { Answers::Unknown }
            }
            () if acks_more => Answers::Rest,
            () if before == spoke && spoke > Time::FAR_PAST => Answers::Nothing,
            () => Answers::Unknown,
        }
    }

    /// Are the checksums of this side wrong as a rule? Then they were left to a network card, or the headers were
    /// rewritten since: damage is rare.
    #[cold]
    fn spoils_all(&self, side: usize) -> bool {
        2 * self.streams[side].limits.bad_checksums >= u64::from(self.sides[side].packets)
    }

    /// A host that still has the connection before, between the same ports, answers a SYN with the ACK of that one
    /// (RFC 5961 §4, RFC 9293 §3.5.1), and the caller resets what it does not know; its SYN is sent again.
    #[inline(always)]
    fn is_of_one_before(&self, packet: &Packet, side: usize) -> bool {
        self.established.is_none() && !packet.seg.flags.has(Flags::SYN) && self.knows_nothing_of(packet, side)
    }

    #[cold]
    fn knows_nothing_of(&self, packet: &Packet, side: usize) -> bool {
        let (mine, other) = (&self.sides[side].opening, &self.sides[1 - side].opening);
        stale(&packet.seg, mine, other) && self.streams.iter().all(|s| !s.has_data())
    }

    fn is_new_incarnation(&self, packet: &Packet, side: usize) -> bool {
        let (mine, other) = (&self.sides[side].opening, &self.sides[1 - side].opening);
        reopens(&packet.seg, mine, other, side == 0, self.established.is_some() || self.is_over())
    }

    /// Data that acknowledges what the packet before it did: most packets of a bulk transfer. There is nothing
    /// in it for the other stream.
    #[inline]
    fn repeats_its_ack(&mut self, packet: &Packet, side: usize) -> bool {
        let (seg, s) = (&packet.seg, &mut self.sides[side]);
        let ack_and_window = (seg.ack, seg.window);
        let repeats = ack_and_window == s.last_ack
            && seg.payload > 0
            && self.established.is_some()
            && seg.sack.is_empty();
        s.last_ack = ack_and_window;
        repeats
    }

    fn note<S: Sink>(&mut self, packet: &Packet, side: usize, capture: &mut Capture<'_, S>) {
        let s = &mut self.sides[side];
        s.opening.note(&packet.seg);
        s.packets += 1;
        if s.packets <= FIRST {
            // A checksum of just the pseudo-header was left to the network card: captured on the host itself.
            self.place.weigh(packet.notes, side);
            let partial = packet.notes.has(Notes::PARTIAL_CHECKSUM);
            self.streams[side].limits.partial_checksums += u64::from(partial);
        }
        self.note_clocks(packet, side, capture);
        if packet.seg.options_cut || packet.notes.has(Notes::BAD_CHECKSUM) {
            self.streams[side].limits.bad_checksums += u64::from(packet.notes.has(Notes::BAD_CHECKSUM));
            // What an ACK's options say is of the other direction's data.
            for stream in &mut self.streams {
                stream.limits.options_cut += u64::from(packet.seg.options_cut);
            }
        }
    }

    /// A packet without data passes, so long after the connection's packet before it. `repeats`: it acknowledges and
    /// advertises what its host's packet before it did.
    #[inline(always)]
    fn on_bare(&mut self, packet: &Packet, side: usize, repeats: bool, silence: Span) {
        let heard = self.sides[1 - side].packets;
        let (place, at) = (&self.place, self.at[side]);
        // An answer comes as soon as a host answers: what comes later was sent by a timer.
        let by_timer = || repeats && silence > place.turn(side, at) + SHORTEST_WAIT;
        self.streams[side].on_bare_ack_from_sender(packet, heard, at, by_timer);
        self.note_held_ack(packet, side);
        if repeats && !packet.seg.flags.has(Flags::RST) {
            self.note_repeated_ack(packet.time, side, silence);
        }
    }

    fn on_ack<S: Sink>(&mut self, packet: &Packet, side: usize, capture: &mut Capture<'_, S>) {
        let flags = packet.seg.flags;
        if self.established.is_none() && !flags.has(Flags::SYN) {
            self.established = Some(packet.time);
            self.agree();
            if self.sides.iter().any(|s| s.isn.is_some()) {
                self.waits.on_established(packet.time);
            }
            if let (Some(syn), Some(syn_ack)) = (self.sides[0].syn_time, self.sides[1].syn_time) {
                self.handshake = Some(packet.time - self.sides[0].first_syn.unwrap_or(syn));
                // It may be the timer's: what came first was lost (RFC 6298 §5.7).
                let late = packet.seg.payload > 0 && packet.time - syn_ack >= MIN_RTO_SEEN;
                if side == 0 && late {
                    self.turn = Turn::Unknown;
                } else if side == 0 {
                    self.place.sample(0, packet.time - syn_ack);
                    self.streams[1].rtt_hint(packet.time - syn_ack);
                }
            }
        }
        // A SYN's own window is never scaled (RFC 7323 §2.2).
        let scale = if flags.has(Flags::SYN) { 0 } else { self.scales[side] };
        let of = 1 - side;
        if self.streams[of].agreed.mss == 0 {
            self.streams[of].agreed.mss = USUAL_MSS;
        }
        let view = self.view(packet, of, false);
        let mut ctx = capture.ctx(view, &mut self.waits, (&self.tuple, of));
        self.streams[of].on_ack(packet, scale, &mut ctx);
        if packet.seg.timestamps.is_none() && self.sides[of].packets <= 12 && self.at[of] == Vantage::Receiver
        {
            let all = !flags.has(Flags::SYN) && self.streams[of].everything_acked();
            self.sides[of].asked = all.then_some(packet.time);
        }
    }

    /// The conversation is over, or is seen no more: which host still waited, for what, and until when.
    fn waits_at_end(&self, until: Time) -> (usize, Wait, Time) {
        let established = self.established;
        let awaited = |side: usize| {
            let (wait, end) = self.streams[side].waits_at_end(until, established)?;
            Some((side, wait, end))
        };
        awaited(0).or_else(|| awaited(1)).unwrap_or((0, Wait::Nothing, self.last))
    }

    /// Until when it was under observation, in a capture that has come to `now`: to its reset, to its last packet if both
    /// hosts closed it, or to the end of the capture.
    fn observed_until(&self, now: Time) -> Time {
        match () {
            () if self.reset => self.reset_time,
            () if self.is_over() => self.last,
            () => self.last.max(now),
        }
    }

    /// Ends both streams, in a capture that has come to `now`; returns how many rows were written.
    pub fn finish<S: Sink>(&mut self, now: Time, capture: &mut Capture<'_, S>) -> u64 {
        let one_way = self.sides[0].packets == 0 || self.sides[1].packets == 0;
        let observed_until = self.observed_until(now);
        let (waiting, wait, until) = self.waits_at_end(observed_until);
        let mut flows = [None, None];
        for side in 0..2 {
            if !self.streams[side].is_worth_a_row() {
                continue;
            }
            self.streams[side].limits.one_way = one_way;
            let ends: [Endpoint; 2] = [self.tuple.src, self.tuple.dst];
            let ending = Ending {
                sender: ends[side],
                receiver: ends[1 - side],
                closed: self.closed(),
                reset: self.reset.then_some(Reset {
                    closed_before: self.fin_of(usize::from(self.reset_by)).is_some(),
                    by_sender: side == usize::from(self.reset_by),
                    time: self.reset_time,
                }),
                fin: self.fin_of(side),
                handshake: self.handshake,
                syns_resent: self.streams.iter().map(|s| s.syn_retransmissions).sum(),
                window_scale: self.sides[1 - side].window_scale,
                ecn: self.ecn_of(side),
                opening_known: self.sides.iter().all(|s| s.isn.is_some()),
                start: self.start,
                observed_until,
            };
            let view = self.view_of(side, self.last);
            let mut ctx = capture.ctx(view, &mut self.waits, (&self.tuple, side));
            flows[side] = Some(self.streams[side].finish(&ending, &mut ctx));
        }
        let Some(first) = flows.iter().flatten().next().map(|row| row.flow) else { return 0 };
        if capture.sink.wants_all(&flows) {
            for row in self.waits.finish(until, (waiting, wait)).flat_map(|s| s.rows(first)) {
                capture.sink.wait(row);
            }
            for (stream, row) in self.streams.iter().zip(&mut flows) {
                row.iter_mut().for_each(|row| stream.complete(row, capture.sink));
            }
        }
        capture.sink.connection(&flows);
        flows.iter().flatten().count() as u64
    }
}
