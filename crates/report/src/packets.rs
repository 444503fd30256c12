//! Packets as columns, in the order of the capture flow by flow.

use crate::container::{Column, Values, pack};
use crate::text::list;
use analysis::rows::{Cause, ClosedSet, PacketClass, PacketRow};
use std::ops::Range;
use wire::Time;

#[derive(Default)]
pub struct Packets {
    pub packet: Vec<u32>,
    /// Since the origin of the capture.
    pub time_ns: Vec<i64>,
    pub data: Vec<u8>,
    pub flags: Vec<u16>,
    pub seq: Vec<i64>,
    pub len: Vec<u32>,
    /// Here and below: -1 where there is none.
    pub ack: Vec<i64>,
    pub window: Vec<i64>,
    /// Start and end of each block; 0 where there is none.
    pub sack: [[Vec<i64>; 2]; 4],
    pub dsack: Vec<u8>,
    pub ts_val: Vec<i64>,
    pub ts_ecr: Vec<i64>,
    /// Its place among the causes from 1; 0 for what was sent first.
    pub cause: Vec<u8>,
    pub class: Vec<u8>,
    pub flight: Vec<i64>,
    /// Found by `judged`.
    pub lost: Vec<u8>,
    pub needless: Vec<u8>,
    pub episode: Vec<u16>,
}

fn place<T: ClosedSet>(value: T) -> u8 {
    T::ALL.iter().position(|v| v.name() == value.name()).unwrap_or(0) as u8
}

/// Calls a macro for every column that has one vector.
macro_rules! plain {
    ($each:ident) => {
        $each!(
            packet, time_ns, data, flags, seq, len, ack, window, dsack, ts_val, ts_ecr, cause, class, flight,
            lost, needless, episode
        )
    };
}

impl Packets {
    pub fn size(&self) -> usize {
        self.packet.len()
    }

    pub fn push(&mut self, row: &PacketRow, origin: Time) {
        let or_none = |value: Option<i64>| value.unwrap_or(-1);
        self.packet.push(row.packet as u32);
        self.time_ns.push(row.time.0 - origin.0);
        self.data.push(row.data.into());
        self.flags.push(row.flags.into());
        self.seq.push(row.seq as i64);
        self.len.push(row.len);
        self.ack.push(or_none(row.ack.map(|a| a as i64)));
        self.window.push(or_none(row.window_bytes.map(|w| w as i64)));
        for (columns, block) in self.sack.iter_mut().zip(row.sack) {
            let (start, end) = block.unwrap_or_default();
            columns[0].push(start as i64);
            columns[1].push(end as i64);
        }
        self.dsack.push(row.dsack.into());
        self.ts_val.push(or_none(row.ts_val.map(i64::from)));
        self.ts_ecr.push(or_none(row.ts_ecr.map(i64::from)));
        self.cause.push(row.cause.map_or(0, |cause| 1 + place(cause)));
        self.class.push(place(row.class));
        self.flight.push(row.flight_bytes as i64);
        self.lost.push(0);
        self.needless.push(0);
        self.episode.push(0);
    }

    /// Takes in some rows of others.
    pub fn take(&mut self, other: &Packets, rows: Range<usize>) {
        macro_rules! each {
            ($($column:ident),*) => { $(self.$column.extend_from_slice(&other.$column[rows.clone()]);)* };
        }
        plain!(each);
        for (mine, theirs) in self.sack.iter_mut().flatten().zip(other.sack.iter().flatten()) {
            mine.extend_from_slice(&theirs[rows.clone()]);
        }
    }

    pub fn clear(&mut self) {
        macro_rules! each {
            ($($column:ident),*) => { $(self.$column.clear();)* };
        }
        plain!(each);
        self.sack.iter_mut().flatten().for_each(Vec::clear);
    }

    /// The rows among `of` from the first to the last in a stretch of time, both ends in it.
    pub fn within(&self, of: Range<usize>, from_ns: i64, to_ns: i64) -> Range<usize> {
        let inside = |i: &usize| (from_ns..=to_ns).contains(&self.time_ns[*i]);
        let first = of.clone().find(inside);
        let last = of.clone().rev().find(inside);
        match first.zip(last) {
            Some((first, last)) => first..last + 1,
            None => of.start..of.start,
        }
    }

    /// As a page reads them (kind `packets`). complete: all packets of a flow.
    pub fn container(&self, complete: bool) -> Vec<u8> {
        let mut columns = Vec::new();
        let mut add = |name: &str, values: Values, delta| columns.push(Column::of(name, values, delta));
        add("packet", Values::U32(self.packet.clone()), true);
        add("time_ns", Values::real(&self.time_ns), true);
        add("data", Values::U8(self.data.clone()), false);
        add("flags", Values::U16(self.flags.clone()), false);
        add("seq", Values::whole(&self.seq), true);
        add("len", Values::U32(self.len.clone()), false);
        add("ack", Values::whole(&self.ack), true);
        // What says nothing is left out.
        let says = |values: &[i64], nothing: i64| values.iter().any(|v| *v != nothing);
        if says(&self.window, -1) {
            add("window", Values::whole(&self.window), false);
        }
        for (k, block) in (1..).zip(&self.sack) {
            for (end, values) in ["start", "end"].iter().zip(block) {
                if says(values, 0) {
                    add(&format!("sack{k}_{end}"), Values::whole(values), true);
                }
            }
        }
        add("dsack", Values::U8(self.dsack.clone()), false);
        for (name, values) in [("ts_val", &self.ts_val), ("ts_ecr", &self.ts_ecr)] {
            if says(values, -1) {
                add(name, Values::whole(values), true);
            }
        }
        add("cause", Values::U8(self.cause.clone()), false);
        add("class", Values::U8(self.class.clone()), false);
        add("flight", Values::whole(&self.flight), true);
        add("lost", Values::U8(self.lost.clone()), false);
        add("needless", Values::U8(self.needless.clone()), false);
        add("episode", Values::U16(self.episode.clone()), false);
        let causes = list([""].into_iter().chain(Cause::ALL.iter().map(|c| c.name())));
        let classes = list(PacketClass::ALL.iter().map(|c| c.name()));
        let mut more = format!(",\"words\":{{\"cause\":{causes},\"class\":{classes}}}");
        if let Some((from, to)) = self.time_ns.iter().min().zip(self.time_ns.iter().max()) {
            more += &format!(",\"from_ns\":{from},\"to_ns\":{to}");
        }
        more += &format!(",\"complete\":{complete}");
        pack("packets", &columns, &more)
    }
}
