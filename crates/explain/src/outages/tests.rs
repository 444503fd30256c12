//! Outages as they show where data arrives. Times are those of transfers through a bridge that went dark.

use super::gone::Shown;
use super::*;
use analysis::rows::{Neighbours, Summary, Vantage};
use analysis::sure::certainty::Certainty;

fn at(s: f64) -> Time {
    Time(1_000_000_000_000) + Span::from_secs_f64(s)
}

/// 20 Mbps, 40 ms each way, seen where it arrives.
fn flow() -> FlowRow {
    FlowRow {
        vantage: Vantage::Receiver,
        mss: 1448,
        sack_permitted: Some(true),
        rtt_timestamps: Summary { n: 900, min: 0.081, mean: 0.095, stddev: 0.008, max: 0.107 },
        ..FlowRow::default()
    }
}

fn gap(start: f64, end: f64, cause: IdleCause) -> IdleRow {
    let (start, end) = (at(start), at(end));
    IdleRow { start, end, excess: end - start, cause, ..IdleRow::default() }
}

/// 281 segments are missing behind a silence from 3.7146 to 4.0079 s; the path was dark from 3.6748 to 3.8748 s.
fn hole(after: f64) -> BurstRow {
    BurstRow {
        start: at(4.0079),
        last: at(4.0079),
        lost_segments: 281,
        trigger: Trigger::Ack,
        first_repair: Some(at(4.0894)),
        silence: Some(Span::from_millis(81)),
        neighbours: Some(Box::new(Neighbours { before: at(3.7146), after: Some(at(after)) })),
        ..BurstRow::default()
    }
}

fn seen(bursts: &[BurstRow], episodes: &[EpisodeRow], idle: &[IdleRow]) -> Vec<Gone> {
    all(&flow(), bursts, episodes, idle)
}

fn holds((from, to): (Time, Time), s: f64) -> bool {
    (from..=to).contains(&at(s))
}

/// The timestamps of what was sent 42 ms before it arrived in a full queue make the gap longer than the silence.
const BY_TIMESTAMPS: f64 = 3.69;

#[test]
fn a_probe_with_new_data_does_not_say_when_the_path_came_back() {
    // RFC 8985 §7.3: the probe may be new data. It arrives alone, its ACK takes a round trip to set off more.
    let idle = [gap(BY_TIMESTAMPS, 4.0079, IdleCause::Unknown)];
    let [g] = seen(&[hole(4.0894)], &[], &idle)[..] else { panic!("one outage") };
    assert_eq!(g.shown, Shown::ProbeEndedIt);
    assert!(holds(g.bounds.begin, 3.6748), "{:?}", g.bounds);
    assert_eq!(g.bounds.end, (at(3.7146), Some(at(4.0079))));
    assert_eq!(g.sure(&flow()).certainty, Certainty::Likely);
}

#[test]
fn what_comes_right_behind_says_that_its_sender_went_on() {
    let idle = [gap(BY_TIMESTAMPS, 4.0079, IdleCause::Unknown)];
    let [g] = seen(&[hole(4.0083)], &[], &idle)[..] else { panic!("one outage") };
    assert_eq!(g.shown, Shown::ArrivalsStopped);
    assert!(holds(g.bounds.begin, 3.6748), "{:?}", g.bounds);
    let (earliest, latest) = g.bounds.end;
    assert_eq!(latest, Some(at(4.0079)));
    assert!(earliest > at(3.88), "{:?}", g.bounds);
}

/// From 1.3045 to 1.7045 s no ACK got through: data went on arriving until 1.3858, a probe with new data came at 1.5561,
/// and the timer repeated at 1.8522 what had arrived.
fn unheard(silence_before: f64, bytes: u64) -> EpisodeRow {
    EpisodeRow {
        start: at(1.8522),
        first_repair: at(1.8522),
        end: Some(at(1.9535)),
        kind: EpisodeKind::Needless,
        timeouts: 1,
        silence: Some(Span::from_secs_f64(1.8522 - 1.5561)),
        silence_before: Span::from_secs_f64(silence_before),
        sent_after_loss_bytes: bytes,
        ..EpisodeRow::default()
    }
}

