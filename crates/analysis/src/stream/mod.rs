//! One data direction of a connection: the data that one host sends, and the ACKs that come back for it.

mod account;
mod ack;
mod ack_sample;
mod arrival;
mod bounds;
mod certain;
mod data;
mod facts;
mod ledger;
mod missing;
mod opening;
pub mod repair;
pub mod report;
mod resend;
mod window;

use crate::config::Config;
use crate::prefetch;
use crate::rows::*;
use crate::sink::Sink;
use crate::waits::Waits;
use account::Account;
use arrival::Arrivals;
pub use data::{SHORTEST_WAIT, close};
pub use facts::Agreed;
use facts::{FlowState, LastData};
use ledger::{Conditions, Ledger};
use repair::{AckEvent, PathTiming, SenderModel};
use std::collections::VecDeque;
use std::mem::offset_of;
use window::Window;
use wire::seq::Unwrapper;
use wire::{Flags, Host, Packet, Seq, Span, Time, Tuple};

/// How this stream is seen: from where, and how far away its ends are.
#[derive(Clone, Copy, Debug)]
pub struct View {
    pub at: Vantage,
    /// From an ACK passing here to the packet it sets off: through the sender and back. 0 at the sender.
    pub sender_loop: Span,
    /// The same of a message and its answer.
    pub answer_loop: Span,
    /// Counts packets from the receiver's host seen so far.
    pub peer_packets: u32,
    /// When a data packet passed, less what it waited in queues on its way here, as far as its own timestamp
    /// tells; its time of passing at the sender's side.
    pub sent: Time,
    /// When the other host's own data passed last.
    pub peer_data_at: Time,
    /// What a data packet that is seen away from its sender says of it by its ACK; and of a FIN, what it was like.
    pub answers: Answers,
    /// The other host had more to send than what came before this.
    pub peer_goes_on: bool,
    /// When the handshake was over; `None` if it was not when this passed.
    pub established: Option<Time>,
    /// The capture's clock ticks no finer than this; 0 if it is fine enough.
    pub clock_granularity: Span,
    /// That of its sender's timestamps; 0 where it is not known.
    pub tsval_granularity: Span,
}

/// What the ACK of a data packet says of the other host's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answers {
    #[default]
    Unknown,
    /// It acknowledges some of it that its host's packet before it did not, and not all.
    Part,
    /// It is the first to acknowledge the rest of it.
    Rest,
    /// The data packet before it acknowledged all that the other host has sent: that one was the answer.
    Nothing,
    /// Of a FIN without data: the other host's data comes, and its last segment was a full one, which more follows.
    Unfinished,
}

/// What a stream needs to know of the packet's surroundings.
pub struct Context<'a, S: Sink> {
    pub config: &'a Config,
    pub sink: &'a mut S,
    pub view: View,
    /// When the capture began.
    pub origin: Time,
    /// What the conversation waits for, and which of its hosts sends this stream.
    pub waits: &'a mut Waits,
    pub side: usize,
    /// From the client to the server.
    pub tuple: &'a Tuple,
}

impl<S: Sink> Context<'_, S> {
    /// From which host to which the stream's data goes.
    pub fn path(&self) -> (Host, Host) {
        let (client, server) = (self.tuple.src.host, self.tuple.dst.host);
        if self.side == 0 { (client, server) } else { (server, client) }
    }
}

/// How a stream stands. No method: accounting is changed while it is told, so only the other fields may be borrowed.
macro_rules! flow_state {
    ($stream:ident) => {
        FlowState {
            flow: $stream.id,
            una: $stream.una,
            next: $stream.next,
            flight: $stream.flight(),
            window: &$stream.window,
            agreed: &$stream.agreed,
            last: &$stream.last,
            last_news: $stream.repair.last_news(),
        }
    };
}
use flow_state;

/// Where no SYN told the MSS: Ethernet's, without options.
pub const USUAL_MSS: u32 = 1460;

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
    arrivals: Arrivals,
    last_time: Time,
    ledger: Ledger,
    repair: SenderModel,
    pub agreed: Agreed,
    dsack_seen: bool,
    /// An ACK without data has acknowledged some of it.
    bare_acked: bool,
    /// The FIN was acknowledged, or SACKed.
    fin_told: bool,
    /// Where it was last thought to be seen from.
    at: Vantage,
    last: LastData,
    /// Where the stream ends: behind its FIN.
    fin_end: Option<u64>,
    /// ACKs that have passed but not reached the sender yet; none at the sender's side.
    acks_in_flight: VecDeque<AckEvent>,
    account: Account,
    window: Window,
    newest_delivered: Time,
    /// SACK blocks of the last ACK as offsets, so that one that repeats them costs little.
    last_blocks: [(u64, u64); 4],
    /// Nothing beyond has been SACKed; that the sender has heard of.
    sacked_up_to: u64,
    heard_up_to: u64,
    pub limits: Limits,
    /// Most streams have none of it.
    ack_way: Option<Box<AckWay>>,
    last_repair: Time,
    /// Data up to here must have been sent, though it was not all seen; beyond there none can have been.
    sent_up_to: u64,
    sent_at_most: u64,
    /// From an ACK passing here to what the sender makes of it: no more than this, as repairs show.
    pub turn_at_most: Span,
    /// The least time between two full packets that came one after the other.
    spacing: Span,
    pub id: FlowId,
    /// What was acknowledged before any of it was seen.
    acked_before: Option<Seq>,
    lost_around: (u32, u32),
    pub syn_retransmissions: u32,
    syn_time: Option<Time>,
    last_syn: Option<Time>,
    /// A SYN of this host came with an ACK.
    syn_answers: bool,
    /// Away from the sender: it had heard of something between the last two packets of data.
    heard_news: bool,
    /// The event that released the last data.
    released: Release,
}

