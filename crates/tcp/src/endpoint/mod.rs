//! One end of a TCP connection (RFC 9293), sans-IO: segments and times in, segments and one next wake-up out.
//!
//! Both halves live here; the stream is counted in offsets inside and in 32-bit sequence numbers only at this
//! edge. The caller drains [`Endpoint::transmit`] after every [`Endpoint::receive`], [`Endpoint::wake`],
//! [`Endpoint::write`], [`Endpoint::read`] and [`Endpoint::close`].

mod expected;
mod follow;
mod handshake;
mod input;
mod keepalive;
mod output;
mod view;

use crate::receiver::{Receiver, scale_for};
use crate::sampler::Clock;
use crate::sender::Sender;
pub use crate::sender::{Blocked, Phase};
use crate::stack;
use crate::timers::{Timer, Timers};
pub use follow::Followed;
pub use keepalive::KeepAlive;
pub use output::Burst;
use std::sync::Arc;
pub use view::{CaState, Scoreboard, State, View};
use wire::{Segment, Seq};
use wire::{Span, Time};

/// Why a segment was sent: the truth, for those who judge the analysis. Whether a retransmission was needless is
/// for the caller to find, who sees what arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    Handshake,
    New,
    /// A tail-loss probe; `new` data or a repetition.
    Probe {
        new: bool,
    },
    /// In recovery.
    Recovery {
        evidence: Evidence,
    },
    /// The timer's own retransmission; `backoff` timeouts came before it without progress.
    Timeout {
        backoff: u32,
    },
    /// Slow start after a timeout.
    LossState,
    /// A probe of a closed window.
    Persist,
    KeepAlive,
    Ack,
    /// A FIN without data, for the first time.
    Fin,
    Rst,
}

impl Why {
    /// Was this data (or a FIN) sent before?
    pub fn is_retransmission(self) -> bool {
        matches!(
            self,
            Why::Recovery { .. } | Why::Timeout { .. } | Why::LossState | Why::Probe { new: false }
        )
    }
}

/// What showed the loss that a recovery repairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    DupAck,
    Sack,
    /// A reorder timer (RFC 8985).
    Time,
}

/// A segment on its way out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    pub seg: Segment,
    /// Where its sequence number lies in the stream: the SYN is 0, the first byte 1.
    pub offset: u64,
    pub why: Why,
}

/// Why a connection ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The peer answered the SYN with a RST.
    Refused,
    /// The peer sent a RST.
    Reset,
    /// Nobody answered: too many retransmissions, or keep-alive probes, in a row.
    TimedOut,
    /// [`Endpoint::abort`].
    Aborted,
}

/// What one connection sets apart from its stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    pub isn: Seq,
    /// Lowers the MSS to what fits, bytes with IP header.
    pub path_mtu: Option<u16>,
    /// In place of the stack's own receiver half.
    pub receive: Option<stack::Receive>,
}

/// How far the connection is, apart from who has closed (see [`Endpoint::state`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Listen,
    SynSent,
    SynReceived,
    /// ESTABLISHED up to LAST-ACK.
    Open,
    TimeWait,
    Closed,
}

/// An owed acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owed {
    Nothing,
    /// With data if there is some, else alone.
    Ack,
    /// Alone: it reports blocks for which a full data segment has no room, or challenges.
    Alone,
}

#[derive(Clone, Debug)]
pub struct Endpoint {
    sender: Sender,
    receiver: Receiver,
    timers: Timers,
    clock: Clock,
    stage: Stage,
    owed: Owed,
    /// Timestamps were negotiated.
    stamps: bool,
    /// The SYN asked for ECN; both sides agreed; a mark came, and is echoed until the peer says CWR; what arrives now is marked.
    asked_for_ecn: bool,
    ecn: bool,
    echoes: bool,
    marked: bool,
    /// Window scaling was negotiated.
    scaled: bool,
    /// Shifts of the windows that the peer sends, and that this side sends (RFC 7323 §2).
    shift_in: u8,
    shift_out: u8,
    isn: Seq,
    peer_isn: Seq,
    /// TS.Recent, and when it was taken (RFC 7323 §4.3, §5.5).
    recent: u32,
    recent_at: Time,
    /// Last.ACK.sent of RFC 7323 §4.3, SND.WL1 and SND.WL2 of RFC 9293 §3.3.1; offsets.
    last_ack_sent: u64,
    wl1: u64,
    wl2: u64,
    /// SND.WND as last seen, bytes.
    peer_window: u32,
    heard: Time,
    /// A SYN, or SYN-ACK, is to be sent; how often one was; when the first was.
    syn_due: bool,
    syns: u32,
    syn_at: Time,
    keepalive_due: bool,
    keepalives: u32,
    /// The peer closed first.
    passive_close: bool,
    /// The application reads no more: data that comes is answered by a RST.
    deaf: bool,
    rst: Option<Rst>,
    failure: Option<Failure>,
    /// What the SYN says, and what the handshake has yet to settle.
    mss: u16,
    spec: Arc<stack::Wire>,
}

