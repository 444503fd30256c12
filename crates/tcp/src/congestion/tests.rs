use super::*;
use crate::draws::draws;
use crate::stack::SlowStartKind;
use aimd::AimdCount;

pub(super) const SMSS: u32 = 1000;

pub(super) const RENO: WindowRuleKind =
    WindowRuleKind::Aimd(aimd::Params { beta: 0.5, count: AimdCount::Bytes });
pub(super) const CUBIC: WindowRuleKind =
    WindowRuleKind::Cubic(cubic::Params { c: 0.4, beta: 0.7, fast_convergence: true, tcp_friendly: true });
pub(super) const VEGAS: WindowRuleKind =
    WindowRuleKind::Vegas(vegas::Params { alpha: 1.0, beta: 3.0, gamma: 1.0 });
pub(super) const COMPOUND: WindowRuleKind =
    WindowRuleKind::Compound(compound::Params { alpha: 0.125, beta: 0.5, eta: 1.0, k: 0.75, gamma: 30.0 });

const ALL: [WindowRuleKind; 9] = [
    RENO,
    WindowRuleKind::Aimd(aimd::Params { beta: 0.5, count: AimdCount::Segments }),
    WindowRuleKind::Aimd(aimd::Params { beta: 0.5, count: AimdCount::Acks }),
    WindowRuleKind::Aimd(aimd::Params { beta: 0.7, count: AimdCount::PerAck }),
    CUBIC,
    WindowRuleKind::CubicLinux26(cubic_linux26::Params {
        hystart: false,
        since: cubic_linux26::Since::V2_6_29,
    }),
    WindowRuleKind::WestwoodPlus(westwood::Params {}),
    VEGAS,
    COMPOUND,
];

/// A full segment is acknowledged up to `una`; nothing is known of the RTT.
pub(super) fn segment_acked(now: Time, una: u64, nxt: u64) -> AckFacts {
    AckFacts {
        now,
        acked: SMSS,
        delivered: SMSS,
        segments: 1,
        rtt: None,
        stamped: None,
        min_rtt: None,
        srtt: None,
        flight: 0,
        una,
        nxt,
        limited: true,
        paced: false,
    }
}

pub(super) fn spec(rule: WindowRuleKind) -> stack::Congestion {
    stack::Congestion {
        rule,
        initial_window: InitialWindow::Segments(2),
        initial_ssthresh_bytes: None,
        slow_start: SlowStartKind::Bytes { limit: 2 },
        restart_after_idle: true,
        grows_only_when_limited: true,
        limited_by: stack::LimitedBy::Now,
    }
}

/// A sender that always has data: one window, its ACKs, the clock.
pub(super) struct Run {
    pub c: Congestion,
    pub w: Window,
    pub now: Time,
    pub una: u64,
    pub nxt: u64,
    pub rtt: Span,
    min_rtt: Span,
}

impl Run {
    pub fn new(spec: &stack::Congestion) -> Run {
        let (c, w) = Congestion::new(spec, SMSS);
        let rtt = Span::from_millis(100);
        Run { c, w, now: Time(1_000_000_000), una: 1, nxt: 1, rtt, min_rtt: Span::MAX }
    }

    /// In congestion avoidance with this window.
    pub fn avoiding(rule: WindowRuleKind, segments: u32) -> Run {
        let mut r = Run::new(&spec(rule));
        r.w.cwnd = segments * SMSS;
        r.w.ssthresh = r.w.cwnd / 2;
        r.fill();
        r
    }

    pub fn fill(&mut self) {
        self.nxt = self.nxt.max(self.una + u64::from(self.w.cwnd));
    }

