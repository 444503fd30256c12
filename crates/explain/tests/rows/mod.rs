//! Rows of small conversations, and the answer about them.

#![allow(dead_code, reason = "no file of tests needs all of them")]

use analysis::rows::*;
use analysis::waits::Stretch;
use explain::answer::Answer;
use explain::cause::Cause;
use explain::conversation::{FlowRows, Rows};
use wire::{Host, Span, Time};

pub fn ms(n: i64) -> Time {
    Time(n * 1_000_000)
}

pub const MSS: u32 = 1448;

pub fn flow(bytes: u64) -> FlowRow {
    FlowRow {
        vantage: Vantage::Sender,
        mss: MSS,
        bytes,
        acked_bytes: bytes,
        handshake: Some(Span::from_millis(40)),
        ..FlowRow::default()
    }
}

/// A stretch in which hosts waited so long for each of these, one after the other.
pub fn stretch(start: i64, waited: &[(usize, Wait, i64)]) -> Stretch {
    let mut s = Stretch { start: ms(start), end: ms(start), ..Stretch::default() };
    for (side, wait, length) in waited {
        s.waited[*side][*wait as usize] += Span::from_millis(*length);
        s.end += Span::from_millis(*length);
    }
    s
}

pub fn explained(flow: &FlowRow, episodes: &[EpisodeRow], bursts: &[BurstRow], waits: &[Stretch]) -> Answer {
    let client = FlowRows { flow: Some(flow), episodes, bursts, ..FlowRows::default() };
    explain::explain(&Rows { flows: [client, FlowRows::default()], waits, origin: Time::ZERO })
}

pub fn seconds(answer: &Answer, cause: Cause) -> f64 {
    answer.causes.iter().find(|s| s.cause == cause).map_or(0.0, |s| s.time.as_secs())
}

/// An episode that begins at 1 s, is repaired by the timer at 2 s and ends at 2.04 s.
pub fn timed_out() -> EpisodeRow {
    EpisodeRow {
        start: ms(1000),
        first_repair: ms(2000),
        last_repair: ms(2000),
        end: Some(ms(2040)),
        kind: EpisodeKind::TimerRto,
        lost_copies: Some(1),
        lost_segments: 1,
        retransmissions: 1,
        timeouts: 1,
        silence: Some(Span::from_millis(960)),
        flight_bytes: 1448,
        sent_after_loss_bytes: 1448,
        ..EpisodeRow::default()
    }
}

pub fn waited_for_the_timer() -> [Stretch; 2] {
    [stretch(0, &[(0, Wait::Handshake, 40), (0, Wait::Ack, 960)]), stretch(1000, &[(0, Wait::Timer, 1000)])]
}

pub fn round(number: i64, segments: u64, train: i64) -> RoundRow {
    RoundRow {
        start: ms(40 * number),
        end: ms(40 * number + 40),
        sent_bytes: segments * u64::from(MSS),
        delivered_bytes: segments * u64::from(MSS),
        flight_bytes: segments * u64::from(MSS),
        train_bytes: (segments - 1) * u64::from(MSS),
        train: Span::from_millis(train),
        quiet: Span::from_millis(40 - train),
        rtt_n: 1,
        rtt_min: Some(Span::from_millis(40)),
        rtt_sum: Span::from_millis(40),
        ..RoundRow::default()
    }
}

pub fn in_rounds(
    flow: &FlowRow,
    rounds: &[RoundRow],
    bursts: &[BurstRow],
    episodes: &[EpisodeRow],
) -> Answer {
    on_a_path(&[], flow, rounds, bursts, episodes)
}

/// `path`: what all flows of it delivered.
pub fn on_a_path(
    path: &[PathRow],
    flow: &FlowRow,
    rounds: &[RoundRow],
    bursts: &[BurstRow],
    episodes: &[EpisodeRow],
) -> Answer {
    let waits: Vec<Stretch> = rounds
        .iter()
        .map(|r| Stretch {
            start: r.start,
            end: r.end,
            bytes: [r.sent_bytes, 0],
            ..stretch(0, &[(0, Wait::Ack, 40)])
        })
        .collect();
    let client = FlowRows { flow: Some(flow), rounds, bursts, episodes, path, ..FlowRows::default() };
    explain::explain(&Rows { flows: [client, FlowRows::default()], waits: &waits, origin: Time::ZERO })
}

/// What all flows of a host delivered in bins of 16 ms, where packets wait so long in a queue.
pub fn of_all_flows(bytes: impl Fn(i64) -> u64, queued: Span) -> Vec<PathRow> {
    let nobody = Host::default();
    let row = |i: i64| PathRow {
        from: nobody,
        to: nobody,
        start: ms(16 * i),
        width: Span::from_millis(16),
        sent_bytes: 0,
        resent_bytes: 0,
        delivered_bytes: bytes(i),
        lost_copies: 0,
        rtt_min: Some(queued),
        rtt_sum: queued * 4,
        rtt_n: 4,
    };
    (0..80).map(row).collect()
}
