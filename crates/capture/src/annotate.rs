//! A copy of a capture with comments on chosen packets: what Wireshark then shows beside them.

use crate::error::{Damage, Error, shown};
use crate::info::FileInfo;
use crate::link::LinkType;
use crate::pcapng::each_option;
use crate::reader::Progress;
use crate::record::{Record, explain};
use crate::rotation::{Opened, prepare};
use crate::source::Meter;
use crate::whole::WholeFile;
use crate::window::Window;
use crate::writer::{NewPacket, Writer};
use reach::Reach;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use wire::Time;

/// Packets between two calls of `go_on`.
const PACKETS_PER_CALL: u64 = 1 << 14;

/// How comments of ours begin: an answer before this one, which it replaces.
const OURS: &[u8] = b"rexmit: ";

/// The comment on the whole file, by which a later answer knows that it may replace it.
const ABOUT: &str = "rexmit: a copy with findings as packet comments";

/// Whether [`annotate`] wrote this file and nobody rewrote it since.
pub fn is_annotated(path: &Path) -> io::Result<bool> {
    let mut head = Vec::new();
    File::open(path)?.take(28 + ABOUT.len() as u64).read_to_end(&mut head)?;
    // As our writer has it: a section header in our byte order, and the comment as its first option.
    let ours = head.starts_with(&[0x0a, 0x0d, 0x0d, 0x0a]) && head.get(24..26) == Some(&[1, 0]);
    Ok(ours && head.get(28..) == Some(ABOUT.as_bytes()))
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Annotated {
    pub packets: u64,
    pub comments: u64,
    /// The first damage met: that file ends there in the copy too.
    pub damage: Option<Damage>,
}

/// Copies all packets of `paths`, whatever they are, to a pcapng file `out`, with their bytes, times,
/// interfaces, directions and drop counts, and with `comments`: packet numbers, as [`crate::Reader`] gives
/// them, each with a text, in ascending order; comments of an earlier answer are left out. `answer` is part of the
/// comment on the whole file, which Wireshark shows as its properties. `out` is replaced as a whole at the end, so it
/// may be one of `paths`; if it is a link to a file, nothing is written. `go_on` is asked now and then; if it says
/// false, nothing is written.
pub fn annotate(
    paths: &[PathBuf],
    out: &Path,
    answer: &str,
    comments: impl IntoIterator<Item = (u64, String)>,
    mut go_on: impl FnMut(Progress) -> bool,
) -> Result<Annotated, Error> {
    let name = shown(out);
    let failed = |reason: io::Error| Error::Write { file: name.clone(), reason };
    let meter = Meter::default();
    let mut rotation = prepare(paths, &Reach::Anywhere, &meter)?;
    let total_bytes = rotation.files.iter().try_fold(0, |sum, f| f.source.len().map(|n| sum + n));
    let file = WholeFile::create(out).map_err(failed)?;
    let out = BufWriter::with_capacity(1 << 18, file);
    let about = if answer.is_empty() { ABOUT.to_owned() } else { format!("{ABOUT}\n\n{answer}") };
    let writer = Writer::pcapng_about(out, Some(&about)).map_err(failed)?;
    let mut copy = Copy {
        writer,
        numbers: HashMap::new(),
        dropped: Vec::new(),
        map: Vec::new(),
        comments: comments.into_iter().peekable(),
        done: Annotated::default(),
        options: Vec::new(),
        last: Time::ZERO,
    };
    for pending in rotation.files {
        let Ok(mut opened) = pending.open(&meter, &mut rotation.room) else { continue };
        opened.info.before = copy.done.packets;
        copy.map.clear();
        while copy.next(&mut opened).map_err(failed)? {
            if copy.done.packets.is_multiple_of(PACKETS_PER_CALL) {
                let done_bytes = meter.bytes();
                if !go_on(Progress { done_bytes, total_bytes, packets: copy.done.packets }) {
                    return Err(Error::Stopped { file: name });
                }
            }
        }
        copy.file_ends(&opened.info).map_err(failed)?;
        opened.window.leave(&mut rotation.room);
    }
    let file =
        copy.writer.finish().and_then(|b| b.into_inner().map_err(|e| e.into_error())).map_err(failed)?;
    file.commit().map_err(failed)?;
    Ok(copy.done)
}

struct Copy<W: Write, C: Iterator<Item = (u64, String)>> {
    writer: Writer<W>,
    /// The numbers of the interfaces that were described to the writer.
    numbers: HashMap<Described, u32>,
    /// What each of them lost, by its number.
    dropped: Vec<Option<u64>>,
    /// For each interface of the file that is read, its number there.
    map: Vec<u32>,
    comments: Peekable<C>,
    done: Annotated,
    options: Vec<u8>,
    last: Time,
}

/// What tells an interface from others: name, link type and snap length.
type Described = (Option<String>, LinkType, Option<u32>);

impl<W: Write, C: Iterator<Item = (u64, String)>> Copy<W, C> {
    /// Copies one packet; false at the end of the file, or of what is whole of it.
    fn next(&mut self, from: &mut Opened) -> io::Result<bool> {
        let start = self.done.packets;
        let found = match from.peeked.take() {
            Some(peeked) => peeked,
            None => from.framed.next(&mut from.window, &mut from.info),
        };
        let fault = match found {
            Ok(Some(record)) => {
                self.describe(&from.info)?;
                self.encode_options(&record, from);
                if self.packet(&record, &mut from.window)? {
                    return Ok(true);
                }
                crate::record::Fault::Short { needs: 1 }
            }
            Ok(None) => return Ok(false),
            Err(fault) => fault,
        };
        let compression = from.info.compression;
        let (byte, what) = explain(fault, &mut from.window, compression);
        let file = from.info.name.clone();
        let packet = start - from.info.before + 1;
        let decompressed = compression.is_some();
        self.done.damage.get_or_insert(Damage { file, byte, packet, what, decompressed });
        Ok(false)
    }

    /// Describes the interfaces that the file has told of since.
    fn describe(&mut self, file: &FileInfo) -> io::Result<()> {
        for i in &file.interfaces[self.map.len()..] {
            let described = (i.name.clone(), i.link, i.snap);
            let number = match self.numbers.get(&described) {
                Some(n) => *n,
                None => {
                    let n = self.writer.interface(i.name.as_deref(), i.link, i.snap.unwrap_or(0))?;
                    self.numbers.insert(described, n);
                    self.dropped.push(None);
                    n
                }
            };
            self.map.push(number);
        }
        Ok(())
    }

    /// The packet's own options, in our byte order, and the comments for it.
    fn encode_options(&mut self, record: &Record, from: &Opened) {
        let options = &mut self.options;
        options.clear();
        let mut put = |code: u16, value: &[u8]| {
            options.extend(code.to_le_bytes());
            options.extend((value.len() as u16).to_le_bytes());
            options.extend(value);
            options.resize(options.len().next_multiple_of(4), 0);
        };
        let (start, end) = record.options;
        let big = from.framed.big_endian();
        each_option(&from.window.available()[start..end], big, |code, value| {
            let mut value = value.to_vec();
            match code {
                1 if value.starts_with(OURS) => return,
                // Text and bytes: comment, hash, verdict
                1 | 3 | 7 => {}
                // Numbers: flags, drop count, packet identifier, queue
                2 | 4 | 5 | 6 if big => value.reverse(),
                2 | 4 | 5 | 6 => {}
                _ => return,
            }
            put(code, &value);
        });
        let number = self.done.packets + 1;
        while self.comments.next_if(|(n, _)| *n < number).is_some() {}
        while let Some((_, text)) = self.comments.next_if(|(n, _)| *n == number) {
            put(1, crate::writer::fitting(&text));
            self.done.comments += 1;
        }
    }

    /// False if the stream ends within the packet; what is missing is then filled up with zeros, since its
    /// length was written already.
    fn packet(&mut self, record: &Record, window: &mut Window) -> io::Result<bool> {
        let head = NewPacket {
            interface: self.map.get(record.interface as usize).copied().unwrap_or(0),
            time: record.time,
            wire_len: record.wire_len,
            ..NewPacket::default()
        };
        window.consume(record.head);
        let mut left = record.captured as usize;
        self.writer.packet_in_parts(&head, record.captured, &self.options, |out| {
            while left > 0 {
                let have = window.want(1).min(left);
                if have == 0 {
                    break;
                }
                out.write_all(&window.available()[..have])?;
                window.consume(have);
                left -= have;
            }
            io::copy(&mut io::repeat(0).take(left as u64), out)?;
            Ok(())
        })?;
        self.done.packets += 1;
        self.last = record.time;
        let behind = record.total - record.head as u64 - u64::from(record.captured);
        Ok(left == 0 && window.skip(behind) == 0)
    }

    fn file_ends(&mut self, file: &FileInfo) -> io::Result<()> {
        self.describe(file)?;
        for (i, n) in file.interfaces.iter().zip(&self.map) {
            if let Some(dropped) = i.dropped {
                let known = &mut self.dropped[*n as usize];
                let sum = known.unwrap_or(0).saturating_add(dropped);
                *known = Some(sum);
                self.writer.statistics(*n, self.last, sum)?;
            }
        }
        Ok(())
    }
}
