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
        let numbers = &packets.packet[of.clone()];
        for (found, number) in packets.needless[of].iter_mut().zip(numbers) {
            *found = needless.contains(number).into();
        }
    }
}

fn lost(packets: &mut Packets, of: Range<usize>, origin: Time, bursts: &[BurstRow]) {
    let gone: Vec<Gone> = bursts
        .iter()
        .map(|burst| Gone {
            first_ns: burst.start.0 - origin.0,
            last_ns: burst.last.0 - origin.0,
            low: burst.seq_start as i64,
            high: burst.seq_end as i64,
            copies: burst.lost_copies.map_or(0, |n| n as usize),
        })
        .collect();
    let sent = Copies {
        time_ns: &packets.time_ns[of.clone()],
        data: &packets.data[of.clone()],
        seq: &packets.seq[of.clone()],
        len: &packets.len[of.clone()],
    };
    for place in lost_among(&sent, &gone) {
        packets.lost[of.start + place] = 1;
    }
}

/// Packets of one flow as columns.
pub struct Copies<'a> {
    pub time_ns: &'a [i64],
    /// Not 0: from the sender of the data.
    pub data: &'a [u8],
    pub seq: &'a [i64],
    pub len: &'a [u32],
}

/// What a burst says of its copies.
pub struct Gone {
    /// When its first and its last copy were sent.
    pub first_ns: i64,
    pub last_ns: i64,
    /// Sequence numbers: the first byte, and the one behind the last.
    pub low: i64,
    pub high: i64,
    /// How many; 0: not known.
    pub copies: usize,
}

/// The places of the copies that were lost. A burst is a maximal run of lost copies: all that was sent from its first to
/// its last. Others may have left in the same instant as these two.
pub fn lost_among(packets: &Copies<'_>, bursts: &[Gone]) -> Vec<usize> {
    let Copies { time_ns, data, seq, len } = *packets;
    let mut gone = Vec::new();
    if bursts.is_empty() {
        return gone;
    }
    let mut sent: Vec<usize> = (0..time_ns.len()).filter(|&i| data[i] != 0 && len[i] > 0).collect();
    sent.sort_by_key(|&i| time_ns[i]);
    let starts = |k: usize| seq[sent[k]];
    let ends = |k: usize| seq[sent[k]] + i64::from(len[sent[k]]);
    let before = |at: i64| sent.partition_point(|&i| time_ns[i] < at);
    for &Gone { first_ns, last_ns, low, high, copies } in bursts {
        let begin = before(first_ns - INSTANT_NS);
        let end = before(last_ns + INSTANT_NS + 1);
        let instant = before(first_ns + INSTANT_NS + 1);
        let narrower = (copies > 0 && begin + copies < end).then(|| {
            (begin..instant.min(end - copies + 1)).find(|&i| {
                let run = i..i + copies;
                run.clone().map(starts).min() == Some(low) && run.map(ends).max() == Some(high)
            })
        });
        match narrower.flatten() {
            Some(i) => gone.extend(i..i + copies),
            None => gone.extend((begin..end).filter(|&k| (low..high).contains(&starts(k)))),
        }
    }
    gone.into_iter().map(|k| sent[k]).collect()
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
    for (found, &time) in packets.episode[of.clone()].iter_mut().zip(&packets.time_ns[of]) {
        let behind = spans.partition_point(|(start, ..)| *start - INSTANT_NS <= time);
        if let Some(&(_, end, number)) = behind.checked_sub(1).and_then(|k| spans.get(k))
            && time <= end.saturating_add(INSTANT_NS)
            && number < MOST_EPISODES
        {
            *found = number as u16 + 1;
        }
    }
}
