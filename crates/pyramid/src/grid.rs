//! Bins of time: where they begin, how long each is, how many there are.

/// Bins of equal length from an instant on. Nanoseconds since whatever the packets' times count from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    pub start_ns: i64,
    pub bin_ns: i64,
    pub bins: u32,
}

impl Grid {
    /// The fewest bins, `most` at most, of at least a nanosecond each, that hold both ends.
    pub fn over(start_ns: i64, end_ns: i64, most: u32) -> Grid {
        let span = i128::from(end_ns.max(start_ns)) - i128::from(start_ns) + 1;
        let bin_ns = (span + i128::from(most) - 1) / i128::from(most.max(1));
        let bin_ns = i64::try_from(bin_ns.max(1)).unwrap_or(i64::MAX);
        let bins = (span + i128::from(bin_ns) - 1) / i128::from(bin_ns);
        Grid { start_ns, bin_ns, bins: u32::try_from(bins).unwrap_or(most).max(1) }
    }
    /// The bin of an instant; what lies outside belongs to the first or the last.
    pub fn place(&self, at_ns: i64) -> u32 {
        let since = i128::from(at_ns) - i128::from(self.start_ns);
        let place = since.div_euclid(i128::from(self.bin_ns));
        u32::try_from(place.max(0)).unwrap_or(u32::MAX).min(self.bins - 1)
    }
    /// From when to when a bin lasts: what is before the second has the same place as the first.
    pub fn span(&self, place: u32) -> (i64, i64) {
        let from = i128::from(self.start_ns) + i128::from(place) * i128::from(self.bin_ns);
        let end = |at: i128| i64::try_from(at).unwrap_or(i64::MAX);
        (end(from), end(from + i128::from(self.bin_ns)))
    }
    /// The same time in bins `times` as long.
    pub fn coarser(&self, times: u32) -> Grid {
        Grid {
            start_ns: self.start_ns,
            bin_ns: self.bin_ns.saturating_mul(i64::from(times)),
            bins: self.bins.div_ceil(times),
        }
    }
}