/// The cache lines of a stream that hold its bytes from one place up to another: the first, and how many.
const fn lines(from: usize, to: usize) -> (usize, usize) {
    (from / 64, (to - 1) / 64 - from / 64 + 1)
}

/// What an ordinary packet touches, data besides, an ACK besides; and what an ACK does to its own sender's.
const ANY: (usize, usize) = lines(0, offset_of!(Stream, repair) + SenderModel::OFTEN);
const DATA: (usize, usize) = lines(offset_of!(Stream, agreed), offset_of!(Stream, account) + Account::DATA);
const AGREED: (usize, usize) = lines(offset_of!(Stream, agreed), offset_of!(Stream, last));
const ACKS: (usize, usize) =
    lines(offset_of!(Stream, account) + Account::ACKS.0, offset_of!(Stream, account) + Account::ACKS.1);
const BLOCKS: (usize, usize) =
    lines(offset_of!(Stream, window) + offset_of!(Window, now), offset_of!(Stream, limits));
const IDS: (usize, usize) = lines(0, offset_of!(Stream, last_time));

impl Stream {
    /// Copies lost on their way here, and beyond.
    pub fn losses_around(&self) -> (u32, u32) {
        let (before, after) = self.ledger.losses_around();
        (self.lost_around.0 + before, self.lost_around.1 + after)
    }
    pub fn is_window_closed(&self) -> bool {
        self.window.zero_since.is_some()
    }
    pub fn has_data(&self) -> bool {
        self.account.first_data().is_some()
    }
    /// Has it carried anything worth a row: data, or a SYN or FIN that had to be repeated?
    pub fn is_worth_a_row(&self) -> bool {
        self.has_data() || self.syn_retransmissions > 0 || self.account.counts.resent_packets > 0
    }
    pub fn is_repairing(&self) -> bool {
        self.account.episodes().is_open()
    }
    /// Does its host number its packets in ascending order?
    pub fn numbers_ascend(&self) -> bool {
        self.arrivals.ids.ascend()
    }
    /// The lowest offset that is not acknowledged.
    pub fn acked(&self) -> u64 {
        self.una
    }
    pub fn everything_acked(&self) -> bool {
        self.ledger.is_empty()
    }
    /// A packet of this stream follows soon: one that `carries` data, or an ACK.
    #[inline]
    pub fn warm(&self, carries: bool) {
        prefetch::lines(self, ANY.0, ANY.1);
        match carries {
            true => prefetch::lines(self, DATA.0, DATA.1),
            false => {
                prefetch::lines(self, AGREED.0, AGREED.1);
                prefetch::lines(self, ACKS.0, ACKS.1);
                prefetch::lines(self, BLOCKS.0, BLOCKS.1);
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
        self.ledger.warm(carries);
        self.account.warm_beyond(carries);
    }

    /// Is the scale of the window that its receiver advertises known?
    pub fn know_window(&mut self, known: bool) {
        self.window.known = known;
    }
    /// Bytes sent, not acknowledged and not SACKed.
    pub fn flight(&self) -> u64 {
        (self.next - self.una).saturating_sub(self.ledger.sacked_bytes())
    }
    /// What is known of time on this path, for its sender.
    fn timing(&self, view: &View) -> PathTiming {
        self.account.timing(view, self.repair.is_recent())
    }
    /// From a packet of the receiver's to the first of the sender's that echoes its timestamp. That is a full round trip if
    /// the sender answered at once. A sender that has fallen silent meanwhile, because it had nothing to send or waited for
    /// a timer, echoes what it heard last, however long ago that was. `known`: the least of the way to the sender and back
    /// so far.
    pub fn round_trip(
        &mut self,
        sample: Span,
        known: Option<Span>,
        packet: &Packet,
        config: &Config,
        sink: &mut impl Sink,
    ) {
        let bare = packet.seg.payload == 0;
        // New data behind other data may have waited for an ACK in a queue: then the way has become longer than it was.
        let in_turn =
            self.last.seen.is_some() && self.unwrap.is_some_and(|u| u.peek(packet.seg.seq) == self.next);
        let silent = || self.last.seen.is_none_or(|seen| packet.time - seen > sample / 2);
        let least = self.account.rtt().least_by_timestamps().or(known.filter(|_| !in_turn));
        let long = least.map_or(bare, |least| sample > least * 2);
        if long && (bare || silent()) {
            return;
        }
        self.account.round_trip(sample, self.una, self.next);
        if config.wanted.rtts {
            let begins = self.unwrap.map_or(self.base, |u| u.peek(packet.seg.seq));
            let seq = self.relative(begins + u64::from(packet.seg.payload));
            self.account.rtt_row(
                RttRow { flow: self.id, time: packet.time, seq, rtt: sample, kind: RttKind::Timestamps },
                sink,
            );
        }
    }
    pub fn rtt_hint(&mut self, sample: Span) {
        self.account.rtt_hint(sample);
    }

    fn relative(&self, offset: u64) -> u64 {
        offset.saturating_sub(self.base)
    }

    fn conditions(&self, view: &View) -> Conditions {
        let rtt = self.account.rtt();
        Conditions {
            at: view.at,
            // A coarse clock may have cut a tick off what it measures.
            forth_and_back: (rtt.min().unwrap_or(Span::ZERO) - view.clock_granularity).max(Span::ZERO),
            soonest: (rtt.soonest() - view.clock_granularity).max(Span::ZERO),
            latest: rtt.longest_answer(),
            dsack_seen: self.dsack_seen,
        }
    }
}
