//! Synthetic senders, round trip by round trip, and what is to be made of them.

use analysis::infer::Inferrer;
use analysis::rows::{Cause, Growth, Inference, RecoveryStyle, Vantage};
use wire::{Span, Time};

const MSS: u64 = 1448;
const RTT: Span = Span::from_millis(40);

/// A sender whose window the test sets, on a path that acknowledges each segment after one RTT.
struct Sender {
    i: Inferrer,
    now: Time,
    una: u64,
    nxt: u64,
    advertised: Option<u64>,
}

impl Sender {
    fn established(sack: bool) -> Sender {
        let mut s = Sender::mid_stream();
        s.i.on_handshake(MSS as u32, sack);
        s
    }
    fn mid_stream() -> Sender {
        Sender { i: Inferrer::new(), now: Time(1_000_000_000), una: 1, nxt: 1, advertised: Some(10_000_000) }
    }
    fn send(&mut self, segments: u64) {
        for _ in 0..segments {
            self.nxt += MSS;
            self.i.on_new_data(self.now, self.nxt, MSS as u32, self.nxt - self.una);
        }
    }
    fn ack_to(&mut self, una: u64) {
        self.una = una;
        self.i.on_cumulative_ack(self.now, una, self.nxt - una, self.advertised);
    }
    fn fill(&mut self, window: u64) {
        let allowed = self.una + (window * MSS).min(self.advertised.unwrap_or(u64::MAX));
        self.send(allowed.saturating_sub(self.nxt) / MSS);
    }
    /// Everything in flight is acknowledged within one RTT, and each ACK lets the sender fill `window` again.
    fn round(&mut self, window: u64) {
        self.fill(window);
        let flight = (self.nxt - self.una) / MSS;
        for _ in 0..flight {
            self.now += RTT / flight as i64;
            self.ack_to(self.una + MSS);
            self.fill(window);
        }
    }
    fn resend(&mut self, cause: Cause, at: u64) {
        self.i.on_retransmission(self.now, cause, at, at + MSS, 1);
    }
    /// `holes` segments were lost; `a_round` of them are resent each round trip, then all is acknowledged.
    fn loses(&mut self, holes: u64, a_round: u64) {
        self.i.on_episode_start(self.now);
        let until = self.nxt;
        for hole in 0..holes {
            self.resend(Cause::Recovery, self.una + hole * 2 * MSS);
            if hole % a_round == a_round - 1 {
                self.now += RTT;
            }
        }
        self.now += RTT;
        self.ack_to(until);
        self.i.on_episode_end(self.now);
    }
    fn times_out(&mut self) {
        self.now += Span::from_millis(240);
        // Either order must do: the timer fires as the episode begins.
        if self.nxt.is_multiple_of(2) {
            self.i.on_timeout(self.now);
            self.i.on_episode_start(self.now);
        } else {
            self.i.on_episode_start(self.now);
            self.i.on_timeout(self.now);
        }
        self.resend(Cause::Timeout, self.una);
    }
    fn slow_start(&mut self, to: u64) {
        let mut w = 10;
        while w < to {
            self.round(w);
            w *= 2;
        }
    }
    fn found(&self) -> Inference {
        self.i.report(Vantage::Sender)
    }
}

fn reno() -> Sender {
    let mut s = Sender::established(true);
    s.slow_start(100);
    let mut w = 80;
    for _ in 0..4 {
        s.loses(6, 6);
        w /= 2;
        for _ in 0..40 {
            s.round(w);
            w += 1;
        }
    }
    s
}

#[test]
fn reno_halves_grows_by_a_segment_a_round_trip_and_starts_with_ten() {
    let f = reno().found();
    let (factor, sure) = f.decrease_factor.unwrap();
    assert!((factor - 0.5).abs() < 0.03 && sure > 0.7, "{f:?}");
    let (growth, sure) = f.growth.unwrap();
    assert!(growth == Growth::Linear && sure > 0.8, "{f:?}");
    assert_eq!(f.recovery.unwrap().0, RecoveryStyle::Sack);
    assert_eq!(f.initial_window_segments.unwrap().0, 10);
}

