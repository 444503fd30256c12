//! The built-in sender and receiver of datagrams (UDP): sent as the application says, counted where they arrive.

use crate::clock::Clock;
use crate::counts::Counts;
use crate::host::Host;
use crate::plan::{Connection, HEADERS, MTU};
use crate::socket::waits;
use crate::sys;
use crate::threads::Rank;
use crate::transfer::{LOOK, Shared, Side};
use scenario::workload::Written;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_millis(50);
/// What may come while the receiver does not run.
const SOCKET_BYTES: usize = 8 << 20;

/// The client's thread: sends from its start on.
pub fn client(
    number: u32,
    host: &Host,
    connection: Connection,
    packet_bytes: u32,
    clock: mpsc::Receiver<Clock>,
    shared: &Arc<Shared>,
) -> io::Result<thread::JoinHandle<()>> {
    let socket = host.ns.inside(|| {
        let socket = UdpSocket::bind(connection.from)?;
        socket.connect(connection.to)?;
        socket.set_write_timeout(Some(PATIENCE))?;
        Ok(socket)
    })?;
    let shared = Arc::clone(shared);
    let threads = shared.threads;
    threads.start(Rank::Application, format!("datagrams {number}"), move || {
        let Ok(clock) = clock.recv() else { return };
        sys::exact_timers();
        let mut side = Side { counts: Some(Counts::default()), ..Side::default() };
        if let Err(e) = send(&connection, &socket, packet_bytes, clock, &shared, &mut side) {
            side.error = Some(e.kind());
        }
        shared.end(number, false, side);
    })
}

fn send(
    c: &Connection,
    socket: &UdpSocket,
    packet_bytes: u32,
    clock: Clock,
    shared: &Shared,
    side: &mut Side,
) -> io::Result<()> {
    let mut app = c.application();
    let mut due = Some(c.start);
    while !shared.is_over() {
        let Some(at) = due else { break };
        if clock.now() < at {
            clock.wait(at, LOOK);
            continue;
        }
        // At the times that the application asked for, however late this thread wakes.
        let mut written = Written::default();
        due = app.act(at, &mut written);
        while written.bytes > 0 && !shared.is_over() {
            let length = written.bytes.min(u64::from(packet_bytes)) as u32;
            // As the run ends the interface goes: that is no error of the sender's.
            if one(socket, length).or_else(|e| if shared.is_over() { Ok(false) } else { Err(e) })? {
                written.bytes -= u64::from(length);
                side.said(clock.now(), u64::from(length));
                let counts = side.counts.get_or_insert_default();
                counts.data_packets += 1;
                counts.data_bytes += u64::from(length);
            }
        }
    }
    side.closed = app.is_finished();
    Ok(())
}

/// A datagram of so many bytes, headers included; false if the kernel has no room for it now.
fn one(socket: &UdpSocket, length: u32) -> io::Result<bool> {
    let payload = [0; MTU as usize];
    match socket.send(&payload[..length.saturating_sub(HEADERS) as usize]) {
        Ok(_) => Ok(true),
        Err(e) if waits(&e) => Ok(false),
        Err(e) => Err(e),
    }
}

/// Opens the socket that a host's datagrams come to.
pub fn bind(host: &Host, to: std::net::SocketAddrV4) -> io::Result<UdpSocket> {
    host.ns.inside(|| {
        let socket = UdpSocket::bind(to)?;
        socket.set_nonblocking(true)?;
        sys::force_receive_buffer(socket.as_fd(), SOCKET_BYTES)?;
        Ok(socket)
    })
}

/// Counts what comes until told to stop, and then what has come. Connections are told apart by the client's address
/// and port.
pub fn receive(
    socket: UdpSocket,
    connections: Vec<(u32, Connection)>,
    clock: Clock,
    shared: &Arc<Shared>,
) -> io::Result<thread::JoinHandle<()>> {
    let shared = Arc::clone(shared);
    let threads = shared.threads;
    threads.start(Rank::Application, "datagrams", move || {
        let from: Vec<SocketAddr> = connections.iter().map(|(_, c)| SocketAddr::V4(c.from)).collect();
        let mut sides =
            vec![Side { counts: Some(Counts::default()), closed: true, ..Side::default() }; from.len()];
        let mut buffer = [0; MTU as usize];
        loop {
            let last_turn = shared.stopped();
            while let Ok((length, peer)) = socket.recv_from(&mut buffer) {
                let Some(k) = from.iter().position(|f| *f == peer) else { continue };
                sides[k].heard(clock.now(), length as u64 + u64::from(HEADERS));
                sides[k].counts.get_or_insert_default().arrived_packets += 1;
            }
            if last_turn {
                break;
            }
            let _ = sys::wait_readable(&[socket.as_raw_fd()], LOOK.0);
        }
        for ((number, _), side) in connections.iter().zip(sides) {
            shared.end(*number, true, side);
        }
    })
}
