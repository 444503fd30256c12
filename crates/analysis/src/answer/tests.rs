//! Stories: the rows of a transfer, and what a person is told about it.

mod outages;
mod queues;

use super::*;
use crate::limited::{Basis, How, Part, PathLimits, Why};
use crate::rows::*;
use outages::interrupted;
use serde::Deserialize;
use wire::Span;

const START: Time = Time(1_000_000_000_000);

fn at(s: f64) -> Time {
    START + Span::from_secs_f64(s)
}
const fn ms(v: i64) -> Span {
    Span::from_millis(v)
}

/// 10 MB at the sender, RTT 38 to 60 ms, nothing wrong.
fn transfer(seconds: f64) -> FlowRow {
    FlowRow {
        vantage: Vantage::Sender,
        start: at(0.0),
        end: at(seconds),
        first_data: Some(at(0.0)),
        last_data: Some(at(seconds)),
        bytes: 10_000_000,
        segments: 6907,
        mss: 1448,
        sack_permitted: Some(true),
        closed: Closed::Fin,
        lost_copies: Some(0),
        rtt_ack: Summary { n: 3000, min: 0.038, mean: 0.041, stddev: 0.005, max: 0.060 },
        ..FlowRow::default()
    }
}

fn episode(number: u32, start: f64, kind: EpisodeKind, lost: u32, cost: f64) -> EpisodeRow {
    let timeouts = u32::from(kind == EpisodeKind::TimerRto);
    EpisodeRow {
        number,
        start: at(start),
        first_repair: at(start + 0.4),
        end: Some(at(start + cost)),
        kind,
        bursts: 1,
        lost_copies: Some(lost),
        lost_segments: lost,
        timeouts,
        cost: Some(Span::from_secs_f64(cost)),
        flight_bytes: 55_488,
        limit: Limit::SenderWindow,
        ..EpisodeRow::default()
    }
}

/// The burst of an episode, `lasting` ms, with the RTT before it.
fn burst(e: &EpisodeRow, lasting: i64, rtt_before: i64) -> BurstRow {
    BurstRow {
        start: e.start,
        last: e.start + ms(lasting),
        lost_copies: e.lost_copies,
        lost_segments: e.lost_segments,
        trigger: if e.kind == EpisodeKind::Ack { Trigger::Ack } else { Trigger::TimerRto },
        episode: Some(e.number),
        rtt_before: Some(ms(rtt_before)),
        ..BurstRow::default()
    }
}

fn gap(start: f64, length: f64, cause: IdleCause) -> IdleRow {
    let end = at(start + length);
    IdleRow { start: at(start), end, excess: Span::from_secs_f64(length - 0.1), cause, ..IdleRow::default() }
}

fn told(flow: &FlowRow, bursts: &[BurstRow], episodes: &[EpisodeRow], idle: &[IdleRow]) -> Answer {
    answer(flow, bursts, episodes, idle, &Limited::default(), START)
}

#[test]
fn a_queue_that_overflows_is_congestion_even_when_it_drops_a_run() {
    let episodes: Vec<EpisodeRow> =
        (0..5).map(|i| episode(i, 2.0 + 3.3 * f64::from(i), EpisodeKind::Ack, 12, 0.5)).collect();
    let bursts: Vec<BurstRow> = episodes.iter().map(|e| burst(e, 15, 198)).collect();
    let flow = FlowRow {
        rtt_ack: Summary { n: 3000, min: 0.020, mean: 0.120, stddev: 0.05, max: 0.200 },
        lost_copies: Some(60),
        bursts: 5,
        mean_burst: 12.0,
        ..transfer(20.0)
    };
    let a = told(&flow, &bursts, &episodes, &[]);
    assert_eq!((a.verdict, a.outages.clone()), (Verdict::Network, None));
    assert_eq!(
        a.look_at,
        "the network: 0.9% of the copies are lost where a queue overflows (RTT 20 ms to 200 ms): congestion"
    );
    assert_eq!(
        a.sentences(),
        [
            "5 loss episodes cost 2.5 s of 20.0 s (60 copies lost); all were repaired on ACKs or probes, without \
          a timeout"
        ]
    );
}

