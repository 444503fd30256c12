//! The sender half: what was sent, what an ACK means for it, what may be sent next.
//!
//! The strategies answer their four questions; this is where the answers meet. The stream is counted in offsets
//! from the ISN (the SYN is 0, the first byte 1), so nothing here wraps.

mod ack;
mod blocked;
pub(crate) mod board;
mod by_time;
mod ecn;
mod fack;
mod follow;
mod guided;
mod linux;
mod offload;
mod output;
mod repair;
pub(crate) mod runs;
mod tail;
mod timeout;
mod usage;

use crate::congestion::{Congestion, LossFacts, Window};
use crate::detect::{self, Detector};
use crate::endpoint::{Evidence, Why};
use crate::pacing::Pacing;
use crate::recovery::{Habits, Recovery};
use crate::rto::{Rto, RttSample};
use crate::sampler::Sampler;
use crate::stack;
use crate::undo::{Prior, Undo};
use board::Board;
use wire::{Span, Time};

pub(crate) use ack::AckIn;
pub use blocked::Blocked;
pub use follow::Followed;
pub(crate) use output::{Outgoing, Run};
#[cfg(test)]
pub(crate) use timeout::longest_silence;

/// What the sender is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Nothing is believed lost.
    #[default]
    Open,
    /// Repairs what ACKs showed lost.
    Recovery,
    /// Repairs after a timeout.
    Loss,
}

/// A probe that leaves next, whatever the windows say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ProbeDue {
    #[default]
    None,
    /// Of a closed window.
    Window,
    /// Of a lost tail.
    Tail,
}

#[derive(Clone, Debug)]
pub(crate) struct Sender {
    pub(crate) board: Board,
    /// SND.NXT: below the board's end only while going back (go-back-N).
    nxt: u64,
    /// The highest offset ever sent.
    max: u64,
    /// SND.UNA + SND.WND: the right edge of what the peer allows; and the largest window it ever offered, bytes.
    edge: u64,
    largest_window: u32,
    /// The offset after the last byte that the application wrote.
    written: u64,
    closing: bool,
    fin_sent: bool,
    pub(crate) window: Window,
    pub(crate) phase: Phase,
    /// Recovery is over, and another may begin, when this is acknowledged.
    recover: u64,
    dupacks: u32,
    /// The oldest segment leaves whatever the windows say.
    resend_first: Option<Why>,
    /// New segments that leave whatever cwnd says (F-RTO).
    new_allowed: u32,
    /// New segments that may still leave at this ACK; [`u32::MAX`] is no limit.
    burst_left: u32,
    /// Nothing but the oldest segment leaves before the next ACK, or before the application writes.
    held: bool,
    /// Bytes sent by limited transmit: they do not count in FlightSize (RFC 5681 §3.2 (2)).
    limited_bytes: u32,
    /// Without SACK, duplicates stand for segments that arrived (pipe without SACK).
    assumed_sacked: u32,
    /// Without SACK, as many of them begin a repair where they are what Linux goes by: more once more came than were out.
    counted_reordering: u32,
    /// Timeouts since SND.UNA last moved, and since the peer was last heard of.
    timeouts: u32,
    unanswered: u32,
    partial_acks: u32,
    /// Probes of a closed window in a row, and those since the peer was last heard of.
    probes: u32,
    unanswered_probes: u32,
    probe_due: ProbeDue,
    tail: tail::Tail,
    /// Until the next ACK new data goes before what is lost (F-RTO as Linux has it).
    new_first: bool,
    /// What is lost waits while a capture shows new data.
    holds_repairs: bool,
    /// The end of the segment that the timer resent last.
    timed_out_end: u64,
    /// Segments that DSACKs said came twice, ever.
    came_twice: u64,
    /// What Why a repair of this recovery carries.
    evidence: Evidence,
    /// RFC 6675 §4 NextSeg (4): spent for this recovery.
    rescued: bool,
    pub(crate) sack: bool,
    failed: bool,
    last_sent: Time,
    rules: Rules,
    detector: Detector,
    congestion: Congestion,
    recovery: Recovery,
    pub(crate) rto: Rto,
    pub(crate) sampler: Sampler,
    undo: Undo,
    pub(crate) pacing: Pacing,
    offload: offload::Offload,
    /// The window rule drives the sender, or what it sends is paced: ACKs are looked at once more.
    guided: bool,
    seed: u32,
    usage: usage::Usage,
    echoes: ecn::Echoes,
    /// TCP_USER_TIMEOUT, and when the first of the timeouts in a row came.
    user_timeout: Option<Span>,
    silent_since: Time,
}

