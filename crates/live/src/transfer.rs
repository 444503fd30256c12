//! The built-in sender and receiver: one thread an end, and no wait without a bound.

use crate::clock::Clock;
use crate::content::Content;
use crate::counts::Counts;
use crate::host::Host;
use crate::own::Viewed;
use crate::plan::{Connection, Tcp, Work};
use crate::poll::Info;
use crate::sys;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;
use time::{Span, Time};

const CHUNK: usize = 1 << 16;
/// How long a thread waits before it looks whether it is to stop.
const PATIENCE: Duration = Duration::from_millis(50);
const LOOK_NS: i64 = 20_000_000;

/// What one end of a connection did.
#[derive(Clone, Debug, Default)]
pub struct Side {
    pub bytes: u64,
    pub first: Option<Time>,
    pub last: Option<Time>,
    /// `None` if the connection never was.
    pub counts: Option<Counts>,
    /// Closed in order.
    pub closed: bool,
    pub error: Option<ErrorKind>,
    /// The first byte that is not what was sent.
    pub wrong: Option<u64>,
}

impl Side {
    /// Counts what came, and looks at it.
    pub fn arrived(&mut self, bytes: &[u8], content: Content) {
        if content != Content::Zeros && self.wrong.is_none() {
            self.wrong = content.differs(self.bytes, bytes);
        }
        self.bytes += bytes.len() as u64;
    }
}

/// What became of a connection: at the client, at the server; `None` if it never began.
#[derive(Clone, Debug, Default)]
pub struct Ended {
    pub sides: [Option<Side>; 2],
}

/// What all threads of a run share.
pub struct Shared {
    pub stop: AtomicBool,
    pub ended: Mutex<Vec<Ended>>,
    /// Sockets that send, for whoever looks at their state: connection and a second handle.
    pub sending: Mutex<Vec<(u32, TcpStream)>>,
    /// What rexmit's own senders told of their state, host by host, once they are done.
    pub viewed: Mutex<Vec<Viewed>>,
    pub content: Content,
}

impl Shared {
    pub fn new(connections: usize, content: Content) -> Arc<Shared> {
        Arc::new(Shared {
            stop: AtomicBool::new(false),
            ended: Mutex::new(vec![Ended::default(); connections]),
            sending: Mutex::default(),
            viewed: Mutex::default(),
            content,
        })
    }
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
    pub fn end(&self, connection: u32, server: bool, side: Side) {
        if let Ok(mut all) = self.ended.lock()
            && let Some(one) = all.get_mut(connection as usize)
        {
            one.sides[usize::from(server)] = Some(side);
        }
    }
    /// Connections of which both ends are done, or of which the client failed.
    pub fn done(&self) -> usize {
        let over = |e: &&Ended| match &e.sides {
            [Some(client), _] if client.error.is_some() => true,
            [client, server] => client.is_some() && server.is_some(),
        };
        self.ended.lock().map_or(0, |all| all.iter().filter(over).count())
    }
}

/// Opens a host's listening socket. Connections are told apart by the client's address and port.
pub fn listen(host: &Host, first: &Connection, congestion: &str) -> io::Result<TcpListener> {
    host.ns.inside(|| {
        let fd = sys::tcp_socket(first.to)?;
        sys::set_congestion(fd.as_fd(), congestion)?;
        sys::listen(fd.as_fd(), 1024)?;
        let listener = TcpListener::from(fd);
        listener.set_nonblocking(true)?;
        Ok(listener)
    })
}

/// Accepts until told to stop; each connection has a thread of its own.
pub fn serve(
    listener: TcpListener,
    connections: Vec<(u32, Connection)>,
    clock: Clock,
    shared: &Arc<Shared>,
) -> io::Result<thread::JoinHandle<()>> {
    let shared = Arc::clone(shared);
    thread::Builder::new().name("server".into()).spawn(move || {
        let mut threads = Vec::new();
        while !shared.stopped() {
            let _ = sys::wait_readable(&[listener.as_raw_fd()], LOOK_NS);
            let Ok((stream, peer)) = listener.accept() else { continue };
            let known = connections.iter().find(|(_, c)| std::net::SocketAddr::V4(c.from) == peer);
            let Some((number, _)) = known else { continue };
            let (number, shared) = (*number, Arc::clone(&shared));
            let receive = move || {
                let side = receive(stream, clock, &shared);
                shared.end(number, true, side);
            };
            threads.extend(thread::Builder::new().name(format!("receiver {number}")).spawn(receive));
        }
        threads.into_iter().for_each(|t| drop(t.join()));
    })
}

