//! Odd transfers, each as a timeline: what passed when, and what the analysis made of it.

mod story;

use analysis::rows::{Cause, Closed, IdleCause, Vantage};
use std::ops::Range;
use story::{MSS, Story, Told, causes, mid_stream, opened};

/// One full segment a millisecond, each acknowledged at once: the k-th with identification `id` + k, at `at` + k.
fn segments(mut t: Story, which: Range<u16>, id: u16, at: u64) -> Story {
    for k in which {
        t = t
            .id(id + k)
            .at(at + u64::from(k))
            .data(1 + u32::from(k) * MSS, MSS)
            .ack(1 + u32::from(k + 1) * MSS);
    }
    t
}

// Identifications

#[test]
fn a_host_that_counts_all_its_packets_in_one_row_has_lost_none_of_them() {
    // Between two answers it served others: 600 packets of 1000 bytes do not fit a window of 65535.
    let mut t = opened(Vantage::Receiver).window(65_535);
    t = segments(t, 0..20, 100, 30);
    t = t.at(2_000).request(300);
    t = segments(t, 20..40, 700, 2_010);
    let told = t.ends();
    assert_eq!((told.flow.retransmitted_packets, told.flow.lost_segments), (0, Some(0)));
}

#[test]
fn what_a_host_sends_elsewhere_in_the_midst_of_a_flight_is_no_loss_of_this_one() {
    // Two connections take turns: numbers are missing within flights, and between them.
    let mut t = opened(Vantage::Receiver).window(65_535);
    let mut id = 100;
    for k in 0..600u32 {
        let (flight, place) = (u64::from(k / 30), u64::from(k % 30));
        id += if place == 15 { 5 } else { 1 };
        t = t.id(id).at_us(30_000 + flight * 60_000 + place * 100).data(1 + k * MSS, MSS);
        if place == 29 {
            id += 7;
            t = t.ack(1 + (k + 1) * MSS);
        }
    }
    let told = t.ends();
    // It takes a few flights to tell.
    assert!(told.flow.retransmitted_packets <= 20, "{} of 600", told.flow.retransmitted_packets);
}

#[test]
fn a_host_that_counts_super_packets_as_one_repeats_what_it_repeats() {
    let mut t = opened(Vantage::Sender);
    const SUPER: u32 = 20_000;
    for k in 0..600u32 {
        let (at, end) = (30 + 25 * u64::from(k), 1 + (k + 1) * SUPER);
        t = t.id(100 + k as u16).at(at).data(end - SUPER, SUPER).at(at + 20).ack(end);
    }
    let (at, last) = (30 + 25 * 600, 1 + 600 * SUPER);
    let t = t.id(700).at(at).data(last, SUPER).id(701).at(at + 400).data(last, SUPER);
    let told = t.at(at + 420).ack(last + SUPER).ends();
    assert_eq!((told.flow.retransmitted_packets, told.flow.limits.duplicated), (1, 0));
}

#[test]
fn a_repair_of_a_tail_that_never_came_is_found_by_the_packets_that_are_missing() {
    let mut t = opened(Vantage::Receiver).window(65_535);
    t = segments(t, 0..20, 100, 30);
    // 120 to 122 were lost; the timer sends the first of them again.
    t = t.id(123).at(300).data(1 + 20 * MSS, MSS).ack(1 + 21 * MSS);
    let told = t.ends();
    assert_eq!(told.flow.retransmitted_packets, 1);
}

#[test]
fn a_repair_of_what_had_been_acknowledged_is_over_with_the_next_ack() {
    let t = opened(Vantage::Receiver).window(65_535);
    let t = t.id(100).at(30).data(1, MSS).at(31).reply_id(7).ack(1 + MSS);
    // That ACK was lost: the timer sends the segment again, and it is acknowledged again.
    let told = t.id(101).at(260).data(1, MSS).at(261).reply_id(8).ack(1 + MSS).ends();
    let ends: Vec<_> = told.rows.episodes.iter().map(|e| e.end.map(|t| t.0 / 1_000_000)).collect();
    assert_eq!(ends, [Some(261)]);
}

#[test]
fn the_first_data_may_be_the_timer_s() {
    // The handshake's ACK and three segments were lost: 101 to 104 are missing. If only the ACK is, none was sent.
    let opened_by = |id| {
        let t = Story::from(Vantage::Receiver).id(100).syn().at(1).syn_ack();
        t.id(id).at(1_030).data(1, MSS).at(1_031).ack(1 + MSS).ends().flow.retransmitted_packets
    };
    assert_eq!((opened_by(105), opened_by(102)), (1, 0));
}

