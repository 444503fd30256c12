//! ns-2's agents at the two ends of a connection.

use crate::frame::{Body, Evidence, Reason};
use crate::host::{Alarm, Host, Parcel};
use crate::recorder::Recorder;
use crate::release::Release;
use crate::rows::{AppEvent, Block, BlockedRow, Phase, State};
use crate::stats::Traffic;
use instant::{Span, Time};
use links::random::Stream;
use links::{Class, Ecn};
use scenario::workload::{Application, Outlet};
use tcp::endpoint::Blocked;
use tcp::oneway::{self, Ack, Data, Sender, Sink, Why};
use tcp::stack;

pub struct OneWayPair {
    sender: Sender,
    sink: Sink,
    /// What one number stands for in the tables and in captures, bytes.
    payload_bytes: u32,
    /// Of the timer's clock, in which RTTs are measured.
    tick: Span,
    /// Packets handed to the application; a SYN takes a number and brings nothing.
    handed: i64,
    /// What has come and is not answered yet.
    heard: Option<Body>,
}

impl OneWayPair {
    /// `overhead` is where the waits before sending are drawn from.
    pub fn new(spec: &stack::OneWay, mut overhead: Stream) -> OneWayPair {
        let payload_bytes = spec.payload_bytes();
        let (mut sender, sink) = (Sender::new(spec), Sink::new(spec));
        if spec.overhead > Span::ZERO {
            sender.set_uniform(move || overhead.uniform());
        }
        OneWayPair { sender, sink, payload_bytes, tick: spec.tick, handed: 0, heard: None }
    }

    pub fn act<R: Recorder>(&mut self, app: &mut Application, host: &mut Host<'_, R>, traffic: &mut Traffic) {
        let mut out = Packets { sender: &mut self.sender, payload_bytes: self.payload_bytes, host };
        let next = app.act(out.host.now, &mut out);
        host.alarm(Alarm::Application, next);
        self.flush(Release::Write, host, traffic);
    }

    /// A packet arrives.
    pub fn hear(&mut self, body: &Body) {
        self.heard = Some(*body);
    }

    /// What follows from it.
    pub fn answer<R: Recorder>(&mut self, host: &mut Host<'_, R>, traffic: &mut Traffic) {
        match self.heard.take() {
            Some(Body::OneWayData(data)) => self.data(host, traffic, &data),
            Some(Body::OneWayAck(ack)) => self.ack(host, traffic, &ack),
            _ => {}
        }
    }

    fn data<R: Recorder>(&mut self, host: &mut Host<'_, R>, traffic: &mut Traffic, data: &Data) {
        traffic.ways[0].arrived_packets += 1;
        if let Some(ack) = self.sink.receive(host.now, data) {
            self.acknowledge(Release::Data, host, traffic, ack);
        }
        let arrived = self.sink.cumulative() + 1;
        let new = (arrived - self.handed).max(0);
        self.handed = arrived.max(self.handed);
        let bytes = new as u64 * u64::from(self.payload_bytes);
        traffic.ways[0].delivered(host.now, bytes);
        if bytes > 0 {
            host.application(false, AppEvent::Read, bytes, 0);
        }
        host.alarm(Alarm::Server, self.sink.next_wakeup());
    }

    fn ack<R: Recorder>(&mut self, host: &mut Host<'_, R>, traffic: &mut Traffic, ack: &Ack) {
        let release = match self.sender.blocked() {
            Blocked::ReceiveWindow => Release::Window,
            _ => Release::Ack,
        };
        self.sender.receive(host.now, ack);
        self.flush(release, host, traffic);
    }

    pub fn wake<R: Recorder>(&mut self, host: &mut Host<'_, R>, traffic: &mut Traffic, client: bool) {
        if client {
            // An agent's wait before it sends is its pace.
            let release = if self.sender.times_out(host.now) { Release::Timer } else { Release::Pace };
            self.sender.wake(host.now);
            return self.flush(release, host, traffic);
        }
        if let Some(ack) = self.sink.wake(host.now) {
            self.acknowledge(Release::Delayed, host, traffic, ack);
        }
        host.alarm(Alarm::Server, self.sink.next_wakeup());
    }

    /// All that was written has been acknowledged.
    pub fn is_done(&self) -> bool {
        self.sender.is_done()
    }

