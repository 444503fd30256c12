//! The truth table: claim, vantage point, evidence, and how sure that makes it.

use Certainty::{Known, Likely, Open};
use Evidence::*;
use Vantage::{Both, Middle, Receiver, Sender, Unknown};
use analysis::idle_cause::IdleCause;
use analysis::rows::{Trigger, Vantage};
use analysis::sure::certainty::{Certainty, Claim, Evidence, Grounds, certainty};

fn grounds(of: &[Evidence]) -> Grounds {
    of.iter().fold(Grounds::default(), |g, e| g.with(*e))
}

#[test]
fn every_claim_is_as_sure_as_the_table_says() {
    let ack = Claim::Trigger(Trigger::Ack);
    let timer = Claim::Trigger(Trigger::TimerRto);
    let idle = Claim::Idle;
    type Row = (Claim, Vantage, &'static [Evidence], Certainty);
    let table: &[Row] = &[
        (ack, Sender, &[NoTimerSoSoon, NoProbeSoSoon, TimerFits], Known),
        // Windows 7 fires 300 ms after the first copy, amid the fast retransmission of it.
        (ack, Sender, &[NoTimerSoSoon, NoProbeSoSoon], Likely),
        (ack, Sender, &[NoTimerSoSoon, NoProbeSoSoon, TimerMisfits], Likely),
        (ack, Sender, &[NoTimerSoSoon, NoProbeSoSoon, TimerMisfits, AllTooSoon], Known),
        (ack, Sender, &[NoTimerSoSoon, NoProbeSoSoon, TimerYoung], Likely),
        (ack, Sender, &[NoTimerSoSoon, NoProbeSoSoon, TimerYoung, RoundTripLater], Known),
        (ack, Sender, &[TimerSilence, TimerYoung, RoundTripLater], Likely),
        (ack, Sender, &[NoTimerSoSoon], Likely),
        (ack, Sender, &[NoTimerSoSoon, NoSack], Known),
        (ack, Sender, &[TimerSilence], Likely),
        (ack, Receiver, &[NoTimerSoSoon], Likely),
        (ack, Receiver, &[NoTimerSoSoon, NoProbeSoSoon], Likely),
        (ack, Receiver, &[AllTooSoon, NoProbeSoSoon], Open),
        (ack, Receiver, &[AllTooSoon, NoProbeSoSoon, NoTimerSoSoon], Likely),
        (ack, Receiver, &[NoTimerSoSoon, NoProbeSoSoon, RoundTripLater], Likely),
        (ack, Receiver, &[NoTimerSoSoon, NoProbeSoSoon, RoundTripLater, AllTooSoon], Known),
        (ack, Receiver, &[NoTimerSoSoon, NoProbeSoSoon, RoundTripLater, TimerYoung], Known),
        (ack, Receiver, &[NoTimerSoSoon, NoProbeSoSoon, TimerYoung], Likely),
        (ack, Receiver, &[NoTimerSoSoon, NoProbeSoSoon, RoundTripLater, NoSack], Known),
        (ack, Receiver, &[AllTooSoon, NoProbeSoSoon, NoTimerSoSoon, RoundTripLater, Disorder], Likely),
        (Claim::Outage, Receiver, &[TimerSilence, Run], Likely),
        (Claim::Outage, Receiver, &[TimerSilence, Lone], Open),
        (Claim::Outage, Receiver, &[TimerSilence, AcksUnheard], Open),
        (Claim::Timeouts, Sender, &[AllTooSoon], Known),
        (Claim::Timeouts, Sender, &[NoTimerSoSoon, TimerFits], Known),
        (Claim::Timeouts, Sender, &[NoTimerSoSoon], Likely),
        (Claim::Timeouts, Sender, &[NoTimerSoSoon, TimerMisfits], Likely),
        (Claim::Timeouts, Sender, &[TimerSilence, BackedOff], Likely),
        (Claim::Timeouts, Sender, &[TimerSilence, BackedOff, NoProbes], Known),
        (Claim::Timeouts, Sender, &[TimerSilence, BackedOff, NoSack], Known),
        (Claim::Timeouts, Receiver, &[AllTooSoon], Known),
        (Claim::Timeouts, Receiver, &[AllTooSoon, ProbesSeen], Likely),
        (timer, Sender, &[TimerSilence], Known),
        (timer, Sender, &[TimerSilence, ProbesSeen], Likely),
        (timer, Sender, &[TimerSilence, Lone], Likely),
        (timer, Sender, &[TimerSilence, Lone, NoProbes], Known),
        (timer, Sender, &[TimerSilence, Lone, NoSack], Known),
        (timer, Sender, &[TimerSilence, Lone, LongSilence], Known),
        (timer, Receiver, &[TimerSilence], Likely),
        (timer, Receiver, &[], Open),
        (idle(IdleCause::Application), Sender, &[NothingInFlight], Known),
        (idle(IdleCause::Application), Receiver, &[NothingInFlight], Likely),
        (idle(IdleCause::AckClock), Receiver, &[InFlight], Likely),
        (idle(IdleCause::AckClock), Receiver, &[], Open),
        (idle(IdleCause::Timeout), Sender, &[TimerSilence, Resent], Known),
        (idle(IdleCause::Timeout), Sender, &[TimerSilence, Resent, SuperPackets], Likely),
        (idle(IdleCause::Timeout), Receiver, &[TimerSilence, Resent], Likely),
        (idle(IdleCause::Unknown), Both, &[], Open),
        (idle(IdleCause::ZeroWindow), Receiver, &[WindowClosed], Known),
        (Claim::Outage, Both, &[], Likely),
        (Claim::Outage, Both, &[AcksLost], Likely),
        (Claim::Outage, Both, &[AcksLost, Run, StillSending], Known),
        (Claim::Outage, Both, &[AcksLost, Run, AcksUnheard], Likely),
        (Claim::Outage, Both, &[AcksLost, Run, StillSending, Disorder], Likely),
        (Claim::Outage, Both, &[AcksLost, Run, StillSending, RepairsLost], Likely),
        (Claim::Outage, Sender, &[], Likely),
        (Claim::Outage, Sender, &[AcksUnheard, Lone], Open),
        (Claim::Outage, Sender, &[AcksUnheard, AcksLostSingly], Open),
        (ack, Sender, &[KernelTold, CaptureLacks], Known),
        (Claim::Outage, Sender, &[KernelTold], Likely),
        (Claim::Queue, Receiver, &[RoundTrips], Open),
        (Claim::Seen, Unknown, &[], Likely),
        (Claim::Seen, Middle, &[], Known),
    ];
    for (claim, at, evidence, sure) in table {
        assert_eq!(certainty(*claim, *at, grounds(evidence)), *sure, "{claim:?} {at:?} {evidence:?}");
    }
}

#[test]
fn where_packets_are_missing_from_the_capture_nothing_but_what_they_say_is_known() {
    let lacks = grounds(&[CaptureLacks, NoTimerSoSoon, NothingInFlight, WindowClosed]);
    for at in [Both, Sender, Receiver, Middle] {
        let claims = [Claim::Repair, Claim::Trigger(Trigger::Ack), Claim::Timeouts, Claim::Nothing];
        for claim in claims.into_iter().chain([Claim::Idle(IdleCause::Application), Claim::Outage]) {
            assert_ne!(certainty(claim, at, lacks), Known, "{claim:?} {at:?}");
        }
        assert_eq!(certainty(Claim::Seen, at, lacks), Known);
    }
}

/// What arrives shows no more than what leaves and what arrives together.
#[test]
fn less_information_is_never_surer() {
    let claims =
        [Claim::Repair, Claim::Timeouts, Claim::Outage, Claim::Ceiling, Claim::Queue, Claim::Nothing];
    let triggers = [Trigger::Ack, Trigger::TimerRto, Trigger::TimerProbe, Trigger::Unrepaired];
    let causes = [IdleCause::Application, IdleCause::AckClock, IdleCause::Timeout, IdleCause::Unknown];
    let all = claims.into_iter().chain(triggers.map(Claim::Trigger)).chain(causes.map(Claim::Idle)).chain([
        Claim::Overshoot,
        Claim::SmallWindow,
        Claim::Seen,
    ]);
    for claim in all {
        for bits in 0..1u64 << 13 {
            let all = Evidence::ALL.iter().enumerate().skip(3);
            let g = all.fold(Grounds::default(), |g, (i, e)| g.with_if(bits << 3 >> i & 1 == 1, *e));
            let [both, sender, receiver] = [Both, Sender, Receiver].map(|at| certainty(claim, at, g));
            assert!(
                both <= sender && sender <= receiver,
                "{claim:?} {g:?}: {both:?} {sender:?} {receiver:?}"
            );
        }
    }
}

#[test]
fn evidence_has_names_of_its_own() {
    let mut names: Vec<&str> = Evidence::ALL.iter().map(|e| e.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Evidence::ALL.len());
    let all = grounds(Evidence::ALL);
    assert!(all.iter().eq(Evidence::ALL.iter().copied()));
}