#[test]
fn a_fin_after_a_packet_that_went_unseen_is_no_retransmission() {
    // What is missing before it may well be an ACK: this host sent nothing else.
    let mut t = opened(Vantage::Receiver);
    for k in 0..20u32 {
        t = t.at(30 + u64::from(k)).data(1 + k * MSS, MSS).reply_id(100 + k as u16).ack(1 + (k + 1) * MSS);
    }
    let told = t.reply_id(121).at(60).reply_fin().ends_with_all();
    assert_eq!(told.flows.len(), 1, "the host that only acknowledged has no row");
}

#[test]
fn an_identification_that_never_changes_counts_nothing() {
    let t = opened(Vantage::Middle).id(1).at(30).data(1, MSS).data(1 + 2 * MSS, MSS);
    let told = t.id(1).data(1 + MSS, MSS).at(50).ack(1 + 3 * MSS).ends();
    assert_eq!((told.flow.limits.reordered, told.flow.retransmitted_packets), (1, 0));
}

// The same packet twice

#[test]
fn a_packet_before_and_after_a_router_is_one_packet() {
    let mut t = opened(Vantage::Middle);
    for k in 0..30u32 {
        t = t.id(100 + k as u16).at(30 + 10 * u64::from(k)).ttl(64).data(1 + k * MSS, MSS);
        t = t.at(33 + 10 * u64::from(k)).ttl(63).data(1 + k * MSS, MSS).ack(1 + (k + 1) * MSS);
    }
    let told = t.ends();
    assert_eq!((told.flow.limits.captured_twice, told.flow.limits.duplicated), (30, 0));
    assert_eq!((told.flow.packets, told.flow.retransmitted_packets), (30, 0));
}

#[test]
fn a_syn_ack_before_and_after_a_router_was_sent_once() {
    let t = Story::from(Vantage::Middle).at(0).syn().at(10).reply_id(7).reply_ttl(64).syn_ack();
    let told = t
        .at(12)
        .reply_ttl(63)
        .syn_ack()
        .at(20)
        .ack_of_syn()
        .at(21)
        .data(1, MSS)
        .at(40)
        .ack(1 + MSS)
        .ends_with_all();
    assert_eq!(told.flows.len(), 1);
    assert_eq!(told.flows[0].syn_retransmissions, 0);
}

#[test]
fn a_packet_of_the_network_twice_is_a_duplicate() {
    let mut t = opened(Vantage::Receiver);
    for k in 0..30u32 {
        let id = 100 + k as u16;
        t = t
            .id(id)
            .at(30 + 10 * u64::from(k))
            .data(1 + k * MSS, MSS)
            .id(id)
            .at(33 + 10 * u64::from(k))
            .data(1 + k * MSS, MSS);
        t = t.ack(1 + (k + 1) * MSS);
    }
    let told = t.ends();
    assert_eq!((told.flow.limits.captured_twice, told.flow.limits.duplicated), (0, 30));
    assert_eq!(told.flow.retransmitted_packets, 0);
}

// One direction

#[test]
fn without_a_single_ack_a_repair_after_silence_is_a_timeout_and_any_other_unknown() {
    let t = Story::from(Vantage::Unknown).at(0).syn().at(50).data(1, MSS).at(51).data(1 + MSS, MSS);
    // 1.2 s later the first again, then again with the timer doubled; another at once.
    let told = t.at(1_250).data(1, MSS).at(3_650).data(1, MSS).at(3_651).data(1 + MSS, MSS).ends();
    assert!(told.flow.limits.one_way);
    assert_eq!(told.flow.by_cause[Cause::Timeout as usize], 2);
    assert_eq!(told.flow.by_cause[Cause::Unknown as usize], 1);
    assert_eq!(told.flow.by_cause[Cause::Recovery as usize], 0);
}

#[test]
fn without_a_single_ack_no_pause_is_a_probe() {
    let t = Story::from(Vantage::Unknown).sack_permitted().at(0).syn().at(50).data(1, MSS);
    let told = t.at(80).data(1 + MSS, MSS).at(120).data(1 + 2 * MSS, MSS).ends();
    assert_eq!(told.flow.probes_new_data, 0);
}

#[test]
fn a_packet_counts_as_one_segment_where_nobody_told_the_mss() {
    let told = mid_stream().at(0).data(1, 1396).at(1).data(1397, 1396).ends();
    assert_eq!((told.flow.segments, told.flow.limits.super_packets), (2, 0));
}

// Beginnings

