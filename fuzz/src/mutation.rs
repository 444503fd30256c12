//! Small changes of bytes: bits, bytes, numbers, repetitions and cuts.

const NUMBERS: [[u8; 4]; 6] =
    [[0; 4], [0xff; 4], [0x7f, 0xff, 0xff, 0xff], [0, 0, 0, 1], [0, 0, 0, 0x80], [0x80, 0, 0, 0]];

/// Changes `bytes` so many `times`. `below(n)` draws a number below `n`.
pub fn mutate(bytes: &mut Vec<u8>, times: u32, below: &mut dyn FnMut(u32) -> u32) {
    for _ in 0..times {
        if bytes.is_empty() {
            bytes.push(0);
        }
        let len = bytes.len() as u32;
        let at = below(len) as usize;
        match below(6) {
            0 => bytes[at] = below(256) as u8,
            1 => bytes[at] ^= 1 << below(8),
            2 => {
                let end = (at + [1, 4, 100][below(3) as usize]).min(bytes.len());
                bytes.drain(at..end);
            }
            3 => {
                let from = at.saturating_sub(below(200) as usize);
                let again = bytes[from..at].to_vec();
                bytes.splice(at..at, again);
            }
            4 => {
                let number = NUMBERS[below(NUMBERS.len() as u32) as usize];
                let end = (at + 4).min(bytes.len());
                bytes[at..end].copy_from_slice(&number[..end - at]);
            }
            _ => {
                let other = below(len) as usize;
                bytes.swap(at, other);
            }
        }
    }
}