    pub fn facts(&mut self, acked: u32) -> AckFacts {
        self.min_rtt = self.min_rtt.min(self.rtt);
        self.nxt = self.nxt.max(self.una + u64::from(acked));
        let flight = (self.nxt - self.una) as u32;
        self.una += u64::from(acked);
        AckFacts {
            now: self.now,
            acked,
            delivered: acked,
            segments: acked.div_ceil(SMSS),
            rtt: Some(self.rtt),
            stamped: None,
            min_rtt: Some(self.min_rtt),
            srtt: Some(self.rtt),
            flight,
            una: self.una,
            nxt: self.nxt,
            limited: true,
            paced: false,
        }
    }

    /// One ACK for this many bytes.
    pub fn ack(&mut self, acked: u32) {
        let a = self.facts(acked);
        self.c.on_ack(&mut self.w, &a);
        self.fill();
    }

    /// A window's worth of ACKs, `each` segments at a time, spread over one RTT.
    pub fn round(&mut self, each: u32) {
        let acks = (self.w.cwnd / SMSS / each).max(1);
        let step = self.rtt / i64::from(acks);
        let end = self.now + self.rtt;
        for _ in 0..acks {
            self.now += step;
            self.ack(each * SMSS);
        }
        self.now = end;
    }

    /// A loss with everything in flight; recovery takes one RTT and ends at ssthresh.
    pub fn lose(&mut self, timeout: bool) {
        self.w.ssthresh = self.loss(timeout);
        self.now += self.rtt;
        self.una = self.nxt;
        self.w.cwnd = if timeout { SMSS } else { self.w.ssthresh };
        if !timeout {
            self.c.on_recovery_end(&mut self.w, self.now);
        }
        self.fill();
    }

    pub fn loss(&mut self, timeout: bool) -> u32 {
        let l = LossFacts { now: self.now, flight: self.w.cwnd, una: self.una, nxt: self.nxt, timeout };
        self.c.ssthresh_on_loss(&self.w, &l)
    }

    pub fn segments(&self) -> f64 {
        f64::from(self.w.cwnd) / f64::from(SMSS)
    }
}

// ---- what all share ----

#[test]
fn the_initial_window_is_the_one_of_rfc_3390_or_a_number_of_segments() {
    let iw = |kind, smss| initial_window(kind, smss);
    // RFC 3390 §1: at most 4 segments, 4380 bytes, but 2 segments in any case.
    assert_eq!(
        [536, 1095, 1460, 2190, 9000].map(|m| iw(InitialWindow::Rfc3390, m)),
        [2144, 4380, 4380, 4380, 18_000]
    );
    assert_eq!(iw(InitialWindow::Segments(10), 1448), 14_480);
    assert_eq!(iw(InitialWindow::Segments(0), 1448), 1448);
}

#[test]
fn slow_start_counts_bytes_up_to_its_limit() {
    // RFC 3465 §2.2 with L = 2, and RFC 5681 (2) with L = 1.
    let grown = |kind, acked| {
        let mut r = Run::new(&stack::Congestion { slow_start: kind, ..spec(RENO) });
        r.ack(acked);
        r.w.cwnd - 2 * SMSS
    };
    assert_eq!(
        [500, 1000, 2000, 5000].map(|a| grown(SlowStartKind::Bytes { limit: 2 }, a)),
        [500, 1000, 2000, 2000]
    );
    assert_eq!([500, 1000, 2000].map(|a| grown(SlowStartKind::Bytes { limit: 1 }, a)), [500, 1000, 1000]);
    assert_eq!([500, 1000, 5000].map(|a| grown(SlowStartKind::Bytes { limit: 0 }, a)), [500, 1000, 5000]);
    assert_eq!([500, 1000, 5000].map(|a| grown(SlowStartKind::PerAck, a)), [1000, 1000, 1000]);
}

#[test]
fn slow_start_stops_at_ssthresh_and_leaves_the_rest_to_avoidance() {
    let mut r = Run::new(&spec(RENO));
    (r.w.cwnd, r.w.ssthresh) = (10 * SMSS - 400, 10 * SMSS);
    r.ack(SMSS);
    assert_eq!(r.w.cwnd, 10 * SMSS);
    // 600 bytes count: 9 400 more earn the next segment.
    r.ack(9_399);
    assert_eq!(r.w.cwnd, 10 * SMSS);
    r.ack(1);
    assert_eq!(r.w.cwnd, 11 * SMSS);
}

