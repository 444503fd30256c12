//! What one end of a connection counted: the kernel, or rexmit's own TCP.

use crate::info::Info;
use tcp::endpoint::Why;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sent with payload, each transmission.
    pub data_packets: u64,
    pub data_bytes: u64,
    /// Of these, sent before.
    pub resent_packets: u64,
    pub resent_bytes: u64,
    /// Retransmissions by the timer itself.
    pub timeouts: u64,
    /// Sent without payload.
    pub ack_packets: u64,
    /// Came with payload.
    pub arrived_packets: u64,
}

impl Counts {
    /// A segment of rexmit's own TCP leaves.
    pub fn sent(&mut self, payload: u32, why: Why) {
        if payload == 0 {
            self.ack_packets += 1;
            return;
        }
        self.data_packets += 1;
        self.data_bytes += u64::from(payload);
        // As the simulator counts them.
        if !matches!(why, Why::New | Why::Probe { new: true }) {
            self.resent_packets += 1;
            self.resent_bytes += u64::from(payload);
        }
        self.timeouts += u64::from(matches!(why, Why::Timeout { .. }));
    }
}

impl From<&Info> for Counts {
    fn from(info: &Info) -> Counts {
        Counts {
            data_packets: info.data_segs_out.into(),
            data_bytes: info.bytes_sent,
            resent_packets: info.total_retrans.into(),
            resent_bytes: info.bytes_retrans,
            timeouts: info.total_rto.into(),
            ack_packets: info.segs_out.saturating_sub(info.data_segs_out).into(),
            arrived_packets: info.data_segs_in.into(),
        }
    }
}
