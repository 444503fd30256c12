//! The thread that moves packets between hosts through the net.
//!
//! A packet arrives when the kernel stamped it, everything between is virtual, and what reaches its host waits for
//! the wall clock. Whoever wakes late reads all that has come, puts it in the order of its stamps and hands it to the
//! net before the net goes on: a late wake-up makes packets leave late, and shifts neither queue nor schedule.

mod log;

use crate::awake::Awake;
use crate::bins::Bins;
use crate::clock::Clock;
use crate::error::{Error, Told, sentence};
use crate::frames::{FrameId, Frames, Headers, ROOM};
use crate::lateness::Lateness;
use crate::observed::Observed;
use crate::passed::Which;
use crate::sys::{self, Receiving, Sending};
use crate::threads::Rank;
use crate::waking::{Waking, least_transit};
use instant::{Span, Time};
use links::counters::Tallies;
use links::{Counters, Facts, LinkId};
use log::Log;
use net::{BuildError, Net, NodeId, Step, Topology};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use wire::Packet;

/// Packets read from one host in one wake-up: what is due does not wait for more to be read.
const BATCH: usize = 16;
/// Packets sent to one host at once: all count as late as the last of them.
const AT_ONCE: usize = 4;
/// No wait is longer: the order to stop is looked for then.
const LONGEST_WAIT: Span = Span::from_millis(20);
/// Above this rate a wake-up for each packet costs more than it gains.
const BUSY_BPS: i64 = 200_000_000;
const RATE_WINDOW: Span = Span::from_millis(10);
const COALESCED: Span = Span::from_micros(50);
/// On a path that takes longer, what comes while packets are inside is read when one of them leaves, or then.
const LOOK_AGAIN: Span = Span::from_millis(1);
/// What the bridge may lag behind before the kernel throws packets away: a second of 200 Mbps.
const SOCKET_BYTES: usize = 64 << 20;
/// A full backlog at the other end is emptied within that.
const RETRIES: u32 = 40;
const RETRY_AFTER: Span = Span::from_micros(50);

/// What the bench sees of the bridge while it runs.
#[derive(Debug)]
pub struct Shared {
    pub stop: AtomicBool,
    /// Virtual nanoseconds: from then on nothing moves, and what is inside, or comes later, stays where it is.
    pub until: AtomicI64,
    /// That time is over, and all that was due is delivered.
    pub still: AtomicBool,
    /// Packets that came, and those inside.
    pub packets: AtomicU64,
    pub inside: AtomicU64,
    /// When the last packet came, virtual nanoseconds.
    pub last: AtomicI64,
}

impl Default for Shared {
    fn default() -> Shared {
        Shared {
            stop: AtomicBool::new(false),
            until: AtomicI64::new(i64::MAX),
            still: AtomicBool::new(false),
            packets: AtomicU64::new(0),
            inside: AtomicU64::new(0),
            last: AtomicI64::new(0),
        }
    }
}

/// What the bridge is made of.
pub struct Setup {
    pub topology: Topology,
    pub seed: u64,
    /// Each host's node, address and interface in this namespace.
    pub ports: Vec<(NodeId, u32, String)>,
    /// Links whose queues are recorded.
    pub queues: Vec<usize>,
    /// What passes is counted by intervals of this length.
    pub bin: Option<Span>,
    pub real_time: bool,
}

/// A packet that was inside at the end.
#[derive(Clone, Copy, Debug)]
pub struct Inside {
    pub which: Which,
    /// As a capture shows it, at the time when it came; `None` if it is none of TCP's.
    pub segment: Option<Packet>,
}

/// What it found out.
pub struct Findings {
    pub observed: Observed,
    /// By link: forward, back.
    pub links: Vec<[Counters; 2]>,
    pub tallies: Vec<[Tallies; 2]>,
    /// By link: when its first packet came, where an outage's schedule waited for it.
    pub anchors: Vec<Option<Time>>,
    pub first: Option<Time>,
    /// Until when packets moved.
    pub until: Time,
    /// What had come and was neither lost nor delivered, each as often as it was carried.
    pub inside: Vec<Inside>,
    pub quality: Quality,
}

