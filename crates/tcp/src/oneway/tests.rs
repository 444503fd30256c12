use super::board::Board;
use super::*;
use crate::stack::{OneWay, OneWayVariant as V};
use wire::Span;

const VARIANTS: [V; 5] = [V::Tahoe, V::Reno, V::NewReno, V::Sack1, V::Vegas];

fn ms(t: i64) -> Time {
    Time::ZERO + Span::from_millis(t)
}

fn ack(cumulative: Number) -> Ack {
    Ack { cumulative, sack: SackBlocks::default(), echo: Time::ZERO, bytes: 40, syn: false }
}

fn sacked(cumulative: Number, runs: &[(Number, Number)]) -> Ack {
    let mut sack = SackBlocks::default();
    runs.iter().for_each(|&(left, right)| sack.push(Run { left, right }));
    Ack { sack, ..ack(cumulative) }
}

/// Numbers that leave now.
fn sent(s: &mut Sender, now: Time) -> Vec<Number> {
    std::iter::from_fn(|| s.transmit(now)).map(|p| p.data.number).collect()
}

/// Endless, no SYN; the window is open at 8 packets, 0 to 7 are acknowledged and 8 to 15 are in flight.
fn flying_eight(spec: OneWay) -> Sender {
    let mut s = Sender::new(&OneWay { initial_window_packets: 1, max_cwnd_packets: Some(8), ..spec });
    s.write(ms(0), u64::MAX);
    for n in 0..8 {
        s.receive(ms(100 + n), &ack(n));
    }
    let all = sent(&mut s, ms(108));
    assert_eq!(all, (0..16).collect::<Vec<_>>());
    assert_eq!(s.view().cwnd, 8.0);
    s
}

/// Packet 8 is lost: duplicates that SACK what came behind it.
fn duplicates(s: &mut Sender, at: i64, count: i64) -> Vec<Number> {
    for n in 0..count {
        s.receive(ms(at + n), &sacked(7, &[(9, 10 + n)]));
    }
    sent(s, ms(at + count))
}

#[test]
fn tahoe_sends_everything_again_after_its_fast_retransmit() {
    let mut s = flying_eight(OneWay::of_1998(V::Tahoe));
    assert_eq!(duplicates(&mut s, 200, 3), [8]);
    assert_eq!((s.view().cwnd, s.view().ssthresh), (1.0, 4));
    s.receive(ms(300), &ack(8));
    assert_eq!(sent(&mut s, ms(300)), [9, 10]);
}

#[test]
fn reno_inflates_until_an_ack_advances() {
    let mut s = flying_eight(OneWay::of_1998(V::Reno));
    assert_eq!(duplicates(&mut s, 200, 7), [8, 16, 17, 18], "5th to 7th: 4 + 5 .. 4 + 7 packets");
    assert_eq!((s.view().cwnd, s.view().inflation), (4.0, 7));
    s.receive(ms(300), &ack(15));
    assert_eq!((s.view().cwnd, s.view().inflation), (4.25, 0));
}

#[test]
fn newreno_of_1998_ends_the_inflation_at_a_partial_ack_and_the_later_deflates_by_what_it_acknowledges() {
    for (spec, cwnd, inflation) in [
        (OneWay::of_1998(V::NewReno), 4.0, 0),
        (OneWay { limited_transmit: false, syn: false, ..OneWay::ns2_35(V::NewReno) }, 4.0, 6),
    ] {
        let mut s = flying_eight(spec);
        duplicates(&mut s, 200, 7);
        s.receive(ms(300), &ack(9));
        let out: Vec<Sent> = std::iter::from_fn(|| s.transmit(ms(300))).collect();
        assert_eq!((out[0].data.number, out[0].why), (10, Why::PartialAck));
        assert_eq!((s.view().cwnd, s.view().inflation), (cwnd, inflation));
        assert_eq!(s.view().phase, Phase::Recovery);
    }
}

#[test]
fn limited_transmit_sends_one_new_packet_at_each_of_the_first_two_duplicates() {
    // RFC 3042; cwnd is not touched.
    let mut s = flying_eight(OneWay { limited_transmit: true, ..OneWay::of_1998(V::Reno) });
    assert_eq!(duplicates(&mut s, 200, 2), [16, 17]);
    assert_eq!(s.view().cwnd, 8.0);
}

#[test]
fn sack1_resends_holes_first_and_only_as_pipe_allows() {
    let mut s = flying_eight(OneWay::of_1998(V::Sack1));
    for (n, right) in [(0, 10), (1, 11)] {
        s.receive(ms(200 + n), &sacked(7, &[(9, right)]));
    }
    s.receive(ms(202), &sacked(7, &[(13, 14), (9, 11)]));
    assert_eq!(sent(&mut s, ms(202)), [8]);
    assert_eq!(s.view().pipe, 15 - 7 - 3);
    // Pipe 4 is not below cwnd 4; at 3 the hole 11 goes out.
    s.receive(ms(203), &sacked(7, &[(13, 15), (9, 11)]));
    assert_eq!(sent(&mut s, ms(203)), []);
    s.receive(ms(204), &sacked(7, &[(13, 16), (9, 11)]));
    assert_eq!(sent(&mut s, ms(204)), [11]);
}

