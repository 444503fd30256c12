//! A link layer that repeats a frame until it arrives (802.11), while the frames behind it wait.

use crate::random::Stream;
use crate::spec::ArqSpec;
use instant::Span;

#[derive(Clone, Debug)]
pub(crate) struct Arq {
    spec: ArqSpec,
    stream: Stream,
}

impl Arq {
    pub fn new(spec: &ArqSpec, stream: Stream) -> Arq {
        Arq { spec: spec.clone(), stream }
    }
    /// Air time of a try besides its frame.
    pub fn overhead(&self) -> Span {
        self.spec.overhead
    }
    pub fn has_another(&self, tried: u32) -> bool {
        tried < self.spec.tries
    }
    /// The wait before try `n`: uniform over [0, 2^(n-1) * backoff). Doubling ends at 2^10, as 802.11's contention
    /// window does (15 to 1023 slots and a little more).
    pub fn wait_before(&mut self, n: u32) -> Span {
        if n < 2 || self.spec.backoff <= Span::ZERO {
            return Span::ZERO;
        }
        let doublings = (n - 1).min(10);
        let longest = self.spec.backoff.0.saturating_mul(1 << doublings).min(Span::MAX.0 / 1024);
        self.stream.uniform_span(Span(longest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_uniform_and_double_with_each_try() {
        let backoff = Span::from_micros(100);
        let spec = ArqSpec { tries: 7, overhead: Span::ZERO, backoff };
        let mut arq = Arq::new(&spec, Stream::new(1, "air", "arq/forward"));
        assert_eq!(arq.wait_before(1), Span::ZERO);
        for n in [2, 3, 6, 11, 40] {
            let longest = 1e5 * 2f64.powi((n as i32 - 1).min(10));
            let waits: Vec<f64> = (0..20_000).map(|_| arq.wait_before(n).0 as f64).collect();
            assert!(waits.iter().all(|w| (0.0..longest).contains(w)));
            let mean = waits.iter().sum::<f64>() / 2e4;
            assert!(
                (mean - longest / 2.0).abs() < 5.0 * longest / 12f64.sqrt() / 2e4f64.sqrt(),
                "try {n}: {mean}"
            );
        }
        assert!(arq.has_another(6) && !arq.has_another(7));
    }
}