#[test]
fn cubic_cuts_to_seven_tenths_and_follows_its_curve() {
    let mut s = Sender::established(true);
    s.slow_start(320);
    let mut before = 300.0f64;
    for _ in 0..3 {
        s.round(before as u64);
        s.loses(4, 4);
        let k = (before * 0.3 / 0.4).cbrt();
        let mut w = before;
        for i in 0..200 {
            w = 0.4 * (f64::from(i) * 0.04 - k).powi(3) + before;
            s.round(w as u64);
        }
        before = w;
    }
    let f = s.found();
    let (factor, sure) = f.decrease_factor.unwrap();
    assert!((factor - 0.7).abs() < 0.03 && sure > 0.7, "{f:?}");
    let (growth, sure) = f.growth.unwrap();
    assert!(growth == Growth::Cubic && sure > 0.7, "{f:?}");
}

#[test]
fn a_window_held_by_a_model_of_the_path_is_flat_and_has_no_decrease() {
    let mut s = Sender::established(true);
    s.slow_start(80);
    for i in 0..120u64 {
        s.round([50, 40, 40, 40, 40, 40, 40, 40][(i % 8) as usize]);
    }
    let f = s.found();
    assert!(f.growth.is_some_and(|(g, sure)| g == Growth::Flat && sure > 0.8), "{f:?}");
    assert_eq!((f.decrease_factor, f.recovery), (None, None));
}

#[test]
fn a_window_that_the_receiver_held_back_is_no_initial_window() {
    let mut s = Sender::established(true);
    s.advertised = Some(65_535);
    (0..60).for_each(|_| s.round(500));
    assert_eq!(s.found().initial_window_segments, None);
}

#[test]
fn an_application_that_writes_a_little_now_and_then_shows_no_window() {
    let mut s = Sender::established(true);
    for _ in 0..40 {
        s.send(6);
        s.now += RTT;
        s.ack_to(s.nxt);
        s.now += Span::from_millis(300);
    }
    let f = s.found();
    assert_eq!(f.initial_window_segments, None, "the application may have had no more");
    assert_eq!((f.growth, f.decrease_factor), (None, None));
}

#[test]
fn nothing_is_claimed_of_a_few_packets_or_about_the_start_of_what_began_earlier() {
    let mut s = Sender::established(true);
    s.round(4);
    assert_eq!(s.found(), Inference::default());
    let mut s = Sender::mid_stream();
    s.slow_start(100);
    assert_eq!(s.found().initial_window_segments, None);
}

#[test]
fn an_initial_window_that_ends_in_a_short_segment_was_a_short_write() {
    let mut s = Sender::established(true);
    s.send(3);
    s.nxt += 300;
    s.i.on_new_data(s.now, s.nxt, 300, s.nxt - s.una);
    s.now += RTT;
    s.ack_to(s.nxt);
    (0..4).for_each(|_| s.round(20));
    assert_eq!(s.found().initial_window_segments, None);
}

#[test]
fn newreno_repairs_one_hole_a_round_trip() {
    let mut s = Sender::established(false);
    s.slow_start(60);
    for _ in 0..3 {
        s.loses(4, 1);
        (0..12).for_each(|i| s.round(20 + i));
    }
    assert_eq!(s.found().recovery.unwrap().0, RecoveryStyle::NewReno);
}

#[test]
fn without_sack_duplicate_acks_do_not_make_the_window_look_larger() {
    let mut s = Sender::established(false);
    s.slow_start(60);
    for w in 40..52 {
        s.round(w);
    }
    // 200 duplicate ACKs each let a new segment out before the repair begins.
    for _ in 0..200 {
        s.i.on_duplicate_ack();
        s.send(1);
    }
    s.loses(1, 1);
    (0..12).for_each(|i| s.round(26 + i));
    let (factor, _) = s.found().decrease_factor.unwrap();
    assert!((factor - 0.5).abs() < 0.03, "{factor}");
}

