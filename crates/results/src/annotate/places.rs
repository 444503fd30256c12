//! Findings that are told by a time: which packets these are, found by one pass over the packets of each flow.

use super::plural;
use crate::spool::{ByFlow, Shelf};
use analysis::rows::*;
use analysis::words;
use std::io;
use wire::Time;

pub(super) struct Places {
    packets: ByFlow<PacketRow>,
    episodes: ByFlow<EpisodeRow>,
    idle: ByFlow<IdleRow>,
}

/// Something that happened to a flow, to be told at the first packet from `at` on that is of its kind.
struct Event {
    at: Time,
    /// One that travels with the data, or one that comes back.
    data: bool,
    text: String,
}

impl Places {
    pub fn new(shelf: &Shelf) -> io::Result<Places> {
        Ok(Places { packets: ByFlow::new(shelf)?, episodes: ByFlow::new(shelf)?, idle: ByFlow::new(shelf)? })
    }

    /// Puts the comments on lost copies, idle gaps, and where episodes begin and end into `all`; `see` is given every packet.
    pub fn find(
        &mut self,
        flow: &FlowRow,
        mut bursts: Vec<BurstRow>,
        all: &mut Vec<(u64, String)>,
        mut see: impl FnMut(&PacketRow),
    ) -> io::Result<()> {
        // From the receiver's side a burst is a gap: what was lost is no packet of the capture.
        if flow.vantage.is_remote() {
            bursts.clear();
        }
        bursts.sort_by_key(|b| (b.start, b.last));
        let mut events = self.events(flow.flow)?.into_iter().peekable();
        let mut due: Vec<Event> = Vec::new();
        let mut open = 0;
        while let Some(p) = self.packets.next_of(flow.flow)? {
            see(&p);
            while let Some(event) = events.next_if(|e| e.at <= p.time) {
                due.push(event);
            }
            due.retain(|event| {
                let here = event.data == p.data;
                if here {
                    all.push((p.packet, event.text.clone()));
                }
                !here
            });
            while bursts.get(open).is_some_and(|b| b.last < p.time) {
                open += 1;
            }
            // A repair that was lost says so itself.
            if p.data && p.len > 0 && p.class != PacketClass::Retransmission {
                let mut around = bursts[open..].iter().take_while(|b| b.start <= p.time);
                if let Some(burst) = around.find(|b| holds(b, &p)) {
                    all.push((p.packet, lost(burst)));
                }
            }
        }
        Ok(())
    }

    fn events(&mut self, flow: FlowId) -> io::Result<Vec<Event>> {
        let mut events = Vec::new();
        while let Some(gap) = self.idle.next_of(flow)? {
            let length = words::span(gap.end - gap.start);
            let text = format!("rexmit: idle for {length} before this ({})", gap.cause.name());
            events.push(Event { at: gap.end, data: true, text });
        }
        while let Some(episode) = self.episodes.next_of(flow)? {
            events.push(Event { at: episode.start, data: true, text: begins(&episode) });
            if let Some(end) = episode.end {
                events.push(Event { at: end, data: false, text: ends(&episode, end) });
            }
        }
        events.sort_by_key(|e| e.at);
        Ok(events)
    }
}

/// A burst is a run of lost copies; others may have left in the instants of its first and its last.
fn holds(burst: &BurstRow, p: &PacketRow) -> bool {
    p.time <= burst.last && (burst.seq_start..burst.seq_end).contains(&p.seq)
}

fn lost(burst: &BurstRow) -> String {
    let n = burst.lost_segments;
    let mut text = format!("rexmit: lost, with a burst of {n} {}", plural(n));
    if let Some(episode) = burst.episode {
        text += &format!("; episode {}", episode + 1);
    }
    text
}

fn begins(episode: &EpisodeRow) -> String {
    let number = episode.number + 1;
    match episode.lost_segments {
        0 => format!("rexmit: episode {number} begins: nothing was lost"),
        n => format!("rexmit: episode {number} begins: {n} {} lost", plural(n)),
    }
}

fn ends(episode: &EpisodeRow, end: Time) -> String {
    let (number, took) = (episode.number + 1, words::span(end - episode.start));
    let cost =
        episode.cost.filter(|c| c.0 > 0).map_or(String::new(), |c| format!(", cost {}", words::span(c)));
    format!("rexmit: episode {number} ends: it took {took}{cost}")
}

#[cfg(test)]
mod tests {
    use crate::annotate::comments;
    use crate::spool::Spool;
    use analysis::rows::*;
    use analysis::{Sink, Wanted};
    use wire::{Span, Time};

    fn ms(n: i64) -> Time {
        Time(n * 1_000_000)
    }

    fn told(vantage: Vantage) -> Vec<(u64, String)> {
        let mut spool = Spool::new(Wanted { retransmissions: true, packets: true, ..Wanted::default() });
        let data = |packet, at, seq| PacketRow {
            packet,
            time: ms(at),
            data: true,
            seq,
            len: 100,
            ..PacketRow::default()
        };
        // Three at once, of which the second and the third are lost; a repair after a silence; its ACK.
        for (n, seq) in [(1, 1), (2, 101), (3, 201)] {
            spool.packet(data(n, 10, seq));
        }
        spool.packet(PacketRow { class: PacketClass::Retransmission, ..data(4, 300, 101) });
        spool.packet(PacketRow { packet: 5, time: ms(340), ack: Some(301), ..PacketRow::default() });
        spool.burst(BurstRow {
            start: ms(10),
            last: ms(10),
            lost_segments: 2,
            seq_start: 101,
            seq_end: 301,
            episode: Some(0),
            ..BurstRow::default()
        });
        spool.idle(IdleRow { start: ms(10), end: ms(300), cause: IdleCause::Timeout, ..IdleRow::default() });
        spool.episode(EpisodeRow {
            start: ms(10),
            end: Some(ms(340)),
            lost_segments: 2,
            cost: Some(Span(60_000)),
            ..EpisodeRow::default()
        });
        spool.flow(&FlowRow { vantage, ..FlowRow::default() });
        comments(&spool.seal(), &[]).unwrap()
    }

    #[test]
    fn lost_copies_idle_gaps_and_both_ends_of_an_episode_have_comments() {
        let begins = "rexmit: episode 1 begins: 2 segments lost".to_string();
        let lost = "rexmit: lost, with a burst of 2 segments; episode 1".to_string();
        let idle = "rexmit: idle for 290 ms before this (timeout)".to_string();
        let ends = "rexmit: episode 1 ends: it took 330 ms, cost 60 µs".to_string();
        let expected = [(1, begins), (2, lost.clone()), (3, lost), (4, idle), (5, ends)];
        assert_eq!(told(Vantage::Sender), expected);
        let here: Vec<u64> = told(Vantage::Receiver).into_iter().map(|(packet, _)| packet).collect();
        assert_eq!(here, [1, 4, 5], "what did not come is no packet there");
    }
}