/// How well the bridge kept time.
#[derive(Clone, Debug, Default)]
pub struct Quality {
    pub lateness: Lateness,
    /// Packets that came after the net had passed their time, and by how much at most.
    pub shifted: u64,
    pub most_shifted: Span,
    /// Packets that the machine lost: no room in the bridge's sockets, or at the host's end.
    pub overload: u64,
    /// Packets that had to be sent again to their host, whose backlog was full.
    pub retried: u64,
    /// What is not the scenario's: no IPv4 for one of its hosts.
    pub ignored: u64,
    pub wake_ups: u64,
    pub coalesced_wake_ups: u64,
    /// Steps of the wall clock.
    pub clock_steps: u64,
    /// Why the thread has no real-time priority, if it should.
    pub no_real_time: Option<String>,
    pub real_time: bool,
    /// Why idle cores may halt, if they should not.
    pub no_awake: Option<String>,
    pub awake: bool,
}

struct Port {
    node: NodeId,
    fd: OwnedFd,
    /// Where the next packets are received.
    waiting: Vec<FrameId>,
    /// What is to be sent, and since when it should be.
    out: Vec<(FrameId, Time)>,
    /// Not everything that had come was read.
    more: bool,
}

#[derive(Clone, Copy)]
struct Arrival {
    time: Time,
    from: NodeId,
    /// The port behind which it goes.
    to: usize,
    frame: FrameId,
    headers: Headers,
}

pub struct Bridge {
    net: Net<FrameId>,
    ports: Vec<Port>,
    fds: Vec<RawFd>,
    /// The port of each node that has one, by address.
    by_address: Vec<(u32, usize)>,
    by_node: Vec<Option<usize>>,
    log: Log,
    quality: Quality,
    receiving: Receiving,
    sending: Sending,
    received: Vec<sys::Received>,
    arrivals: Vec<Arrival>,
    /// Since when bytes are counted, and how many.
    window: (Time, i64),
    busy: bool,
    /// From then on nothing moves; and how far the net has come.
    until: Time,
    reached: Time,
    /// When it woke last.
    woke: Time,
    waking: Waking,
    /// Held until the bridge has stopped.
    _awake: Option<Awake>,
    /// No packet leaves sooner after it came.
    transit: Span,
    /// When the first packet came, and the last.
    first: Option<Time>,
    last: Time,
}

impl Bridge {
    /// To be called in the bridge's namespace.
    pub fn open(setup: Setup) -> Result<Bridge, Error> {
        let scenario = |e: BuildError| Error::Scenario(e.to_string());
        let net = Net::new(&setup.topology, setup.seed).map_err(scenario)?;
        let mut log = Log {
            frames: Frames::default(),
            which: Vec::new(),
            observed: Observed::default(),
            queues: Vec::new(),
        };
        log.observed.bins = setup.bin.map(Bins::new);
        log.queues.resize(setup.topology.links.len(), false);
        setup.queues.iter().for_each(|q| log.queues[*q] = true);
        let mut quality = Quality::default();
        let (mut ports, mut by_address) = (Vec::new(), Vec::new());
        let mut by_node = vec![None; setup.topology.nodes as usize];
        for (node, address, interface) in setup.ports {
            let fd = port(&interface).told(format!("the bridge's interface {interface}"))?;
            by_address.push((address, ports.len()));
            by_node[node.0 as usize] = Some(ports.len());
            let waiting = (0..BATCH).map(|_| log.frames.take()).collect();
            ports.push(Port { node, fd, waiting, out: Vec::new(), more: false });
        }
        by_address.sort_unstable();
        sys::exact_timers();
        if setup.real_time {
            match sys::real_time(Rank::Bridge.priority()) {
                Ok(()) => quality.real_time = true,
                Err(e) => quality.no_real_time = Some(sentence(&e)),
            }
        }
        let awake = setup.real_time.then(Awake::hold).transpose();
        quality.no_awake = awake.as_ref().err().map(sentence);
        let awake = awake.ok().flatten();
        quality.awake = awake.is_some();
        let hosts: Vec<NodeId> = ports.iter().map(|p| p.node).collect();
        let transit = least_transit(&setup.topology, &hosts);
        Ok(Bridge {
            net,
            fds: ports.iter().map(|p| p.fd.as_raw_fd()).collect(),
            ports,
            by_address,
            by_node,
            log,
            waking: Waking::new(quality.real_time),
            _awake: awake,
            quality,
            receiving: Receiving::new(BATCH),
            sending: Sending::new(BATCH),
            received: Vec::with_capacity(BATCH),
            arrivals: Vec::with_capacity(BATCH),
            window: (Time::ZERO, 0),
            busy: false,
            until: Time(i64::MAX),
            reached: Time::ZERO,
            woke: Time::ZERO,
            transit,
            first: None,
            last: Time::ZERO,
        })
    }

