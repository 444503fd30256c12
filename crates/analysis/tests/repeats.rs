//! What passes twice and repeats no data: FINs, copies from mirror ports, answers to doubled SYNs, keep-alives. Nothing was
//! lost, and nothing was repaired.

mod story;

use analysis::rows::{Cause, Vantage};
use story::random::Random;
use story::{All, Story, opened};

const SEEDS: u64 = 200;
const PLACES: [Vantage; 3] = [Vantage::Sender, Vantage::Middle, Vantage::Receiver];

/// Neither host has a repair, an episode or a loss.
fn is_clean(all: &All) -> bool {
    let clean = |f: &analysis::rows::FlowRow| f.retransmitted_packets == 0 && f.syn_retransmissions == 0;
    all.flows.iter().all(clean)
        && all.rows.retransmissions.is_empty()
        && all.rows.episodes.is_empty()
        && all.rows.bursts.is_empty()
}

/// A handshake of hosts that number their packets from 99 and from 9100 on.
fn met(at: Vantage, rtt: u64) -> Story {
    let there = match at {
        Vantage::Receiver => 0,
        Vantage::Middle => rtt / 2,
        _ => rtt,
    };
    let t = Story::from(at).id(99).at(0).syn().reply_id(9100).at(there).syn_ack();
    t.id(100).at(rtt).ack_of_syn()
}

/// A request and its answer, `turns` times, over a path of `rtt`. The hosts number what they send in steps of `step`. Returns
/// where the sender's data ends, when it does, and its last identification.
fn talked(mut t: Story, r: &mut Random, turns: u32, rtt: u64, step: u16) -> (Story, u32, u64, u16) {
    let (mut seq, mut at, mut id) = (1, rtt + 10, 100u16);
    for _ in 0..turns {
        let len = r.within(20, 1000) as u32;
        id += step;
        t = t.id(id).reply_id(id.wrapping_add(9000)).at(at).data(seq, len).at(at + rtt).request(120);
        seq += len;
        at += rtt + r.within(1, 900);
        id += step;
        t = t.id(id).at(at).ack_of_syn();
        at += r.within(1, 400);
    }
    (t, seq, at, id)
}

#[test]
fn a_fin_with_each_ack_after_it_repeats_nothing() {
    // RFC 9293 §3.6: the host has closed its half, and goes on acknowledging what the other one sends.
    for seed in 1..=SEEDS {
        let mut r = Random::new(seed);
        let rtt = r.within(2, 300);
        let at = r.pick(&PLACES);
        let (mut t, end, mut when, mut id) = talked(met(at, rtt), &mut r, 5, rtt, 1);
        t = t.id(id + 1).at(when).fin(end);
        let answered_first = r.one_in(2);
        if answered_first {
            t = t.at(when + rtt).ack(end + 1);
        }
        for _ in 0..r.within(1, 8) {
            when += rtt + r.within(0, 500);
            id += 1;
            t = t.at(when).request(300).id(id + 1).fin(end);
        }
        let all = t.at(when + rtt).reply_fin().ends_with_all();
        assert!(is_clean(&all), "seed {seed}: {:#?}", all.rows.retransmissions);
    }
}

#[test]
fn a_fin_that_acknowledges_the_fin_that_crossed_it_repeats_nothing() {
    for seed in 1..=SEEDS {
        let mut r = Random::new(seed);
        let rtt = r.within(2, 300);
        let at = r.pick(&PLACES);
        let (t, end, when, id) = talked(met(at, rtt), &mut r, 5, rtt, 1);
        let crossing = (when * 1000 + r.within(0, rtt * 1000)).max(when * 1000 + 1);
        // The other host had not heard of the FIN when it sent its own.
        let t = t.id(id + 1).at(when).fin(end).at_us(crossing).reply_fin_before(end);
        let t = t.id(id + 2).at_us(crossing + 50).fin(end).at(when + 2 * rtt).ack(end + 1);
        let all = t.ends_with_all();
        assert!(is_clean(&all), "seed {seed}: {:#?}", all.rows.retransmissions);
    }
}

#[test]
fn a_fin_that_a_timer_sends_again_before_it_is_acknowledged_is_a_repair() {
    for seed in 1..=SEEDS {
        let mut r = Random::new(seed);
        let rtt = r.within(2, 150);
        let (t, end, when, id) = talked(opened(Vantage::Sender), &mut r, 5, rtt, 1);
        let t = t.id(id + 1).at(when).fin(end).id(id + 2).at(when + 450).fin(end);
        let told = t.at(when + 450 + rtt).ack(end + 1).ends_with_all();
        let causes: Vec<_> = told.rows.retransmissions.iter().map(|r| r.cause).collect();
        assert_eq!(causes, [Cause::Timeout], "seed {seed}");
    }
}

#[test]
fn copies_of_a_mirror_port_are_one_packet_however_late_they_come() {
    for seed in 1..=SEEDS {
        let mut r = Random::new(seed);
        let rtt = r.within(2, 200);
        // Hosts that count their packets, and hosts that count others between them.
        let step = r.within(1, 4) as u16;
        let delays: Vec<i64> = (0..r.within(1, 4)).map(|_| r.within(1, 80_000) as i64).collect();
        let t = met(r.pick(&PLACES), rtt);
        let (t, end, when, id) = talked(t, &mut r, 12, rtt, step);
        let t = t.id(id + step).at(when).fin(end).at(when + rtt).reply_fin();
        let all = t.mirrored(&delays).ends_with_all();
        assert!(is_clean(&all), "seed {seed}, delays {delays:?} µs: {:#?}", all.rows.retransmissions);
    }
}

#[test]
fn a_second_answer_to_a_syn_within_less_than_any_timer_is_no_retransmission() {
    // RFC 6298 §2.1: the first timer waits for a second. Linux gives SYN-ACKs the number 0.
    for seed in 1..=SEEDS {
        let mut r = Random::new(seed);
        let rtt = r.within(2, 300);
        let again = r.within(0, 150);
        let t = Story::from(r.pick(&PLACES)).at(0).id(7).syn().at(rtt).reply_id(0).syn_ack();
        let (t, ..) = talked(t.at(rtt).ack_of_syn().at(rtt + again).syn_ack(), &mut r, 3, rtt + 200, 1);
        let all = t.ends_with_all();
        assert!(is_clean(&all), "seed {seed}: again after {again} ms");
    }
}

#[test]
fn keep_alives_are_no_data_and_leave_nothing_missing_in_the_numbers() {
    // RFC 9293 §3.8.4: the byte before SND.NXT, or none.
    for seed in 1..=SEEDS {
        let mut r = Random::new(seed);
        let rtt = r.within(2, 200);
        let turns = r.within(0, 4) as u32;
        let t = met(r.pick(&PLACES), rtt);
        let (mut t, mut seq, mut when, mut id) = talked(t, &mut r, turns, rtt, 1);
        for _ in 0..r.within(1, 8) {
            for _ in 0..r.within(1, 5) {
                when += r.within(5_000, 75_000);
                id += 1;
                t = t.id(id).at(when);
                t = if r.one_in(2) { t.keep_alive(seq - 1) } else { t.bare(seq - 1) };
                t = t.at(when + rtt).ack(seq);
            }
            when += r.within(300, 9_000);
            id += 1;
            let len = r.within(2, 900) as u32;
            t = t.id(id).at(when).data(seq, len).at(when + rtt).ack(seq + len);
            seq += len;
        }
        let all = t.ends_with_all();
        assert!(is_clean(&all), "seed {seed}: {:#?}", all.rows.retransmissions);
    }
}
