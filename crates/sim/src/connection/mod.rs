//! A connection: an application, a transport, and what is counted.

mod datagrams;
mod oneway;
mod tcp;

use crate::frame::{Body, Frame};
use crate::host::{Alarm, Host};
use crate::recorder::Recorder;
use crate::stats::Way;
use ::tcp::endpoint::Failure;
use ::tcp::oneway as oneway_agents;
use ::tcp::stack::{Kind, OneWay, Wire};
use datagrams::Datagrams;
use oneway::OneWayPair;
use path::random::Stream;
use scenario::workload::{Answers, Application};
use std::sync::Arc;
use tcp::{Setup, TcpPair};
use time::Time;
use wire::Seq;

pub struct Connection {
    /// Index of the scenario's flow.
    pub flow: u32,
    pub starts: Time,
    app: Application,
    transport: Transport,
    /// Client to server, and back.
    pub ways: [Way; 2],
    pub ip_ids: [u16; 2],
    /// When all was done.
    pub ended: Option<Time>,
}

/// Enum dispatch: every packet comes through here.
enum Transport {
    /// Opened when the connection starts: until then there is nothing to keep.
    Waiting(Box<Opening>),
    Tcp(Box<TcpPair>),
    OneWay(Box<OneWayPair>),
    Datagrams(Datagrams),
}

/// What a packet leaves to be done once it is out of the network.
pub enum Heard {
    Segment { forward: bool },
    Data(oneway_agents::Data),
    Ack(oneway_agents::Ack),
    Nothing,
}

/// A stack of the scenario, shared by all connections that have it.
#[derive(Clone, Debug)]
pub enum Stack {
    Wire(Arc<Wire>),
    OneWay(Arc<OneWay>),
}

impl From<&Kind> for Stack {
    fn from(kind: &Kind) -> Stack {
        match kind {
            Kind::Wire(spec) => Stack::Wire(Arc::new((**spec).clone())),
            Kind::OneWay(spec) => Stack::OneWay(Arc::new((**spec).clone())),
        }
    }
}

/// What a connection is opened with.
#[derive(Clone, Debug)]
pub struct Opening {
    pub client: Stack,
    pub server: Stack,
    pub isns: [Seq; 2],
    /// What the server says.
    pub answers: Answers,
    /// What a one-way sender's `overhead` draws from.
    pub overhead: Stream,
}

impl Connection {
    pub fn tcp(flow: u32, starts: Time, app: Application, opening: Opening) -> Connection {
        Connection::new(flow, starts, app, Transport::Waiting(Box::new(opening)))
    }
    pub fn datagrams(flow: u32, starts: Time, app: Application, packet_bytes: u32) -> Connection {
        Connection::new(flow, starts, app, Transport::Datagrams(Datagrams::new(packet_bytes)))
    }
    fn new(flow: u32, starts: Time, app: Application, transport: Transport) -> Connection {
        Connection { flow, starts, app, transport, ways: Default::default(), ip_ids: [0; 2], ended: None }
    }

    /// The application acts: for the first time, or when it asked to.
    pub fn act<R: Recorder>(&mut self, host: &mut Host<'_, R>) {
        if let Transport::Waiting(opening) = &self.transport {
            self.transport = opening.open(host.now);
        }
        let (app, ways) = (&mut self.app, &mut self.ways);
        match &mut self.transport {
            Transport::Waiting(_) => {}
            Transport::Tcp(pair) => pair.act(app, host, ways),
            Transport::OneWay(pair) => pair.act(app, host, ways),
            Transport::Datagrams(datagrams) => datagrams.act(app, host, ways),
        }
    }

    /// A packet has come.
    #[inline]
    pub fn hear(&mut self, now: Time, frame: &Frame) -> Heard {
        match (&mut self.transport, &frame.body) {
            (Transport::Tcp(pair), Body::Segment(seg, _)) => {
                pair.hear(now, &mut self.ways, frame.forward, seg);
                Heard::Segment { forward: frame.forward }
            }
            (Transport::OneWay(_), Body::OneWayData(data)) => Heard::Data(*data),
            (Transport::OneWay(_), Body::OneWayAck(ack)) => Heard::Ack(*ack),
            (Transport::Datagrams(d), Body::Datagram(bytes)) => {
                d.arrived(now, &mut self.ways, *bytes);
                Heard::Nothing
            }
            _ => Heard::Nothing,
        }
    }

    /// What follows from it.
    #[inline]
    pub fn answer<R: Recorder>(&mut self, host: &mut Host<'_, R>, heard: Heard) {
        let (app, ways) = (&mut self.app, &mut self.ways);
        match (&mut self.transport, heard) {
            (Transport::Tcp(pair), Heard::Segment { forward }) => pair.answer(app, host, ways, forward),
            (Transport::OneWay(pair), Heard::Data(data)) => pair.data(host, ways, &data),
            (Transport::OneWay(pair), Heard::Ack(ack)) => pair.ack(host, ways, &ack),
            _ => {}
        }
    }

    pub fn wake<R: Recorder>(&mut self, host: &mut Host<'_, R>, alarm: Alarm) {
        let client = alarm == Alarm::Client;
        match (&mut self.transport, alarm) {
            (_, Alarm::Application) => self.act(host),
            (Transport::Tcp(pair), _) => pair.wake(host, &mut self.ways, client),
            (Transport::OneWay(pair), _) => pair.wake(host, &mut self.ways, client),
            _ => {}
        }
    }

    /// Will it end by itself?
    pub fn is_finite(&self) -> bool {
        self.app.is_finite()
    }
    /// Everything that was to be sent has been, and was acknowledged where somebody acknowledges.
    pub fn is_over(&self) -> bool {
        match &self.transport {
            Transport::Waiting(_) => false,
            Transport::Tcp(pair) => pair.is_over(),
            Transport::OneWay(pair) => self.app.is_finished() && pair.is_done(),
            Transport::Datagrams(_) => self.app.is_finished(),
        }
    }
    /// Why it ended before its time, if it did.
    pub fn failure(&self) -> Option<Failure> {
        match &self.transport {
            Transport::Tcp(pair) => pair.failure(),
            _ => None,
        }
    }
}

impl Opening {
    fn open(&self, now: Time) -> Transport {
        match (&self.client, &self.server) {
            (Stack::Wire(client), Stack::Wire(server)) => Transport::Tcp(Box::new(TcpPair::new(
                &Setup { client, server, isns: self.isns, answers: self.answers },
                now,
            ))),
            (Stack::OneWay(spec), _) | (_, Stack::OneWay(spec)) => {
                Transport::OneWay(Box::new(OneWayPair::new(spec, self.overhead.clone())))
            }
        }
    }
}
