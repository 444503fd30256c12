//! Why something was sent again, each as a timeline: what passed when, and which cause each repair got.

mod story;

use analysis::rows::{Cause, Needless, Proof, Vantage};
use story::{All, MSS, Story, opened};
use wire::Time;

/// Where the flight of ten begins.
const BASE: u32 = 1 + MSS;

fn at(k: u32) -> u32 {
    BASE + k * MSS
}

#[test]
fn a_sack_of_a_later_repair_tells_that_an_earlier_one_was_lost() {
    // RFC 8985 §6.2: a repair is taken to have arrived if its SACK comes no sooner than a round trip behind it. There
    // are no timestamps to tell.
    let mut t = opened(Vantage::Sender).sack_permitted().at(30).data(1, MSS).at(50).ack(BASE).at(60);
    for k in 0..10 {
        t = t.data(at(k), MSS);
    }
    // Segments 0 and 6 are lost.
    t = t.at(80).sack(BASE, &[(at(1), at(2))]).sack(BASE, &[(at(1), at(3))]).sack(BASE, &[(at(1), at(4))]);
    t = t.at_us(80_020).data(at(0), MSS).at(81).sack(BASE, &[(at(1), at(6))]);
    t = t.at(85).sack(BASE, &[(at(7), at(10)), (at(1), at(6))]).at_us(85_020).data(at(6), MSS);
    // So was the repair of 0. What follows at once is no timer's, though it is sent for the third time.
    t = t.at(106).sack(BASE, &[(at(1), at(10))]).at_us(106_040).data(at(0), MSS).at(126).ack(at(10));
    let told = t.ends();
    let repairs: Vec<_> = told.rows.retransmissions.iter().map(|r| r.cause).collect();
    assert_eq!(repairs, [Cause::Recovery; 3]);
}

/// Segment `k` is lost, the next comes at `when` with identification `id` + 1.
fn hole(t: Story, k: u32, id: u16, when: u64) -> Story {
    t.id(id + 1).at(when).data(at(k + 1), MSS).sack(at(k), &[(at(k + 1), at(k + 2))])
}

#[test]
fn what_is_missing_right_before_a_late_repair_was_no_repair_but_data() {
    // RFC 8985 §6.2: only by what was sent after it can a repair be found lost, and nothing was.
    let mut t = opened(Vantage::Receiver).sack_permitted().at(30).id(1).data(1, MSS).ack(BASE);
    let (mut k, mut id, mut when) = (0, 2, 40);
    for _ in 0..10 {
        t = hole(t, k, id, when).id(id + 2).at(when + 20).data(at(k), MSS).ack(at(k + 2));
        (k, id, when) = (k + 2, id + 3, when + 21);
    }
    // It takes twice as long this time; before it the segment behind was sent, and lost.
    t = hole(t, k, id, when).id(id + 3).at(when + 40).data(at(k), MSS).ack(at(k + 2));
    let told = t.id(id + 4).at(when + 41).data(at(k + 2), MSS).ack(at(k + 3)).ends();
    assert_eq!(told.flow.retransmitted_packets, 12);
}

#[test]
fn what_was_missing_before_newer_data_came_cannot_have_reached_beyond_it() {
    let mut t = opened(Vantage::Receiver).sack_permitted().at(30);
    for k in 0..20 {
        t = t.id(100 + k as u16).data(1 + k * MSS, MSS).ack(1 + (k + 1) * MSS);
    }
    let seq = |k: u32| 1 + k * MSS;
    let heard = |t: Story, id, k, when, ack, up_to| {
        t.id(id).at(when).data(seq(k), MSS).sack(seq(ack), &[(seq(ack + 1), seq(up_to))])
    };
    // Segments 20, 22 and 24 are lost, and 129, the repair of 22; new data goes on before it is repaired once more.
    for (id, k, when) in [(121, 21, 50), (123, 23, 51), (125, 25, 52), (126, 26, 53), (127, 27, 54)] {
        t = heard(t, id, k, when, 20, k + 1);
    }
    t = t.id(128).at(72).data(seq(20), MSS).sack(seq(22), &[(seq(23), seq(24)), (seq(25), seq(28))]);
    for (id, k, when, up_to) in [(130, 24, 73, 28), (131, 28, 80, 29), (132, 29, 82, 30)] {
        t = heard(t, id, k, when, 22, up_to);
    }
    t = t.id(133).at(84).data(seq(22), MSS).ack(seq(30));
    let told = t.id(134).at(86).data(seq(30), MSS).ack(seq(31)).ends();
    assert_eq!(told.flow.retransmitted_packets, 3);
}

