//! A path between two endpoints: delay, and a word on every segment.

use crate::endpoint::*;
use crate::stack;
use std::collections::BTreeMap;

/// What the path does to a segment: deliver after so long, each; none is a loss.
pub type Fate = Vec<Span>;

/// Looks at client and server after every event.
pub type Watch = Box<dyn FnMut(&Endpoint, &Endpoint, Time)>;

/// A segment that crossed, or did not.
#[derive(Clone, Copy, Debug)]
pub struct Crossing {
    pub at: Time,
    pub from_client: bool,
    pub sent: Sent,
    #[allow(dead_code, reason = "printed where a test fails")]
    pub lost: bool,
}

pub struct Pipe<F: FnMut(bool, usize, &Sent) -> Fate> {
    pub client: Endpoint,
    pub server: Endpoint,
    pub now: Time,
    /// (from the client?, how many of that side came before, segment) -> what happens to it.
    fate: F,
    counts: [usize; 2],
    flying: BTreeMap<(Time, u64), (bool, Segment)>,
    ticket: u64,
    /// How often an end was asked for all that leaves it.
    drained: u64,
    arrived: u64,
    pub log: Vec<Crossing>,
    /// Readers take everything at once unless told not to.
    pub server_reads: bool,
    /// Looks at both ends after every event.
    pub watch: Option<Watch>,
    /// Looks at everything that leaves, with the sender as it was before.
    pub check_sent: Option<fn(&Endpoint, &Sent, &View)>,
    /// Is told the time.
    pub tell: Option<std::rc::Rc<std::cell::Cell<Time>>>,
    /// What the client's application has yet to hand over; then it closes, if it is to.
    pub backlog: u64,
    pub closes: bool,
    /// Bytes that applications have read.
    pub client_got: u64,
    pub server_got: u64,
}

/// What leaves when it is asked for in bursts, and what the endpoint is then: the same as by [`Endpoint::transmit`].
fn in_bursts(mut end: Endpoint, now: Time) -> (Vec<Sent>, Endpoint) {
    let mut sent = Vec::new();
    let mut burst = if end.is_quiet() { Burst::default() } else { end.burst(now) };
    while !burst.is_over() {
        let mut seg = Segment::default();
        let Some((offset, why)) = end.transmit_next(now, &mut burst, &mut seg) else { break };
        sent.push(Sent { seg, offset, why });
    }
    (sent, end)
}

/// Of all that an endpoint holds, printed, one in so many is compared: printing every one takes minutes.
const PRINTED_ONE_IN: u64 = 499;

/// Where wrap-around comes soon.
pub const CLIENT_ISN: Seq = Seq(u32::MAX - 3000);
pub const SERVER_ISN: Seq = Seq(77);

impl<F: FnMut(bool, usize, &Sent) -> Fate> Pipe<F> {
    pub fn new(client: &stack::Wire, server: &stack::Wire, fate: F) -> Pipe<F> {
        Pipe {
            client: Endpoint::connect(client, CLIENT_ISN, Time::ZERO),
            server: Endpoint::listen(server, SERVER_ISN),
            now: Time::ZERO,
            fate,
            counts: [0; 2],
            flying: BTreeMap::new(),
            ticket: 0,
            drained: 0,
            arrived: 0,
            log: Vec::new(),
            server_reads: true,
            watch: None,
            check_sent: None,
            tell: None,
            backlog: 0,
            closes: false,
            client_got: 0,
            server_got: 0,
        }
    }

