//! How much may be sent while losses are repaired?
//!
//! Each rule is one page that moves cwnd from the entry of recovery to its end. Two families: inflation counts
//! cwnd against FlightSize and resends the oldest segment only; pipe counts it against what is believed to be in
//! the network and resends whatever `detect` found lost.

mod halving;
mod inflation;
mod ns320;
mod prr;

use crate::congestion::Window;
use crate::own::{OwnRecovery, OwnRules};
use crate::stack::{self, RecoveryRule};
use halving::Halving;
use inflation::Inflation;
use ns320::Ns320;
use prr::Prr;

/// What an ACK in recovery told. Bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts {
    /// Newly acknowledged cumulatively.
    pub acked: u32,
    /// Newly acknowledged, cumulatively or by SACK (DeliveredData of RFC 9937).
    pub delivered: u32,
    /// Believed to be in the network, after this ACK.
    pub pipe: u32,
    /// SND.NXT - SND.UNA after this ACK.
    pub flight: u32,
    /// A duplicate ACK (RFC 5681 §2).
    pub duplicate: bool,
    /// More was found lost at this ACK; a repair among it.
    pub more_lost: bool,
    pub repair_lost: bool,
    /// It acknowledged a repair cumulatively.
    pub repair_acked: bool,
}

/// How a recovery begins and ends, and what is remembered of it: facts that the sender looks up, not rules that it
/// knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Habits {
    /// No recovery: a fast retransmit is followed by slow start from one segment.
    pub slow_start: bool,
    /// The first ACK that advances ends it, whatever is missing (RFC 5681 §3.2 (6)).
    pub ends_at_any_advance: bool,
    /// A loss leaves a part of cwnd; RFC 5681 (4) has FlightSize.
    pub reduces_cwnd: bool,
    /// Duplicates that may come of an earlier repair begin none (RFC 6582 §3.2 (2), RFC 6675 §5), and the timeouts
    /// of one segment halve once (RFC 5681 §3.1). Without, each time DupThresh duplicates have come since SND.UNA
    /// moved there is a repair, also while going back, and a timeout does not count them anew.
    pub remembers_repairs: bool,
    /// The ACK or duplicate that begins recovery sends the oldest segment and nothing else, whatever cwnd allows.
    pub enters_with_one_segment: bool,
    /// A fast retransmit that slow start follows starts the timer anew.
    pub fast_retransmit_restarts_timer: bool,
    /// The window grows by the ACK that ends recovery, too.
    pub last_ack_grows: bool,
}

impl Habits {
    pub const RFC: Habits = Habits {
        slow_start: false,
        ends_at_any_advance: false,
        reduces_cwnd: false,
        remembers_repairs: true,
        enters_with_one_segment: false,
        fast_retransmit_restarts_timer: true,
        last_ack_grows: false,
    };
}

/// Enum dispatch, and it clones flat but for a rule of somebody's own.
#[derive(Clone, Debug)]
pub(crate) enum Recovery {
    /// Tahoe: no recovery at all, slow start from one segment.
    None,
    Inflation(Inflation),
    /// RFC 6675: cwnd is ssthresh from the first to the last ACK.
    Pipe,
    Prr(Prr),
    Halving(Halving),
    Ns320(Ns320),
    /// The window rule keeps cwnd while repairing, too ([`crate::congestion::Congestion::drives`]).
    Driven,
    /// Two of them, so that which of the two it is needs no asking.
    Own(Box<dyn OwnRecovery>),
    OwnPipe(Box<dyn OwnRecovery>),
}

impl Recovery {
    /// Without SACK there is no pipe to count, and RFC 6582 says what to do then.
    pub(crate) fn new(spec: &stack::Recovery, own: &OwnRules, sack: bool) -> Recovery {
        match spec.rule {
            RecoveryRule::Own => match own.repair() {
                Some(rule) if rule.uses_pipe() => Recovery::OwnPipe(rule),
                Some(rule) => Recovery::Own(rule),
                None => Recovery::None,
            },
            RecoveryRule::None => Recovery::None,
            RecoveryRule::Reno => Recovery::Inflation(Inflation::reno()),
            RecoveryRule::NewReno { impatient } => Recovery::Inflation(Inflation::newreno(impatient)),
            RecoveryRule::Pipe if sack => Recovery::Pipe,
            RecoveryRule::Pipe => Recovery::Inflation(Inflation::newreno(true)),
            RecoveryRule::Prr { of } => Recovery::Prr(Prr::new(of, spec.bound)),
            RecoveryRule::RateHalving => Recovery::Halving(Halving::default()),
            RecoveryRule::Ns320 { variant } => Recovery::Ns320(Ns320::new(variant)),
        }
    }

