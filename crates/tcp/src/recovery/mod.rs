//! How much may be sent while losses are repaired?
//!
//! Each rule is one page that moves cwnd from the entry of recovery to its end. Two families: inflation counts
//! cwnd against FlightSize and resends the oldest segment only; pipe counts it against what is believed to be in
//! the network and resends whatever `detect` found lost.

mod halving;
mod inflation;
mod prr;

use crate::congestion::Window;
use crate::stack::RecoveryRule;
use halving::Halving;
use inflation::Inflation;
use prr::Prr;

/// What an ACK in recovery told. Bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Facts {
    /// Newly acknowledged cumulatively.
    pub(crate) acked: u32,
    /// Newly acknowledged, cumulatively or by SACK (DeliveredData of RFC 9937).
    pub(crate) delivered: u32,
    /// Believed to be in the network, after this ACK.
    pub(crate) pipe: u32,
    /// SND.NXT - SND.UNA after this ACK.
    pub(crate) flight: u32,
    /// A duplicate ACK (RFC 5681 §2).
    pub(crate) duplicate: bool,
    /// More was found lost at this ACK.
    pub(crate) more_lost: bool,
}

/// Enum dispatch, and it clones flat.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Recovery {
    /// Tahoe: no recovery at all, slow start from one segment.
    None,
    Inflation(Inflation),
    /// RFC 6675: cwnd is ssthresh from the first to the last ACK.
    Pipe,
    Prr(Prr),
    Halving(Halving),
}

impl Recovery {
    /// Without SACK there is no pipe to count, and RFC 6582 says what to do then.
    pub(crate) fn new(rule: RecoveryRule, sack: bool) -> Recovery {
        match rule {
            RecoveryRule::None => Recovery::None,
            RecoveryRule::Reno => Recovery::Inflation(Inflation::reno()),
            RecoveryRule::NewReno { impatient } => Recovery::Inflation(Inflation::newreno(impatient)),
            RecoveryRule::Pipe if sack => Recovery::Pipe,
            RecoveryRule::Pipe => Recovery::Inflation(Inflation::newreno(true)),
            RecoveryRule::Prr => Recovery::Prr(Prr::default()),
            RecoveryRule::RateHalving => Recovery::Halving(Halving::default()),
            // The sender deals with its ACKs itself (`sender/ns320.rs`).
            RecoveryRule::Ns320 { .. } => Recovery::None,
        }
    }

    /// Counts cwnd against pipe rather than FlightSize, and resends what was found lost rather than the oldest.
    #[inline]
    pub(crate) fn uses_pipe(&self) -> bool {
        matches!(self, Recovery::Pipe | Recovery::Prr(_) | Recovery::Halving(_))
    }

    /// The first ACK that advances ends it, whatever is missing (RFC 5681 §3.2 (6)).
    pub(crate) fn ends_at_any_advance(&self) -> bool {
        matches!(self, Recovery::Inflation(i) if !i.is_newreno())
    }

    /// Does a partial ACK restart the timer, `first` telling whether it is the first one (RFC 6582 §4)?
    pub(crate) fn partial_ack_restarts_timer(&self, first: bool) -> bool {
        match self {
            Recovery::Inflation(i) => first || !i.is_impatient(),
            _ => true,
        }
    }

    /// `w.ssthresh` is the new one; `f.flight` and `f.pipe` are as the loss was found.
    pub(crate) fn enter(&mut self, w: &mut Window, dupthresh: u32, f: &Facts) {
        match self {
            Recovery::None => {}
            Recovery::Inflation(i) => i.enter(w, dupthresh),
            // RFC 6675 §5 (4.2).
            Recovery::Pipe => w.cwnd = w.ssthresh,
            Recovery::Prr(prr) => prr.enter(w, f),
            Recovery::Halving(h) => h.enter(w, f),
        }
        w.cwnd = w.cwnd.max(w.smss);
    }

    /// An ACK below the recovery point.
    pub(crate) fn on_ack(&mut self, w: &mut Window, f: &Facts) {
        match self {
            Recovery::None | Recovery::Pipe => {}
            Recovery::Inflation(i) => i.on_ack(w, f),
            Recovery::Prr(prr) => prr.on_ack(w, f),
            Recovery::Halving(h) => h.on_ack(w, f),
        }
        w.cwnd = w.cwnd.max(w.smss);
    }

    /// Bytes left, new or again.
    #[inline]
    pub(crate) fn sent(&mut self, bytes: u32) {
        if let Recovery::Prr(prr) = self {
            prr.sent(bytes);
        }
    }

    /// The recovery point is acknowledged.
    pub(crate) fn exit(&mut self, w: &mut Window, f: &Facts) {
        match self {
            Recovery::None => {}
            Recovery::Inflation(i) => i.exit(w, f),
            Recovery::Pipe | Recovery::Prr(_) => w.cwnd = w.ssthresh,
            Recovery::Halving(_) => w.cwnd = w.cwnd.min(w.ssthresh),
        }
        w.cwnd = w.cwnd.max(w.smss);
    }
}