#[test]
fn sack1_counts_no_duplicate_without_news() {
    let mut s = flying_eight(OneWay::of_1998(V::Sack1));
    for n in 0..5 {
        s.receive(ms(200 + n), &sacked(7, &[(9, 10)]));
    }
    assert_eq!(s.view().dupacks, 1);
}

#[test]
fn a_timeout_backs_off_and_goes_back() {
    let mut s = flying_eight(OneWay::of_1998(V::Reno));
    let due = s.next_wakeup().expect("a timer");
    s.wake(due);
    let out = s.transmit(due).expect("a packet");
    assert_eq!((out.data.number, out.why), (8, Why::Timeout { backoff: 2 }));
    assert_eq!(s.transmit(due), None);
    assert_eq!((s.view().cwnd, s.view().ssthresh, s.view().backoff), (1.0, 4, 2));
    s.receive(due + Span::from_millis(100), &ack(8));
    let again = s.transmit(due).expect("a packet");
    assert_eq!((again.data.number, again.why), (9, Why::GoBackN));
    // A number that was sent twice is not timed (Karn): only what is sent anew ends the back-off.
    assert_eq!(s.view().backoff, 2);
}

#[test]
fn the_timer_of_an_idle_sender_closes_its_window_and_nothing_else() {
    let mut s = Sender::new(&OneWay::of_1998(V::Tahoe));
    s.write(ms(0), 3);
    for (t, n) in [(100, 0), (200, 1), (201, 2)] {
        s.receive(ms(t), &ack(n));
    }
    assert!(s.is_done());
    assert_eq!(s.view().cwnd, 4.0);
    let due = s.next_wakeup().expect("a timer");
    s.wake(due);
    assert_eq!((s.view().cwnd, s.view().ssthresh, s.view().backoff), (1.0, 50, 1));
    assert!(s.next_wakeup().is_some());
}

#[test]
fn a_syn_is_small_and_no_data() {
    let mut s = Sender::new(&OneWay::ns2_35(V::Reno));
    s.write(ms(0), 2);
    let syn = s.transmit(ms(0)).expect("a packet");
    assert_eq!((syn.data.number, syn.data.bytes, syn.why), (0, 40, Why::Syn));
    assert_eq!(s.transmit(ms(0)), None, "one packet until it is acknowledged");
    s.receive(ms(100), &ack(0));
    assert_eq!(sent(&mut s, ms(100)), [1, 2]);
    s.receive(ms(200), &ack(2));
    assert!(s.is_done());
}

#[test]
fn vegas_sends_its_syn_full_sized() {
    let mut s = Sender::new(&OneWay::ns2_35(V::Vegas));
    s.write(ms(0), 2);
    assert_eq!(s.transmit(ms(0)).map(|p| p.data.bytes), Some(1024));
}

#[test]
fn most_packets_of_a_burst_and_their_random_wait() {
    let mut s = flying_eight(OneWay { max_burst_packets: Some(3), ..OneWay::of_1998(V::Reno) });
    s.receive(ms(200), &ack(15));
    assert_eq!(sent(&mut s, ms(200)), [16, 17, 18]);

    let mut s = Sender::new(&OneWay { overhead: Span::from_millis(8), ..OneWay::of_1998(V::Reno) });
    s.set_uniform(|| 0.25);
    s.write(ms(0), u64::MAX);
    assert_eq!(sent(&mut s, ms(0)), []);
    assert_eq!(s.next_wakeup(), Some(ms(2)));
    s.wake(ms(2));
    assert_eq!(sent(&mut s, ms(2)), [0]);
}

#[test]
fn acks_that_make_no_sense_do_no_harm() {
    // Before anything was sent; for what was not sent; older than the last; and at random.
    for variant in VARIANTS {
        for spec in [OneWay::ns2_35(variant), OneWay::of_1998(variant)] {
            let mut s = Sender::new(&OneWay { dsack: true, sack_partial_ack_sends: true, ..spec });
            s.receive(ms(0), &ack(-1));
            s.receive(ms(0), &ack(7));
            assert_eq!(s.view().highest_ack, -1);
            s.write(ms(1), u64::MAX);
            let mut x = 88_172_645_463_325_252_u64;
            for t in 1..20_000 {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
                let near = s.view().highest_ack + (x % 7) as i64 - 2;
                let left = near + (x >> 8) as i64 % 9;
                s.receive(
                    ms(t),
                    &sacked(near, &[(left, left + 1 + (x >> 16) as i64 % 5), (left - 6, left - 3)]),
                );
                if x.is_multiple_of(97) {
                    s.next_wakeup().into_iter().for_each(|due| s.wake(due.max(ms(t))));
                }
                let v = s.view();
                // ns-2's Vegas takes the inflation of duplicates back to a window that a timeout left at 0.
                let least = if variant == V::Vegas { 0.0 } else { 1.0 };
                assert!(v.cwnd >= least && v.ssthresh >= 2, "{variant:?} at {t}: {v:?}");
                assert!(sent(&mut s, ms(t)).iter().all(|n| *n >= 0), "{variant:?} at {t}");
            }
        }
    }
}

