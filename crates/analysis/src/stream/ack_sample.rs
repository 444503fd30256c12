//! What one ACK tells the sender of time, in the order in which Linux takes it (tcp_sacktag_one, tcp_clean_rtx_queue,
//! tcp_ack_update_rtt): a round trip for its timers, and RACK.rtt (RFC 8985 §6.2).

use wire::{Span, Time};

/// When copies left that an ACK is the first to report.
#[derive(Clone, Copy, Debug, Default)]
pub struct AckSample {
    /// Of what it acknowledges and was sent once: the first and the last.
    once: Option<(Time, Time)>,
    /// It acknowledges what was sent again, too: which copy arrived is not known (Karn's rule, RFC 6298 §3).
    again: bool,
    /// When the copy left whose timestamp it echoes.
    echoed: Option<Time>,
    /// Of what it SACKs and was sent once: the first; of all that it SACKs, the end of the highest and when that left.
    sacked_once: Option<Time>,
    sacked: Option<(u64, Time)>,
    /// What left last of all, and where it ends.
    newest: Option<(Time, u64)>,
}

impl AckSample {
    /// It acknowledges what was sent once.
    #[inline(always)]
    pub fn advances(&mut self, sent: Time, end: u64, echoed: bool) {
        if echoed && self.echoed.is_none() {
            self.echoed = Some(sent);
        }
        self.once = Some((self.once.map_or(sent, |(first, _)| first), sent));
        self.newest = self.newest.max(Some((sent, end)));
    }
    /// It acknowledges what was sent again; `sent` is when the copy left that has arrived, if that is known.
    pub fn advances_over_repair(&mut self, sent: Option<Time>, end: u64, echoed: Option<Time>) {
        self.again = true;
        self.echoed = self.echoed.or(echoed);
        if let Some(sent) = sent {
            self.newest = self.newest.max(Some((sent, end)));
        }
    }
    pub fn sacks(&mut self, sent: Time, end: u64, resent: bool) {
        if !resent {
            self.sacked_once = Some(self.sacked_once.map_or(sent, |first| first.min(sent)));
        }
        self.sacked = self.sacked.max(Some((end, sent)));
        self.newest = self.newest.max(Some((sent, end)));
    }

    /// The round trip that Linux's timers take from it. Where all that advances was sent again, the timestamp tells (RFC
    /// 7323 §4).
    pub fn round_trip(&self, now: Time) -> Option<Span> {
        let acked = self.once.filter(|_| !self.again).map(|(first, _)| first);
        acked.or(self.sacked_once).or(self.echoed).map(|sent| now - sent)
    }
    /// What left last of all that it reports and where that ends, and RACK.rtt.
    pub fn rack(&self, now: Time) -> Option<((Time, u64), Span)> {
        let newest = self.newest?;
        let last = self.once.map(|(_, last)| last).or(self.sacked.map(|(_, sent)| sent));
        Some((newest, now - last.unwrap_or(newest.0)))
    }
}
