//! The file descriptors of a script.

/// What a descriptor stands for. One connection at a time: that of the endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Socket {
    /// Made, and not used yet.
    Fresh,
    Listens,
    Connection,
    Closed,
}

/// How many a script may have open at a time: a shell's usual limit (`ulimit -n`).
pub(crate) const MOST: usize = 1024;

#[derive(Clone, Debug, Default)]
pub(crate) struct Sockets {
    all: Vec<(i64, Socket, bool)>,
}

impl Sockets {
    /// A new one, under the lowest number that is free; 0 to 2 are the standard streams.
    pub(crate) fn open(&mut self, socket: Socket) -> i64 {
        self.all.retain(|(_, s, _)| *s != Socket::Closed);
        let taken = |n: i64| self.all.iter().any(|(fd, ..)| *fd == n);
        let fd = (3..).find(|n| !taken(*n)).unwrap_or(3);
        self.all.push((fd, socket, false));
        fd
    }
    pub(crate) fn are_used_up(&self) -> bool {
        self.all.iter().filter(|(_, s, _)| *s != Socket::Closed).count() >= MOST
    }
    pub(crate) fn get(&self, fd: i64) -> Option<Socket> {
        self.all.iter().find(|(n, s, _)| *n == fd && *s != Socket::Closed).map(|(_, s, _)| *s)
    }
    pub(crate) fn rename(&mut self, fd: i64, to: i64) {
        self.all.retain(|(n, ..)| *n != to);
        if let Some(entry) = self.all.iter_mut().find(|(n, ..)| *n == fd) {
            entry.0 = to;
        }
    }
    pub(crate) fn set(&mut self, fd: i64, socket: Socket) {
        if let Some(entry) = self.all.iter_mut().find(|(n, ..)| *n == fd) {
            entry.1 = socket;
        }
    }
    pub(crate) fn is_nonblocking(&self, fd: i64) -> bool {
        self.all.iter().any(|(n, _, nonblocking)| *n == fd && *nonblocking)
    }
    pub(crate) fn set_nonblocking(&mut self, fd: i64, nonblocking: bool) {
        if let Some(entry) = self.all.iter_mut().find(|(n, ..)| *n == fd) {
            entry.2 = nonblocking;
        }
    }
}
