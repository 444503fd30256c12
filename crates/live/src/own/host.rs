//! The host where rexmit's own TCP runs: packets come and go by a TUN interface, and the host's kernel only routes
//! them between it and the wire.

use super::Own;
use crate::clock::Clock;
use crate::content::Content;
use crate::error::{Error, sentence};
use crate::host::Host;
use crate::netlink::Netlink;
use crate::plan::{Carrier, Connection, MTU};
use crate::sys;
use crate::threads::Rank;
use crate::told::{Explained, Viewed};
use crate::transfer::{Shared, Side};
use instant::{Span, Time};
use links::random::Stream;
use scenario::workload::{Answers, Application, Outlet};
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::sync::{Arc, mpsc};
use std::thread;
use tcp::endpoint::{Config, Endpoint, State};
use tcp::stack::Wire;
use wire::{Seq, Tuple};

const INTERFACE: &str = "rexmit-tun";
/// How long the thread waits before it looks whether it is to stop.
const LOOK: Span = Span::from_millis(20);

/// The interface, open.
pub struct Station {
    tun: File,
}

/// One end of a connection at this host.
struct End {
    number: u32,
    server: bool,
    spec: Arc<Wire>,
    isn: Seq,
    connection: Connection,
    /// From the connection's start on; a server listens at once.
    own: Option<Own>,
    app: Application,
    /// When the application acts next.
    due: Option<Time>,
    answers: Answers,
    /// The application has said all, and the connection does not stand yet.
    closing: bool,
    side: Side,
    over: bool,
}

/// Makes the interface and gives it the host's address.
pub fn open(host: &Host) -> Result<Station, Error> {
    let made = host.ns.inside(|| {
        let tun = sys::tun(INTERFACE)?;
        let mut netlink = Netlink::open()?;
        let interface = sys::interface_index(INTERFACE)?;
        netlink.up(interface)?;
        netlink.route(interface, host.address, 32)?;
        Ok(tun)
    });
    match made {
        Ok(tun) => Ok(Station { tun }),
        Err(e) if matches!(e.raw_os_error(), Some(libc::ENOENT | libc::ENODEV | libc::ENXIO)) => {
            Err(Error::Machine(format!(
                "host {} runs rexmit's own TCP, which needs TUN, and this machine has none: modprobe tun, or a container \
                 with --device /dev/net/tun",
                host.name
            )))
        }
        Err(e) => Err(Error::Machine(format!("host {}, {INTERFACE}: {}", host.name, sentence(&e)))),
    }
}

impl Station {
    /// The thread that runs all ends at this host: numbers, connections, and whether the end is the server's.
    pub fn start(
        self,
        connections: Vec<(u32, Connection, bool)>,
        seed: u64,
        clock: mpsc::Receiver<Clock>,
        shared: &Arc<Shared>,
    ) -> io::Result<thread::JoinHandle<()>> {
        let shared = Arc::clone(shared);
        let ends: Vec<End> =
            connections.into_iter().filter_map(|(n, c, server)| End::new(n, c, server, seed)).collect();
        let threads = shared.threads;
        threads.start(Rank::Own, "own", move || {
            let Ok(clock) = clock.recv() else { return };
            let (packet, viewed, explained) = Default::default();
            let mut running = Running { tun: self.tun, clock, ends, packet, viewed, explained };
            running.run(&shared);
            if let Ok(mut all) = shared.viewed.lock() {
                all.append(&mut running.viewed);
            }
            if let Ok(mut all) = shared.explained.lock() {
                all.append(&mut running.explained);
            }
            for end in running.ends.iter().filter(|e| !e.over) {
                shared.end(end.number, end.server, end.side.clone());
            }
        })
    }
}

struct Running {
    tun: File,
    clock: Clock,
    ends: Vec<End>,
    packet: Vec<u8>,
    viewed: Vec<Viewed>,
    explained: Vec<Explained>,
}

impl Running {
    fn run(&mut self, shared: &Shared) {
        let mut buffer = vec![0; usize::from(u16::MAX)];
        while !shared.stopped() {
            let now = self.clock.now();
            for k in 0..self.ends.len() {
                self.ends[k].wake(now, shared.content);
                self.act(k, now, shared);
            }
            let next = self.ends.iter().filter_map(End::next).min().unwrap_or(now + LOOK);
            let patience = (next - self.clock.now()).min(LOOK).max(Span::ZERO);
            // Woken for nothing or by an error that lasts: either way it is looked at again.
            let _ = sys::wait_readable(&[self.tun.as_raw_fd()], patience.0);
            while let Ok(length) = self.tun.read(&mut buffer) {
                let now = self.clock.now();
                let heard =
                    |end: &mut End| end.own.as_mut().is_some_and(|own| own.receive(now, &buffer[..length]));
                if let Some(k) = self.ends.iter_mut().position(heard) {
                    self.act(k, now, shared);
                }
            }
        }
    }

