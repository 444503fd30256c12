//! Which windows are offered.

use super::*;

fn tuned(initial_bytes: u32, untuned_bytes: u32, max_bytes: u32) -> Story {
    let window = WindowPolicy::AutoTuned { initial_bytes, untuned_bytes, max_bytes, ahead: false };
    Story::new(DelayedAck::Off, window, 1000, 1)
}

#[test]
fn the_scale_is_what_the_largest_window_needs() {
    let shift = |bytes| scale_for(fixed(bytes));
    assert_eq!([0, 65_535, 65_536, 131_071, 1 << 20, u32::MAX].map(shift), [0, 0, 1, 1, 5, 14]);
    let tuned = WindowPolicy::AutoTuned {
        initial_bytes: 5840,
        untuned_bytes: 65_535,
        max_bytes: 4 << 20,
        ahead: false,
    };
    assert_eq!(scale_for(tuned), 7);
}

#[test]
fn without_scaling_no_window_is_larger_than_the_field() {
    let spec = Receive { delayed_ack: DelayedAck::Off, dsack: true, sack_fin: true, window: fixed(1 << 20) };
    let mut r = Receiver::new(&spec, 1000, 1, true);
    assert_eq!(r.window(), 65_535);
    r.ack_sent(Time::ZERO);
    // RFC 9293 §3.10.7.4: what lies beyond is trimmed.
    r.on_data(Time::ZERO, 1, 65_000, false);
    r.on_data(Time::ZERO, 65_001, 1000, false);
    assert_eq!(r.next(), 65_536);
}

#[test]
fn a_window_that_nobody_reads_closes_and_a_probe_into_it_is_only_acknowledged() {
    let mut s = Story::new(DelayedAck::Off, fixed(4000), 1000, 1);
    s.reads = false;
    let mut windows = Vec::new();
    for k in 0..4 {
        s.data(1 + k * 1000, 1001 + k * 1000);
        windows.push(s.receiver.window());
    }
    assert_eq!(windows, [3000, 2000, 1000, 0]);
    assert_eq!(s.data(4001, 4002), Ack::Now);
    assert_eq!((s.receiver.next(), s.receiver.readable()), (4001, 4000));
}

#[test]
fn a_closed_window_opens_by_a_full_segment_or_half_the_buffer() {
    // RFC 9293 §3.8.6.2.2.
    for (buffer, mss, step) in [(4000, 1000, 1000), (1000, 1000, 500)] {
        let mut s = Story::new(DelayedAck::Off, fixed(buffer), mss, 1);
        s.reads = false;
        s.data(1, 1 + u64::from(buffer));
        s.receiver.read(s.now, step - 1);
        assert_eq!((s.receiver.window(), s.receiver.window_update_due()), (0, false));
        s.receiver.read(s.now, 1);
        assert_eq!((u64::from(s.receiver.window()), s.receiver.window_update_due()), (step, true));
        s.receiver.ack_sent(s.now);
        assert!(!s.receiver.window_update_due());
    }
}

#[test]
fn small_reads_do_not_open_the_window_in_small_steps() {
    let mut s = Story::new(DelayedAck::Off, fixed(10_000), 1000, 1);
    s.reads = false;
    s.data(1, 1001);
    let mut edges = vec![s.receiver.next() + u64::from(s.receiver.window())];
    for _ in 0..10 {
        s.receiver.read(s.now, 100);
        s.receiver.ack_sent(s.now);
        edges.push(s.receiver.next() + u64::from(s.receiver.window()));
    }
    assert_eq!(edges[..10], [10_001; 10]);
    assert_eq!(edges[10], 11_001);
}

#[test]
fn a_read_is_news_only_when_the_sender_has_little_window_left() {
    let mut s = Story::new(DelayedAck::Off, fixed(10_000), 1000, 1);
    s.reads = false;
    s.data(1, 3001);
    s.receiver.read(s.now, 3000);
    assert!(!s.receiver.window_update_due(), "7000 of 10,000 are left");
    s.receiver.ack_sent(s.now);
    s.data(3001, 10_001);
    s.receiver.read(s.now, 2000);
    assert!(!s.receiver.window_update_due(), "5000 where 3000 are left");
    s.receiver.read(s.now, 1000);
    assert!(s.receiver.window_update_due(), "6000 where 3000 are left");
}

