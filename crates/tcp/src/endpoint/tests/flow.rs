//! Windows, small segments, silence: what paces a sender besides cwnd.

use super::pipe::*;
use super::stacks::*;
use super::timeline::Timeline;
use crate::endpoint::*;
use crate::stack::*;
use wire::{Flags, Timestamps};

#[test]
fn nagle_holds_a_small_segment_while_something_is_unacknowledged() {
    // RFC 9293 §3.7.4
    for nagle in [true, false] {
        let mut spec = rfc_sack();
        spec.send.nagle = nagle;
        let mut t = Timeline::established(&spec, 100);
        t.at_ms(0).app_writes(1300).sends(0..1);
        if nagle {
            t.quiet().at_ms(100).ack(1).sends(1..2);
        } else {
            t.sends(1..2);
        }
    }
}

#[test]
fn a_fin_does_not_wait_for_nagle() {
    let mut p = Pipe::new(&rfc_sack(), &rfc_sack(), clear);
    p.client.write(1300);
    p.client.close();
    p.run_until(Time(20_000_000));
    let sent: Vec<_> = p.data().map(|c| (c.sent.seg.payload, c.sent.seg.flags.has(Flags::FIN))).collect();
    assert_eq!(sent, [(1000, false), (300, true)]);
}

#[test]
fn the_peers_window_is_never_passed() {
    let mut spec = rfc_sack();
    spec.congestion.initial_window = InitialWindow::Segments(30);
    let mut t = Timeline::established(&spec, 100);
    t.window(1).ack(0);
    // 16,384 bytes: 16 segments, and a rest that is not worth one (§3.8.6.2.1).
    t.at_ms(0).app_writes_segments(100).sends(0..16).at_ms(100).ack(4).sends(16..20);
    t.at_ms(101).window(0).ack(4).quiet().at_ms(102).window(1).ack(20).sends(20..36);
}

#[test]
fn a_closed_window_is_probed_with_back_off_until_it_opens() {
    // RFC 9293 §3.8.6.1
    let mut t = Timeline::established(&rfc_sack(), 100);
    t.window(0).ack(0);
    t.at_ms(0).app_writes_segments(3).quiet();
    for ms in [300, 900, 2100, 4500] {
        t.at_ms(ms - 1).quiet().at_ms(ms).leaves(Why::Persist).ack(0).quiet();
    }
    // The probe's byte was not taken: it leaves again, in a full segment.
    t.at_ms(5000).window(1).ack(0).sends(0..3).timeouts(0);
    t.at_ms(5100).ack(3);
    assert!(t.end.all_acknowledged());
}

#[test]
fn a_closed_window_is_no_reason_to_give_up() {
    let mut spec = rfc_sack();
    spec.send.max_retries = 3;
    let mut t = Timeline::established(&spec, 100);
    t.window(0).ack(0);
    t.at_ms(0).app_writes_segments(3);
    for _ in 0..30 {
        let at = t.timer_ms();
        t.at_ms(at).leaves(Why::Persist).ack(0);
    }
    assert_eq!(t.end.failed(), None);
}

#[test]
fn a_slow_reader_closes_the_window_and_every_byte_arrives() {
    for (name, spec) in all() {
        let mut server = spec.clone();
        server.receive.window = WindowPolicy::Fixed { buffer_bytes: 10_000 };
        let mut p = Pipe::new(&spec, &server, clear);
        p.server_reads = false;
        p.backlog = 100_000;
        p.closes = true;
        let mut at = Time::ZERO;
        while !p.server.at_end() {
            at += Span::from_millis(700);
            assert!(at < at_s(600), "{name}: {:?}", p.client.view());
            p.run_until(at);
            p.server_got += p.server.read(p.now, 3000);
        }
        assert_eq!(p.server_got, 100_000, "{name}");
        let needless = p.data().filter(|c| c.sent.why.is_retransmission()).count();
        assert_eq!(needless, 0, "{name}: nothing was lost");
    }
}

