//! The built-in sender and receiver over the kernel's TCP: one thread an end, and no wait without a bound.

use crate::clock::Clock;
use crate::counts::Counts;
use crate::host::Host;
use crate::info::Info;
use crate::plan::{Carrier, Connection};
use crate::socket::{Heard, Socket, Wanted};
use crate::sys;
use crate::threads::Rank;
use crate::transfer::{LOOK, Sender, Shared, Side};
use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::{Arc, mpsc};
use std::thread;

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
    let threads = shared.threads;
    threads.start(Rank::Application, "server", move || {
        let mut receivers = Vec::new();
        while !shared.stopped() {
            let _ = sys::wait_readable(&[listener.as_raw_fd()], LOOK.0);
            let Ok((stream, peer)) = listener.accept() else { continue };
            let known = connections.iter().find(|(_, c)| std::net::SocketAddr::V4(c.from) == peer);
            let Some((number, connection)) = known.cloned() else { continue };
            let shared = Arc::clone(&shared);
            let receive = move || {
                let mut side = Side::default();
                if let Err(e) = receive(number, &connection, &stream, clock, &shared, &mut side) {
                    side.error = Some(e.kind());
                }
                note(&stream, &mut side);
                shared.sends_no_more(number, false);
                shared.end(number, true, side);
            };
            let name = format!("receiver {number}");
            receivers.extend(threads.start(Rank::Application, name, receive));
        }
        receivers.into_iter().for_each(|t| drop(t.join()));
    })
}

/// Reads all there is, answers what is asked, and closes when the client has.
fn receive(
    number: u32,
    c: &Connection,
    stream: &TcpStream,
    clock: Clock,
    shared: &Shared,
    side: &mut Side,
) -> io::Result<()> {
    let mut answers = c.answers();
    if !answers.is_silent() {
        shared.sends(Sender { connection: number, forward: false, socket: stream.try_clone()? });
    }
    let mut socket = Socket::new(stream, clock, shared.content, side)?;
    let mut reads = true;
    while !shared.stopped() {
        answers.pump(|bytes| socket.say(bytes));
        socket.checked()?;
        let owes = answers.is_waiting();
        if !reads && !owes {
            socket.side.closed = true;
            break;
        }
        if answers.is_silent() && reads {
            socket.wait_for_more()?;
        } else {
            socket.wait(Wanted { read: reads, write: owes }, None)?;
        }
        if reads {
            match socket.read()? {
                Heard::Nothing => {}
                Heard::Bytes(bytes) => answers.heard(bytes),
                Heard::End => reads = false,
            }
        }
    }
    Ok(())
}

/// What the kernel counted.
fn note(stream: &TcpStream, side: &mut Side) {
    if let Some(info) = Info::of(stream) {
        side.counts = Some(Counts::from(&info));
    }
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
    let threads = shared.threads;
    threads.start(Rank::Application, format!("sender {number}"), move || {
        let Ok(clock) = clock.recv() else { return };
        let mut side = Side::default();
        let done = sys::enter_net(ns.as_fd()).and_then(|()| {
            sys::exact_timers();
            while clock.now() < connection.start && !shared.stopped() {
                clock.wait(connection.start, LOOK);
            }
            send(number, &connection, clock, &shared, &mut side)
        });
        if let Err(e) = done {
            side.error = Some(e.kind());
        }
        shared.end(number, false, side);
    })
}

fn send(number: u32, c: &Connection, clock: Clock, shared: &Shared, side: &mut Side) -> io::Result<()> {
    let Some(stream) = connect(c, shared)? else { return Ok(()) };
    shared.sends(Sender { connection: number, forward: true, socket: stream.try_clone()? });
    let done = talk(c, &stream, clock, shared, side);
    note(&stream, side);
    shared.sends_no_more(number, true);
    done
}

/// `None` if the run was over before the peer answered.
fn connect(c: &Connection, shared: &Shared) -> io::Result<Option<TcpStream>> {
    let fd = sys::tcp_socket(c.from)?;
    if let Carrier::Kernel(congestion) = &c.carriers[0] {
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
        if sys::wait_writable(&[stream.as_raw_fd()], LOOK.0)? {
            break;
        }
    }
    match stream.take_error()? {
        Some(e) => Err(e),
        None => Ok(Some(stream)),
    }
}

/// Lets the application write and hear until all is said, and the peer has read all of it and closed.
fn talk(
    c: &Connection,
    stream: &TcpStream,
    clock: Clock,
    shared: &Shared,
    side: &mut Side,
) -> io::Result<()> {
    let mut app = c.application();
    let mut socket = Socket::new(stream, clock, shared.content, side)?;
    let mut due = Some(c.start);
    while !shared.stopped() {
        // At the times that the application asked for, however late this thread wakes: so its messages are as many
        // and as far apart as in the simulator.
        while let Some(at) = due.filter(|at| *at <= clock.now() && !shared.stopped()) {
            due = app.act(at, &mut socket);
        }
        app.pump(clock.now(), &mut socket);
        socket.checked()?;
        socket.wait(Wanted { read: true, write: app.is_waiting() }, due)?;
        match socket.read()? {
            Heard::Nothing => {}
            Heard::Bytes(bytes) => {
                if let Some(at) = app.received(clock.now(), bytes, &mut socket) {
                    due = Some(at);
                }
            }
            Heard::End => {
                socket.side.closed = socket.shut;
                break;
            }
        }
    }
    Ok(())
}
