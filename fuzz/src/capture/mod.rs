//! Captures built from decisions: flows that mix, in a file that is mostly well-formed.

mod file;
mod flow;
mod packet;

use crate::choices::Choices;
use flow::Flow;
use packet::Datagram;

/// A capture; the same decisions build the same one.
pub fn build(c: &mut Choices) -> Vec<u8> {
    let mut packets: Vec<(i64, Datagram)> = Vec::new();
    let flows = c.pick(&[1, 1, 1, 2, 5, 30]);
    for _ in 0..flows {
        let most = if flows < 30 { c.pick(&[5, 30, 100, 300]) } else { 20 };
        let mut time = if c.in_256(128) { i64::from(c.below(1_000_000_000)) } else { 0 };
        for (after, datagram) in Flow::new(c).packets(c, most) {
            time += after;
            packets.push((time, datagram));
        }
    }
    match c.below(20) {
        0..14 => packets.sort_by_key(|p| p.0),
        14 => {
            // As far out of order as there are decisions.
            for at in (1..packets.len()).rev() {
                packets.swap(at, c.below(at as u32 + 1) as usize);
            }
        }
        _ => {}
    }
    // A mirror port shows each packet twice.
    if c.in_256(20) {
        packets = packets.into_iter().flat_map(|p| [p.clone(), p]).collect();
    }
    // All packets come again, later.
    if c.in_256(13)
        && let (Some(first), Some(last)) = (packets.first(), packets.last())
    {
        let (span, once) = (last.0 - first.0 + 1000, packets.clone());
        for turn in 1..c.below(6).max(2) {
            packets.extend(once.iter().map(|(t, d)| (t + i64::from(turn) * span, d.clone())));
        }
    }
    let mut bytes = file::write(c, &packets);
    if c.in_256(64) {
        let times = c.pick(&[1, 3, 20]);
        crate::mutation::mutate(&mut bytes, times, &mut |n| c.below(n));
    }
    bytes
}
