//! How the window grows between two losses: a line, CUBIC's curve, or not at all.

/// One round trip: seconds since the loss was repaired, its number among the round trips that count, and the
/// largest flight in it in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    pub at_s: f32,
    pub round: f32,
    pub window: f32,
}

/// What one stretch between two losses looks like, each in round trips that say so.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Votes {
    pub linear: f32,
    pub cubic: f32,
    pub flat: f32,
    /// About half a segment a round trip: Reno with delayed ACKs counted, or CUBIC in its Reno-friendly
    /// region (RFC 9438 §4.3). The decrease factor tells which.
    pub half: f32,
    /// Long enough to judge, but like nothing known.
    pub odd: f32,
}

impl Votes {
    pub fn add(&mut self, more: Votes) {
        self.linear += more.linear;
        self.cubic += more.cubic;
        self.flat += more.flat;
        self.half += more.half;
        self.odd += more.odd;
    }
}

const POINTS: usize = 24;
/// Fewer round trips say nothing about a shape.
const LEAST_ROUNDS: f32 = 8.0;

/// The stretch since the last loss; when it is full every second point goes and the stride doubles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stretch {
    points: [Point; POINTS],
    len: u8,
    stride: u32,
    rounds: u32,
    /// The window at the loss before, segments; 0 if unknown.
    before: f32,
    /// The last round trip's window while the sender may still be in slow start.
    slow_start: Option<f32>,
}

impl Stretch {
    pub fn after_loss(before_segments: f32) -> Stretch {
        Stretch { stride: 1, before: before_segments, slow_start: Some(0.0), ..Stretch::default() }
    }

    /// Takes the next round trip; gives the window at which slow start ended, when it just did.
    pub fn push(&mut self, at_s: f32, window: f32) -> Option<f32> {
        let mut knee = None;
        if let Some(last) = self.slow_start {
            // Slow start doubles, or with delayed ACKs grows by half, each round trip.
            self.slow_start = Some(window);
            // Three segments on end are no plateau yet: without SACK Linux idles there until the repair is sure.
            if last < 4.0 || window > last * 1.2 {
                return None;
            }
            self.slow_start = None;
            knee = Some(last);
        }
        let round = self.rounds;
        self.rounds += 1;
        if !round.is_multiple_of(self.stride) {
            return knee;
        }
        if usize::from(self.len) == POINTS {
            for i in 0..POINTS / 2 {
                self.points[i] = self.points[2 * i];
            }
            self.len = (POINTS / 2) as u8;
            self.stride *= 2;
            if !round.is_multiple_of(self.stride) {
                return knee;
            }
        }
        self.points[usize::from(self.len)] = Point { at_s, round: round as f32, window };
        self.len += 1;
        knee
    }

    pub fn votes(&self) -> Votes {
        judge(&self.points[..usize::from(self.len)], self.before)
    }
}

/// Least squares over the round trips: slope in segments a round trip, and the root mean square residual.
fn line(points: &[Point]) -> (f32, f32) {
    let n = points.len() as f32;
    let (mx, my) = points.iter().fold((0.0, 0.0), |(x, y), p| (x + p.round / n, y + p.window / n));
    let (mut sxx, mut sxy) = (0.0, 0.0);
    for p in points {
        sxx += (p.round - mx) * (p.round - mx);
        sxy += (p.round - mx) * (p.window - my);
    }
    let slope = if sxx > 0.0 { sxy / sxx } else { 0.0 };
    let squares: f32 = points.iter().map(|p| (p.window - my - slope * (p.round - mx)).powi(2)).sum();
    (slope, (squares / n).sqrt())
}

/// RFC 9438: C = 0.4 segments/s³, α = 3(1 − β)/(1 + β) with β = 0.7.
const C: f32 = 0.4;
const ALPHA: f32 = 0.53;

/// Root mean square distance from CUBIC's own curve, which has no free parameter once the window before the
/// loss is known: W_max is that window, or 0.85 of it by fast convergence (§4.7). Where slow start ended without
/// a loss there is no W_max, and Linux grows by a twentieth each round trip instead.
fn from_cubic(points: &[Point], before: f32) -> f32 {
    let Some(first) = points.first() else { return f32::INFINITY };
    let distance = |curve: &dyn Fn(&Point) -> f32| {
        let squares: f32 = points.iter().map(|p| (p.window - curve(p)).powi(2)).sum();
        (squares / points.len() as f32).sqrt()
    };
    if before == 0.0 {
        return distance(&|p| first.window * 1.05f32.powf(p.round - first.round));
    }
    [1.0, 0.85]
        .map(|share| {
            let w_max = before * share;
            if w_max <= first.window {
                return f32::INFINITY;
            }
            let k = ((w_max - first.window) / C).cbrt();
            distance(&|p| {
                let cubic = C * (p.at_s - first.at_s - k).powi(3) + w_max;
                cubic.max(first.window + ALPHA * (p.round - first.round))
            })
        })
        .into_iter()
        .fold(f32::INFINITY, f32::min)
}

