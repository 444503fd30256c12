//! How sure a claim is: one function of the claim, the vantage point and named evidence.
//!
//! *Known* is never wrong, *likely* is wrong now and then, *open* is a guess or nothing. `validation/ends.py` counts how
//! often each was wrong, by claim, vantage point and evidence: the rules below rest on its counts.

use crate::closed_sets;
use crate::rows::{IdleCause, Trigger, Vantage};

closed_sets! {
    /// In order: what rests on several claims is as sure as the least sure of them.
    #[derive(Default, PartialOrd, Ord)]
    "certainty" Certainty {
        Known = "known", "known";
        Likely = "likely", "likely";
        #[default]
        Open = "open", "open";
    }

    /// A fact that a claim rests on.
    "grounds" Evidence {
        BothCaptures = "both-captures", "both ends show what became of each packet";
        SeenLeaving = "seen-leaving", "seen where the data is sent";
        SeenArriving = "seen-arriving", "seen where the data arrives";
        /// What `rexmit record` kept of the sender's own socket; the analysis of packets never has it.
        KernelTold = "kernel", "the sender's kernel says so";
        /// A sender's timer waits longer: 200 ms at least, and a round trip.
        NoTimerSoSoon = "no-timer-so-soon", "too soon for a retransmission timer";
        /// From the loss to the repair, or to the end of the repair, too short for any timer.
        AllTooSoon = "all-too-soon", "repaired before a retransmission timer could fire";
        /// The timer begins anew with each ACK that moves (RFC 6298 §5.3).
        TimerYoung = "timer-young", "an ACK had restarted the retransmission timer too short before";
        NoProbeSoSoon = "no-probe-so-soon", "too soon for a tail-loss probe";
        RoundTripLater = "round-trip-later", "the repair came a round trip after the loss";
        TimerSilence = "timer-silence", "a silence as long as a retransmission timeout";
        /// Longer than a timer that did not back off.
        LongSilence = "long-silence", "a silence as long as several timeouts";
        BackedOff = "backed-off", "each silence is about twice the one before";
        TimerFits = "timer-fits", "the reconstructed RTO fits";
        TimerMisfits = "timer-misfits", "the reconstructed RTO does not fit";
        /// More in flight than three segments, so that duplicate ACKs could have come.
        InFlight = "in-flight", "data was in flight";
        NothingInFlight = "nothing-in-flight", "nothing was in flight";
        SackAgreed = "sack", "SACK shows what arrived";
        NoSack = "no-sack", "there is no SACK";
        ProbesSeen = "probes-seen", "this sender also sends tail-loss probes";
        NoProbes = "no-probes", "this sender sends no tail-loss probes";
        /// Packets missing from the capture, options cut off, or one direction only.
        CaptureLacks = "capture-lacks-packets", "the capture is missing packets";
        SuperPackets = "super-packets", "offload merged segments in the capture";
        NoHandshake = "no-handshake", "the capture starts after the handshake";
        PlaceUnknown = "place-unknown", "the capture does not show where it was taken";
        Disorder = "disorder", "packets were reordered";
        Lone = "lone", "only one segment was lost";
        Run = "run", "many packets in a row were lost";
        AcksLost = "acks-lost", "ACKs were lost at the same time";
        AcksUnheard = "acks-unheard", "the sender behaved as if no ACKs reached it";
        AcksLostSingly = "acks-lost-singly", "single ACKs were lost at other times";
        /// Long after: whether the path was away all the while does not show.
        RepairsLost = "repairs-lost", "repairs sent much later were lost as well";
        StillSending = "still-sending", "the sender kept sending meanwhile";
        WindowClosed = "window-closed", "the receiver advertised a zero window";
        InRepair = "in-repair", "this was during a repair";
        Resent = "resent", "the next packet was a retransmission";
        QueueFull = "queue-full", "the RTT was at its peak";
        RoundTripFlat = "round-trip-flat", "the RTT was flat before";
        RoundTrips = "round-trips", "the RTT was measured throughout";
        Beat = "beat", "they come at regular intervals";
        Unfinished = "unfinished", "it was not over at the end";
        /// From one size on all copies vanished, repairs too, and smaller ones sent in between did not.
        SizesApart = "sizes-apart", "none of the large packets came through, repairs included, and smaller ones between them did";
    }
}

