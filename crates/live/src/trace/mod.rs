//! The state of kernels' senders at every ACK, from the kernel's own trace points where it lets us have them.
//!
//! `tcp:tcp_probe` fires when a connection that stands receives a segment, before that is looked at: what it tells is
//! the state that the ACK found. `tcp:tcp_cong_state_set` tells of each step into recovery or loss and out of it.
//! Neither knows the timer, nor what is believed to be lost: TCP_INFO is asked for that besides.

mod format;
mod ring;
pub mod tracefs;

use crate::error::sentence;
use crate::sys;
use ring::{Layout, long, word};
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tracefs::Instance;

pub const PROBE: &str = "tcp/tcp_probe";
const STATE: &str = "tcp/tcp_cong_state_set";
/// For each core: half a second of 1 Gbps.
const BUFFER_KB: &str = "8192";
const LOOK: Duration = Duration::from_millis(20);
const READY_WITHIN: Duration = Duration::from_secs(5);

/// What a sender's kernel knew as a segment came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    pub srtt_us: u32,
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
    /// In the order of time.
    pub probes: Vec<Probe>,
    /// That the kernel had no room for.
    pub lost: u64,
}

impl Tracer {
    /// `ports`: of the senders that are wanted, in the order of numbers. The error is why the kernel does not tell.
    pub fn start(name: String, ports: Vec<u16>) -> Result<Tracer, String> {
        let stop = Arc::new(AtomicBool::new(false));
        let (tell, told) = mpsc::channel();
        let ours = Arc::clone(&stop);
        let work = move || match Reading::open(&name, &ports) {
            Ok(reading) => {
                let _ = tell.send(Ok(()));
                reading.run(&ours)
            }
            Err(e) => {
                let _ = tell.send(Err(e));
                Traced::default()
            }
        };
        let thread = thread::Builder::new().name("tracer".into()).spawn(work).map_err(|e| sentence(&e))?;
        let tracer = Tracer { stop, thread: Some(thread) };
        match told.recv_timeout(READY_WITHIN) {
            Ok(Ok(())) => Ok(tracer),
            Ok(Err(e)) => Err(sentence(&e)),
            Err(_) => Err("tracefs did not answer".into()),
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

struct Reading {
    // Closed before the instance goes.
    pipes: Vec<File>,
    instance: Instance,
    layout: Layout,
    probe: ProbeFormat,
    state: StateFormat,
}

impl Reading {
    fn open(name: &str, ports: &[u16]) -> io::Result<Reading> {
        let root = tracefs::enter()?;
        let instance = Instance::create(&root, name)?;
        let unknown = |what: &str| io::Error::other(format!("this kernel's {what} is none that is known"));
        let layout = Layout::read(&header_page(&root)?);
        let probe = ProbeFormat::read(&instance.get(&format!("events/{PROBE}/format"))?);
        let state = StateFormat::read(&instance.get(&format!("events/{STATE}/format"))?);
        instance.set("buffer_size_kb", BUFFER_KB)?;
        instance.set("trace_clock", "mono")?;
        let mut pipes = Vec::new();
        for entry in fs::read_dir(instance.path.join("per_cpu"))?.flatten() {
            pipes.push(sys::open_without_blocking(&entry.path().join("trace_pipe_raw"))?);
        }
        for event in [PROBE, STATE] {
            instance.set(&format!("events/{event}/filter"), &filter(ports))?;
            instance.set(&format!("events/{event}/enable"), "1")?;
        }
        Ok(Reading {
            pipes,
            instance,
            layout: layout.ok_or_else(|| unknown("header_page"))?,
            probe: probe.ok_or_else(|| unknown(PROBE))?,
            state: state.ok_or_else(|| unknown(STATE))?,
        })
    }

    fn run(mut self, stop: &AtomicBool) -> Traced {
        let mut found = Vec::new();
        let mut page = vec![0; self.layout.page_bytes];
        loop {
            let last_turn = stop.load(Ordering::Relaxed);
            for pipe in &mut self.pipes {
                while let Ok(length @ 1..) = pipe.read(&mut page) {
                    self.layout.records(&page[..length], |ns, record| {
                        found.extend(
                            self.probe.event(record).or_else(|| self.state.event(record)).map(|e| (ns, e)),
                        );
                    });
                }
            }
            if last_turn {
                break;
            }
            thread::sleep(LOOK);
        }
        Traced { probes: in_order(found), lost: self.lost() }
    }

    /// What was written over before it was read.
    fn lost(&self) -> u64 {
        let of = |entry: fs::DirEntry| {
            let text = fs::read_to_string(entry.path().join("stats")).ok()?;
            text.lines().find_map(|l| l.strip_prefix("overrun:")?.trim().parse::<u64>().ok())
        };
        fs::read_dir(self.instance.path.join("per_cpu")).into_iter().flatten().flatten().filter_map(of).sum()
    }
}

/// The kernel gives it to the first read whole, and to a second one nothing.
fn header_page(root: &Path) -> io::Result<String> {
    let mut text = vec![0; 4096];
    let length = File::open(root.join("events/header_page"))?.read(&mut text)?;
    Ok(String::from_utf8_lossy(&text[..length]).into_owned())
}

/// Ports that follow each other are one term: a filter has no more than a page.
fn filter(ports: &[u16]) -> String {
    let mut runs: Vec<(u16, u16)> = Vec::new();
    for port in ports {
        match runs.last_mut() {
            Some((_, last)) if u32::from(*port) <= u32::from(*last) + 1 => *last = *port,
            _ => runs.push((*port, *port)),
        }
    }
    let terms = runs.iter().map(|(first, last)| format!("(sport >= {first} && sport <= {last})"));
    terms.collect::<Vec<_>>().join(" || ")
}

enum Event {
    Probe { sock: u64, probe: Probe },
    State { sock: u64, ca_state: u8 },
}

/// Each core has a buffer of its own: put together in time, each probe with the phase that its socket was in.
fn in_order(mut found: Vec<(i64, Event)>) -> Vec<Probe> {
    found.sort_by_key(|(ns, _)| *ns);
    // Only looked up.
    let mut phases: HashMap<u64, u8> = HashMap::new();
    let mut probes = Vec::new();
    for (ns, event) in found {
        match event {
            Event::State { sock, ca_state } => drop(phases.insert(sock, ca_state)),
            Event::Probe { sock, probe } => {
                let ca_state = phases.get(&sock).copied().unwrap_or(0);
                probes.push(Probe { ns, ca_state, ..probe });
            }
        }
    }
    probes
}

/// Where `tcp_probe` has what.
struct ProbeFormat {
    id: u16,
    sock: usize,
    cookie: usize,
    una: usize,
    nxt: usize,
    cwnd: usize,
    ssthresh: usize,
    window: usize,
    srtt: usize,
}

impl ProbeFormat {
    fn read(text: &str) -> Option<ProbeFormat> {
        let sized = |name, size| format::field(text, name).filter(|(_, s)| *s == size).map(|(at, _)| at);
        Some(ProbeFormat {
            id: format::id(text)?,
            sock: sized("skaddr", 8)?,
            cookie: sized("sock_cookie", 8)?,
            una: sized("snd_una", 4)?,
            nxt: sized("snd_nxt", 4)?,
            cwnd: sized("snd_cwnd", 4)?,
            ssthresh: sized("ssthresh", 4)?,
            window: sized("snd_wnd", 4)?,
            srtt: sized("srtt", 4)?,
        })
    }

    fn event(&self, record: &[u8]) -> Option<Event> {
        if !is(record, self.id) {
            return None;
        }
        let probe = Probe {
            ns: 0,
            cookie: long(record, self.cookie)?,
            una: word(record, self.una)?,
            nxt: word(record, self.nxt)?,
            cwnd: word(record, self.cwnd)?,
            ssthresh: word(record, self.ssthresh)?,
            window_bytes: word(record, self.window)?,
            srtt_us: word(record, self.srtt)?,
            ca_state: 0,
        };
        Some(Event::Probe { sock: long(record, self.sock)?, probe })
    }
}

/// Where `tcp_cong_state_set` has what.
struct StateFormat {
    id: u16,
    sock: usize,
    ca_state: usize,
}

impl StateFormat {
    fn read(text: &str) -> Option<StateFormat> {
        let sized = |name, size| format::field(text, name).filter(|(_, s)| *s == size).map(|(at, _)| at);
        Some(StateFormat {
            id: format::id(text)?,
            sock: sized("skaddr", 8)?,
            ca_state: sized("cong_state", 1)?,
        })
    }

    fn event(&self, record: &[u8]) -> Option<Event> {
        let found =
            is(record, self.id).then(|| Some((long(record, self.sock)?, *record.get(self.ca_state)?)));
        found.flatten().map(|(sock, ca_state)| Event::State { sock, ca_state })
    }
}

fn is(record: &[u8], id: u16) -> bool {
    record.get(..2) == Some(&id.to_ne_bytes()[..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_in_a_row_are_one_term() {
        assert_eq!(filter(&[1024, 1025, 1026]), "(sport >= 1024 && sport <= 1026)");
        assert_eq!(filter(&[1024, 1030, 5001]).matches("||").count(), 2);
    }

    #[test]
    fn a_probe_has_the_phase_that_its_socket_was_in() {
        let probe = |sock, una| {
            let probe = Probe {
                ns: 0,
                cookie: sock,
                una,
                nxt: 0,
                cwnd: 0,
                ssthresh: 0,
                window_bytes: 0,
                srtt_us: 0,
                ca_state: 0,
            };
            Event::Probe { sock, probe }
        };
        let state = |sock, ca_state| Event::State { sock, ca_state };
        let found = vec![
            (9, probe(1, 3)),
            (5, probe(1, 2)),
            (1, probe(1, 1)),
            (4, state(1, 3)),
            (8, probe(2, 0)),
            (7, state(1, 0)),
        ];
        let phases: Vec<(i64, u8)> = in_order(found).iter().map(|p| (p.ns, p.ca_state)).collect();
        assert_eq!(phases, [(1, 0), (5, 3), (8, 0), (9, 0)]);
    }
}
