//! The window after a loss over the window before it, as a median over the episodes that show it.

use crate::rows::Inferred;

const KEPT: usize = 24;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Decrease {
    ratios: [f32; KEPT],
    seen: u32,
}

impl Decrease {
    /// When the array is full the oldest goes: what the sender does now counts.
    pub fn add(&mut self, before: f32, after: f32) {
        if before > 0.0 {
            self.ratios[self.seen as usize % KEPT] = after / before;
            self.seen += 1;
        }
    }

    /// A single ratio counts only if a rule is known that gives it: RFC 5681's half, CUBIC's 0.7 (RFC 9438), and
    /// 0.85 of ABE (RFC 8511). The confidence falls with the spread (quartiles 0.2 apart leave none) and grows with the number.
    pub fn report(&self) -> Inferred<f64> {
        let n = (self.seen as usize).min(KEPT);
        let mut sorted = self.ratios;
        let sorted = &mut sorted[..n];
        sorted.sort_unstable_by(f32::total_cmp);
        let median = match n {
            0 => return None,
            n if n % 2 == 1 => sorted[n / 2],
            n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
        };
        if n == 1 && ![0.5, 0.7, 0.85].iter().any(|known| (median - known).abs() < 0.03) {
            return None;
        }
        let spread = sorted[n * 3 / 4] - sorted[n / 4];
        let confidence = (1.0 - spread / 0.2) * (1.0 - 0.5 / n as f32);
        (confidence >= 0.3).then(|| (f64::from((median * 1000.0).round()) / 1000.0, confidence))
    }
}
