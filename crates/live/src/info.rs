//! What the kernel says of a socket: TCP_INFO.

use crate::sys;
use std::os::fd::AsFd;

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
    /// Microseconds in which something was in flight or waited to be sent; of them those in which it waited for the
    /// receiver's window, and for the send buffer (tcp_get_info_chrono_stats).
    pub busy_us: u64,
    pub rwnd_limited_us: u64,
    pub sndbuf_limited_us: u64,
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
            busy_us: long(168),
            rwnd_limited_us: long(176),
            sndbuf_limited_us: long(184),
            bytes_sent: long(200),
            bytes_retrans: long(208),
            snd_wnd: word(228),
            total_rto: u16::from_ne_bytes([b[240], b[241]]),
        }
    }
}