#[test]
fn the_right_edge_stays_where_it_is_however_the_scale_rounds() {
    let mut s = Story::new(DelayedAck::Off, fixed(8 << 20), 1448, 1);
    s.reads = false;
    let mut edge = 0;
    for k in 0..1000u64 {
        s.data(1 + k * 1447, 1 + (k + 1) * 1447);
        let window = s.receiver.window();
        assert_eq!(window % (1 << scale_for(fixed(8 << 20))), 0);
        let new = s.receiver.next() + u64::from(window);
        assert!(new >= edge, "segment {k}: from {edge} to {new}");
        edge = new;
    }
    assert!(edge <= 1 + (10 << 20), "no more than a quarter beyond the buffer: {edge}");
}

#[test]
fn tiny_segments_do_not_creep_the_edge_beyond_the_buffer() {
    // Rounding the rest of a promise up adds to it; that must not go on for ever.
    let mut s = Story::new(DelayedAck::Off, fixed(100_000), 1000, 1);
    s.receiver.negotiated(1000, true, 7);
    s.reads = false;
    for k in 0..200_000 {
        s.data(1 + k, 2 + k);
    }
    assert!(s.receiver.readable() <= 125_000, "{}", s.receiver.readable());
    assert_eq!(s.receiver.window(), 0);
}

#[test]
fn a_window_smaller_than_the_scale_s_unit_is_not_scaled_away() {
    let mut s = Story::new(DelayedAck::Off, fixed(5840), 1460, 1);
    s.receiver.negotiated(1460, true, 14);
    assert_eq!(s.receiver.window(), 16_384);
    s.receiver.ack_sent(s.now);
    s.reads = false;
    s.data(1, 5841);
    s.data(5841, 16_385);
    assert_eq!((s.receiver.next(), s.receiver.window()), (16_385, 0));
    s.receiver.read(s.now, u64::MAX);
    assert_eq!((s.receiver.window(), s.receiver.window_update_due()), (16_384, true));
}

#[test]
fn linux_opens_by_two_segments_for_each_that_arrives_until_reads_say_more() {
    let mut s = tuned(4000, 10_000, 1 << 20);
    let mut windows = vec![s.receiver.window()];
    for k in 0..5 {
        s.data(1 + k * 1000, 1001 + k * 1000);
        windows.push(s.receiver.window());
    }
    let multiple = |bytes: u32| bytes / 32 * 32;
    assert_eq!(windows, [4000, 6000, 8000, 10_000, 10_000, 10_000].map(multiple));
}

#[test]
fn the_window_becomes_twice_what_was_read_in_a_round_trip_and_never_smaller() {
    let mut s = tuned(4096, 4096, 65_536);
    s.receiver.rtt_hint(Span::from_millis(100));
    let mut offset = 1;
    let mut windows = Vec::new();
    // A sender that fills what it is offered, spread over the round trip.
    for rtt in 1..12 {
        let segments = u64::from(s.receiver.window()) / 1024;
        for k in 0..segments {
            s.at_ms(rtt * 100 + (k * 99 / segments) as i64).data(offset, offset + 1024);
            offset += 1024;
        }
        windows.push(s.receiver.window());
    }
    assert!(windows.windows(2).all(|w| w[1] >= w[0]), "{windows:?}");
    assert_eq!(*windows.last().unwrap(), 65_536, "{windows:?}");
    // It slows down; the window stays.
    s.at_ms(2000).data(offset, offset + 1024);
    s.at_ms(3000).data(offset + 1024, offset + 2048);
    assert_eq!(s.receiver.window(), 65_536);
}

#[test]
fn what_a_slow_sender_sends_keeps_the_window_small() {
    // Paper `interruption`: 55,488 bytes for a sender with a 64 KB send buffer, 451,840 for one without.
    for (in_flight, least, most) in [(16u64, 20_000, 40_000), (200, 380_000, 410_000)] {
        let mut s = tuned(4000, 20_000, 4 << 20);
        s.receiver.rtt_hint(Span::from_millis(50));
        for k in 0..in_flight * 20 {
            s.at(Time((k * 50_000_000 / in_flight) as i64)).data(1 + k * 1000, 1001 + k * 1000);
        }
        let window = s.receiver.window();
        assert!((least..most).contains(&window), "{in_flight} in flight: {window}");
    }
}

#[test]
fn without_timestamps_the_round_trip_is_the_least_time_that_a_window_took() {
    let mut s = tuned(4000, 4000, 1 << 20);
    let mut offset = 1;
    for rtt in 0..8 {
        s.at_ms(rtt * 100);
        let end = offset + u64::from(s.receiver.window());
        while offset + 1000 <= end {
            s.data(offset, offset + 1000);
            offset += 1000;
        }
    }
    let window = s.receiver.window();
    assert!(window > 4 * 4000, "{window}");
}