#[test]
fn what_slow_start_overran_stands_under_look_at_too() {
    // At the receiver no round trip tells of the queue.
    let first = EpisodeRow { bursts: 40, ..episode(0, 0.2, EpisodeKind::Ack, 294, 0.5) };
    let flow = FlowRow {
        vantage: Vantage::Receiver,
        lost_copies: None,
        lost_segments: Some(294),
        mean_burst: 2.0,
        ..transfer(4.4)
    };
    let a = told(&flow, &[burst(&first, 200, 0)], &[first], &[]);
    assert_eq!(a.verdict, Verdict::Network);
    assert_eq!(
        a.look_at,
        "the network: 4.3% of the segments are lost, most of them as slow start overran the bottleneck's queue"
    );
}

#[test]
fn os_x_10_7_repairs_one_segment_a_timeout_and_that_is_the_stack() {
    // Paper `interruption`, Fig. 11: 46 segments, more than ten seconds.
    let mut e = episode(0, 6.0, EpisodeKind::Intermittent, 46, 10.6);
    e.timeouts = 46;
    let flow = FlowRow { lost_copies: Some(46), timeouts: 46, ..transfer(20.3) };
    let a = told(&flow, &[burst(&e, 180, 39)], &[e], &[]);
    assert_eq!(a.verdict, Verdict::SendingStack);
    assert_eq!(
        a.sentences(),
        [
            "1 intermittent repair cost 10.6 s of 20.3 s: 46 timeouts for 46 lost segments, one segment a timeout"
        ]
    );
    assert!(a.look_at.starts_with("the sending stack: it repairs one segment a timeout"), "{}", a.look_at);
}

#[test]
fn the_57_s_that_linux_2_2_waited_are_the_stacks() {
    // Paper `rto`, test 2: the back-off of 4 outlived the segment that had caused it.
    let mut e = episode(0, 20.0, EpisodeKind::TimerRto, 6, 60.0);
    (e.timeouts, e.max_backoff) = (5, 3);
    let flow = FlowRow {
        timers: Timers { best: Some(RtoRule::Linux22), compared: 5, ..Timers::default() },
        lost_copies: Some(6),
        timeouts: 5,
        max_backoff: 3,
        ..transfer(112.0)
    };
    let idle = [gap(23.0, 57.4, IdleCause::TimeoutBackoff)];
    let a = told(&flow, &[burst(&e, 5, 41)], &[e], &idle);
    assert_eq!(a.verdict, Verdict::SendingStack);
    assert_eq!(
        a.sentences()[1],
        "57.3 s of waiting came from a back-off that was kept after its segment had been acknowledged"
    );
    assert!(a.look_at.contains("keeps backing off after progress"), "{}", a.look_at);
}

#[test]
fn an_application_that_pauses_is_named_and_so_is_what_it_paused_for() {
    let idle = [gap(2.0, 1.1, IdleCause::Application), gap(6.0, 4.1, IdleCause::Application)];
    let a = told(&transfer(12.0), &[], &[], &idle);
    assert_eq!(a.verdict, Verdict::SendingApplication);
    assert_eq!(
        a.sentences(),
        ["the application had nothing to send for 5.0 s of 12.0 s, in 2 gaps, the longest 4.1 s"]
    );
}

#[test]
fn a_receiver_that_closes_its_window_reads_too_slowly() {
    let flow = FlowRow { zero_windows: 2, ..transfer(10.0) };
    let idle = [gap(2.0, 3.1, IdleCause::ZeroWindow)];
    let a = told(&flow, &[], &[], &idle);
    assert_eq!(a.verdict, Verdict::Receiver);
    assert_eq!(a.sentences(), ["the receiver had closed its window for 3.0 s of 10.0 s, in 1 gap"]);
    assert_eq!(a.look_at, "the receiver: it closed its window once: the program there reads too slowly");
}

fn held_at(limit: Limit) -> FlowRow {
    let inference = Inference {
        limit: Some((limit, 0.9)),
        window_limit_bytes: Some((65_160, 0.9)),
        ..Inference::default()
    };
    FlowRow { inference, ..transfer(6.6) }
}

#[test]
fn a_window_that_holds_all_the_time_is_whose_it_is() {
    let a = told(&held_at(Limit::ReceiveWindow), &[], &[], &[]);
    assert_eq!(a.verdict, Verdict::Receiver);
    assert_eq!(
        a.sentences(),
        ["the receiver's window never exceeded 65 kB, which at this RTT allows 12.7 Mbps at most"]
    );
    let a = told(&held_at(Limit::SenderWindow), &[], &[], &[]);
    assert_eq!(a.verdict, Verdict::SendingStack);
    assert_eq!(a.look_at, "the sending stack: its window stays at 65 kB (send buffer or congestion window)");
}