/// The stack's choices that are looked up as they are needed.
#[derive(Clone, Copy, Debug)]
struct Rules {
    detect: stack::Detect,
    recovery: stack::Recovery,
    habits: Habits,
    nagle: bool,
    buffer: u64,
    max_burst: u32,
    max_retries: u32,
    /// Silence that ends the connection at a timeout, where retries are counted as time.
    longest_silence: Option<Span>,
    thin_linear_timeouts: bool,
    offload: bool,
    limited_by: stack::LimitedBy,
    window_probe: stack::WindowProbe,
    timestamp_tick: Span,
}

impl Sender {
    /// Before the handshake: no peer's options yet.
    pub(crate) fn new(spec: &stack::Wire) -> Sender {
        let smss = u32::from(spec.options.mss_bytes).max(1);
        let (congestion, window) = Congestion::new(&spec.congestion, smss);
        Sender {
            board: Board::new(1),
            nxt: 1,
            max: 1,
            edge: 1,
            largest_window: 0,
            written: 1,
            closing: false,
            fin_sent: false,
            window,
            phase: Phase::Open,
            recover: 0,
            dupacks: 0,
            resend_first: None,
            new_allowed: 0,
            burst_left: u32::MAX,
            held: false,
            limited_bytes: 0,
            assumed_sacked: 0,
            counted_reordering: spec.detect.remembered.unwrap_or(spec.detect.dupthresh),
            timeouts: 0,
            unanswered: 0,
            partial_acks: 0,
            probes: 0,
            unanswered_probes: 0,
            probe_due: ProbeDue::None,
            tail: tail::Tail::default(),
            new_first: false,
            holds_repairs: false,
            timed_out_end: 0,
            came_twice: 0,
            evidence: Evidence::DupAck,
            rescued: false,
            sack: false,
            failed: false,
            last_sent: Time::FAR_PAST,
            rules: Rules {
                detect: spec.detect,
                recovery: spec.recovery,
                habits: Recovery::habits(spec.recovery.rule, &spec.own),
                nagle: spec.send.nagle,
                buffer: spec.send.buffer_bytes.unwrap_or(u64::MAX),
                max_burst: spec.send.max_burst_segments.unwrap_or(u32::MAX),
                max_retries: spec.send.max_retries,
                longest_silence: timeout::longest_silence(&spec.send, spec.rto.max),
                thin_linear_timeouts: spec.send.thin_linear_timeouts,
                offload: spec.send.offload,
                limited_by: spec.congestion.limited_by,
                window_probe: spec.send.window_probe,
                timestamp_tick: spec.options.timestamp_tick,
            },
            detector: Detector::new(&spec.detect, &spec.own, false),
            congestion,
            recovery: Recovery::new(&spec.recovery, &spec.own, false),
            rto: Rto::new(&spec.rto),
            sampler: Sampler::default(),
            undo: Undo::default(),
            pacing: Pacing::new(false),
            offload: offload::Offload::default(),
            guided: false,
            seed: 0,
            usage: usage::Usage::default(),
            echoes: ecn::Echoes::default(),
            user_timeout: None,
            silent_since: Time::FAR_PAST,
        }
    }

    /// The handshake settled the options. `smss` is the payload of a full segment with its options, bytes.
    pub(crate) fn negotiated(&mut self, spec: &stack::Wire, smss: u32, sack: bool, timestamps: bool) {
        let (congestion, window) = Congestion::new(&spec.congestion, smss);
        (self.congestion, self.window) = (congestion, window);
        if let Some(rule) = spec.own.window() {
            self.congestion.bring(rule);
        }
        self.sack = sack;
        self.detector = Detector::new(&spec.detect, &spec.own, sack);
        self.recovery = if self.congestion.drives() {
            Recovery::Driven
        } else {
            Recovery::new(&spec.recovery, &spec.own, sack)
        };
        self.guided = self.congestion.drives() || spec.send.pacing;
        self.pacing = Pacing::new(self.guided);
        if self.detector.by_time().is_some() {
            self.board.keep_time();
        }
        self.tail = tail::Tail::new(&spec.detect, self.detector.by_time().is_some());
        self.undo = Undo::new(spec.undo, sack, timestamps);
    }

