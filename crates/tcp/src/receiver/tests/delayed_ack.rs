//! When ACKs leave.

use super::*;

const MSS: u64 = 1448;

fn every_second() -> Story {
    let every = DelayedAck::Every { every: 2, timeout: Span::from_millis(200) };
    Story::new(every, fixed(1 << 20), MSS as u32, 1)
}

fn linux(window: u32) -> Story {
    let quick = DelayedAck::Quick {
        quick: 16,
        min: Span::from_millis(40),
        max: Span::from_millis(200),
        compress: None,
        pushed: None,
        growing: true,
    };
    Story::new(quick, fixed(window), MSS as u32, 1)
}

/// The `k`-th full segment.
fn full(k: u64) -> (u64, u64) {
    (1 + k * MSS, 1 + (k + 1) * MSS)
}

impl Story {
    fn segments(&mut self, ks: std::ops::Range<u64>) -> Vec<Ack> {
        ks.map(|k| self.data(full(k).0, full(k).1)).collect()
    }
}

#[test]
fn off_acknowledges_every_segment() {
    let mut s = plain(1);
    assert_eq!([s.data(1, 501), s.data(501, 502), s.data(502, 900)], [Ack::Now; 3]);
    assert_eq!(s.receiver.ack_deadline(), Time::FAR_FUTURE);
}

#[test]
fn every_second_segment_is_acknowledged_and_a_single_one_after_the_timeout() {
    let mut s = every_second();
    assert_eq!(s.segments(0..4), [Ack::Later, Ack::Now, Ack::Later, Ack::Now]);
    assert_eq!(s.receiver.ack_deadline(), Time::FAR_FUTURE);
    assert_eq!(s.at_ms(10).segments(4..5), [Ack::Later]);
    s.acks_late_at_ms(210);
    assert_eq!(s.segments(5..7), [Ack::Later, Ack::Now]);
}

#[test]
fn data_that_leaves_carries_the_ack() {
    let mut s = every_second();
    assert_eq!(s.segments(0..1), [Ack::Later]);
    s.receiver.ack_sent(s.now);
    assert_eq!(s.receiver.ack_deadline(), Time::FAR_FUTURE);
    assert_eq!(s.segments(1..3), [Ack::Later, Ack::Now]);
}

#[test]
fn segments_beyond_a_gap_and_into_it_are_acknowledged_at_once() {
    // RFC 5681 §4.2.
    let mut s = every_second();
    assert_eq!(s.segments(0..1), [Ack::Later]);
    assert_eq!(s.segments(2..6), [Ack::Now; 4]);
    assert_eq!(s.receiver.ack_deadline(), Time::FAR_FUTURE, "the delayed ACK left with the first of them");
    // Half of the hole, then the rest.
    let (start, end) = full(1);
    assert_eq!([s.data(start, start + 700), s.data(start + 700, end)], [Ack::Now; 2]);
    assert_eq!(s.segments(6..8), [Ack::Later, Ack::Now]);
}

#[test]
fn duplicates_are_acknowledged_at_once() {
    let mut s = every_second();
    s.segments(0..2);
    assert_eq!(s.segments(0..1), [Ack::Now]);
    assert_eq!(s.receiver.on_data(s.now, 1, 0, false), Ack::None);
}

#[test]
fn ns_3_20_acknowledges_the_first_segment_of_a_connection_at_once() {
    // Its trace full_NewReno: data leaves at 1.0102 s, its ACK is back at 1.0212 s; then every second is acknowledged.
    let policy = DelayedAck::Ns320 { every: 2, timeout: Span::from_millis(200) };
    let mut s = Story::new(policy, fixed(65_535), MSS as u32, 1);
    assert_eq!(s.at_ms(16).segments(0..5), [Ack::Now, Ack::Later, Ack::Now, Ack::Later, Ack::Now]);
    assert_eq!(s.segments(5..6), [Ack::Later]);
    s.acks_late_at_ms(216);
}

#[test]
fn linux_acknowledges_at_once_for_half_a_window_or_16_segments() {
    // Linux 2.6.32: a window of four segments earns two quick ACKs; a large one earns 16.
    for (window, quick) in [(4 * MSS as u32, 2), (1 << 20, 16)] {
        let mut s = linux(window);
        let acks = s.segments(0..quick + 4);
        assert!(acks[..quick as usize].iter().all(|&a| a == Ack::Now), "{window}: {acks:?}");
        assert_eq!(acks[quick as usize..], [Ack::Later, Ack::Now, Ack::Later, Ack::Now]);
    }
}

#[test]
fn linux_delays_40_ms_while_segments_come_fast_and_longer_when_they_come_slowly() {
    let mut s = linux(4 * MSS as u32);
    s.segments(0..2);
    assert_eq!(s.at_ms(1).segments(2..3), [Ack::Later]);
    // Nothing came: the next delay is twice as long.
    s.acks_late_at_ms(41);
    assert_eq!(s.at_ms(71).segments(3..4), [Ack::Later]);
    // Spacing 70 ms against a delay of 80: half of it and the spacing.
    s.acks_late_at_ms(71 + 110);
    // Spacing 110 ms against 200, doubled and at most that: 100 + 110, at most 200.
    assert_eq!(s.at_ms(181).segments(4..5), [Ack::Later]);
    s.acks_late_at_ms(381);
}