#[test]
fn a_ceiling_that_was_not_reached_by_far_held_nothing_up() {
    let flow =
        FlowRow { first_data: Some(at(0.0)), last_data: Some(at(60.0)), ..held_at(Limit::SenderWindow) };
    let a = told(&flow, &[], &[], &[gap(5.0, 50.0, IdleCause::Application)]);
    assert_eq!(a.verdict, Verdict::SendingApplication);
    assert_eq!(a.sentences().len(), 1, "{:?}", a.sentences());
}

#[test]
fn what_was_lost_as_the_capture_ended_is_not_nothing() {
    let cut_off = FlowRow { lost_copies: Some(89), lost_segments: Some(89), bursts: 38, ..transfer(0.14) };
    let a = told(&cut_off, &[], &[], &[]);
    assert_eq!(a.sentences(), ["89 copies lost in 38 bursts, and nothing was resent before the end"]);
}

#[test]
fn a_clean_transfer_gets_one_sentence_and_no_culprit() {
    let a = told(&transfer(7.31), &[], &[], &[]);
    assert_eq!(a.verdict, Verdict::Nothing);
    assert_eq!(a.sentences(), ["nothing was lost and nothing held it up: 10.0 MB in 7.3 s, 10.9 Mbps"]);
    assert_eq!((a.look_at.as_str(), a.cost_s), ("nothing: this capture shows no lost time", 0.0));
    assert!(a.limits.is_empty(), "{:?}", a.limits);
}

#[test]
fn a_lost_syn_costs_a_second_before_the_first_byte() {
    let flow = FlowRow {
        syn_retransmissions: 1,
        handshake: Some(ms(1041)),
        handshake_resent: 1,
        bytes: 2000,
        segments: 2,
        ..transfer(0.05)
    };
    let a = told(&flow, &[], &[], &[]);
    assert_eq!(a.verdict, Verdict::Network);
    assert_eq!(a.sentences(), ["the handshake was resent once, which cost 1.0 s of 1.1 s"]);
    assert_eq!(a.look_at, "the network: the first packets of the connection were lost");
}

#[test]
fn the_lost_tail_of_a_short_answer_is_told_with_its_reason() {
    let mut e = episode(0, 0.1, EpisodeKind::TimerRto, 1, 0.24);
    (e.limit, e.flight_bytes) = (Limit::Application, 1448);
    let flow = FlowRow { lost_copies: Some(1), bytes: 14_480, segments: 11, bursts: 1, ..transfer(0.4) };
    let a = told(&flow, &[burst(&e, 0, 40)], &[e], &[]);
    assert_eq!(
        a.sentences(),
        ["the tail of the data was lost, which cost 240 ms of 400 ms (1 copy lost): nothing behind it \
             could be SACKed, so it took 1 timeout to repair it"]
    );
}

#[test]
fn the_worst_comes_first() {
    let (flow, bursts, episodes) = interrupted();
    let idle = [gap(15.0, 5.1, IdleCause::Application), gap(2.0, 0.6, IdleCause::ZeroWindow)];
    let a = told(&flow, &bursts, &episodes, &idle);
    let order: Vec<&str> = a.sentences().iter().map(|s| s.split(' ').nth(1).unwrap()).collect();
    assert_eq!(order, ["application", "outages", "receiver"]);
    assert_eq!(a.verdict, Verdict::SendingApplication);
    assert!(a.confidence < 0.6, "two causes are nearly equal: {}", a.confidence);
}

#[test]
fn half_a_capture_says_what_it_can_not_show_and_points_at_nobody() {
    let limits = Limits { one_way: true, mid_stream: true, missing_bytes: 5_000_000, ..Limits::default() };
    let flow = FlowRow { limits, lost_copies: None, vantage: Vantage::Unknown, ..transfer(7.0) };
    let a = told(&flow, &[], &[], &[]);
    assert_eq!((a.verdict, a.confidence), (Verdict::CannotTell, 0.0));
    assert_eq!(a.limits.len(), 4, "{:?}", a.limits);
    assert!(a.limits[1].starts_with("5.0 MB were acknowledged but never captured"), "{:?}", a.limits);
    // Nor does a simulated stack that sends no SYN begin in the midst of something.
    assert!(a.limits[2].starts_with("no SYN was captured: "), "{:?}", a.limits);
    // Whoever gives up says nothing: it may have been open, and it may not.
    let open = told(&FlowRow { closed: Closed::Open, ..transfer(7.0) }, &[], &[], &[]);
    assert_eq!(
        open.limits,
        ["no FIN or RST ended the connection: it was open at the end, or given up without a word"]
    );
}

