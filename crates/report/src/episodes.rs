//! The episodes whose packets a page holds, and where those lie.

use crate::packets::Packets;
use analysis::rows::{BurstRow, EpisodeRow, FlowId};
use std::ops::Range;
use wire::Time;

/// Of a flow of which not all packets are there.
const MOST: usize = 24;
/// Packets before and after an episode.
const MARGIN: usize = 200;

/// Those that cost most, then those that lost most, the worst first.
fn costliest(episodes: &[EpisodeRow]) -> Vec<&EpisodeRow> {
    let mut all: Vec<&EpisodeRow> = episodes.iter().collect();
    let cost = |e: &EpisodeRow| e.cost.map_or(0, |c| c.0);
    all.sort_by_key(|e| (-cost(e), std::cmp::Reverse(e.lost_segments), e.number));
    all.truncate(MOST);
    all
}

/// The rows of the packets of each of the costliest episodes of a flow, with its number, and some before and behind.
pub fn windows(
    packets: &Packets,
    flow: FlowId,
    origin: Time,
    episodes: &[EpisodeRow],
    bursts: &[BurstRow],
) -> Vec<(u64, Range<usize>)> {
    let of = packets.of(flow);
    let last = of.clone().next_back().map_or(0, |i| packets.time_ns[i]);
    let window = |episode: &EpisodeRow| {
        let mine = bursts.iter().filter(|b| b.episode == Some(episode.number)).map(|b| b.start);
        let start = mine.fold(episode.start, Time::min).0 - origin.0;
        let end = episode.end.map_or(last, |t| t.0 - origin.0);
        let rows = packets.within(flow, start - 1, end + 1);
        let rows = rows.start.saturating_sub(MARGIN).max(of.start)..(rows.end + MARGIN).min(of.end);
        (u64::from(episode.number), rows)
    };
    costliest(episodes).into_iter().map(window).collect()
}