fn receive(mut stream: TcpStream, clock: Clock, shared: &Shared) -> Side {
    let mut side = Side::default();
    let mut buffer = vec![0; 4 * CHUNK];
    if let Err(e) = stream.set_nonblocking(false).and_then(|()| stream.set_read_timeout(Some(PATIENCE))) {
        side.error = Some(e.kind());
        return side;
    }
    while !shared.stopped() {
        match stream.read(&mut buffer) {
            Ok(0) => {
                side.closed = true;
                break;
            }
            Ok(n) => {
                let now = clock.now();
                side.arrived(&buffer[..n], shared.content);
                side.first.get_or_insert(now);
                side.last = Some(now);
            }
            Err(e) if waits(&e) => {}
            Err(e) => {
                side.error = Some(e.kind());
                break;
            }
        }
    }
    side.counts = Info::of(&stream).as_ref().map(Counts::from);
    side
}

fn waits(e: &io::Error) -> bool {
    matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
        && e.raw_os_error() != Some(libc::ETIMEDOUT)
}

/// The client's thread: waits for its start, connects, sends, closes. `ready` is told once it is in its host.
pub fn client(
    number: u32,
    host: &Host,
    connection: Connection,
    clock: mpsc::Receiver<Clock>,
    shared: &Arc<Shared>,
) -> io::Result<thread::JoinHandle<()>> {
    let (shared, ns) = (Arc::clone(shared), host.ns.handle()?);
    thread::Builder::new().name(format!("sender {number}")).spawn(move || {
        let Ok(clock) = clock.recv() else { return };
        let mut side = Side::default();
        let done = sys::enter_net(ns.as_fd()).and_then(|()| {
            while clock.now() < connection.start && !shared.stopped() {
                clock.wait(connection.start, Span(LOOK_NS));
            }
            send(number, &connection, &clock, &shared, &mut side)
        });
        if let Err(e) = done {
            side.error = Some(e.kind());
        }
        shared.end(number, false, side);
    })
}

fn send(number: u32, c: &Connection, clock: &Clock, shared: &Shared, side: &mut Side) -> io::Result<()> {
    let Some(mut stream) = connect(c, shared)? else { return Ok(()) };
    if let Ok(mut all) = shared.sending.lock() {
        all.push((number, stream.try_clone()?));
    }
    let done = write_all(c, &mut stream, clock, shared, side).and_then(|()| close(&mut stream, shared, side));
    side.counts = Info::of(&stream).as_ref().map(Counts::from);
    if let Ok(mut all) = shared.sending.lock() {
        all.retain(|(n, _)| *n != number);
    }
    done
}

/// `None` if the run was over before the peer answered.
fn connect(c: &Connection, shared: &Shared) -> io::Result<Option<TcpStream>> {
    let fd = sys::tcp_socket(c.from)?;
    if let Tcp::Kernel(congestion) = &c.tcp[0] {
        sys::set_congestion(fd.as_fd(), congestion)?;
    }
    if let Some(bps) = c.pace_bps {
        sys::set_option(fd.as_fd(), libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, &(bps / 8))?;
    }
    let stream = TcpStream::from(fd);
    stream.set_nonblocking(true)?;
    sys::begin_connect(stream.as_fd(), c.to)?;
    loop {
        if shared.stopped() {
            return Ok(None);
        }
        if sys::wait_writable(&[stream.as_raw_fd()], LOOK_NS)? {
            break;
        }
    }
    if let Some(e) = stream.take_error()? {
        return Err(e);
    }
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(Some(stream))
}

fn write_all(
    c: &Connection,
    stream: &mut TcpStream,
    clock: &Clock,
    shared: &Shared,
    side: &mut Side,
) -> io::Result<()> {
    let mut piece = [0; CHUNK];
    side.first = Some(clock.now());
    loop {
        let left = match c.work {
            Work::File { bytes } => bytes - side.bytes,
            Work::Endless => u64::MAX,
        };
        if left == 0 || shared.stopped() || c.stop.is_some_and(|stop| clock.now() >= stop) {
            return Ok(());
        }
        let piece = &mut piece[..left.min(CHUNK as u64) as usize];
        if shared.content != Content::Zeros {
            shared.content.fill(side.bytes, piece);
        }
        match stream.write(piece) {
            Ok(n) => side.bytes += n as u64,
            Err(e) if waits(&e) => {}
            Err(e) => return Err(e),
        }
    }
}

/// Ends what is sent, and waits until the peer has read all of it and closed.
fn close(stream: &mut TcpStream, shared: &Shared, side: &mut Side) -> io::Result<()> {
    if shared.stopped() {
        return Ok(());
    }
    stream.shutdown(Shutdown::Write)?;
    let mut rest = [0; 1024];
    while !shared.stopped() {
        match stream.read(&mut rest) {
            Ok(0) => {
                side.closed = true;
                return Ok(());
            }
            Ok(_) => {}
            Err(e) if waits(&e) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}
