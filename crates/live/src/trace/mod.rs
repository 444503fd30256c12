//! The state of kernels' senders at every ACK and every packet, from the kernel itself where it lets us look.
//!
//! A small program of ours (BPF) runs at two of the kernel's trace points, and copies what the sender knows then.
//! `tcp_probe` is passed as a connection that stands gets a segment, before that is looked at; `net_dev_queue` as a packet
//! leaves, before it counts as sent. Once the application has closed a connection, only the latter tells of it.

mod btf;
pub mod events;
mod fields;
mod program;

use crate::error::sentence;
use crate::sys::bpf;
use btf::Btf;
use fields::Fields;
use program::{Of, Piece, Subject};
use std::collections::HashMap;
use std::fs;
use std::io;
use std::ops::RangeInclusive;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

const TYPES: &str = "/sys/kernel/btf/vmlinux";
const ACK: &str = "tcp_probe";
const PACKET: &str = "net_dev_queue";
/// A second of 1 Gbps.
const RING_BYTES: usize = 16 << 20;
const LOOK: Duration = Duration::from_millis(20);
const READY_WITHIN: Duration = Duration::from_secs(5);

/// What a sender's kernel knew.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Probe {
    /// Of the monotonic clock.
    pub ns: i64,
    /// The socket's, as SO_COOKIE tells it.
    pub cookie: u64,
    pub una: u32,
    pub nxt: u32,
    /// Segments; 0x7fffffff as high as can be.
    pub cwnd: u32,
    pub ssthresh: u32,
    pub window_bytes: u32,
    pub mss: u32,
    pub srtt_us: u32,
    /// The mean deviation, as TCP_INFO has it.
    pub rttvar_us: u32,
    pub rto_us: u32,
    pub backoff: u8,
    /// Segments that it takes to be in the network.
    pub pipe: u32,
    /// TCP_CA_…, as in TCP_INFO.
    pub ca_state: u8,
}

/// Takes notes until it is told to stop.
pub struct Tracer {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Traced>>,
}

#[derive(Clone, Debug, Default)]
pub struct Traced {
    /// In the order of time; of each socket only what differs from what came before.
    pub probes: Vec<Probe>,
    /// That the kernel had no room for.
    pub lost: u64,
}

impl Tracer {
    /// `ports`: of the senders that are wanted, in the order of numbers. The error is why the kernel does not tell.
    pub fn start(ports: Vec<u16>) -> Result<Tracer, String> {
        let stop = Arc::new(AtomicBool::new(false));
        let (tell, told) = mpsc::channel();
        let ours = Arc::clone(&stop);
        let work = move || match Reading::open(&runs(&ports)) {
            Ok(reading) => {
                let _ = tell.send(Ok(()));
                reading.run(&ours)
            }
            Err(why) => {
                let _ = tell.send(Err(why));
                Traced::default()
            }
        };
        let thread = thread::Builder::new().name("tracer".into()).spawn(work).map_err(|e| sentence(&e))?;
        let tracer = Tracer { stop, thread: Some(thread) };
        match told.recv_timeout(READY_WITHIN) {
            Ok(Ok(())) => Ok(tracer),
            Ok(Err(why)) => Err(why),
            Err(_) => Err("the kernel did not answer".into()),
        }
    }

    pub fn finish(mut self) -> Traced {
        self.end().unwrap_or_default()
    }

    fn end(&mut self) -> Option<Traced> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take()?.join().ok()
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        drop(self.end());
    }
}

/// Whether the kernel lets us look; the error is why it does not.
pub fn possible() -> Result<(), String> {
    Reading::open(&runs(&[0])).map(drop)
}

struct Reading {
    ring: bpf::Ring,
    lost: bpf::Counter,
    fields: Fields,
    jiffy_ns: i64,
    _attached: [OwnedFd; 2],
}

impl Reading {
    fn open(ports: &[RangeInclusive<u16>]) -> Result<Reading, String> {
        let types = fs::read(TYPES).map_err(|e| format!("{TYPES}: {}", sentence(&e)))?;
        let btf =
            Btf::read(&types).ok_or_else(|| format!("{TYPES} has types of a kind that is not known"))?;
        let fields = Fields::find(&btf)?;
        let refused = |e: io::Error| sentence(&e);
        let ring = bpf::Ring::create(RING_BYTES).map_err(refused)?;
        let lost = bpf::Counter::create().map_err(refused)?;
        let attach = |point: &str, subject: Subject| {
            let (to, full) = (ring.number(), lost.0.as_raw_fd());
            let pieces: Vec<Piece> = fields.all.iter().copied().map(Piece::Socket).collect();
            let program = program::telling(subject, &Of::Ports(fields.port, ports), to, full, &pieces);
            bpf::at_trace_point(point, &program).map_err(|e| format!("{point}: {}", sentence(&e)))
        };
        let attached = [attach(ACK, Subject::Argument(0))?, attach(PACKET, Subject::Packet(fields.owner))?];
        Ok(Reading { ring, lost, fields, jiffy_ns: bpf::jiffy_ns(), _attached: attached })
    }

    fn run(mut self, stop: &AtomicBool) -> Traced {
        let mut probes: Vec<Probe> = Vec::new();
        // Only looked up.
        let mut last: HashMap<u64, Probe> = HashMap::new();
        loop {
            let last_turn = stop.load(Ordering::Relaxed);
            self.ring.read(|record| {
                let Some(probe) = self.fields.probe(record, self.jiffy_ns) else { return };
                let told = last.insert(probe.cookie, probe);
                if told.map(|old| Probe { ns: probe.ns, ..old }) != Some(probe) {
                    probes.push(probe);
                }
            });
            if last_turn {
                break;
            }
            thread::sleep(LOOK);
        }
        // Each core asks the clock before it has its turn in the ring.
        probes.sort_by_key(|probe| probe.ns);
        Traced { probes, lost: self.lost.value().unwrap_or(0) }
    }
}

/// Ports that follow each other are one range.
fn runs(ports: &[u16]) -> Vec<RangeInclusive<u16>> {
    let mut runs: Vec<RangeInclusive<u16>> = Vec::new();
    for port in ports {
        match runs.last_mut() {
            Some(run) if u32::from(*port) <= u32::from(*run.end()) + 1 => *run = *run.start()..=*port,
            _ => runs.push(*port..=*port),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_in_a_row_are_one_range() {
        assert_eq!(runs(&[1024, 1025, 1026]), [1024..=1026]);
        assert_eq!(runs(&[1024, 1030, 5001]), [1024..=1024, 1030..=1030, 5001..=5001]);
    }
}
