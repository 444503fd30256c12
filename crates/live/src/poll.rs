//! The senders' state, as TCP_INFO tells it.

use crate::clock::Clock;
use crate::info::Info;
use crate::transfer::{Sender, Shared};
use instant::{Span, Time};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// Between two looks.
pub const EVERY: Span = Span::from_millis(5);

/// What a sender's kernel said at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Polled {
    /// When it was asked, and when the answer was there: it holds for some moment between.
    pub asked: Time,
    pub time: Time,
    /// Of the plan.
    pub connection: u32,
    /// The client's sender, or the server's.
    pub forward: bool,
    pub info: Info,
}

/// Looks at the senders of some connections until it is told to stop.
pub struct Poller {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Polled>>,
}

impl Poller {
    pub fn start(wanted: Vec<bool>, clock: Clock, shared: &Arc<Shared>) -> std::io::Result<Poller> {
        let stop = Arc::new(AtomicBool::new(false));
        let (told, shared) = (Arc::clone(&stop), Arc::clone(shared));
        let look = move || {
            let mut rows: Vec<Polled> = Vec::new();
            let mut last: BTreeMap<(u32, bool), Info> = BTreeMap::new();
            let mut next = clock.now();
            while !told.load(Ordering::Relaxed) {
                if let Ok(sending) = shared.sending.lock() {
                    for Sender { connection, forward, socket } in sending.iter() {
                        if wanted.get(*connection as usize) != Some(&true) {
                            continue;
                        }
                        let (connection, forward) = (*connection, *forward);
                        let asked = clock.now();
                        let Some(info) = Info::of(socket) else { continue };
                        let time = clock.now();
                        if last.insert((connection, forward), info) != Some(info) {
                            rows.push(Polled { asked, time, connection, forward, info });
                        }
                    }
                }
                next = (next + EVERY).max(clock.now());
                clock.sleep_until(next);
            }
            rows
        };
        Ok(Poller { stop, thread: thread::Builder::new().name("poller".into()).spawn(look)? })
    }

    pub fn finish(self) -> Vec<Polled> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_default()
    }
}