    /// Lets everything leave that can.
    pub fn drain(&mut self) {
        if let Some(clock) = &self.tell {
            clock.set(self.now);
        }
        loop {
            let mut quiet = true;
            if self.backlog > 0 {
                self.backlog -= self.client.write(self.backlog);
            }
            if self.closes && self.backlog == 0 {
                self.client.close();
            }
            for from_client in [true, false] {
                let end = if from_client { &mut self.client } else { &mut self.server };
                let (in_bursts, after) = in_bursts(end.clone(), self.now);
                let first = self.log.len();
                loop {
                    let (before, blocked) = (end.view(), end.blocked(self.now));
                    let Some(sent) = end.transmit(self.now) else {
                        assert_ne!(end.blocked(self.now), Blocked::Nothing, "{before:?}");
                        break;
                    };
                    // A packet of several may wait, and it is known only when it is asked for that it does not.
                    let is_new = sent.why == Why::New && before.phase == Phase::Open;
                    assert!(!is_new || blocked == Blocked::Nothing || end.spec.send.offload, "{blocked:?}");
                    if let Some(check) = self.check_sent {
                        check(end, &sent, &before);
                    }
                    quiet = false;
                    let count = &mut self.counts[usize::from(!from_client)];
                    let fate = (self.fate)(from_client, *count, &sent);
                    *count += 1;
                    self.log.push(Crossing { at: self.now, from_client, sent, lost: fate.is_empty() });
                    for delay in fate {
                        self.ticket += 1;
                        self.flying.insert((self.now + delay, self.ticket), (from_client, sent.seg));
                    }
                }
                assert!(in_bursts.iter().eq(self.log[first..].iter().map(|crossing| &crossing.sent)));
                assert_eq!(after.view(), end.view(), "at {}", self.now);
                self.drained += 1;
                if self.drained.is_multiple_of(PRINTED_ONE_IN) {
                    assert_eq!(format!("{after:?}"), format!("{end:?}"), "at {}", self.now);
                }
            }
            self.client_got += self.client.read(self.now, u64::MAX);
            if self.server_reads {
                self.server_got += self.server.read(self.now, u64::MAX);
            }
            if quiet {
                break;
            }
        }
        if let Some(watch) = &mut self.watch {
            watch(&self.client, &self.server, self.now);
        }
    }

    /// A segment arrives: taken as an expected one it leaves what the long way leaves.
    fn arrives(&mut self, from_client: bool, seg: &Segment) {
        let to = if from_client { &mut self.server } else { &mut self.client };
        let mut the_long_way = to.clone();
        the_long_way.receive_any(self.now, seg);
        to.receive(self.now, seg);
        assert_eq!(the_long_way.view(), to.view(), "at {}", self.now);
        self.arrived += 1;
        if self.arrived.is_multiple_of(PRINTED_ONE_IN) {
            assert_eq!(format!("{the_long_way:?}"), format!("{to:?}"), "at {}", self.now);
        }
    }

    /// The next event, if there is one until `end`.
    pub fn step(&mut self, end: Time) -> bool {
        self.drain();
        let arrival = self.flying.keys().next().map(|k| k.0);
        let wakes = [self.client.next_wakeup(), self.server.next_wakeup()];
        let Some(next) = wakes.into_iter().flatten().chain(arrival).min() else { return false };
        assert!(next >= self.now, "a timer in the past: {next} at {}", self.now);
        if next > end {
            self.now = end;
            return false;
        }
        self.now = next;
        if arrival == Some(next) {
            let (_, (from_client, seg)) = self.flying.pop_first().unwrap();
            self.arrives(from_client, &seg);
        } else {
            self.client.wake(next);
            self.server.wake(next);
        }
        true
    }

    pub fn run_until(&mut self, end: Time) {
        while self.step(end) {}
        self.now = end;
        self.drain();
    }

    /// Until both ends are closed, at most to `end`; says whether they are.
    pub fn run_to_close(&mut self, end: Time) -> bool {
        while !(self.client.is_closed() && self.server.is_closed()) {
            if !self.step(end) {
                return self.client.is_closed() && self.server.is_closed();
            }
        }
        true
    }

    /// The server closes once the client has; reading needs no more.
    pub fn finish(&mut self, end: Time) -> bool {
        self.closes = true;
        while !self.server.at_end() {
            if !self.step(end) {
                return false;
            }
        }
        self.server.close();
        self.run_to_close(end)
    }

    pub fn by_client(&self) -> impl Iterator<Item = &Crossing> {
        self.log.iter().filter(|c| c.from_client)
    }
    pub fn data(&self) -> impl Iterator<Item = &Crossing> {
        self.by_client().filter(|c| c.sent.seg.payload > 0)
    }
}

/// 10 ms each way, nothing lost.
pub fn clear(_: bool, _: usize, _: &Sent) -> Fate {
    vec![Span::from_millis(10)]
}

/// 10 ms each way; the client's data segments with these ordinals (from 0) are lost.
pub fn losing(lost: &'static [usize]) -> impl FnMut(bool, usize, &Sent) -> Fate {
    let mut ordinal = 0;
    move |from_client, _, sent| {
        if from_client && sent.seg.payload > 0 {
            ordinal += 1;
            if lost.contains(&(ordinal - 1)) {
                return vec![];
            }
        }
        vec![Span::from_millis(10)]
    }
}

pub fn at_s(s: i64) -> Time {
    Time(s * 1_000_000_000)
}
