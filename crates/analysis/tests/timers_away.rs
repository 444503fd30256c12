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
