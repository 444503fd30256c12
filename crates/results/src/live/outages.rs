//! Which known outage took the data of a burst: what the bridge logged, joined to the sender's capture.
//!
//! The bridge knows when a packet came to it, some microseconds after its host captured it as sent. A copy in the
//! log is the last one with its number that was captured until then.

use crate::simulate::outages::{Clocks, Copy, Labels, Spells};
use crate::simulate::tables::Names;
use crate::spool::Shelf;
use analysis::rows::{FlowRow, PacketRow, Vantage};
use instant::{Span, Time};
use live::report::Outcome;
use scenario::model::Scenario;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

/// A copy that an outage took: when it came to the bridge, the outage, and when it was sent.
struct Taken {
    came: Time,
    outage: Arc<str>,
    sent: Option<Time>,
}

/// By flow of the analysis, and sequence number there.
type Log = HashMap<(u32, u64), Vec<Taken>>;

pub fn labels(
    scenario: &Scenario,
    outcome: &Outcome,
    names: &Names,
    origin: Time,
    shelf: &Shelf,
) -> io::Result<Labels> {
    let mut log = Log::new();
    let mut clocks = Clocks::new(scenario, scenario.seed, &outcome.anchors);
    for drop in &outcome.drops {
        let which = &drop.which;
        let Some(channel) = drop.cause.channel().filter(|_| which.headers.payload > 0) else { continue };
        let copy = Copy { sent: which.came, dropped: drop.time, link: drop.link.0, channel };
        if let Some(outage) = clocks.name(&copy)
            && let Some(flow) = names.id(which.connection, which.from_client)
        {
            let came = origin + Span(which.came.0);
            // There the SYN is 0.
            log.entry((flow, which.offset + 1)).or_default().push(Taken { came, outage, sent: None });
        }
    }
    if log.is_empty() {
        return Ok(Labels::default());
    }
    find(&mut log, shelf)?;
    let at_sender = |row: &FlowRow| matches!(row.vantage, Vantage::Both | Vantage::Sender);
    let mut flows: HashMap<u32, Spells> = HashMap::new();
    for row in shelf.rows::<FlowRow>()? {
        let row = row?;
        if at_sender(&row) {
            flows.insert(row.flow, Spells::default());
        }
    }
    let mut taken: Vec<_> =
        log.into_iter().flat_map(|((flow, _), all)| all.into_iter().map(move |t| (flow, t))).collect();
    taken.sort_by(|(_, a), (_, b)| a.came.cmp(&b.came).then_with(|| a.sent.cmp(&b.sent)));
    for (flow, taken) in taken {
        if let (Some(spells), Some(sent)) = (flows.get_mut(&flow), taken.sent) {
            spells.note(sent, taken.outage);
        }
    }
    Labels::new(flows, shelf)
}

/// When each was sent.
fn find(log: &mut Log, shelf: &Shelf) -> io::Result<()> {
    for row in shelf.rows::<PacketRow>()? {
        let row = row?;
        if !row.data {
            continue;
        }
        let Some(copies) = log.get_mut(&(row.flow, row.seq)) else { continue };
        for copy in copies.iter_mut().filter(|c| row.time <= c.came) {
            copy.sent = copy.sent.max(Some(row.time));
        }
    }
    Ok(())
}
