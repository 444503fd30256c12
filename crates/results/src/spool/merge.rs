//! Reading sorted runs back as one sequence, in order of flow.

use super::disk::Disk;
use super::store::{HEADER, Piece};
use analysis::ascending::{Ascending, Walk};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::Arc;

/// What is read from a run at a time.
const BLOCK: usize = 16 << 10;

/// One sorted sequence of records.
pub enum Source {
    File(FileRun),
    Memory { piece: Arc<Piece>, next: usize },
    Part(Box<Part>),
}

/// The records of a part of the connections, which it counted by itself.
pub struct Part {
    records: Merge,
    numbers: Walk<Arc<Ascending>>,
    /// So many of the part's connections are passed, the last of which has this number among all.
    at: (u32, u32),
}

impl Part {
    fn advance(&mut self) -> io::Result<Option<u32>> {
        let Some((flow, _)) = self.records.next()? else { return Ok(None) };
        while self.at.0 <= flow / 2 {
            let number = self.numbers.next().ok_or(io::ErrorKind::InvalidData)?;
            self.at = (self.at.0 + 1, number as u32);
        }
        Ok(Some(self.at.1 * 2 + flow % 2))
    }
}

pub struct FileRun {
    file: Arc<Disk>,
    at: u64,
    end: u64,
    block: Vec<u8>,
    pos: usize,
    /// Length of the record at `pos`, once its header was read.
    len: usize,
}

impl Source {
    pub fn file(file: Arc<Disk>, at: u64, end: u64) -> Source {
        Source::File(FileRun { file, at, end, block: Vec::new(), pos: 0, len: 0 })
    }
    pub fn memory(piece: Arc<Piece>) -> Source {
        Source::Memory { piece, next: 0 }
    }
    /// `numbers`: among all connections, of each of the part's.
    pub fn part(records: Merge, numbers: Arc<Ascending>) -> Source {
        Source::Part(Box::new(Part { records, numbers: Walk::new(numbers), at: (0, 0) }))
    }
    /// Steps to the next record and gives its flow.
    fn advance(&mut self) -> io::Result<Option<u32>> {
        match self {
            Source::File(run) => run.advance(),
            Source::Memory { piece, next } => {
                *next += 1;
                Ok(piece.get(*next - 1).map(|(flow, _)| flow))
            }
            Source::Part(part) => part.advance(),
        }
    }
    /// The record stepped to last.
    fn record(&self) -> &[u8] {
        match self {
            Source::File(run) => &run.block[run.pos..run.pos + run.len],
            Source::Memory { piece, next } => piece.get(next - 1).map_or(&[], |(_, record)| record),
            Source::Part(part) => part.records.record(),
        }
    }
}

impl FileRun {
    fn advance(&mut self) -> io::Result<Option<u32>> {
        self.pos += self.len;
        self.len = 0;
        if self.pos == self.block.len() && self.at == self.end {
            self.block = Vec::new();
            self.pos = 0;
            return Ok(None);
        }
        self.have(HEADER)?;
        let h = &self.block[self.pos..self.pos + HEADER];
        let flow = u32::from_le_bytes([h[0], h[1], h[2], h[3]]);
        let len = usize::from(u16::from_le_bytes([h[4], h[5]]));
        self.pos += HEADER;
        self.have(len)?;
        self.len = len;
        Ok(Some(flow))
    }

    /// Makes `n` bytes from `pos` on available, reading on if need be.
    #[inline]
    fn have(&mut self, n: usize) -> io::Result<()> {
        if self.block.len() - self.pos >= n { Ok(()) } else { self.refill(n) }
    }

    #[cold]
    fn refill(&mut self, n: usize) -> io::Result<()> {
        self.block.drain(..self.pos);
        self.pos = 0;
        let kept = self.block.len();
        let more = (BLOCK.max(n) - kept).min((self.end - self.at) as usize);
        if kept + more < n {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.block.resize(kept + more, 0);
        self.file.read_exact_at(&mut self.block[kept..], self.at)?;
        self.at += more as u64;
        Ok(())
    }
}

/// Sorted sources as one sorted sequence; among records of one flow the earlier source comes first.
pub struct Merge {
    sources: Vec<Source>,
    /// The next flow of every source but the current one.
    heads: BinaryHeap<Reverse<(u32, usize)>>,
    current: Option<usize>,
}

impl Merge {
    pub fn new(mut sources: Vec<Source>) -> io::Result<Merge> {
        let mut heads = BinaryHeap::with_capacity(sources.len());
        for (i, source) in sources.iter_mut().enumerate() {
            if let Some(flow) = source.advance()? {
                heads.push(Reverse((flow, i)));
            }
        }
        Ok(Merge { sources, heads, current: None })
    }

    /// The next record and its flow.
    #[allow(clippy::should_implement_trait)] // lends from its buffer: no Iterator can
    pub fn next(&mut self) -> io::Result<Option<(u32, &[u8])>> {
        let next = match self.current {
            None => self.heads.pop().map(|Reverse(head)| head),
            Some(i) => match self.sources[i].advance()? {
                None => self.heads.pop().map(|Reverse(head)| head),
                Some(flow) => match self.heads.peek_mut() {
                    // Flows that end in order make runs that do not overlap: the current one mostly goes on.
                    Some(mut top) if top.0 < (flow, i) => {
                        let Reverse(head) = std::mem::replace(&mut *top, Reverse((flow, i)));
                        Some(head)
                    }
                    _ => Some((flow, i)),
                },
            },
        };
        self.current = next.map(|(_, i)| i);
        Ok(next.map(|(flow, i)| (flow, self.sources[i].record())))
    }
    /// The record that came last.
    fn record(&self) -> &[u8] {
        self.current.map_or(&[], |i| self.sources[i].record())
    }
}
