//! How late packets left: a histogram in steps of at most 3 %, and what was later than a millisecond.

use instant::Span;

/// Steps to each power of two.
const FINE: u64 = 64;
const POWERS: usize = 40;

#[derive(Clone, Debug)]
pub struct Lateness {
    counts: Vec<u64>,
    pub packets: u64,
    pub max: Span,
    /// Later than 1 ms.
    pub over_1ms: u64,
}

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness { counts: vec![0; POWERS * FINE as usize], packets: 0, max: Span::ZERO, over_1ms: 0 }
    }
}

/// Below 64 ns each nanosecond has its own place; above, each power of two has 64.
fn place(ns: u64) -> usize {
    let power = (64 - (ns | (FINE - 1)).leading_zeros()) as u64 - 6;
    (power * FINE + (ns >> power)) as usize - if power > 0 { (power * FINE / 2) as usize } else { 0 }
}

/// The largest value at a place.
fn most(place: usize) -> u64 {
    let half = FINE as usize / 2;
    if place < FINE as usize {
        return place as u64;
    }
    let power = (place - FINE as usize) / half + 1;
    let step = (place - FINE as usize) % half + half;
    ((step as u64 + 1) << power) - 1
}

impl Lateness {
    pub fn add(&mut self, late: Span) {
        let ns = late.0.max(0);
        let at = place(ns as u64).min(self.counts.len() - 1);
        self.counts[at] += 1;
        self.packets += 1;
        self.max = self.max.max(late);
        self.over_1ms += u64::from(ns > 1_000_000);
    }

    /// The value that a share of packets does not pass; `None` without packets.
    pub fn quantile(&self, share: f64) -> Option<Span> {
        let rank = ((self.packets as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        for (at, n) in self.counts.iter().enumerate() {
            seen += n;
            if *n > 0 && seen >= rank {
                return Some(Span(most(at) as i64).min(self.max));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_within_a_step_of_its_value() {
        let mut last = None;
        for ns in 0..100_000u64 {
            let at = place(ns);
            assert!(last.is_none_or(|l| at == l || at == l + 1), "{ns}: {last:?} then {at}");
            last = Some(at);
        }
        for ns in (0..100_000u64).chain((0..30).map(|p| 777 << p)) {
            let (at, top) = (place(ns), most(place(ns)));
            assert!(
                top >= ns && (top - ns) as f64 <= ns as f64 / 32.0 + 1.0,
                "{ns}: place {at}, up to {top}"
            );
        }
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_list() {
        let mut l = Lateness::default();
        assert_eq!(l.quantile(0.5), None);
        (1..=1000).for_each(|us| l.add(Span::from_micros(us)));
        let near = |share, us: i64| {
            let got = l.quantile(share).unwrap().0 as f64;
            assert!((got / (us * 1000) as f64 - 1.0).abs() < 0.04, "{share}: {got}");
        };
        near(0.5, 500);
        near(0.99, 990);
        assert_eq!(l.quantile(1.0), Some(Span::from_millis(1)));
        assert_eq!((l.over_1ms, l.packets), (0, 1000));
        l.add(Span(1_000_001));
        assert_eq!(l.over_1ms, 1);
    }
}
