//! Whether a run kept time: the bars of docs/live.md, and those that it missed.

use instant::Span;

/// A bridge that wakes up at a fixed pace has its own bars; so has one whose links have no rate.
const FAST_BPS: u64 = 200_000_000;

/// What is measured of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// So late half of the packets left at most, 99% of them, 99.9% of them; seconds.
    LateP50,
    LateP99,
    LateP999,
    /// Packets for which the kernel had no room on the way.
    Overload,
}

impl Figure {
    /// The key under which the run's `bridge` has it.
    pub fn name(self) -> &'static str {
        match self {
            Figure::LateP50 => "late_p50_s",
            Figure::LateP99 => "late_p99_s",
            Figure::LateP999 => "late_p999_s",
            Figure::Overload => "overload",
        }
    }
}

/// A figure beyond its bar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Missed {
    pub figure: Figure,
    pub value: f64,
    pub bar: f64,
}

/// How late packets may leave, up to 200 Mbps and above it.
const USUAL: [(Figure, Span); 3] = [
    (Figure::LateP50, Span::from_micros(40)),
    (Figure::LateP99, Span::from_micros(100)),
    (Figure::LateP999, Span::from_millis(1)),
];
const FAST: [(Figure, Span); 1] = [(Figure::LateP99, Span::from_micros(250))];

/// The bars that a run missed. `late`: how late 50%, 99% and 99.9% of its packets left at most. `fastest_bps`: the rate of
/// its fastest link, `None` where one has none. `overload`: packets that the machine lost on its own.
pub fn missed(late: [Option<Span>; 3], overload: u64, fastest_bps: Option<u64>) -> Vec<Missed> {
    let bars: &[(Figure, Span)] = match fastest_bps {
        Some(rate) if rate <= FAST_BPS => &USUAL,
        _ => &FAST,
    };
    let seen = [Figure::LateP50, Figure::LateP99, Figure::LateP999].into_iter().zip(late);
    let beyond = seen.filter_map(|(figure, late)| {
        let (_, bar) = bars.iter().find(|b| b.0 == figure)?;
        let late = late.filter(|late| late > bar)?;
        Some(Missed { figure, value: late.as_secs(), bar: bar.as_secs() })
    });
    let lost =
        (overload > 0).then_some(Missed { figure: Figure::Overload, value: overload as f64, bar: 0.0 });
    beyond.chain(lost).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn late(p50_us: i64, p99_us: i64, p999_us: i64) -> [Option<Span>; 3] {
        [p50_us, p99_us, p999_us].map(|us| Some(Span::from_micros(us)))
    }
    fn names(late: [Option<Span>; 3], overload: u64, rate: Option<u64>) -> Vec<&'static str> {
        missed(late, overload, rate).iter().map(|m| m.figure.name()).collect()
    }

    #[test]
    fn a_run_on_its_bars_is_in_time_and_one_beyond_them_is_not() {
        assert_eq!(missed(late(40, 100, 1000), 0, Some(22_000_000)), []);
        let all = ["late_p50_s", "late_p99_s", "late_p999_s", "overload"];
        assert_eq!(names(late(41, 101, 1001), 1, Some(200_000_000)), all);
        let [worst] = missed(late(10, 520_000, 900), 0, Some(22_000_000))[..] else { panic!() };
        assert_eq!((worst.value, worst.bar), (0.52, 0.0001));
    }

    #[test]
    fn above_200_mbps_only_what_the_99th_percentile_is_has_a_bar() {
        assert_eq!(names(late(60, 250, 9000), 0, Some(1_000_000_000)), [""; 0]);
        assert_eq!(names(late(60, 251, 9000), 0, Some(1_000_000_000)), ["late_p99_s"]);
        assert_eq!(names(late(60, 251, 9000), 0, None), ["late_p99_s"]);
    }

    #[test]
    fn where_nothing_passed_nothing_was_late() {
        assert_eq!(missed([None; 3], 0, Some(1_000_000)), []);
    }
}
