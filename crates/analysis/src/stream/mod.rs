//! One data direction of a connection: the data that one host sends, and the ACKs that come back for it.

mod ack;
pub mod board;
mod bounds;
mod certain;
mod data;
mod delivery;
mod episode;
mod identification;
mod idle;
mod ledger;
mod opening;
mod queue;
pub mod repair;
pub mod report;
mod resend;
mod rounds;
mod rtt;
mod settle;
mod unseen;
mod window;

use crate::config::Config;
use crate::infer::Inferrer;
use crate::prefetch;
use crate::rounds::Rounds;
use crate::rows::*;
use crate::sink::Sink;
use crate::timers::Timers;
use board::{Board, Ordinal};
use delivery::Delivery;
use episode::Episodes;
use identification::Ids;
use idle::IdleTotals;
use ledger::Ledger;
use queue::Queue;
use repair::{AckNews, Pace, Repair};
use rtt::{Rtt, is_round_trip};
use settle::{Judge, Settling};
use std::collections::VecDeque;
use std::mem::offset_of;
use window::Window;
use wire::seq::Unwrapper;
use wire::{Flags, Packet, Seq, Span, Time};

/// How this stream is seen: from where, and how far away its ends are.
#[derive(Clone, Copy, Debug)]
pub struct View {
    pub at: Vantage,
    /// From an ACK passing here to the packet it sets off: through the sender and back. 0 at the sender.
    pub turn: Span,
    /// Counts packets from the receiver's host seen so far.
    pub heard: u32,
    /// When a data packet passed, less what it waited in queues on its way here, as far as its own timestamp
    /// tells; its time of passing at the sender's side.
    pub sent: Time,
    /// When the other host's own data passed last.
    pub spoken: Time,
    /// When the handshake was over; `None` if it was not when this passed.
    pub established: Option<Time>,
    /// The capture's clock ticks no finer than this; 0 if it is fine enough.
    pub tick: Span,
}

/// What a stream needs to know of the packet's surroundings.
pub struct Surroundings<'a, S: Sink> {
    pub config: &'a Config,
    pub sink: &'a mut S,
    pub view: View,
    /// When the capture began.
    pub origin: Time,
}

/// Round trips that one ACK told, each with the end of the data it is of.
#[derive(Clone, Debug, Default)]
struct Samples {
    wanted: bool,
    /// Several where its blocks tell of data beside what it acknowledges.
    told: Vec<(Span, u64, RttKind)>,
}

impl Samples {
    /// As if new, with the room it has.
    fn clear(&mut self) {
        self.wanted = false;
        self.told.clear();
    }
    fn take(&mut self, rtt: Span, end: u64, kind: RttKind) {
        if self.wanted {
            self.told.push((rtt, end, kind));
        }
    }
}

/// Where no SYN told the MSS: Ethernet's, without options.
pub const USUAL_MSS: u32 = 1460;

/// First what any data packet counts.
#[derive(Clone, Debug, Default)]
#[repr(C)]
struct Counts {
    packets: u64,
    bytes: u64,
    segments: u64,
    resent_segments: u64,
    resent_packets: u64,
    resent_bytes: u64,
    by_cause: [u64; 7],
    needless: u64,
    needless_unknown: u64,
    most_copies: u32,
    probes_new: u64,
    probes_repeat: u64,
    keep_alives: u64,
    window_probes: u64,
    lost_copies: u64,
    copies_unknown: bool,
    lost_segments: u64,
    bursts: u32,
    largest_burst: u32,
    timeouts: u64,
    max_backoff: u32,
    cost: Option<Span>,
}

/// The last ACK with news.
#[derive(Clone, Copy, Debug, Default)]
struct LastAck {
    /// Bytes that it took out of the flight.
    took: u64,
    /// Data came with it.
    carried: bool,
}