fn judge(points: &[Point], before: f32) -> Votes {
    let mut votes = Votes::default();
    let [first, .., last] = points else { return votes };
    let span = last.round - first.round;
    if span < LEAST_ROUNDS - 1.0 || points.len() < 6 {
        return votes;
    }
    let mean = points.iter().map(|p| p.window).sum::<f32>() / points.len() as f32;
    let (slope, off_line) = line(points);
    let rise = (slope * span).abs();
    let weight = span + 1.0;
    if rise < 0.25 * span && rise < (0.1 * mean).max(1.5) {
        // A flight that swings as widely as BBR's probing is flat; one that saws is not.
        match off_line < 0.2 * mean {
            true => votes.flat = weight,
            false => votes.odd = weight,
        }
        return votes;
    }
    let off_cubic = from_cubic(points, before);
    // A segment is the grain of the measurement.
    let straight = off_line <= (0.1 * rise).max(1.0);
    let curved = off_cubic <= (0.15 * rise).max(1.0);
    let vote = match slope {
        s if straight && (0.7..=1.3).contains(&s) && off_line <= off_cubic * 1.5 => &mut votes.linear,
        s if straight && (0.35..0.7).contains(&s) && off_line <= off_cubic * 1.5 => &mut votes.half,
        _ if curved => &mut votes.cubic,
        _ => &mut votes.odd,
    };
    *vote = weight;
    votes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretch(before: f32, rounds: u32, rtt: f32, window: impl Fn(f32, f32) -> f32) -> Votes {
        let mut s = Stretch::after_loss(before);
        for i in 0..rounds {
            s.push(i as f32 * rtt, window(i as f32 * rtt, i as f32).floor());
        }
        s.votes()
    }

    #[test]
    fn one_segment_a_round_trip_is_linear() {
        let v = stretch(100.0, 40, 0.1, |_, r| 50.0 + r);
        assert!(v.linear >= 30.0 && v.cubic == 0.0, "{v:?}");
    }

    #[test]
    fn cubics_curve_is_cubic_from_its_concave_part_to_its_convex_part() {
        // RFC 9438 §4.2 with W_max = 300: K = 6.1 s
        let k = (300.0f32 * 0.3 / 0.4).cbrt();
        for seconds in [4.0, 8.0, 12.0] {
            let v = stretch(300.0, (seconds / 0.1) as u32, 0.1, |t, _| 0.4 * (t - k).powi(3) + 300.0);
            assert!(v.cubic > 30.0 && v.linear == 0.0, "{seconds} s: {v:?}");
        }
    }

    #[test]
    fn linux_grows_by_a_twentieth_where_cubic_knows_no_earlier_loss() {
        let v = stretch(0.0, 30, 0.1, |_, r| 61.0 * 1.046f32.powf(r));
        assert!(v.cubic > 20.0, "{v:?}");
    }

    #[test]
    fn half_a_segment_a_round_trip_is_left_to_the_decrease_factor() {
        let v = stretch(40.0, 40, 0.03, |_, r| 28.0 + 0.53 * r);
        assert!(v.half > 30.0, "{v:?}");
    }

    #[test]
    fn a_held_window_is_flat_and_a_short_stretch_says_nothing() {
        let v = stretch(0.0, 60, 0.05, |_, r| if r as u32 % 8 == 3 { 46.0 } else { 40.0 });
        assert!(v.flat > 50.0, "{v:?}");
        assert_eq!(stretch(100.0, 7, 0.1, |_, r| 50.0 + r), Votes::default());
    }

    #[test]
    fn slow_start_is_not_part_of_the_shape() {
        let v = stretch(0.0, 40, 0.1, |_, r| if r < 5.0 { 10.0 * 2.0f32.powf(r) } else { 160.0 + r });
        assert!(v.linear > 25.0, "{v:?}");
    }

    #[test]
    fn a_window_that_jumps_about_is_like_nothing_known() {
        let v = stretch(100.0, 40, 0.1, |_, r| if (r as u32 / 5).is_multiple_of(2) { 20.0 } else { 90.0 });
        assert!(v.odd > 0.0 && v.linear + v.cubic + v.flat + v.half == 0.0, "{v:?}");
    }
}