#[test]
fn the_first_packets_of_a_capture_may_come_in_the_wrong_order() {
    let told = mid_stream().at(0).data(1 + MSS, MSS).at(1).data(1, MSS).at(2).ack(1 + 2 * MSS).ends();
    assert_eq!((told.flow.bytes, told.flow.retransmitted_packets), (2 * u64::from(MSS), 0));
    assert_eq!(told.flow.limits.reordered, 1);
}

#[test]
fn data_from_before_the_capture_that_comes_again_after_its_ack_is_a_retransmission() {
    let t = mid_stream().at(0).ack(1 + MSS).at(1).data(1 + MSS, MSS);
    let told = t.at(2).ack(1 + 2 * MSS).at(300).data(1, MSS).ends();
    assert_eq!((told.flow.bytes, told.flow.retransmitted_packets), (u64::from(MSS), 1));
}

#[test]
fn a_late_packet_of_the_connection_before_does_not_swallow_the_new_syn() {
    let t = Story::from(Vantage::Sender).seq(5_000_000).at(0).ack_of_syn();
    let told = t
        .seq(1_000)
        .at(100)
        .syn()
        .at(110)
        .syn_ack()
        .at(110)
        .ack_of_syn()
        .at(111)
        .data(1, MSS)
        .at(120)
        .ack(1 + MSS)
        .ends();
    assert!(!told.flow.limits.mid_stream);
    assert_eq!(told.flow.bytes, u64::from(MSS));
}

#[test]
fn a_syn_that_is_tried_again_after_a_refusal_is_the_same_attempt() {
    // As Windows does: thrice, each refused, with the same initial number.
    let mut t = Story::from(Vantage::Sender);
    for k in 0..3 {
        t = t.at(500 * k).syn().at(500 * k + 1).refused();
    }
    let told = t.ends_with_all();
    assert_eq!((told.totals.connections, told.flows.len()), (1, 1));
    assert_eq!(told.flows[0].syn_retransmissions, 2);
}

// Counting

#[test]
fn only_what_was_there_before_is_sent_again() {
    // 1000 bytes, and then 500 of them once more with 500 new ones behind.
    let t = opened(Vantage::Sender).at(30).data(1, MSS).at(400).data(501, MSS).at(420).ack(1501);
    let told = t.ends();
    assert_eq!((told.flow.bytes, told.flow.retransmitted_bytes), (1500, 500));
}

#[test]
fn a_fin_is_no_byte() {
    let t = opened(Vantage::Sender).at(30).data(1, MSS).at(31).fin(1 + MSS).at(300).fin(1 + MSS);
    let told = t.at(320).ack(2 + MSS).ends();
    assert_eq!((told.flow.bytes, told.flow.acked_bytes), (u64::from(MSS), u64::from(MSS)));
    assert_eq!((told.flow.retransmitted_packets, told.flow.retransmitted_bytes), (1, 0));
    assert_eq!(acked_in_intervals(&told), told.flow.acked_bytes);
}

fn acked_in_intervals(told: &Told) -> u64 {
    told.rows.intervals.iter().map(|i| i.acked_bytes).sum()
}

#[test]
fn a_fin_that_is_acknowledged_out_of_order_is_no_byte_of_an_interval() {
    let t = opened(Vantage::Sender).sack_permitted().at(30).data(1, MSS).data(1 + MSS, MSS).fin(1 + 2 * MSS);
    let t = t.at(50).sack(1, &[(1 + MSS, 2 + 2 * MSS)]).at(90).data(1, MSS).at(110).ack(2 + 2 * MSS);
    let told = t.ends();
    assert_eq!((acked_in_intervals(&told), told.flow.acked_bytes), (2 * u64::from(MSS), 2 * u64::from(MSS)));
}

#[test]
fn a_fin_that_was_only_acknowledged_is_no_byte_either() {
    let told = opened(Vantage::Sender).at(30).data(1, MSS).at(50).ack(2 + MSS).ends();
    assert_eq!((told.flow.bytes, told.flow.limits.missing_bytes), (u64::from(MSS), 0));
    assert_eq!(acked_in_intervals(&told), u64::from(MSS));
}

