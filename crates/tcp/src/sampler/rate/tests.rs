use super::*;
use crate::draws::draws;

fn ms(v: i64) -> Time {
    Time(v * 1_000_000)
}
const fn span_ms(v: i64) -> Span {
    Span::from_millis(v)
}

/// Segments of one byte each: the k-th ends at k + 1.
struct Sender {
    rates: Rates,
    sent: u32,
    acked: u32,
}

impl Sender {
    fn new() -> Sender {
        Sender { rates: Rates::new(ms(0)), sent: 0, acked: 0 }
    }
    fn sends(&mut self, at: Time) {
        let out = self.sent - self.acked;
        self.sent += 1;
        self.rates.left(at, self.sent, out + 1, 0, out == 0);
    }
    fn ack(&mut self, at: Time, to: u32, min_rtt: Option<Span>) -> RateSample {
        let before =
            Before { delivered: self.rates.delivered(), lost: 0, in_flight: self.sent - self.acked, una: 0 };
        self.acked = to;
        self.rates.acknowledged((self.sent - to) as usize);
        self.rates.sample(at, &before, 0, 1, 1, min_rtt)
    }
}

#[test]
fn a_sample_is_what_was_delivered_since_the_copy_left_over_the_time_that_took() {
    // draft-ietf-ccwg-bbr, section 4.1.1.2: ten at once, then an ACK each millisecond.
    let mut s = Sender::new();
    (0..10).for_each(|_| s.sends(ms(0)));
    let first = s.ack(ms(100), 1, None);
    assert_eq!((first.delivered, first.interval), (Some(1), Some(span_ms(100))));
    s.sends(ms(100));
    for k in 2..=10 {
        s.ack(ms(99 + i64::from(k)), k, None);
    }
    // The eleventh left as one of ten had been delivered, at 100 ms; ten more are at 200 ms.
    let eleventh = s.ack(ms(200), 11, None);
    assert_eq!((eleventh.delivered, eleventh.interval), (Some(10), Some(span_ms(100))));
    assert_eq!((eleventh.prior_delivered, eleventh.prior_in_flight, eleventh.newly_delivered), (2, 1, 1));
}

#[test]
fn acks_that_come_together_do_not_look_like_a_fast_path() {
    // Section 4.1.1.2.3: the sending took longer than the acknowledging, and counts.
    let mut s = Sender::new();
    s.sends(ms(0));
    for k in 1..=20 {
        s.sends(ms(5 * k));
    }
    s.ack(ms(100), 1, None);
    // All the others at once, a millisecond later.
    let late = s.ack(ms(101), 21, None);
    assert_eq!((late.delivered, late.interval), (Some(21), Some(span_ms(101))));
    for k in 0..20 {
        s.sends(ms(102 + 5 * k));
    }
    s.ack(ms(210), 22, None);
    let again = s.ack(ms(211), 41, None);
    assert!(again.interval >= Some(span_ms(95)), "{again:?}");
}

#[test]
fn what_left_while_the_application_limited_says_so_until_it_is_delivered() {
    let mut s = Sender::new();
    s.sends(ms(0));
    s.rates.limit_to_application(1);
    s.sends(ms(10));
    assert!(!s.ack(ms(100), 1, None).app_limited, "it left before");
    assert!(s.rates.progress(0).app_limited);
    s.sends(ms(101));
    assert!(s.ack(ms(110), 2, None).app_limited);
    s.sends(ms(111));
    assert!(s.ack(ms(201), 3, None).app_limited);
    assert!(!s.ack(ms(211), 4, None).app_limited, "the bubble is gone");
}

#[test]
fn an_interval_below_the_smallest_rtt_is_none() {
    // A needless repair: the ACK of the original comes right behind it.
    let mut s = Sender::new();
    s.sends(ms(0));
    s.rates.left_again(0, ms(99), 1, 0);
    let sample = s.ack(ms(100), 1, Some(span_ms(50)));
    assert_eq!(sample.delivered, Some(1));
    // The copy left at 99 ms, and was measured from the beginning of its flight.
    assert_eq!(sample.interval, Some(span_ms(100)));
    s.sends(ms(100));
    assert_eq!(s.ack(ms(101), 2, Some(span_ms(50))).interval, None);
}

#[test]
fn nothing_delivered_is_no_sample() {
    let mut s = Sender::new();
    s.sends(ms(0));
    let none = s.ack(ms(10), 0, None);
    assert_eq!((none.delivered, none.interval, none.newly_delivered), (None, None, 0));
}

/// Whatever is sent when, and however ACKs come together: over a link that takes `gap` for each segment no sample says
/// more than one segment beyond what fits its interval.
#[test]
fn no_sample_is_faster_than_the_link() {
    for seed in 0..300 {
        let mut draw = draws(seed);
        let gap = 1 + draw(2000) as i64 * 1000;
        let delay = 1_000_000 * (1 + draw(50) as i64);
        let mut s = Sender::new();
        let (mut now, mut free) = (Time(0), Time(0));
        let mut arrivals = std::collections::VecDeque::new();
        for _ in 0..600 {
            now += Span(draw(3) as i64 * draw(4 * gap as u64 + 1) as i64);
            while let Some(&at) = arrivals.front().filter(|at| **at <= now) {
                // Each at its time: what holds ACKs back is after the link, and only lengthens intervals.
                arrivals.pop_front();
                let sample = s.ack(at, s.acked + 1, None);
                let (n, took) = (sample.delivered.unwrap_or(0), sample.interval.unwrap_or(Span::MAX));
                assert!((n as i64 - 1) * gap <= took.0, "seed {seed}: {n} in {took}, {gap} ns each");
            }
            if s.sent - s.acked < 40 {
                s.sends(now);
                free = free.max(now) + Span(gap);
                arrivals.push_back(free + Span(delay));
            }
        }
    }
}