    /// Counts cwnd against pipe rather than FlightSize, and resends what was found lost rather than the oldest.
    #[inline]
    pub(crate) fn uses_pipe(&self) -> bool {
        matches!(
            self,
            Recovery::Pipe
                | Recovery::Prr(_)
                | Recovery::Halving(_)
                | Recovery::Driven
                | Recovery::OwnPipe(_)
        )
    }

    /// What the rule wants of the sender around it.
    pub(crate) fn habits(rule: RecoveryRule, own: &OwnRules) -> Habits {
        match rule {
            RecoveryRule::Own => own.habits(),
            RecoveryRule::None => Habits { slow_start: true, ..Habits::RFC },
            RecoveryRule::Reno => Habits { ends_at_any_advance: true, ..Habits::RFC },
            RecoveryRule::Ns320 { variant } => ns320::habits(variant),
            _ => Habits::RFC,
        }
    }

    /// Once after an ACK at which cwnd changed twice, where the rule tells: its value in between, bytes.
    pub(crate) fn take_step(&mut self) -> Option<u32> {
        match self {
            Recovery::Ns320(n) => n.take_step(),
            _ => None,
        }
    }

    /// Does a partial ACK restart the timer, `first` telling whether it is the first one (RFC 6582 §4)?
    pub(crate) fn partial_ack_restarts_timer(&self, first: bool) -> bool {
        match self {
            Recovery::Inflation(i) => first || !i.is_impatient(),
            Recovery::Own(rule) | Recovery::OwnPipe(rule) => rule.partial_ack_restarts_timer(first),
            _ => true,
        }
    }

    /// `w.ssthresh` is the new one; `f.flight` and `f.pipe` are as the loss was found.
    pub(crate) fn enter(&mut self, w: &mut Window, dupthresh: u32, f: &Facts) {
        match self {
            Recovery::None | Recovery::Driven => {}
            Recovery::Inflation(i) => i.enter(w, dupthresh),
            // RFC 6675 §5 (4.2).
            Recovery::Pipe => w.cwnd = w.ssthresh,
            Recovery::Prr(prr) => prr.enter(w, f),
            Recovery::Halving(h) => h.enter(w, f),
            Recovery::Ns320(n) => n.enter(w, dupthresh),
            Recovery::Own(rule) | Recovery::OwnPipe(rule) => rule.enter(w, dupthresh, f),
        }
        w.cwnd = w.cwnd.max(w.smss);
    }

    /// An ACK below the recovery point.
    pub(crate) fn on_ack(&mut self, w: &mut Window, f: &Facts) {
        match self {
            Recovery::None | Recovery::Pipe | Recovery::Driven => {}
            Recovery::Inflation(i) => i.on_ack(w, f),
            Recovery::Prr(prr) => prr.on_ack(w, f),
            Recovery::Halving(h) => h.on_ack(w, f),
            Recovery::Ns320(n) => n.on_ack(w, f),
            Recovery::Own(rule) | Recovery::OwnPipe(rule) => rule.on_ack(w, f),
        }
        w.cwnd = w.cwnd.max(w.smss);
    }

    /// Bytes left, new or again.
    #[inline]
    pub(crate) fn sent(&mut self, bytes: u32) {
        match self {
            Recovery::Prr(prr) => prr.sent(bytes),
            Recovery::Own(_) | Recovery::OwnPipe(_) => self.own_sent(bytes),
            _ => {}
        }
    }

    /// Apart, as every segment that leaves comes by.
    #[cold]
    #[inline(never)]
    fn own_sent(&mut self, bytes: u32) {
        if let Recovery::Own(rule) | Recovery::OwnPipe(rule) = self {
            rule.sent(bytes);
        }
    }

    /// The recovery point is acknowledged.
    pub(crate) fn exit(&mut self, w: &mut Window, f: &Facts) {
        match self {
            Recovery::None | Recovery::Driven => {}
            Recovery::Inflation(i) => i.exit(w, f),
            Recovery::Ns320(n) => n.exit(w, f),
            Recovery::Own(rule) | Recovery::OwnPipe(rule) => rule.exit(w, f),
            Recovery::Pipe | Recovery::Prr(_) => w.cwnd = w.ssthresh,
            Recovery::Halving(_) => w.cwnd = w.cwnd.min(w.ssthresh),
        }
        w.cwnd = w.cwnd.max(w.smss);
    }
}
