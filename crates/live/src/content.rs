//! What the built-in sender says: bytes that are a function of their place, so that any of them can be sent again,
//! and a receiver sees each one that is wrong.

/// A stream of bytes by place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    Zeros,
    /// No two places within reach of a window hold the same eight bytes.
    Pattern(u64),
}

impl Content {
    /// The bytes from `at` on.
    pub fn fill(self, at: u64, out: &mut [u8]) {
        match self {
            Content::Zeros => out.fill(0),
            Content::Pattern(seed) => {
                // Up to the next whole word, then word by word.
                let (head, rest) = out.split_at_mut(out.len().min((at.wrapping_neg() % 8) as usize));
                let before = word(seed, at / 8).to_le_bytes();
                head.iter_mut().zip(&before[(at % 8) as usize..]).for_each(|(byte, b)| *byte = *b);
                for (number, piece) in (at.div_ceil(8)..).zip(rest.chunks_mut(8)) {
                    piece.copy_from_slice(&word(seed, number).to_le_bytes()[..piece.len()]);
                }
            }
        }
    }

    /// The first of these bytes that is not what this stream has from `at` on.
    pub fn differs(self, at: u64, bytes: &[u8]) -> Option<u64> {
        let mut expected = [0; 4096];
        for (from, piece) in (at..).step_by(expected.len()).zip(bytes.chunks(expected.len())) {
            let expected = &mut expected[..piece.len()];
            self.fill(from, expected);
            if let Some(k) = expected.iter().zip(piece).position(|(a, b)| a != b) {
                return Some(from + k as u64);
            }
        }
        None
    }
}

/// SplitMix64's mixing of a counter.
fn word(seed: u64, number: u64) -> u64 {
    let mut z = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_what_the_whole_has_there() {
        let mut whole = [0; 1000];
        Content::Pattern(7).fill(0, &mut whole);
        let mut piece = [0; 300];
        Content::Pattern(7).fill(123, &mut piece);
        assert_eq!(piece, whole[123..423]);
    }

    #[test]
    fn the_first_wrong_byte_is_named() {
        let mut bytes = [0; 9000];
        Content::Pattern(7).fill(55, &mut bytes);
        assert_eq!(Content::Pattern(7).differs(55, &bytes), None);
        bytes[8000] ^= 1;
        assert_eq!(Content::Pattern(7).differs(55, &bytes), Some(8055));
    }
}
