use super::*;
use crate::rto::Rto;
use crate::stack::{RtoKind, RtoRule};
use wire::Time;

const fn ms(v: i64) -> Span {
    Span::from_millis(v)
}

/// HZ = 100, as Linux 2.2 had it on the paper's machines.
const SPEC: RtoRule = RtoRule {
    rule: RtoKind::Linux22,
    initial: Span::from_secs(3),
    min: ms(200),
    max: Span::from_secs(120),
    granularity: ms(10),
    slop: Span::ZERO,
    wheel: false,
};

/// One connection of paper `rto`: segments of one byte, offsets as the paper numbers them.
struct Host {
    rto: Rto,
    nxt: u64,
}

impl Host {
    fn new(rule: RtoKind) -> Host {
        Host { rto: Rto::new(&RtoRule { rule, ..SPEC }), nxt: 9 }
    }
    /// An ACK for everything before `una` with this RTT, after which the window is `cwnd` segments.
    fn ack(&mut self, una: u64, rtt_ms: i64, cwnd: u32) {
        self.rto.on_sample(&RttSample {
            rtt: ms(rtt_ms),
            now: Time(100_000_000_000),
            una,
            nxt: self.nxt,
            from_timestamp: true,
        });
        self.rto.on_ack_advance(una, self.nxt, cwnd);
    }
    /// SRTT, mdev (ms, rounded to tens as the paper prints them) and back-off.
    fn row(&self) -> (i64, i64, u32) {
        let tens = |span: Option<Span>| span.map_or(0, |s| (s.0 + 5_000_000) / 10_000_000 * 10);
        (tens(self.rto.srtt()), tens(self.rto.rttvar()), self.rto.backoff())
    }
}

/// SRTT 30 ms, mdev 10 ms: row 1 of Table II.
fn at_the_start(rule: RtoKind) -> Host {
    let mut h = Host::new(rule);
    // Row 1 starts from an estimate, not from samples.
    let (crate::rto::Rule::Linux22(r), bounds) = (&mut h.rto.rule, &h.rto.bounds) else { unreachable!() };
    (r.srtt8, r.mdev4) = (3 << 3, 4);
    r.rto = r.computed(bounds, 8);
    h
}

#[test]
fn table_ii_of_paper_rto_line_by_line() {
    let mut h = at_the_start(RtoKind::Linux22);
    assert_eq!((h.row(), h.rto.rto()), ((30, 10, 0), ms(200)), "1: start, cwnd 8");
    // 2 to 5: segment 1 times out four times, 0.2, 0.4, 0.8 and 1.6 s after it was sent.
    for (situation, rto_ms) in [(2, 400), (3, 800), (4, 1600), (5, 3200)] {
        h.rto.on_timeout();
        assert_eq!((h.row(), h.rto.rto()), ((30, 10, situation - 1), ms(rto_ms)), "{situation}: timeout");
    }
    // 6: ACK 4 echoes the timestamp of the first copy, 2.99 s ago; 7 and 8: the next two come after 20 ms.
    h.ack(4, 2990, 2);
    assert_eq!(h.row(), (400, 750, 4), "6: ACK 4");
    assert!((h.rto.rto().as_secs() - 95.20).abs() < 0.6, "{}", h.rto.rto());
    h.ack(6, 20, 3);
    assert_eq!(h.row(), (350, 660, 4), "7: ACK 6");
    assert!((h.rto.rto().as_secs() - 71.76).abs() < 0.6, "{}", h.rto.rto());
    h.ack(8, 20, 4);
    assert_eq!(h.row(), (310, 580, 4), "8: ACK 8");
    assert!((h.rto.rto().as_secs() - 57.86).abs() < 0.6, "{}", h.rto.rto());
    // One more loss now costs this long; ACK 9 would have ended it.
    h.ack(9, 20, 5);
    assert_eq!(h.rto.backoff(), 0);
    assert!(h.rto.rto() < Span::from_secs(4));
}

