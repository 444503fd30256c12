//! What the kernel does with the senders of this network namespace, as it does it: why it sends a segment again, what a
//! sender knows at each ACK, and how connections and their congestion state change.
//!
//! The trace point `tcp_retransmit_skb` itself carries no reason. It is in the socket at that moment: the state of
//! congestion control, which timer was pending, and how often the timer has fired.

use super::btf::{Btf, Member};
use super::fields::Field;
use super::program::{self, Of, Piece, Subject};
use super::{RING_BYTES, TYPES};
use crate::error::sentence;
use crate::sys::bpf;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;

/// What a record tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A segment was sent again; `failed` where it did not leave.
    Retransmission { seq: u32, seq_end: u32, failed: bool },
    /// A SYN-ACK was.
    SynAck { seq: u32 },
    /// An ACK came.
    Ack,
    /// TCP_…, as in TCP_INFO.
    Connection { from: u8, to: u8 },
    /// TCP_CA_….
    Congestion { to: u8 },
}

/// A sender at that moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Of the monotonic clock.
    pub ns: i64,
    pub what: What,
    pub local: SocketAddr,
    pub remote: SocketAddr,
    pub state: u8,
    pub ca_state: u8,
    /// ICSK_TIME_…: the timer that is pending; of one that fires the retransmission timer is not any more.
    pub pending: u8,
    /// How often the timer has fired without progress.
    pub retransmits: u8,
    pub backoff: u8,
    pub una: u32,
    pub nxt: u32,
    /// SND.NXT as the last tail-loss probe left; 0 if none is under way.
    pub probe_high: u32,
    /// Segments; 0x7fffffff as high as can be.
    pub cwnd: u32,
    pub ssthresh: u32,
    pub window_bytes: u32,
    pub srtt_us: u32,
    pub rttvar_us: u32,
    pub rto_us: u32,
    pub mss: u32,
    pub packets_out: u32,
    pub sacked: u32,
    pub lost: u32,
    pub retrans: u32,
}

const SYN_SENT: u8 = 2;
const SYN_RECEIVED: u8 = 3;
const RECOVERY: u8 = 3;
const LOSS: u8 = 4;
const NO_TIMER: u8 = 0;
const PROBE_TIMER: u8 = 5;
const REORDER_TIMER: u8 = 6;

/// Why a segment was sent again, in the words of docs/definitions.md; `None` for what is none.
pub fn cause(e: &Event) -> Option<&'static str> {
    let seq = match e.what {
        What::SynAck { .. } => return Some("handshake"),
        What::Retransmission { seq, .. } => seq,
        _ => return None,
    };
    Some(match (e.state, e.ca_state) {
        (SYN_SENT | SYN_RECEIVED, _) => "handshake",
        // tcp_write_timer_handler: no timer is pending while the retransmission timer's own segment leaves, and that is
        // the first one. All else in this state is sent on ACKs (tcp_xmit_retransmit_queue), with the timer running.
        (_, LOSS) if e.pending == NO_TIMER && e.retransmits > 0 && seq == e.una => {
            // tcp_retransmit_timer: the peer has shrunk its window to nothing.
            if e.window_bytes == 0 { "persist" } else { "timeout" }
        }
        (_, LOSS) => "loss-state",
        (_, RECOVERY) => "recovery",
        // tcp_send_loss_probe: it is pending until the probe has left, and armed outside of recovery only.
        _ if e.pending == PROBE_TIMER => "probe",
        _ => "unknown",
    })
}

/// What set off a retransmission in recovery: `time` is RACK's reordering timer.
pub fn evidence(e: &Event) -> &'static str {
    match (e.ca_state, e.pending) {
        (RECOVERY, REORDER_TIMER) => "time",
        (RECOVERY, _) => "ack",
        _ => "",
    }
}

