//! The initial congestion window: the data sent before the first ACK of data, where that window is what ended the
//! flight.

use crate::rows::Inferred;
use wire::{Span, Time};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Stage {
    /// No handshake seen: the first data may be anywhere in the stream.
    #[default]
    Unseen,
    First,
    /// The first ACK came; the next data tells whether the sender was waiting for it.
    Acked,
    /// The second round trip is under way.
    Second,
    Known,
    Hidden,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Initial {
    stage: Stage,
    /// Payload of a full segment.
    mss: u32,
    first_sent: Time,
    last_sent: Time,
    acked_at: Time,
    bytes: u64,
    second: u64,
}

impl Initial {
    pub fn on_handshake(&mut self) {
        if self.stage == Stage::Unseen && self.bytes == 0 {
            self.stage = Stage::First;
        }
    }

    #[inline]
    pub fn on_new_data(&mut self, now: Time, bytes: u32, window_full: bool, mss: u32) {
        if matches!(self.stage, Stage::First | Stage::Acked | Stage::Second) {
            self.count(now, bytes, window_full, mss);
        }
    }

    #[cold]
    fn count(&mut self, now: Time, bytes: u32, window_full: bool, mss: u32) {
        match self.stage {
            Stage::First => {
                if self.bytes == 0 {
                    self.first_sent = now;
                }
                self.bytes += u64::from(bytes);
                self.last_sent = now;
                self.mss = mss;
                if window_full {
                    self.stage = Stage::Hidden;
                }
            }
            Stage::Acked => {
                // Data that does not follow the ACK at once waited for the application.
                let rtt = self.acked_at - self.first_sent;
                self.stage = match now - self.acked_at <= Span((rtt.0 / 10).max(2_000_000)) {
                    true => Stage::Second,
                    false => Stage::Hidden,
                };
                self.second = u64::from(bytes);
            }
            Stage::Second => {
                self.second += u64::from(bytes);
                // Slow start answers each ACK with more than it acknowledged; a small write does not.
                if self.second >= self.bytes + self.bytes / 4 {
                    self.stage = Stage::Known;
                }
            }
            _ => {}
        }
    }

    #[inline]
    pub fn on_ack(&mut self, now: Time, window: Option<u64>) {
        if self.stage == Stage::First && self.bytes > 0 {
            self.first_ack(now, window);
        }
    }

    #[cold]
    fn first_ack(&mut self, now: Time, window: Option<u64>) {
        self.acked_at = now;
        let (rtt, pause) = (now - self.first_sent, now - self.last_sent);
        // A short last segment ends a write, and data up to the ACK means that no window ended it.
        let whole = self.bytes.is_multiple_of(u64::from(self.mss.max(1)));
        // Nor may the receiver's window have ended it.
        let room = window.is_none_or(|w| self.bytes + u64::from(self.mss) <= w);
        self.stage = if whole && room && pause * 4 >= rtt { Stage::Acked } else { Stage::Hidden };
    }

    /// A repair before the second round trip has shown itself spoils the count.
    pub fn on_loss(&mut self) {
        if self.stage != Stage::Known {
            self.stage = Stage::Hidden;
        }
    }

    pub fn report(&self) -> Inferred<u32> {
        let segments = (self.bytes / u64::from(self.mss.max(1))) as u32;
        // Windows that stacks are known to start with: RFC 5681 (1 to 4), RFC 6928 (10), and what CDNs set.
        let confidence = match segments {
            1..=4 | 10 => 0.9,
            16 | 20 | 30 | 32 | 64 => 0.8,
            _ => 0.6,
        };
        (self.stage == Stage::Known && segments > 0).then_some((segments, confidence))
    }
}
