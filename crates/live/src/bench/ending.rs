//! How a run ends: so that what one host's capture has and another's has not is what was lost or is still inside.
//!
//! At one moment, known before where the scenario has a duration, all stands still inside the bridge. What hosts send
//! from then on stays there, until their interfaces are down; once all of it has been read the captures end.
//! Connections are closed only then: what the end of a run does to them is none of the scenario's.

use super::{Bench, no_bridge};
use crate::bridge::Findings;
use crate::clock::Clock;
use crate::error::Error;
use crate::host::{self, INTERFACE};
use crate::poll::{Polled, Poller};
use crate::record::{Capture, Taken};
use crate::trace::{Traced, Tracer};
use instant::{Span, Time};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

/// A bridge that is told when nothing is to move any more is still within that, whatever the machine does besides.
const STILL_WITHIN: Span = Span::from_secs(2);
const LOOK: Duration = Duration::from_millis(1);
/// What an interface has sent before it went down is with the bridge within that.
const ON_THE_WIRE: Duration = Duration::from_millis(10);

/// What is known once nothing is sent any more.
pub(super) struct Cut {
    /// Until when packets moved in the bridge.
    pub time: Time,
    /// Packets that the machine threw away between a host and the bridge.
    pub lost: u64,
    pub found: Findings,
    pub polled: Vec<Polled>,
    pub traced: Option<Result<Traced, String>>,
    pub captures: Vec<Taken>,
}

impl Bench<'_> {
    pub(super) fn cut(&mut self, clock: &Clock) -> Result<Cut, Error> {
        let bridge = self.bridge.take().ok_or_else(no_bridge)?;
        self.transfers.over.store(true, Ordering::Relaxed);
        let now = clock.now();
        bridge.shared.until.fetch_min(now.0, Ordering::Relaxed);
        let patience = now + STILL_WITHIN;
        while !bridge.shared.still.load(Ordering::Relaxed)
            && !bridge.thread.is_finished()
            && clock.now() < patience
        {
            thread::sleep(LOOK);
        }
        let lost = self.hosts.iter().filter_map(|h| h.ns.inside(|| Ok(sent_in_vain())).ok()).sum();
        for host in &self.hosts {
            // Where that fails the host goes on sending, and its capture may have what the bridge never saw.
            let _ = host.ns.inside(|| host::down(INTERFACE));
        }
        let polled = self.poller.take().map(Poller::finish).unwrap_or_default();
        let traced = self.tracer.take().map(|tracer| tracer.map(Tracer::finish));
        thread::sleep(ON_THE_WIRE);
        bridge.shared.stop.store(true, Ordering::Relaxed);
        let found = bridge.thread.join().map_err(|_| Error::Failed("the bridge's thread died".into()))??;
        let captures = self.captures.drain(..).filter_map(Capture::finish).collect();
        Ok(Cut { time: found.until, lost, found, polled, traced, captures })
    }
}

/// What this host's interface could not send (proc(5), net/dev; the twelfth figure).
fn sent_in_vain() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    let line = text.lines().find_map(|l| l.trim_start().strip_prefix(INTERFACE)?.strip_prefix(':'));
    line.and_then(|l| l.split_whitespace().nth(11)?.parse().ok()).unwrap_or(0)
}
