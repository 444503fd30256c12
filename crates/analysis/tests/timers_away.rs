//! What a timer sent unseen, told where data arrives: each as a timeline.

mod story;

use analysis::rows::{Cause, Vantage};
use story::{MSS, Story};

fn seq(k: u32) -> u32 {
    1 + k * MSS
}

/// Packets of a segment each: the identification, the segment, when it comes, and what is acknowledged then.
fn come(mut t: Story, of: &[(u16, u32, u64, u32)]) -> Story {
    for &(id, k, at, ack) in of {
        t = t.id(id).at(at).data(seq(k), MSS).ack(seq(ack));
    }
    t
}

/// Three flights over a path whose round trip takes 133 ms: segments 0 to 6, the last at 405 ms.
fn opened() -> Story {
    let t = Story::from(Vantage::Receiver).handshake(133);
    (0..7).fold(t, |t, k| come(t, &[(k as u16, k, [139, 272, 272, 405, 405, 405, 405][k as usize], k + 1)]))
}

/// The first `segments` over a path whose round trip takes 20 ms, from 25 ms on, `apart` ms from each other.
fn begun(segments: u32, apart: u64) -> Story {
    let t = Story::from(Vantage::Receiver).handshake(20);
    (0..segments).fold(t, |t, k| come(t, &[(k as u16, k, 25 + apart * u64::from(k), k + 1)]))
}

fn sent_again(t: Story) -> u64 {
    t.ends().flow.retransmitted_packets
}

fn causes(t: Story) -> Vec<Cause> {
    t.ends().rows.retransmissions.iter().map(|r| r.cause).collect()
}

#[test]
fn behind_an_answered_copy_of_a_timer_two_segments_are_sent_and_no_more() {
    // RFC 5681 §3.1. It fires a second after 7 was lost, and 3 s after the answer to that: once, or after one second and
    // two. But two packets are missing, and two segments, 8 and 9, make the window.
    let t = come(opened(), &[(8, 7, 1405, 8), (11, 8, 4538, 9), (12, 9, 4671, 10), (13, 10, 4671, 11)]);
    assert_eq!(sent_again(t), 3);
}

#[test]
fn until_a_timers_copy_is_answered_nothing_else_is_sent() {
    // RFC 5681 §3.1: the loss window is one segment. What is missing behind it was the same segment.
    let t = come(opened(), &[(8, 7, 1405, 8), (10, 7, 3405, 8), (11, 8, 3538, 9), (12, 9, 3538, 10)]);
    assert_eq!(sent_again(t), 2);
}

#[test]
fn what_is_missing_is_counted_once() {
    // RFC 5681 §3.1. Of 7 to 10, all lost, slow start repeats 8 and 9, and the timer 8, all in vain, before it comes after 2
    // and 4 s: of three packets missing all had been sent before.
    let t = come(opened(), &[(11, 7, 1405, 8), (15, 8, 7538, 9), (16, 9, 7671, 10)]);
    assert_eq!(sent_again(come(t, &[(17, 10, 7671, 11), (18, 11, 7804, 12)])), 4);
}

#[test]
fn what_was_overtaken_in_slow_start_had_been_lost_like_all_the_rest() {
    // 7 to 9 are lost; the repair of 9 comes before that of 8, and shows a gap that is no new one.
    let t = come(opened(), &[(10, 7, 1405, 8), (12, 9, 1538, 8), (11, 8, 1539, 10), (13, 10, 1671, 11)]);
    assert_eq!(sent_again(t), 3);
}

#[test]
fn behind_an_answer_that_says_more_than_its_copy_two_segments_are_sent_too() {
    // RFC 5681 §3.1. 8 had arrived, so the answer to 7 asks for 9; a sender without timestamps or SACK needs one more ACK to
    // take the timeout for needless (RFC 5682 §2.1).
    let t = come(opened(), &[(8, 8, 406, 7), (9, 7, 1405, 9), (12, 9, 4538, 10), (13, 10, 4671, 11)]);
    assert_eq!(sent_again(come(t, &[(14, 11, 4671, 12)])), 3);
}

#[test]
fn three_duplicate_acks_send_tahoe_back_once_more() {
    // RFC 2581 §3.2, without fast recovery: behind its repair it sends again what had arrived, and begins anew where three
    // duplicate ACKs say, though an ACK of more is on its way.
    let mut t = begun(10, 0);
    t = (11..31).filter(|k| *k != 16).fold(t, |t, k| come(t, &[(k as u16, k, 20 + u64::from(k), 10)]));
    t = come(t, &[(31, 10, 52, 16), (32, 11, 53, 16), (33, 12, 54, 16), (34, 13, 55, 16), (35, 14, 56, 16)]);
    t = come(t, &[(36, 15, 57, 16), (37, 16, 58, 31), (38, 17, 59, 31), (39, 18, 60, 31)]);
    t = come(t, &[(40, 16, 85, 31), (41, 19, 86, 31), (42, 20, 87, 31)]);
    assert_eq!(causes(t), [Cause::Recovery; 12]);
}

