//! The capture on the disk: one file, or a ring of files of which the oldest goes.

use super::private;
use crate::sys::Seen;
use capture::{LinkType, NewPacket, Writer};
use std::collections::{HashMap, VecDeque};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use wire::{Notes, Time};

const BUFFER: usize = 1 << 20;
/// What a packet costs in a file besides its bytes.
const BLOCK: u64 = 48;

/// At most so many files of so many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    pub files: usize,
    pub bytes: u64,
}

pub struct Files {
    folder: PathBuf,
    ring: Option<Ring>,
    snap: u32,
    /// By interface of the kernel.
    names: HashMap<u32, String>,
    /// Its numbers in the file that is being written.
    numbers: HashMap<u32, u32>,
    out: Option<Writer<BufWriter<File>>>,
    written: u64,
    made: u32,
    pub there: VecDeque<PathBuf>,
    last: Time,
    /// Dropped by the kernel until now, and of that what is in files already.
    dropped: u64,
    told: u64,
}

impl Files {
    /// `snap`: bytes of each packet; 0 is all.
    pub fn create(folder: &Path, ring: Option<Ring>, snap: u32) -> io::Result<Files> {
        let mut files = Files {
            folder: folder.to_owned(),
            ring,
            snap,
            names: HashMap::new(),
            numbers: HashMap::new(),
            out: None,
            written: 0,
            made: 0,
            there: VecDeque::new(),
            last: Time::ZERO,
            dropped: 0,
            told: 0,
        };
        files.begin()?;
        Ok(files)
    }

    /// Interfaces are known by name in the files.
    pub fn name(&mut self, index: u32, name: String) {
        self.names.insert(index, name);
    }
    pub fn knows(&self, index: u32) -> bool {
        self.names.contains_key(&index)
    }

    pub fn packet(&mut self, seen: &Seen<'_>, outgoing: bool) -> io::Result<()> {
        let bytes = seen.data.len() as u64 + BLOCK;
        if self.ring.is_some_and(|ring| self.written > 0 && self.written + bytes > ring.bytes) {
            self.end()?;
            self.begin()?;
        }
        let Some(out) = &mut self.out else { return Ok(()) };
        let interface = match self.numbers.get(&seen.interface) {
            Some(number) => *number,
            None => {
                let name = self.names.get(&seen.interface).map(String::as_str);
                let number = out.interface(name, LinkType::RAW, self.snap)?;
                self.numbers.insert(seen.interface, number);
                number
            }
        };
        self.last = Time(seen.time);
        self.written += bytes;
        out.packet(&NewPacket {
            interface,
            time: self.last,
            data: seen.data,
            wire_len: seen.len,
            notes: if outgoing { Notes::OUTBOUND } else { Notes::INBOUND },
            ..NewPacket::default()
        })
    }

    /// The kernel had no room for so many more.
    pub fn lost(&mut self, packets: u64) {
        self.dropped += packets;
    }

    /// On the disk, whatever becomes of this process.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), Writer::flush)
    }

    fn begin(&mut self) -> io::Result<()> {
        self.made += 1;
        let name = match self.ring {
            Some(_) => format!("record-{:06}.pcapng", self.made),
            None => "record.pcapng".to_owned(),
        };
        let path = self.folder.join(name);
        self.out = Some(Writer::pcapng(BufWriter::with_capacity(BUFFER, private::create(&path)?))?);
        self.numbers.clear();
        self.written = 0;
        self.there.push_back(path);
        if let Some(ring) = self.ring {
            while self.there.len() > ring.files {
                if let Some(oldest) = self.there.pop_front() {
                    fs::remove_file(oldest)?;
                }
            }
        }
        Ok(())
    }

    /// Closes the file with how much its interfaces lost: the kernel counts for all of them together, and the first one
    /// of the file bears it.
    pub fn end(&mut self) -> io::Result<()> {
        let Some(mut out) = self.out.take() else { return Ok(()) };
        if self.numbers.is_empty() {
            out.interface(None, LinkType::RAW, self.snap)?;
            self.numbers.insert(0, 0);
        }
        for number in 0..self.numbers.len() as u32 {
            let dropped = if number == 0 { self.dropped - self.told } else { 0 };
            out.statistics(number, self.last, dropped)?;
        }
        self.told = self.dropped;
        out.finish()?.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(files: &mut Files, k: i64) {
        let mut ip = [0u8; 40];
        (ip[0], ip[9]) = (0x45, 6);
        let seen =
            Seen { time: k * 1_000_000, data: &ip, len: 1500, interface: 7, kind: 0, is_tagged: false };
        files.packet(&seen, true).expect("it is written");
    }

    #[test]
    fn of_a_ring_the_newest_files_stay_and_each_is_whole() {
        let folder = tempfile::TempDir::new().expect("a folder");
        let ring = Ring { files: 3, bytes: 1000 };
        let mut files = Files::create(folder.path(), Some(ring), 128).expect("files");
        files.name(7, "eth7".into());
        for k in 0..100 {
            packet(&mut files, k);
            if k == 90 {
                files.lost(5);
            }
        }
        files.end().expect("the last one is closed");
        let mut left: Vec<PathBuf> =
            fs::read_dir(folder.path()).expect("a folder").flatten().map(|e| e.path()).collect();
        left.sort();
        // Eleven packets of 88 bytes fit in each.
        assert_eq!(left, Vec::from(files.there.clone()));
        assert_eq!(left.len(), 3);
        let (mut packets, mut dropped) = (0, 0);
        for path in &left {
            assert!(fs::metadata(path).expect("a file").len() < 1500);
            let options = capture::Options::default();
            let mut reader = capture::open(std::slice::from_ref(path), &options).expect("a capture");
            let mut batch = Vec::new();
            while reader.read_batch(&mut batch, 100) {
                batch.clear();
            }
            packets += reader.info().packets;
            let interface = &reader.info().files[0].interfaces[0];
            dropped += interface.dropped.unwrap_or(0);
            assert_eq!(interface.name.as_deref(), Some("eth7"));
        }
        assert_eq!((packets, dropped), (23, 5));
    }
}
