//! ACKs behind a hole that wait for those that follow (Linux since 4.18, __tcp_ack_snd_check).

use super::*;

const MSS: u64 = 1448;

/// Twenty segments have used up what is acknowledged at once at the beginning; the round trip is so many milliseconds.
fn under_way(rtt_ms: i64, compress: Option<Span>) -> Story {
    let quick = DelayedAck::Quick {
        quick: 16,
        min: Span::from_millis(40),
        max: Span::from_millis(200),
        compress,
        pushed: None,
        growing: false,
    };
    let window = WindowPolicy::AutoTuned {
        initial_bytes: 1 << 20,
        untuned_bytes: 1 << 20,
        max_bytes: 1 << 20,
        ahead: true,
    };
    let mut s = Story::new(quick, window, MSS as u32, 0);
    s.receiver.rtt_hint(Span::from_millis(rtt_ms));
    for k in 0..40 {
        segment(&mut s, k);
    }
    s.at_ms(100);
    s
}

fn segment(s: &mut Story, k: u64) -> Ack {
    s.data(k * MSS, (k + 1) * MSS)
}

const MOST: Option<Span> = Some(Span::from_millis(1));

#[test]
fn three_acks_leave_at_once_and_one_stands_for_those_of_the_next_millisecond() {
    let mut s = under_way(40, MOST);
    assert_eq!([41, 42, 43].map(|k| segment(&mut s, k)), [Ack::Now; 3]);
    assert_eq!([44, 45, 46].map(|k| segment(&mut s, k)), [Ack::Later; 3]);
    // tcp_comp_sack_delay_ns and its slack, from the first that waits.
    assert_eq!(s.receiver.ack_deadline(), Time(101_100_000));
    s.at(Time(101_100_000)).receiver.ack_sent(Time(101_100_000));
    assert_eq!(segment(&mut s, 47), Ack::Later);
    // The hole is filled.
    assert_eq!(segment(&mut s, 40), Ack::Now);
    assert_eq!(s.receiver.ack_deadline(), Time::FAR_FUTURE);
}

#[test]
fn the_wait_is_a_twentieth_of_a_short_round_trip() {
    let mut s = under_way(10, MOST);
    (41..45).for_each(|k| {
        segment(&mut s, k);
    });
    assert_eq!(s.receiver.ack_deadline(), Time(100_600_000));
}

#[test]
fn another_hole_begins_with_acks_at_once_and_so_do_more_than_44() {
    let mut s = under_way(40, MOST);
    let acks: Vec<Ack> = (41..41 + 3 + 44 + 1).map(|k| segment(&mut s, k)).collect();
    assert!(acks[3..47].iter().all(|&ack| ack == Ack::Later));
    assert_eq!(acks[47], Ack::Now, "tcp_comp_sack_nr");
    assert_eq!(segment(&mut s, 100), Ack::Later);
    // Filled up to the next hole, which is another.
    assert_eq!(segment(&mut s, 40), Ack::Now);
    assert_eq!([101, 102, 103, 104].map(|k| segment(&mut s, k)), [Ack::Now, Ack::Now, Ack::Now, Ack::Later]);
}

#[test]
fn duplicates_are_told_at_once_and_without_the_key_everything_is() {
    let mut s = under_way(40, MOST);
    (41..45).for_each(|k| {
        segment(&mut s, k);
    });
    assert_eq!(segment(&mut s, 44), Ack::Now, "RFC 2883");
    let mut s = under_way(40, None);
    assert!((41..60).all(|k| segment(&mut s, k) == Ack::Now));
}