#[test]
fn one_ack_for_each_segment_doubles_the_window_in_a_round_of_slow_start() {
    for rule in ALL.into_iter().filter(|&r| r != VEGAS) {
        let mut r = Run::new(&spec(rule));
        r.fill();
        (0..4).for_each(|_| r.round(1));
        assert_eq!(r.w.cwnd, 32 * SMSS, "{rule:?}");
    }
}

#[test]
fn a_window_that_does_not_limit_does_not_grow() {
    for rule in ALL {
        for segments in [2, 50] {
            let mut r = Run::avoiding(rule, segments);
            for _ in 0..500 {
                r.now += Span::from_millis(10);
                let a = AckFacts { limited: false, ..r.facts(SMSS) };
                r.c.on_ack(&mut r.w, &a);
            }
            assert_eq!(r.w.cwnd, segments * SMSS, "{rule:?}");
        }
        // ns-3.20 grows all the same.
        let mut r = Run::new(&stack::Congestion { grows_only_when_limited: false, ..spec(rule) });
        let a = AckFacts { limited: false, ..r.facts(SMSS) };
        r.c.on_ack(&mut r.w, &a);
        assert_eq!(r.w.cwnd, 3 * SMSS, "{rule:?}");
    }
}

#[test]
fn after_idle_the_window_restarts_at_the_initial_one_at_most() {
    // RFC 5681 §4.1.
    for rule in ALL {
        let mut r = Run::avoiding(rule, 40);
        r.c.after_idle(&mut r.w, r.now);
        assert_eq!(r.w.cwnd, 2 * SMSS, "{rule:?}");
        let mut r = Run::avoiding(rule, 1);
        r.c.after_idle(&mut r.w, r.now);
        assert_eq!(r.w.cwnd, SMSS, "{rule:?}");
    }
}

// ---- AIMD ----

#[test]
fn aimd_adds_one_segment_per_window_however_it_counts() {
    for (count, each, rounds, expected) in [
        (AimdCount::Bytes, 1, 10, 20..=20),
        (AimdCount::Bytes, 2, 10, 19..=20),
        (AimdCount::Segments, 1, 10, 20..=20),
        (AimdCount::Segments, 2, 10, 19..=20),
        // SMSS * SMSS / cwnd at each ACK lags a little, since cwnd grows within the round.
        (AimdCount::PerAck, 1, 10, 19..=20),
        // Half with delayed ACKs.
        (AimdCount::PerAck, 2, 10, 14..=15),
        // One more ACK than the window has segments; half with delayed ACKs.
        (AimdCount::Acks, 1, 10, 19..=19),
        (AimdCount::Acks, 2, 10, 14..=15),
    ] {
        let mut r = Run::avoiding(WindowRuleKind::Aimd(aimd::Params { beta: 0.5, count }), 10);
        (0..rounds).for_each(|_| r.round(each));
        let got = r.segments().round() as u32;
        assert!(expected.contains(&got), "{count:?}, every {each}: {got} segments");
    }
}

#[test]
fn rfc_5681_equation_3_adds_at_least_one_byte() {
    let mut r = Run::avoiding(WindowRuleKind::Aimd(aimd::Params { beta: 0.5, count: AimdCount::PerAck }), 10);
    r.ack(SMSS);
    assert_eq!(r.w.cwnd, 10_100);
    r.ack(SMSS);
    assert_eq!(r.w.cwnd, 10_199, "99.0 cut to whole bytes");
    r.w.cwnd = 2_000_000;
    r.ack(SMSS);
    assert_eq!(r.w.cwnd, 2_000_001);
}

