//! Which known outage took the data of a burst: the truth, joined to what the analysis found when it has ended.

use super::sides::Sides;
use crate::spool::codec::{append, decode};
use crate::spool::store::Store;
use crate::spool::{Row, Shelf};
use analysis::rows::{BurstRow, EpisodeRow, FlowRow, Vantage};
use instant::Time;
use links::Outages;
use links::spec::{ChannelKind, LinkSpec};
use net::NodeId;
use scenario::model::Scenario;
use serde::{Deserialize, Serialize};
use sim::rows::DropRow;
use sim::{Frame, Summary};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;
use std::sync::Arc;

/// Copies that may come out of order, in one direction of a connection, before the oldest is forgotten.
const OUT_OF_ORDER: usize = 1024;

/// A copy of data that an outage took.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Copy {
    pub sent: Time,
    pub dropped: Time,
    pub link: u32,
    pub channel: u16,
}

/// Takes note of what outages take while a run lasts; nothing where there are none.
#[derive(Default)]
pub struct Taken {
    /// By direction of a link, and channel.
    outage: Vec<Vec<bool>>,
    /// By connection and direction: copies under way, and when they were sent.
    flights: Vec<[VecDeque<(u64, Time)>; 2]>,
    copies: Store,
}

impl Taken {
    pub fn new(scenario: &Scenario) -> Taken {
        let of = |spec: &LinkSpec| -> Vec<bool> {
            spec.channels.iter().map(|c| matches!(c.kind, ChannelKind::Outage(_))).collect()
        };
        let outage: Vec<Vec<bool>> =
            scenario.links.iter().flat_map(|l| [of(&l.forward), of(&l.back)]).collect();
        if !outage.iter().flatten().any(|is| *is) {
            return Taken::default();
        }
        let connections = scenario.flows.iter().map(|f| f.count as usize).sum();
        Taken { outage, flights: vec![Default::default(); connections], copies: Store::default() }
    }
    /// A packet at a host.
    #[inline]
    pub fn see(&mut self, sides: &Sides, node: NodeId, frame: &Frame, now: Time) {
        let Some(ways) = self.flights.get_mut(frame.connection as usize) else { return };
        if frame.payload_bytes() == 0 {
            return;
        }
        let flight = &mut ways[usize::from(!frame.forward)];
        match sides.sends(node, frame.connection, frame.forward) {
            Some(true) => flight.push_back((frame.copy, now)),
            Some(false) => {
                while flight.len() > OUT_OF_ORDER && flight.front().is_some_and(|(c, _)| *c < frame.copy) {
                    flight.pop_front();
                }
            }
            None => {}
        }
    }
    pub fn lost(&mut self, row: &DropRow) {
        let Some(channel) = row.cause.channel() else { return };
        let is_outage = self.outage.get(row.link.index()).and_then(|of| of.get(usize::from(channel)));
        if is_outage != Some(&true) || row.packet.payload_bytes == 0 {
            return;
        }
        let (connection, way) = (row.packet.connection, usize::from(!row.packet.forward));
        let Some(flight) = self.flights.get(connection as usize).map(|ways| &ways[way]) else { return };
        if let Ok(at) = flight.binary_search_by_key(&row.packet.copy, |(copy, _)| *copy) {
            let copy = Copy { sent: flight[at].1, dropped: row.time, link: row.link.0, channel };
            self.copies.push(connection * 2 + way as u32, |bytes| append(bytes, &copy));
        }
    }
    /// Whose bursts and episodes were which outage's.
    pub fn join(
        self,
        scenario: &Scenario,
        sides: &Sides,
        summary: &Summary,
        shelf: &Shelf,
    ) -> io::Result<Labels> {
        let copies = self.copies.seal();
        if copies.rows() == 0 {
            return Ok(Labels::default());
        }
        let mut clocks = Clocks::new(scenario, summary.seed, &summary.anchors);
        let mut spells: HashMap<u32, Spells> = HashMap::new();
        let mut records = copies.read()?;
        while let Some((sender, bytes)) = records.next()? {
            let copy: Copy = decode(bytes)?;
            if let Some(name) = clocks.name(&copy) {
                spells.entry(sender).or_default().note(copy.sent, name);
            }
        }
        let mut flows = HashMap::new();
        for flow in shelf.rows::<FlowRow>()? {
            let flow = flow?;
            // Elsewhere a burst's times are not those at which its copies were sent.
            if !matches!(flow.vantage, Vantage::Both | Vantage::Sender) {
                continue;
            }
            if let Some((connection, forward)) = sides.find(flow.sender, flow.receiver)
                && let Some(spells) = spells.remove(&(connection * 2 + u32::from(!forward)))
            {
                flows.insert(flow.flow, spells);
            }
        }
        Labels::new(flows, shelf)
    }
}

