//! What is copied of a sender's socket, and how it reads.

use super::Probe;
use super::btf::Btf;

/// A place in the kernel's socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub at: usize,
    pub bytes: usize,
}

/// Structure, member, size. A `tcp_sock` begins with an `inet_connection_sock`, and that with a `sock_common`.
const WANTED: [(&str, &str, usize); 17] = [
    ("sock_common", "skc_cookie", 8),
    ("tcp_sock", "snd_una", 4),
    ("tcp_sock", "snd_nxt", 4),
    ("tcp_sock", "snd_cwnd", 4),
    ("tcp_sock", "snd_ssthresh", 4),
    ("tcp_sock", "snd_wnd", 4),
    ("tcp_sock", "srtt_us", 4),
    ("tcp_sock", "mdev_us", 4),
    ("tcp_sock", "packets_out", 4),
    ("tcp_sock", "sacked_out", 4),
    ("tcp_sock", "lost_out", 4),
    ("tcp_sock", "retrans_out", 4),
    ("tcp_sock", "mss_cache", 4),
    ("inet_connection_sock", "icsk_rto", 4),
    ("sock_common", "skc_state", 1),
    ("inet_connection_sock", "icsk_backoff", 1),
    ("inet_connection_sock", "icsk_ca_state", 1),
];

/// Connections that stand or are being closed, and data may be under way: TCP_ESTABLISHED, TCP_FIN_WAIT1, TCP_CLOSE_WAIT,
/// TCP_LAST_ACK, TCP_CLOSING.
const SENDERS: [u8; 5] = [1, 4, 8, 9, 11];

/// Where this kernel has them.
pub struct Fields {
    pub port: Field,
    /// Of a packet: its socket.
    pub owner: Field,
    pub all: Vec<Field>,
    /// The lowest bit of the phase in its byte, and how many it has.
    phase: (u32, u32),
}

impl Fields {
    /// The error is what is not where it should be.
    pub fn find(btf: &Btf<'_>) -> Result<Fields, String> {
        let plain = |structure, name, bytes| {
            let found = btf.member(structure, name);
            let found = found.filter(|m| m.bits > 0 && bytes == 1 || btf.size(*m) == Some(bytes));
            found.ok_or_else(|| format!("this kernel's {structure} has no {name} of {bytes} bytes"))
        };
        for (outer, inner) in
            [("tcp_sock", "inet_conn"), ("inet_connection_sock", "icsk_inet"), ("inet_sock", "sk")]
        {
            if btf.member(outer, inner).map(|m| m.bit) != Some(0) {
                return Err(format!("this kernel's {outer} does not begin with {inner}"));
            }
        }
        let field =
            |(structure, name, bytes)| plain(structure, name, bytes).map(|m| Field { at: m.byte(), bytes });
        let all = WANTED.into_iter().map(field).collect::<Result<_, String>>()?;
        let phase = plain("inet_connection_sock", "icsk_ca_state", 1)?;
        let bits = if phase.bits == 0 { 8 } else { phase.bits };
        let port = field(("sock_common", "skc_num", 2))?;
        let owner = field(("sk_buff", "sk", size_of::<usize>()))?;
        Ok(Fields { port, owner, all, phase: (phase.bit % 8, bits) })
    }

    /// A record as the program writes it; `None` if it is none of a connection.
    pub fn probe(&self, record: &[u8], jiffy_ns: i64) -> Option<Probe> {
        let mut rest = record;
        let mut next = |bytes: usize| {
            let (field, more) = rest.split_at_checked(bytes)?;
            rest = more;
            let mut long = [0; 8];
            let at = if cfg!(target_endian = "little") { 0 } else { 8 - bytes };
            long[at..at + bytes].copy_from_slice(field);
            Some(u64::from_ne_bytes(long))
        };
        let (ns, cookie) = (next(8)? as i64, next(8)?);
        let mut word = || next(4).map(|n| n as u32);
        let [una, nxt, cwnd, ssthresh, window_bytes, srtt, mdev] =
            [word()?, word()?, word()?, word()?, word()?, word()?, word()?];
        let [out, sacked, lost, again, mss, rto] = [word()?, word()?, word()?, word()?, word()?, word()?];
        let [state, backoff, phase] = [next(1)?, next(1)?, next(1)?].map(|n| n as u8);
        let (from, bits) = self.phase;
        // A request to connect, or what is left of a connection, is another and smaller structure.
        SENDERS.contains(&state).then(|| Probe {
            ns,
            cookie,
            una,
            nxt,
            cwnd,
            ssthresh,
            window_bytes,
            mss,
            // The kernel counts them in eighths and in fourths.
            srtt_us: srtt >> 3,
            rttvar_us: mdev >> 2,
            rto_us: (i64::from(rto) * jiffy_ns / 1_000) as u32,
            backoff,
            pipe: (out + again).saturating_sub(sacked + lost),
            ca_state: phase >> from & ((1u32 << bits) - 1) as u8,
        })
    }
}