#[test]
fn a_tail_that_was_lost_before_the_first_repair_is_missed_while_a_hole_is_open() {
    let mut t = opened(Vantage::Receiver).sack_permitted().at(30);
    let seq = |k: u32| 1 + k * MSS;
    for k in 0..20 {
        t = t.id(100 + k as u16).data(seq(k), MSS).ack(seq(k + 1));
    }
    // Segments 20, 22 and 25 are lost: 125 is missing right before the first repair, which an ACK asked for.
    t = t.id(121).at(50).data(seq(21), MSS).sack(seq(20), &[(seq(21), seq(22))]);
    t = t.id(123).at(51).data(seq(23), MSS).sack(seq(20), &[(seq(23), seq(24)), (seq(21), seq(22))]);
    t = t.id(124).at(52).data(seq(24), MSS).sack(seq(20), &[(seq(23), seq(25)), (seq(21), seq(22))]);
    t = t.id(126).at(72).data(seq(20), MSS).sack(seq(22), &[(seq(23), seq(25))]);
    // The repair of 22 is lost, too: 127.
    t = t.id(128).at(74).data(seq(25), MSS).sack(seq(22), &[(seq(23), seq(26))]);
    let told = t.id(129).at(94).data(seq(22), MSS).ack(seq(26)).ends();
    assert_eq!(told.flow.retransmitted_packets, 3);
}

#[test]
fn a_host_whose_timer_sends_all_that_arrives_counts_its_packets_all_the_same() {
    let mut t = opened(Vantage::Receiver).sack_permitted();
    // Each segment is lost and comes half a second later: two numbers each.
    for k in 0..10 {
        let id = 101 + 2 * k as u16;
        t = t.id(id).at(500 * u64::from(k + 1)).amid_data(1 + k * MSS, MSS).ack(1 + (k + 1) * MSS);
    }
    let told = t.ends();
    // Three numbers tell that it counts: of the first two segments nothing shows that they had been sent before.
    assert_eq!(told.flow.retransmitted_packets, 8);
    assert_eq!(told.flow.by_cause[Cause::Timeout as usize], 8);
}

#[test]
fn repairs_that_are_lost_do_not_tell_that_a_host_does_not_count_its_packets() {
    let mut t = opened(Vantage::Receiver).sack_permitted().at(30);
    for k in 0..4 {
        t = t.id(1 + k as u16).data(1 + k * MSS, MSS).ack(1 + (k + 1) * MSS);
    }
    let (mut k, mut id, mut when) = (3, 5, 40);
    for _ in 0..2 {
        t = hole(t, k, id, when).id(id + 2).at(when + 20).data(at(k), MSS).ack(at(k + 2));
        (k, id, when) = (k + 2, id + 3, when + 21);
    }
    for _ in 0..6 {
        // Its first repair is lost, too, which took the number before that of what follows.
        t = hole(t, k, id, when).id(id + 3).at(when + 20).data(at(k + 2), MSS);
        t = t.sack(at(k), &[(at(k + 1), at(k + 3))]).id(id + 4).at(when + 40).data(at(k), MSS).ack(at(k + 3));
        (k, id, when) = (k + 3, id + 5, when + 41);
    }
    // Two more are lost, and nothing follows them: the timer sends the first of them again, and its ACK the other.
    t = t.id(id + 2).at(when + 300).data(at(k), MSS).ack(at(k + 1));
    let told = t.id(id + 3).at(when + 320).data(at(k + 1), MSS).ack(at(k + 2)).ends();
    let repairs: Vec<_> = told.rows.retransmissions.iter().map(|r| r.cause).collect();
    assert_eq!(repairs[..8], [Cause::Recovery; 8]);
    assert_eq!((repairs[8], repairs.len()), (Cause::Timeout, 10));
}

/// Segments 20 to 25 of which the even ones are lost, ten more and the first one's repair, none of which come, and the
/// timer's copy; then what slow start sends comes.
fn tail_behind_holes(t: Story) -> Story {
    let seq = |k: u32| 1 + k * MSS;
    let mut t = t.at(30);
    for k in 0..18 {
        t = t.id(100 + k as u16).data(seq(k), MSS).ack(seq(k + 1));
    }
    // A repair takes 20 ms as a rule.
    t = t.id(119).at(60).data(seq(19), MSS).ack(seq(18)).id(120).at(80).data(seq(18), MSS).ack(seq(20));
    for k in [21, 23, 25] {
        t = t.id(101 + k as u16).at(100).data(seq(k), MSS).ack(seq(20));
    }
    // 127 to 136 are data, 137 is the repair that the third duplicate ACK asked for.
    let copies = [(138, 400, 20, 22), (139, 420, 22, 24), (140, 440, 24, 26)];
    for (id, when, k, acked) in copies {
        t = t.id(id).at(when).data(seq(k), MSS).ack(seq(acked));
    }
    for k in 26..36 {
        t = t.id(115 + k as u16).at(460).data(seq(k), MSS).ack(seq(k + 1));
    }
    t.id(151).at(480).data(seq(36), MSS).ack(seq(37))
}

