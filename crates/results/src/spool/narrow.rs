//! Where only the JSON is wanted: the rows of the flows that it lists, and those of no other.
//!
//! Which flows these are is known when the last one has ended. Until then a flow that can be among them is kept, and
//! one that cannot is dropped with its rows, mostly before any of them was encoded.

use super::codec::append;
use super::store::Store;
use super::{Row, TABLES};
use analysis::rows::{BurstRow, EpisodeRow, FlowId, IdleRow, RoundRow};

/// Rows that wait in memory as they came: those of a short flow end with it.
const FRESH: usize = 32;

/// A set of flows, a bit each.
#[derive(Default)]
pub struct FlowSet(Vec<u64>);

impl FlowSet {
    pub fn add(&mut self, flow: FlowId) {
        let word = flow as usize / 64;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (flow % 64);
    }
    pub fn has(&self, flow: FlowId) -> bool {
        self.0.get(flow as usize / 64).is_some_and(|word| word >> (flow % 64) & 1 == 1)
    }
}

/// The latest rows of one kind.
struct Fresh<R>(Vec<R>);

impl<R: Row> Fresh<R> {
    fn take(&mut self, row: R, stores: &mut [Store; TABLES], left_out: &FlowSet) {
        if self.0.len() == FRESH {
            self.settle(stores, left_out);
        }
        self.0.push(row);
    }
    fn settle(&mut self, stores: &mut [Store; TABLES], left_out: &FlowSet) {
        for row in self.0.drain(..) {
            put(&row, stores, left_out);
        }
    }
    fn leave_out(&mut self, flow: FlowId) {
        if !self.0.is_empty() {
            self.0.retain(|row| row.flow() != flow);
        }
    }
}

fn put<R: Row>(row: &R, stores: &mut [Store; TABLES], left_out: &FlowSet) {
    let stays = |flow| !left_out.has(flow);
    stores[R::TABLE as usize].push_among(row.flow(), stays, |bytes| append(bytes, row));
}

/// What a spool needs besides its stores to keep the rows of some flows only.
pub struct Narrow {
    left_out: FlowSet,
    bursts: Fresh<BurstRow>,
    episodes: Fresh<EpisodeRow>,
    idle: Fresh<IdleRow>,
}

impl Narrow {
    pub fn new() -> Narrow {
        Narrow {
            left_out: FlowSet::default(),
            bursts: Fresh(Vec::with_capacity(FRESH)),
            episodes: Fresh(Vec::with_capacity(FRESH)),
            idle: Fresh(Vec::with_capacity(FRESH)),
        }
    }
    pub fn burst(&mut self, row: BurstRow, stores: &mut [Store; TABLES]) {
        self.bursts.take(row, stores, &self.left_out);
    }
    pub fn episode(&mut self, row: EpisodeRow, stores: &mut [Store; TABLES]) {
        self.episodes.take(row, stores, &self.left_out);
    }
    pub fn idle(&mut self, row: IdleRow, stores: &mut [Store; TABLES]) {
        self.idle.take(row, stores, &self.left_out);
    }
    /// They come right before the flow's own row, and need not wait.
    pub fn round(&mut self, row: RoundRow, stores: &mut [Store; TABLES]) {
        put(&row, stores, &self.left_out);
    }
    /// A flow that may be listed.
    pub fn keep<R: Row>(&mut self, row: &R, stores: &mut [Store; TABLES]) {
        put(row, stores, &self.left_out);
    }
    /// A flow that will not be listed: its rows go, the fresh ones at once, others when room is needed.
    pub fn leave_out(&mut self, flow: FlowId) {
        self.left_out.add(flow);
        self.bursts.leave_out(flow);
        self.episodes.leave_out(flow);
        self.idle.leave_out(flow);
    }
    pub fn settle(&mut self, stores: &mut [Store; TABLES]) {
        self.bursts.settle(stores, &self.left_out);
        self.episodes.settle(stores, &self.left_out);
        self.idle.settle(stores, &self.left_out);
    }
}