    fn flush<R: Recorder>(&mut self, release: Release, host: &mut Host<'_, R>, traffic: &mut Traffic) {
        while let Some(sent) = self.sender.transmit(host.now) {
            let data = sent.data;
            let (class, reason) =
                if data.syn { (Class::Other, Reason::Control) } else { (Class::Data, reason(sent.why)) };
            if data.syn {
                self.handed = self.handed.max(data.number + 1);
            } else {
                traffic.ways[0].sent(host.now, self.payload_bytes, reason);
            }
            // Room in the window is for new data; all else an ACK shows lost.
            let release = match release {
                Release::Window if reason != Reason::New => Release::Ack,
                release => release,
            };
            let parcel = Parcel {
                forward: true,
                reason,
                release,
                class,
                length_bytes: data.bytes,
                ecn: Ecn::NotCapable,
            };
            host.send(parcel, Body::OneWayData(data), &mut traffic.ip_ids);
        }
        host.alarm(Alarm::Client, self.sender.next_wakeup());
        let OneWayPair { sender, payload_bytes, tick, .. } = self;
        host.record(true, || state(&sender.view(), *payload_bytes, *tick));
        let (time, connection) = (host.now, host.ends.connection);
        host.blocked(|| {
            let state = state(&sender.view(), *payload_bytes, *tick);
            BlockedRow {
                time,
                connection,
                forward: true,
                by: Block::new(sender.blocked(), 0),
                unsent_bytes: sender.unsent().saturating_mul(u64::from(*payload_bytes)),
                unwritten_bytes: 0,
                flight_bytes: state.flight_bytes,
                cwnd_bytes: state.cwnd_bytes,
                peer_window_bytes: state.peer_window_bytes,
            }
        });
    }

    fn acknowledge<R: Recorder>(
        &self,
        release: Release,
        host: &mut Host<'_, R>,
        traffic: &mut Traffic,
        ack: Ack,
    ) {
        traffic.ways[1].sent(host.now, 0, Reason::Ack);
        let parcel = Parcel {
            forward: false,
            reason: Reason::Ack,
            release,
            class: Class::Ack,
            length_bytes: ack.bytes,
            ecn: Ecn::NotCapable,
        };
        host.send(parcel, Body::OneWayAck(ack), &mut traffic.ip_ids);
    }
}

struct Packets<'a, 'h, R> {
    sender: &'a mut Sender,
    payload_bytes: u32,
    host: &'a mut Host<'h, R>,
}

impl<R: Recorder> Outlet for Packets<'_, '_, R> {
    fn write(&mut self, now: Time, bytes: u64) -> u64 {
        self.host.application(true, AppEvent::Wrote, bytes, 0);
        self.sender.write(now, bytes.div_ceil(u64::from(self.payload_bytes)));
        bytes
    }
    /// There is no FIN.
    fn close(&mut self, _now: Time) {
        self.host.application(true, AppEvent::Closed, 0, 0);
    }
}

fn reason(why: Why) -> Reason {
    match why {
        Why::Syn => Reason::Control,
        Why::New => Reason::New,
        Why::FastRetransmit | Why::PartialAck => Reason::Recovery(Evidence::DupAck),
        Why::Hole => Reason::Recovery(Evidence::Sack),
        Why::Overdue => Reason::Recovery(Evidence::Time),
        Why::Timeout { backoff } => Reason::Timeout { backoff: doublings(backoff) },
        Why::GoBackN => Reason::LossState,
    }
}

/// How often the timer has backed off: ns-2 keeps what it multiplies with, 1, 2, 4 ...
fn doublings(multiplier: u32) -> u32 {
    multiplier.max(1).ilog2()
}

fn state(view: &oneway::View, payload: u32, tick: Span) -> State {
    let bytes = |packets: i64| packets.max(0) as u64 * u64::from(payload);
    let una = bytes(view.highest_ack + 1);
    State {
        smss_bytes: payload,
        cwnd_bytes: view.cwnd * f64::from(payload),
        passing: false,
        ssthresh_bytes: Some(view.ssthresh as f64 * f64::from(payload)),
        flight_bytes: bytes(view.highest_sent - view.highest_ack),
        pipe_bytes: bytes(view.pipe),
        rtt: (view.rtt_ticks > 0).then_some(tick * i64::from(view.rtt_ticks)),
        srtt: view.srtt,
        rttvar: view.rttvar,
        rto: view.rto,
        backoff: doublings(view.backoff),
        dupacks: view.dupacks.max(0) as u32,
        phase: match view.phase {
            oneway::Phase::Open => Phase::Open,
            oneway::Phase::Recovery => Phase::Recovery,
            oneway::Phase::Loss => Phase::Loss,
        },
        una,
        nxt: bytes(view.next),
        peer_window_bytes: u64::MAX,
    }
}
