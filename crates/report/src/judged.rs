//! Of each packet: whether it was lost, whether it was needless, and of which episode it is.

use crate::packets::Packets;
use analysis::rows::{BurstRow, EpisodeRow, Needless, RetransmissionRow};
use std::collections::HashSet;
use std::ops::Range;
use wire::Time;

/// Tables count in doubles of seconds: what left in one instant differs by less.
const INSTANT_NS: i64 = 1;
/// Numbers of episodes are stored in 16 bits.
const MOST_EPISODES: u64 = u16::MAX as u64;

/// What the rows of a flow tell of its packets, which lie at `of`.
pub fn judge(
    packets: &mut Packets,
    of: Range<usize>,
    origin: Time,
    bursts: &[BurstRow],
    episodes: &[EpisodeRow],
    repeated: &[RetransmissionRow],
) {
    lost(packets, of.clone(), origin, bursts);
    in_episodes(packets, of.clone(), origin, episodes);
    let needless = |r: &&RetransmissionRow| matches!(r.needless, Needless::Yes(_));
    let needless: HashSet<u32> = repeated.iter().filter(needless).map(|r| r.packet as u32).collect();
    if !needless.is_empty() {
        for i in of {
            packets.needless[i] = needless.contains(&packets.packet[i]).into();
        }
    }
}

/// A burst is a maximal run of lost copies: all that was sent from its first to its last. Others may have left in the
/// same instant as these two.
fn lost(packets: &mut Packets, of: Range<usize>, origin: Time, bursts: &[BurstRow]) {
    if bursts.is_empty() {
        return;
    }
    let mut sent: Vec<usize> = of.filter(|&i| packets.data[i] != 0 && packets.len[i] > 0).collect();
    sent.sort_by_key(|&i| packets.time_ns[i]);
    let starts = |k: usize| packets.seq[sent[k]];
    let ends = |k: usize| packets.seq[sent[k]] + i64::from(packets.len[sent[k]]);
    let before = |at: i64| sent.partition_point(|&i| packets.time_ns[i] < at);
    let mut gone = Vec::new();
    for burst in bursts {
        let (first, last) = (burst.start.0 - origin.0, burst.last.0 - origin.0);
        let begin = before(first - INSTANT_NS);
        let end = before(last + INSTANT_NS + 1);
        let instant = before(first + INSTANT_NS + 1);
        let (low, high) = (burst.seq_start as i64, burst.seq_end as i64);
        let known = burst.lost_copies.map_or(0, |n| n as usize);
        let narrower = (known > 0 && begin + known < end).then(|| {
            (begin..instant.min(end - known + 1)).find(|&i| {
                let run = i..i + known;
                run.clone().map(starts).min() == Some(low) && run.map(ends).max() == Some(high)
            })
        });
        match narrower.flatten() {
            Some(i) => gone.extend(i..i + known),
            None => gone.extend((begin..end).filter(|&k| (low..high).contains(&starts(k)))),
        }
    }
    for k in gone {
        packets.lost[sent[k]] = 1;
    }
}

fn in_episodes(packets: &mut Packets, of: Range<usize>, origin: Time, episodes: &[EpisodeRow]) {
    if episodes.is_empty() {
        return;
    }
    let span = |e: &EpisodeRow| {
        (e.start.0 - origin.0, e.end.map_or(i64::MAX, |t| t.0 - origin.0), u64::from(e.number))
    };
    let mut spans: Vec<(i64, i64, u64)> = episodes.iter().map(span).collect();
    spans.sort_by_key(|(start, ..)| *start);
    for i in of {
        let time = packets.time_ns[i];
        let behind = spans.partition_point(|(start, ..)| *start - INSTANT_NS <= time);
        if let Some(&(_, end, number)) = behind.checked_sub(1).and_then(|k| spans.get(k))
            && time <= end.saturating_add(INSTANT_NS)
            && number < MOST_EPISODES
        {
            packets.episode[i] = number as u16 + 1;
        }
    }
}
