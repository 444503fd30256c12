//! Files opened, and several put in the order of their first packets.

use crate::error::Error;
use crate::info::{FileInfo, Format};
use crate::pcap::Pcap;
use crate::pcapng::Pcapng;
use crate::record::{Fault, Framing, Record, explain};
use crate::sniff;
use crate::snoop::Snoop;
use crate::source::{self, Meter, Source};
use crate::window::{Room, Window};
use reach::Reach;
use std::path::PathBuf;
use wire::Time;

pub(crate) enum Framed {
    Pcap(Pcap),
    Pcapng(Pcapng),
    Snoop(Snoop),
}

impl Framed {
    /// The byte order of a record's options; only pcapng has any.
    pub fn big_endian(&self) -> bool {
        matches!(self, Framed::Pcapng(f) if f.big_endian)
    }
    pub fn next(&mut self, window: &mut Window, file: &mut FileInfo) -> Result<Option<Record>, Fault> {
        match self {
            Framed::Pcap(f) => f.next(window, file),
            Framed::Pcapng(f) => f.next(window, file),
            Framed::Snoop(f) => f.next(window, file),
        }
    }
}

/// A file being read.
pub(crate) struct Opened {
    pub window: Window,
    pub info: FileInfo,
    pub framed: Framed,
    /// The first record, if it was looked at already.
    pub peeked: Option<Result<Option<Record>, Fault>>,
}

impl Opened {
    fn new(source: &Source, meter: &Meter, room: &mut Room) -> Result<Opened, Error> {
        let opened = Opened::starting(source, meter, room);
        // Whatever an end in the midst of the header looks like: it is not the capture's.
        opened.map_err(|e| if meter.stopped() { Error::Silent { file: source.to_string() } } else { e })
    }

    fn starting(source: &Source, meter: &Meter, room: &mut Room) -> Result<Opened, Error> {
        let name = source.to_string();
        let stream = source::open(source, meter)?;
        let compression = stream.compression;
        let mut window = Window::new(stream.bytes, room);
        let format = sniff::format(&mut window, &name, compression)?;
        let mut info = FileInfo {
            name,
            format,
            compression,
            sections: u32::from(format != Format::Pcapng),
            interfaces: Vec::new(),
            before: 0,
            packets: 0,
            first: None,
            last: None,
            damage: None,
        };
        let framed = match format {
            Format::Pcap => Pcap::start(&mut window, &mut info).map(Framed::Pcap),
            Format::Pcapng => Pcapng::start(&mut window).map(Framed::Pcapng),
            Format::Snoop => Snoop::start(&mut window, &mut info).map(Framed::Snoop),
        };
        match framed {
            Ok(framed) => Ok(Opened { window, info, framed, peeked: None }),
            Err(fault) => {
                let (byte, what) = explain(fault, &mut window, compression);
                let damage = format!("{what} in the file header (byte {})", crate::error::grouped(byte));
                Err(Error::Header { file: info.name, damage })
            }
        }
    }

    fn peek(&mut self) -> Option<Time> {
        let first = self.framed.next(&mut self.window, &mut self.info);
        let time = match &first {
            Ok(Some(record)) => Some(record.time),
            _ => None,
        };
        self.info.first = time;
        self.peeked = Some(first);
        time
    }

    pub fn timeless(&self) -> u64 {
        match &self.framed {
            Framed::Pcapng(f) => f.timeless,
            _ => 0,
        }
    }
}

/// A file to be read.
pub(crate) struct Pending {
    pub source: Source,
    /// Kept open if it cannot be opened twice.
    opened: Option<Opened>,
    first: Option<Time>,
}

impl Pending {
    pub fn open(self, meter: &Meter, room: &mut Room) -> Result<Opened, Error> {
        let mut opened = match self.opened {
            Some(opened) => opened,
            None => Opened::new(&self.source, meter, room)?,
        };
        opened.info.first = self.first;
        Ok(opened)
    }
}

pub(crate) struct Rotation {
    pub files: Vec<Pending>,
    pub room: Room,
    pub warnings: Vec<String>,
}

/// Opens each file, to know that it is a capture and when it starts. Of several, one that cannot be read is
/// told and left out, as long as another can.
pub(crate) fn prepare(paths: &[PathBuf], reach: &Reach, meter: &Meter) -> Result<Rotation, Error> {
    let mut room = Room::default();
    if let [only] = paths {
        let source = Source::new(only, reach);
        let opened = Some(Opened::new(&source, meter, &mut room)?);
        let files = vec![Pending { source, opened, first: None }];
        return Ok(Rotation { files, room, warnings: Vec::new() });
    }
    let mut files = Vec::new();
    let mut errors = Vec::new();
    for path in paths {
        let source = Source::new(path, reach);
        // A file is opened again when its turn comes: thousands of buffers at once would be too many.
        let again = source.len().is_some();
        let unmetered = Meter::default();
        match Opened::new(&source, if again { &unmetered } else { meter }, &mut room) {
            Ok(mut opened) => {
                let first = opened.peek();
                let opened = match again {
                    true => {
                        opened.window.leave(&mut room);
                        None
                    }
                    false => Some(opened),
                };
                files.push(Pending { source, opened, first });
            }
            Err(e) => errors.push(e),
        }
    }
    if files.is_empty() {
        return Err(errors.into_iter().next().unwrap_or(Error::NoFiles));
    }
    files.sort_by_key(|f| f.first.unwrap_or(Time::FAR_FUTURE));
    Ok(Rotation { files, room, warnings: errors.iter().map(Error::to_string).collect() })
}
