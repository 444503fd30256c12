//! Two captures are compared: of one transfer at two places, or of transfers that have nothing in common.

use super::analyze::{HEAD, answer, capture_of, everything, request, told};
use crate::choices::Choices;
use crate::{mutation, scratch};
use results::run::analyze;

/// The other capture: the same one with some packets left out, delayed or damaged.
fn other(c: &mut Choices, one: &[u8]) -> Vec<u8> {
    let mut other = one.to_vec();
    match c.below(8) {
        0 => {}
        1..6 => thin_out(c, &mut other),
        _ => {
            let times = c.pick(&[1, 3, 20]);
            mutation::mutate(&mut other, times, &mut |n| c.below(n));
        }
    }
    other
}

/// Leaves packets of a pcap file out, and delays the others by some milliseconds.
fn thin_out(c: &mut Choices, bytes: &mut Vec<u8>) {
    const FILE: usize = 24;
    const RECORD: usize = 16;
    if bytes.len() < FILE
        || ![[0x4d, 0x3c, 0xb2, 0xa1], [0xd4, 0xc3, 0xb2, 0xa1]]
            .contains(&[bytes[0], bytes[1], bytes[2], bytes[3]])
    {
        return;
    }
    let units = if bytes[0] == 0x4d { 1_000_000_000 } else { 1_000_000 };
    let (loss, delay) = (c.pick(&[0, 5, 26, 128]), c.pick(&[0, 20, 300]) * (units / 1000));
    let mut out = bytes[..FILE].to_vec();
    let mut rest = &bytes[FILE..];
    while rest.len() >= RECORD {
        let four = |at: usize| u32::from_le_bytes([rest[at], rest[at + 1], rest[at + 2], rest[at + 3]]);
        let end = (RECORD + four(8) as usize).min(rest.len());
        if !c.in_256(loss) {
            let jitter = if delay > 0 { c.below(units / 1000) } else { 0 };
            let fraction = u64::from(four(4)) + u64::from(delay + jitter);
            let seconds = four(0).wrapping_add((fraction / u64::from(units)) as u32);
            out.extend(seconds.to_le_bytes());
            out.extend(((fraction % u64::from(units)) as u32).to_le_bytes());
            out.extend(&rest[8..end]);
        }
        rest = &rest[end..];
    }
    *bytes = out;
}

/// The first half of an input is one capture, and the second decides what becomes of it.
pub fn first_of(bytes: &[u8]) -> Vec<u8> {
    capture_of(&bytes[..bytes.len() / 2])
}

pub fn run(bytes: &[u8]) {
    let decisions = &bytes[bytes.len() / 2..];
    let one = first_of(bytes);
    let mut c = Choices::new(decisions);
    let two = other(&mut c, &one);
    let path = scratch::file("a.pcap", &one);
    let mut request = request(&bytes[..bytes.len().min(HEAD)], vec![path.clone()]);
    request.receiver = vec![scratch::file("b.pcap", &two)];
    let single = told(analyze(&request, None, &mut |_| true), |found| everything(found, &path));
    if bytes.get(1).is_some_and(|b| b % 16 == 0) {
        request.threads = 3;
        let several = told(analyze(&request, None, &mut |_| true), answer);
        assert!(single == several, "another answer on three threads");
    }
    // The two files overlap, and are read as parts of one rotated capture.
    if bytes.get(2).is_some_and(|b| b % 8 == 0) {
        request.paths.append(&mut request.receiver);
        told(analyze(&request, None, &mut |_| true), answer);
    }
}
