//! Records of one kind, kept by flow: a bounded piece in memory, the rest in anonymous files.
//!
//! When the piece in memory is full it is sorted by flow and written out as a run. `FAN` runs of one level are
//! merged into one of the next, so that reading back never needs more than `FAN` small buffers a level, and
//! memory does not grow with rows.

use super::disk::{self, Disk};
use super::merge::{Merge, Source};
use analysis::ascending::Ascending;
use std::io;
use std::sync::Arc;

/// How much one kind of row may hold in memory, index included.
pub const MEMORY: usize = 2 << 20;
/// Runs of one level before they are merged into one.
const FAN: usize = 256;
/// What stands before a record in a run: its flow (4 bytes) and its length (2 bytes).
pub const HEADER: usize = 6;

/// A record in memory: its flow, and where its bytes start.
#[derive(Clone, Copy)]
struct Entry {
    flow: u32,
    at: u32,
    len: u16,
}

/// A piece of memory full of records, in order of arrival until it is sorted by flow.
#[derive(Default)]
pub struct Piece {
    bytes: Vec<u8>,
    index: Vec<Entry>,
}

impl Piece {
    fn size(&self) -> usize {
        self.bytes.len() + self.index.len() * size_of::<Entry>()
    }
    /// By flow; within a flow as they came.
    fn sort(&mut self) {
        self.index.sort_by_key(|e| e.flow);
    }
    /// Forgets the records of the flows that do not stay; returns how many.
    fn thin_out(&mut self, stays: impl Fn(u32) -> bool) -> usize {
        let before = self.index.len();
        let bytes = &mut self.bytes;
        let mut end = 0;
        self.index.retain_mut(|e| {
            if !stays(e.flow) {
                return false;
            }
            let (at, len) = (e.at as usize, usize::from(e.len));
            bytes.copy_within(at..at + len, end);
            e.at = end as u32;
            end += len;
            true
        });
        bytes.truncate(end);
        before - self.index.len()
    }
    pub fn get(&self, i: usize) -> Option<(u32, &[u8])> {
        let e = self.index.get(i)?;
        Some((e.flow, &self.bytes[e.at as usize..e.at as usize + usize::from(e.len)]))
    }
}

/// A sorted stretch of a level's file.
#[derive(Clone, Copy, Debug)]
struct Run {
    at: u64,
    end: u64,
}

struct Level {
    file: Arc<Disk>,
    len: u64,
    runs: Vec<Run>,
}

impl Level {
    fn new() -> io::Result<Level> {
        Ok(Level { file: Arc::new(Disk::new()?), len: 0, runs: Vec::new() })
    }
}

/// Takes records, in any order of flows.
pub struct Store {
    memory: usize,
    fan: usize,
    piece: Piece,
    levels: Vec<Level>,
    rows: u64,
    lost: u64,
    error: Option<io::Error>,
}

impl Default for Store {
    fn default() -> Store {
        Store::with_bounds(MEMORY, FAN)
    }
}

impl Store {
    /// A store that spills beyond `memory` bytes and merges `fan` runs into one.
    pub fn with_bounds(memory: usize, fan: usize) -> Store {
        Store {
            memory,
            fan: fan.max(2),
            piece: Piece::default(),
            levels: Vec::new(),
            rows: 0,
            lost: 0,
            error: None,
        }
    }

    /// Adds a record that `encode` appends to the bytes it is given.
    ///
    /// After a failure to spill (a full disk), later records are counted and dropped; what was kept stays.
    pub fn push(&mut self, flow: u32, encode: impl FnOnce(&mut Vec<u8>)) {
        self.push_among(flow, |_| true, encode);
    }

    /// As `push`; where memory is full, the records of flows that no longer stay make room before any is spilled.
    pub fn push_among(&mut self, flow: u32, stays: impl Fn(u32) -> bool, encode: impl FnOnce(&mut Vec<u8>)) {
        if self.error.is_some() {
            self.lost += 1;
            return;
        }
        let at = self.piece.bytes.len();
        encode(&mut self.piece.bytes);
        let Ok(len) = u16::try_from(self.piece.bytes.len() - at) else {
            // No row is near 64 KiB; one that were could not be read back.
            self.piece.bytes.truncate(at);
            self.lost += 1;
            return;
        };
        self.piece.index.push(Entry { flow, at: at as u32, len });
        self.rows += 1;
        if self.piece.size() >= self.memory {
            self.rows -= self.piece.thin_out(stays) as u64;
            // Thinning out what is mostly full would soon be most of the work.
            if self.piece.size() >= self.memory / 2
                && let Err(e) = self.spill()
            {
                self.error = Some(e);
            }
        }
    }

    #[cfg(test)]
    pub fn in_memory(&self) -> usize {
        self.piece.size()
    }
    #[cfg(test)]
    pub fn has_spilled(&self) -> bool {
        !self.levels.is_empty()
    }
    /// Puts a device that is always full in the place of the first level's file.
    #[cfg(test)]
    pub fn refuse_disk(&mut self) {
        self.levels = vec![Level { file: Arc::new(Disk::full()), len: 0, runs: Vec::new() }];
    }

