//! System calls, as they matter to TCP.

use super::Runner;
use super::blocked::Waits;
use crate::script::{Call, Event, Expr};
use crate::sockets::{MOST, Socket};
use crate::{Stop, words};
use tcp::endpoint::{Endpoint, Failure};
use wire::Span;

pub(super) type Returned = Result<i64, &'static str>;

impl Runner {
    pub(super) fn call(&mut self, call: &Call, e: &Event, base: Span) -> Result<(), Stop> {
        if let Some(b) = &self.blocked {
            return Err(Stop::failed(b.line, format!("{} blocks until after line {}", b.name, e.line)));
        }
        let line = e.line;
        let returned = match call.name.as_str() {
            "socket" => Some(Ok(self.socket(call, line)?)),
            "bind" => Some(Ok(0)),
            "listen" => {
                self.sockets.set(fd(call, line)?, Socket::Listens);
                Some(Ok(0))
            }
            "accept" | "accept4" => {
                let nonblocking = self.sockets.is_nonblocking(fd(call, line)?);
                self.accept().or(nonblocking.then_some(Err("EAGAIN")))
            }
            "connect" => self.connect(call, line)?,
            "write" | "send" | "sendto" => Some(self.send(call, line)?),
            "read" | "recv" | "recvfrom" => {
                let nonblocking =
                    self.sockets.is_nonblocking(fd(call, line)?) || flags(call, 3, line)? & DONTWAIT > 0;
                let most = argument(call, 2, line)?.max(0) as u64;
                self.read(most).or(nonblocking.then_some(Err("EAGAIN")))
            }
            "shutdown" => Some(self.shutdown(call, line)?),
            "close" => Some(self.close(call, line)?),
            "fcntl" => Some(Ok(self.fcntl(call, line)?)),
            "setsockopt" => Some(self.setsockopt(call, line)?),
            "getsockopt" => Some(Ok(self.getsockopt(call, line)?)),
            name => return Err(Stop::unsupported(line, format!("the system call {name}"))),
        };
        match returned {
            Some(returned) => {
                self.returned(call, line, returned)?;
                self.drain(u32::MAX);
                Ok(())
            }
            None => {
                let waits = match call.name.as_str() {
                    "connect" => Waits::ForConnection,
                    "accept" | "accept4" => Waits::ToAccept,
                    _ => Waits::ForData { most: argument(call, 2, line)?.max(0) as u64 },
                };
                self.drain(u32::MAX);
                self.block(call, line, base, waits)
            }
        }
    }

    fn socket(&mut self, call: &Call, line: u32) -> Result<i64, Stop> {
        for argument in &call.arguments {
            for word in words_of(argument) {
                let known =
                    ["AF_INET", "AF_INET6", "SOCK_STREAM", "SOCK_NONBLOCK", "SOCK_CLOEXEC", "IPPROTO_TCP"];
                if !known.contains(&word) {
                    return Err(Stop::unsupported(line, format!("a socket of {word}")));
                }
            }
        }
        let nonblocking = call.arguments.iter().flat_map(words_of).any(|w| w == "SOCK_NONBLOCK");
        if self.sockets.are_used_up() {
            let says = format!("a socket beside {MOST} open ones: a script may have {MOST} open at most");
            return Err(Stop::unsupported(line, says));
        }
        let fd = self.sockets.open(Socket::Fresh);
        self.sockets.set_nonblocking(fd, nonblocking);
        Ok(fd)
    }

    pub(super) fn accept(&mut self) -> Option<Returned> {
        let ready = !self.accepted && self.end.as_ref().is_some_and(Endpoint::is_established);
        ready.then(|| {
            self.accepted = true;
            Ok(self.sockets.open(Socket::Connection))
        })
    }

    fn connect(&mut self, call: &Call, line: u32) -> Result<Option<Returned>, Stop> {
        let fd = fd(call, line)?;
        if self.end.is_some() {
            if self.sockets.get(fd) != Some(Socket::Connection) {
                return Err(Stop::unsupported(line, "a second connection"));
            }
            return Ok(self.connected().or(Some(Err("EALREADY"))));
        }
        self.sockets.set(fd, Socket::Connection);
        self.accepted = true;
        let end = Endpoint::connect_with(&self.settings.stack, &self.config(), self.now);
        self.begin(end);
        Ok(self.sockets.is_nonblocking(fd).then_some(Err("EINPROGRESS")))
    }

    pub(super) fn connected(&self) -> Option<Returned> {
        let end = self.end.as_ref()?;
        if end.is_established() {
            return Some(Ok(0));
        }
        end.failed().map(|f| Err(errno(f)))
    }