/// Structure, member. What a kernel must have is marked.
const WANTED: [(&str, &str, bool); 28] = [
    ("sock_common", "skc_family", true),
    ("sock_common", "skc_num", true),
    ("sock_common", "skc_dport", true),
    ("sock_common", "skc_rcv_saddr", true),
    ("sock_common", "skc_daddr", true),
    ("sock_common", "skc_v6_rcv_saddr", false),
    ("sock_common", "skc_v6_daddr", false),
    ("sock_common", "skc_state", true),
    ("inet_connection_sock", "icsk_ca_state", true),
    ("inet_connection_sock", "icsk_pending", true),
    ("inet_connection_sock", "icsk_retransmits", true),
    ("inet_connection_sock", "icsk_backoff", true),
    ("inet_connection_sock", "icsk_rto", true),
    ("tcp_sock", "snd_una", true),
    ("tcp_sock", "snd_nxt", true),
    ("tcp_sock", "tlp_high_seq", true),
    ("tcp_sock", "snd_cwnd", true),
    ("tcp_sock", "snd_ssthresh", true),
    ("tcp_sock", "snd_wnd", true),
    ("tcp_sock", "srtt_us", true),
    ("tcp_sock", "mdev_us", true),
    ("tcp_sock", "mss_cache", true),
    ("tcp_sock", "packets_out", true),
    ("tcp_sock", "sacked_out", true),
    ("tcp_sock", "lost_out", true),
    ("tcp_sock", "retrans_out", true),
    ("tcp_request_sock", "snt_isn", false),
    ("net", "ns", true),
];
const ISN: usize = 26;
const NAMESPACE: usize = 27;
/// Those that every socket has, requests to connect too.
const COMMON: usize = 8;

/// Which program wrote a record.
const KINDS: [(&str, usize); 5] = [
    ("tcp_retransmit_skb", 0),
    ("tcp_retransmit_synack", 1),
    ("inet_sock_set_state", 0),
    ("tcp_cong_state_set", 0),
    ("tcp_probe", 0),
];

/// The trace points of this kernel that are listened to.
pub struct Events {
    ring: bpf::Ring,
    full: bpf::Counter,
    fields: Vec<Option<Field>>,
    /// The lowest bit of the congestion state in its byte, and how many it has.
    phase: (u32, u32),
    jiffy_ns: i64,
    /// What this kernel does not have, in words.
    pub lacking: Vec<String>,
    _attached: Vec<OwnedFd>,
}

impl Events {
    /// Of this thread's network namespace. The error is why the kernel does not tell.
    pub fn open() -> Result<Events, String> {
        let types = fs::read(TYPES).map_err(|e| format!("{TYPES}: {}", sentence(&e)))?;
        let btf =
            Btf::read(&types).ok_or_else(|| format!("{TYPES} has types of a kind that is not known"))?;
        let fields = find(&btf)?;
        let phase = member(&btf, "inet_connection_sock", "icsk_ca_state")?;
        let net = field(&btf, "sock_common", "skc_net")?;
        let number = field(&btf, "ns_common", "inum")?;
        let at = fields[NAMESPACE].map_or(0, |f| f.at) + number.at;
        let cb = member(&btf, "sk_buff", "cb")?;
        let skb = [("tcp_skb_cb", "seq"), ("tcp_skb_cb", "end_seq")]
            .map(|(outer, name)| field(&btf, outer, name).map(|f| Field { at: cb.byte() + f.at, ..f }));
        let [seq, end] = skb;
        let skb = [Piece::Packet(seq?), Piece::Packet(end?)];
        let is = fs::metadata("/proc/thread-self/ns/net").map_err(|e| sentence(&e))?.ino() as u32;
        let of = Of::Namespace { pointer: net, number: Field { at, ..number }, is };

        let refused = |e: std::io::Error| sentence(&e);
        let ring = bpf::Ring::create(RING_BYTES).map_err(refused)?;
        let full = bpf::Counter::create().map_err(refused)?;
        let (mut attached, mut lacking) = (Vec::new(), Vec::new());
        for (kind, (point, socket)) in (0..).zip(KINDS) {
            let Some(arguments) = btf.arguments(point) else {
                lacking.push(format!("this kernel has no trace point {point}"));
                continue;
            };
            let skb = if kind == 0 { skb } else { [Piece::Nothing(4), Piece::Nothing(4)] };
            let pieces = pieces(kind, arguments, &fields, skb);
            let program =
                program::telling(Subject::Argument(socket), &of, ring.number(), full.0.as_raw_fd(), &pieces);
            match bpf::at_trace_point(point, &program) {
                Ok(link) => attached.push(link),
                // Without the first one there is nothing to be told.
                Err(e) if kind == 0 => return Err(format!("{point}: {}", sentence(&e))),
                Err(e) => lacking.push(format!("{point}: {}", sentence(&e))),
            }
        }
        if btf.arguments(KINDS[0].0).is_none() {
            return Err(format!("this kernel has no trace point {}", KINDS[0].0));
        }
        let phase = (phase.bit % 8, if phase.bits == 0 { 8 } else { phase.bits });
        let jiffy_ns = bpf::jiffy_ns();
        Ok(Events { ring, full, fields, phase, jiffy_ns, lacking, _attached: attached })
    }

