//! ns-2's generator, MRG32k3a (P. L'Ecuyer, Operations Research 47(1), 1999).

#[derive(Clone, Debug)]
pub struct Mrg32k3a {
    first: [i64; 3],
    second: [i64; 3],
}

const M1: i64 = 4_294_967_087;
const M2: i64 = 4_294_944_443;

impl Mrg32k3a {
    /// As `ns-random SEED` seeds it: all six numbers alike.
    pub fn new(seed: i64) -> Mrg32k3a {
        Mrg32k3a { first: [seed; 3], second: [seed; 3] }
    }

    /// Uniform in 0 ..< 1.
    pub fn draw(&mut self) -> f64 {
        let [a, b, _] = self.first;
        let p = (1_403_580 * b - 810_728 * a).rem_euclid(M1);
        self.first = [b, self.first[2], p];
        let [c, _, d] = self.second;
        let q = (527_612 * d - 1_370_589 * c).rem_euclid(M2);
        self.second = [self.second[1], d, q];
        let z = if p > q { p - q } else { p - q + M1 };
        z as f64 / (M1 + 1) as f64
    }
}
