//! A flow's packets as bins of time, at several scales: what a screen shows of more than it can draw.

use crate::container::{Column, Values, pack};
use crate::packets::Packets;
use crate::round_trips::RoundTrips;
use crate::text::list;
use analysis::rows::{Cause, FlowId};
use pyramid::{Bin, Grid, Range as Ends, Rows, Sack};
use results::names::in_column;
use std::ops::Range;

const CAUSES: usize = Cause::ALL.len();
pub type Level = pyramid::Level<CAUSES>;

/// Bins of the finest level, at most, and how many of them one of the next holds.
pub const FINEST: u32 = 65_536;
const COARSER: u32 = 8;
/// Levels of fewer bins show nothing.
pub const COARSEST: u32 = 64;

/// Packets that lie at `of` over a stretch of time in `most` bins at most, with the round trips that lie at `trips`.
pub fn over(
    packets: &Packets,
    of: Range<usize>,
    (from_ns, to_ns): (i64, i64),
    most: u32,
    (samples, trips): (&RoundTrips, Range<usize>),
) -> Level {
    let mut level = Level::new(Grid::over(from_ns, to_ns, most));
    let block =
        |k: usize| Sack { start: &packets.sack[k][0][of.clone()], end: &packets.sack[k][1][of.clone()] };
    let all = Rows {
        time_ns: &packets.time_ns[of.clone()],
        data: &packets.data[of.clone()],
        seq: &packets.seq[of.clone()],
        len: &packets.len[of.clone()],
        ack: &packets.ack[of.clone()],
        window: &packets.window[of.clone()],
        sack: std::array::from_fn(block),
        dsack: &packets.dsack[of.clone()],
        cause: &packets.cause[of.clone()],
        flight: &packets.flight[of.clone()],
        lost: &packets.lost[of.clone()],
        needless: &packets.needless[of],
    };
    // Columns of one store are of one length.
    let _ = level.add(&all);
    level.add_rtts(&samples.time_ns[trips.clone()], &samples.rtt_us[trips]);
    level
}

/// All packets of a flow in `most` bins at most, and the same in coarser bins, the finest first.
pub fn all(packets: &Packets, samples: &RoundTrips, flow: FlowId, most: u32) -> Vec<Level> {
    let of = packets.of(flow);
    let time = &packets.time_ns[of.clone()];
    let Some((from, to)) = time.iter().min().zip(time.iter().max()) else { return Vec::new() };
    let mut levels = vec![over(packets, of, (*from, *to), most, (samples, samples.of(flow)))];
    while let Some(last) = levels.last().filter(|l| l.grid().bins > COARSEST * COARSER) {
        levels.push(last.coarser(COARSER));
    }
    levels
}

/// A level as a page reads it (kind `bins`). What says nothing is left out: counts of 0, and ends of nothing.
pub fn container(level: &Level) -> Vec<u8> {
    part(level, 0..u32::MAX)
}

/// The bins of some places.
pub fn part(level: &Level, places: Range<u32>) -> Vec<u8> {
    let bins: Vec<(u32, &Bin<CAUSES>)> = level.taken().filter(|(k, _)| places.contains(k)).collect();
    let mut columns = vec![Column::of("bin", Values::U32(bins.iter().map(|(k, _)| *k).collect()), true)];
    let mut add = |name: &str, nothing: i64, alike: bool, of: &dyn Fn(&Bin<CAUSES>) -> i64| {
        let values: Vec<i64> = bins.iter().map(|(_, bin)| of(bin)).collect();
        if name == "packets" || values.iter().any(|v| *v != nothing) {
            let kept = if name == "bytes" { Values::real(&values) } else { Values::whole(&values) };
            columns.push(Column::of(name, kept, alike));
        }
    };
    add("packets", 0, false, &|b| b.packets.into());
    add("bytes", 0, false, &|b| b.bytes as i64);
    add("ack_max", -1, true, &|b| b.ack_most.max(-1));
    add("edge_max", -1, true, &|b| b.edge_most.max(-1));
    add("lost", 0, false, &|b| b.lost.into());
    add("needless", 0, false, &|b| b.needless.into());
    add("sack", 0, false, &|b| b.sack.into());
    add("dsack", 0, false, &|b| b.dsack.into());
    add("flight_max", -1, false, &|b| b.flight_most.max(-1));
    for (k, &cause) in Cause::ALL.iter().enumerate() {
        add(&format!("again_{}", in_column(cause)), 0, false, &|b| b.again[k].into());
    }
    let mut ends = |name: &str, unit: &str, alike: bool, of: &dyn Fn(&Bin<CAUSES>) -> Ends| {
        let both = |bin: &Bin<CAUSES>| of(bin).ends().unwrap_or((-1, -1));
        add(&format!("{name}_min{unit}"), -1, alike, &|b| both(b).0.max(-1));
        add(&format!("{name}_max{unit}"), -1, alike, &|b| both(b).1.max(-1));
    };
    ends("seq", "", true, &|b| b.seq);
    ends("lost", "", true, &|b| b.lost_seq);
    ends("again", "", true, &|b| b.again_seq);
    ends("sack", "", true, &|b| b.sack_seq);
    ends("rtt", "_us", false, &|b| b.rtt_us);
    let Grid { start_ns, bin_ns, bins } = level.grid();
    let causes = list(Cause::ALL.iter().map(|c| c.name()));
    let more = format!(",\"causes\":{causes},\"start_ns\":{start_ns},\"bin_ns\":{bin_ns},\"bins\":{bins}");
    pack("bins", &columns, &more)
}