#[test]
fn what_a_timer_ends_the_silence_of_was_data_but_for_what_acks_had_asked_for() {
    // Without SACK fast recovery repeats the first segment alone (RFC 6582 §3.2).
    let told = tail_behind_holes(opened(Vantage::Receiver)).ends();
    assert_eq!(told.flow.retransmitted_packets, 1 + 3 + 10);
}

/// Ten requests of 300 bytes, half a second apart, each acknowledged after 200 ms. The host's number grows by two from
/// one to the next.
fn requests_of_a_host(ttl: u8) -> All {
    let mut t = opened(Vantage::Receiver).sack_permitted().ttl(ttl).at(30);
    for k in 0..5 {
        t = t.id(k).data(1 + u32::from(k) * 300, 300).ack(1 + u32::from(k + 1) * 300);
    }
    for k in 5..15 {
        let (begins, at) = (1 + u32::from(k) * 300, 500 * u64::from(k));
        t = t.id(2 * k - 4).at(at).data(begins, 300).at(at + 200).ack(begins + 300);
    }
    t.ends_with_all()
}

#[test]
fn what_a_host_sends_elsewhere_during_a_silence_is_none_of_this_connections_losses() {
    // Windows counts in the IP identification what else it sends; Linux each connection by itself.
    assert_eq!(requests_of_a_host(128).flows[0].retransmitted_packets, 0);
    assert!(requests_of_a_host(64).flows[0].retransmitted_packets >= 9, "each first copy was lost");
}

#[test]
fn a_host_that_numbers_its_answer_to_a_syn_counts_what_it_sends_elsewhere_too() {
    // Linux answers with number 0, and counts from somewhere else then.
    let calls = |answer: u16| {
        let mut t = Story::from(Vantage::Receiver).sack_permitted().at(0).crossing_syn().at(20);
        t = t.id(answer).syn_again_with_ack().ack(1).at(60);
        for k in 0..5 {
            t = t.id(500 + k).data(1 + u32::from(k) * 300, 300).ack(1 + u32::from(k + 1) * 300);
        }
        for k in 5..15 {
            let (begins, at) = (1 + u32::from(k) * 300, 500 * u64::from(k));
            t = t.id(496 + 2 * k).at(at).data(begins, 300).at(at + 200).ack(begins + 300);
        }
        t.ends_with_all().flows[0].retransmitted_packets
    };
    assert_eq!(calls(499), 0);
    assert!(calls(0) >= 9, "each first copy was lost");
}

#[test]
fn what_windows_sends_elsewhere_in_a_short_wait_is_none_of_this_connections_losses() {
    // A desktop shown far away: 50 bytes every 100 ms, and the host sends as much elsewhere.
    let drawn = |ttl: u8| {
        let mut t = opened(Vantage::Receiver).sack_permitted().ttl(ttl).at(30);
        for k in 0..60 {
            let (begins, at) = (1 + u32::from(k) * 50, 100 * u64::from(k) + 30);
            let id = if k < 40 { k } else { 40 + 3 * (k - 40) };
            t = t.id(id).at(at).data(begins, 50).at(at + 20).ack(begins + 50);
        }
        t.ends_with_all().flows[0].retransmitted_packets
    };
    assert_eq!(drawn(128), 0);
}

#[test]
fn more_numbers_missing_than_can_have_been_sent_were_of_other_connections() {
    // RFC 5681 §3.1: cwnd has grown to 18 segments at most when 100 numbers are missing.
    let mut t = opened(Vantage::Receiver).sack_permitted().window(65_535).at(30);
    let seq = |k: u32| 1 + k * MSS;
    for k in 0..6 {
        t = t.id(k as u16).data(seq(k), MSS).ack(seq(k + 1));
    }
    for k in 6..10 {
        t = t.at(400).id(100 + k as u16).data(seq(k), MSS).ack(seq(k + 1));
    }
    assert_eq!(t.ends().flow.retransmitted_packets, 0);
}

#[test]
fn nothing_can_be_missing_before_a_fin_but_itself() {
    let fin = |missing: u16| {
        let mut t = opened(Vantage::Receiver).sack_permitted().at(30);
        for k in 0..30 {
            t = t.id(k as u16).data(1 + k * MSS, MSS).ack(1 + (k + 1) * MSS);
        }
        t.at(5030).id(30 + missing).fin(1 + 30 * MSS).ack(2 + 30 * MSS).ends().flow.lost_segments
    };
    assert_eq!((fin(50), fin(1)), (Some(0), Some(1)));
}