#[test]
fn what_came_damaged_has_not_arrived() {
    let transfer = |at| {
        let t = opened(at).sack_permitted().at(30).data(1, MSS).ack(1 + MSS);
        let t = t.at(40).data(1 + MSS, MSS).damaged().at(41).data(1 + 2 * MSS, MSS);
        let t = t.sack(1 + MSS, &[(1 + 2 * MSS, 1 + 3 * MSS)]);
        t.at(70).data(1 + MSS, MSS).ack(1 + 3 * MSS).ends()
    };
    let received = transfer(Vantage::Receiver);
    assert_eq!(received.flow.limits.bad_checksums, 1);
    assert_eq!((received.flow.lost_segments, received.flow.needless), (Some(1), 0), "{:?}", received.rows);
    // What is never right was not damaged on the way.
    let t = Story::from(Vantage::Receiver).syn().damaged().syn_ack().at(20).ack_of_syn().damaged();
    let t = t.at(30).data(1, MSS).damaged().at(31).data(1 + MSS, MSS).damaged().ack(1 + 2 * MSS);
    let rewritten = t.ends();
    assert_eq!((rewritten.flow.limits.bad_checksums, rewritten.flow.packets), (4, 2));
    // Where it is sent it is whole: its checksum may be left to whatever is behind.
    let sent = transfer(Vantage::Sender);
    assert_eq!((sent.flow.limits.bad_checksums, sent.flow.packets), (1, 4));
}

// Clocks

#[test]
fn a_clock_that_ticks_every_ten_milliseconds_shows_no_probes() {
    let mut t = Story::from(Vantage::Sender).sack_permitted().handshake(0);
    let (mut sent, mut acked) = (1, 1);
    for tick in 3..60 {
        t = t.at(tick * 10);
        for _ in 0..4 {
            t = t.data(sent, MSS);
            sent += MSS;
            if sent - acked > 3 * MSS {
                acked = sent - 2 * MSS;
                t = t.ack(acked);
            }
        }
    }
    let told = t.ends();
    assert_eq!(told.flow.probes_new_data, 0);
}

// Handshakes

#[test]
fn two_hosts_that_call_at_once_have_sent_each_syn_once() {
    // RFC 9293 §3.5, figure 7: each answers the other's SYN with its own once more.
    let t = Story::from(Vantage::Sender).at(0).syn().at(1).crossing_syn().at(20).syn_again_with_ack();
    let told = t.at(21).syn_ack().at(41).data(1, MSS).at(61).ack(1 + MSS).ends_with_all();
    assert_eq!(told.flows.len(), 1);
    assert_eq!(told.flows[0].retransmitted_packets, 0);
}

#[test]
fn a_handshake_that_took_long_is_no_pause_of_the_application() {
    let t = Story::from(Vantage::Sender).at(0).syn().at(1_000).syn().at(3_000).syn();
    let t = t.at(3_020).syn_ack().ack_of_syn().at(3_030).data(1, MSS).at(3_050).ack(1 + MSS);
    let told = t.ends_with_all();
    assert_eq!(told.flows[0].syn_retransmissions, 2);
    assert_eq!(causes(&told.rows), [(IdleCause::Handshake, 3_020)]);
}

#[test]
fn an_application_that_takes_its_time_after_the_handshake_is_told_apart_from_it() {
    let t = Story::from(Vantage::Sender).at(0).syn().at(200).syn_ack().ack_of_syn();
    let told = t.at(5_200).data(1, MSS).at(5_400).ack(1 + MSS).ends_with_all();
    assert_eq!(causes(&told.rows), [(IdleCause::Application, 5_000)]);
}

#[test]
fn data_of_a_lost_syn_is_sent_when_the_second_syn_is_answered() {
    // RFC 7413 §4.1.3: the SYN is repeated without data, which follows the SYN-ACK at once. No probe.
    let t = Story::from(Vantage::Sender).sack_permitted().at(0).syn_with_data(300).at(1_000).syn();
    let told = t.at(1_020).syn_ack().ack_of_syn().data(1, 300).at(1_040).ack(301).ends();
    assert_eq!((told.flow.probes_repeat, told.flow.by_cause[Cause::Probe as usize]), (0, 0));
    assert_eq!((told.flow.syn_retransmissions, told.flow.bytes), (1, 300));
}

#[test]
fn syns_and_fins_are_captured_twice_whatever_their_identification() {
    let t = Story::from(Vantage::Sender).at(0).syn().at_us(20).syn();
    let t = t.at(20).syn_ack().at_us(20_020).syn_ack().ack_of_syn().at(21).data(1, MSS).at(41).ack(1 + MSS);
    let t = t.at(42).fin(1 + MSS).at_us(42_020).fin(1 + MSS);
    let told = t.at(62).ack(2 + MSS).ends_with_all();
    assert_eq!(told.flows.len(), 1);
    assert_eq!(told.flows[0].retransmitted_packets, 0);
}

// Resets