#[test]
fn super_packets_and_a_short_snap_length_limit_the_answer_and_say_how_to_mend_it() {
    let limits = Limits { super_packets: 812, largest_payload: 64_000, options_cut: 1, ..Limits::default() };
    let a = told(&FlowRow { limits, ..transfer(7.0) }, &[], &[], &[]);
    assert!(a.limits[0].contains("in 1 packet,") && a.limits[0].ends_with("capture 128 bytes or more"));
    assert!(a.limits[1].starts_with("812 packets are larger than a segment (up to 64 kB; offload)"));
}

#[test]
fn an_empty_flow_is_no_reason_to_panic() {
    let a = told(&FlowRow::default(), &[], &[], &[]);
    assert_eq!((a.verdict, a.sentences()), (Verdict::Nothing, vec!["nothing was lost"]));
}

#[test]
fn a_verdict_is_written_as_it_is_named() {
    use serde::de::{IntoDeserializer, value::Error};
    for v in [
        Verdict::SendingApplication,
        Verdict::SendingStack,
        Verdict::Network,
        Verdict::Receiver,
        Verdict::Nothing,
        Verdict::CannotTell,
    ] {
        let name: serde::de::value::StrDeserializer<Error> = v.name().into_deserializer();
        assert_eq!(Verdict::deserialize(name), Ok(v));
    }
}

/// All had arrived, and was sent again.
fn needless(number: u32, start: f64, timeouts: u32, cost: f64) -> EpisodeRow {
    EpisodeRow { bursts: 0, needless: 2, timeouts, ..episode(number, start, EpisodeKind::Needless, 0, cost) }
}

#[test]
fn lost_acks_are_the_networks_and_not_the_senders() {
    let unheard = |acks| EpisodeRow { lost_acks: acks, ..needless(0, 4.9, 2, 0.83) };
    let a = told(&transfer(20.0), &[], &[unheard(Some(40))], &[]);
    assert_eq!(a.verdict, Verdict::Network);
    assert_eq!(
        a.sentences(),
        [
            "40 ACKs were lost on the way back in 1 episode, which cost 830 ms of 20.0 s: the timer resent 2 segments \
          that had arrived"
        ]
    );
    assert_eq!(
        a.look_at,
        "the network: ACKs are lost on the way back (40), and what they told of is sent again"
    );
    // With both captures none was lost: the timer was too short.
    assert_eq!(told(&transfer(20.0), &[], &[unheard(Some(0))], &[]).verdict, Verdict::SendingStack);
    // At the receiver the repair comes long after the ACK left.
    let flow =
        FlowRow { vantage: Vantage::Receiver, lost_copies: None, handshake: Some(ms(40)), ..transfer(20.0) };
    let late = |silence| EpisodeRow { silence: Some(silence), ..unheard(None) };
    assert_eq!(told(&flow, &[], &[late(ms(300))], &[]).verdict, Verdict::Network);
    assert_eq!(told(&flow, &[], &[late(ms(60))], &[]).verdict, Verdict::SendingStack);
}

#[test]
fn packets_that_overtake_each_other_keep_the_window_small() {
    let episodes: Vec<EpisodeRow> = (0..80)
        .map(|i| EpisodeRow {
            cost: None,
            delivered_bytes: 90_000,
            ..needless(i, f64::from(i) * 0.08, 0, 0.06)
        })
        .collect();
    let flow = FlowRow { retransmitted_segments: 160, needless: 160, ..transfer(6.8) };
    let a = told(&flow, &[], &episodes, &[]);
    assert_eq!(a.verdict, Verdict::Network);
    assert_eq!(
        a.look_at,
        "the network: packets overtake each other or come twice: 80 repairs that needed none"
    );
    assert!(a.sentences()[0].contains("kept the window small"), "{:?}", a.sentences());
}

#[test]
fn what_came_in_order_and_is_asked_for_again_came_damaged_or_was_dropped_behind() {
    let seen: Vec<EpisodeRow> = (0..8)
        .map(|i| EpisodeRow { delivered_bytes: 90_000, ..needless(i, f64::from(i) * 0.8, 0, 0.06) })
        .collect();
    let mut flow =
        FlowRow { vantage: Vantage::Receiver, retransmitted_segments: 16, needless: 16, ..transfer(6.8) };
    let said = |flow: &FlowRow| told(flow, &[], &seen, &[]).look_at;
    assert!(said(&flow).contains("--checksums"), "{}", said(&flow));
    flow.limits.reordered = 20;
    assert!(said(&flow).contains("overtake each other"), "{}", said(&flow));
}