    /// Moves packets until it is told to stop, and has read what had come until then.
    pub fn run(mut self, mut clock: Clock, shared: &Shared) -> Result<Findings, Error> {
        loop {
            let last_turn = shared.stop.load(Ordering::Relaxed);
            self.until = Time(shared.until.load(Ordering::Relaxed));
            if !last_turn {
                self.wait(&clock).told("the bridge cannot wait")?;
            }
            self.turn(&mut clock).told("the bridge cannot read")?;
            shared.still.store(self.reached >= self.until, Ordering::Relaxed);
            shared.packets.store(self.log.observed.copies(), Ordering::Relaxed);
            shared.inside.store(self.net.inside() as u64, Ordering::Relaxed);
            shared.last.store(self.last.0, Ordering::Relaxed);
            if last_turn && !self.ports.iter().any(|p| p.more) {
                break;
            }
        }
        for port in &self.ports {
            self.quality.overload += sys::packet_drops(port.fd.as_fd()).unwrap_or(0);
        }
        self.quality.clock_steps = clock.steps;
        let pairs = (0..self.net.links() / 2).map(|p| [LinkId::forward(p), LinkId::back(p)]);
        Ok(Findings {
            links: self.net.counters_of_pairs(),
            anchors: pairs.clone().map(|[forward, _]| self.net.anchored(forward)).collect(),
            tallies: pairs.map(|pair| pair.map(|l| self.net.tallies(l))).collect(),
            first: self.first,
            until: self.reached,
            inside: self.log.carried(),
            observed: self.log.observed,
            quality: self.quality,
        })
    }

    /// Until something comes or is due; where much comes, for a while in any case.
    fn wait(&mut self, clock: &Clock) -> io::Result<()> {
        self.quality.wake_ups += 1;
        self.quality.coalesced_wake_ups += u64::from(self.busy);
        if !self.ports.iter().any(|p| p.more) {
            self.sleep(clock)?;
        }
        self.woke = clock.now();
        Ok(())
    }

    fn sleep(&mut self, clock: &Clock) -> io::Result<()> {
        let now = clock.now();
        // What comes while packets are inside leaves after them all, and is stamped: it can wait to be read.
        let deaf = self.busy || self.net.inside() > 0 && self.transit > LOOK_AGAIN;
        let look = now + if deaf { LOOK_AGAIN } else { LONGEST_WAIT };
        let next = self.net.next().filter(|next| *next <= self.until);
        let due = if self.busy { self.woke + COALESCED } else { next.unwrap_or(look) };
        let ask = self.waking.ask(now, due).min(look);
        if ask > now {
            let came = if deaf {
                clock.sleep_until(ask);
                false
            } else {
                sys::wait_readable(&self.fds, (ask - now).0)?
            };
            self.waking.slept(ask, clock.now(), came);
            if came || ask == look {
                return Ok(());
            }
        }
        while clock.now() < due {
            std::hint::spin_loop();
        }
        Ok(())
    }

    fn turn(&mut self, clock: &mut Clock) -> io::Result<()> {
        clock.settle();
        // What is stamped before this moment is in its socket, or all but.
        let mut limit = clock.now();
        self.arrivals.clear();
        for at in 0..self.ports.len() {
            if let Some(last) = self.read(at, clock)? {
                limit = limit.min(last);
            }
        }
        self.arrivals.sort_by_key(|a| a.time);
        let arrivals = std::mem::take(&mut self.arrivals);
        for arrival in &arrivals {
            let in_time = arrival.time <= self.until;
            if in_time {
                self.advance(arrival.time, clock)?;
            }
            let which = self.note(arrival);
            if in_time {
                self.enter(arrival, &which);
            }
        }
        self.arrivals = arrivals;
        let reached = limit.min(self.until);
        self.advance(reached, clock)?;
        self.reached = self.reached.max(reached);
        (0..self.ports.len()).try_for_each(|at| self.flush(at, clock))?;
        self.weigh(limit);
        Ok(())
    }

