//! What round trips and rounds say of the same queue.

use super::*;

fn losses(n: u32, apart: f64, rtt_before: i64) -> (Vec<EpisodeRow>, Vec<BurstRow>) {
    let episodes: Vec<_> =
        (0..n).map(|i| episode(i, 0.5 + apart * f64::from(i), EpisodeKind::Ack, 20, 0.002)).collect();
    let bursts = episodes.iter().map(|e| burst(e, 15, rtt_before)).collect();
    (episodes, bursts)
}

fn with_limits(flow: &FlowRow, of: &(Vec<EpisodeRow>, Vec<BurstRow>), parts: &[(Why, i64, u64)]) -> Answer {
    answer(flow, &of.1, &of.0, &[], &limited(parts, 50e6), START)
}

#[test]
fn losses_beside_a_full_bottleneck_kept_no_window_small() {
    // A queue of 13 ms over 41 ms: less than the mean round trip tells, and enough to keep the bottleneck busy.
    let flow = FlowRow { lost_copies: Some(126), ..transfer(4.56) };
    let seen = losses(28, 0.15, 41);
    let small = |a: &Answer| a.findings.iter().any(|f| f.kind == Kind::SmallWindow);
    assert!(small(&told(&flow, &seen.1, &seen.0, &[])), "where no rounds tell of a bottleneck");
    let full =
        with_limits(&flow, &seen, &[(Why::BottleneckFull, 4360, 9_900_000), (Why::SmallWindow, 30, 9000)]);
    assert!(!small(&full), "{:?}", full.sentences());
    assert!(
        full.look_at.ends_with("the bottleneck was full for 99% of the time, at 18.2 Mbps"),
        "{}",
        full.look_at
    );
}

#[test]
fn round_trips_that_stay_long_beside_an_idle_bottleneck_are_no_queue_of_this_transfer() {
    // A hand-over at 1.0 s adds 300 ms to the path; what is sent from there on needs no queue.
    let rtt_ack = Summary { n: 5000, min: 0.020, mean: 0.256, stddev: 0.12, max: 0.365 };
    let flow = FlowRow { rtt_ack, ..transfer(19.3) };
    let none = (vec![], vec![]);
    let queue = |a: &Answer| {
        let f = a.findings.iter().find(|f| f.kind == Kind::Queue);
        f.map(|f| (f.certainty(), f.text.clone())).expect("a finding")
    };
    let longer = with_limits(
        &flow,
        &none,
        &[(Why::Pacing, 16_600, 5_000_000), (Why::BottleneckFull, 2700, 5_000_000)],
    );
    assert_eq!(
        queue(&longer),
        (
            Certainty::Likely,
            "the RTT was 256 ms on average, 20 ms to 365 ms: a queue that others filled, or a path that became longer"
                .into()
        )
    );
    // Pauses of the program say nothing against a queue that it fills whenever it sends.
    let parts = [(Why::NothingToSend, 16_600, 0), (Why::BottleneckFull, 2700, 10_000_000)];
    let (sure, text) = queue(&with_limits(&flow, &none, &parts));
    assert_eq!(sure, Certainty::Known);
    assert!(text.ends_with("bufferbloat"), "{text}");
}

#[test]
fn losses_beside_a_standing_queue_are_not_called_other_than_congestion() {
    // 60 packets of queue over a path of 41 ms: a probe of the rate fills it within the round trip before it overflows.
    let rtt_ack = Summary { n: 5000, min: 0.041, mean: 0.0755, stddev: 0.016, max: 0.102 };
    let flow = FlowRow { rtt_ack, lost_copies: Some(627), mean_burst: 1.5, ..transfer(5.5) };
    let said = |rtt_before, why| {
        let seen = losses(13, 0.4, rtt_before);
        with_limits(&flow, &seen, &[(why, 5500, 10_000_000)]).look_at
    };
    assert!(!said(72, Why::Repairing).contains("congestion"), "{}", said(72, Why::Repairing));
    let empty = said(45, Why::Repairing);
    assert!(empty.contains("no queue built up before: not congestion"), "{empty}");
    // Slow start fills a queue within a round trip, of which the one before it knows nothing.
    assert!(!said(45, Why::BottleneckFull).contains("congestion"), "{}", said(45, Why::BottleneckFull));
    let full = said(95, Why::BottleneckFull);
    assert!(full.contains("where a queue overflows (RTT 41 ms to 102 ms): congestion"), "{full}");
}

#[test]
fn episodes_that_seem_to_save_time_make_up_for_those_that_seem_to_cost_it() {
    // A rate that goes up and down, and 40 losses one at a time: what each costs by it is as often negative.
    let (mut episodes, bursts) = losses(40, 0.2, 41);
    for (e, off) in episodes.iter_mut().zip([60, -80].into_iter().cycle()) {
        e.cost = Some(ms(off));
    }
    let flow = FlowRow { lost_copies: Some(40), ..transfer(8.2) };
    let a = told(&flow, &bursts, &episodes, &[]);
    assert!(a.sentences()[0].starts_with("40 loss episodes cost hardly any time"), "{:?}", a.sentences());
    // Two seconds that one of them stood still are none of that.
    episodes[7].cost = Some(ms(2000));
    let a = told(&flow, &bursts, &episodes, &[]);
    assert!(a.sentences()[0].starts_with("40 loss episodes cost 1.7 s of 8.2 s"), "{:?}", a.sentences());
}

