//! What the kernel tells while it is recorded, as tables on the disk: CSV, a line at a time, so that a recording that is
//! killed keeps what it has.

use super::chosen::Chosen;
use super::private;
use super::sockets::Sockets;
use crate::sys::{self, Clock};
use crate::trace::events::{self, Event, Events, What};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const LOOK: Duration = Duration::from_millis(20);
/// Of one sender, if nothing but its windows and its RTT change.
const ROW_EVERY_NS: i64 = 10_000_000;
/// Sockets are asked that often.
pub const ASK_EVERY_NS: i64 = 250_000_000;
/// And less often where it takes long: at most a fiftieth of the time.
const ASKING_SHARE: i64 = 50;

pub const RETRANSMISSIONS: (&str, &str) = (
    "retransmissions",
    "time_ns,local,remote,seq,seq_end,segments,cause,evidence,failed,ca_state,timer,retransmits,backoff,snd_una,\
     snd_nxt,tlp_high_seq,cwnd,ssthresh,window_bytes,srtt_us,rto_us",
);
pub const SENDERS: (&str, &str) = (
    "senders",
    "time_ns,local,remote,snd_una,snd_nxt,cwnd,ssthresh,window_bytes,srtt_us,rttvar_us,rto_us,backoff,packets_out,\
     sacked,lost,retrans,mss,ca_state",
);
pub const STATES: (&str, &str) = ("states", "time_ns,local,remote,what,before,now");
pub const SOCKETS: (&str, &str) = (
    "sockets",
    "time_ns,local,remote,state,ca_state,cwnd,ssthresh,window_bytes,rtt_us,rttvar_us,rto_us,backoff,unacked,sacked,\
     lost,retrans,total_retrans,bytes_sent,bytes_retrans,bytes_acked,bytes_received,segs_out,data_segs_out,\
     data_segs_in,notsent_bytes,total_rto,mss,busy_us,rwnd_limited_us,sndbuf_limited_us",
);

/// What the kernel told.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Rows: retransmissions, senders, states, sockets.
    pub rows: [u64; 4],
    /// Records that there was no room for.
    pub lost: u64,
    pub error: Option<String>,
}

const CA: [&str; 5] = ["open", "disorder", "cwr", "recovery", "loss"];
const CONNECTION: [&str; 13] = [
    "",
    "established",
    "syn-sent",
    "syn-received",
    "fin-wait-1",
    "fin-wait-2",
    "time-wait",
    "closed",
    "close-wait",
    "last-ack",
    "listen",
    "closing",
    "new-syn-received",
];
const CLOSED: u8 = 7;
const TIMERS: [&str; 7] = ["none", "retransmission", "delayed-ack", "persist", "early", "probe", "reorder"];