#[test]
fn a_needless_repair_is_over_when_its_answer_passes_however_long_nothing_follows() {
    let mut t = opened(Vantage::Receiver).sack_permitted().at(30);
    for k in 0..10 {
        t = t.id(k as u16).at(30 + 10 * u64::from(k)).data(1 + k * MSS, MSS).ack(1 + (k + 1) * MSS);
    }
    // The last ACK is lost; 20 s later the application has something to send again.
    t = t.id(10).at(500).data(1 + 9 * MSS, MSS).at(501).ack(1 + 10 * MSS);
    t = t.id(11).at(20_000).data(1 + 10 * MSS, MSS).ack(1 + 11 * MSS);
    let told = t.ends();
    let episode = &told.rows.episodes[0];
    let a_round_trip_later = Time(521_000_000);
    assert_eq!((episode.needless, episode.end), (1, Some(a_round_trip_later)));
}

#[test]
fn a_timers_copy_whose_answer_was_lost_with_all_others_was_not_lost_itself() {
    // Only the way back is dark, from 81 to 760 ms. A probe that left 60 ms after the segments before it arrived as they did,
    // and none was heard of; so the DSACK (RFC 2883) for the timer's first copy may have been lost as well.
    let (base, size) = (901, 900);
    let at = |k: u32| base + k * size;
    let lost = |probe_arrives: bool| {
        let mut t = Story::from(Vantage::Sender).stamped().sack_permitted().handshake(20);
        t = t.at(30).data(1, size).at(50).ack(base).echoing(30).at(60);
        for k in 0..4 {
            t = t.data(at(k), size);
        }
        t = t.at(80).ack(at(2)).echoing(60).data(at(4), size).data(at(5), size);
        t = t.at(140).data(at(6), size).at(330).data(at(2), size).at(760).data(at(2), size);
        let (arrived, echo) = if probe_arrives { (7, 140) } else { (6, 80) };
        t = t.at(781).sack(at(arrived), &[(at(2), at(3))]).echoing(echo);
        if !probe_arrives {
            t = t.at(782).data(at(6), size).at(802).ack(at(7)).echoing(782);
        }
        t = t.at(1300).data(at(7), size).at(1320).ack(at(8)).echoing(1300);
        t.ends().flow.lost_copies
    };
    assert_eq!(lost(true), Some(0));
    assert_eq!(lost(false), Some(2), "the probe, and the copy behind it");
}

#[test]
fn a_repair_of_what_had_been_acknowledged_is_no_episode_of_what_is_sent_and_lost_long_after() {
    let t = opened(Vantage::Sender).at(30).data(1, MSS).at(50).ack(BASE).at(51).data(1, MSS);
    // Seven seconds later a segment is sent for the first time, and lost.
    let t = t.at(7000).data(BASE, MSS).at(7250).data(BASE, MSS).at(7270).ack(at(1));
    let ended: Vec<_> = t.ends().rows.episodes.iter().map(|e| (e.start, e.end)).collect();
    let ms = |from: i64, to: i64| (Time(from * 1_000_000), Some(Time(to * 1_000_000)));
    assert_eq!(ended, [ms(51, 51), ms(7000, 7270)]);
}

#[test]
fn copies_that_were_held_and_came_together_are_all_told_by_their_dsacks() {
    // RFC 2883 §4: each arrival is told once, and one ACK is like the other. They come behind that of the first copy.
    let mut t =
        opened(Vantage::Sender).sack_permitted().stamped().at(30).data(1, MSS).at(50).ack(at(0)).echoing(30);
    for when in [60, 300, 700, 1_500] {
        t = t.at(when).data(at(0), MSS);
    }
    t = t.at(3_000).ack(at(1)).echoing(60);
    for _ in 0..3 {
        t = t.at(3_018).sack(at(1), &[(at(0), at(1))]).echoing(60);
    }
    for k in 1..40 {
        t = t
            .at(3_040 + 20 * u64::from(k))
            .data(at(k), MSS)
            .at(3_060 + 20 * u64::from(k))
            .ack(at(k + 1))
            .echoing(3_040 + 20 * k);
    }
    let told = t.ends();
    let repairs: Vec<_> = told.rows.retransmissions.iter().map(|r| (r.lost, r.needless)).collect();
    assert_eq!(repairs, [(Some(false), Needless::Yes(Proof::Dsack)); 3]);
    assert!(told.rows.bursts.is_empty(), "{:?}", told.rows.bursts);
}