/// Fields in the order of their use: first what any ordinary packet needs, then data, then ACKs; the rest seldom.
/// What a new one holds stands in [`Stream::reset`].
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub struct Stream {
    /// Lowest offset not acknowledged, and the one after the highest seen.
    una: u64,
    next: u64,
    /// Offset of the SYN, or of the byte before the first seen.
    base: u64,
    unwrap: Option<Unwrapper>,
    ids: Ids,
    /// What the sender itself acknowledged last.
    last_acked: Option<Seq>,
    next_ordinal: Ordinal,
    ledger: Option<Box<Ledger>>,
    /// Made at the first data: most streams carry none.
    infer: Option<Box<Inferrer>>,
    last_time: Time,
    board: Board,
    repair: Repair,
    settling: Queue<Settling>,
    pub mss: u32,
    /// Agreed on, as far as is known; SACK blocks and timestamps that pass tell it too.
    pub sack_permitted: bool,
    pub timestamps: bool,
    /// Is it known whether SACK was agreed on?
    pub sack_known: bool,
    /// Blocks have passed.
    pub sack_seen: bool,
    dsack_seen: bool,
    last_pushed: bool,
    /// The FIN was acknowledged, or SACKed.
    fin_told: bool,
    /// Of what was sent first; a copy with another one has passed a router since.
    ttl: u8,
    /// Where it was last thought to be seen from.
    at: Vantage,
    last_payload: u32,
    /// Where the stream ends: behind its FIN.
    fin_end: Option<u64>,
    last_sent: Time,
    last_data: Option<Time>,
    tick: Tick,
    flight_max: u64,
    /// ACKs that have passed but not reached the sender yet; none at the sender's side.
    on_the_way: VecDeque<AckNews>,
    pub limits: Limits,
    counts: Counts,
    last_repair: Time,
    /// Data up to here must have been sent, though it was not all seen.
    sent_up_to: u64,
    /// From an ACK passing here to what the sender makes of it: no more than this, as repairs show.
    pub turn_at_most: Span,
    /// The least time between two full packets that came one after the other.
    spacing: Span,
    window: Window,
    acks: u64,
    duplicate_acks: u64,
    ack: LastAck,
    newest_delivered: Time,
    episodes: Episodes,
    /// What its limits are read from; none before it has sent a few segments.
    rounds: Option<Box<Rounds>>,
    /// SACK blocks of the last ACK, so that one that repeats them costs nothing.
    last_sack: wire::SackBlocks,
    last_blocks: [(u64, u64); 4],
    samples: Samples,
    rtt: Rtt,
    timers: Timers,
    delivery: Delivery,
    pub id: FlowId,
    /// What was acknowledged before any of it was seen.
    acked_before: Option<Seq>,
    idle: IdleTotals,
    interval: IntervalRow,
    lost_around: (u32, u32),
    first_data: Option<Time>,
    pub syn_retransmissions: u32,
    syn_time: Option<Time>,
    last_syn: Option<Time>,
    /// A SYN of this host came with an ACK.
    syn_answers: bool,
    /// An inferrer of another stream, that need not be allocated.
    spare_infer: Option<Box<Inferrer>>,
    spare_rounds: Option<Box<Rounds>>,
}

/// The cache lines of a stream that hold its bytes from one place up to another: the first, and how many.
const fn lines(from: usize, to: usize) -> (usize, usize) {
    (from / 64, (to - 1) / 64 - from / 64 + 1)
}

/// What an ordinary packet touches, data besides, an ACK besides; and what an ACK does to its own sender's.
const ANY: (usize, usize) = lines(0, offset_of!(Stream, repair) + Repair::OFTEN);
const DATA: (usize, usize) =
    lines(offset_of!(Stream, settling), offset_of!(Stream, counts) + offset_of!(Counts, resent_segments));
const SETTLING: (usize, usize) = lines(offset_of!(Stream, settling), offset_of!(Stream, last_payload));
const ACKS: (usize, usize) = lines(
    offset_of!(Stream, window) + offset_of!(Window, now),
    offset_of!(Stream, delivery) + Delivery::IN_EPISODES,
);
const IDS: (usize, usize) = lines(0, offset_of!(Stream, next_ordinal));

/// The newest timestamp of the sender, when it was first seen, and where its data began.
#[derive(Clone, Copy, Debug, Default)]
struct Tick {
    ts: u32,
    /// What it echoes.
    echo: u32,
    /// It began two ticks or more after the one before, and no ACK had been heard since that.
    unprompted: bool,
    from: u64,
    began: Time,
}

impl Stream {
    /// Copies lost on their way here, and beyond.
    pub fn losses_around(&self) -> (u32, u32) {
        let (mut before, mut after) = self.lost_around;
        if let Some(l) = &self.ledger {
            before += l.lost_before;
            after += l.lost_after;
        }
        (before, after)
    }
    /// Has it carried anything worth a row: data, or a SYN or FIN that had to be repeated?
    pub fn is_worth_a_row(&self) -> bool {
        self.first_data.is_some() || self.syn_retransmissions > 0 || self.counts.resent_packets > 0
    }
    pub fn everything_acked(&self) -> bool {
        self.board.is_empty()
    }
    /// A packet of this stream follows soon: one that `carries` data, or an ACK.
    #[inline]
    pub fn warm(&self, carries: bool) {
        prefetch::lines(self, ANY.0, ANY.1);
        match carries {
            true => prefetch::lines(self, DATA.0, DATA.1),
            false => {
                prefetch::lines(self, SETTLING.0, SETTLING.1);
                prefetch::lines(self, ACKS.0, ACKS.1);
            }
        }
    }
    /// An ACK of its sender's follows soon.
    #[inline]
    pub fn warm_ids(&self) {
        prefetch::lines(self, IDS.0, IDS.1);
    }
    /// A packet of this stream follows soon: `carries` data, which is put at the end, or acknowledges the front.
    #[inline]
    pub fn warm_beyond(&self, carries: bool) {
        match carries {
            true => self.board.warm_end(),
            false => {
                self.board.warm_for_ack();
                self.rtt.warm();
                self.episodes.warm();
            }
        }
        if let Some(settling) = self.settling.front() {
            prefetch::lines(&settling.until, 0, 1);
        }
        if let Some(infer) = &self.infer {
            infer.warm();
        }
        if let Some(ledger) = &self.ledger {
            ledger.warm(carries);
        }
    }

