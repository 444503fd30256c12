//! What an application does: when it writes how much, and when it has said all. Sans-IO, and the same whoever carries
//! it: the simulator's hosts or real ones.

use crate::model::{Distribution, Workload};
use instant::{Span, Time};
use links::random::Stream;

/// Where an application writes to.
pub trait Outlet {
    /// Takes up to `bytes`; returns how many.
    fn write(&mut self, now: Time, bytes: u64) -> u64;
    /// Nothing more will be written.
    fn close(&mut self, now: Time);
}

/// What an application wrote at one moment, for who sends it as datagrams: nothing is too much at once.
#[derive(Debug, Default)]
pub struct Written {
    pub bytes: u64,
}

impl Outlet for Written {
    fn write(&mut self, _now: Time, bytes: u64) -> u64 {
        self.bytes += bytes;
        bytes
    }
    fn close(&mut self, _now: Time) {}
}

/// More than any run can send, and no more than a sender without a bound on its buffer takes at once.
const ENDLESS: u64 = u64::MAX >> 3;

/// One application at the sending side of a flow.
#[derive(Debug)]
pub struct Application {
    behaviour: Behaviour,
    /// What was written by the application and not taken by the transport yet.
    backlog: u64,
    stop: Option<Time>,
    /// All is said: once the backlog is gone, the outlet is closed.
    finished: bool,
    closed: bool,
    /// Bytes that the application has produced.
    pub produced: u64,
}

/// Small: there may be 100,000 of them, most of which only write.
#[derive(Debug)]
enum Behaviour {
    Endless,
    File { bytes: u64 },
    Paced(Paced),
    Requests(Box<Requests>),
}

/// Messages at a steady rate, all the time or in periods.
#[derive(Debug)]
struct Paced {
    message_bytes: u64,
    every: Span,
    periods: Option<Box<Periods>>,
    /// Messages left in this period.
    left: u64,
}

#[derive(Debug)]
struct Periods {
    on: Distribution,
    off: Distribution,
    stream: Stream,
}

#[derive(Debug)]
struct Requests {
    request_bytes: u64,
    response_bytes: u64,
    think: Distribution,
    left: u64,
    /// Bytes of answers that are still to come.
    awaited: u64,
    /// When an answer came whole that the next request follows at once.
    answered: Option<Time>,
    stream: Stream,
}

impl Application {
    pub fn new(workload: &Workload, stop: Option<Time>, stream: Stream) -> Application {
        let behaviour = match workload {
            Workload::Endless => Behaviour::Endless,
            Workload::File { bytes } => Behaviour::File { bytes: *bytes },
            // Programs write for themselves.
            Workload::Command { .. } => Behaviour::File { bytes: 0 },
            Workload::ConstantRate { rate_bps, message_bytes } => {
                Behaviour::Paced(Paced::new(*message_bytes, *rate_bps, None))
            }
            Workload::OnOff { on, off, rate_bps, message_bytes } => {
                let periods = Box::new(Periods { on: *on, off: *off, stream });
                Behaviour::Paced(Paced::new(*message_bytes, *rate_bps, Some(periods)))
            }
            Workload::RequestResponse { request_bytes, response_bytes, think, count } => {
                Behaviour::Requests(Box::new(Requests {
                    request_bytes: *request_bytes,
                    response_bytes: *response_bytes,
                    think: *think,
                    left: count.unwrap_or(u64::MAX),
                    awaited: 0,
                    answered: None,
                    stream,
                }))
            }
        };
        Application { behaviour, backlog: 0, stop, finished: false, closed: false, produced: 0 }
    }

    /// Begins, or goes on at a time it asked for; returns when it wants to be called next.
    pub fn act(&mut self, now: Time, out: &mut impl Outlet) -> Option<Time> {
        if self.finished {
            return None;
        }
        if self.stop.is_some_and(|stop| now >= stop) {
            self.finish(now, out);
            return None;
        }
        let (bytes, next) = match &mut self.behaviour {
            Behaviour::Endless => (ENDLESS, None),
            Behaviour::File { bytes } => (*bytes, None),
            Behaviour::Paced(paced) => paced.act(now),
            Behaviour::Requests(r) => (r.ask(), None),
        };
        self.produced = self.produced.saturating_add(bytes);
        self.backlog = self.backlog.saturating_add(bytes);
        if matches!(self.behaviour, Behaviour::File { .. }) {
            self.finished = true;
        }
        self.pump(now, out);
        // A stop that lies before the next message ends the application at its own time.
        match (next, self.stop) {
            (Some(next), Some(stop)) => Some(next.min(stop)),
            (None, stop) if !self.finished => stop,
            (next, _) => next,
        }
    }

    /// The transport may have room again.
    pub fn pump(&mut self, now: Time, out: &mut impl Outlet) {
        if self.backlog > 0 {
            self.backlog -= out.write(now, self.backlog);
        }
        if self.finished && self.backlog == 0 && !self.closed {
            self.closed = true;
            out.close(now);
        }
    }

