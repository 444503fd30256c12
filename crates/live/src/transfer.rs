//! What the built-in senders and receivers have in common: what each end did, and when all are done.

use crate::content::Content;
use crate::counts::Counts;
use crate::plan::{Connection, Plan};
use crate::sys;
use crate::threads::Threads;
use crate::told::{Explained, Viewed};
use instant::{Span, Time};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// How long a thread waits before it looks whether it is to stop.
pub const LOOK: Span = Span::from_millis(20);

/// What one end of a connection did.
#[derive(Clone, Debug, Default)]
pub struct Side {
    /// Written by the application and taken by the transport, and when the first of it was; of datagrams all bytes.
    pub sent_bytes: u64,
    pub began: Option<Time>,
    /// Read by the application, and when.
    pub came_bytes: u64,
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
    pub fn said(&mut self, now: Time, bytes: u64) {
        if bytes > 0 {
            self.began.get_or_insert(now);
            self.sent_bytes += bytes;
        }
    }
    pub fn heard(&mut self, now: Time, bytes: u64) {
        if bytes > 0 {
            self.first.get_or_insert(now);
            self.last = Some(now);
            self.came_bytes += bytes;
        }
    }
    /// Looks at what came, before it is counted.
    pub fn look(&mut self, bytes: &[u8], content: Content) {
        if content != Content::Zeros && self.wrong.is_none() {
            self.wrong = content.differs(self.came_bytes, bytes);
        }
    }
}

/// What became of a connection: at the client, at the server; `None` if it never began.
#[derive(Clone, Debug, Default)]
pub struct Ended {
    pub sides: [Option<Side>; 2],
}

/// A socket of a kernel's sender, for whoever looks at its state.
pub struct Sender {
    pub connection: u32,
    /// The client's, or the server's.
    pub forward: bool,
    pub socket: TcpStream,
}

/// What all threads of a run share.
pub struct Shared {
    pub stop: AtomicBool,
    /// What is sent from now on arrives nowhere.
    pub over: AtomicBool,
    pub ended: Mutex<Vec<Ended>>,
    pub sending: Mutex<Vec<Sender>>,
    /// By socket's number: of all kernels' senders there were, connection, and whether it was the client's.
    pub cookies: Mutex<BTreeMap<u64, (u32, bool)>>,
    /// What rexmit's own senders told of their state, host by host, once they are done.
    pub viewed: Mutex<Vec<Viewed>>,
    /// And why they sent what.
    pub explained: Mutex<Vec<Explained>>,
    pub content: Content,
    pub threads: Threads,
    /// By connection: done when its client is.
    one_way: Vec<bool>,
}

impl Shared {
    pub fn new(plan: &Plan) -> Arc<Shared> {
        let connections = &plan.connections;
        Arc::new(Shared {
            stop: AtomicBool::new(false),
            over: AtomicBool::new(false),
            ended: Mutex::new(vec![Ended::default(); connections.len()]),
            sending: Mutex::default(),
            cookies: Mutex::default(),
            viewed: Mutex::default(),
            explained: Mutex::default(),
            content: plan.content,
            threads: Threads { real_time: plan.real_time },
            one_way: connections.iter().map(Connection::is_one_way).collect(),
        })
    }
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed) || self.stopped()
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
        let over = |(e, one_way): &(&Ended, &bool)| match &e.sides {
            [Some(client), _] if client.error.is_some() => true,
            [client, server] => client.is_some() && (**one_way || server.is_some()),
        };
        self.ended.lock().map_or(0, |all| all.iter().zip(&self.one_way).filter(over).count())
    }
    /// This end sends from now on.
    pub fn sends(&self, sender: Sender) {
        if let (Ok(cookie), Ok(mut all)) = (sys::cookie(sender.socket.as_fd()), self.cookies.lock()) {
            all.insert(cookie, (sender.connection, sender.forward));
        }
        if let Ok(mut all) = self.sending.lock() {
            all.push(sender);
        }
    }
    pub fn sends_no_more(&self, connection: u32, forward: bool) {
        if let Ok(mut all) = self.sending.lock() {
            all.retain(|s| (s.connection, s.forward) != (connection, forward));
        }
    }
}
