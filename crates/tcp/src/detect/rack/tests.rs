use super::*;

fn at(ms: i64) -> Time {
    Time(ms * 1_000_000)
}
fn copy(ms: i64, end: u64) -> Copy {
    Copy { sent: at(ms), end }
}
fn delivery(now: i64, newest: Copy) -> Delivery {
    Delivery {
        now: at(now),
        newest: Some(newest),
        measured: None,
        reordered: None,
        dsack: false,
        una: 0,
        max: 100,
    }
}
const OPEN: Patience = Patience {
    repairing: false,
    sacked_segments: 1,
    dupthresh: 3,
    min_rtt: Some(Span::from_millis(40)),
    srtt: Some(Span::from_millis(60)),
};

#[test]
fn a_copy_is_held_against_the_newest_delivered_one() {
    // RFC 8985 §6.2 step 5, as a table of truth.
    let h = Horizon { newest: copy(100, 5000), wait: Span::from_millis(50), now: at(145) };
    for (ms, end, verdict) in [
        (90, 4000, Verdict::Lost),
        (95, 4000, Verdict::Lost),
        (96, 4000, Verdict::Wait { until: at(146) }),
        // Sent at the same time, the order of the sequence decides.
        (100, 4000, Verdict::Wait { until: at(150) }),
        (100, 5000, Verdict::Fine),
        (100, 6000, Verdict::Fine),
        (101, 1000, Verdict::Fine),
    ] {
        assert_eq!(h.verdict(copy(ms, end)), verdict, "{ms} ms, up to {end}");
    }
}

#[test]
fn it_looks_once_for_each_delivery() {
    let mut r = Rack::new(3);
    assert!(r.look(&OPEN, at(50)).is_none(), "nothing was delivered");
    r.note(&delivery(50, copy(10, 1000)));
    let h = r.look(&OPEN, at(50)).unwrap();
    assert_eq!((h.newest, h.wait), (copy(10, 1000), Span::from_millis(40 + 10)));
    assert!(r.look(&OPEN, at(51)).is_none());
    // An older copy that comes later tells a round trip, but is not the newest.
    r.note(&delivery(60, copy(5, 500)));
    let h = r.look(&OPEN, at(60)).unwrap();
    assert_eq!((h.newest, h.wait), (copy(10, 1000), Span::from_millis(55 + 10)));
}

#[test]
fn without_reordering_three_sacks_or_a_recovery_need_no_patience() {
    // RFC 8985 §6.2 step 4.
    let mut r = Rack::new(3);
    let window = |r: &Rack, p| r.reordering_window(&p).0 / 1_000_000;
    assert_eq!(window(&r, OPEN), 10);
    assert_eq!(window(&r, Patience { sacked_segments: 3, ..OPEN }), 0);
    assert_eq!(window(&r, Patience { repairing: true, ..OPEN }), 0);
    r.note(&Delivery { reordered: Some(2), ..delivery(50, copy(10, 1000)) });
    assert_eq!(window(&r, Patience { sacked_segments: 3, ..OPEN }), 10);
    assert_eq!(window(&r, Patience { repairing: true, ..OPEN }), 10);
}

#[test]
fn dsacks_widen_the_window_once_a_round_trip_up_to_srtt_and_for_sixteen_recoveries() {
    // RFC 8985 §6.2 step 4; Linux: only where reordering was seen.
    let mut r = Rack::new(3);
    let dsack = Delivery { dsack: true, ..delivery(50, copy(10, 1000)) };
    r.note(&dsack);
    assert_eq!(r.steps, 1, "no reordering was seen");
    r.note(&Delivery { reordered: Some(2), una: 1, max: 200, ..dsack });
    assert_eq!(r.steps, 2);
    r.note(&Delivery { una: 199, max: 300, ..dsack });
    assert_eq!(r.steps, 2, "within the same round trip");
    for k in 0..10 {
        r.note(&Delivery { una: 200 + k, max: 200 + k, ..dsack });
    }
    assert_eq!(r.reordering_window(&OPEN), Span::from_millis(60), "SRTT is the most");
    for k in 0..16 {
        assert!(r.steps > 1, "after {k} recoveries");
        r.recovery_ended();
        r.note(&delivery(60, copy(20, 2000)));
    }
    assert_eq!(r.steps, 1);
}