#[test]
fn a_loss_leaves_half_of_the_flight_or_in_linux_of_the_window() {
    let left = |count, cwnd, flight| {
        let mut r = Run::avoiding(WindowRuleKind::Aimd(aimd::Params { beta: 0.5, count }), cwnd);
        let l = LossFacts { now: r.now, flight, una: 1, nxt: 2, timeout: false };
        r.c.ssthresh_on_loss(&r.w, &l)
    };
    // RFC 5681 (4): max(FlightSize / 2, 2 SMSS).
    assert_eq!(
        [20_000, 9_001, 3_000, 0].map(|f| left(AimdCount::Bytes, 20, f)),
        [10_000, 4_500, 2_000, 2_000]
    );
    assert_eq!([20_000, 0].map(|f| left(AimdCount::Acks, 21, f)), [10_000, 10_000]);
    assert_eq!(left(AimdCount::Segments, 3, 3_000), 2_000);
}

#[test]
fn linux_before_4_3_has_slow_start_at_ssthresh_itself() {
    let grown = |count| {
        let mut r = Run::avoiding(WindowRuleKind::Aimd(aimd::Params { beta: 0.5, count }), 10);
        r.c.slow_start = SlowStart::new(SlowStartKind::PerAck);
        r.w.ssthresh = r.w.cwnd;
        r.ack(SMSS);
        r.w.cwnd - 10 * SMSS
    };
    assert_eq!([AimdCount::Acks, AimdCount::Segments, AimdCount::Bytes].map(grown), [SMSS, 0, 0]);
}

// ---- properties of them all ----

#[test]
fn whatever_comes_the_window_holds_a_segment_and_only_losses_shrink_it() {
    for seed in 0..600 {
        let mut draw = draws(seed);
        let rule = ALL[draw(ALL.len() as u64) as usize];
        let mut r = Run::new(&stack::Congestion {
            slow_start: [
                SlowStartKind::PerAck,
                SlowStartKind::Bytes { limit: 0 },
                SlowStartKind::Bytes { limit: 2 },
            ][draw(3) as usize],
            initial_ssthresh_bytes: [None, Some(0), Some(30_000)][draw(3) as usize],
            ..spec(rule)
        });
        r.fill();
        for step in 0..400 {
            let before = r.w;
            let kind = draw(40);
            r.now += Span(draw(40_000_000) as i64);
            r.rtt = Span(1 + draw(400_000_000) as i64);
            match kind {
                0 => r.lose(false),
                1 => r.lose(true),
                2 => r.c.after_idle(&mut r.w, r.now),
                3 => {
                    let a = AckFacts { rtt: None, srtt: None, ..r.facts(draw(5000) as u32) };
                    r.c.measure(&mut r.w, &a, false);
                }
                _ => {
                    let acked = (1 + draw(4 * u64::from(SMSS)) as u32).min((r.nxt - r.una) as u32);
                    r.ack(acked);
                    // Vegas and Compound shrink by the RTT, too.
                    let may_shrink =
                        matches!(rule, WindowRuleKind::Vegas { .. } | WindowRuleKind::Compound { .. });
                    assert!(
                        may_shrink || r.w.cwnd >= before.cwnd,
                        "seed {seed}, step {step}, {rule:?}: an ACK shrank the window"
                    );
                }
            }
            assert!(r.w.cwnd >= SMSS, "seed {seed}, step {step}, {rule:?}: cwnd {}", r.w.cwnd);
            assert!(r.w.ssthresh >= SMSS, "seed {seed}, step {step}, {rule:?}: ssthresh {}", r.w.ssthresh);
            assert!(
                kind > 1
                    || r.w.ssthresh <= before.cwnd.max(2 * SMSS)
                    || rule == WindowRuleKind::WestwoodPlus(westwood::Params {}),
                "seed {seed}, step {step}, {rule:?}: a loss left more than there was"
            );
        }
    }
}

