//! Two TCP endpoints and what their applications do.

use super::programs::Programs;
use crate::frame::Reason;
use crate::host::{Alarm, Host, Parcel};
use crate::recorder::Recorder;
use crate::release::{Event, Release};
use crate::rows::{AppEvent, Block, BlockedRow, State};
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
    programs: Option<Box<Programs>>,
    /// It has been told that the client's connection failed, the server's.
    told_failed: [bool; 2],
}

/// What a pair is made of.
pub struct Setup<'a> {
    pub client: &'a Arc<stack::Wire>,
    pub server: &'a Arc<stack::Wire>,
    pub isns: [Seq; 2],
    /// What the server says.
    pub answers: Answers,
    pub programs: Option<Box<Programs>>,
}

impl TcpPair {
    /// The client opens now: its SYN leaves with the next [`TcpPair::act`].
    pub fn new(setup: Setup<'_>, now: Time) -> TcpPair {
        let [client, server] = setup.isns;
        TcpPair {
            client: Endpoint::connect_shared(setup.client, &Config { isn: client, ..Config::default() }, now),
            server: Endpoint::listen_shared(setup.server, &Config { isn: server, ..Config::default() }),
            closing: false,
            answers: setup.answers,
            programs: setup.programs,
            told_failed: [false; 2],
        }
    }

    /// As all that acts does, tells whether the connection may be over.
    pub fn act<R: Recorder>(
        &mut self,
        app: &mut Application,
        host: &mut Host<'_, R>,
        traffic: &mut Traffic,
    ) -> bool {
        let event = if R::IS_ON && app.answers(host.now) { Event::Answer } else { Event::Write };
        let mut out = Writing { endpoint: &mut self.client, closing: &mut self.closing, host };
        let next = app.act(out.host.now, &mut out);
        host.alarm(Alarm::Application, next);
        self.flush(true, event, app, host, traffic)
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
        probe: bool,
    ) -> bool {
        if forward {
            self.serve(host, &mut traffic.ways[0]);
        } else {
            self.go_on(app, host, &mut traffic.ways[1]);
        }
        let event = Event::Arrival { probe };
        self.flush(!forward, event, app, host, traffic)
    }

    /// It is time for one of the programs to read. The side without unread data is not touched.
    pub fn run_programs<R: Recorder>(
        &mut self,
        app: &mut Application,
        host: &mut Host<'_, R>,
        traffic: &mut Traffic,
    ) -> bool {
        let mut may_be_over = false;
        if self.server.readable() > 0 {
            self.serve(host, &mut traffic.ways[0]);
            may_be_over |= self.flush(false, Event::Read, app, host, traffic);
        }
        if self.client.readable() > 0 {
            self.go_on(app, host, &mut traffic.ways[1]);
            may_be_over |= self.flush(true, Event::Read, app, host, traffic);
        }
        may_be_over
    }

