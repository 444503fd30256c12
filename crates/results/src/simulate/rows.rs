//! The simulator's rows as they are spooled.

use crate::names::named;
use instant::{Span, Time};
use serde::{Deserialize, Serialize};
use sim::rows::{
    self, AppRow, BlockedRow, DropRow, HeldRow, HostRow, PacketFacts, QueueRow, ResentRow, StateRow,
};

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub time: Time,
    pub connection: u32,
    pub forward: bool,
    pub smss_bytes: u32,
    pub cwnd_bytes: f64,
    pub ssthresh_bytes: Option<f64>,
    pub flight_bytes: u64,
    /// This and what follows: `None` if the sender does not tell.
    pub pipe_bytes: Option<u64>,
    pub rtt: Option<Span>,
    pub srtt: Option<Span>,
    pub rttvar: Option<Span>,
    pub rto: Option<Span>,
    pub backoff: Option<u32>,
    pub dupacks: Option<u32>,
    pub phase: Phase,
    pub una: u64,
    pub nxt: u64,
    /// `None`: the sender knows of no limit.
    pub peer_window_bytes: Option<u64>,
}

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    Phase { Open = "open", Recovery = "recovery", Loss = "loss" }
}

/// Whose packet, and which.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Which {
    pub connection: u32,
    pub forward: bool,
    pub copy: u64,
    pub offset: u64,
    pub payload_bytes: u32,
    /// `None`: nobody tells, as of a kernel that sends something again.
    pub reason: Option<Reason>,
    pub evidence: Option<Evidence>,
    pub backoff: Option<u32>,
    /// `None`: nobody asked, or nobody tells.
    pub release: Option<Release>,
}

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    Release {
        Ack = "ack", Window = "window", Message = "message", Write = "write", Timer = "timer", Pace = "pace",
        Data = "data", Delayed = "delayed", Reader = "reader", Probe = "probe",
    }
}

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    Reason {
        New = "new", Ack = "ack", Control = "control", Recovery = "recovery", Timeout = "timeout",
        LossState = "loss-state", Probe = "probe", Persist = "persist", KeepAlive = "keep-alive",
    }
}

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    Evidence { Dupack = "dupack", Sack = "sack", Time = "time" }
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Queue {
    pub time: Time,
    pub link: u32,
    pub event: QueueEvent,
    pub packets: u32,
    pub bytes: u64,
    pub waited: Option<Span>,
    /// The end of the transmission that begins.
    pub until: Option<Time>,
    pub packet: Which,
}

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    QueueEvent { Enqueued = "enqueued", Dequeued = "dequeued", Repeated = "repeated" }
}

/// A packet that a channel kept back or made late.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Held {
    pub time: Time,
    pub link: u32,
    /// Of the link's direction, by number.
    pub channel: u16,
    pub kept: bool,
    pub until: Time,
    pub packet: Which,
}

/// What a program did.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct App {
    pub time: Time,
    pub connection: u32,
    pub client: bool,
    pub event: AppEvent,
    pub bytes: u64,
    pub left_bytes: u64,
}

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    AppEvent {
        Opened = "opened", Wrote = "wrote", Read = "read", Closed = "closed", Reset = "reset", Failed = "failed",
    }
}

/// What blocks a sender from now on.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Blocked {
    pub time: Time,
    pub connection: u32,
    pub forward: bool,
    pub by: Block,
    pub unsent_bytes: u64,
    pub unwritten_bytes: u64,
    pub flight_bytes: u64,
    pub cwnd_bytes: f64,
    /// `None`: the sender knows of no limit.
    pub peer_window_bytes: Option<u64>,
}

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    Block {
        Handshake = "handshake", Nothing = "nothing", Application = "application", SendBuffer = "send-buffer",
        Cwnd = "cwnd", ReceiveWindow = "receive-window", Pacing = "pacing", Nagle = "nagle", Closed = "closed",
    }
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Drop {
    pub time: Time,
    pub link: u32,
    pub cause: Cause,
    /// Of the link's direction, by number.
    pub channel: Option<u16>,
    pub packet: Which,
}

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    Cause {
        QueueFull = "queue-full", Aqm = "aqm", Channel = "channel", Policer = "policer", Mtu = "mtu",
        Flushed = "flushed", ArqGaveUp = "arq-gave-up",
    }
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Resent {
    pub time: Time,
    pub packet: Which,
    pub needless: Option<bool>,
}

/// A packet that a host sent or received.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Host {
    pub time: Time,
    pub node: u32,
    pub sent: bool,
    pub length_bytes: u32,
    pub packet: Which,
}

impl From<&HostRow> for Host {
    fn from(row: &HostRow) -> Host {
        let HostRow { time, node, sent, length_bytes, packet } = *row;
        Host { time, node, sent, length_bytes, packet: Which::from(&packet) }
    }
}

impl From<&StateRow> for State {
    fn from(row: &StateRow) -> State {
        let s = &row.state;
        State {
            time: row.time,
            connection: row.connection,
            forward: row.forward,
            smss_bytes: s.smss_bytes,
            cwnd_bytes: s.cwnd_bytes,
            ssthresh_bytes: s.ssthresh_bytes,
            flight_bytes: s.flight_bytes,
            pipe_bytes: Some(s.pipe_bytes),
            rtt: s.rtt,
            srtt: s.srtt,
            rttvar: s.rttvar,
            rto: Some(s.rto),
            backoff: Some(s.backoff),
            dupacks: Some(s.dupacks),
            phase: match s.phase {
                rows::Phase::Open => Phase::Open,
                rows::Phase::Recovery => Phase::Recovery,
                rows::Phase::Loss => Phase::Loss,
            },
            una: s.una,
            nxt: s.nxt,
            peer_window_bytes: (s.peer_window_bytes != u64::MAX).then_some(s.peer_window_bytes),
        }
    }
}