#[test]
fn acks_were_unheard_before_the_probe() {
    let idle = [gap(1.5561, 1.8522, IdleCause::Timeout)];
    let [g] = seen(&[], &[unheard(1.5561 - 1.3858, 200_000)], &idle)[..] else { panic!("one outage") };
    assert!(holds(g.bounds.begin, 1.3045), "{:?}", g.bounds);
    assert_eq!(g.bounds.end, (at(1.5561), Some(at(1.8522))));
    // A program that sends a little now and then: what came before had been heard of.
    let [g] = seen(&[], &[unheard(1.5561 - 1.3858, 1448)], &idle)[..] else { panic!("one outage") };
    assert!(holds(g.bounds.begin, 1.5561), "{:?}", g.bounds);
}

#[test]
fn a_silence_that_ends_with_a_needless_repeat_lost_no_data() {
    // What the sender sent at once when it heard again overran the queue: that hole is another's.
    let idle = [gap(1.5561, 1.8522, IdleCause::Timeout)];
    let overrun = BurstRow { start: at(1.87), last: at(1.87), neighbours: None, ..hole(0.0) };
    let found = seen(&[overrun], &[unheard(0.001, 200_000)], &idle);
    assert_eq!(found.iter().map(|g| g.shown).collect::<Vec<_>>(), [Shown::AcksUnheard]);
}

/// 30% of the ACKs are lost, and this receiver sends three for a full window: at 0.12 s the one that was left is.
#[test]
fn a_lost_ack_of_a_receiver_that_sends_few_is_no_outage() {
    let rtt_ack = Summary { n: 160, min: 0.010, mean: 0.014, stddev: 0.01, max: 0.23 };
    let flow = FlowRow { vantage: Vantage::Sender, acks: 400, segments: 698, rtt_ack, ..flow() };
    let e = EpisodeRow {
        number: 1,
        start: at(0.12),
        first_repair: at(0.152),
        end: Some(at(1.69)),
        kind: EpisodeKind::TimerProbe,
        timeouts: 3,
        lost_segments: 3,
        flight_bytes: 79_792,
        ..EpisodeRow::default()
    };
    let found = |flow: &FlowRow, episodes: &[EpisodeRow]| -> Vec<(Shown, Certainty)> {
        let all = all(flow, &[], episodes, &[]);
        all.iter().map(|g| (g.shown, g.sure(flow).certainty)).collect()
    };
    assert_eq!(found(&flow, std::slice::from_ref(&e)), [(Shown::AcksVanished, Certainty::Likely)]);
    // An ACK for twenty segments: a window brings three of them.
    let few = FlowRow { acks: 35, ..flow.clone() };
    assert_eq!(found(&few, std::slice::from_ref(&e)), []);
    // A probe had to ask for one before, of data that had arrived.
    let probed = EpisodeRow {
        start: at(0.05),
        first_repair: at(0.088),
        end: Some(at(0.098)),
        kind: EpisodeKind::Needless,
        probes: 1,
        ..EpisodeRow::default()
    };
    assert_eq!(found(&flow, &[probed, e]), [(Shown::AcksVanished, Certainty::Open)]);
}

/// Without SACK a lost repair waits for the timer, whatever duplicate ACKs come (RFC 6582 §3.2): both captures have them.
#[test]
fn a_timer_whose_acks_all_came_through_was_no_outage() {
    let flow = FlowRow { vantage: Vantage::Both, sack_permitted: Some(false), ..flow() };
    let told = |lost_acks, lost| {
        let e = EpisodeRow {
            start: at(1.949),
            first_repair: at(2.194),
            end: Some(at(2.27)),
            kind: EpisodeKind::TimerRto,
            timeouts: 1,
            lost_segments: lost,
            lost_copies: Some(lost),
            lost_acks: Some(lost_acks),
            flight_bytes: 20_272,
            ..EpisodeRow::default()
        };
        all(&flow, &[], &[e], &[]).len()
    };
    assert_eq!([told(0, 1), told(9, 1), told(0, 7)], [0, 1, 1]);
}