/// A RST to be sent (RFC 9293 §3.10.7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rst {
    seq: Seq,
    ack: Option<Seq>,
}

/// 2 MSL as most systems have it; RFC 9293 §3.4.2 has 4 minutes.
const TIME_WAIT: Span = Span::from_secs(60);

impl Endpoint {
    /// Active open: the SYN waits in [`Endpoint::transmit`].
    pub fn connect(spec: &stack::Wire, isn: Seq, now: Time) -> Endpoint {
        Endpoint::connect_with(spec, &Config { isn, ..Config::default() }, now)
    }
    pub fn connect_with(spec: &stack::Wire, config: &Config, now: Time) -> Endpoint {
        Endpoint::connect_shared(&Arc::new(spec.clone()), config, now)
    }
    /// Connections of one stack share it: with thousands of them a copy for each is felt.
    pub fn connect_shared(spec: &Arc<stack::Wire>, config: &Config, now: Time) -> Endpoint {
        let mut e = Endpoint::new(spec, config, Stage::SynSent);
        e.syn_due = true;
        e.heard = now;
        e
    }
    /// Passive open: waits for one SYN.
    pub fn listen(spec: &stack::Wire, isn: Seq) -> Endpoint {
        Endpoint::listen_with(spec, &Config { isn, ..Config::default() })
    }
    pub fn listen_with(spec: &stack::Wire, config: &Config) -> Endpoint {
        Endpoint::listen_shared(&Arc::new(spec.clone()), config)
    }
    /// See [`Endpoint::connect_shared`].
    pub fn listen_shared(spec: &Arc<stack::Wire>, config: &Config) -> Endpoint {
        Endpoint::new(spec, config, Stage::Listen)
    }

    fn new(spec: &Arc<stack::Wire>, config: &Config, stage: Stage) -> Endpoint {
        let mut spec = Arc::clone(spec);
        if let Some(receive) = config.receive {
            Arc::make_mut(&mut spec).receive = receive;
        }
        let fits = config.path_mtu.map_or(u16::MAX, |mtu| mtu.saturating_sub(HEADERS).max(1));
        let mss = spec.options.mss_bytes.clamp(1, fits);
        Endpoint {
            sender: Sender::new(&spec),
            receiver: Receiver::new(&spec.receive, u32::from(mss), 1, false),
            timers: Timers::default(),
            clock: Clock::new(spec.options.timestamp_tick),
            stage,
            owed: Owed::Nothing,
            stamps: false,
            asked_for_ecn: false,
            ecn: false,
            echoes: false,
            marked: false,
            scaled: false,
            shift_in: 0,
            shift_out: 0,
            isn: config.isn,
            peer_isn: Seq(0),
            recent: 0,
            recent_at: Time::FAR_PAST,
            last_ack_sent: 0,
            wl1: 0,
            wl2: 0,
            peer_window: 0,
            heard: Time::FAR_PAST,
            syn_due: false,
            syns: 0,
            syn_at: Time::FAR_PAST,
            keepalive_due: false,
            keepalives: 0,
            passive_close: false,
            deaf: false,
            rst: None,
            failure: None,
            mss,
            spec,
        }
    }

    // ---- the application ----

