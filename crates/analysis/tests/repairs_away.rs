//! Why something was sent again, seen where it arrives, each as a timeline.

mod story;

use analysis::rows::{Cause, Vantage};
use story::{Story, Told, opened};

/// With timestamps it fits a segment, too.
const SIZE: u32 = 900;

fn seq(k: u32) -> u32 {
    1 + k * SIZE
}

/// Both hosts have timestamps and SACK, and a round trip takes 20 ms.
fn opened_with_clocks() -> Story {
    Story::from(Vantage::Receiver).stamped().sack_permitted().handshake(20)
}

fn causes(told: &Told) -> Vec<Cause> {
    told.rows.retransmissions.iter().map(|r| r.cause).collect()
}

/// Segments `of` arrive, a millisecond apart and the last at `when`, number `k` with identification `k`; each is acknowledged.
fn arrive(mut t: Story, of: std::ops::Range<u32>, when: u64) -> Story {
    for k in of.clone() {
        let before = u64::from(of.end - 1 - k);
        t = t.id(k as u16).at(when - before).data(seq(k), SIZE).ack(seq(k + 1));
    }
    t
}

#[test]
fn a_timer_that_waits_for_a_second_is_no_linux_that_looks_whether_it_was_needless() {
    // RFC 6298 §2.4 and RFC 5682. Ten segments make the initial window (RFC 6928); then a link goes down for both
    // directions: of ten more segments every second is lost, and what was SACKed is first heard after the timeout.
    let after = |wait: u64| {
        let mut t = opened(Vantage::Receiver).sack_permitted();
        for k in 0..10 {
            t = t.id(k as u16).at(25).data(seq(k), SIZE).ack(seq(k + 1));
        }
        for k in [11, 13, 15, 17, 19] {
            t = t.id(k as u16).at(46).data(seq(k), SIZE).sack(seq(10), &[(seq(k), seq(k + 1))]);
        }
        let blocks = [(seq(19), seq(20)), (seq(17), seq(18)), (seq(15), seq(16))];
        t = t.id(20).at(46 + wait).data(seq(10), SIZE).sack(seq(12), &blocks);
        t = t.id(21).at(66 + wait).data(seq(12), SIZE).sack(seq(14), &blocks);
        causes(&t.id(22).at(66 + wait).data(seq(14), SIZE).sack(seq(16), &blocks[..2]).ends())
    };
    assert_eq!(after(1000), [Cause::Timeout, Cause::LossState, Cause::LossState]);
    assert_eq!(after(220), [Cause::Timeout, Cause::Recovery, Cause::Recovery], "a Linux");
    assert_eq!(
        after(660),
        [Cause::Timeout, Cause::Recovery, Cause::Recovery],
        "a Linux, whose first copy was lost"
    );
}

/// Three flights arrive over a path whose round trip takes 133 ms, seven segments in all, the last four at `t` + 266.
fn opened_slowly(t: u64) -> Story {
    let mut s = Story::from(Vantage::Receiver).handshake(133);
    for (of, at) in [(0..1, t), (1..3, t + 133), (3..7, t + 266)] {
        s = arrive(s, of, at);
    }
    s
}

/// Segments 7 to 14 are lost, the timer sends the first of them again at `at`, and slow start goes on; the host had counted
/// up to `id` by then. So many are found to have been sent before.
fn repaired_from(mut t: Story, id: u16, at: u64) -> u64 {
    for (k, later) in
        [(7, 0), (8, 133), (9, 133), (10, 266), (11, 266), (12, 266), (13, 266), (14, 399), (15, 399)]
    {
        t = t.id(id + k as u16 - 7).at(at + later).data(seq(k), SIZE).ack(seq(k + 1));
    }
    t.ends().flow.retransmitted_packets
}

#[test]
fn a_wait_of_exactly_a_second_is_a_floor_and_not_two_waits_of_a_third() {
    // RFC 6298 §2.4 and §5.5. The RTO may be 333 ms by the round trips seen; then one of the eight packets missing would
    // have been the timer's, and only seven segments had been sent.
    assert_eq!(repaired_from(opened_slowly(140), 15, 539 + 1000), 8);
}

