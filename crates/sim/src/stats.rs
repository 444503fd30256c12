//! What is counted of every connection, recorder or not.

use crate::frame::Reason;
use instant::Time;

/// One direction of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// Packets with payload, and their payload; each transmission counts.
    pub data_packets: u64,
    pub data_bytes: u64,
    /// Those of them that were sent before.
    pub resent_packets: u64,
    pub resent_bytes: u64,
    /// Retransmissions by the timer itself.
    pub timeouts: u64,
    pub ack_packets: u64,
    /// Packets with payload that arrived, copies of what was there included.
    pub arrived_packets: u64,
    /// In order and handed to the application, bytes.
    pub delivered_bytes: u64,
    pub first_sent: Option<Time>,
    pub last_delivered: Option<Time>,
}

/// What a connection sends: client to server, and back.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traffic {
    pub ways: [Way; 2],
    /// The next IPv4 identifications.
    pub ip_ids: [u16; 2],
}

impl Way {
    #[inline]
    pub fn sent(&mut self, now: Time, payload: u32, reason: Reason) {
        if payload == 0 {
            self.ack_packets += 1;
            return;
        }
        if self.data_packets == 0 {
            self.first_sent = Some(now);
        }
        self.data_packets += 1;
        self.data_bytes += u64::from(payload);
        if reason != Reason::New {
            self.resent(payload, reason);
        }
    }
    fn resent(&mut self, payload: u32, reason: Reason) {
        self.resent_packets += 1;
        self.resent_bytes += u64::from(payload);
        if matches!(reason, Reason::Timeout { .. }) {
            self.timeouts += 1;
        }
    }
    #[inline]
    pub fn delivered(&mut self, now: Time, bytes: u64) {
        if bytes > 0 {
            self.delivered_bytes += bytes;
            self.last_delivered = Some(now);
        }
    }
}