    /// Hands over `bytes` to be sent; returns how many the send buffer took. O(1), `u64::MAX` is endless bulk.
    pub fn write(&mut self, bytes: u64) -> u64 {
        match self.stage {
            Stage::Closed | Stage::TimeWait => 0,
            _ => self.sender.write(bytes),
        }
    }
    /// Room in the send buffer, bytes.
    pub fn writable(&self) -> u64 {
        self.sender.writable()
    }
    /// Nothing more will be written: a FIN follows what was. In SYN-SENT that waits for the handshake, as if the
    /// application had waited; RFC 9293 §3.10.4 would forget the connection, which [`Endpoint::abort`] does.
    pub fn close(&mut self) {
        match self.stage {
            Stage::Listen => self.end(None),
            _ => self.sender.close(),
        }
    }
    /// Small segments wait for ACKs of what is out, or leave at once (TCP_NODELAY).
    pub fn set_nagle(&mut self, nagle: bool) {
        self.sender.set_nagle(nagle);
    }
    /// The application will read no more (close, where shutdown keeps reading). Data that still comes resets the
    /// connection, so that the peer learns that it is lost (RFC 9293 §3.6.1; RFC 2525 §2.17).
    pub fn stop_reading(&mut self) {
        self.deaf = true;
    }
    /// The connection is given up once what was sent stays unacknowledged for so long (RFC 793's user timeout; Linux:
    /// TCP_USER_TIMEOUT, from the first retransmission on).
    pub fn set_user_timeout(&mut self, timeout: Option<Span>) {
        self.sender.set_user_timeout(timeout);
    }
    /// Few segments out: the first timeouts in a row do not back off (Linux: TCP_THIN_LINEAR_TIMEOUTS).
    pub fn set_thin_linear_timeouts(&mut self, on: bool) {
        self.sender.set_thin_linear_timeouts(on);
    }
    /// The bounds of the retransmission timer, if not the stack's (Linux: TCP_RTO_MIN_US, TCP_RTO_MAX_MS).
    pub fn set_rto_bounds(&mut self, min: Option<Span>, max: Option<Span>) {
        let (least, most) = self.sender.rto.bounds();
        self.sender.rto.set_bounds(min.unwrap_or(least), max.unwrap_or(most));
    }
    /// Ends the connection with a RST (RFC 9293 §3.10.5).
    pub fn abort(&mut self) {
        if matches!(self.stage, Stage::SynReceived | Stage::Open) {
            self.rst = Some(Rst { seq: self.seq(self.sender.nxt()), ack: Some(self.rcv_nxt()) });
        }
        if self.stage != Stage::Closed {
            self.end(Some(Failure::Aborted));
        }
    }
    /// Takes up to `max` bytes that arrived in order; returns how many there were.
    #[inline]
    pub fn read(&mut self, now: Time, max: u64) -> u64 {
        let bytes = self.receiver.read(now, max);
        if self.stage == Stage::Open && self.receiver.window_update_due() && self.owed == Owed::Nothing {
            self.owed = Owed::Ack;
        }
        bytes
    }
    pub fn readable(&self) -> u64 {
        self.receiver.readable()
    }
    /// The peer closed and everything it sent was read.
    pub fn at_end(&self) -> bool {
        self.receiver.finished() && self.receiver.readable() == 0
    }

    // ---- time ----

    /// When [`Endpoint::wake`] is wanted next. It may move later without notice: waking early does no harm.
    #[inline]
    pub fn next_wakeup(&self) -> Option<Time> {
        if self.stage == Stage::Closed {
            return None;
        }
        let first = self.timers.first().min(self.receiver.ack_deadline());
        (first < Time::FAR_FUTURE).then_some(first)
    }

    /// Timers that are due fire.
    pub fn wake(&mut self, now: Time) {
        if self.receiver.ack_deadline() <= now && self.owed == Owed::Nothing {
            self.owed = Owed::Ack;
        }
        if self.timers.fires(Timer::Retransmit, now) {
            self.on_retransmission_timer(now);
        }
        if self.timers.fires(Timer::Probe, now) {
            self.sender.on_probe_timer(now, &mut self.timers);
        }
        if self.timers.fires(Timer::Reorder, now) {
            self.sender.on_reorder_timer(now, &mut self.timers);
        }
        if self.timers.fires(Timer::Persist, now) {
            self.sender.on_persist(now);
            if self.sender.failed() {
                self.end(Some(Failure::TimedOut));
            }
        }
        // Nothing but time was wanting: what is paced leaves with the rest.
        self.timers.fires(Timer::Pacing, now);
        if self.timers.fires(Timer::KeepAlive, now) {
            self.on_keepalive_timer(now);
        }
        if self.timers.fires(Timer::TimeWait, now) {
            self.end(None);
        }
    }

    fn on_retransmission_timer(&mut self, now: Time) {
        if matches!(self.stage, Stage::SynSent | Stage::SynReceived) {
            self.on_handshake_timer();
            return;
        }
        self.sender.on_timeout(now, &mut self.timers);
        if self.sender.failed() {
            self.end(Some(Failure::TimedOut));
        }
    }

    /// The connection is over.
    fn end(&mut self, failure: Option<Failure>) {
        self.stage = Stage::Closed;
        self.failure = self.failure.or(failure);
        self.timers.stop_all();
        self.owed = Owed::Nothing;
        self.syn_due = false;
        self.keepalive_due = false;
    }

    // ---- numbers ----

    /// The sequence number of an offset of this side's stream.
    #[inline]
    fn seq(&self, offset: u64) -> Seq {
        self.isn + offset as u32
    }
    #[inline]
    fn peer_seq(&self, offset: u64) -> Seq {
        self.peer_isn + offset as u32
    }
    #[inline]
    fn rcv_nxt(&self) -> Seq {
        self.peer_seq(self.receiver.next())
    }
}

/// IPv4 and TCP headers without options, bytes.
const HEADERS: u16 = 40;

#[cfg(test)]
mod tests;
