//! Which packets a page holds: all of them, or bins and those of the worst episodes.

use crate::episodes::windows;
use crate::levels::{self, COARSEST, FINEST};
use crate::packets::Packets;
use crate::page::Blobs;
use crate::source::Source;
use analysis::rows::{FlowId, PacketRow};
use results::spool::ByFlow;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::Range;

/// Flows of fewer packets share a blob of about so many.
const SMALL: usize = 2_000;
const SHARED: usize = 20_000;
/// Of a larger capture, flows of up to so many packets are there whole, as long as there is room.
const WHOLE: usize = 10_000;
/// Of one flow's episodes together; of an episode that does not fit its beginning, which says how it came about, if that
/// is at least so many.
const MOST_OF_FLOW: usize = 100_000;
const BEGINNING: usize = 2_000;
/// Bins of the finest levels of all flows of a file.
const BINS: u64 = 131_072;

/// Where the packets of a flow are: a part of its detail.
pub struct Held {
    count: usize,
    held: &'static str,
    blobs: Vec<String>,
    rows: Option<Range<usize>>,
    bins: Vec<(String, i64)>,
}

impl Held {
    pub fn none(count: usize) -> Held {
        Held { count, held: "none", blobs: Vec::new(), rows: None, bins: Vec::new() }
    }
    /// As members of the detail.
    pub fn members(&self) -> String {
        let blobs = crate::text::list(self.blobs.iter().map(String::as_str));
        let rows = self.rows.as_ref().map_or(String::new(), |r| format!(",\"rows\":[{},{}]", r.start, r.end));
        let bins: Vec<String> = self
            .bins
            .iter()
            .map(|(blob, width)| format!("{{\"blob\":{},\"bin_ns\":{width}}}", crate::text::string(blob)))
            .collect();
        format!(
            "\"packets\":{{\"count\":{},\"held\":\"{}\",\"blobs\":{blobs}{rows}}},\"bins\":[{}]",
            self.count,
            self.held,
            bins.join(",")
        )
    }
}

/// Puts whole flows into the page: one blob for each large flow, small ones together.
pub struct Whole {
    number: usize,
    name: String,
    together: Packets,
}

impl Whole {
    pub fn new(number: usize) -> Whole {
        Whole { number, name: String::new(), together: Packets::default() }
    }
    /// The next flow, whose packets lie at `of`.
    pub fn take(&mut self, flow: FlowId, packets: &Packets, of: Range<usize>, blobs: &mut Blobs) -> Held {
        let mut held = Held { held: "all", ..Held::none(of.len()) };
        if of.len() >= SMALL {
            let name = format!("{}/{flow}/packets", self.number);
            let mut alone = Packets::default();
            alone.take(packets, of);
            blobs.add(name.clone(), &alone.container(true));
            held.blobs = vec![name];
        } else if !of.is_empty() {
            let first = self.together.size();
            if first == 0 {
                self.name = format!("{}/small/{flow}/packets", self.number);
            }
            held.blobs = vec![self.name.clone()];
            held.rows = Some(first..first + of.len());
            self.together.take(packets, of);
            if self.together.size() >= SHARED {
                self.end(blobs);
            }
        }
        held
    }
    /// No more flows come, or none into the same blob.
    pub fn end(&mut self, blobs: &mut Blobs) {
        if self.together.size() > 0 {
            blobs.add(std::mem::take(&mut self.name), &self.together.container(true));
            self.together.clear();
        }
    }
}

/// Of a capture with more packets than there is room for: small flows whole, and of others levels and the packets around
/// their worst episodes. flows: in the order in which there is room for them.
pub fn some(
    source: &Source<'_>,
    flows: &[FlowId],
    mut room: usize,
    blobs: &mut Blobs,
) -> io::Result<HashMap<FlowId, Held>> {
    let (mut small, mut large) = (Vec::new(), Vec::new());
    for &flow in flows {
        let count = source.packets_of(flow);
        if count <= WHOLE.min(room / 2) {
            small.push(flow);
            room -= count;
        } else {
            large.push(flow);
        }
    }
    let mut all = HashMap::new();
    let mut kept = BTreeMap::new();
    source.each(&small, |flow, packets| {
        kept.insert(flow, packets);
        Ok(())
    })?;
    let mut whole = Whole::new(source.number);
    for &flow in &small {
        let packets = kept.remove(&flow).unwrap_or_default();
        all.insert(flow, whole.take(flow, &packets, 0..packets.size(), blobs));
    }
    whole.end(blobs);
    let together: usize = large.iter().map(|&flow| source.packets_of(flow)).sum();
    let mut around = HashMap::new();
    source.each(&large, |flow, packets| {
        let count = packets.size();
        let mut held = Held::none(count);
        let share = (BINS * count as u64 / together.max(1) as u64) as u32;
        let most = FINEST.min(share.max(COARSEST));
        let trips = source.trips_of(flow);
        for (k, level) in levels::all(&packets, 0..count, most, &source.trips, trips).iter().enumerate() {
            let name = format!("{}/{flow}/bins/{k}", source.number);
            blobs.add(name.clone(), &levels::container(level));
            held.bins.push((name, level.grid().bin_ns));
        }
        let lists = source.lists_of(flow);
        around.insert(flow, windows(&packets, 0..count, source.origin, &lists.episodes, &lists.bursts));
        all.insert(flow, held);
        Ok(())
    })?;
    // Room is given by rank, and packets are read by number.
    let mut chosen: HashMap<FlowId, Vec<(u64, Range<usize>)>> = HashMap::new();
    for flow in &large {
        let (most, mut used) = (room.min(MOST_OF_FLOW), 0);
        for (number, mut rows) in around.remove(flow).unwrap_or_default() {
            if rows.len() > most - used {
                if most - used < BEGINNING {
                    continue;
                }
                rows.end = rows.start + most - used;
            }
            used += rows.len();
            chosen.entry(*flow).or_default().push((number, rows));
        }
        room -= used;
    }
    let with: Vec<FlowId> = large.iter().copied().filter(|flow| chosen.contains_key(flow)).collect();
    source.each(&with, |flow, packets| {
        let held = all.entry(flow).or_insert_with(|| Held::none(packets.size()));
        for (number, rows) in &chosen[&flow] {
            let name = format!("{}/{flow}/packets/{number}", source.number);
            let mut part = Packets::default();
            part.take(&packets, rows.clone());
            blobs.add(name.clone(), &part.container(false));
            held.held = "windows";
            held.blobs.push(name);
        }
        Ok(())
    })?;
    Ok(all)
}

/// The packets of one flow after the other, in rising order.
pub fn read(
    rows: &mut ByFlow<PacketRow>,
    flow: FlowId,
    origin: wire::Time,
    into: &mut Packets,
) -> io::Result<()> {
    while let Some(row) = rows.next_of(flow)? {
        into.push(&row, origin);
    }
    Ok(())
}