    pub fn wake<R: Recorder>(
        &mut self,
        app: &Application,
        host: &mut Host<'_, R>,
        traffic: &mut Traffic,
        client: bool,
    ) -> bool {
        let endpoint = if client { &mut self.client } else { &mut self.server };
        let event = match R::IS_ON {
            true => Event::Wake { paced: endpoint.is_due_by_pace(host.now), holds_ack: endpoint.holds_ack() },
            false => Event::Wake { paced: false, holds_ack: false },
        };
        endpoint.wake(host.now);
        self.flush(client, event, app, host, traffic)
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
    fn serve<R: Recorder>(&mut self, host: &mut Host<'_, R>, way: &mut Way) {
        let now = host.now;
        if self.server.readable() > 0 {
            let bytes = read(&mut self.programs, false, &mut self.server, host);
            way.delivered(now, bytes);
            self.answers.heard(bytes);
        }
        let TcpPair { server, answers, .. } = self;
        let wants = answers.unwritten();
        answers.pump(|bytes| server.write(bytes));
        if R::IS_ON && wants > answers.unwritten() {
            host.application(false, AppEvent::Wrote, wants - answers.unwritten(), answers.unwritten());
        }
        if server.at_end() {
            if R::IS_ON && !server.is_closing() {
                host.application(false, AppEvent::Closed, 0, 0);
            }
            server.close();
        }
    }

    /// The client has heard something: answers, room in its buffer, or that the connection stands.
    #[inline]
    fn go_on<R: Recorder>(&mut self, app: &mut Application, host: &mut Host<'_, R>, way: &mut Way) {
        let now = host.now;
        let mut out = Writing { endpoint: &mut self.client, closing: &mut self.closing, host };
        if out.endpoint.readable() > 0 {
            let bytes = read(&mut self.programs, true, out.endpoint, out.host);
            way.delivered(now, bytes);
            if bytes > 0
                && let Some(at) = app.received(now, bytes, &mut out)
            {
                out.host.alarm(Alarm::Application, Some(at));
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
    fn flush<R: Recorder>(
        &mut self,
        client: bool,
        event: Event,
        app: &Application,
        host: &mut Host<'_, R>,
        traffic: &mut Traffic,
    ) -> bool {
        let unwritten = || if client { app.unwritten() } else { self.answers.unwritten() };
        let endpoint = if client { &mut self.client } else { &mut self.server };
        let way = &mut traffic.ways[usize::from(!client)];
        let now = host.now;
        let told_failed = &mut self.told_failed[usize::from(!client)];
        if R::IS_ON && endpoint.failed().is_some() && !*told_failed {
            *told_failed = true;
            host.application(client, AppEvent::Failed, 0, 0);
        }
        let tells = host.wants_releases();
        let before = if tells { host.blocked_by(client) } else { Block::default() };
        let release = |why| if tells { Release::of(event, before, why) } else { Release::default() };
        if endpoint.is_quiet_but_for_an_ack() {
            host.send_written(client, &mut traffic.ip_ids, |body| {
                let (seg, offset) = body.segment_mut();
                *offset = endpoint.transmit_ack(now, seg);
                way.sent(now, 0, Reason::Ack);
                let length_bytes = IP_HEADER + u32::from(seg.header_len);
                Some(Parcel {
                    forward: client,
                    reason: Reason::Ack,
                    release: release(Why::Ack),
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
                    Some(parcel(client, Reason::New, release(Why::New), seg, ecn))
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
                    Some(parcel(client, reason, release(why), seg, ecn))
                })
            {}
        }
        let alarm = if client { Alarm::Client } else { Alarm::Server };
        host.alarm(alarm, endpoint.next_wakeup());
        let closed = endpoint.is_closed();
        if R::IS_ON
            && let Some(step) = endpoint.take_cwnd_step()
        {
            let cwnd_bytes = f64::from(step);
            host.record(client, || State { cwnd_bytes, passing: true, ..State::from(&endpoint.view()) });
        }
        host.record(client, || State::from(&endpoint.view()));
        let connection = host.ends.connection;
        host.blocked(|| {
            let (view, unwritten_bytes) = (endpoint.view(), unwritten());
            BlockedRow {
                time: now,
                connection,
                forward: client,
                by: Block::new(endpoint.blocked(now), unwritten_bytes),
                unsent_bytes: endpoint.unsent(),
                unwritten_bytes,
                flight_bytes: view.flight.into(),
                cwnd_bytes: f64::from(view.cwnd),
                peer_window_bytes: view.peer_window.into(),
            }
        });
        self.plan_programs(host);
        closed
    }

    #[inline(always)]
    fn plan_programs<R: Recorder>(&self, host: &mut Host<'_, R>) {
        if let Some(programs) = &self.programs {
            let (timer, at) = programs.next(&self.client, &self.server);
            host.net.set_timer(timer, at);
        }
    }
}

/// A program reads all unread data, or as much as its reader allows now.
#[inline(always)]
fn read<R: Recorder>(
    programs: &mut Option<Box<Programs>>,
    client: bool,
    endpoint: &mut Endpoint,
    host: &mut Host<'_, R>,
) -> u64 {
    let bytes = match programs {
        None => endpoint.read(host.now, u64::MAX),
        Some(programs) => programs.read(client, endpoint, host.now),
    };
    if bytes > 0 {
        host.application(client, AppEvent::Read, bytes, endpoint.readable());
    }
    bytes
}

/// Where the client's application writes to. A connection that does not stand yet can be written to, not closed.
struct Writing<'a, 'h, R> {
    endpoint: &'a mut Endpoint,
    closing: &'a mut bool,
    host: &'a mut Host<'h, R>,
}

impl<R: Recorder> Outlet for Writing<'_, '_, R> {
    fn write(&mut self, _now: Time, bytes: u64) -> u64 {
        let taken = self.endpoint.write(bytes);
        if taken > 0 {
            self.host.application(true, AppEvent::Wrote, taken, bytes - taken);
        }
        taken
    }
    fn close(&mut self, _now: Time) {
        self.host.application(true, AppEvent::Closed, 0, 0);
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
fn parcel(forward: bool, reason: Reason, release: Release, seg: &Segment, ecn: Ecn) -> Parcel {
    let class = match seg.payload {
        0 if seg.flags.has(Flags::SYN.with(Flags::FIN).with(Flags::RST)) => Class::Other,
        0 => Class::Ack,
        _ => Class::Data,
    };
    let length_bytes = IP_HEADER + u32::from(seg.header_len) + seg.payload;
    Parcel { forward, reason, release, class, length_bytes, ecn }
}