    /// RFC 5681 §3.1: a SYN or SYN-ACK was lost, so the initial window is one segment.
    pub(crate) fn handshake_was_resent(&mut self) {
        self.window.cwnd = self.window.smss;
        self.rto.on_late_handshake();
    }

    /// The handshake's round trip is the first RTT sample.
    pub(crate) fn handshake_took(&mut self, now: Time, rtt: Span) {
        self.sampler.note(rtt);
        self.rto.on_handshake_sample(&RttSample { rtt, now, una: 1, nxt: 1, from_timestamp: false });
    }

    /// The peer's window, from the segment that brought it.
    #[inline]
    pub(crate) fn set_edge(&mut self, ack: u64, window: u32) {
        self.edge = ack + u64::from(window);
        self.largest_window = self.largest_window.max(window);
    }

    // ---- the application ----

    /// Takes up to `bytes`; returns how many. O(1), however many.
    pub(crate) fn write(&mut self, bytes: u64) -> u64 {
        if self.closing {
            return 0;
        }
        let room = self.rules.buffer.saturating_sub(self.written - self.una());
        // More than can ever be sent is no use, and sums must not overflow.
        let bytes = bytes.min(room).min(ENDLESS.saturating_sub(self.written));
        if self.guided {
            self.look_for_silence();
        }
        self.written += bytes;
        self.held &= bytes == 0;
        if self.board.out() == 0 {
            self.burst_left = self.rules.max_burst;
        }
        bytes
    }
    pub(crate) fn close(&mut self) {
        self.closing = true;
    }
    /// Room in the send buffer, bytes.
    pub(crate) fn writable(&self) -> u64 {
        self.rules.buffer.saturating_sub(self.written - self.una())
    }

    // ---- where it stands ----

