//! Where only the JSON is wanted: the rows of the connections of which it lists a flow, and those of no other.
//!
//! Which flows are listed is known when the last one has ended. Until then the connection of a flow that can be among
//! them is kept, with both of its directions, and any other is dropped with its rows, mostly before one of them was encoded.

use super::codec::append;
use super::store::Store;
use super::{Row, TABLES};
use crate::worst::{Offered, Worst};
use analysis::Flows;
use analysis::rows::{BurstRow, EpisodeRow, FlowId, IdleRow};

/// Rows that wait in memory as they came: those of a short flow end with it.
const FRESH: usize = 32;

/// A set of numbers, a bit each.
#[derive(Default)]
struct Numbers(Vec<u64>);

impl Numbers {
    fn add(&mut self, number: u32) {
        let word = number as usize / 64;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (number % 64);
    }
    fn remove(&mut self, number: u32) {
        if let Some(word) = self.0.get_mut(number as usize / 64) {
            *word &= !(1 << (number % 64));
        }
    }
    fn has(&self, number: u32) -> bool {
        self.0.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }
}

fn connection_of(flow: FlowId) -> u32 {
    flow / 2
}

/// The latest rows of one kind.
struct Fresh<R>(Vec<R>);

impl<R: Row> Fresh<R> {
    fn take(&mut self, row: R, stores: &mut [Store; TABLES], left_out: &Numbers) {
        if self.0.len() == FRESH {
            self.settle(stores, left_out);
        }
        self.0.push(row);
    }
    fn settle(&mut self, stores: &mut [Store; TABLES], left_out: &Numbers) {
        for row in self.0.drain(..) {
            put(&row, stores, left_out);
        }
    }
    fn leave_out(&mut self, connection: u32) {
        if !self.0.is_empty() {
            self.0.retain(|row| connection_of(row.flow()) != connection);
        }
    }
}

fn put<R: Row>(row: &R, stores: &mut [Store; TABLES], left_out: &Numbers) {
    let stays = |flow| !left_out.has(connection_of(flow));
    stores[R::TABLE as usize].push_among(row.flow(), stays, |bytes| append(bytes, row));
}

/// What a spool needs besides its stores to keep the rows of some connections only.
pub struct Narrow {
    /// The flows that are among the worst so far.
    ranked: Numbers,
    /// The connections of which none is.
    left_out: Numbers,
    bursts: Fresh<BurstRow>,
    episodes: Fresh<EpisodeRow>,
    idle: Fresh<IdleRow>,
}

impl Narrow {
    pub fn new() -> Narrow {
        Narrow {
            ranked: Numbers::default(),
            left_out: Numbers::default(),
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
    /// A row that comes only where all is wanted of its connection, right before the rows of its flows: it need not wait.
    pub fn keep<R: Row>(&mut self, row: &R, stores: &mut [Store; TABLES]) {
        put(row, stores, &self.left_out);
    }
    /// A connection has ended: it stays if one of its flows may be listed, and so do others.
    pub fn connection(&mut self, flows: &Flows, worst: &mut Worst, stores: &mut [Store; TABLES]) {
        let mut stays = false;
        for row in flows.iter().flatten() {
            let offered = worst.offer(row);
            if offered == Offered::Refused {
                continue;
            }
            stays = true;
            self.ranked.add(row.flow);
            if let Offered::InPlaceOf(other) = offered {
                self.ranked.remove(other);
                // Its other flow may be listed still.
                if !self.ranked.has(other ^ 1) {
                    self.leave_out(connection_of(other));
                }
            }
        }
        for row in flows.iter().flatten() {
            match stays {
                true => self.keep(row, stores),
                false => self.leave_out(connection_of(row.flow)),
            }
        }
    }
    /// None of its flows will be listed: its rows go, the fresh ones at once, others when room is needed.
    fn leave_out(&mut self, connection: u32) {
        self.left_out.add(connection);
        self.bursts.leave_out(connection);
        self.episodes.leave_out(connection);
        self.idle.leave_out(connection);
    }
    pub fn settle(&mut self, stores: &mut [Store; TABLES]) {
        self.bursts.settle(stores, &self.left_out);
        self.episodes.settle(stores, &self.left_out);
        self.idle.settle(stores, &self.left_out);
    }
}