#[test]
fn a_timer_that_partial_acks_do_not_restart_tells_nothing_of_how_long_it_waits() {
    // RFC 6582 §3.2: without SACK fast recovery restarts the timer on the first partial ACK only. Here it fires 200 ms after
    // the fourth: it has a floor of a second, as it shows the next time.
    let mut t = arrive(opened_slowly(140), 7..8, 539);
    // Of 8 to 17, all but those four are there.
    for k in [9, 11, 13, 15, 16, 17] {
        t = t.id(k).at(540).data(seq(k.into()), SIZE).ack(seq(8));
    }
    for (n, k) in [8, 10, 12].into_iter().enumerate() {
        t = t.id(18 + n as u16).at(673 + 133 * n as u64).data(seq(k), SIZE).ack(seq(k + 2));
    }
    // The repair of 14 is lost, 21.
    t = t.id(22).at(939 + 333).data(seq(14), SIZE).ack(seq(18));
    t = t.id(23).at(1405).data(seq(18), SIZE).ack(seq(19)).id(24).data(seq(19), SIZE).ack(seq(20));
    // Four more are lost, 25 to 28.
    for (id, k, at) in [(29, 20, 2538), (30, 21, 2671), (31, 22, 2671), (32, 23, 2804), (33, 24, 2804)] {
        t = t.id(id).at(at).data(seq(k), SIZE).ack(seq(k + 1));
    }
    let told = t.ends();
    use Cause::{LossState, Recovery, Timeout};
    let [r, t, l] = [Recovery, Timeout, LossState];
    assert_eq!(causes(&told), [r, r, r, t, t, l, l, l]);
}

#[test]
fn a_timer_that_waits_as_long_as_it_ever_does_waits_no_longer_the_next_time() {
    // RFC 6298 §2.5 and §5.5: nothing but repeated segments is acknowledged, so the back-off stays until it reaches 60 s.
    // Of eleven segments in flight each timeout brings one through, and of what its ACK sets off two are lost.
    let mut t = opened_slowly(140);
    let (mut id, mut at, mut k) = (18, 539, 7);
    for wait in [1, 2, 4, 8, 16, 32, 60, 60] {
        at += wait * 1000;
        t = t.id(id).at(at).data(seq(k), SIZE).ack(seq(k + 1));
        (id, at, k) = (id + 3, at + 133, k + 1);
    }
    // The path is well again behind the last of them: 15, 16 and 17 are left.
    for k in [15, 16, 17, 18] {
        t = t.id(id - 2 + (k - 15) as u16).at(at).data(seq(k), SIZE).ack(seq(k + 1));
    }
    assert_eq!(t.ends().flow.retransmitted_packets, 11);
}

#[test]
fn a_floor_of_a_second_shows_where_the_first_copy_of_the_timer_was_lost_too() {
    // RFC 6298 §2.4 and §5.5: one second, and two. The eight packets missing are seven segments and the timer's first copy.
    assert_eq!(repaired_from(opened_slowly(140), 15, 539 + 3000), 7);
}

#[test]
fn what_a_partial_ack_asked_for_is_not_due_where_the_timer_repeats_what_lies_below_it() {
    // RFC 6582 §3.2, without SACK. Segments 10 and 12 are lost; the repair of 10 comes, its ACK and the tail 16 to 18 do
    // not: what the timer sends tells that the sender has not heard of it. All three that are missing were data.
    let mut t = arrive(opened(Vantage::Receiver), 0..10, 40);
    for k in [11, 13, 14, 15] {
        t = t.id(k as u16).at(45).data(seq(k), SIZE).ack(seq(10));
    }
    t = t.id(16).at(66).data(seq(10), SIZE).ack(seq(12));
    t = t.id(20).at(390).data(seq(10), SIZE).ack(seq(12));
    t = t.id(21).at(410).data(seq(12), SIZE).ack(seq(16));
    for (k, id) in [(16, 22), (17, 23), (18, 24), (19, 25)] {
        t = t.id(id).at(430).data(seq(k), SIZE).ack(seq(k + 1));
    }
    let told = t.ends();
    use Cause::{LossState, Recovery, Timeout};
    assert_eq!(causes(&told), [Recovery, Timeout, LossState, LossState, LossState, LossState]);
}