#[test]
fn tahoe_slow_starts_from_the_hole() {
    let mut s = Sender::established(false);
    s.slow_start(40);
    for _ in 0..2 {
        s.i.on_episode_start(s.now);
        let until = s.nxt;
        let mut at = s.una;
        for burst in [1, 2, 4, 8] {
            for _ in 0..burst {
                s.resend(Cause::Recovery, at);
                at += MSS;
            }
            s.now += RTT;
            s.ack_to(at.min(until));
        }
        s.ack_to(until);
        s.i.on_episode_end(s.now);
        (0..12).for_each(|i| s.round(10 + i));
    }
    assert_eq!(s.found().recovery.unwrap().0, RecoveryStyle::GoBackN);
}

#[test]
fn os_x_10_7_repaired_one_segment_a_timeout() {
    // Paper `interruption`, Fig. 11: timeout, new ACK, new data, duplicate ACK, timeout …
    let mut s = Sender::established(true);
    s.slow_start(50);
    let until = s.nxt;
    for _ in 0..10 {
        s.times_out();
        s.now += Span::from_millis(10);
        s.ack_to(s.una + MSS);
        s.send(1);
    }
    s.ack_to(until);
    s.i.on_episode_end(s.now);
    let f = s.found();
    assert_eq!(f.recovery.unwrap().0, RecoveryStyle::OnePerTimeout);
    assert_eq!(f.decrease_factor, None, "ten timeouts say nothing of a decrease");
}

#[test]
fn two_new_segments_after_a_timeout_are_f_rto_and_resent_holes_are_not() {
    // Paper `interruption`, Fig. 10 (d).
    let mut with = Sender::established(true);
    let mut without = Sender::established(true);
    for _ in 0..3 {
        for s in [&mut with, &mut without] {
            (0..3).for_each(|_| s.round(20));
            s.times_out();
            s.now += RTT;
            s.ack_to(s.una + MSS);
        }
        with.send(2);
        without.resend(Cause::LossState, without.una);
        without.send(1);
        for s in [&mut with, &mut without] {
            s.now += RTT;
            s.ack_to(s.nxt);
            s.i.on_episode_end(s.now);
        }
    }
    assert_eq!(with.found().f_rto.map(|f| f.0), Some(true));
    assert_eq!(without.found().f_rto.map(|f| f.0), Some(false));
}

#[test]
fn timeouts_of_a_long_tail_without_a_probe_before_them_mean_no_tail_loss_probes() {
    let run = |probe: bool| {
        let mut s = Sender::established(true);
        for i in 0..4 {
            s.una += i % 2;
            s.nxt += i % 2;
            (0..5).for_each(|_| s.round(20));
            if probe {
                s.now += RTT * 2;
                s.i.on_probe(s.now);
            }
            s.times_out();
            s.now += RTT;
            s.ack_to(s.nxt);
            s.i.on_episode_end(s.now);
        }
        s.found().tail_loss_probes
    };
    assert_eq!(run(false).map(|p| p.0), Some(false));
    assert_eq!(run(true).map(|p| p.0), Some(true));
}

#[test]
fn at_the_receivers_side_windows_are_not_seen_but_repairs_are() {
    let s = reno();
    let f = s.i.report(Vantage::Receiver);
    assert_eq!(f, Inference { recovery: s.found().recovery, ..Inference::default() });
    let middle = s.i.report(Vantage::Middle);
    assert!(middle.decrease_factor.unwrap().1 < s.found().decrease_factor.unwrap().1);
    assert_eq!(middle.initial_window_segments, None);
}

#[test]
fn it_stays_within_a_kibibyte() {
    assert!(size_of::<Inferrer>() <= 1024, "{}", size_of::<Inferrer>());
}