#[test]
fn a_connection_that_goes_on_after_a_reset_was_not_reset() {
    let mut t = opened(Vantage::Sender).at(30).data(1, MSS).at(50).ack(1 + MSS).at(51).stray_reset();
    for k in 1..2_000u32 {
        t = t
            .at(u64::from(50 + k * 20))
            .data(1 + k * MSS, MSS)
            .at(u64::from(60 + k * 20))
            .ack(1 + (k + 1) * MSS);
    }
    let told = t.ends();
    assert_eq!((told.flow.closed, told.flow.bytes), (Closed::Open, 2_000 * u64::from(MSS)));
}

#[test]
fn what_was_on_its_way_when_the_reset_came_does_not_revive_the_connection() {
    let t = opened(Vantage::Sender).at(30).data(1, MSS).data(1 + MSS, MSS).at(50).ack(1 + MSS).stray_reset();
    let told = t.at(51).data(1 + 2 * MSS, MSS).ack(1 + 2 * MSS).ends();
    assert_eq!(told.flow.closed, Closed::Reset);
}

/// 20 segments, of which the last two are not acknowledged any more.
fn under_way() -> Story {
    let mut t = segments(opened(Vantage::Sender), 0..18, 100, 30);
    for k in 18..20u32 {
        t = t.at(60 + u64::from(k)).data(1 + k * MSS, MSS);
    }
    t.at(90)
}

#[test]
fn a_reset_with_data_on_its_way_has_its_sender_and_its_time() {
    let reset = |t: Story| t.ends().flow.reset.map(|r| (r.by(), r.time.0 / 1_000_000));
    assert_eq!(reset(under_way().refused()), Some(("receiver", 90)));
    assert_eq!(reset(under_way().reset()), Some(("sender", 90)));
}

#[test]
fn a_reset_behind_the_senders_fin_cuts_nothing_off() {
    let t = segments(opened(Vantage::Sender), 0..20, 100, 30).at(80).fin(1 + 20 * MSS).at(90).refused();
    let told = t.ends();
    assert_eq!((told.flow.closed, told.flow.reset), (Closed::Reset, None));
}

// What came out of order

#[test]
fn packets_that_others_overtook_are_told_and_are_no_losses() {
    let mut t = opened(Vantage::Receiver);
    for k in 0..100u16 {
        // The fifth of each ten comes behind the sixth.
        let which = match k % 10 {
            5 => k + 1,
            6 => k - 1,
            _ => k,
        };
        t = t.id(100 + which).at(u64::from(30 + k)).data(1 + u32::from(which) * MSS, MSS);
        if k % 10 == 9 {
            t = t.ack(1 + u32::from(k + 1) * MSS);
        }
    }
    let told = t.ends();
    assert_eq!((told.flow.limits.reordered, told.flow.bursts), (10, 0));
}

#[test]
fn options_cut_from_acks_limit_what_is_known_of_the_data() {
    let mut t = opened(Vantage::Sender).sack_permitted().at(30);
    for k in 0..20 {
        t = t.data(1 + k * MSS, MSS).ack(1 + (k + 1) * MSS).cut();
    }
    assert_eq!(t.ends().flow.limits.options_cut, 20);
}

#[test]
fn of_two_hosts_that_answer_at_one_address_the_one_that_was_heard_counts() {
    // Both answer the SYN, each twice; the caller took up the second, and the first asks once more.
    let t = Story::from(Vantage::Receiver).at(0).crossing_syn();
    let t = t.seq(3_000_000_000).at(10).syn_again_with_ack().seq(90_000_000).at(20).syn_again_with_ack();
    let t = t.seq(3_000_000_000).at(500).syn_again_with_ack().seq(90_000_000).at(520).syn_again_with_ack();
    let t = t.at(521).ack(1).seq(3_000_000_000).at(1_500).syn_again_with_ack().seq(90_000_000);
    let told = t.at(1_510).data(1, MSS).data(1 + MSS, MSS).ack(1 + 2 * MSS).ends();
    assert_eq!((told.flow.bytes, told.flow.acked_bytes), (2 * u64::from(MSS), 2 * u64::from(MSS)));
    assert_eq!(told.flow.lost_segments, Some(0));
}

#[test]
fn an_ack_of_the_connection_before_is_no_word_on_what_was_sent() {
    // RFC 5961 §4: the called host still has the connection before; the caller resets that, and its timer calls again.
    let t = Story::from(Vantage::Sender).at(0).syn().at(18).ack(900_000_000);
    let t = t.at(3_000).syn().at(3_020).syn_ack().ack_of_syn().data(1, MSS).at(3_040).ack(1 + MSS);
    let told = t.ends();
    assert_eq!((told.flow.bytes, told.flow.limits.missing_bytes), (u64::from(MSS), 0));
    assert_eq!((told.flow.acked_bytes, told.flow.syn_retransmissions), (u64::from(MSS), 1));
}