    /// Is the scale of the window that its receiver advertises known?
    pub fn know_window(&mut self, known: bool) {
        self.window.known = known;
    }
    /// Bytes sent, not acknowledged and not SACKed.
    pub fn flight(&self) -> u64 {
        (self.next - self.una).saturating_sub(self.board.sacked_bytes)
    }
    /// A full round trip, told by the receiver's own timestamps coming back through the sender.
    pub fn round_trip(&mut self, sample: Span, packet: &Packet, config: &Config, sink: &mut impl Sink) {
        self.rtt.take_timestamps(sample);
        if is_round_trip(sample) {
            self.rtt_in_round(sample);
            self.timers.on_rtt(sample, self.una, self.next);
        }
        if config.wanted.rtts {
            let begins = self.unwrap.map_or(self.base, |u| u.peek(packet.seg.seq));
            let end = begins + u64::from(packet.seg.payload);
            self.rtt_row(packet.time, sample, end, RttKind::Timestamps, sink);
        }
    }
    pub fn rtt_hint(&mut self, sample: Span) {
        self.rtt.hint(sample);
    }

    #[inline(always)]
    fn infer(&mut self) -> &mut Inferrer {
        if self.infer.is_none() {
            self.infer = Some(self.new_infer());
        }
        self.infer.get_or_insert_default()
    }

    #[cold]
    fn new_infer(&mut self) -> Box<Inferrer> {
        let mut infer = self.spare_infer.take().unwrap_or_default();
        *infer = Inferrer::new();
        if self.limits.mid_stream {
            infer.set_mss(self.mss);
            infer.set_sack(self.sack_permitted);
        } else {
            infer.on_handshake(self.mss, self.sack_permitted);
        }
        infer
    }

    /// MSS-sized segments in `payload` bytes; a bare FIN counts as one.
    fn segments(&self, payload: u32) -> u32 {
        if payload <= self.mss { 1 } else { payload.div_ceil(self.mss.max(1)) }
    }

    fn relative(&self, offset: u64) -> u64 {
        offset.saturating_sub(self.base)
    }

    /// The least round trip, as the sender has it.
    fn round(&self, view: &View) -> Span {
        self.rtt.min().unwrap_or(Span::ZERO) + view.turn
    }

    fn pace(&self, view: &View) -> Pace {
        let round = self.round(view);
        Pace {
            // Two packets that a tick parts may be two ticks apart, and half a tick is lost in rounding.
            tolerance: Span::from_millis(2).max(round / 10).max(view.tick.scale(2.5)),
            srtt: self.rtt.srtt() + view.turn,
            rto: self.rtt.rto() + view.turn,
            grain: (view.turn == Span::ZERO && matches!(view.at, Vantage::Sender | Vantage::Both))
                .then(|| view.tick.scale(2.5)),
        }
    }

    fn judge(&self, view: &View) -> Judge {
        Judge {
            at: view.at,
            // A coarse clock may have cut a tick off what it measures.
            forth_and_back: (self.rtt.min().unwrap_or(Span::ZERO) - view.tick).max(Span::ZERO),
            dsack_seen: self.dsack_seen,
        }
    }

    /// From now on every copy is followed: there is something to tell.
    fn keep_ledger(&mut self) -> &mut Ledger {
        let next = self.next_ordinal;
        let board = &mut self.board;
        self.ledger.get_or_insert_with(|| {
            board.steps += board.len() as u64;
            // Until now each segment outstanding was sent once, in order, so the board is the ledger.
            let first = board.front().map_or(next, |s| s.first);
            let mut ledger = Ledger::starting_at(first);
            for seg in board.iter() {
                // Copies in between are of data acknowledged since.
                while ledger.next_ordinal() < seg.first {
                    ledger.push(seg.first_time(), seg.start, 0, 0, 0);
                }
                if ledger.next_ordinal() == seg.first {
                    ledger.push(seg.first_time(), seg.start, seg.len() as u32, 0, seg.first_ts());
                } else if let Some(copy) = ledger.copy_mut(seg.first) {
                    copy.len += seg.len() as u32; // a split segment, one copy
                }
            }
            while ledger.next_ordinal() < next {
                ledger.push(Time::ZERO, 0, 0, 0, 0);
            }
            Box::new(ledger)
        })
    }
}