#[test]
fn equation_1_with_the_printed_values_of_rows_6_7_and_8() {
    // The table prints tens of milliseconds; its RTOs follow from the printed values to the digit.
    let bounds = Bounds::new(&RtoRule { granularity: ms(1), ..SPEC });
    for (srtt, mdev, cwnd, rto_us) in
        [(400, 750, 2, 95_200_000), (350, 660, 3, 71_760_000), (310, 580, 4, 57_860_000)]
    {
        let mut rule = Linux22::new(&bounds, false);
        (rule.srtt8, rule.mdev4, rule.backoff) = (srtt << 3, mdev << 2, 4);
        let rto = rule.computed(&bounds, cwnd);
        // Whole milliseconds before the shift: less than 16 * 2 ms off.
        assert!((rto.0 / 1000 - rto_us).abs() < 32_000, "SRTT {srtt}: {rto}");
        // In finer units nothing is cut off.
        let exact = Bounds::new(&RtoRule { granularity: Span(1), ..SPEC });
        (rule.srtt8, rule.mdev4) = ((srtt << 3) * 1_000_000, (mdev << 2) * 1_000_000);
        assert_eq!(rule.computed(&exact, cwnd), Span::from_micros(rto_us), "SRTT {srtt}");
    }
}

#[test]
fn two_minutes_is_the_most_as_in_test_4_of_the_paper() {
    let mut h = at_the_start(RtoKind::Linux22);
    (0..4).for_each(|_| h.rto.on_timeout());
    h.ack(4, 2990, 2);
    h.rto.on_timeout();
    assert_eq!(h.rto.rto(), Span::from_secs(120));
}

#[test]
fn the_cure_forgets_the_back_off_with_the_segment_that_earned_it() {
    let mut h = at_the_start(RtoKind::Linux22Cured);
    (0..4).for_each(|_| h.rto.on_timeout());
    assert_eq!(h.rto.rto(), ms(3200), "while segment 1 is out it is the same");
    // The same ACKs: the time-outs are a sixteenth.
    for (una, rtt, cwnd, row, seconds) in [
        (4, 2990, 2, (400, 750, 0), 5.95),
        (6, 20, 3, (350, 660, 0), 4.485),
        (8, 20, 4, (310, 580, 0), 3.616),
    ] {
        h.ack(una, rtt, cwnd);
        assert_eq!(h.row(), row, "ACK {una}");
        assert!((h.rto.rto().as_secs() - seconds).abs() < 0.04, "ACK {una}: {}", h.rto.rto());
    }
}

#[test]
fn without_timestamps_the_doubled_time_out_stays_until_a_segment_sent_once_is_timed() {
    let mut h = at_the_start(RtoKind::Linux22);
    (0..3).for_each(|_| h.rto.on_timeout());
    // The retransmission is acknowledged, and all else: no sample comes of it.
    h.rto.on_ack_advance(9, 9, 2);
    assert_eq!((h.rto.rto(), h.rto.backoff()), (ms(1600), 3));
    h.rto.on_sample(&RttSample {
        rtt: ms(30),
        now: Time(100_000_000_000),
        una: 10,
        nxt: 12,
        from_timestamp: false,
    });
    h.rto.on_ack_advance(10, 12, 3);
    assert_eq!((h.rto.rto(), h.rto.backoff()), (ms(200), 0));
}

#[test]
fn a_small_window_doubles_the_time_out() {
    // (1 + 1/4 + 1/2^(cwnd-1)): 2.25 with one segment, 1.25 with many.
    let bounds = Bounds::new(&RtoRule { granularity: Span(1), ..SPEC });
    let mut rule = Linux22::new(&bounds, false);
    (rule.srtt8, rule.mdev4) = (ms(800).0 << 3, ms(200).0);
    let rto = |cwnd| rule.computed(&bounds, cwnd).0 / 1_000_000;
    assert_eq!(
        [rto(0), rto(1), rto(2), rto(3), rto(60), rto(u32::MAX)],
        [2250, 2250, 1750, 1500, 1250, 1250]
    );
}

#[test]
fn a_sample_of_the_handshake_counts_at_once() {
    let mut h = Host::new(RtoKind::Linux22);
    assert_eq!(h.rto.rto(), Span::from_secs(3));
    h.rto.on_sample(&RttSample { rtt: ms(200), now: Time(0), una: 1, nxt: 1, from_timestamp: false });
    // 200 + 2 * 200 ms, times 1 + 1/4 + 1/2 with a window of two.
    assert_eq!(h.rto.rto(), ms(1050));
}