impl From<&HeldRow> for Held {
    fn from(row: &HeldRow) -> Held {
        let links::watch::Held { channel, kept, from, until } = row.held;
        Held { time: from, link: row.link.0, channel, kept, until, packet: Which::from(&row.packet) }
    }
}

impl From<&AppRow> for App {
    fn from(row: &AppRow) -> App {
        let AppRow { time, connection, client, event, bytes, left_bytes } = *row;
        let event = match event {
            rows::AppEvent::Opened => AppEvent::Opened,
            rows::AppEvent::Wrote => AppEvent::Wrote,
            rows::AppEvent::Read => AppEvent::Read,
            rows::AppEvent::Closed => AppEvent::Closed,
            rows::AppEvent::Reset => AppEvent::Reset,
            rows::AppEvent::Failed => AppEvent::Failed,
        };
        App { time, connection, client, event, bytes, left_bytes }
    }
}

impl From<&BlockedRow> for Blocked {
    fn from(row: &BlockedRow) -> Blocked {
        Blocked {
            time: row.time,
            connection: row.connection,
            forward: row.forward,
            by: match row.by {
                rows::Block::Handshake => Block::Handshake,
                rows::Block::Nothing => Block::Nothing,
                rows::Block::Application => Block::Application,
                rows::Block::SendBuffer => Block::SendBuffer,
                rows::Block::Cwnd => Block::Cwnd,
                rows::Block::ReceiveWindow => Block::ReceiveWindow,
                rows::Block::Pacing => Block::Pacing,
                rows::Block::Nagle => Block::Nagle,
                rows::Block::Closed => Block::Closed,
            },
            unsent_bytes: row.unsent_bytes,
            unwritten_bytes: row.unwritten_bytes,
            flight_bytes: row.flight_bytes,
            cwnd_bytes: row.cwnd_bytes,
            peer_window_bytes: (row.peer_window_bytes != u64::MAX).then_some(row.peer_window_bytes),
        }
    }
}

impl From<sim::Release> for Release {
    fn from(release: sim::Release) -> Release {
        match release {
            sim::Release::Ack => Release::Ack,
            sim::Release::Window => Release::Window,
            sim::Release::Message => Release::Message,
            sim::Release::Write => Release::Write,
            sim::Release::Timer => Release::Timer,
            sim::Release::Pace => Release::Pace,
            sim::Release::Data => Release::Data,
            sim::Release::Delayed => Release::Delayed,
            sim::Release::Reader => Release::Reader,
            sim::Release::Probe => Release::Probe,
        }
    }
}

impl From<&PacketFacts> for Which {
    fn from(p: &PacketFacts) -> Which {
        let (reason, evidence, backoff) = why(p.reason);
        let PacketFacts { connection, forward, copy, offset, payload_bytes, .. } = *p;
        let (reason, release) = (Some(reason), p.release.map(Release::from));
        Which { connection, forward, copy, offset, payload_bytes, reason, evidence, backoff, release }
    }
}

/// A reason with what belongs to it.
pub fn why(reason: sim::Reason) -> (Reason, Option<Evidence>, Option<u32>) {
    let plain = |reason| (reason, None, None);
    match reason {
        sim::Reason::New => plain(Reason::New),
        sim::Reason::Ack => plain(Reason::Ack),
        sim::Reason::Control => plain(Reason::Control),
        sim::Reason::Recovery(evidence) => {
            let evidence = match evidence {
                sim::Evidence::DupAck => Evidence::Dupack,
                sim::Evidence::Sack => Evidence::Sack,
                sim::Evidence::Time => Evidence::Time,
            };
            (Reason::Recovery, Some(evidence), None)
        }
        sim::Reason::Timeout { backoff } => (Reason::Timeout, None, Some(backoff)),
        sim::Reason::LossState => plain(Reason::LossState),
        sim::Reason::Probe => plain(Reason::Probe),
        sim::Reason::Persist => plain(Reason::Persist),
        sim::Reason::KeepAlive => plain(Reason::KeepAlive),
    }
}

impl From<&QueueRow> for Queue {
    fn from(row: &QueueRow) -> Queue {
        Queue {
            time: row.time,
            link: row.link.0,
            event: match row.event {
                rows::QueueEvent::Enqueued => QueueEvent::Enqueued,
                rows::QueueEvent::Dequeued => QueueEvent::Dequeued,
                rows::QueueEvent::Repeated => QueueEvent::Repeated,
            },
            packets: row.packets,
            bytes: row.bytes,
            waited: row.waited,
            until: row.until,
            packet: Which::from(&row.packet),
        }
    }
}

impl From<&DropRow> for Drop {
    fn from(row: &DropRow) -> Drop {
        let (cause, channel) = Cause::of(row.cause);
        Drop { time: row.time, link: row.link.0, cause, channel, packet: Which::from(&row.packet) }
    }
}

impl From<&ResentRow> for Resent {
    fn from(row: &ResentRow) -> Resent {
        Resent { time: row.time, packet: Which::from(&row.packet), needless: row.needless }
    }
}

impl Cause {
    /// The kind of a cause, and its channel where it has one.
    pub fn of(cause: links::Cause) -> (Cause, Option<u16>) {
        let kind = match cause {
            links::Cause::QueueFull => Cause::QueueFull,
            links::Cause::Aqm => Cause::Aqm,
            links::Cause::Channel(_) => Cause::Channel,
            links::Cause::Policer(_) => Cause::Policer,
            links::Cause::Mtu(_) => Cause::Mtu,
            links::Cause::Flushed(_) => Cause::Flushed,
            links::Cause::ArqGaveUp(_) => Cause::ArqGaveUp,
        };
        (kind, cause.channel())
    }
}