/// Copies that one outage took, of one sender: when the first and the last was sent.
#[derive(Clone, Debug)]
struct Spell {
    first: Time,
    last: Time,
    outage: Arc<str>,
}

/// Those of one sender.
#[derive(Clone, Debug, Default)]
pub struct Spells(Vec<Spell>);

impl Spells {
    pub fn note(&mut self, sent: Time, outage: Arc<str>) {
        // Copies that an outage takes at once may have waited in one queue or in two.
        let known = self.0.iter_mut().rev().take(8).find(|spell| spell.outage == outage);
        match known {
            Some(spell) => (spell.first, spell.last) = (spell.first.min(sent), spell.last.max(sent)),
            None => self.0.push(Spell { first: sent, last: sent, outage }),
        }
    }
}

/// The calendars of the run's outages.
pub struct Clocks<'a> {
    scenario: &'a Scenario,
    seed: u64,
    /// By link.
    anchors: &'a [Option<Time>],
    clocks: HashMap<(u32, u16), Option<Outages>>,
    names: HashMap<(u32, u16, u64), Arc<str>>,
}

impl<'a> Clocks<'a> {
    pub fn new(scenario: &'a Scenario, seed: u64, anchors: &'a [Option<Time>]) -> Clocks<'a> {
        Clocks { scenario, seed, anchors, clocks: HashMap::new(), names: HashMap::new() }
    }
    /// The outage that took a copy: its channel's name and its number from 0.
    pub fn name(&mut self, copy: &Copy) -> Option<Arc<str>> {
        let Clocks { scenario, seed, anchors, clocks, names } = self;
        let pair = copy.link / 2;
        let link = scenario.links.get(pair as usize)?;
        let spec = if copy.link.is_multiple_of(2) { &link.forward } else { &link.back };
        let channel = spec.channels.get(usize::from(copy.channel))?;
        let clock = clocks.entry((copy.link, copy.channel)).or_insert_with(|| {
            let anchor = anchors.get(pair as usize).copied().flatten();
            Outages::new(channel, &link.name, *seed, anchor)
        });
        let number = clock.as_mut()?.at(copy.dropped)?;
        // Both directions of a link go dark together.
        let name = names
            .entry((pair, copy.channel, number))
            .or_insert_with(|| format!("{} {number}", channel.name).into());
        Some(Arc::clone(name))
    }
}

/// The outages of bursts and episodes.
#[derive(Clone, Debug, Default)]
pub struct Labels {
    flows: HashMap<u32, Spells>,
    /// By flow and number.
    episodes: BTreeMap<(u32, u32), Arc<str>>,
}

impl Labels {
    /// `flows`: what outages took of each flow of the analysis.
    pub fn new(flows: HashMap<u32, Spells>, shelf: &Shelf) -> io::Result<Labels> {
        let mut labels = Labels { flows, episodes: BTreeMap::new() };
        labels.learn(shelf)?;
        Ok(labels)
    }
    pub fn of_burst(&self, row: &BurstRow) -> Option<Arc<str>> {
        let spells = self.flows.get(&row.flow)?;
        let mut taken = spells.0.iter().filter(|s| s.first <= row.last && s.last >= row.start);
        let first = taken.next()?;
        Some(taken.fold(Arc::clone(&first.outage), |said, next| together(&said, &next.outage)))
    }
    pub fn of_episode(&self, row: &EpisodeRow) -> Option<Arc<str>> {
        self.episodes.get(&(row.flow, row.number)).cloned()
    }
    /// An episode's are those of its bursts.
    fn learn(&mut self, shelf: &Shelf) -> io::Result<()> {
        for burst in shelf.rows::<BurstRow>()? {
            let burst = burst?;
            if let (Some(episode), Some(outage)) = (burst.episode, self.of_burst(&burst)) {
                let known =
                    self.episodes.entry((burst.flow(), episode)).or_insert_with(|| Arc::clone(&outage));
                *known = together(known, &outage);
            }
        }
        Ok(())
    }
}

fn together(said: &Arc<str>, more: &Arc<str>) -> Arc<str> {
    let mut all: Vec<&str> = said.split(", ").collect();
    let known = all.len();
    for one in more.split(", ") {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    if all.len() == known { Arc::clone(said) } else { all.join(", ").into() }
}