/// What limited it: `parts` in ms, each known.
fn limited(parts: &[(Why, i64, u64)], could_bps: f64) -> Limited {
    let parts: Vec<Part> = parts
        .iter()
        .map(|&(why, time, bytes)| Part {
            why,
            time: ms(time),
            bytes,
            known: ms(time),
            likely: Span::ZERO,
            by_basis: [Span::ZERO; Basis::ALL.len()],
        })
        .collect();
    let all = parts.iter().fold(Span::ZERO, |sum, p| sum + p.time);
    let reached_bps = parts.iter().map(|p| p.bytes).sum::<u64>() as f64 * 8.0 / all.as_secs();
    let path = PathLimits { could_bps: Some(could_bps), how: Some(How::Trains), reached_bps, allowed: None };
    Limited { start: at(0.0), end: at(0.0) + all, parts, path, ..Limited::default() }
}

fn held(flow: &FlowRow, episodes: &[EpisodeRow], parts: &[(Why, i64, u64)], could_bps: f64) -> Answer {
    answer(flow, &[], episodes, &[], &limited(parts, could_bps), START)
}

#[test]
fn the_small_window_is_the_cost_of_losses_that_cost_no_silence() {
    // 50 Mbps with 0.7% of random loss carried 3.3 Mbps.
    let flow = FlowRow { lost_copies: Some(17), mean_burst: 1.0, ..transfer(8.1) };
    let parts = [(Why::SmallWindow, 7290, 3_000_000), (Why::SlowStart, 810, 340_000)];
    let a = held(&flow, &[episode(0, 1.0, EpisodeKind::Ack, 17, 0.082)], &parts, 50e6);
    assert_eq!((a.verdict, a.sure.certainty), (Verdict::Network, Certainty::Known));
    assert_eq!(
        a.look_at,
        "the network: 0.2% of the copies are lost, mostly one at a time; losses kept the window small for 90% \
         of the time: 3.3 Mbps of the 50.0 Mbps that the path could carry"
    );
    assert_eq!(
        a.sentences()[0],
        "1 loss episode kept the window small for 7.3 s, which cost 6.8 s: 3.3 Mbps of the 50.0 Mbps that the \
         path could carry"
    );
    assert!(a.cost_s > 6.8, "{}", a.cost_s);
}

#[test]
fn the_verdict_is_whose_the_largest_limit_is() {
    use Verdict::*;
    for (why, whose) in [
        (Why::NothingToSend, SendingApplication),
        (Why::Nagle, SendingApplication),
        (Why::NotAsked, Receiver),
        (Why::NothingRead, Receiver),
        (Why::SteadyWindow, Receiver),
        (Why::Buffer, SendingStack),
        (Why::Pacing, SendingStack),
        (Why::BottleneckFull, Nothing),
        (Why::Outage, Network),
        (Why::SmallWindow, Network),
        (Why::SlowStart, Nothing),
    ] {
        let a = held(&transfer(10.0), &[], &[(why, 9000, 9_000_000), (Why::Growing, 1000, 1_000_000)], 50e6);
        assert_eq!((a.verdict, a.sure.certainty), (whose, Certainty::Known), "{why:?}");
        let share = if why == Why::SlowStart { "100%" } else { "90%" };
        assert!(a.look_at.contains(share), "{}", a.look_at);
    }
    // What is open leaves the word to what cost most.
    let a = held(&transfer(10.0), &[], &[(Why::Unknown, 9000, 9_000_000), (Why::Pacing, 1000, 1)], 50e6);
    assert_eq!(a.look_at, "nothing: this capture shows no lost time");
}

#[test]
fn a_pause_within_an_episode_is_no_cost_of_the_episode() {
    // A needless repair that nothing ends but the program's next data, 8 s later: 17 s in all, at the rate before it.
    let mut e = episode(0, 27.4, EpisodeKind::Needless, 0, 17.0);
    e.cost = Some(ms(16_600));
    let pauses = [gap(0.7, 26.0, IdleCause::Peer), gap(27.5, 8.0, IdleCause::Peer)];
    let a = told(&transfer(45.0), &[], &[e], &pauses);
    let sum: f64 = a.findings.iter().filter_map(|f| f.cost_s).sum();
    assert!((42.0..=45.0).contains(&sum) && (a.cost_s - sum).abs() < 1e-9, "{sum} {:?}", a.sentences());
}
