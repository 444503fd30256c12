//! Bursts and episodes, told from the truth by their definitions (docs/definitions.md), without the analysis.

use super::run::{Run, Sent};
use analysis::Rows;
use std::collections::{BTreeMap, HashMap};
use wire::{Endpoint, Flags, Time};

/// A maximal run of lost copies: when its first and its last were sent, and how many there were.
pub type Burst = (Time, Time, u32);

/// Start, first repair, end, and the lost copies of its bursts.
pub type Episode = (Time, Time, Option<Time>, u32);

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Losses {
    pub bursts: Vec<Burst>,
    pub episodes: Vec<Episode>,
}

impl Losses {
    /// The same bursts, and episodes that begin, are repaired and end at the same times. Which episode a lost repair
    /// belongs to that nothing replaced is left open.
    pub fn agrees_with(&self, other: &Losses) -> bool {
        let spans = |l: &Losses| l.episodes.iter().map(|e| (e.0, e.1, e.2)).collect::<Vec<_>>();
        self.bursts == other.bursts && spans(self) == spans(other)
    }
}

/// One direction's packets in their order at the sender's side: what it sent, and the ACKs that it heard.
enum Event<'a> {
    Sent(&'a Sent),
    Heard(Time, u64),
}

/// By client's endpoint: one entry for each connection that sent data.
pub fn truth(run: &Run) -> BTreeMap<Endpoint, Losses> {
    let sent: HashMap<u64, &Sent> = run.sent.iter().map(|s| (s.packet.number, s)).collect();
    let mut flows: BTreeMap<Endpoint, (u32, Vec<Event>)> = BTreeMap::new();
    for p in &run.captures[0] {
        match sent.get(&p.number) {
            Some(s) if s.packet.seg.flags.has(Flags::SYN) => {
                flows.entry(p.tuple.src).or_insert((p.seg.seq.0, Vec::new()));
            }
            Some(s) if p.seg.payload > 0 || p.seg.flags.has(Flags::FIN) => {
                if let Some((_, events)) = flows.get_mut(&p.tuple.src) {
                    events.push(Event::Sent(s));
                }
            }
            None if p.seg.flags.has(Flags::ACK) => {
                if let Some((isn, events)) = flows.get_mut(&p.tuple.dst) {
                    // Transfers here are far shorter than the sequence space.
                    events.push(Event::Heard(p.time, u64::from(p.seg.ack.0.wrapping_sub(*isn))));
                }
            }
            _ => {}
        }
    }
    flows.into_iter().map(|(end, (isn, events))| (end, losses(isn, &events))).collect()
}

struct Copy {
    start: u64,
    end: u64,
    time: Time,
    lost: bool,
    /// Its bytes have been sent again, or have been acknowledged.
    repaired: bool,
    burst: Option<usize>,
}

struct Open {
    episode: usize,
    recover: u64,
    extended_at: usize,
}

fn losses(isn: u32, events: &[Event]) -> Losses {
    let mut out = Losses::default();
    let mut copies: Vec<Copy> = Vec::new();
    let mut burst_episode: Vec<Option<usize>> = Vec::new();
    let (mut next, mut una) = (1u64, 1u64);
    let mut open: Option<Open> = None;
    for event in events {
        match event {
            Event::Heard(time, ack) => {
                una = una.max(*ack);
                if open.as_ref().is_some_and(|o| una >= o.recover)
                    && let Some(o) = open.take()
                {
                    out.episodes[o.episode].2 = Some(*time);
                }
            }
            Event::Sent(s) => {
                let seg = &s.packet.seg;
                let start = u64::from(seg.seq.0.wrapping_sub(isn));
                let end = start + u64::from(seg.payload) + u64::from(seg.flags.has(Flags::FIN));
                let (time, lost) = (s.packet.time, !s.arrived);
                if start < next {
                    repair(&mut out, &mut open, &mut copies, &mut burst_episode, (start, end, time, next));
                }
                let mut burst = None;
                if lost {
                    match copies.last().and_then(|c| c.burst) {
                        Some(b) => {
                            out.bursts[b].1 = time;
                            out.bursts[b].2 += 1;
                            burst = Some(b);
                        }
                        None => {
                            out.bursts.push((time, time, 1));
                            burst_episode.push(None);
                            burst = Some(out.bursts.len() - 1);
                        }
                    }
                }
                copies.push(Copy { start, end, time, lost, repaired: false, burst });
                next = next.max(end);
            }
        }
    }
    for (burst, episode) in out.bursts.iter().zip(&burst_episode) {
        if let Some(e) = episode {
            out.episodes[*e].3 += burst.2;
        }
    }
    out.bursts.sort();
    out.episodes.sort();
    out
}

/// Data leaves again: it belongs to the open episode or begins one, and repairs the copy before it.
fn repair(
    out: &mut Losses,
    open: &mut Option<Open>,
    copies: &mut [Copy],
    burst_episode: &mut [Option<usize>],
    (start, end, time, next): (u64, u64, Time, u64),
) {
    let ordinal = copies.len();
    let before = copies.iter().rposition(|c| c.start < end && start < c.end);
    let previous = before.map_or(ordinal.saturating_sub(1), |b| b);
    let began = copies.get(previous).map_or(time, |c| c.time);
    let o = open.get_or_insert_with(|| {
        out.episodes.push((began, time, None, 0));
        Open { episode: out.episodes.len() - 1, recover: next, extended_at: ordinal }
    });
    if previous >= o.extended_at && o.extended_at != ordinal {
        o.recover = o.recover.max(next);
        o.extended_at = ordinal;
    }
    for c in copies.iter_mut().filter(|c| c.start < end && start < c.end && !c.repaired) {
        c.repaired = true;
        if let Some(b) = c.burst.filter(|_| c.lost) {
            burst_episode[b].get_or_insert(o.episode);
        }
    }
}

/// What the analysis says of both captures, in the same form.
pub fn said(rows: &Rows) -> BTreeMap<Endpoint, Losses> {
    let mut out: BTreeMap<Endpoint, Losses> = BTreeMap::new();
    let ends: HashMap<u32, Endpoint> = rows.flows.iter().map(|f| (f.flow, f.sender)).collect();
    for b in &rows.bursts {
        let l = out.entry(ends[&b.flow]).or_default();
        l.bursts.push((b.start, b.last, b.lost_copies.unwrap_or(0)));
    }
    for e in &rows.episodes {
        let l = out.entry(ends[&e.flow]).or_default();
        l.episodes.push((e.start, e.first_repair, e.end, e.lost_copies.unwrap_or(0)));
    }
    for l in out.values_mut() {
        l.bursts.sort();
        l.episodes.sort();
    }
    out
}
