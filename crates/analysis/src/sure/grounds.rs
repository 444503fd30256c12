//! What rows say in evidence of a claim about them.

use super::certainty::{Certainty, Claim, Evidence, Grounds, certainty};
use crate::assumptions::MIN_RTO;
use crate::flow_facts::{arriving, round_trip};
use crate::rows::{BurstRow, EpisodeKind, EpisodeRow, FlowRow, IdleCause, IdleRow, Trigger, Vantage};
use wire::Span;

/// A capture's clock and a sender's ticks blur a timer by so much.
const BLUR: Span = Span::from_millis(20);
/// Rebuilt timers that were off by more explain nothing.
const FITS: f64 = 0.2;

/// A claim with how sure it is and on what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sure {
    pub certainty: Certainty,
    pub grounds: Grounds,
}

impl Sure {
    pub fn of(claim: Claim, flow: &FlowRow, grounds: Grounds) -> Sure {
        let grounds = grounds.and(about(flow));
        Sure { certainty: certainty(claim, flow.vantage, grounds), grounds }
    }
    /// Of both together.
    #[must_use]
    pub fn and(self, other: Sure) -> Sure {
        Sure { certainty: self.certainty.max(other.certainty), grounds: self.grounds.and(other.grounds) }
    }
}

/// What limits or supports every claim about a flow.
fn about(flow: &FlowRow) -> Grounds {
    let l = &flow.limits;
    let place = match flow.vantage {
        Vantage::Both => Evidence::BothCaptures,
        Vantage::Sender => Evidence::SeenLeaving,
        Vantage::Receiver | Vantage::Middle => Evidence::SeenArriving,
        Vantage::Unknown => Evidence::PlaceUnknown,
    };
    Grounds::default()
        .with(place)
        .with_if(l.missing_bytes > 0 || l.one_way || l.options_cut > 0, Evidence::CaptureLacks)
        .with_if(l.mid_stream, Evidence::NoHandshake)
        .with_if(l.super_packets > 0, Evidence::SuperPackets)
        .with_if(l.reordered * 1000 > flow.packets, Evidence::Disorder)
}

/// The shortest time after which an RTO can have fired: the larger of the minimum RTO and the smallest round trip,
/// less the error of measuring it.
fn timer(flow: &FlowRow) -> Span {
    let round_trip = round_trip(flow).map_or(Span::ZERO, |r| Span::from_secs_f64(r.min));
    MIN_RTO.max(round_trip) - BLUR
}

/// The shortest time after which a tail-loss probe can have been sent. RFC 8985 §7.2 waits for two smoothed round
/// trips; the smallest round trip is a safe lower bound.
fn probe(flow: &FlowRow) -> Span {
    round_trip(flow).map_or(Span::ZERO, |r| Span::from_secs_f64(r.min))
}

/// What a silence before a repair says of the timer.
fn of_silence(flow: &FlowRow, silence: Option<Span>, backoff: u32) -> Grounds {
    let Some(silence) = silence else { return Grounds::default() };
    let timer = timer(flow);
    let t = &flow.timers;
    Grounds::default()
        .with_if(silence < timer, Evidence::NoTimerSoSoon)
        .with_if(silence >= timer, Evidence::TimerSilence)
        .with_if(silence >= timer * 3 && backoff == 0, Evidence::LongSilence)
        .with_if(backoff > 0, Evidence::BackedOff)
        .with_if(t.compared > 0 && t.error.is_some_and(|e| e <= FITS), Evidence::TimerFits)
        .with_if(t.compared > 0 && t.error.is_some_and(|e| e > FITS), Evidence::TimerMisfits)
        .with_if(flow.inference.tail_loss_probes.is_some_and(|p| p.0), Evidence::ProbesSeen)
        .with_if(flow.inference.tail_loss_probes.is_some_and(|p| !p.0), Evidence::NoProbes)
        .with_if(flow.sack_permitted == Some(true), Evidence::SackAgreed)
        .with_if(flow.sack_permitted == Some(false), Evidence::NoSack)
}

/// Had an ACK restarted the timer so short before the repair that it cannot have fired (RFC 6298 §5.3)? Some count from
/// the segment's own transmission instead (Linux while a probe is due: tcp_rearm_rto), for a round trip and 200 ms.
fn young(flow: &FlowRow, b: &BurstRow) -> bool {
    let usual = || round_trip(flow).map_or(Span::ZERO, |r| Span::from_secs_f64(r.mean));
    let met = b.rtt_before.filter(|_| !arriving(flow)).unwrap_or_else(usual);
    let soon = b.first_repair.is_some_and(|r| r - b.start < met + MIN_RTO - BLUR);
    // A sender that has not been seen to send tail-loss probes counts its RTO from the last ACK.
    let from_acks = !arriving(flow) && !flow.inference.tail_loss_probes.is_some_and(|p| p.0);
    (soon || from_acks) && Span::from_micros(b.timer_ran_us.into()) < timer(flow).max(behind_a_queue(flow, b))
}