#[test]
fn the_send_buffer_limits_what_is_in_flight() {
    let mut spec = rfc_sack();
    spec.send.buffer_bytes = Some(5000);
    let mut t = Timeline::established(&spec, 100);
    t.at_ms(0);
    assert_eq!(t.end.write(u64::MAX), 5000);
    assert_eq!((t.end.write(1), t.end.writable()), (0, 0));
    t.app_writes(0).sends(0..4);
    t.at_ms(100).ack(3).sends(4..5);
    assert_eq!(t.end.writable(), 3000);
}

#[test]
fn silence_is_probed_and_in_the_end_believed() {
    // RFC 9293 §3.8.4
    let mut spec = rfc_sack();
    spec.send.keepalive_idle = Some(ms(10_000));
    let mut gone = false;
    let mut p = Pipe::new(&spec, &rfc_sack(), move |c, _, s: &Sent| {
        gone |= c && s.why == Why::KeepAlive && s.seg.timestamps.is_none() && s.offset == 1000;
        if gone { vec![] } else { vec![Span::from_millis(10)] }
    });
    p.run_until(at_s(25));
    let probes = p.log.iter().filter(|c| c.sent.why == Why::KeepAlive).count();
    assert_eq!((probes, p.client.failed()), (2, None), "answered each time");
    p.client.write(1000);
    p.run_until(at_s(30));
    p.run_until(at_s(100));
    let probes = p.log.iter().filter(|c| c.sent.why == Why::KeepAlive).count();
    assert_eq!((probes, p.client.failed()), (5, Some(Failure::TimedOut)), "three more, a second apart");
}

#[test]
fn retransmissions_that_nobody_answers_end_the_connection() {
    let mut spec = rfc_sack();
    spec.send.max_retries = 4;
    let mut t = Timeline::established(&spec, 100);
    t.at_ms(0).app_writes_segments(1).sends(0..1);
    for ms in [300, 900, 2100, 4500] {
        t.at_ms(ms).times_out(0);
    }
    t.at_ms(9299).quiet().at_ms(9300).quiet();
    assert_eq!((t.end.state(), t.end.failed()), (State::Closed, Some(Failure::TimedOut)));
}

#[test]
fn retries_as_a_time_are_those_of_the_least_timer() {
    // tcp_model_timeout: three retries are 200 ms and 400, 800 and 1,600; from the first retransmission on, looked at as
    // the timer fires. Here it begins at 300 ms.
    let mut spec = rfc_sack();
    (spec.send.max_retries, spec.send.retries) = (3, Retries::Time);
    let mut t = Timeline::established(&spec, 100);
    t.at_ms(0).app_writes_segments(1).sends(0..1);
    for ms in [300, 900, 2100] {
        t.at_ms(ms).times_out(0);
    }
    assert_eq!(t.at_ms(4499).quiet().end.failed(), None);
    assert_eq!(
        t.at_ms(4500).quiet().end.failed(),
        Some(Failure::TimedOut),
        "4.2 s after the first, and 3 are over"
    );
    // tcp_retries2: 924.6 s with a timer of up to two minutes.
    let silence = |retries, max_s| {
        let send = Send { max_retries: retries, retries: Retries::Time, ..rfc_sack().send };
        crate::sender::longest_silence(&send, Span::from_secs(max_s)).unwrap()
    };
    assert_eq!(silence(15, 120), Span::from_millis(924_600));
    assert_eq!(silence(8, 120), Span::from_millis(102_200));
}

#[test]
fn silence_of_an_rto_brings_the_restart_window() {
    // RFC 5681 §4.1
    for restart in [true, false] {
        let mut spec = rfc_sack();
        spec.congestion.restart_after_idle = restart;
        let mut t = Timeline::established(&spec, 100);
        t.at_ms(0).app_writes_segments(28).sends(0..4).at_ms(100).ack(4).sends(4..10);
        t.at_ms(200).ack(10).sends(10..18).at_ms(300).ack(18).sends(18..28).at_ms(400).ack(28);
        t.at_ms(5000).app_writes_segments(50);
        let n = t.sends_as_it_likes(28);
        assert_eq!(n == 4, restart, "{n}");
    }
}

