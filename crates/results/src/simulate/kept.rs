//! The simulator's rows while a run lasts: a bounded piece of each kind in memory, the rest on disk.

use super::rows::{App, Blocked, Drop, Held, Host, Queue, Resent, State};
use crate::spool::codec::append;
use crate::spool::store::Store;
use sim::rows::{AppRow, BlockedRow, DropRow, HeldRow, HostRow, QueueRow, ResentRow, StateRow};

#[derive(Default)]
pub struct Kept {
    pub state: Store,
    pub queues: Store,
    pub drops: Store,
    pub truth: Store,
    pub hosts: Store,
    pub applications: Store,
    pub blocked: Store,
    pub held: Store,
    keeps_drops: bool,
}

/// Rows that stay in the order in which they came.
const IN_ORDER: u32 = 0;

impl Kept {
    pub fn new(keeps_drops: bool) -> Kept {
        Kept { keeps_drops, ..Kept::default() }
    }
    pub fn keeps_drops(&self) -> bool {
        self.keeps_drops
    }
    pub fn state(&mut self, row: &StateRow) {
        self.put_state(&State::from(row));
    }
    pub fn put_state(&mut self, row: &State) {
        // By sender.
        let key = row.connection * 2 + u32::from(!row.forward);
        self.state.push(key, |bytes| append(bytes, row));
    }
    pub fn put_queue(&mut self, row: &Queue) {
        self.queues.push(row.link, |bytes| append(bytes, row));
    }
    pub fn put_drop(&mut self, row: &Drop) {
        self.drops.push(IN_ORDER, |bytes| append(bytes, row));
    }
    pub fn queue(&mut self, row: &QueueRow) {
        self.queues.push(row.link.0, |bytes| append(bytes, &Queue::from(row)));
    }
    pub fn dropped(&mut self, row: &DropRow) {
        if self.keeps_drops {
            self.drops.push(IN_ORDER, |bytes| append(bytes, &Drop::from(row)));
        }
    }
    pub fn host(&mut self, row: &HostRow) {
        self.hosts.push(IN_ORDER, |bytes| append(bytes, &Host::from(row)));
    }
    pub fn application(&mut self, row: &AppRow) {
        self.applications.push(IN_ORDER, |bytes| append(bytes, &App::from(row)));
    }
    pub fn blocked(&mut self, row: &BlockedRow) {
        let key = row.connection * 2 + u32::from(!row.forward);
        self.blocked.push(key, |bytes| append(bytes, &Blocked::from(row)));
    }
    pub fn held(&mut self, row: &HeldRow) {
        self.held.push(IN_ORDER, |bytes| append(bytes, &Held::from(row)));
    }
    pub fn resent(&mut self, row: &ResentRow) {
        let key = row.packet.connection * 2 + u32::from(!row.packet.forward);
        self.truth.push(key, |bytes| append(bytes, &Resent::from(row)));
    }
}
