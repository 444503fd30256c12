//! ns-3.20's TcpTahoe, TcpReno and TcpNewReno, to the byte: what differs from the RFCs' rules.
//!
//! The strategies' own facts stand with them (`rto/ns320.rs`, `congestion/aimd.rs`). Here: no recovery point holds a
//! fast retransmit back, the count of duplicates outlives a timeout, exactly the third one acts, cwnd grows by the
//! very ACK that ends recovery, and Tahoe halves cwnd instead of FlightSize.

use super::ack::{AckIn, News};
use super::{Phase, Sender};
use crate::congestion::{AckFacts, LossFacts};
use crate::endpoint::Evidence;
use crate::stack::{Ns320, RecoveryRule};
use wire::time::Time;

impl Sender {
    pub(super) fn ns320(&self) -> Option<Ns320> {
        match self.rules.recovery {
            RecoveryRule::Ns320 { variant } => Some(variant),
            _ => None,
        }
    }

    #[cold]
    pub(super) fn ack_as_ns320(&mut self, a: &AckIn, news: &News, facts: &AckFacts) {
        let Some(variant) = self.ns320() else { return };
        if news.advanced {
            self.dupacks = 0;
            self.ns320_advanced(variant, a, news, facts);
        } else if news.duplicate {
            self.dupacks += 1;
            self.ns320_duplicate(variant, a.now);
        }
    }

    fn ns320_advanced(&mut self, variant: Ns320, a: &AckIn, news: &News, facts: &AckFacts) {
        let w = &mut self.window;
        if self.phase == Phase::Recovery {
            if variant == Ns320::NewReno && a.ack < self.recover {
                // The partial deflation, whatever was acknowledged; no growth.
                w.cwnd = w.cwnd.saturating_sub(news.acked.bytes).saturating_add(w.smss);
                self.resend_first = Some(self.why_recovery());
                return;
            }
            // FlightSize as it was before this ACK.
            let flight = self.board.out() + news.acked.bytes;
            w.cwnd = match variant {
                Ns320::NewReno => w.ssthresh.min(flight.saturating_add(w.smss)),
                Ns320::Tahoe | Ns320::Reno => w.ssthresh,
            };
            self.phase = Phase::Open;
        }
        self.congestion.on_ack(&mut self.window, facts);
        if self.phase == Phase::Loss && a.ack >= self.recover {
            self.phase = Phase::Open;
        }
    }

    fn ns320_duplicate(&mut self, variant: Ns320, now: Time) {
        if self.phase == Phase::Recovery {
            self.window.cwnd = self.window.cwnd.saturating_add(self.window.smss);
            return;
        }
        if self.dupacks != self.rules.detect.dupthresh {
            return;
        }
        self.evidence = Evidence::DupAck;
        self.resend_first = Some(self.why_recovery());
        self.recover = self.board.end();
        self.ns320_halve(variant, now, false);
        if variant == Ns320::Tahoe {
            self.window.cwnd = self.window.smss;
            self.phase = Phase::Loss;
            self.nxt = self.una();
            return;
        }
        self.window.cwnd = self.window.ssthresh + self.rules.detect.dupthresh * self.window.smss;
        self.phase = Phase::Recovery;
    }

    /// At every timeout, the second of a segment too.
    pub(super) fn ns320_halve(&mut self, variant: Ns320, now: Time, timeout: bool) {
        let loss = self.loss_facts(now, timeout);
        let flight = if variant == Ns320::Tahoe { self.window.cwnd } else { self.board.out() };
        self.window.ssthresh = self.congestion.ssthresh_on_loss(&self.window, &LossFacts { flight, ..loss });
    }

    /// Goes back; the count of duplicates stays.
    pub(super) fn ns320_timed_out(&mut self, variant: Ns320, now: Time) {
        self.ns320_halve(variant, now, true);
        self.window.cwnd = self.window.smss;
        self.phase = Phase::Loss;
        self.recover = self.board.end();
        self.nxt = self.una();
        self.rto.on_timeout();
    }
}
