//! What can be seen of an endpoint.

use super::{Blocked, Endpoint, Failure, Phase, Stage};
use crate::timers::Timer;
use wire::{Span, Time};

/// The connection states of RFC 9293 §3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Closed,
    Listen,
    SynSent,
    SynReceived,
    Established,
    FinWait1,
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
    TimeWait,
}

/// The sender half at one moment. Windows and counts of data in bytes; offsets count from the SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    pub cwnd: u32,
    /// `u32::MAX` while unbounded.
    pub ssthresh: u32,
    pub smss: u32,
    /// Sent and not acknowledged (FlightSize).
    pub flight: u32,
    /// Of these, believed to be in the network (RFC 6675 §4).
    pub pipe: u32,
    pub srtt: Option<Span>,
    pub rttvar: Option<Span>,
    pub min_rtt: Option<Span>,
    pub rto: Span,
    pub backoff: u32,
    pub dupacks: u32,
    pub phase: Phase,
    /// SND.UNA, SND.NXT, and the highest offset sent.
    pub una: u64,
    pub nxt: u64,
    pub max: u64,
    /// What the peer's window allows beyond SND.UNA.
    pub peer_window: u32,
    /// Timeouts since SND.UNA moved.
    pub timeouts: u32,
}

/// Linux's states of a sender as TCP_INFO names them (tcpi_ca_state).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaState {
    Open,
    /// Duplicate ACKs or SACKs came, or repairs are on their way, and no repair is going on.
    Disorder,
    /// The window goes down because the network marked a packet.
    Cwr,
    Recovery,
    Loss,
}

/// What is sent and not acknowledged, in segments, as TCP_INFO counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scoreboard {
    pub segments: u32,
    pub sacked: u32,
    pub lost: u32,
    /// Resent, and believed to be on the way.
    pub repaired: u32,
    /// How far out of order segments have come; DupThresh before any did.
    pub reordering: u32,
    /// How often any did.
    pub reordering_seen: u32,
}

impl Endpoint {
    pub fn scoreboard(&self) -> Scoreboard {
        let s = &self.sender;
        Scoreboard {
            segments: s.board.segments(),
            sacked: s.board.sacked.segments + s.assumed_sacked(),
            lost: s.board.lost.segments,
            repaired: s.board.repaired.segments,
            reordering: s.reordering(),
            reordering_seen: s.reordering_seen(),
        }
    }

    pub fn ca_state(&self) -> CaState {
        let board = self.scoreboard();
        match self.sender.phase {
            Phase::Recovery => CaState::Recovery,
            Phase::Loss => CaState::Loss,
            Phase::Open if self.sender.is_reducing() => CaState::Cwr,
            Phase::Open if board.sacked + board.lost + board.repaired > 0 || self.sender.dupacks() > 0 => {
                CaState::Disorder
            }
            Phase::Open => CaState::Open,
        }
    }

    pub fn view(&self) -> View {
        let s = &self.sender;
        View {
            cwnd: s.window.cwnd,
            ssthresh: s.window.ssthresh,
            smss: s.window.smss,
            flight: s.board.out(),
            pipe: s.pipe(),
            srtt: s.rto.srtt(),
            rttvar: s.rto.rttvar(),
            min_rtt: s.sampler.min_rtt(),
            rto: s.rto.rto(),
            backoff: s.rto.backoff(),
            dupacks: s.dupacks(),
            phase: s.phase,
            una: s.una(),
            nxt: s.nxt(),
            max: s.max(),
            peer_window: s.edge().saturating_sub(s.una()).min(u64::from(u32::MAX)) as u32,
            timeouts: s.timeouts(),
        }
    }

    /// What keeps more from leaving, once [`Endpoint::transmit`] has given nothing.
    pub fn blocked(&self, now: Time) -> Blocked {
        match self.stage {
            Stage::Listen | Stage::SynSent | Stage::SynReceived => Blocked::Handshake,
            Stage::Closed | Stage::TimeWait => Blocked::Closed,
            Stage::Open => self.sender.blocked(now),
        }
    }
    /// Bytes that the application has written and that have never left.
    pub fn unsent(&self) -> u64 {
        self.sender.unsent()
    }
    /// Of the timers that may release data only the one of pacing is due.
    pub fn is_due_by_pace(&self, now: Time) -> bool {
        let due = |timer| self.timers.at(timer) <= now;
        let others = [Timer::Retransmit, Timer::Probe, Timer::Reorder, Timer::Persist, Timer::KeepAlive];
        due(Timer::Pacing) && !others.into_iter().any(due)
    }
    /// The ACK that is owed was held back by a timer.
    pub fn holds_ack(&self) -> bool {
        self.receiver.holds_ack()
    }

    /// Once after a segment at which cwnd changed twice, where the stack tells of it: its value in between, bytes.
    pub fn take_cwnd_step(&mut self) -> Option<u32> {
        self.sender.take_cwnd_step()
    }

    pub fn phase(&self) -> Phase {
        self.sender.phase
    }

    pub fn state(&self) -> State {
        match self.stage {
            Stage::Closed => State::Closed,
            Stage::Listen => State::Listen,
            Stage::SynSent => State::SynSent,
            Stage::SynReceived => State::SynReceived,
            Stage::TimeWait => State::TimeWait,
            Stage::Open => self.open_state(),
        }
    }

    fn open_state(&self) -> State {
        let (sent, acked) = (self.sender.fin_sent(), self.sender.fin_acknowledged());
        match (sent, acked, self.receiver.finished()) {
            (false, _, false) => State::Established,
            (false, _, true) => State::CloseWait,
            (true, false, false) => State::FinWait1,
            (true, true, false) => State::FinWait2,
            (true, _, true) if self.passive_close => State::LastAck,
            (true, _, true) => State::Closing,
        }
    }

    /// The handshake is over and the connection is not.
    pub fn is_established(&self) -> bool {
        self.stage == Stage::Open
    }
    /// Nothing more will happen (TIME-WAIT counts as over).
    pub fn is_closed(&self) -> bool {
        matches!(self.stage, Stage::Closed | Stage::TimeWait)
    }
    /// Nothing more will be written.
    pub fn is_closing(&self) -> bool {
        self.sender.is_closing()
    }
    /// Probes of a closed window or of silence since the peer was last heard of (tcpi_probes).
    pub fn unanswered_probes(&self) -> u32 {
        self.sender.window_probes().1 + self.keepalives
    }
    /// Probes of a closed window in a row, answered or not: each waits twice as long.
    pub fn window_probes(&self) -> u32 {
        self.sender.window_probes().0
    }
    pub fn failed(&self) -> Option<Failure> {
        self.failure
    }
    /// Everything written, and the FIN if one was sent, is acknowledged.
    pub fn all_acknowledged(&self) -> bool {
        self.sender.all_acknowledged()
    }
    /// Bytes of the application that the peer has acknowledged.
    pub fn acknowledged(&self) -> u64 {
        self.sender.acknowledged()
    }
    /// Bytes that arrived in order, read or not.
    pub fn delivered(&self) -> u64 {
        self.receiver.next() - 1 - u64::from(self.receiver.finished())
    }
}