#[test]
fn the_window_grows_only_while_it_limits() {
    for only in [true, false] {
        let mut spec = rfc_sack();
        spec.congestion.grows_only_when_limited = only;
        let mut t = Timeline::established(&spec, 100);
        t.at_ms(0).app_writes_segments(1).sends(0..1).at_ms(100).ack(1);
        t.cwnd(if only { 4 } else { 5 });
    }
}

#[test]
fn paws_drops_a_segment_of_an_earlier_lap() {
    // RFC 7323 §5
    let mut p = Pipe::new(&linux(), &linux(), clear);
    p.client.write(3000);
    p.run_until(at_s(5));
    let old = Segment {
        seq: p.client.seq(3001),
        ack: p.server.seq(1),
        payload: 500,
        flags: Flags::ACK,
        timestamps: Some(Timestamps { val: 1, ecr: 0 }),
        ..Segment::default()
    };
    p.server.receive(p.now, &old);
    assert_eq!(p.server.readable(), 0);
    assert_eq!(p.server.transmit(p.now).map(|s| s.why), Some(Why::Ack));
    let fresh = Segment { timestamps: Some(Timestamps { val: 5000, ecr: 0 }), ..old };
    p.server.receive(p.now, &fresh);
    assert_eq!(p.server.readable(), 500);
    let without = Segment { timestamps: None, seq: p.client.seq(3501), ..old };
    p.server.receive(p.now, &without);
    assert_eq!(p.server.readable(), 500, "RFC 7323 §3.2: no option, no segment");
}

#[test]
fn an_old_duplicate_does_not_move_the_echo() {
    // RFC 7323 §5.3: R2, the window test, comes before R3
    let mut p = Pipe::new(&linux(), &linux(), clear);
    p.client.write(1000);
    p.run_until(at_s(1));
    let first = p.data().next().unwrap().sent.seg;
    let again = Segment { timestamps: Some(Timestamps { val: 900, ecr: 0 }), ..first };
    p.server.receive(p.now, &again);
    let ack = p.server.transmit(p.now).unwrap().seg;
    assert_eq!(ack.timestamps.map(|t| t.ecr), first.timestamps.map(|t| t.val));
    let (left, right) = ack.sack.as_slice()[0];
    assert_eq!((left, right), (first.seq, first.seq + 1000), "DSACK (RFC 2883)");
}

#[test]
fn a_timer_restarts_at_each_advance_and_stops_when_all_is_acknowledged() {
    // RFC 6298 (5.1) to (5.3)
    let mut t = Timeline::established(&rfc_sack(), 100);
    t.at_ms(0).app_writes_segments(3).sends(0..3);
    assert_eq!(t.timer_ms(), 300);
    t.at_ms(100).ack(1);
    assert_eq!(t.timer_ms(), 350, "SRTT 100, RTTVAR 37.5");
    t.at_ms(110).ack(3);
    assert_eq!(t.end.next_wakeup(), None);
}

#[test]
fn the_receive_window_grows_with_what_is_read_in_a_round_trip() {
    // Dynamic right-sizing; the receiver sends no data, so only the echoes in what it gets tell it the RTT.
    let mut spec = linux();
    spec.receive.window = WindowPolicy::AutoTuned {
        initial_bytes: 5792,
        untuned_bytes: 65_535,
        max_bytes: 3 << 20,
        ahead: false,
    };
    for stamps in [true, false] {
        spec.options.timestamps = stamps;
        let mut p = Pipe::new(&spec, &spec, clear);
        p.client.write(u64::MAX);
        p.run_until(at_s(3));
        let v = p.client.view();
        assert!(v.peer_window > 1 << 20, "timestamps {stamps}: {v:?}");
    }
}
