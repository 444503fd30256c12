use super::*;

/// The generator from the state 1, 2, 3, 4: the first numbers of the reference implementation.
#[test]
fn xoshiro_gives_the_published_sequence() {
    let mut s = Stream { state: [1, 2, 3, 4] };
    let first: Vec<u64> = (0..4).map(|_| s.next_u64()).collect();
    assert_eq!(first, [41943041, 58720359, 3588806011781223, 3591011842654386]);
}

#[test]
fn streams_of_other_names_or_seeds_share_nothing() {
    let of = |seed, a: &str, b: &str| -> Vec<u64> {
        let mut s = Stream::new(seed, a, b);
        (0..100).map(|_| s.next_u64()).collect()
    };
    assert_eq!(of(1, "air", "fade"), of(1, "air", "fade"));
    let others = [
        of(1, "air", "fade"),
        of(2, "air", "fade"),
        of(1, "fade", "air"),
        of(1, "airf", "ade"),
        of(1, "air", ""),
    ];
    for (i, a) in others.iter().enumerate() {
        for b in &others[i + 1..] {
            assert!(a.iter().all(|x| !b.contains(x)));
        }
    }
}

/// The mean of n draws lies within five standard errors of the truth (one in 1.7 million if it were by chance,
/// and the seeds are fixed).
fn mean_is(name: &str, n: u32, truth: f64, deviation: f64, mut draw: impl FnMut(&mut Stream) -> f64) {
    let mut s = Stream::new(7, name, "test");
    let mean = (0..n).map(|_| draw(&mut s)).sum::<f64>() / n as f64;
    let error = deviation / (n as f64).sqrt();
    assert!((mean - truth).abs() < 5.0 * error, "{name}: {mean} is not {truth} within 5 x {error}");
}

#[test]
fn draws_have_the_moments_of_their_law() {
    let n = 200_000;
    mean_is("uniform", n, 0.5, (1.0f64 / 12.0).sqrt(), |s| s.uniform());
    mean_is("uniform squared", n, 1.0 / 3.0, (4.0f64 / 45.0).sqrt(), |s| s.uniform().powi(2));
    mean_is("exponential", n, 3.0, 3.0, |s| s.exponential(3.0));
    mean_is("exponential squared", n, 18.0, 9.0 * 20f64.sqrt(), |s| s.exponential(3.0).powi(2));
    mean_is("normal", n, 10.0, 2.0, |s| s.normal(10.0, 2.0));
    mean_is("normal variance", n, 4.0, 4.0 * 2f64.sqrt(), |s| (s.normal(10.0, 2.0) - 10.0).powi(2));
    // Shape 4, mean 1: least value 3/4, variance scale^2 * a / ((a-1)^2 (a-2)) = 1/8.
    mean_is("pareto", n, 1.0, 0.125f64.sqrt(), |s| s.pareto(1.0, 4.0));
    mean_is("chance", n, 0.3, 0.21f64.sqrt(), |s| s.chance(0.3) as u8 as f64);
    mean_is("below", n, 4.5, 8.25f64.sqrt(), |s| s.below(10) as f64);
}

#[test]
fn a_pareto_tail_has_its_shape_and_its_least_value() {
    let mut s = Stream::new(3, "pareto", "tail");
    let draws: Vec<f64> = (0..100_000).map(|_| s.pareto(0.5, 1.2)).collect();
    let least = 0.5 * 0.2 / 1.2;
    assert!(draws.iter().all(|x| *x >= least));
    // P(X > 10 least) = 10^-1.2 = 0.0631, deviation of the count 77.
    let far = draws.iter().filter(|x| **x > 10.0 * least).count() as f64;
    assert!((far - 6309.6).abs() < 5.0 * 77.0, "{far}");
}

#[test]
fn certain_and_impossible_chances_are_so() {
    let mut s = Stream::new(1, "", "");
    assert!((0..10_000).all(|_| s.chance(1.0) && !s.chance(0.0)));
    assert_eq!(s.below(0), 0);
}
