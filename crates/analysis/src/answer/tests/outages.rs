//! Links that were away, to a beat or for good, and what was not an outage.

use super::*;

/// 200 ms outages every 5 s (paper `interruption`), of which the window bridged none.
pub(super) fn interrupted() -> (FlowRow, Vec<BurstRow>, Vec<EpisodeRow>) {
    let episodes: Vec<EpisodeRow> = [3.1, 8.1, 13.1]
        .into_iter()
        .enumerate()
        .map(|(i, t)| episode(i as u32, t, EpisodeKind::TimerRto, 38, 1.367))
        .collect();
    let mut bursts: Vec<BurstRow> = episodes.iter().map(|e| burst(e, 62, 40)).collect();
    bursts.iter_mut().for_each(|b| b.lost_acks = Some(9));
    let flow = FlowRow {
        lost_copies: Some(114),
        bursts: 3,
        largest_burst: 38,
        timeouts: 3,
        retransmitted_segments: 114,
        ..transfer(20.3)
    };
    (flow, bursts, episodes)
}

#[test]
fn an_interrupted_upload_is_told_as_outages_on_a_beat() {
    let (flow, bursts, episodes) = interrupted();
    let a = told(&flow, &bursts, &episodes, &[]);
    assert_eq!(
        a.sentences(),
        ["3 outages cost 4.1 s of 20.3 s; each ended in a timeout because the window (55 kB) was sent out \
          before the link came back"]
    );
    assert_eq!(
        a.look_at,
        "the network: everything vanishes, both ways, for 60 ms to 1.5 s every 5.00 s (an outage, not \
         congestion: RTT was flat before each)"
    );
    assert_eq!(a.verdict, Verdict::Network);
    assert!(a.confidence > 0.7, "{}", a.confidence);
    let o = a.outages.unwrap();
    // Two are on no beat: what is known of the longer says nothing of the other.
    let two = told(&flow, &bursts[..2], &episodes[..2], &[]).look_at;
    assert!(two.contains("both ways, twice, the longest time for 60 ms to 1.5 s (an outage"), "{two}");
    assert_eq!((o.count, o.period_s, o.length_s, o.beats_missed), (3, Some(5.0), None, 0));
    assert_eq!(o.starts_s, [3.1, 8.1, 13.1]);
    assert!(a.evidence.iter().any(|e| e == "RTT near its minimum before 3 of 3 outages"), "{:?}", a.evidence);
}

#[test]
fn outages_that_the_window_bridged_show_their_length_and_those_off_the_beat_none() {
    let (flow, mut bursts, mut episodes) = interrupted();
    for (b, e) in bursts.iter_mut().zip(&mut episodes) {
        (b.trigger, e.kind, e.timeouts) = (Trigger::Ack, EpisodeKind::Ack, 0);
        // The first arrival behind the hole is SACKed an RTT after the link is back.
        b.last = b.start + ms(180);
        b.first_repair = Some(b.start + ms(200 + 40));
    }
    bursts[2].start = at(11.0);
    bursts[2].last = at(11.18);
    bursts[2].first_repair = Some(at(11.24));
    let a = told(&flow, &bursts, &episodes, &[]);
    let o = a.outages.clone().unwrap();
    assert_eq!((o.length_s, o.period_s), (Some(0.2), None));
    assert!(
        a.sentences()[0].ends_with("all were repaired on ACKs or probes, without a timeout"),
        "{:?}",
        a.sentences()
    );
    assert!(a.look_at.contains("for about 200 ms 3 times, at irregular intervals"), "{}", a.look_at);
    // The distance of two is no beat, nor the lack of one.
    let a = told(&flow, &bursts[..2], &episodes[..2], &[]);
    assert!(a.look_at.contains("for about 200 ms twice"), "{}", a.look_at);
    assert!(!a.look_at.contains("beat"), "{}", a.look_at);
}