#[test]
fn what_is_missing_while_the_window_is_full_was_no_data() {
    // RFC 9293 §3.8.6: a window of ten segments. All ten arrive, their ACKs do not; a probe (RFC 8985 §7.3) and the timer's
    // first copy are lost. Segment 30 is new.
    let mut t = Story::from(Vantage::Receiver).sack_permitted().window(10 * SIZE as u16).handshake(20);
    for round in 0..3u32 {
        t = arrive(t, round * 10..round * 10 + 10, 40 + 40 * u64::from(round));
    }
    t = t.id(32).at(120 + 720).data(seq(20), SIZE).ack(seq(30));
    t = t.id(33).at(860).data(seq(30), SIZE).ack(seq(31)).id(34).data(seq(31), SIZE).ack(seq(32));
    let told = t.ends();
    assert_eq!(causes(&told), [Cause::Timeout]);
}

#[test]
fn repairs_go_upwards_so_those_that_were_passed_over_were_sent_and_lost() {
    // RFC 6675 §4, NextSeg. Of 10 to 19 four are lost, and of their repairs the second, that once more, and the third: the
    // three packets missing were no data of their own, and what follows is new.
    let data =
        |t: Story, id: u16, at: u64, k: u32, echo: u32| t.id(id).at(at).data(seq(k), SIZE).echoing(echo);
    let block = |l: u32, r: u32| (seq(l), seq(r));
    let mut t = opened_with_clocks();
    for k in 0..10 {
        t = data(t, k as u16, 25, k, 0).ack(seq(k + 1)).echoing(25);
    }
    for k in [11, 13, 15, 17, 18, 19] {
        let mut blocks = vec![block(k.min(17), k + 1)];
        blocks.extend([15, 13, 11].into_iter().filter(|l| *l < k).map(|l| block(l, l + 1)));
        blocks.truncate(3);
        t = data(t, k as u16, 45, k, 25).sack(seq(10), &blocks).echoing(45);
    }
    t = data(t, 20, 65, 10, 45).sack(seq(12), &[block(17, 20), block(15, 16), block(13, 14)]).echoing(65);
    t = data(t, 23, 66, 16, 45).sack(seq(12), &[block(15, 20), block(13, 14)]).echoing(66);
    t = data(t, 25, 86, 14, 66).sack(seq(12), &[block(13, 20)]).echoing(86);
    t = data(t, 26, 106, 12, 86).ack(seq(20)).echoing(106);
    for k in 20..24 {
        t = data(t, k as u16 + 7, 126, k, 106).ack(seq(k + 1)).echoing(126);
    }
    assert_eq!(causes(&t.ends()), [Cause::Recovery; 4]);
}

#[test]
fn the_timer_of_a_linux_waits_for_what_queues_on_the_way_take_too() {
    // RFC 6298 §2. A round trip takes 20 ms, and 200 with the queue. The repair that SACKs ask for is lost with the last
    // segments; the timer fires 560 ms later for the first time, and not twice: no F-RTO in recovery (RFC 5682 §2.1).
    let data = |t: Story, id: u16, at: u64, k: u32, left: u32, echo: u32| {
        t.id(id).at(at).data(seq(k), SIZE).left(left).echoing(echo)
    };
    let mut t = opened_with_clocks();
    for k in 0..10 {
        t = data(t, k as u16, 40, k, 20, 0).ack(seq(k + 1)).echoing(20);
    }
    for (of, at) in [(10..20, 240), (20..30, 440), (30..40, 640)] {
        for k in of {
            t = data(t, k as u16, at, k, at as u32 - 200, at as u32 - 200).ack(seq(k + 1)).echoing(20);
        }
    }
    // Of 40 to 53 two are lost, and the last four; what the last two SACK is not heard.
    let mut told = Vec::new();
    for k in (41..50).filter(|k| *k != 42) {
        let blocks = [(seq(43), seq(k + 1)), (seq(41), seq(42))];
        told = if k == 41 { blocks[1..].to_vec() } else { blocks.to_vec() };
        t = data(t, k as u16, 840 + u64::from(k > 47) * 2, k, 640, 640).sack(seq(40), &told).echoing(640);
    }
    t = data(t, 55, 1440, 40, 1400, 840).sack(seq(42), &told[..1]).echoing(1400);
    t = data(t, 56, 1480, 42, 1440, 1440).ack(seq(50)).echoing(1440);
    t = data(t, 57, 1481, 50, 1440, 1440).ack(seq(51)).echoing(1440);
    use Cause::{LossState, Timeout};
    assert_eq!(causes(&t.ends()), [Timeout, LossState, LossState]);
}