    /// What follows from what an end heard, or from a timer.
    fn act(&mut self, k: usize, now: Time, shared: &Shared) {
        let end = &mut self.ends[k];
        end.applications(now, shared.content);
        let Some(own) = &mut end.own else { return };
        let (connection, forward) = (end.number, !end.server);
        while let Some(left) = own.transmit(now, &mut self.packet) {
            if !left.is_plain() {
                self.explained.push(Explained { time: now, connection, forward, left });
            }
            // A full interface queue loses the packet, as a card would: the timer sends it again.
            if let Err(e) = self.tun.write(&self.packet)
                && e.kind() != ErrorKind::WouldBlock
            {
                end.side.error.get_or_insert(e.kind());
            }
        }
        end.side.counts = Some(own.counts());
        if end.connection.is_recorded {
            let row = |view| Viewed { time: now, connection, forward, view };
            self.viewed.extend(own.changes().map(row));
        }
        if !end.over && end.is_over() {
            end.over = true;
            shared.end(end.number, end.server, end.side.clone());
        }
    }
}

impl End {
    fn new(number: u32, connection: Connection, server: bool, seed: u64) -> Option<End> {
        let Carrier::Own(spec) = &connection.carriers[usize::from(server)] else { return None };
        let spec = Arc::clone(spec);
        let mut draws = Stream::new(seed, &format!("live {number} {server}"), "isn");
        let isn = Seq(draws.next_u64() as u32);
        let side = Side::default();
        Some(End {
            number,
            server,
            spec,
            isn,
            app: connection.application(),
            due: (!server).then_some(connection.start),
            answers: connection.answers(),
            connection,
            own: None,
            closing: false,
            side,
            over: false,
        })
    }

    /// Starts it when its time has come, and lets timers fire that are due.
    fn wake(&mut self, now: Time, content: Content) {
        if let Some(own) = &mut self.own {
            if own.next_wakeup().is_some_and(|at| at <= now) {
                own.endpoint().wake(now);
            }
            return;
        }
        if !self.server && now < self.connection.start {
            return;
        }
        let config = Config { isn: self.isn, path_mtu: Some(MTU as u16), ..Config::default() };
        let forward = Tuple { src: end_of(self.connection.from), dst: end_of(self.connection.to) };
        self.own = Some(if self.server {
            Own::new(Endpoint::listen_shared(&self.spec, &config), forward.reversed(), content)
        } else {
            Own::new(Endpoint::connect_shared(&self.spec, &config, now), forward, content)
        });
    }

    fn next(&self) -> Option<Time> {
        let timer = self.own.as_ref().and_then(Own::next_wakeup);
        timer.into_iter().chain(self.due).min()
    }

    /// What has come is read; the client's application writes, the server answers, and closes when the client has.
    fn applications(&mut self, now: Time, content: Content) {
        let End { own: Some(own), side, app, answers, .. } = self else { return };
        let mut came = 0;
        own.read(now, |bytes| {
            side.look(bytes, content);
            side.heard(now, bytes.len() as u64);
            came += bytes.len() as u64;
        });
        let endpoint = own.endpoint();
        if self.server {
            answers.heard(came);
            answers.pump(|bytes| {
                let taken = endpoint.write(bytes);
                side.said(now, taken);
                taken
            });
            if endpoint.at_end() {
                endpoint.close();
            }
            return;
        }
        let mut out = Writing { endpoint, side, closing: &mut self.closing };
        if came > 0
            && let Some(at) = app.received(now, came, &mut out)
        {
            self.due = Some(at);
        }
        // At the times that the application asked for, however late this thread wakes.
        while let Some(at) = self.due.filter(|at| *at <= now) {
            self.due = app.act(at, &mut out);
        }
        app.pump(now, &mut out);
        if self.closing && endpoint.is_established() {
            self.closing = false;
            endpoint.close();
        }
    }

    /// Closed by both sides, or failed.
    fn is_over(&mut self) -> bool {
        let Some(own) = &mut self.own else { return false };
        let endpoint = own.endpoint();
        if let Some(failure) = endpoint.failed() {
            self.side.error = Some(kind(failure));
            return true;
        }
        self.side.closed = endpoint.is_closed() || endpoint.state() == State::TimeWait;
        self.side.closed
    }
}

/// Where the client's application writes to. A connection that does not stand yet can be written to, not closed.
struct Writing<'a> {
    endpoint: &'a mut Endpoint,
    side: &'a mut Side,
    closing: &'a mut bool,
}

impl Outlet for Writing<'_> {
    fn write(&mut self, now: Time, bytes: u64) -> u64 {
        let taken = self.endpoint.write(bytes);
        self.side.said(now, taken);
        taken
    }
    fn close(&mut self, _now: Time) {
        *self.closing = true;
    }
}

fn kind(failure: tcp::endpoint::Failure) -> ErrorKind {
    use tcp::endpoint::Failure;
    match failure {
        Failure::Refused => ErrorKind::ConnectionRefused,
        Failure::Reset => ErrorKind::ConnectionReset,
        Failure::TimedOut => ErrorKind::TimedOut,
        Failure::Aborted => ErrorKind::ConnectionAborted,
    }
}

fn end_of(address: std::net::SocketAddrV4) -> wire::Endpoint {
    wire::Endpoint { host: wire::Host::v4(address.ip().octets()), port: address.port() }
}