fn data(number: Number, at: i64) -> Data {
    Data { number, bytes: 1024, sent: ms(at), syn: false }
}

fn runs(a: &Ack) -> Vec<(Number, Number)> {
    a.sack.as_slice().iter().map(|r| (r.left, r.right)).collect()
}

#[test]
fn the_sink_tells_the_latest_run_first_and_forgets_what_it_covers() {
    let mut sink = Sink::new(&OneWay::ns2_35(V::Sack1));
    let mut tell = |n| {
        let a = sink.receive(ms(n), &data(n, n)).expect("each packet is acknowledged");
        (a.cumulative, runs(&a), a.bytes)
    };
    assert_eq!(tell(0), (0, vec![], 40));
    assert_eq!(tell(2), (0, vec![(2, 3)], 48));
    assert_eq!(tell(4), (0, vec![(4, 5), (2, 3)], 56));
    assert_eq!(tell(6), (0, vec![(6, 7), (4, 5), (2, 3)], 64));
    assert_eq!(tell(8), (0, vec![(8, 9), (6, 7), (4, 5)], 64));
    assert_eq!(tell(5), (0, vec![(4, 7), (8, 9)], 56), "what the new run covers is gone, the third with it");
    assert_eq!(tell(1), (2, vec![(4, 7), (8, 9)], 56));
    assert_eq!(tell(3), (6, vec![(8, 9)], 48));
    assert_eq!(tell(7), (8, vec![], 40));
}

#[test]
fn the_sink_reports_a_duplicate_where_asked_to() {
    let mut sink = Sink::new(&OneWay { dsack: true, ..OneWay::ns2_35(V::Sack1) });
    let all: Vec<_> =
        [0, 2, 2].map(|n| runs(&sink.receive(ms(9), &data(n, 0)).expect("an ACK"))).into_iter().collect();
    assert_eq!(all[2], [(2, 3), (2, 3)]);
}

#[test]
fn a_delayed_ack_waits_for_a_second_packet_or_its_timer_but_not_with_a_gap() {
    let mut sink = Sink::new(&OneWay { delayed_ack: 2, ..OneWay::ns2_35(V::Reno) });
    let cumulative = |a: Option<Ack>| a.map(|a| a.cumulative);
    assert_eq!(cumulative(sink.receive(ms(0), &data(0, 0))), Some(0), "the SYN at once");
    assert_eq!(cumulative(sink.receive(ms(10), &data(1, 0))), None);
    assert_eq!(sink.next_wakeup(), Some(ms(110)));
    assert_eq!(cumulative(sink.receive(ms(20), &data(2, 0))), Some(2));
    assert_eq!(sink.next_wakeup(), None);
    assert_eq!(cumulative(sink.receive(ms(30), &data(3, 0))), None);
    assert_eq!(cumulative(sink.wake(ms(129))), None);
    assert_eq!(cumulative(sink.wake(ms(130))), Some(3));
    assert_eq!(cumulative(sink.receive(ms(140), &data(5, 0))), Some(3));
    assert_eq!(cumulative(sink.receive(ms(150), &data(7, 0))), Some(3));
    assert_eq!(cumulative(sink.receive(ms(160), &data(4, 0))), Some(5), "fills a gap: at once");
}

#[test]
fn the_echoed_time_is_that_of_the_packet_asked_for() {
    // RFC 7323 §4.3: what lies beyond a gap does not set it.
    let mut sink = Sink::new(&OneWay::ns2_35(V::Reno));
    let echo = |a: Option<Ack>| a.map(|a| a.echo);
    assert_eq!(echo(sink.receive(ms(10), &data(0, 1))), Some(ms(1)));
    assert_eq!(echo(sink.receive(ms(11), &data(2, 3))), Some(ms(1)));
    assert_eq!(echo(sink.receive(ms(12), &data(1, 8))), Some(ms(8)));
}

#[test]
fn a_hole_is_resent_once_and_only_below_a_run() {
    let mut board = Board::new();
    assert_eq!(board.next_hole(), None);
    assert!(board.update(4, &[Run { left: 7, right: 9 }]));
    assert!(!board.update(4, &[Run { left: 7, right: 9 }]), "no news");
    assert_eq!(board.next_hole(), Some(5));
    board.mark_resent(5);
    assert_eq!(board.next_hole(), Some(6));
    board.mark_resent(6);
    assert_eq!(board.next_hole(), None, "nothing is known to have arrived beyond 8");
    assert!(board.update(4, &[Run { left: 11, right: 12 }]));
    assert_eq!(board.next_hole(), Some(9));
}