    /// Reads what a host has sent; if that was not all, the time of the last that was read.
    fn read(&mut self, at: usize, clock: &Clock) -> io::Result<Option<Time>> {
        let (port, frames) = (&mut self.ports[at], &mut self.log.frames);
        let mut rooms = frames.rooms(&port.waiting);
        let got = self.receiving.receive(port.fd.as_fd(), &mut rooms, &mut self.received)?;
        port.more = got == BATCH;
        let mut last = None;
        for (k, packet) in self.received.iter().enumerate() {
            let frame = port.waiting[k];
            let time = if packet.time == 0 { clock.now() } else { clock.stamped(packet.time) };
            last = Some(time);
            let bytes = &frames.room(frame)[..packet.len.min(ROOM)];
            let headers = Headers::read(bytes).filter(|_| packet.len <= ROOM);
            let to = headers.and_then(|h| find(&self.by_address, h.to));
            let (Some(headers), Some(to)) = (headers, to) else {
                self.quality.ignored += 1;
                continue;
            };
            frames.keep(frame, packet.len);
            port.waiting[k] = frames.take();
            self.last = self.last.max(time);
            self.window.1 += i64::from(headers.len);
            self.arrivals.push(Arrival { time, from: port.node, to, frame, headers });
        }
        Ok(last.filter(|_| port.more))
    }

    /// It has come, and is inside.
    fn note(&mut self, a: &Arrival) -> Which {
        let time = a.time.max(self.net.now());
        if time > a.time && a.time > Time::ZERO {
            self.quality.shifted += 1;
            self.quality.most_shifted = self.quality.most_shifted.max(time - a.time);
        }
        self.first.get_or_insert(time);
        let which = self.log.observed.note(time, &a.headers);
        let at = a.frame.0 as usize;
        if at >= self.log.which.len() {
            self.log.which.resize(at + 1, None);
        }
        self.log.which[at] = Some(which);
        which
    }

    fn enter(&mut self, a: &Arrival, which: &Which) {
        let to = self.ports[a.to].node;
        let facts = Facts {
            len: a.headers.len,
            flow: which.connection * 2 + u32::from(!which.from_client),
            class: a.headers.class(),
            ecn: a.headers.ecn(),
        };
        if !self.net.send(which.came, a.from, to, facts, a.frame, &mut self.log) {
            self.quality.ignored += 1;
            self.log.frames.release(a.frame);
        }
    }

    /// Handles what happens in the net up to `limit`; what reaches a host is to be sent there.
    fn advance(&mut self, limit: Time, clock: &Clock) -> io::Result<()> {
        while let Some((time, step)) = self.net.advance_until(limit, &mut self.log) {
            let Step::Arrived { at, packet } = step else { continue };
            let frame = *self.net.content(packet);
            let Some(port) = self.by_node[at.0 as usize] else { continue };
            self.log.observed.arrived(time, self.log.which[frame.0 as usize].as_ref());
            self.ports[port].out.push((frame, time));
            if self.ports[port].out.len() >= BATCH {
                self.flush(port, clock)?;
            }
        }
        Ok(())
    }

    fn flush(&mut self, at: usize, clock: &Clock) -> io::Result<()> {
        let port = &mut self.ports[at];
        let (mut done, mut tries) = (0, 0);
        while done < port.out.len() {
            let end = port.out.len().min(done + AT_ONCE);
            let packets: Vec<&[u8]> =
                port.out[done..end].iter().map(|(id, _)| self.log.frames.bytes(*id)).collect();
            match self.sending.send(port.fd.as_fd(), &packets) {
                Ok(sent) => {
                    let now = clock.now();
                    for (_, due) in &port.out[done..done + sent] {
                        self.quality.lateness.add(now - *due);
                    }
                    done += sent;
                    tries = 0;
                }
                Err(_) if tries < RETRIES => {
                    tries += 1;
                    self.quality.retried += 1;
                    clock.sleep_until(clock.now() + RETRY_AFTER);
                }
                // The host is gone, or does not take anything any more.
                Err(_) => {
                    self.quality.overload += 1;
                    (done, tries) = (done + 1, 0);
                }
            }
        }
        for (frame, _) in port.out.drain(..) {
            self.log.frames.release(frame);
        }
        Ok(())
    }

    /// Whether much is coming.
    fn weigh(&mut self, now: Time) {
        let length = now - self.window.0;
        if length >= RATE_WINDOW {
            self.busy = self.window.1 * 8 > BUSY_BPS / 1000 * (length.0 / 1_000_000);
            self.window = (now, 0);
        }
    }
}

fn find(by_address: &[(u32, usize)], address: u32) -> Option<usize> {
    let at = by_address.binary_search_by_key(&address, |(a, _)| *a).ok()?;
    by_address.get(at).map(|(_, port)| *port)
}

fn port(interface: &str) -> io::Result<OwnedFd> {
    let fd = sys::packet_socket(sys::ETH_P_IP, sys::interface_index(interface)?)?;
    sys::prepare_receiver(fd.as_fd(), SOCKET_BYTES)?;
    sys::prepare_sender(fd.as_fd(), SOCKET_BYTES)?;
    Ok(fd)
}