#[test]
fn linux_does_not_delay_beyond_a_round_trip_that_it_knows() {
    let tuned = WindowPolicy::AutoTuned {
        initial_bytes: 5792,
        untuned_bytes: 65_536,
        max_bytes: 1 << 20,
        ahead: false,
    };
    let quick = DelayedAck::Quick {
        quick: 2,
        min: Span::from_millis(40),
        max: Span::from_millis(200),
        compress: None,
        pushed: Some(Span::from_millis(1)),
        growing: false,
    };
    let mut s = Story::new(quick, tuned, MSS as u32, 1);
    s.segments(0..2);
    s.segments(2..3);
    s.acks_late_at_ms(40);
    s.receiver.rtt_hint(Span::from_millis(60));
    assert_eq!(s.segments(3..4), [Ack::Later]);
    s.acks_late_at_ms(100);
}

#[test]
fn linux_acknowledges_quickly_again_after_a_duplicate_and_after_a_long_silence() {
    let mut s = linux(1 << 20);
    s.segments(0..16);
    assert_eq!(s.segments(16..18), [Ack::Later, Ack::Now]);
    assert_eq!(s.segments(0..1), [Ack::Now]);
    assert_eq!(s.segments(18..33), [Ack::Now; 15], "15 are left of the 16");
    assert_eq!(s.segments(33..35), [Ack::Later, Ack::Now]);
    // The sender has been silent for longer than its time-out: it starts slowly.
    s.at_ms(500);
    assert_eq!(s.segments(35..51), [Ack::Now; 16]);
}

#[test]
fn linux_acknowledges_the_short_end_of_a_write_once_it_is_read() {
    let mut s = linux(4 * MSS as u32);
    s.segments(0..4);
    s.reads = false;
    assert_eq!(s.pushed(full(4).0, full(4).0 + 300), Ack::Later);
    assert_eq!(s.receiver.ack_deadline(), Time::ZERO + Span::from_millis(40));
    s.receiver.read(s.now, u64::MAX);
    assert_eq!(s.receiver.ack_deadline(), s.now);
}

#[test]
fn linux_acknowledges_the_full_end_of_a_packet_once_it_is_read() {
    // tcp_measure_rcv_mss since 6.6; tcp_cleanup_rbuf. A packet of two, and one of a single segment.
    let reading = |pushed| DelayedAck::Quick {
        quick: 1,
        min: Span::from_millis(40),
        max: Span::from_millis(200),
        compress: None,
        pushed,
        growing: false,
    };
    let mut s = Story::new(reading(Some(Span::from_millis(1))), fixed(1 << 20), MSS as u32, 1);
    s.segments(0..1);
    assert_eq!(s.at_ms(10).segments(1..2), [Ack::Later]);
    s.receiver.ack_sent(s.now);
    assert_eq!(s.at_ms(20).pushed(full(2).0, full(2).1), Ack::Later);
    assert_eq!(s.receiver.ack_deadline(), s.now, "read at once");
    s.receiver.ack_sent(s.now);
    assert_eq!(s.pushed(full(3).0, full(3).1), Ack::Later);
    s.acks_late_at_ms(21);
    let mut before = Story::new(reading(None), fixed(1 << 20), MSS as u32, 1);
    before.segments(0..1);
    assert_eq!(before.at_ms(20).pushed(full(1).0, full(1).1), Ack::Later);
    before.acks_late_at_ms(60);
}

#[test]
fn linux_acknowledges_at_once_what_makes_the_window_grow() {
    // Linux 6.18 on the live bench: 22 single ACKs, the 16 of the start and as many as the window grew by (tcp_grow_window,
    // quick |= 1): 65,160 bytes become 80,480 by 2,896.
    let tuned = WindowPolicy::AutoTuned {
        initial_bytes: 65_160,
        untuned_bytes: 80_480,
        max_bytes: 1 << 24,
        ahead: true,
    };
    let quick = |growing| DelayedAck::Quick {
        quick: 16,
        min: Span::from_millis(40),
        max: Span::from_millis(200),
        compress: None,
        pushed: Some(Span::from_millis(1)),
        growing,
    };
    for (growing, single) in [(true, 22), (false, 16)] {
        let mut s = Story::new(quick(growing), tuned, MSS as u32, 1);
        assert_eq!(s.segments(0..single), vec![Ack::Now; single as usize]);
        assert_eq!(s.segments(single..single + 4), [Ack::Later, Ack::Now, Ack::Later, Ack::Now]);
    }
}

#[test]
fn linux_in_a_conversation_waits_for_the_answer() {
    let mut s = linux(1 << 20);
    assert_eq!(s.pushed(1, 101), Ack::Now);
    s.at_ms(2).receiver.data_sent(Time(2_000_000));
    s.receiver.ack_sent(Time(2_000_000));
    assert_eq!(s.at_ms(30).pushed(101, 201), Ack::Later);
    assert!(s.receiver.ack_deadline() > s.now, "not pushed out by the read");
}
