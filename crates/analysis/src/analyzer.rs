//! The analysis of a whole capture: connections come, are followed, and end.

use crate::config::Config;
use crate::connection::{Connection, Taken};
use crate::sink::Sink;
use crate::table::{Key, Table};
use crate::{Fate, Totals};
use wire::Packet;

/// Takes packets in capture order and writes rows to its sink.
pub struct Analyzer<S: Sink> {
    config: Config,
    sink: S,
    totals: Totals,
    table: Table,
    connections: Vec<Option<Box<Connection>>>,
    free: Vec<u32>,
}

impl<S: Sink> Analyzer<S> {
    pub fn new(config: Config, sink: S) -> Analyzer<S> {
        Analyzer {
            config,
            sink,
            totals: Totals::default(),
            table: Table::default(),
            connections: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Packets in the order of the capture. Cheapest in batches of a hundred or so.
    pub fn push(&mut self, packets: &[Packet]) {
        for packet in packets {
            self.push_with_fate(packet, Fate::Unknown);
        }
    }

    /// One packet whose fate is known from a second capture (see [`crate::join`]).
    pub fn push_with_fate(&mut self, packet: &Packet, fate: Fate) {
        self.totals.packets += 1;
        let key = Key::of(&packet.tuple);
        let slot = match self.table.get(&key) {
            Some(slot) => *slot,
            None => self.open(key, packet),
        };
        let Some(connection) = self.connections[slot as usize].as_mut() else { return };
        if connection.take(packet, fate, &self.config, &mut self.sink) == Taken::Reopens {
            self.totals.flows += connection.finish(&self.config, &mut self.sink);
            self.connections[slot as usize] = None;
            self.free.push(slot);
            let slot = self.open(key, packet);
            if let Some(new) = self.connections[slot as usize].as_mut() {
                new.take(packet, fate, &self.config, &mut self.sink);
            }
        }
    }

    fn open(&mut self, key: Key, packet: &Packet) -> u32 {
        let number = self.totals.connections as u32;
        self.totals.connections += 1;
        let connection = Some(Box::new(Connection::new(number, packet)));
        let slot = match self.free.pop() {
            Some(slot) => {
                self.connections[slot as usize] = connection;
                slot
            }
            None => {
                self.connections.push(connection);
                self.connections.len() as u32 - 1
            }
        };
        self.table.insert(key, slot);
        slot
    }

    pub fn sink(&mut self) -> &mut S {
        &mut self.sink
    }

    /// Ends every connection that is still open and gives the sink back.
    pub fn finish(mut self) -> (Totals, S) {
        for slot in 0..self.connections.len() {
            if let Some(mut connection) = self.connections[slot].take() {
                self.totals.flows += connection.finish(&self.config, &mut self.sink);
            }
        }
        (self.totals, self.sink)
    }
}