    /// Takes out all that is there.
    pub fn read(&mut self, mut each: impl FnMut(Event)) {
        let (fields, phase, jiffy_ns) = (&self.fields, self.phase, self.jiffy_ns);
        self.ring.read(|record| {
            if let Some(event) = decode(record, fields, phase, jiffy_ns) {
                each(event);
            }
        });
    }

    /// Records that there was no room for.
    pub fn lost(&self) -> u64 {
        self.full.value().unwrap_or(0)
    }
}

fn member(btf: &Btf<'_>, structure: &str, name: &str) -> Result<Member, String> {
    btf.member(structure, name).ok_or_else(|| format!("this kernel's {structure} has no {name}"))
}

fn field(btf: &Btf<'_>, structure: &str, name: &str) -> Result<Field, String> {
    let found = member(btf, structure, name)?;
    let bytes = if found.bits > 0 { Some(1) } else { btf.size(found) };
    let bytes = bytes.ok_or_else(|| format!("this kernel's {structure} has {name} of no known size"))?;
    Ok(Field { at: found.byte(), bytes })
}

fn find(btf: &Btf<'_>) -> Result<Vec<Option<Field>>, String> {
    let one = |&(structure, name, needed): &(&str, &str, bool)| match field(btf, structure, name) {
        Err(why) if needed => Err(why),
        found => Ok(found.ok()),
    };
    WANTED.iter().map(one).collect()
}

/// The same for every program: two arguments, its kind, the packet's two sequence numbers, the socket's fields.
fn pieces(kind: u32, arguments: usize, fields: &[Option<Field>], skb: [Piece; 2]) -> Vec<Piece> {
    // Of a retransmission the third argument, where there is one, says whether it left.
    let told = match kind {
        0 if arguments > 2 => [Piece::Argument(2), Piece::Nothing(8)],
        2 => [Piece::Argument(1), Piece::Argument(2)],
        3 => [Piece::Argument(1), Piece::Nothing(8)],
        _ => [Piece::Nothing(8), Piece::Nothing(8)],
    };
    let mut all = vec![told[0], told[1], Piece::Constant(kind), skb[0], skb[1]];
    for (k, field) in fields.iter().enumerate().take(NAMESPACE) {
        let Some(field) = field else { continue };
        let has = if kind == 1 { k < COMMON || k == ISN } else { k != ISN };
        all.push(if has { Piece::Socket(*field) } else { Piece::Nothing(field.bytes) });
    }
    all
}

fn decode(record: &[u8], fields: &[Option<Field>], phase: (u32, u32), jiffy_ns: i64) -> Option<Event> {
    let mut rest = record;
    let mut next = |bytes: usize| {
        let (piece, more) = rest.split_at_checked(bytes)?;
        rest = more;
        Some(piece)
    };
    let (ns, first, second) = (number(next(8)?) as i64, number(next(8)?), number(next(8)?));
    let (kind, seq, seq_end) = (number(next(4)?), number(next(4)?) as u32, number(next(4)?) as u32);
    let mut found: [&[u8]; NAMESPACE] = [&[]; NAMESPACE];
    for (k, field) in fields.iter().enumerate().take(NAMESPACE) {
        if let Some(field) = field {
            found[k] = next(field.bytes)?;
        }
    }
    let n = |k: usize| number(found[k]);
    let what = match kind {
        0 => What::Retransmission { seq, seq_end, failed: first as i32 != 0 },
        1 => What::SynAck { seq: n(ISN) as u32 },
        2 => What::Connection { from: first as u8, to: second as u8 },
        3 => What::Congestion { to: first as u8 },
        _ => What::Ack,
    };
    let (local, remote) = addresses(&found)?;
    let byte = |k| n(k) as u8;
    let word = |k| n(k) as u32;
    let (from, bits) = phase;
    Some(Event {
        ns,
        what,
        local,
        remote,
        state: byte(7),
        ca_state: byte(8) >> from & ((1u32 << bits) - 1) as u8,
        pending: byte(9),
        retransmits: byte(10),
        backoff: byte(11),
        rto_us: (n(12) as i64 * jiffy_ns / 1_000) as u32,
        una: word(13),
        nxt: word(14),
        probe_high: word(15),
        cwnd: word(16),
        ssthresh: word(17),
        window_bytes: word(18),
        // The kernel counts them in eighths and in fourths.
        srtt_us: word(19) >> 3,
        rttvar_us: word(20) >> 2,
        mss: word(21),
        packets_out: word(22),
        sacked: word(23),
        lost: word(24),
        retrans: word(25),
    })
}

