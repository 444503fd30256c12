//! The senders' state, as TCP_INFO tells it.

use crate::clock::Clock;
use crate::sys;
use crate::transfer::{Sender, Shared};
use instant::{Span, Time};
use std::collections::BTreeMap;
use std::os::fd::AsFd;
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

/// What `struct tcp_info` says (include/uapi/linux/tcp.h); later fields are zero where a kernel is older.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// TCP_CA_…: open 0, disorder 1, CWR 2, recovery 3, loss 4.
    pub ca_state: u8,
    pub backoff: u8,
    pub rto_us: u32,
    pub snd_mss: u32,
    pub unacked: u32,
    pub sacked: u32,
    pub lost: u32,
    pub retrans: u32,
    pub rtt_us: u32,
    pub rttvar_us: u32,
    /// Segments; 0x7fffffff as high as can be.
    pub snd_ssthresh: u32,
    pub snd_cwnd: u32,
    pub total_retrans: u32,
    pub bytes_acked: u64,
    pub bytes_received: u64,
    pub segs_out: u32,
    pub notsent_bytes: u32,
    pub data_segs_in: u32,
    pub data_segs_out: u32,
    pub bytes_sent: u64,
    pub bytes_retrans: u64,
    pub snd_wnd: u32,
    pub total_rto: u16,
}

impl Info {
    pub fn of(socket: &impl AsFd) -> Option<Info> {
        let (bytes, _) = sys::tcp_info(socket.as_fd()).ok()?;
        Some(Info::read(&bytes))
    }

    pub fn read(b: &[u8; 256]) -> Info {
        let word = |at: usize| u32::from_ne_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]]);
        let long = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&b[at..at + 8]);
            u64::from_ne_bytes(bytes)
        };
        Info {
            ca_state: b[1],
            backoff: b[4],
            rto_us: word(8),
            snd_mss: word(16),
            unacked: word(24),
            sacked: word(28),
            lost: word(32),
            retrans: word(36),
            rtt_us: word(68),
            rttvar_us: word(72),
            snd_ssthresh: word(76),
            snd_cwnd: word(80),
            total_retrans: word(100),
            bytes_acked: long(120),
            bytes_received: long(128),
            segs_out: word(136),
            notsent_bytes: word(144),
            data_segs_in: word(152),
            data_segs_out: word(156),
            bytes_sent: long(200),
            bytes_retrans: long(208),
            snd_wnd: word(228),
            total_rto: u16::from_ne_bytes([b[240], b[241]]),
        }
    }
}