#[test]
fn outages_that_took_the_acks_alone_show_as_silence_of_a_full_window() {
    let (mut flow, _, mut episodes) = interrupted();
    flow.lost_copies = Some(3);
    episodes.iter_mut().for_each(|e| (e.lost_copies, e.lost_segments) = (Some(1), 1));
    let bursts: Vec<BurstRow> = episodes.iter().map(|e| burst(e, 0, 40)).collect();
    let a = told(&flow, &bursts, &episodes, &[]);
    assert_eq!(a.outages.as_ref().and_then(|o| o.period_s), Some(5.0));
    assert_eq!(
        a.look_at,
        "the network: everything vanishes for up to 1.5 s every 5.00 s (an outage, not congestion: RTT was flat before each)"
    );
    assert!(a.sentences()[0].starts_with("3 outages cost 4.1 s of 20.3 s; each ended in a timeout"));
}

#[test]
fn a_super_packet_dropped_by_a_queue_is_no_outage() {
    let (flow, mut bursts, mut episodes) = interrupted();
    for (b, e) in bursts.iter_mut().zip(&mut episodes) {
        b.last = b.start;
        (b.trigger, e.kind, e.timeouts) = (Trigger::Ack, EpisodeKind::Ack, 0);
    }
    assert_eq!(told(&flow, &bursts, &episodes, &[]).outages, None);
}

#[test]
fn without_a_rate_before_it_an_episode_is_measured_by_the_mean_of_the_transfer() {
    // 4.8 s of which 0.2 s went on delivering at the mean rate.
    let mut e = episode(0, 1.5, EpisodeKind::TimerRto, 138, 4.8);
    (e.cost, e.timeouts, e.max_backoff) = (None, 4, 3);
    e.delivered_bytes = 250_000;
    let flow = FlowRow { lost_copies: Some(138), timeouts: 4, ..transfer(8.0) };
    let a = told(&flow, &[burst(&e, 180, 40)], &[e], &[]);
    assert!((a.cost_s - 4.6).abs() < 0.01, "{}", a.cost_s);
    assert!(
        a.sentences()[0].contains("its repair took 4 timeouts because the window (55 kB)"),
        "{:?}",
        a.sentences()
    );
}

#[test]
fn a_beat_behind_a_deep_queue_shows_once_the_wait_in_it_is_allowed_for() {
    // The outages come every 5 s at the link; copies that meet them were sent up to 1.3 s before.
    let (mut flow, mut bursts, episodes) = interrupted();
    flow.rtt_ack.max = 4.0;
    for (b, (sent, wait)) in bursts.iter_mut().zip([(3.0, 100), (6.8, 1300), (12.4, 700)]) {
        (b.start, b.last) = (at(sent), at(sent + 0.2));
        b.rtt_before = Some(ms(38 + wait));
    }
    let o = told(&flow, &bursts, &episodes, &[]).outages.unwrap();
    assert!((o.period_s.unwrap() - 5.0).abs() < 1e-6, "{o:?}");
    assert_eq!(o.rtt_flat_before, 0);
}

#[test]
fn a_hundred_thousand_bursts_are_answered_at_once() {
    let episodes: Vec<EpisodeRow> =
        (0..50_000).map(|i| episode(i, f64::from(i) * 0.1, EpisodeKind::TimerRto, 9, 0.05)).collect();
    let bursts: Vec<BurstRow> = episodes.iter().flat_map(|e| [burst(e, 25, 40), burst(e, 0, 40)]).collect();
    let a = told(&transfer(5000.0), &bursts, &episodes, &[]);
    assert_eq!(a.outages.unwrap().count, 50_000);
}

#[test]
fn a_path_that_dies_costs_all_the_time_that_was_left() {
    // One second of transfer, then fifteen timeouts in vain; there was no window before it to take a rate from.
    let mut e = episode(0, 0.8, EpisodeKind::TimerRto, 274, 0.0);
    (e.end, e.cost, e.timeouts, e.max_backoff) = (None, None, 15, 14);
    e.delivered_bytes = 200_000;
    let flow = FlowRow {
        acked_bytes: 1_000_000,
        lost_copies: Some(274),
        timeouts: 15,
        closed: Closed::Open,
        ..transfer(940.0)
    };
    let waits: Vec<IdleRow> = (0..15)
        .map(|i| {
            let cause = if i == 0 { IdleCause::Timeout } else { IdleCause::TimeoutBackoff };
            let at = 940.0 * f64::from(i) / 15.0;
            gap(at.max(1.0), 940.0 * f64::from(i + 1) / 15.0 - at.max(1.0), cause)
        })
        .collect();
    let a = told(&flow, &[], &[e], &waits);
    // 200 kB went on arriving, which took a fifth of a second before.
    assert!((a.cost_s - 939.0).abs() < 0.1, "{}", a.cost_s);
    assert_eq!(a.sentences(), ["1 outage cost 939 s of 940 s; it lasts to the end: 15 timeouts in vain"]);
    assert_eq!(a.look_at, "the network: from 1.00 s on nothing comes through, to the end");
    assert_eq!(a.outages.unwrap().dead_from_s, Some(1.0));
}