fn number(bytes: &[u8]) -> u64 {
    let mut long = [0; 8];
    let at = if cfg!(target_endian = "little") { 0 } else { 8 - bytes.len().min(8) };
    if let Some(place) = long.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
    u64::from_ne_bytes(long)
}

/// The socket's two ends. A socket of IPv6 that talks IPv4 is of IPv4.
fn addresses(found: &[&[u8]; NAMESPACE]) -> Option<(SocketAddr, SocketAddr)> {
    let family = number(found[0]) as i32;
    let own_port = number(found[1]) as u16;
    let their_port = u16::from_be_bytes(found[2].try_into().ok()?);
    let v4 = |k: usize| <[u8; 4]>::try_from(found[k]).ok().map(|b| IpAddr::V4(Ipv4Addr::from(b)));
    let v6 =
        |k: usize| <[u8; 16]>::try_from(found[k]).ok().map(|b| IpAddr::V6(Ipv6Addr::from(b)).to_canonical());
    let (own, their) = match family {
        libc::AF_INET => (v4(3)?, v4(4)?),
        libc::AF_INET6 => (v6(5)?, v6(6)?),
        _ => return None,
    };
    Some((SocketAddr::new(own, own_port), SocketAddr::new(their, their_port)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resent(ca_state: u8, pending: u8, retransmits: u8) -> Event {
        let end = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1);
        Event {
            ns: 0,
            what: What::Retransmission { seq: 1000, seq_end: 2448, failed: false },
            local: end,
            remote: end,
            state: 1,
            ca_state,
            pending,
            retransmits,
            backoff: 0,
            una: 1000,
            nxt: 9000,
            probe_high: 0,
            cwnd: 10,
            ssthresh: 7,
            window_bytes: 65_535,
            srtt_us: 0,
            rttvar_us: 0,
            rto_us: 0,
            mss: 1448,
            packets_out: 0,
            sacked: 0,
            lost: 0,
            retrans: 0,
        }
    }

    /// docs/definitions.md, "The kernel's own word": state of congestion control, pending timer, timer's count.
    #[test]
    fn the_socket_tells_why_a_segment_is_sent_again() {
        const RTO_TIMER: u8 = 1;
        for (ca_state, pending, retransmits, why) in [
            (RECOVERY, RTO_TIMER, 0, "recovery"),
            (RECOVERY, REORDER_TIMER, 0, "recovery"),
            // A probe was due as the ACK came that began recovery.
            (RECOVERY, PROBE_TIMER, 0, "recovery"),
            (LOSS, NO_TIMER, 1, "timeout"),
            (LOSS, RTO_TIMER, 1, "loss-state"),
            (0, PROBE_TIMER, 0, "probe"),
            (1, PROBE_TIMER, 0, "probe"),
            (0, RTO_TIMER, 0, "unknown"),
        ] {
            let event = resent(ca_state, pending, retransmits);
            assert_eq!(cause(&event), Some(why), "{ca_state} {pending} {retransmits}");
        }
        let timer = resent(LOSS, NO_TIMER, 1);
        let behind = What::Retransmission { seq: 2448, seq_end: 3896, failed: false };
        assert_eq!(cause(&Event { what: behind, ..timer }), Some("loss-state"));
        assert_eq!(cause(&Event { window_bytes: 0, ..timer }), Some("persist"));
        assert_eq!(cause(&Event { state: SYN_SENT, ..timer }), Some("handshake"));
        assert_eq!(cause(&Event { what: What::SynAck { seq: 1 }, ..timer }), Some("handshake"));
        assert_eq!(cause(&Event { what: What::Ack, ..timer }), None);
        assert_eq!(evidence(&resent(RECOVERY, REORDER_TIMER, 0)), "time");
        assert_eq!(evidence(&resent(RECOVERY, RTO_TIMER, 0)), "ack");
        assert_eq!(evidence(&timer), "");
    }
}