#[test]
fn who_sends_new_data_among_repairs_is_no_tahoe() {
    // RFC 5681 §3.2 step 4. Behind the first repair what had arrived came again; but three new segments come behind the next.
    // So it is the timer that repeats 26 once more, and not Tahoe that begins anew.
    let mut t = begun(10, 0);
    t = (11..16).fold(t, |t, k| come(t, &[(k as u16, k, 26, 10)]));
    t = come(t, &[(16, 10, 60, 16), (17, 11, 61, 16)]);
    t = (16..26).fold(t, |t, k| come(t, &[(k as u16 + 2, k, 81, k + 1)]));
    t = (27..32).fold(t, |t, k| come(t, &[(k as u16 + 2, k, 101, 26)]));
    t = come(t, &[(34, 26, 126, 32), (35, 32, 127, 33), (36, 33, 128, 34), (37, 34, 129, 35)]);
    t = (35..41).fold(t, |t, k| come(t, &[(k as u16 + 3, k, 320 + 4 * u64::from(k - 35), k + 1)]));
    t = come(t, &[(44, 26, 346, 41)]);
    assert_eq!(causes(t), [Cause::Recovery, Cause::Recovery, Cause::Recovery, Cause::Timeout]);
}

#[test]
fn what_was_overtaken_tells_nothing_of_what_its_sender_has_not_heard() {
    // RFC 2581 §3.2. 10 and 14 are overtaken by three segments each, and asked for. Their repairs come 300 ms later, as full
    // as the way back is, and that of 14 first: the other one had left before it, when 10 was what its sender had heard.
    let mut t = Story::from(Vantage::Receiver).handshake(20);
    let order = (0..10).chain([11, 12, 13, 10, 15, 16, 17, 14]).chain(18..30);
    let mut came = [false; 31];
    for (n, k) in order.enumerate() {
        came[k as usize] = true;
        let ack = came.iter().position(|c| !c).unwrap_or(0) as u32;
        t = come(t, &[(k as u16, k, 25 + 10 * n as u64, ack)]);
    }
    t = come(t, &[(31, 14, 330, 30), (30, 10, 331, 30)]);
    assert_eq!(causes(t), [Cause::Recovery; 2]);
}

#[test]
fn a_repair_that_begins_where_an_ack_says_tells_how_long_that_took() {
    // RFC 5681 §3.1. The handshake took 133 ms. Of 7 to 13 three have arrived; 12 comes 50 ms behind the ACK that says so,
    // and not where the repair before it ended. So the next ACK that asks was heard 200 ms before its repair, the timer's.
    let t = come(opened(), &[(10, 10, 539, 7), (11, 11, 539, 7), (13, 13, 540, 7), (14, 7, 1539, 8)]);
    let mut t = come(t, &[(15, 8, 1589, 9), (16, 9, 1589, 12), (17, 12, 1639, 14)]);
    for k in 14..20 {
        t = come(t, &[(k as u16 + 4, k, 1640 + 50 * u64::from(k / 2 - 7), k + 1)]);
    }
    let t = come(t, &[(25, 21, 1840, 20), (26, 22, 1840, 20), (27, 23, 1840, 20), (29, 25, 1841, 20)]);
    let t = come(t, &[(30, 26, 1841, 20), (31, 20, 1891, 24), (32, 24, 2141, 27)]);
    let told = causes(t);
    use Cause::{LossState, Recovery, Timeout};
    assert_eq!(told, [Timeout, LossState, LossState, LossState, Recovery, Timeout]);
}

#[test]
fn two_repairs_that_left_together_are_slow_starts() {
    // RFC 6582 §3.2: in fast recovery one repair leaves a round trip, of 20 ms. 16, taken for such a one, was the timer's.
    let t = begun(10, 1);
    let t = come(t, &[(11, 11, 46, 10), (13, 13, 47, 10), (15, 15, 48, 10), (20, 20, 49, 10)]);
    let t = come(t, &[(21, 10, 76, 12), (22, 21, 77, 12), (23, 22, 78, 12), (24, 23, 79, 12)]);
    let t = come(t, &[(25, 12, 97, 14), (26, 14, 118, 16), (27, 16, 238, 17), (28, 17, 258, 18)]);
    let told = causes(come(t, &[(29, 18, 259, 19), (30, 19, 279, 24)]));
    assert_eq!(told[5..], [Cause::LossState; 2]);
}

#[test]
fn duplicates_of_an_ack_that_had_not_been_heard_had_not_been_either() {
    // RFC 5681 §3.2. The ACK of 9 was delayed, and the timer repeated that; behind a queue it comes after duplicate ACKs
    // of 10, which would else have been heard.
    let mut t = begun(9, 1).id(9).at(34).data(seq(9), MSS).at(225).ack(seq(10));
    for k in 11..17 {
        t = come(t, &[(k as u16, k, 320 + u64::from(k), 10)]);
    }
    assert_eq!(causes(come(t, &[(17, 17, 356, 10), (18, 9, 362, 10)])), [Cause::Timeout]);
}
