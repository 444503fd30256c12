//! Which packets a page holds: all of them, or bins and those of the worst episodes.

use crate::episodes::windows;
use crate::levels::{self, COARSEST, FINEST};
use crate::lists::ByFlow;
use crate::packets::Packets;
use crate::page::Blobs;
use crate::source::Source;
use analysis::rows::FlowId;
use std::collections::HashMap;
use std::ops::Range;

/// Flows of fewer packets share a blob of about so many.
const SMALL: usize = 2_000;
const SHARED: usize = 20_000;
/// Of a larger capture, flows of up to so many packets are there whole, as long as there is room.
const WHOLE: usize = 10_000;
/// Of one flow's episodes together.
const MOST_OF_FLOW: usize = 100_000;
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
    /// They are asked for, window by window.
    pub fn elsewhere(count: usize) -> Held {
        Held { held: "windows", ..Held::none(count) }
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
    waiting: Vec<Range<usize>>,
    together: usize,
}

impl Whole {
    pub fn new(number: usize) -> Whole {
        Whole { number, name: String::new(), waiting: Vec::new(), together: 0 }
    }
    /// The next flow.
    pub fn take(&mut self, packets: &Packets, flow: FlowId, blobs: &mut Blobs) -> Held {
        let of = packets.of(flow);
        let size = of.len();
        let mut held = Held { held: "all", ..Held::none(size) };
        if size >= SMALL {
            let name = format!("{}/{flow}/packets", self.number);
            blobs.add(name.clone(), &packets.container(&[of], true));
            held.blobs = vec![name];
        } else if size > 0 {
            if self.waiting.is_empty() {
                self.name = format!("{}/small/{flow}/packets", self.number);
            }
            held.blobs = vec![self.name.clone()];
            held.rows = Some(self.together..self.together + size);
            self.waiting.push(of);
            self.together += size;
            if self.together >= SHARED {
                self.end(packets, blobs);
            }
        }
        held
    }
    /// No more flows come, or none into the same blob.
    pub fn end(&mut self, packets: &Packets, blobs: &mut Blobs) {
        if !self.waiting.is_empty() {
            blobs.add(std::mem::take(&mut self.name), &packets.container(&self.waiting, true));
        }
        self.waiting.clear();
        self.together = 0;
    }
}

/// Of a capture with more packets than there is room for: small flows whole, and of others levels and the packets around
/// their worst episodes. flows: in the order in which there is room for them.
pub fn some(
    source: &Source,
    lists: &ByFlow,
    flows: &[FlowId],
    mut room: usize,
    blobs: &mut Blobs,
) -> HashMap<FlowId, Held> {
    let packets = &source.packets;
    let (mut small, mut large) = (Vec::new(), Vec::new());
    for &flow in flows {
        let count = packets.of(flow).len();
        if count <= WHOLE.min(room / 2) {
            small.push(flow);
            room -= count;
        } else {
            large.push(flow);
        }
    }
    let mut all = HashMap::new();
    let mut whole = Whole::new(source.number);
    for &flow in &small {
        all.insert(flow, whole.take(packets, flow, blobs));
    }
    whole.end(packets, blobs);
    let together: usize = large.iter().map(|&flow| packets.of(flow).len()).sum();
    for &flow in &large {
        let count = packets.of(flow).len();
        let mut held = Held::none(count);
        let share = (BINS * count as u64 / together.max(1) as u64) as u32;
        let most = FINEST.min(share.max(COARSEST));
        for (k, level) in levels::all(packets, &source.trips, flow, most).iter().enumerate() {
            let name = format!("{}/{flow}/bins/{k}", source.number);
            blobs.add(name.clone(), &levels::container(level));
            held.bins.push((name, level.grid().bin_ns));
        }
        room -= around(source, lists, flow, room.min(MOST_OF_FLOW), &mut held, blobs);
        all.insert(flow, held);
    }
    all
}

/// The packets around the costliest episodes of a flow, as far as there is room; gives how many packets.
fn around(
    source: &Source,
    lists: &ByFlow,
    flow: FlowId,
    room: usize,
    held: &mut Held,
    blobs: &mut Blobs,
) -> usize {
    let Some(lists) = lists.get(&flow) else { return 0 };
    let mut used = 0;
    for (number, mut rows) in windows(&source.packets, flow, source.origin, &lists.episodes, &lists.bursts) {
        if rows.len() > room - used {
            if room - used < source.limits.beginning {
                continue;
            }
            rows.end = rows.start + room - used;
        }
        used += rows.len();
        let name = format!("{}/{flow}/packets/{number}", source.number);
        blobs.add(name.clone(), &source.packets.container(&[rows], false));
        held.held = "windows";
        held.blobs.push(name);
    }
    used
}