    /// Does it wait for room in the transport?
    pub fn is_waiting(&self) -> bool {
        self.backlog > 0
    }
    /// Bytes that it has yet to hand over.
    pub fn unwritten(&self) -> u64 {
        self.backlog
    }
    /// What it writes now answers what it read at this moment.
    pub fn answers(&self, now: Time) -> bool {
        matches!(&self.behaviour, Behaviour::Requests(r) if r.answered == Some(now))
    }

    /// Bytes came back from the other side; returns when it wants to act next.
    pub fn received(&mut self, now: Time, bytes: u64, out: &mut impl Outlet) -> Option<Time> {
        let Behaviour::Requests(r) = &mut self.behaviour else { return None };
        r.awaited = r.awaited.saturating_sub(bytes);
        if r.awaited > 0 || self.finished {
            return None;
        }
        if r.left == 0 {
            self.finish(now, out);
            return None;
        }
        let pause = draw(&r.think, &mut r.stream);
        r.answered = (pause == Span::ZERO).then_some(now);
        Some(now + pause)
    }

    /// It has written all that it ever will, and the transport has taken it.
    pub fn is_finished(&self) -> bool {
        self.closed
    }

    /// Will it ever end by itself?
    pub fn is_finite(&self) -> bool {
        match &self.behaviour {
            Behaviour::File { .. } => true,
            Behaviour::Requests(r) => r.left != u64::MAX || self.stop.is_some(),
            Behaviour::Endless | Behaviour::Paced(_) => self.stop.is_some(),
        }
    }

    fn finish(&mut self, now: Time, out: &mut impl Outlet) {
        self.finished = true;
        if matches!(self.behaviour, Behaviour::Endless) {
            self.backlog = 0;
        }
        self.pump(now, out);
    }
}

/// What the other side of an application still has to say: an answer for each whole request that came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    request_bytes: u64,
    response_bytes: u64,
    /// Bytes of a request that has not come whole.
    asked: u64,
    unwritten: u64,
}

impl Answers {
    pub fn new(workload: &Workload) -> Answers {
        match *workload {
            Workload::RequestResponse { request_bytes, response_bytes, .. } => {
                Answers { request_bytes: request_bytes.max(1), response_bytes, ..Answers::default() }
            }
            _ => Answers::default(),
        }
    }
    /// Bytes of requests have come.
    #[inline]
    pub fn heard(&mut self, bytes: u64) {
        if self.response_bytes > 0 {
            self.asked += bytes;
            self.unwritten += self.asked / self.request_bytes * self.response_bytes;
            self.asked %= self.request_bytes;
        }
    }
    /// `write` takes up to so many bytes of answers, and returns how many.
    #[inline]
    pub fn pump(&mut self, write: impl FnOnce(u64) -> u64) {
        if self.unwritten > 0 {
            self.unwritten -= write(self.unwritten);
        }
    }
    /// Does it wait for room in the transport?
    pub fn is_waiting(&self) -> bool {
        self.unwritten > 0
    }
    /// Bytes that it has yet to hand over.
    pub fn unwritten(&self) -> u64 {
        self.unwritten
    }
    /// Nothing is ever answered.
    pub fn is_silent(&self) -> bool {
        self.response_bytes == 0
    }
}

impl Paced {
    fn new(message_bytes: u64, rate_bps: u64, periods: Option<Box<Periods>>) -> Paced {
        let every = Span((message_bytes as u128 * 8_000_000_000 / u128::from(rate_bps.max(1))) as i64);
        Paced { message_bytes, every: Span(every.0.max(1)), periods, left: 0 }
    }

    /// One message, and the time of the next. A period holds as many messages as its length has room for, one at
    /// least; the pause counts from the end of the last message's interval.
    fn act(&mut self, now: Time) -> (u64, Option<Time>) {
        let Some(periods) = &mut self.periods else { return (self.message_bytes, Some(now + self.every)) };
        if self.left == 0 {
            let on = draw(&periods.on, &mut periods.stream);
            self.left = ((on.0 + self.every.0 / 2) / self.every.0).max(1) as u64;
        }
        self.left -= 1;
        let pause = if self.left == 0 { draw(&periods.off, &mut periods.stream) } else { Span::ZERO };
        (self.message_bytes, Some(now + self.every + pause))
    }
}

impl Requests {
    fn ask(&mut self) -> u64 {
        self.left = self.left.saturating_sub(1);
        self.awaited += self.response_bytes;
        self.request_bytes
    }
}

fn draw(d: &Distribution, stream: &mut Stream) -> Span {
    match *d {
        Distribution::Constant(span) => span,
        Distribution::Exponential { mean } => stream.exponential_span(mean),
        Distribution::Pareto { mean, shape } => stream.pareto_span(mean, shape),
    }
}
