//! A connection: an application, a transport, and what is counted.

mod datagrams;
mod oneway;
mod programs;
mod tcp;

use crate::frame::{Body, Frame};
use crate::host::{Alarm, Ends, Shared};
use crate::recorder::Recorder;
use crate::rows::AppEvent;
use crate::stats::Traffic;
use ::tcp::endpoint::Failure;
use ::tcp::own::Mishap;
use ::tcp::stack::{Kind, OneWay, Wire};
use datagrams::Datagrams;
use instant::Time;
use links::memory;
use links::random::Stream;
use oneway::OneWayPair;
pub use programs::Programs;
use scenario::workload::{Answers, Application};
use std::sync::Arc;
use tcp::{Setup, TcpPair};
use wire::Seq;

pub struct Connection {
    /// Index of the scenario's flow.
    pub flow: u32,
    pub ends: Ends,
    pub starts: Time,
    app: Application,
    transport: Transport,
    pub traffic: Traffic,
    /// When all was done.
    pub ended: Option<Time>,
}

/// Enum dispatch: every packet comes through here.
#[allow(clippy::large_enum_variant)] // nearly every connection is the largest
enum Transport {
    /// Opened when the connection starts: until then there is nothing to keep.
    Waiting(Box<Opening>),
    /// Here and in no box, so that an arriving packet's endpoint is found without asking where it is.
    Tcp(TcpPair),
    OneWay(Box<OneWayPair>),
    Datagrams(Datagrams),
}

/// What a packet leaves to be done once it is out of the network.
pub enum Heard {
    Segment { forward: bool },
    OneWay,
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
            Kind::Wire(spec) => {
                let mut spec = (**spec).clone();
                spec.own.begin();
                Stack::Wire(Arc::new(spec))
            }
            Kind::OneWay(spec) => Stack::OneWay(Arc::new((**spec).clone())),
        }
    }
}

impl Stack {
    /// What may go wrong in it besides the network: of a stack with rules of somebody's own.
    pub fn mishap(&self) -> Option<&Mishap> {
        match self {
            Stack::Wire(spec) if !spec.own.is_empty() => Some(&spec.own.mishap),
            Stack::Wire(_) | Stack::OneWay(_) => None,
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
    pub programs: Option<Box<Programs>>,
    /// What a one-way sender's `overhead` draws from.
    pub overhead: Stream,
}

impl Connection {
    pub fn tcp(flow: u32, ends: Ends, starts: Time, app: Application, opening: Opening) -> Connection {
        Connection::new(flow, ends, starts, app, Transport::Waiting(Box::new(opening)))
    }
    pub fn datagrams(flow: u32, ends: Ends, starts: Time, app: Application, packet_bytes: u32) -> Connection {
        Connection::new(flow, ends, starts, app, Transport::Datagrams(Datagrams::new(packet_bytes)))
    }
    fn new(flow: u32, ends: Ends, starts: Time, app: Application, transport: Transport) -> Connection {
        Connection { flow, ends, starts, app, transport, traffic: Traffic::default(), ended: None }
    }

    /// The application acts: for the first time, or when it asked to. Like all that acts, tells whether the connection
    /// may be over now.
    pub fn act<R: Recorder>(&mut self, shared: Shared<'_, R>) -> bool {
        let opens = match &self.transport {
            Transport::Waiting(opening) => {
                self.transport = opening.open(shared.now);
                true
            }
            _ => false,
        };
        let Connection { ends, app, traffic, transport, .. } = self;
        let host = &mut shared.host(ends);
        if opens {
            host.application(true, AppEvent::Opened, 0, 0);
        }
        match transport {
            Transport::Waiting(_) => return false,
            Transport::Tcp(pair) => return pair.act(app, host, traffic),
            Transport::OneWay(pair) => pair.act(app, host, traffic),
            Transport::Datagrams(datagrams) => datagrams.act(app, host, traffic),
        }
        true
    }

    /// A packet will come, most likely next.
    #[inline]
    pub fn prefetch(&self, forward: bool) {
        memory::prefetch(&self.ends);
        memory::prefetch(&self.traffic);
        if let Transport::Tcp(pair) = &self.transport {
            pair.prefetch(forward);
        }
    }

    /// A packet has come.
    #[inline(always)]
    pub fn hear(&mut self, now: Time, frame: &Frame, marked: bool) -> Heard {
        if let (Transport::Tcp(pair), Body::Segment(seg, _)) = (&mut self.transport, &frame.body) {
            pair.hear(now, &mut self.traffic, frame.forward, seg, marked);
            return Heard::Segment { forward: frame.forward };
        }
        self.hear_other(now, frame)
    }

    #[inline(never)]
    fn hear_other(&mut self, now: Time, frame: &Frame) -> Heard {
        match (&mut self.transport, &frame.body) {
            (Transport::OneWay(pair), Body::OneWayData(_) | Body::OneWayAck(_)) => {
                pair.hear(&frame.body);
                Heard::OneWay
            }
            (Transport::Datagrams(d), Body::Datagram(bytes)) => {
                d.arrived(now, &mut self.traffic, *bytes);
                Heard::Nothing
            }
            _ => Heard::Nothing,
        }
    }

    /// What follows from it; whether it is a `probe` is asked for only where it is recorded.
    #[inline(always)]
    pub fn answer<R: Recorder>(&mut self, shared: Shared<'_, R>, heard: Heard, probe: bool) -> bool {
        let Connection { ends, app, traffic, transport, .. } = self;
        let host = &mut shared.host(ends);
        match (transport, heard) {
            (Transport::Tcp(pair), Heard::Segment { forward }) => {
                return pair.answer(app, host, traffic, forward, probe);
            }
            (Transport::OneWay(pair), Heard::OneWay) => pair.answer(host, traffic),
            _ => {}
        }
        true
    }

    pub fn wake<R: Recorder>(&mut self, shared: Shared<'_, R>, alarm: Alarm) -> bool {
        if alarm == Alarm::Application {
            return self.act(shared);
        }
        let client = alarm == Alarm::Client;
        let Connection { ends, app, traffic, transport, .. } = self;
        let host = &mut shared.host(ends);
        match transport {
            Transport::Tcp(pair) => return pair.wake(app, host, traffic, client),
            Transport::OneWay(pair) => pair.wake(host, traffic, client),
            _ => {}
        }
        true
    }

    /// It is time for one of the programs to read.
    pub fn run_programs<R: Recorder>(&mut self, shared: Shared<'_, R>) -> bool {
        let Connection { ends, app, traffic, transport, .. } = self;
        match transport {
            Transport::Tcp(pair) => pair.run_programs(app, &mut shared.host(ends), traffic),
            _ => false,
        }
    }

    /// It may be over now: 1 if it is one of those that end by themselves, and just has.
    pub fn end_if_over(&mut self, now: Time) -> u64 {
        if self.ended.is_some() || !self.is_over() {
            return 0;
        }
        self.ended = Some(now);
        u64::from(self.is_finite())
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
            (Stack::Wire(client), Stack::Wire(server)) => {
                let programs = self.programs.clone();
                let setup = Setup { client, server, isns: self.isns, answers: self.answers, programs };
                Transport::Tcp(TcpPair::new(setup, now))
            }
            (Stack::OneWay(spec), _) | (_, Stack::OneWay(spec)) => {
                Transport::OneWay(Box::new(OneWayPair::new(spec, self.overhead.clone())))
            }
        }
    }
}
