use super::*;

fn channel(dwell: Dwell, loss_good: f64, loss_bad: f64) -> GilbertElliott {
    let spec = Params { dwell, loss_good, loss_bad };
    GilbertElliott::new(&spec, Stream::new(5, "air", "states"), Stream::new(5, "air", "losses"))
}

fn losses(channel: &mut GilbertElliott, n: usize, every: Span) -> Vec<bool> {
    (0..n as i64).map(|k| channel.answer(Time::ZERO + every * k) == Answer::Drop).collect()
}

/// Number and mean length of the runs of losses.
fn bursts(lost: &[bool]) -> (f64, f64) {
    let count = lost.iter().filter(|l| **l).count() as f64;
    let runs = lost.windows(2).filter(|w| w[1] && !w[0]).count() as f64 + lost[0] as u8 as f64;
    (runs, count / runs)
}

/// Within five standard errors.
fn near(what: &str, found: f64, truth: f64, error: f64) {
    assert!((found - truth).abs() < 5.0 * error, "{what}: {found} is not {truth} within 5 x {error}");
}

/// With total loss in the bad state: mean burst 1 / r, share p / (p + r).
#[test]
fn a_chain_over_packets_has_its_mean_burst_and_its_share() {
    let n = 1_000_000;
    let lost =
        losses(&mut channel(Dwell::Packets { good_to_bad: 0.01, bad_to_good: 0.25 }, 0.0, 1.0), n, Span(1));
    let (runs, mean) = bursts(&lost);
    // Geometric: deviation sqrt(1 - r) / r = 3.46 packets a run.
    near("burst", mean, 4.0, 3.46 / runs.sqrt());
    // Runs form a renewal process: one each 1/p + 1/r = 104 packets, deviation sqrt(99.5^2 + 3.46^2) = 99.6.
    near("runs", runs, n as f64 / 104.0, 99.6 / 104.0 * (n as f64 / 104.0).sqrt());
}

#[test]
fn each_state_has_its_own_loss() {
    let n = 400_000;
    let dwell = Dwell::Packets { good_to_bad: 0.5, bad_to_good: 0.5 };
    let lost = losses(&mut channel(dwell, 0.1, 0.5), n, Span(1)).into_iter().filter(|l| *l).count() as f64;
    // With p = r = 1/2 the states are independent: loss 0.3.
    near("loss", lost / n as f64, 0.3, (0.21 / n as f64).sqrt());
}

/// Independent of the chain's states the k-th packet gets the k-th draw.
#[test]
fn a_chain_that_never_leaves_the_good_state_is_a_random_channel() {
    let lost =
        losses(&mut channel(Dwell::Packets { good_to_bad: 0.0, bad_to_good: 1.0 }, 0.2, 1.0), 1000, Span(1));
    let mut draws = Stream::new(5, "air", "losses");
    assert!(lost.iter().all(|l| *l == draws.chance(0.2)));
}

/// ns-2's two-state model: a packet survives if all of it lies in one good period. With exponential lengths of means
/// g and b that is g / (g + b) * exp(-1/g), and two in a row g / (g + b) * exp(-2/g).
#[test]
fn a_bad_period_takes_every_packet_that_it_touches() {
    let n = 1_000_000;
    for (good, bad) in [(20.0f64, 4.0), (100.0, 8.0), (10.0, 0.08), (100.0, 0.08), (0.5, 0.1)] {
        let dwell = Dwell::PacketLengths { good_mean: good, bad_mean: bad };
        let lost = losses(&mut channel(dwell, 0.0, 1.0), n, Span(1));
        let survives = |packets: f64| good / (good + bad) * (-packets / good).exp();
        let (one, two) = (survives(1.0), survives(2.0));
        let kept = lost.iter().filter(|l| !**l).count() as f64;
        // Correlation dies out over 1/(1/g + 1/b) packets on the axis.
        let independent = n as f64 / (1.0 + 2.0 / (1.0 / good + 1.0 / bad));
        near("share", kept / n as f64, one, (one * (1.0 - one) / independent).sqrt());
        let pairs = lost.windows(2).filter(|w| !w[0] && !w[1]).count() as f64;
        near("two in a row", pairs / n as f64, two, (two * (1.0 - two) / independent).sqrt());
    }
}

#[test]
fn a_chain_in_time_goes_on_while_nothing_is_sent_and_is_the_same_for_both_directions() {
    let dwell = Dwell::Time { good_mean: Span::from_millis(900), bad_mean: Span::from_millis(100) };
    let n = 2_000_000;
    let often = losses(&mut channel(dwell.clone(), 0.0, 1.0), n, Span::from_millis(5));
    let share = often.iter().filter(|l| **l).count() as f64 / n as f64;
    // Correlation time 1/(1/900 + 1/100) = 90 ms: 10,000 s hold 10,000 s / (2 * 90 ms) independent looks.
    near("share", share, 0.1, (0.09f64 / (1e4 / 0.18)).sqrt());
    // The other direction sends seldom, and sees the same states.
    let seldom = losses(&mut channel(dwell, 0.0, 1.0), n / 100, Span::from_millis(500));
    assert!(seldom.iter().enumerate().all(|(k, l)| *l == often[k * 100]));
}
