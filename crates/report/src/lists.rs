//! The rows of single flows that their details show.

use analysis::rows::{BurstRow, EpisodeRow, FlowId, IdleRow, IntervalRow, RetransmissionRow};
use results::spool::{Row, Shelf};
use std::collections::{HashMap, HashSet};
use std::io;

#[derive(Default)]
pub struct Lists {
    pub episodes: Vec<EpisodeRow>,
    pub bursts: Vec<BurstRow>,
    pub idle: Vec<IdleRow>,
    pub intervals: Vec<IntervalRow>,
    pub repeated: Vec<RetransmissionRow>,
}

/// By flow; nothing of one that has none.
pub type ByFlow = HashMap<FlowId, Lists>;

/// Of some flows.
pub fn read(shelf: &Shelf, flows: &[FlowId]) -> io::Result<ByFlow> {
    let of: HashSet<FlowId> = flows.iter().copied().collect();
    let mut all = ByFlow::new();
    gather(shelf, &of, |flow, row| all.entry(flow).or_default().episodes.push(row))?;
    gather(shelf, &of, |flow, row| all.entry(flow).or_default().bursts.push(row))?;
    gather(shelf, &of, |flow, row| all.entry(flow).or_default().idle.push(row))?;
    gather(shelf, &of, |flow, row| all.entry(flow).or_default().intervals.push(row))?;
    gather(shelf, &of, |flow, row| all.entry(flow).or_default().repeated.push(row))?;
    Ok(all)
}

fn gather<R: Row>(shelf: &Shelf, of: &HashSet<FlowId>, mut put: impl FnMut(FlowId, R)) -> io::Result<()> {
    for row in shelf.rows::<R>()? {
        let row = row?;
        if of.contains(&row.flow()) {
            put(row.flow(), row);
        }
    }
    Ok(())
}
