//! The packets of a capture as columns, flow by flow in the order of the capture, with what is known of each.

use crate::column::{Column, Filling};
use crate::container::{self, Values, pack};
use crate::places::Places;
use crate::text::list;
use analysis::rows::{Cause, ClosedSet, FlowId, PacketClass, PacketRow};
use bytemuck::Pod;
use std::io;
use std::ops::Range;
use wire::Time;

/// Calls a macro with every column that is read from the table, and its kind.
macro_rules! columns {
    ($each:ident) => {
        $each! {
            packet: u32, time_ns: i64, data: u8, flags: u16, seq: i64, len: u32, ack: i64, window: i64, dsack: u8,
            ts_val: i64, ts_ecr: i64, cause: u8, class: u8, flight: i64,
        }
    };
}

macro_rules! store {
    ($($column:ident: $kind:ty,)*) => {
        /// Times count from the origin of the capture. -1 stands for what a packet has not or nobody knows.
        #[derive(Default)]
        pub struct Packets {
            places: Places,
            $(pub $column: Column<$kind>,)*
            /// Start and end of each block; 0 where there is none.
            pub sack: [[Column<i64>; 2]; 4],
            /// Found by `judged`.
            pub lost: Vec<u8>,
            pub needless: Vec<u8>,
            pub episode: Vec<u16>,
        }

        /// Packets that are being read.
        pub struct Reading {
            places: Places,
            $($column: Filling<$kind>,)*
            sack: [[Filling<i64>; 2]; 4],
        }

        impl Reading {
            /// in_files: there are more than memory is to hold.
            pub fn new(in_files: bool) -> io::Result<Reading> {
                let block = || Ok::<_, io::Error>([Filling::new(in_files)?, Filling::new(in_files)?]);
                Ok(Reading {
                    places: Places::default(),
                    $($column: Filling::new(in_files)?,)*
                    sack: [block()?, block()?, block()?, block()?],
                })
            }
            /// Called now and then.
            pub fn pass_on(&mut self) -> io::Result<()> {
                $(self.$column.pass_on()?;)*
                self.sack.iter_mut().flatten().try_for_each(Filling::pass_on)
            }
            pub fn end(self) -> io::Result<Packets> {
                let mut sack: [[Column<i64>; 2]; 4] = Default::default();
                for (to, from) in sack.iter_mut().flatten().zip(self.sack.into_iter().flatten()) {
                    *to = from.end()?;
                }
                $(let $column = self.$column.end()?;)*
                let rows = self.places.rows();
                let (lost, needless, episode) = (vec![0; rows], vec![0; rows], vec![0; rows]);
                Ok(Packets { places: self.places, $($column,)* sack, lost, needless, episode })
            }
        }
    };
}
columns!(store);

/// The place of a word among those of its set.
pub fn place<T: ClosedSet>(value: T) -> u8 {
    T::ALL.iter().position(|v| v.name() == value.name()).unwrap_or(0) as u8
}

impl Reading {
    pub fn push(&mut self, row: &PacketRow, origin: Time) {
        let or_none = |value: Option<i64>| value.unwrap_or(-1);
        let time_ns = row.time.0 - origin.0;
        self.places.push(row.flow, time_ns);
        self.packet.push(row.packet as u32);
        self.time_ns.push(time_ns);
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
        // From 1; 0 is what was sent first.
        self.cause.push(row.cause.map_or(0, |cause| 1 + place(cause)));
        self.class.push(place(row.class));
        self.flight.push(row.flight_bytes as i64);
    }
}

impl Packets {
    pub fn size(&self) -> usize {
        self.packet.len()
    }
    /// The flows that have packets, with where these lie.
    pub fn each(&self) -> impl Iterator<Item = (FlowId, Range<usize>)> {
        self.places.each()
    }
    /// The rows of a flow.
    pub fn of(&self, flow: FlowId) -> Range<usize> {
        self.places.of(flow)
    }
    /// The rows of a flow from the first to the last in a stretch of time, both ends in it.
    pub fn within(&self, flow: FlowId, from_ns: i64, to_ns: i64) -> Range<usize> {
        self.places.within(flow, &self.time_ns, from_ns, to_ns)
    }

    /// Some rows as a page reads them (kind `packets`). complete: all packets of a flow.
    pub fn container(&self, rows: &[Range<usize>], complete: bool) -> Vec<u8> {
        let mut columns = Vec::new();
        let mut add =
            |name: &str, values: Values, delta| columns.push(container::Column::of(name, values, delta));
        let time_ns = some(&self.time_ns, rows);
        add("packet", Values::U32(some(&self.packet, rows)), true);
        add("time_ns", Values::real(&time_ns), true);
        add("data", Values::U8(some(&self.data, rows)), false);
        add("flags", Values::U16(some(&self.flags, rows)), false);
        add("seq", Values::whole(&some(&self.seq, rows)), true);
        add("len", Values::U32(some(&self.len, rows)), false);
        add("ack", Values::whole(&some(&self.ack, rows)), true);
        // What says nothing is left out.
        let mut perhaps = |name: &str, column: &[i64], nothing: i64, delta| {
            let values = some(column, rows);
            if values.iter().any(|v| *v != nothing) {
                add(name, Values::whole(&values), delta);
            }
        };
        perhaps("window", &self.window, -1, false);
        for (k, block) in (1..).zip(&self.sack) {
            for (end, column) in ["start", "end"].iter().zip(block) {
                perhaps(&format!("sack{k}_{end}"), column, 0, true);
            }
        }
        perhaps("ts_val", &self.ts_val, -1, true);
        perhaps("ts_ecr", &self.ts_ecr, -1, true);
        add("dsack", Values::U8(some(&self.dsack, rows)), false);
        add("cause", Values::U8(some(&self.cause, rows)), false);
        add("class", Values::U8(some(&self.class, rows)), false);
        add("flight", Values::whole(&some(&self.flight, rows)), true);
        add("lost", Values::U8(some(&self.lost, rows)), false);
        add("needless", Values::U8(some(&self.needless, rows)), false);
        add("episode", Values::U16(some(&self.episode, rows)), false);
        let causes = list([""].into_iter().chain(Cause::ALL.iter().map(|c| c.name())));
        let classes = list(PacketClass::ALL.iter().map(|c| c.name()));
        let mut more = format!(",\"words\":{{\"cause\":{causes},\"class\":{classes}}}");
        if let Some((from, to)) = time_ns.iter().min().zip(time_ns.iter().max()) {
            more += &format!(",\"from_ns\":{from},\"to_ns\":{to}");
        }
        more += &format!(",\"complete\":{complete}");
        pack("packets", &columns, &more)
    }
}

fn some<T: Pod>(column: &[T], rows: &[Range<usize>]) -> Vec<T> {
    rows.iter().flat_map(|rows| &column[rows.clone()]).copied().collect()
}
