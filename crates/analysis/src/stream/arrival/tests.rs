//! Each kind of packet, by itself: what it is held against stands in the test.

use super::*;
use crate::stream::facts::LastData;
use crate::stream::window::Window;
use wire::{Segment, Timestamps};

/// 100 segments of 1000 bytes have passed, one a millisecond, numbered by their host; the last ten are outstanding.
fn hundred(arrivals: &mut Arrivals) -> Agreed {
    let agreed = Agreed { mss: 1000, ..Agreed::default() };
    for k in 0..100u64 {
        let packet = packet(k, k as u16 + 1);
        let p = piece(&packet, k * 1000);
        arrivals.note(&p, k * 1000);
        arrivals.ids.note(packet.ip_id, 1, Some(0));
        arrivals.ids.note_highest(packet.ip_id);
    }
    agreed
}

fn packet(ms: u64, ip_id: u16) -> Packet {
    let timestamps = Some(Timestamps { val: ms as u32 + 1, ecr: 1 });
    let seg = Segment { payload: 1000, timestamps, ..Segment::default() };
    Packet { time: Time(ms as i64 * 1_000_000), seg, ip_id, ttl: 64, ..Packet::default() }
}

fn piece(packet: &Packet, start: u64) -> PlacedPacket<'_> {
    let end = start + u64::from(packet.seg.payload);
    PlacedPacket { packet, start, end, fate: Fate::Unknown, ts: packet.seg.timestamps.map_or(0, |t| t.val) }
}

/// As the segment of packet `ms` stands, which was sent once.
fn outstanding(ms: u64, ip_id: u16) -> Outstanding {
    let (time, ts) = (Time(ms as i64 * 1_000_000), ms as u32 + 1);
    Outstanding {
        end: ms * 1000 + 1000,
        first_time: time,
        first_ts: ts,
        last_time: time,
        last_ts: ts,
        ip_id,
        checksum: 0,
        hole: false,
        sacked: false,
        copies: 1,
        copies_in_all: 1,
    }
}

fn kind(
    arrivals: &mut Arrivals,
    p: &PlacedPacket,
    agreed: &Agreed,
    window: u64,
    of: Option<Outstanding>,
) -> Kind {
    let window = Window { now: window, ..Window::default() };
    let last = LastData { payload: 1000, largest: 1000, ..LastData::default() };
    let flow_state = FlowState {
        flow: 0,
        una: if window.now == 0 { 100_000 } else { 90_000 },
        next: 100_000,
        flight: 10_000,
        window: &window,
        agreed,
        last: &last,
        last_news: Time::ZERO,
    };
    let known = Known {
        outstanding: of,
        base: 0,
        acked_before: None,
        first_data: Some(Time::ZERO),
        rtt_min: Some(Span::from_millis(20)),
        round: Span::from_millis(20),
        may_hold_twice: true,
    };
    arrivals.classify(p, &flow_state, || known)
}

#[test]
fn what_lies_beyond_is_new_and_what_was_sent_before_comes_again() {
    let mut arrivals = Arrivals::default();
    let agreed = hundred(&mut arrivals);
    let next = packet(130, 101);
    assert_eq!(kind(&mut arrivals, &piece(&next, 100_000), &agreed, 60_000, None), Kind::New);
    // A retransmission is numbered behind all that was sent before it.
    let repair = packet(130, 101);
    let of = Some(outstanding(95, 96));
    assert_eq!(kind(&mut arrivals, &piece(&repair, 95_000), &agreed, 60_000, of), Kind::Again);
}

#[test]
fn one_packet_seen_twice_is_captured_twice_if_a_router_passed_it_on_and_else_doubled() {
    let mut arrivals = Arrivals::default();
    let agreed = hundred(&mut arrivals);
    let of = Some(outstanding(95, 96));
    let mut twin = packet(95, 96);
    twin.time = Time(105_000_000);
    assert_eq!(kind(&mut arrivals, &piece(&twin, 95_000), &agreed, 60_000, of), Kind::Doubled);
    twin.ttl = 63;
    assert_eq!(kind(&mut arrivals, &piece(&twin, 95_000), &agreed, 60_000, of), Kind::CapturedTwice);
}

#[test]
fn a_packet_that_its_own_repair_overtook_is_late() {
    let mut arrivals = Arrivals::default();
    let agreed = hundred(&mut arrivals);
    // Number 101 is missing; 102 repaired the same data, and the segment stands as that left it.
    arrivals.ids.note(102, 1, Some(0));
    let late = packet(110, 101);
    let of = Some(Outstanding { copies: 2, copies_in_all: 2, ..outstanding(108, 102) });
    // The highest data came with number 100: of the segment at its very end the first copy had that at most.
    assert_eq!(kind(&mut arrivals, &piece(&late, 99_000), &agreed, 60_000, of), Kind::Again);
    arrivals.ids.note_highest(110);
    assert_eq!(kind(&mut arrivals, &piece(&late, 95_000), &agreed, 60_000, of), Kind::Late);
}

#[test]
fn a_byte_tests_a_shut_window_or_whether_the_other_end_is_alive() {
    let mut arrivals = Arrivals::default();
    let agreed = hundred(&mut arrivals);
    let mut byte = packet(130, 101);
    byte.seg.payload = 1;
    // RFC 9293 §3.8.6.1.
    assert_eq!(kind(&mut arrivals, &piece(&byte, 100_000), &agreed, 0, None), Kind::WindowProbe);
    assert_eq!(kind(&mut arrivals, &piece(&byte, 100_000), &agreed, 60_000, None), Kind::New);
    // §3.8.4: the byte before what is next, while nothing is outstanding.
    let (window, last) =
        (Window { now: 60_000, ..Window::default() }, LastData { payload: 1000, ..LastData::default() });
    let flow_state = FlowState {
        flow: 0,
        una: 100_000,
        next: 100_000,
        flight: 0,
        window: &window,
        agreed: &agreed,
        last: &last,
        last_news: Time::ZERO,
    };
    assert!(is_keep_alive(&piece(&byte, 99_999), &flow_state));
    assert!(!is_keep_alive(&piece(&byte, 99_998), &flow_state));
}

#[test]
fn an_older_clock_tells_a_doubled_packet_where_hosts_do_not_count() {
    let mut arrivals = Arrivals::default();
    let agreed = hundred(&mut arrivals);
    arrivals.ids = IpIdCounter::default();
    let of = Some(outstanding(95, 0));
    // RFC 7323 §4.1: the clock does not run backwards.
    let mut old = packet(95, 0);
    old.time = Time(125_000_000);
    assert_eq!(kind(&mut arrivals, &piece(&old, 95_000), &agreed, 60_000, of), Kind::Doubled);
    let again = packet(125, 0);
    assert_eq!(kind(&mut arrivals, &piece(&again, 95_000), &agreed, 60_000, of), Kind::Again);
}

#[test]
fn the_first_packets_of_a_capture_may_be_out_of_order() {
    let agreed = Agreed { mss: 1000, mid_stream: true, ..Agreed::default() };
    let known = Known {
        outstanding: None,
        base: 4999,
        acked_before: None,
        first_data: Some(Time::ZERO),
        rtt_min: None,
        round: Span::ZERO,
        may_hold_twice: true,
    };
    let soon = packet(2, 0);
    assert!(comes_before_the_first(&piece(&soon, 4000), &agreed, &known));
    let acked = Known { acked_before: Some(5000), ..known };
    assert!(!comes_before_the_first(&piece(&soon, 4000), &agreed, &acked));
    let later = packet(200, 0);
    assert!(!comes_before_the_first(&piece(&later, 4000), &agreed, &known));
}