/// What is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Data was lost, or was sent again although it had arrived.
    Repair,
    /// What set a repair off.
    Trigger(Trigger),
    /// How often the timer fired (where data arrives: as far as what it sent arrived).
    Timeouts,
    /// Why nothing was sent.
    Idle(IdleCause),
    /// Nothing came through for a while, within the stated bounds.
    Outage,
    /// What is larger than the path takes vanished.
    TooLarge,
    /// A window that was never exceeded.
    Ceiling,
    /// How long packets waited in a queue.
    Queue,
    /// Slow start sent more than the bottleneck's queue had room for.
    Overshoot,
    /// The losses held the rate down, though none cost much time by itself.
    SmallWindow,
    /// What the packets say of themselves: a reset, a SYN, an order.
    Seen,
    /// Nothing went wrong.
    Nothing,
}

/// A set of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grounds(u64);

impl Grounds {
    #[must_use]
    pub fn with(self, e: Evidence) -> Grounds {
        Grounds(self.0 | 1 << e as u32)
    }
    #[must_use]
    pub fn with_if(self, holds: bool, e: Evidence) -> Grounds {
        if holds { self.with(e) } else { self }
    }
    #[must_use]
    pub fn and(self, other: Grounds) -> Grounds {
        Grounds(self.0 | other.0)
    }
    pub fn has(self, e: Evidence) -> bool {
        self.0 & 1 << e as u32 != 0
    }
    pub fn iter(self) -> impl Iterator<Item = Evidence> + Clone {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let first = Evidence::ALL.get(left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(*first)
        })
    }
    /// Does any of these hold?
    fn any(self, of: &[Evidence]) -> bool {
        of.iter().any(|e| self.has(*e))
    }
}

use Certainty::{Known, Likely, Open};
use Evidence::*;

/// How sure `claim` is.
pub fn certainty(claim: Claim, at: Vantage, grounds: Grounds) -> Certainty {
    // Whoever did it says why, whatever the capture lacks.
    if grounds.has(KernelTold) && matches!(claim, Claim::Trigger(_) | Claim::Timeouts | Claim::Idle(_)) {
        return Known;
    }
    let sure = match at {
        Vantage::Both | Vantage::Sender => where_it_leaves(claim, at, grounds),
        Vantage::Receiver | Vantage::Middle => where_it_arrives(claim, grounds),
        Vantage::Unknown => where_it_arrives(claim, grounds).max(Likely),
    };
    // What is not in the capture may have been anything.
    if grounds.has(CaptureLacks) && claim != Claim::Seen { sure.max(Likely) } else { sure }
}

fn where_it_leaves(claim: Claim, at: Vantage, g: Grounds) -> Certainty {
    let both = at == Vantage::Both;
    match claim {
        Claim::Seen | Claim::Repair => Known,
        Claim::Trigger(t) => trigger_seen(t, g),
        Claim::Timeouts => timeouts_seen(g),
        Claim::Idle(cause) => idle_seen(cause, g),
        // A burst of losses takes data alone, and packets that others overtook are late, not lost.
        Claim::Outage if both && vanished(g) && !g.any(&[Disorder, RepairsLost]) => Known,
        // A single lost ACK does the same.
        Claim::Outage if g.has(AcksUnheard) && g.any(&[Lone, AcksLostSingly]) => Open,
        Claim::Outage => Likely,
        Claim::TooLarge | Claim::Ceiling | Claim::Overshoot | Claim::SmallWindow => Likely,
        Claim::Queue if g.has(RoundTrips) => Known,
        Claim::Queue => Likely,
        Claim::Nothing => Known,
    }
}

/// Data and ACKs together, while both were sent.
fn vanished(g: Grounds) -> bool {
    g.has(AcksLost) && g.has(Run) && g.has(StillSending)
}

fn trigger_seen(t: Trigger, g: Grounds) -> Certainty {
    let perhaps_a_timer = !g.has(AllTooSoon) && !no_timer(g);
    match t {
        Trigger::Unrepaired => Known,
        // A timer may fire just as an ACK comes, which the rebuilt one would show.
        Trigger::Ack if g.has(NoProbeSoSoon) && !perhaps_a_timer => Known,
        Trigger::Ack if g.has(NoProbeSoSoon) && g.has(TimerYoung) && g.has(RoundTripLater) => Known,
        // Without SACK nobody probes (RFC 8985 §7.1).
        Trigger::Ack if g.has(NoSack) && g.has(NoTimerSoSoon) => Known,
        Trigger::Ack => Likely,
        // A probe repeats the last segment, after two round trips and what a receiver may delay its ACK (RFC 8985 §7.2): of a
        // single one that is a timeout's silence.
        Trigger::TimerRto if g.has(TimerSilence) && !g.has(ProbesSeen) && no_probe(g) => Known,
        Trigger::TimerRto | Trigger::TimerProbe => Likely,
    }
}