    fn spill(&mut self) -> io::Result<()> {
        self.piece.sort();
        if self.levels.is_empty() {
            self.levels.push(Level::new()?);
        }
        let level = &mut self.levels[0];
        let mut out = RunWriter::new(level);
        for i in 0..self.piece.index.len() {
            if let Some((flow, record)) = self.piece.get(i) {
                out.record(flow, record)?;
            }
        }
        out.finish()?;
        self.piece.bytes.clear();
        self.piece.index.clear();
        self.compact()
    }

    /// Merges every level that has its fill of runs into one run of the next.
    fn compact(&mut self) -> io::Result<()> {
        let mut n = 0;
        while n < self.levels.len() && self.levels[n].runs.len() >= self.fan {
            if n + 1 == self.levels.len() {
                self.levels.push(Level::new()?);
            }
            let mut merge = Merge::new(sources(&self.levels[n]))?;
            let mut out = RunWriter::new(&mut self.levels[n + 1]);
            while let Some((flow, record)) = merge.next()? {
                out.record(flow, record)?;
            }
            out.finish()?;
            drop(merge);
            let level = &mut self.levels[n];
            level.runs.clear();
            level.len = 0;
            level.file.set_len(0)?;
            n += 1;
        }
        Ok(())
    }

    /// Ends the taking; what is kept can be read from now on, as often as wanted.
    pub fn seal(mut self) -> Sealed {
        self.piece.sort();
        let part = Part { piece: Arc::new(self.piece), levels: self.levels, numbers: None };
        Sealed { parts: vec![part], rows: self.rows, lost: self.lost, error: self.error }
    }
}

/// What one store took.
struct Part {
    piece: Arc<Piece>,
    levels: Vec<Level>,
    /// Where it took the flows of a part of the connections: the number of each among all.
    numbers: Option<Arc<Ascending>>,
}

impl Part {
    fn read(&self) -> io::Result<Merge> {
        // The deepest level is the oldest; what is in memory is the newest.
        let mut from: Vec<Source> = self.levels.iter().rev().flat_map(sources).collect();
        from.push(Source::memory(Arc::clone(&self.piece)));
        Merge::new(from)
    }
}

/// A store that is complete, or several as one.
#[derive(Default)]
pub struct Sealed {
    parts: Vec<Part>,
    rows: u64,
    lost: u64,
    error: Option<io::Error>,
}

impl Sealed {
    /// Of the flows of a part of the connections; `numbers`: among all connections, of each of these.
    pub fn numbered(mut self, numbers: &Arc<Ascending>) -> Sealed {
        self.parts.iter_mut().for_each(|part| part.numbers = Some(Arc::clone(numbers)));
        self
    }
    /// Takes in what another part of the connections has.
    pub fn take_in(&mut self, part: Sealed) {
        self.parts.extend(part.parts);
        self.rows += part.rows;
        self.lost += part.lost;
        self.error = self.error.take().or(part.error);
    }
    pub fn rows(&self) -> u64 {
        self.rows
    }
    /// Why rows are missing, and how many, if the disk could not take them.
    pub fn loss(&self) -> Option<(&io::Error, u64)> {
        self.error.as_ref().map(|e| (e, self.lost))
    }
    /// The same in words; `name`: the table's.
    pub fn complaint(&self, name: &str) -> Option<String> {
        let (error, lost) = self.loss()?;
        let (why, first, [place, fix]) = (capture::sentence(error), self.rows(), disk::place());
        Some(format!(
            "table {name}: {lost} rows after the first {first} could not be kept in {place} ({why}); {fix}"
        ))
    }
    /// All records in order of flow; within a flow as they came.
    pub fn read(&self) -> io::Result<Merge> {
        if let [Part { numbers: None, .. }] = self.parts.as_slice() {
            return self.parts[0].read();
        }
        let source = |part: &Part| {
            let numbers = part.numbers.clone().unwrap_or_default();
            Ok(Source::part(part.read()?, numbers))
        };
        Merge::new(self.parts.iter().map(source).collect::<io::Result<_>>()?)
    }
}

fn sources(level: &Level) -> Vec<Source> {
    level.runs.iter().map(|r| Source::file(Arc::clone(&level.file), r.at, r.end)).collect()
}

/// Appends one run to a level. Nothing counts until `finish`: a run half written is no run.
struct RunWriter<'a> {
    level: &'a mut Level,
    buffer: Vec<u8>,
    at: u64,
}

impl<'a> RunWriter<'a> {
    const BLOCK: usize = 256 << 10;

    fn new(level: &'a mut Level) -> RunWriter<'a> {
        let at = level.len;
        RunWriter { level, buffer: Vec::with_capacity(RunWriter::BLOCK + 4096), at }
    }
    fn record(&mut self, flow: u32, record: &[u8]) -> io::Result<()> {
        self.buffer.extend(flow.to_le_bytes());
        self.buffer.extend((record.len() as u16).to_le_bytes());
        self.buffer.extend(record);
        if self.buffer.len() >= RunWriter::BLOCK { self.flush() } else { Ok(()) }
    }
    fn flush(&mut self) -> io::Result<()> {
        self.level.file.write_all_at(&self.buffer, self.at)?;
        self.at += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
    fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        self.level.runs.push(Run { at: self.level.len, end: self.at });
        self.level.len = self.at;
        Ok(())
    }
}