/// Behind a queue a timer waits for the round trip of the last packets, and for more than their variance.
fn behind_a_queue(flow: &FlowRow, b: &BurstRow) -> Span {
    b.rtt_before.filter(|_| !arriving(flow)).map_or(Span::ZERO, |r| r + MIN_RTO / 2 - BLUR)
}

/// What set the repair of a burst off.
pub fn of_burst(flow: &FlowRow, b: &BurstRow) -> Sure {
    let copies = b.lost();
    let age = b.first_repair.map(|r| r - b.start);
    // A tenth for how exactly a round trip is known; where data arrives, within it a hole that IP identifications alone
    // show may be filled by what had never been sent.
    let leeway = |a: Span| if arriving(flow) { Span::ZERO } else { a / 10 };
    let grounds = of_silence(flow, b.silence, 0)
        .with_if(age.is_some_and(|a| a < timer(flow).max(behind_a_queue(flow, b))), Evidence::AllTooSoon)
        .with_if(b.silence.is_some_and(|s| s < probe(flow)), Evidence::NoProbeSoSoon)
        .with_if(age.is_some_and(|a| a + leeway(a) >= probe(flow)), Evidence::RoundTripLater)
        .with_if(young(flow, b), Evidence::TimerYoung)
        .with_if(copies == 1, Evidence::Lone)
        .with_if(b.lost_acks.is_some_and(|n| n > 0), Evidence::AcksLost)
        .with_if(b.told, Evidence::KernelTold);
    Sure::of(Claim::Trigger(b.trigger), flow, grounds)
}

/// How an episode went: how often the timer fired, and where one did, whether it set the repair off.
pub fn of_episode(flow: &FlowRow, e: &EpisodeRow) -> Sure {
    let three = 3 * u64::from(flow.mss.max(536));
    // Where data arrives, what was sent before a needless repair does not show: its timer ran before that.
    let began = !(arriving(flow) && e.kind == EpisodeKind::Needless);
    let took = e.end.filter(|_| began).map(|end| end - e.start);
    let grounds = of_silence(flow, e.silence, e.max_backoff)
        .with_if(took.is_some_and(|t| t < timer(flow)), Evidence::AllTooSoon)
        .with_if(e.silence.is_some_and(|s| s < probe(flow)), Evidence::NoProbeSoSoon)
        .with_if(e.lost() == 1, Evidence::Lone)
        .with_if(e.flight_bytes > three && !arriving(flow), Evidence::InFlight)
        .with_if(e.lost_acks.is_some_and(|n| n > 0), Evidence::AcksLost)
        .with_if(e.end.is_none(), Evidence::Unfinished)
        .with_if(e.told, Evidence::KernelTold);
    let trigger = match e.kind {
        EpisodeKind::Ack => Claim::Trigger(Trigger::Ack),
        EpisodeKind::TimerRto => Claim::Trigger(Trigger::TimerRto),
        EpisodeKind::TimerProbe => Claim::Trigger(Trigger::TimerProbe),
        EpisodeKind::Intermittent => Claim::Timeouts,
        EpisodeKind::Needless => Claim::Repair,
        EpisodeKind::Unrepaired => Claim::Trigger(Trigger::Unrepaired),
    };
    let timeouts = Sure::of(Claim::Timeouts, flow, grounds);
    // Without a timer it is enough that none fired.
    let without = e.timeouts == 0 && matches!(e.kind, EpisodeKind::Ack | EpisodeKind::Needless);
    if without { timeouts } else { Sure::of(trigger, flow, grounds).and(timeouts) }
}

/// Why nothing was sent.
pub fn of_idle(flow: &FlowRow, i: &IdleRow) -> Sure {
    let by_timer = i.cause.by_timer();
    let silence = by_timer.then_some(i.end - i.start);
    let grounds = of_silence(flow, silence, u32::from(i.cause == IdleCause::TimeoutBackoff))
        .with_if(i.flight_bytes > 0, Evidence::InFlight)
        .with_if(i.flight_bytes == 0, Evidence::NothingInFlight)
        .with_if(flow.zero_windows > 0, Evidence::WindowClosed)
        .with_if(by_timer, Evidence::Resent)
        .with_if(i.told, Evidence::KernelTold);
    Sure::of(Claim::Idle(i.cause), flow, grounds)
}