fn no_probe(g: Grounds) -> bool {
    !g.has(Lone) || g.any(&[NoSack, NoProbes, LongSilence])
}

/// No timer fired amid what was sent: one that was rebuilt shows when it would have. A silence alone does not tell, since
/// a timer may run since long before it.
fn no_timer(g: Grounds) -> bool {
    g.has(NoTimerSoSoon) && g.has(TimerFits)
}

fn timeouts_seen(g: Grounds) -> Certainty {
    match () {
        () if g.has(AllTooSoon) => Known,
        () if no_timer(g) => Known,
        // The first of two silences may have been a probe's.
        () if g.has(BackedOff) && g.any(&[NoSack, NoProbes]) => Known,
        () => Likely,
    }
}

fn idle_seen(cause: IdleCause, g: Grounds) -> Certainty {
    match cause {
        IdleCause::Unknown => Open,
        IdleCause::Handshake => Known,
        IdleCause::ZeroWindow if g.has(WindowClosed) => Known,
        IdleCause::TimeoutBackoff => Known,
        // For a timer or a probe: what came next had been sent before, and nothing had come.
        IdleCause::Timeout if g.has(TimerSilence) && g.has(Resent) && !g.has(SuperPackets) => Known,
        IdleCause::Application if g.has(NothingInFlight) && !g.has(InRepair) => Known,
        _ => Likely,
    }
}

/// The sender had a round trip to hear of the hole, and was never silent for as long as a probe or a timer waits.
fn repaired_by_ack(g: Grounds) -> bool {
    let no_timer = g.any(&[AllTooSoon, NoSack, TimerYoung]);
    g.has(RoundTripLater) && g.has(NoProbeSoSoon) && g.has(NoTimerSoSoon) && no_timer
}

fn where_it_arrives(claim: Claim, g: Grounds) -> Certainty {
    match claim {
        Claim::Seen => Known,
        Claim::Repair => Likely,
        Claim::Trigger(Trigger::Unrepaired) => Likely,
        // Sooner than a round trip after the hole was seen, it may be what was overtaken.
        Claim::Trigger(Trigger::Ack) if repaired_by_ack(g) && !g.has(Disorder) => Known,
        Claim::Trigger(Trigger::Ack) if g.has(NoTimerSoSoon) => Likely,
        Claim::Trigger(Trigger::TimerRto) if g.has(TimerSilence) => Likely,
        Claim::Trigger(_) => Open,
        // Whose single repeats are not an ACK's may have a timer that runs since long before.
        Claim::Timeouts if g.has(AllTooSoon) && !g.has(ProbesSeen) => Known,
        Claim::Timeouts if g.any(&[AllTooSoon, NoTimerSoSoon, TimerSilence, BackedOff]) => Likely,
        Claim::Timeouts => Open,
        Claim::Idle(cause) => match cause {
            IdleCause::Handshake => Known,
            IdleCause::ZeroWindow if g.has(WindowClosed) => Known,
            IdleCause::Timeout | IdleCause::TimeoutBackoff if g.has(TimerSilence) => Likely,
            IdleCause::ZeroWindow | IdleCause::ReceiveWindow | IdleCause::Peer => Likely,
            IdleCause::Application if g.has(NothingInFlight) => Likely,
            IdleCause::AckClock if g.has(InFlight) => Likely,
            _ => Open,
        },
        // One lost segment or one lost ACK that a timer had to ask for is no outage yet.
        Claim::Outage if g.has(TimerSilence) && !g.any(&[Lone, AcksUnheard]) => Likely,
        Claim::Outage => Open,
        Claim::TooLarge | Claim::Ceiling => Likely,
        Claim::Queue | Claim::Overshoot | Claim::SmallWindow => Open,
        Claim::Nothing => Likely,
    }
}

#[cfg(test)]
mod tests;
