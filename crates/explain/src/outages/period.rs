//! Whether times come in a beat: a period on which most of them lie.

/// The fit looks at no more outages than this: its cost grows with the cube.
pub(super) const FITTED: usize = 48;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Regular {
    pub period: f64,
    pub jitter: f64,
    hits: usize,
    /// Regulars on which nothing vanished.
    pub missed: u32,
}

impl Regular {
    pub fn better_than(&self, other: &Regular) -> bool {
        (self.hits, -self.jitter / self.period).partial_cmp(&(other.hits, -other.jitter / other.period))
            == Some(std::cmp::Ordering::Greater)
    }
}

/// The period on which most of the times lie, if there is one. Any two of them, and any number of beats between,
/// propose a period; the rest vote; a straight line through the voters refines it. A beat while the sender was
/// `silent` (from, to), waiting for its timer, had nothing to take and is not held against the period.
pub(super) fn regular_period(times: &[f64], silent: &[(f64, f64)]) -> Option<Regular> {
    let times = &times[..times.len().min(FITTED)];
    if times.len() < 3 {
        return None;
    }
    let mut best: Option<Regular> = None;
    for (i, from) in times.iter().enumerate() {
        for to in &times[i + 1..] {
            for beats in 1..=4u32 {
                let Some(found) = fit(times, *from, (to - from) / f64::from(beats), silent) else { continue };
                if best.is_none_or(|b| found.better_than(&b)) {
                    best = Some(found);
                }
            }
        }
    }
    best
}

fn fit(times: &[f64], origin: f64, period: f64, silent: &[(f64, f64)]) -> Option<Regular> {
    if period < 0.05 {
        return None;
    }
    let mut voters: Vec<(f64, f64)> = Vec::with_capacity(times.len());
    for t in times {
        let n = ((t - origin) / period).round();
        let near = (t - origin - n * period).abs() <= 0.1 * period;
        if near && voters.last().is_none_or(|(last, _)| *last < n) {
            voters.push((n, *t));
        }
    }
    let hits = voters.len();
    let (first, last) = (voters.first()?.0, voters.last()?.0);
    let slots = (last - first) as usize + 1;
    let strays = times.len() - hits;
    if hits < 3 || strays * 4 > times.len() || slots > 4 * FITTED {
        return None;
    }
    let unseen = |w: &[(f64, f64)]| {
        let between = (w[0].0 as i64 + 1)..(w[1].0 as i64);
        let at = |n: i64| origin + n as f64 * period;
        between.filter(|n| !silent.iter().any(|s| s.0 <= at(*n) && at(*n) <= s.1)).count()
    };
    let missed: usize = voters.windows(2).map(unseen).sum();
    let excused = slots - hits - missed;
    // By chance a few times lie near a beat too often to believe it with a gap, a stray or a wide margin.
    let margin = match hits {
        3 if missed > 0 || strays > 0 => return None,
        4 if strays > 0 => return None,
        5 if strays > 0 && missed > 0 => return None,
        // An excuse for every beat but one is worth little: three must fit all the better.
        3 if excused > 2 => return None,
        ..=3 => 0.02,
        4 if missed > 0 => 0.02,
        4 | 5 => 0.03,
        _ => 0.04,
    };
    if missed * 2 > hits {
        return None;
    }
    let n = hits as f64;
    let (mx, my) = voters.iter().fold((0.0, 0.0), |(x, y), v| (x + v.0 / n, y + v.1 / n));
    let sxx: f64 = voters.iter().map(|v| (v.0 - mx).powi(2)).sum();
    let sxy: f64 = voters.iter().map(|v| (v.0 - mx) * (v.1 - my)).sum();
    let period = sxy / sxx;
    let squares: f64 = voters.iter().map(|v| (v.1 - my - period * (v.0 - mx)).powi(2)).sum();
    let jitter = (squares / n).sqrt();
    (jitter <= margin * period).then_some(Regular { period, jitter, hits, missed: (missed + excused) as u32 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(times: &[f64]) -> Option<(f64, u32)> {
        regular_period(times, &[]).map(|b| ((b.period * 1000.0).round() / 1000.0, b.missed))
    }

    #[test]
    fn a_beat_is_found_with_beats_missing_and_a_stray_between() {
        assert_eq!(found(&[3.1, 8.1, 13.1]), Some((5.0, 0)));
        assert_eq!(found(&[1.5, 4.0, 6.5, 11.5, 14.0]), Some((2.5, 1)));
        let strayed = found(&[1.5, 4.0, 5.1, 6.5, 9.0, 11.5]).unwrap();
        assert_eq!(strayed, (2.5, 0));
    }

    #[test]
    fn starts_that_are_a_little_late_do_not_hide_the_beat() {
        // The sender was silent for a moment when the link went.
        let (period, missed) = found(&[15.02, 30.2, 45.0, 60.31, 75.1]).unwrap();
        assert!((period - 15.0).abs() < 0.1 && missed == 0, "{period}");
    }

    #[test]
    fn irregular_times_have_no_beat() {
        for times in [
            &[1.0, 2.0][..],
            &[1.0, 2.0, 4.5],
            &[0.5, 1.9, 4.4, 5.3, 9.1, 9.9],
            &[2.0, 3.1, 7.9, 8.4, 12.2, 19.0, 21.5],
        ] {
            assert_eq!(found(times), None, "{times:?}");
        }
    }

    #[test]
    fn random_times_are_seldom_taken_for_regular() {
        // A linear congruential generator, so that the figure is the same everywhere.
        let mut x = 12345u64;
        let mut regular = 0;
        for trial in 0..1000 {
            let n = 3 + trial % 6;
            let mut t: Vec<f64> = (0..n)
                .map(|_| {
                    x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    (x >> 33) as f64 / 2f64.powi(31) * 60.0
                })
                .collect();
            t.sort_by(f64::total_cmp);
            regular += u32::from(regular_period(&t, &[]).is_some());
        }
        assert!(regular <= 20, "{regular} of 1000");
    }
}
