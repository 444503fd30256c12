//! Two TCP endpoints and what their applications do.

use crate::frame::Reason;
use crate::host::{Alarm, Host, Parcel};
use crate::recorder::Recorder;
use crate::rows::State;
use crate::stats::{Traffic, Way};
use instant::Time;
use links::{Class, Ecn, memory};
use scenario::workload::{Answers, Application, Outlet};
use std::sync::Arc;
use tcp::endpoint::{self, Config, Endpoint, Why};
use tcp::stack;
use wire::{Flags, Segment, Seq};

const IP_HEADER: u32 = 20;

pub struct TcpPair {
    client: Endpoint,
    server: Endpoint,
    /// The client's application has said all; it closes once the connection stands.
    closing: bool,
    answers: Answers,
}

/// What a pair is made of.
pub struct Setup<'a> {
    pub client: &'a Arc<stack::Wire>,
    pub server: &'a Arc<stack::Wire>,
    pub isns: [Seq; 2],
    /// What the server says.
    pub answers: Answers,
}

impl TcpPair {
    /// The client opens now: its SYN leaves with the next [`TcpPair::act`].
    pub fn new(setup: &Setup<'_>, now: Time) -> TcpPair {
        let [client, server] = setup.isns;
        TcpPair {
            client: Endpoint::connect_shared(setup.client, &Config { isn: client, ..Config::default() }, now),
            server: Endpoint::listen_shared(setup.server, &Config { isn: server, ..Config::default() }),
            closing: false,
            answers: setup.answers,
        }
    }

    /// As all that acts does, tells whether the connection may be over.
    pub fn act<R: Recorder>(
        &mut self,
        app: &mut Application,
        host: &mut Host<'_, R>,
        traffic: &mut Traffic,
    ) -> bool {
        let mut out = Writing { endpoint: &mut self.client, closing: &mut self.closing };
        let next = app.act(host.now, &mut out);
        host.alarm(Alarm::Application, next);
        self.flush(true, host, traffic)
    }

    /// A segment will arrive.
    #[inline]
    pub fn prefetch(&self, forward: bool) {
        memory::prefetch(if forward { &self.server } else { &self.client });
    }

    /// A segment arrives.
    #[inline]
    pub fn hear(&mut self, now: Time, traffic: &mut Traffic, forward: bool, seg: &Segment, marked: bool) {
        if seg.payload > 0 {
            traffic.ways[usize::from(!forward)].arrived_packets += 1;
        }
        let end = if forward { &mut self.server } else { &mut self.client };
        if marked { end.receive_marked(now, seg) } else { end.receive(now, seg) }
    }

    /// What follows from it.
    #[inline]
    pub fn answer<R: Recorder>(
        &mut self,
        app: &mut Application,
        host: &mut Host<'_, R>,
        traffic: &mut Traffic,
        forward: bool,
    ) -> bool {
        if forward {
            self.serve(host.now, &mut traffic.ways[0]);
        } else {
            self.go_on(app, host, &mut traffic.ways[1]);
        }
        self.flush(!forward, host, traffic)
    }

    pub fn wake<R: Recorder>(&mut self, host: &mut Host<'_, R>, traffic: &mut Traffic, client: bool) -> bool {
        if client {
            self.client.wake(host.now)
        } else {
            self.server.wake(host.now)
        }
        self.flush(client, host, traffic)
    }

    /// Both sides have closed, or one gave up: the other may wait for ever.
    pub fn is_over(&self) -> bool {
        (self.client.is_closed() && self.server.is_closed()) || self.failure().is_some()
    }
    pub fn failure(&self) -> Option<endpoint::Failure> {
        self.client.failed().or(self.server.failed())
    }

    /// The server reads what has come, answers whole requests, and closes when the client has.
    #[inline]
    fn serve(&mut self, now: Time, way: &mut Way) {
        if self.server.readable() > 0 {
            let bytes = self.server.read(now, u64::MAX);
            way.delivered(now, bytes);
            self.answers.heard(bytes);
        }
        self.answers.pump(|bytes| self.server.write(bytes));
        if self.server.at_end() {
            self.server.close();
        }
    }

