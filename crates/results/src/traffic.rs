//! All frames of a capture, counted by what they carry and in bins of time: as JSON, and as a table.

use crate::json::write::{By, Put, object};
use crate::tables::column::*;
use crate::tables::{Batches, Reader};
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema};
use capture::{Kind, Tally, Traffic};
use std::sync::Arc;
use wire::Span;

/// What was counted, and how long its bins are.
pub struct Counted {
    pub found: Traffic,
    pub width: Span,
}

impl Counted {
    pub fn json(&self) -> Vec<u8> {
        let Traffic { files, total, origin, last, bins, warnings, interrupted, .. } = &self.found;
        let file = |f: &capture::FileInfo| {
            let (name, packets) = (f.name.clone(), f.packets);
            By(move |out: &mut Vec<u8>| object!(out, "name": name.as_str(), "packets": packets))
        };
        let links: Vec<String> = capture::links(files).iter().map(ToString::to_string).collect();
        let seconds = |t: wire::Time| t.0 as f64 / 1e9;
        let span = last.zip(*origin).map(|(last, origin)| (last - origin).as_secs());
        let mut out = Vec::new();
        let o = &mut out;
        object!(o,
            "files": files.iter().map(file).collect::<Vec<_>>(),
            "links": links.iter().map(|link| link.as_str()).collect::<Vec<_>>(),
            total.{ packets, bytes },
            "start_unix_s": origin.map(seconds),
            "span_s": span,
            "bin_s": self.width.as_secs(),
            "bins": bins.len(),
            "kinds": By(|out: &mut Vec<u8>| self.put_kinds(out)),
            "warnings": warnings.iter().map(|said| said.as_str()).collect::<Vec<_>>(),
            "interrupted": *interrupted,
        );
        out
    }

    fn put_kinds(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        for (i, kind) in Kind::ALL.into_iter().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            let Tally { packets, bytes } = self.found.of(kind);
            kind.name().put(out);
            out.push(b':');
            object!(out, "packets": packets, "bytes": bytes);
        }
        out.push(b'}');
    }

    pub fn rows(&self) -> u64 {
        self.found.bins.len() as u64
    }

    pub fn schema() -> Schema {
        BinColumns::schema()
    }

    pub fn reader(self: &Arc<Counted>) -> Reader {
        let all = Arc::clone(self);
        let row = move |at: usize| Ok(Bin { start: all.width * at as i64, tally: all.found.bins[at] });
        Box::new(Batches::<BinColumns, _>::of((0..self.found.bins.len()).map(row)))
    }
}

pub struct Bin {
    start: Span,
    tally: Tally,
}

table!(BinColumns of Bin { start, tally } =>
    start_s: Secs = start,
    packets: Int = tally.packets,
    bytes: Int = tally.bytes,
);