#[test]
fn the_rate_of_a_transfer_is_told_once() {
    // A connection of 24 ms, data in 11 ms of it: the line above says 3.33 Gbps.
    let flow = FlowRow {
        start: at(0.0),
        end: at(0.024),
        first_data: Some(at(0.012)),
        last_data: Some(at(0.023)),
        ..transfer(0.024)
    };
    let a = told(&flow, &[], &[], &[]);
    assert_eq!(a.sentences(), ["nothing was lost and nothing held it up: 10.0 MB in 24 ms, 3.33 Gbps"]);
}

#[test]
fn what_cannot_be_told_is_not_said_to_have_been_nothing() {
    // BBR at 20 Mbps, on a path that was longer by 300 ms for four of twelve seconds.
    let rtt_ack = Summary { n: 7000, min: 0.040, mean: 0.093, stddev: 0.1, max: 0.388 };
    let flow = FlowRow { rtt_ack, ..transfer(12.0) };
    let none = (vec![], vec![]);
    let parts = [(Why::BottleneckFull, 7000, 8_500_000), (Why::LateAck, 5000, 1_500_000)];
    let a = with_limits(&flow, &none, &parts);
    assert_eq!(a.sentences(), ["nothing was lost: 10.0 MB in 12.0 s, 6.7 Mbps"]);
    let full = "the bottleneck was full for 58% of the time, at 9.7 Mbps";
    assert!(a.look_at.ends_with(full), "no mean of twelve seconds: {}", a.look_at);
    let queue = with_limits(&flow, &none, &[(Why::BottleneckFull, 12_000, 10_000_000)]);
    assert!(queue.sentences()[0].starts_with("nothing was lost and nothing held it up"));
    assert!(queue.look_at.contains("a queue of 53 ms stood at the bottleneck"), "{}", queue.look_at);
}

#[test]
fn what_cut_the_window_is_what_came_most_often_where_no_cost_is_worth_a_word() {
    // 2% of the packets came twice, and 0.5% were lost: fifteen repairs, of which one was needless.
    let flow = FlowRow { lost_copies: Some(15), mean_burst: 1.0, ..transfer(6.12) };
    let mut seen = losses(14, 0.4, 41);
    for e in &mut seen.0 {
        e.cost = Some(Span::ZERO);
    }
    seen.0.push(EpisodeRow { lost_segments: 0, ..episode(14, 5.9, EpisodeKind::Needless, 0, 0.01) });
    let a = with_limits(&flow, &seen, &[(Why::SmallWindow, 5500, 3_000_000)]);
    assert!(a.look_at.contains("of the copies are lost, mostly one at a time"), "{}", a.look_at);
}

#[test]
fn what_a_gap_cost_is_told_of_a_time_that_has_it() {
    // A server that answers after a second: its first data leaves at 1.04 s, its last at 2.4 s.
    let flow = FlowRow { first_data: Some(at(1.04)), last_data: Some(at(2.4)), ..transfer(2.4) };
    let early = IdleRow { excess: ms(922), ..gap(0.04, 1.0, IdleCause::Application) };
    let a = told(&flow, &[], &[], &[early]);
    assert_eq!(a.sentences(), ["the application had nothing to send for 922 ms of 2.4 s, in 1 gap"]);
    let parts = [(Why::BottleneckFull, 1300, 10_000_000), (Why::NothingToSend, 1000, 0)];
    let early = IdleRow { excess: ms(922), ..gap(0.04, 1.0, IdleCause::Application) };
    let look_at = answer(&flow, &[], &[], &[early], &limited(&parts, 50e6), START).look_at;
    assert!(look_at.starts_with("nothing in particular: 922 ms of 2.4 s were lost in all"), "{look_at}");
    // A timer that went on behind the last data.
    let late = gap(2.4, 3.4, IdleCause::TimeoutBackoff);
    let vain = EpisodeRow { timeouts: 4, end: None, ..episode(0, 2.3, EpisodeKind::Unrepaired, 4, 3.0) };
    let a = told(&flow, &[], &[vain], &[late]);
    assert!(a.sentences()[0].contains("cost 3.0 s of 4.8 s"), "{:?}", a.sentences());
}

#[test]
fn no_window_is_kept_small_by_no_repair_and_a_probes_is_one() {
    let parts = [(Why::SmallWindow, 561, 5_600), (Why::NothingToSend, 7900, 1_300_000)];
    let flow = transfer(9.2);
    let probed = |episodes: Vec<EpisodeRow>| {
        let a = with_limits(&flow, &(episodes, vec![]), &parts);
        a.findings.iter().find(|f| f.kind == Kind::SmallWindow).map(|f| f.text.clone())
    };
    assert_eq!(probed(vec![]), None);
    let one = EpisodeRow {
        lost_segments: 0,
        probes: 1,
        silence: Some(ms(316)),
        ..episode(0, 7.48, EpisodeKind::Needless, 0, 0.03)
    };
    assert!(probed(vec![one]).unwrap().starts_with("1 needless repair kept the window small for 561 ms"));
}

#[test]
fn losses_without_a_queue_to_speak_of_are_congestion_only_where_the_bottleneck_was_full() {
    // A policer drops what exceeds its rate: 40 ms before and behind, and the losses come at a few ms above the mean.
    let rtt_ack = Summary { n: 1374, min: 0.040, mean: 0.0419, stddev: 0.0017, max: 0.0536 };
    let flow = FlowRow { rtt_ack, lost_copies: Some(627), mean_burst: 1.3, ..transfer(4.3) };
    let said = |why| with_limits(&flow, &losses(13, 0.3, 45), &[(why, 4300, 7_400_000)]).look_at;
    assert!(!said(Why::SmallWindow).contains("congestion"), "{}", said(Why::SmallWindow));
    assert!(said(Why::BottleneckFull).contains("congestion"), "{}", said(Why::BottleneckFull));
}