    /// The client has heard something: answers, room in its buffer, or that the connection stands.
    #[inline]
    fn go_on<R: Recorder>(&mut self, app: &mut Application, host: &mut Host<'_, R>, way: &mut Way) {
        let now = host.now;
        let mut out = Writing { endpoint: &mut self.client, closing: &mut self.closing };
        if out.endpoint.readable() > 0 {
            let bytes = out.endpoint.read(now, u64::MAX);
            way.delivered(now, bytes);
            if let Some(at) = app.received(now, bytes, &mut out) {
                host.alarm(Alarm::Application, Some(at));
            }
        }
        if app.is_waiting() {
            app.pump(now, &mut out);
        }
        if self.closing && self.client.is_established() {
            self.closing = false;
            self.client.close();
        }
    }

    /// Sends what one side has to send. The connection may be over if that side is closed: the other, which nothing
    /// happened to, is not looked at.
    #[inline]
    fn flush<R: Recorder>(&mut self, client: bool, host: &mut Host<'_, R>, traffic: &mut Traffic) -> bool {
        let endpoint = if client { &mut self.client } else { &mut self.server };
        let way = &mut traffic.ways[usize::from(!client)];
        let now = host.now;
        if endpoint.is_quiet_but_for_an_ack() {
            host.send_written(client, &mut traffic.ip_ids, |body| {
                let (seg, offset) = body.segment_mut();
                *offset = endpoint.transmit_ack(now, seg);
                way.sent(now, 0, Reason::Ack);
                let length_bytes = IP_HEADER + u32::from(seg.header_len);
                Some(Parcel {
                    forward: client,
                    reason: Reason::Ack,
                    class: Class::Ack,
                    length_bytes,
                    ecn: Ecn::NotCapable,
                })
            });
        } else if !endpoint.is_quiet() {
            let mut burst = endpoint.burst(now);
            while burst.is_full() {
                host.send_written(client, &mut traffic.ip_ids, |body| {
                    let (seg, offset) = body.segment_mut();
                    *offset = endpoint.transmit_full(now, &mut burst, seg);
                    way.sent(now, seg.payload, Reason::New);
                    let ecn = ecn(endpoint.is_markable(seg.payload, Why::New));
                    Some(parcel(client, Reason::New, seg, ecn))
                });
            }
            while !burst.is_over()
                && host.send_written(client, &mut traffic.ip_ids, |body| {
                    let (seg, offset) = body.segment_mut();
                    let (at, why) = endpoint.transmit_next(now, &mut burst, seg)?;
                    *offset = at;
                    let reason = Reason::from(why);
                    way.sent(now, seg.payload, reason);
                    let ecn = ecn(endpoint.is_markable(seg.payload, why));
                    Some(parcel(client, reason, seg, ecn))
                })
            {}
        }
        let alarm = if client { Alarm::Client } else { Alarm::Server };
        host.alarm(alarm, endpoint.next_wakeup());
        if R::IS_ON
            && let Some(step) = endpoint.take_cwnd_step()
        {
            let cwnd_bytes = f64::from(step);
            host.record(client, || State { cwnd_bytes, passing: true, ..State::from(&endpoint.view()) });
        }
        host.record(client, || State::from(&endpoint.view()));
        endpoint.is_closed()
    }
}

/// Where the client's application writes to. A connection that does not stand yet can be written to, not closed.
struct Writing<'a> {
    endpoint: &'a mut Endpoint,
    closing: &'a mut bool,
}

impl Outlet for Writing<'_> {
    fn write(&mut self, _now: Time, bytes: u64) -> u64 {
        self.endpoint.write(bytes)
    }
    fn close(&mut self, _now: Time) {
        if self.endpoint.is_established() {
            self.endpoint.close();
        } else {
            *self.closing = true;
        }
    }
}

#[inline]
fn ecn(markable: bool) -> Ecn {
    if markable { Ecn::Capable0 } else { Ecn::NotCapable }
}

#[inline]
fn parcel(forward: bool, reason: Reason, seg: &Segment, ecn: Ecn) -> Parcel {
    let class = match seg.payload {
        0 if seg.flags.has(Flags::SYN.with(Flags::FIN).with(Flags::RST)) => Class::Other,
        0 => Class::Ack,
        _ => Class::Data,
    };
    let length_bytes = IP_HEADER + u32::from(seg.header_len) + seg.payload;
    Parcel { forward, reason, class, length_bytes, ecn }
}
