//! Decisions read from an input's bytes.

use arbitrary::Unstructured;

/// Bytes as a row of decisions. When the bytes have run out, every decision is the first choice.
pub struct Choices<'a>(Unstructured<'a>);

impl<'a> Choices<'a> {
    pub fn new(bytes: &'a [u8]) -> Choices<'a> {
        Choices(Unstructured::new(bytes))
    }
    pub fn is_over(&self) -> bool {
        self.0.is_empty()
    }
    /// A number below `n`.
    pub fn below(&mut self, n: u32) -> u32 {
        match n {
            0 | 1 => 0,
            2..=256 => u32::from(self.0.arbitrary::<u8>().unwrap_or(0)) % n,
            257..=65_536 => u32::from(self.0.arbitrary::<u16>().unwrap_or(0)) % n,
            _ => self.0.arbitrary::<u32>().unwrap_or(0) % n,
        }
    }
    pub fn bits<T: arbitrary::Arbitrary<'a> + Default>(&mut self) -> T {
        self.0.arbitrary().unwrap_or_default()
    }
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u32) as usize]
    }
    /// True in `n` of 256.
    pub fn in_256(&mut self, n: u32) -> bool {
        // When the bytes have run out, the answer is no.
        255 - self.below(256) < n
    }
    pub fn bytes(&mut self, n: usize) -> &'a [u8] {
        let n = n.min(self.0.len());
        self.0.bytes(n).unwrap_or(&[])
    }
}