#[test]
fn a_queue_that_was_there_before_the_senders_clock_was_known_is_seen_through() {
    // RFC 7323 §5.4: how fast timestamps tick shows when 100 ms have passed, and what comes then has waited for 200 ms in a
    // queue. The repair waits for 600, and left as soon as what was SACKed was heard.
    let mut t = arrive(opened_with_clocks(), 0..10, 40);
    for k in 11..20 {
        t = t.id(k as u16).at(440).data(seq(k), SIZE).left(240).echoing(40);
        t = t.sack(seq(10), &[(seq(11), seq(k + 1))]).echoing(240);
    }
    t = t.id(20).at(1045).data(seq(10), SIZE).left(445).echoing(440).ack(seq(20)).echoing(445);
    assert_eq!(causes(&t.ends()), [Cause::Recovery]);
}

/// Ten segments arrive; of what is sent next `of` do, and what they SACK beyond ten is told at 45.
fn sacked_beyond_ten(of: &[u32]) -> Story {
    let data = |t: Story, k: u32, echo: u32| t.id(k as u16).data(seq(k), SIZE).echoing(echo);
    let mut t = opened_with_clocks().at(25);
    for k in 0..10 {
        t = data(t, k, 0).ack(seq(k + 1)).echoing(25);
    }
    t = t.at(45);
    for (n, k) in of.iter().enumerate() {
        let blocks: Vec<_> = of[..=n].iter().rev().take(3).map(|k| (seq(*k), seq(k + 1))).collect();
        t = data(t, *k, 25).sack(seq(10), &blocks).echoing(25);
    }
    t
}

#[test]
fn who_times_each_copy_repairs_all_that_left_before_a_repair_that_arrived() {
    // RFC 8985 §6.2. 16 was sent before the repair of 10, and 17 and 18 before that of 12; what is missing then, 21, was the
    // repair of 14.
    let mut t = sacked_beyond_ten(&[11, 13, 15]);
    let after = |k: u32| (seq(k), seq(k + 1));
    t = t.id(17).at(65).data(seq(10), SIZE).echoing(45);
    t = t.sack(seq(12), &[after(15), after(13)]).echoing(65);
    t = t.id(20).at(66).data(seq(12), SIZE).echoing(45).sack(seq(14), &[after(15)]).echoing(66);
    for k in 16..22 {
        t = t.id(k as u16 + 6).at(86).data(seq(k), SIZE).echoing(66);
        t = t.sack(seq(14), &[(seq(15), seq(k + 1))]).echoing(86);
    }
    assert_eq!(causes(&t.ends()), [Cause::Recovery; 5]);
}

/// Segments `of` arrive at `when`, number `k` with identification `k`; the first of them is missing, and asked for.
fn ask(mut t: Story, of: &[u32], when: u64, first: u32) -> Story {
    for &k in of {
        t = t.id(k as u16).at(when).data(seq(k), SIZE).ack(seq(first));
    }
    t
}

/// Repairs, each of a segment, with the time at which it comes and what is acknowledged then.
fn repairs(mut t: Story, mut id: u16, of: &[(u32, u64, u32)]) -> Story {
    for &(k, at, ack) in of {
        t = t.id(id).at(at).data(seq(k), SIZE).ack(seq(ack));
        id += 1;
    }
    t
}

#[test]
fn slow_start_does_not_go_back() {
    // RFC 5681 §3.2: who does not mind the timeout before (RFC 6582 §4.1 does) answers three duplicate ACKs in slow start,
    // a little sooner after they passed here than the way to the sender and back has been known to take.
    let t = arrive(Story::from(Vantage::Receiver).handshake(40), 0..4, 45);
    let t = repairs(t, 12, &[(4, 300, 5), (5, 340, 6), (6, 340, 7)]);
    let t = repairs(t, 16, &[(8, 380, 7), (9, 380, 7), (10, 380, 7), (7, 416, 11), (11, 456, 12)]);
    use Cause::{LossState, Recovery, Timeout};
    let [r, t_, l] = [Recovery, Timeout, LossState];
    assert_eq!(causes(&t.ends()), [t_, l, l, l, l, l, r, r]);
}