    fn send(&mut self, call: &Call, line: u32) -> Result<Returned, Stop> {
        let bytes = argument(call, 2, line)?;
        if !matches!(call.arguments.get(1), Some(Expr::Any | Expr::Text(_))) {
            return Err(Stop::unsupported(line, format!("what {} is given to send", call.name)));
        }
        let known = words::number("MSG_DONTWAIT").unwrap_or(0) | words::number("MSG_NOSIGNAL").unwrap_or(0);
        if call.name != "write" && flags(call, 3, line)? & !known != 0 {
            return Err(Stop::unsupported(line, "flags of a send"));
        }
        let Some(end) = &self.end else { return Ok(Err("EPIPE")) };
        if let Some(failure) = end.failed() {
            return Ok(Err(if failure == Failure::TimedOut { "ETIMEDOUT" } else { "EPIPE" }));
        }
        if end.is_closed() || end.is_closing() {
            return Ok(Err("EPIPE"));
        }
        Ok(Ok(self.write(bytes.max(0) as u64)? as i64))
    }

    /// `None`: there is nothing yet.
    pub(super) fn read(&mut self, most: u64) -> Option<Returned> {
        let end = self.end.as_mut()?;
        if end.readable() > 0 {
            return Some(Ok(end.read(self.now, most) as i64));
        }
        if let Some(failure) = end.failed() {
            return Some(Err(errno(failure)));
        }
        (end.at_end() || end.is_closed()).then_some(Ok(0))
    }

    fn shutdown(&mut self, call: &Call, line: u32) -> Result<Returned, Stop> {
        let Some(end) = &mut self.end else { return Ok(Err("ENOTCONN")) };
        match argument(call, 1, line)? {
            1 | 2 => end.close(),
            _ => return Err(Stop::unsupported(line, "shutdown of reading")),
        }
        Ok(Ok(0))
    }

    /// What was not read is lost with the socket, and the peer is told so by a RST (tcp_close).
    fn close(&mut self, call: &Call, line: u32) -> Result<Returned, Stop> {
        let fd = fd(call, line)?;
        let Some(socket) = self.sockets.get(fd) else { return Ok(Err("EBADF")) };
        self.sockets.set(fd, Socket::Closed);
        if let (Socket::Connection, Some(end)) = (socket, &mut self.end) {
            if end.readable() > 0 {
                end.abort();
            } else {
                end.close();
                end.stop_reading();
            }
        }
        Ok(Ok(0))
    }

    fn fcntl(&mut self, call: &Call, line: u32) -> Result<i64, Stop> {
        let fd = fd(call, line)?;
        match call.arguments.get(1) {
            Some(Expr::Word(w)) if w == "F_GETFL" => {
                let nonblocking =
                    if self.sockets.is_nonblocking(fd) { words::number("O_NONBLOCK") } else { None };
                Ok(2 | nonblocking.unwrap_or(0))
            }
            Some(Expr::Word(w)) if w == "F_SETFL" => {
                let set = argument(call, 2, line)?;
                self.sockets.set_nonblocking(fd, set & words::number("O_NONBLOCK").unwrap_or(0) != 0);
                Ok(0)
            }
            _ => Err(Stop::unsupported(line, "fcntl for anything but F_GETFL and F_SETFL")),
        }
    }
}

const DONTWAIT: i64 = 0x40;

pub(super) fn errno(failure: Failure) -> &'static str {
    match failure {
        Failure::Refused => "ECONNREFUSED",
        Failure::Reset => "ECONNRESET",
        Failure::TimedOut => "ETIMEDOUT",
        Failure::Aborted => "EPIPE",
    }
}

fn words_of(e: &Expr) -> Vec<&str> {
    match e {
        Expr::Word(w) => vec![w],
        Expr::Or(a, b) => [words_of(a), words_of(b)].concat(),
        _ => Vec::new(),
    }
}

fn fd(call: &Call, line: u32) -> Result<i64, Stop> {
    argument(call, 0, line)
}

fn argument(call: &Call, at: usize, line: u32) -> Result<i64, Stop> {
    match call.arguments.get(at) {
        Some(e) => number(e, line),
        None => Err(Stop::malformed(line, format!("{} has {} arguments", call.name, call.arguments.len()))),
    }
}

/// Absent and `...` stand for none.
fn flags(call: &Call, at: usize, line: u32) -> Result<i64, Stop> {
    match call.arguments.get(at) {
        None | Some(Expr::Any) => Ok(0),
        Some(e) => number(e, line),
    }
}

pub(super) fn number(e: &Expr, line: u32) -> Result<i64, Stop> {
    match e {
        Expr::Int(n) => Ok(*n),
        Expr::Word(w) => words::number(w).ok_or_else(|| Stop::unsupported(line, format!("the name {w}"))),
        Expr::Or(a, b) => Ok(number(a, line)? | number(b, line)?),
        _ => Err(Stop::unsupported(line, "an argument of this kind")),
    }
}