fn word<const N: usize>(words: [&'static str; N], at: u8) -> &'static str {
    words.get(usize::from(at)).copied().unwrap_or("")
}

/// When a row was written of a sender, and what it said of ssthresh, back-off and congestion state.
struct Last {
    ns: i64,
    steady: (u32, u8, u8),
}

struct Tables {
    files: [BufWriter<File>; 4],
    told: Told,
    chosen: Chosen,
    /// By sender.
    last: HashMap<(SocketAddr, SocketAddr), Last>,
}

/// Takes notes until it is told to stop. `events`: where the kernel tells.
pub fn run(folder: &Path, mut events: Option<Events>, chosen: Chosen, stop: &AtomicBool) -> Told {
    let mut tables = match Tables::create(folder, chosen) {
        Ok(tables) => tables,
        Err(e) => return Told { error: Some(crate::error::sentence(&e)), ..Told::default() },
    };
    let sockets = Sockets::open().ok();
    let mut ask_at = 0;
    loop {
        let last_turn = stop.load(Ordering::Relaxed);
        let now = sys::clock(Clock::Monotonic);
        // Looked at anew each time: the wall clock may be set meanwhile.
        let since_1970 = sys::clock(Clock::Realtime) - now;
        let mut done = Ok(());
        if let Some(events) = &mut events {
            events.read(|event| {
                if done.is_ok() {
                    done = tables.event(&event, event.ns + since_1970);
                }
            });
        }
        if let (Some(sockets), true) = (&sockets, now >= ask_at || last_turn) {
            let listed = sockets.tcp();
            let asked = sys::clock(Clock::Monotonic);
            done = done.and_then(|()| tables.sockets(&listed, asked + since_1970));
            ask_at = asked + ASK_EVERY_NS.max((asked - now) * ASKING_SHARE);
        }
        if let Err(e) = done.and_then(|()| tables.flush()) {
            tables.told.error.get_or_insert(crate::error::sentence(&e));
            break;
        }
        if last_turn {
            break;
        }
        thread::sleep(LOOK);
    }
    tables.told.lost = events.map_or(0, |events| events.lost());
    tables.told
}

impl Tables {
    fn create(folder: &Path, chosen: Chosen) -> io::Result<Tables> {
        let create = |(name, columns): (&str, &str)| {
            let mut file = BufWriter::new(private::create(&folder.join(format!("{name}.csv")))?);
            writeln!(file, "{columns}")?;
            io::Result::Ok(file)
        };
        let files = [create(RETRANSMISSIONS)?, create(SENDERS)?, create(STATES)?, create(SOCKETS)?];
        Ok(Tables { files, told: Told::default(), chosen, last: HashMap::new() })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.files.iter_mut().try_for_each(Write::flush)
    }

    fn event(&mut self, e: &Event, time_ns: i64) -> io::Result<()> {
        let ends = (e.local, e.remote);
        if !self.chosen.has(e.local, e.remote) {
            return Ok(());
        }
        match e.what {
            What::Retransmission { .. } | What::SynAck { .. } => self.retransmission(e, time_ns),
            What::Ack => {
                let steady = (e.ssthresh, e.backoff, e.ca_state);
                let old = self.last.get(&ends);
                if old.is_some_and(|last| e.ns - last.ns < ROW_EVERY_NS && last.steady == steady) {
                    return Ok(());
                }
                self.last.insert(ends, Last { ns: e.ns, steady });
                self.sender(e, time_ns)
            }
            What::Connection { from, to } => {
                self.state(e, time_ns, "connection", word(CONNECTION, from), word(CONNECTION, to))?;
                if to == CLOSED {
                    self.last.remove(&ends);
                    self.chosen.forget(e.local, e.remote);
                }
                Ok(())
            }
            // tcp_set_ca_state tells before it sets.
            What::Congestion { to } if to != e.ca_state => {
                self.state(e, time_ns, "congestion", word(CA, e.ca_state), word(CA, to))
            }
            What::Congestion { .. } => Ok(()),
        }
    }

    fn retransmission(&mut self, e: &Event, time_ns: i64) -> io::Result<()> {
        let (seq, seq_end, failed) = match e.what {
            What::Retransmission { seq, seq_end, failed } => (seq, seq_end, failed),
            What::SynAck { seq } => (seq, seq.wrapping_add(1), false),
            _ => return Ok(()),
        };
        let segments = seq_end.wrapping_sub(seq).div_ceil(e.mss.max(1)).max(1);
        self.told.rows[0] += 1;
        writeln!(
            self.files[0],
            "{time_ns},{},{},{seq},{seq_end},{segments},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
            e.local,
            e.remote,
            events::cause(e).unwrap_or(""),
            events::evidence(e),
            u8::from(failed),
            word(CA, e.ca_state),
            word(TIMERS, e.pending),
            e.retransmits,
            e.backoff,
            e.una,
            e.nxt,
            e.probe_high,
            e.cwnd,
            e.ssthresh,
            e.window_bytes,
            e.srtt_us,
            e.rto_us,
        )
    }

    fn sender(&mut self, e: &Event, time_ns: i64) -> io::Result<()> {
        self.told.rows[1] += 1;
        writeln!(
            self.files[1],
            "{time_ns},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
            e.local,
            e.remote,
            e.una,
            e.nxt,
            e.cwnd,
            e.ssthresh,
            e.window_bytes,
            e.srtt_us,
            e.rttvar_us,
            e.rto_us,
            e.backoff,
            e.packets_out,
            e.sacked,
            e.lost,
            e.retrans,
            e.mss,
            word(CA, e.ca_state),
        )
    }

    fn state(&mut self, e: &Event, time_ns: i64, what: &str, before: &str, now: &str) -> io::Result<()> {
        self.told.rows[2] += 1;
        writeln!(self.files[2], "{time_ns},{},{},{what},{before},{now}", e.local, e.remote)
    }

    fn sockets(&mut self, listed: &[super::sockets::Socket], time_ns: i64) -> io::Result<()> {
        for socket in listed {
            let Some(i) = &socket.info else { continue };
            if !self.chosen.has(socket.local, socket.remote) {
                continue;
            }
            self.told.rows[3] += 1;
            writeln!(
                self.files[3],
                "{time_ns},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
                socket.local,
                socket.remote,
                word(CONNECTION, socket.state),
                word(CA, i.ca_state),
                i.snd_cwnd,
                i.snd_ssthresh,
                i.snd_wnd,
                i.rtt_us,
                i.rttvar_us,
                i.rto_us,
                i.backoff,
                i.unacked,
                i.sacked,
                i.lost,
                i.retrans,
                i.total_retrans,
                i.bytes_sent,
                i.bytes_retrans,
                i.bytes_acked,
                i.bytes_received,
                i.segs_out,
                i.data_segs_out,
                i.data_segs_in,
                i.notsent_bytes,
                i.total_rto,
                i.snd_mss,
                i.busy_us,
                i.rwnd_limited_us,
                i.sndbuf_limited_us,
            )?;
        }
        Ok(())
    }
}
