//! One end of a connection over the kernel's TCP: a socket that takes and gives what it can, and never blocks.

use crate::clock::Clock;
use crate::content::Content;
use crate::sys;
use crate::transfer::{LOOK, Side};
use instant::{Span, Time};
use scenario::workload::Outlet;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsRawFd;

const CHUNK: usize = 1 << 16;
const GATHERING: Span = Span::from_millis(1);
/// Written before anything else has its turn.
const MOST_AT_ONCE: u64 = 1 << 20;

pub struct Socket<'a> {
    stream: &'a TcpStream,
    clock: Clock,
    content: Content,
    pub side: &'a mut Side,
    piece: Vec<u8>,
    buffer: Vec<u8>,
    /// All is said.
    pub shut: bool,
    error: Option<io::Error>,
}

/// What came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    Nothing,
    Bytes(u64),
    End,
}

/// What is waited for besides a moment.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    pub read: bool,
    pub write: bool,
}

impl<'a> Socket<'a> {
    pub fn new(
        stream: &'a TcpStream,
        clock: Clock,
        content: Content,
        side: &'a mut Side,
    ) -> io::Result<Socket<'a>> {
        stream.set_nonblocking(true)?;
        let (piece, buffer) = (vec![0; CHUNK], vec![0; 4 * CHUNK]);
        Ok(Socket { stream, clock, content, side, piece, buffer, shut: false, error: None })
    }

    /// Up to so many bytes; returns how many the kernel took.
    pub fn say(&mut self, bytes: u64) -> u64 {
        let mut said = 0;
        let most = bytes.min(MOST_AT_ONCE);
        while said < most && self.error.is_none() {
            let piece = &mut self.piece[..(most - said).min(CHUNK as u64) as usize];
            if self.content != Content::Zeros {
                self.content.fill(self.side.sent_bytes, piece);
            }
            match (&mut &*self.stream).write(piece) {
                Ok(n) => {
                    self.side.said(self.clock.now(), n as u64);
                    said += n as u64;
                }
                Err(e) if waits(&e) => break,
                Err(e) => self.error = Some(e),
            }
        }
        said
    }

    pub fn read(&mut self) -> io::Result<Heard> {
        match (&mut &*self.stream).read(&mut self.buffer) {
            Ok(0) => Ok(Heard::End),
            Ok(n) => {
                self.side.look(&self.buffer[..n], self.content);
                self.side.heard(self.clock.now(), n as u64);
                Ok(Heard::Bytes(n as u64))
            }
            Err(e) if waits(&e) => Ok(Heard::Nothing),
            Err(e) => Err(e),
        }
    }

    /// What went wrong as something was said.
    pub fn checked(&mut self) -> io::Result<()> {
        self.error.take().map_or(Ok(()), Err)
    }

    /// Until more came than a few packets, or not for long. Who waits for each packet is woken by each, and that
    /// costs the bridge, in whose time a host takes a packet in, a seventh of it at 1 Gbps.
    pub fn wait_for_more(&self) -> io::Result<()> {
        self.clock.sleep_until(self.clock.now() + GATHERING);
        self.wait(Wanted { read: true, write: false }, None)
    }

    /// Until it can be read or written, or it is that time; not for long.
    pub fn wait(&self, wanted: Wanted, until: Option<Time>) -> io::Result<()> {
        let now = self.clock.now();
        let patience = until.map_or(LOOK, |at| (at - now).max(Span::ZERO).min(LOOK));
        sys::wait_for(self.stream.as_raw_fd(), wanted.read, wanted.write, patience.0).map(drop)
    }
}

impl Outlet for Socket<'_> {
    fn write(&mut self, _now: Time, bytes: u64) -> u64 {
        self.say(bytes)
    }
    fn close(&mut self, _now: Time) {
        self.shut = true;
        if let Err(e) = self.stream.shutdown(Shutdown::Write) {
            self.error.get_or_insert(e);
        }
    }
}

pub fn waits(e: &io::Error) -> bool {
    matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
        && e.raw_os_error() != Some(libc::ETIMEDOUT)
}