#[test]
fn new_data_amid_duplicate_acks_shows_that_no_timer_had_fired() {
    // RFC 5681 §3.2 step 4: it comes sooner behind the copy of 4 than that can be answered. The next one is the timer's.
    let t = arrive(Story::from(Vantage::Receiver).handshake(40), 0..4, 45);
    let t = ask(t, &[5, 6, 9, 10, 11], 85, 4);
    let t =
        repairs(t, 12, &[(4, 285, 7), (12, 295, 7), (13, 296, 7), (4, 405, 7), (7, 445, 8), (8, 445, 14)]);
    assert_eq!(causes(&t.ends())[1..], [Cause::Timeout, Cause::LossState, Cause::LossState]);
}

#[test]
fn what_is_sent_behind_a_timers_copy_tells_that_an_ack_has_been_heard() {
    // RFC 5681 §3.1: the loss window is one segment. ACKs take far longer to the sender than they did: the timer repeats 4,
    // long acknowledged, and slow start goes on at 8, where three duplicate ACKs send it back to.
    let t = arrive(Story::from(Vantage::Receiver).handshake(20), 0..8, 45);
    let t = ask(t, &[9, 10, 11, 12, 13, 14], 70, 8);
    let t = repairs(t, 15, &[(4, 305, 8), (8, 308, 9), (9, 311, 15), (8, 325, 15)]);
    use Cause::{LossState, Recovery, Timeout};
    assert_eq!(causes(&t.ends()), [Timeout, LossState, LossState, Recovery]);
}

#[test]
fn a_repair_that_comes_long_after_its_ack_and_had_been_lost_is_the_timers() {
    // RFC 6582 §3.2 answers a partial ACK at once; the packet missing before this one did.
    let t = arrive(Story::from(Vantage::Receiver).handshake(40), 0..4, 45);
    let t = ask(t, &[9, 10, 11, 12], 85, 4);
    let t = repairs(t, 13, &[(4, 125, 5), (5, 165, 6), (6, 205, 7)]);
    let t = repairs(t, 17, &[(7, 375, 8), (8, 415, 13)]);
    use Cause::{LossState, Recovery, Timeout};
    assert_eq!(causes(&t.ends()), [Recovery, Recovery, Recovery, Timeout, LossState]);
}

#[test]
fn the_third_duplicate_ack_may_have_been_heard_sooner_than_the_handshake_tells() {
    // RFC 5681 §3.2. It passed 94 ms ago, where the handshake took 100 ms, and the one before it long ago.
    let t = arrive(Story::from(Vantage::Receiver).handshake(100), 0..4, 130);
    let t = ask(ask(t, &[5, 6], 200, 4), &[7], 295, 4);
    let t = repairs(t, 8, &[(4, 389, 8)]);
    assert_eq!(causes(&t.ends()), [Cause::Recovery]);
}

#[test]
fn duplicate_acks_behind_those_that_were_heard_tell_no_turn() {
    // RFC 5681 §3.2. The first repair comes 2 ms behind duplicate ACKs, and 98 ms behind those that had asked for it.
    let t = arrive(Story::from(Vantage::Receiver).handshake(100), 0..4, 105);
    let t = ask(ask(t, &[5, 6, 7], 205, 4), &[8, 9, 10, 11], 301, 4);
    let mut t = repairs(t, 12, &[(4, 303, 12)]);
    for k in 12..17 {
        t = t.id(k as u16 + 1).at(403).data(seq(k), SIZE).ack(seq(k + 1));
    }
    for (k, at) in [(18, 504), (19, 504), (20, 598)] {
        t = t.id(k as u16 + 1).at(at).data(seq(k), SIZE).ack(seq(17));
    }
    let t = repairs(t, 22, &[(17, 696, 21)]);
    assert_eq!(causes(&t.ends()), [Cause::Recovery; 2]);
}

#[test]
fn a_probe_may_repeat_a_tail_that_was_never_seen() {
    // RFC 8985 §7.2: after two round trips, while nothing is known to be missing. Segment 10, with identification 10, is lost.
    let open = arrive(opened_with_clocks(), 0..10, 25);
    let told = open.id(11).at(71).data(seq(10), SIZE).ack(seq(11)).ends();
    assert_eq!(causes(&told), [Cause::Probe]);
}