    #[inline]
    pub(crate) fn una(&self) -> u64 {
        self.board.una()
    }
    pub(crate) fn nxt(&self) -> u64 {
        self.nxt
    }
    #[inline]
    pub(crate) fn max(&self) -> u64 {
        self.max
    }
    #[inline]
    pub(crate) fn edge(&self) -> u64 {
        self.edge
    }
    pub(crate) fn dupacks(&self) -> u32 {
        self.dupacks
    }
    pub(crate) fn timeouts(&self) -> u32 {
        self.timeouts
    }
    pub(crate) fn is_closing(&self) -> bool {
        self.closing
    }
    /// Without SACK: what duplicates stand for.
    pub(crate) fn assumed_sacked(&self) -> u32 {
        self.assumed_sacked
    }
    pub(crate) fn reordering(&self) -> u32 {
        let dupthresh = self.rules.detect.dupthresh;
        match self.detector.by_time() {
            Some(rule) => rule.reordering(dupthresh),
            None if self.counts_assumed() => self.counted_reordering,
            None => dupthresh,
        }
    }
    pub(crate) fn reordering_seen(&self) -> u32 {
        self.detector.by_time().map_or(0, |rack| rack.reordering_seen())
    }
    pub(crate) fn set_user_timeout(&mut self, timeout: Option<Span>) {
        self.user_timeout = timeout;
    }
    pub(crate) fn user_timeout(&self) -> Option<Span> {
        self.user_timeout
    }
    pub(crate) fn set_thin_linear_timeouts(&mut self, on: bool) {
        self.rules.thin_linear_timeouts = on;
    }
    /// Probes of a closed window in a row, and those since the peer was last heard of.
    pub(crate) fn window_probes(&self) -> (u32, u32) {
        (self.probes, self.unanswered_probes)
    }
    pub(crate) fn set_nagle(&mut self, nagle: bool) {
        self.rules.nagle = nagle;
    }
    pub(crate) fn failed(&self) -> bool {
        self.failed
    }
    /// Everything written is acknowledged, the FIN too if there is one.
    pub(crate) fn all_acknowledged(&self) -> bool {
        self.una() == self.written + u64::from(self.fin_sent)
    }
    /// Bytes of the application that have never left.
    pub(crate) fn unsent(&self) -> u64 {
        self.written.saturating_sub(self.max)
    }
    /// Bytes of the application, acknowledged.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.una().min(self.written) - 1
    }
    pub(crate) fn fin_acknowledged(&self) -> bool {
        self.fin_sent && self.una() > self.written
    }
    pub(crate) fn fin_sent(&self) -> bool {
        self.fin_sent
    }

    /// SND.NXT - SND.UNA, bytes.
    #[inline]
    pub(crate) fn flight(&self) -> u32 {
        (self.nxt - self.una()) as u32
    }

    /// Believed to be in the network, bytes; counted in segments where the stack does.
    #[inline]
    pub(crate) fn pipe(&self) -> u32 {
        match self.rules.recovery.pipe {
            stack::PipeUnit::Segments => self.segments_in_flight().saturating_mul(self.window.smss),
            stack::PipeUnit::Bytes => {
                self.board.pipe().saturating_sub(self.assumed_sacked.saturating_mul(self.window.smss))
            }
        }
    }

    /// The same in segments, whatever the stack counts.
    #[inline]
    fn segments_in_flight(&self) -> u32 {
        self.board.pipe_segments().saturating_sub(self.assumed_sacked)
    }

    /// What a segment of `bytes` counts for where the pipe is counted like that.
    #[inline]
    fn counted(&self, bytes: u32) -> u32 {
        match self.rules.recovery.pipe {
            stack::PipeUnit::Bytes => bytes,
            stack::PipeUnit::Segments => self.window.smss,
        }
    }

    /// What cwnd is compared with.
    #[inline(always)]
    fn occupied(&self) -> u32 {
        let by_pipe = match self.phase {
            Phase::Open => self.recovery.uses_pipe() && self.rules.detect.limited_transmit,
            Phase::Recovery => self.recovery.uses_pipe(),
            Phase::Loss => self.marks_lost(),
        };
        if by_pipe { self.pipe() } else { self.flight() }
    }

    /// After a timeout, repairs by marks rather than from SND.UNA on.
    fn marks_lost(&self) -> bool {
        match self.rules.recovery.after_timeout {
            stack::AfterTimeout::GoBackN => false,
            stack::AfterTimeout::MarkLost | stack::AfterTimeout::RepairsOnly => true,
            stack::AfterTimeout::FastRecovery => self.sack,
        }
    }

    /// F-RTO has let new segments leave beyond cwnd.
    #[cfg(test)]
    pub(crate) fn in_frto(&self) -> bool {
        self.undo.frto == crate::undo::Frto::Second
    }

    pub(crate) fn take_cwnd_step(&mut self) -> Option<u32> {
        self.recovery.take_step()
    }

    fn cwnd_segments(&self) -> u32 {
        (self.window.cwnd / self.window.smss).max(1)
    }

    fn detect_facts(&self) -> detect::Facts<'_> {
        let (dupacks, dupthresh) = match self.counts_assumed() {
            true => (self.assumed_sacked, self.counted_reordering),
            false => (self.dupacks, self.rules.detect.dupthresh),
        };
        detect::Facts {
            runs: self.board.runs(),
            una: self.una(),
            nxt: self.board.end(),
            smss: self.window.smss,
            dupthresh,
            dupacks,
            sacked_segments: self.board.sacked.segments,
            sack: self.sack,
        }
    }

    fn loss_facts(&self, now: Time, timeout: bool) -> LossFacts {
        let flight = if self.rules.habits.reduces_cwnd {
            self.window.cwnd
        } else {
            self.board.out().saturating_sub(if timeout { 0 } else { self.limited_bytes })
        };
        LossFacts { now, flight, una: self.una(), nxt: self.board.end(), timeout }
    }

    fn prior(&self) -> impl FnOnce() -> Prior + use<> {
        let (congestion, window, flight) = (self.congestion.clone(), self.window, self.board.out());
        move || Prior { congestion, window, flight }
    }
}

/// No stream is longer: thousands of years at 1 Tbps, and far from overflow.
const ENDLESS: u64 = u64::MAX >> 2;