#[test]
fn what_nobody_acknowledged_at_the_end_is_said_beside_the_copies_that_count() {
    // A path that went dark for good took 107 segments; the timer sent one of them again, four times.
    let flow = FlowRow { lost_copies: Some(4), acked_bytes: 9_845_000, ..transfer(8.2) };
    let limits = |closed| told(&FlowRow { closed, ..flow.clone() }, &[], &[], &[]).limits;
    assert_eq!(
        limits(Closed::HalfFin),
        [
            "155 kB were not acknowledged at the end: what of it was lost is not known, and only what was sent again counts"
        ]
    );
    // A reset says it itself, and what a FIN follows was acknowledged, or its ACK is the last to be lost.
    assert_eq!((limits(Closed::Reset).len(), limits(Closed::Fin).len()), (0, 0));
}

#[test]
fn a_gap_that_an_episode_holds_is_counted_once() {
    // Where data arrives: nothing did from 1.0 to 6.0 s, and a timer's repeat ended it. There was no rate before it.
    let mut e = episode(0, 1.0, EpisodeKind::TimerRto, 4, 5.0);
    (e.cost, e.delivered_bytes) = (None, 2896);
    let hole = BurstRow { start: at(6.0), last: at(6.0), ..burst(&e, 0, 40) };
    let flow = FlowRow { vantage: Vantage::Receiver, lost_copies: None, ..transfer(6.8) };
    let cost = |e: &EpisodeRow| {
        let a = told(
            &flow,
            std::slice::from_ref(&hole),
            std::slice::from_ref(e),
            &[gap(1.0, 5.0, IdleCause::Timeout)],
        );
        assert_eq!(a.outages.as_ref().map(|o| o.count), Some(1), "{:?}", a.sentences());
        a.cost_s
    };
    assert!((4.9..=5.1).contains(&cost(&e)), "{}", cost(&e));
    // One that begins as the hole is seen has none of it.
    e.start = at(6.0);
    e.cost = Some(ms(300));
    assert!((5.2..=5.4).contains(&cost(&e)), "{}", cost(&e));
}

#[test]
fn a_path_that_takes_the_handshake_and_no_full_segment_may_have_a_smaller_mtu() {
    // RFC 2923 §2.1: eleven full segments vanish, and so does what the timer repeats of the first.
    let mut e = episode(0, 0.04, EpisodeKind::TimerRto, 11, 0.0);
    (e.end, e.cost, e.timeouts, e.max_backoff) = (None, None, 7, 6);
    let mut flow = FlowRow {
        acked_bytes: 0,
        bytes: 15_928,
        handshake: Some(ms(41)),
        closed: Closed::Open,
        ..transfer(38.14)
    };
    flow.limits.largest_payload = 1448;
    let waits: Vec<IdleRow> = (0..7)
        .map(|i| {
            let cause = if i == 0 { IdleCause::Timeout } else { IdleCause::TimeoutBackoff };
            let (from, to) = (0.3 * f64::from((1 << i) - 1), 0.3 * f64::from((2 << i) - 1));
            gap(0.04 + from, to - from, cause)
        })
        .collect();
    let said = |flow: &FlowRow| told(flow, &[], std::slice::from_ref(&e), &waits).look_at;
    assert!(said(&flow).contains("the path's MTU may be smaller"), "{}", said(&flow));
    flow.acked_bytes = 1448;
    assert!(!said(&flow).contains("MTU"), "{}", said(&flow));
}