#[test]
fn extreme_inputs_overflow_nothing() {
    let spans = [Span(i64::MIN), Span(-1), Span::ZERO, Span(1), Span::MAX, Span(i64::MAX)];
    let odd = [0.0, -1.0, 1.0, 1e300, f64::NAN, f64::INFINITY];
    let mut rules = ALL.to_vec();
    for x in odd {
        rules.push(WindowRuleKind::Aimd(aimd::Params { beta: x, count: AimdCount::Bytes }));
        rules.push(WindowRuleKind::Cubic(cubic::Params {
            c: x,
            beta: x,
            fast_convergence: true,
            tcp_friendly: true,
        }));
        rules.push(WindowRuleKind::Vegas(vegas::Params { alpha: x, beta: x, gamma: x }));
        rules.push(WindowRuleKind::Compound(compound::Params { alpha: x, beta: x, eta: x, k: x, gamma: x }));
    }
    for rule in rules {
        for (smss, cwnd) in [(1, 1), (1, u32::MAX), (536, u32::MAX), (u32::MAX, u32::MAX)] {
            let (mut c, mut w) = Congestion::new(&spec(rule), smss);
            for now in [Time::FAR_PAST, Time::ZERO, Time::FAR_FUTURE] {
                for rtt in spans {
                    (w.cwnd, w.ssthresh) = (cwnd, smss);
                    let a = AckFacts {
                        now,
                        acked: u32::MAX,
                        delivered: u32::MAX,
                        segments: u32::MAX,
                        rtt: Some(rtt),
                        stamped: None,
                        min_rtt: Some(rtt),
                        srtt: Some(rtt),
                        flight: u32::MAX,
                        una: u64::MAX,
                        nxt: u64::MAX - 1,
                        limited: true,
                        paced: false,
                    };
                    c.on_ack(&mut w, &a);
                    c.measure(&mut w, &AckFacts { una: 1, nxt: 0, ..a }, false);
                    c.on_ack(&mut w, &AckFacts { limited: false, ..a });
                    assert!(w.cwnd >= smss, "{rule:?}, {rtt:?}");
                    for timeout in [false, true] {
                        let l = LossFacts { now, flight: u32::MAX, una: 0, nxt: 1, timeout };
                        w.ssthresh = c.ssthresh_on_loss(&w, &l);
                        assert!(w.ssthresh >= smss, "{rule:?}, {rtt:?}");
                        c.on_recovery_end(&mut w, now);
                        c.on_ack(&mut w, &a);
                        c.on_ack(&mut w, &a);
                        c.after_idle(&mut w, now);
                        assert!(w.cwnd >= smss, "{rule:?}, {rtt:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_clone_taken_before_a_loss_undoes_it() {
    for rule in ALL {
        let mut r = Run::avoiding(rule, 30);
        (0..8).for_each(|_| r.round(1));
        let (c, w) = (r.c.clone(), r.w);
        r.lose(false);
        (r.c, r.w) = (c.clone(), w);
        let mut undisturbed = Run { c, w, ..Run::avoiding(rule, 30) };
        (undisturbed.now, undisturbed.una, undisturbed.nxt) = (r.now, r.una, r.nxt);
        for _ in 0..5 {
            r.round(1);
            undisturbed.round(1);
            assert_eq!(r.w, undisturbed.w, "{rule:?}");
        }
    }
}

#[test]
fn linux_grows_by_segments_whatever_they_hold() {
    // tcp_slow_start counts packets: one of 100 bytes is one.
    let count = |count| WindowRuleKind::Aimd(aimd::Params { beta: 0.5, count });
    for (rule, growth) in [(count(AimdCount::Segments), SMSS), (count(AimdCount::Bytes), 100)] {
        let mut r = Run::new(&spec(rule));
        let before = r.w.cwnd;
        let facts = AckFacts { segments: 1, limited: true, ..r.facts(100) };
        r.c.on_ack(&mut r.w, &facts);
        assert_eq!(r.w.cwnd - before, growth, "{rule:?}");
    }
}
