//! Reading: the files of a capture in turn, their frames decoded, their packets given in batches.

mod tally;

use crate::beside::Datagrams;
use crate::error::{Damage, Error, What};
use crate::info::{FileInfo, Info};
use crate::options::Options;
use crate::record::{Fault, Framing, ended, explain};
use crate::rotation::{Framed, Opened, Pending, prepare};
use crate::source::{Meter, Patience};
use crate::window::Room;
use std::path::PathBuf;
use tally::Tally;
use wire::{Packet, Time};

/// Frames looked at in one call at most, so that the caller gets to speak even where nothing is selected.
const FRAMES_PER_CALL: u64 = 1 << 16;

/// How far reading is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes read of the files as they lie there, compressed or not.
    pub done_bytes: u64,
    /// Of all files; `None` if one has no length (standard input, a pipe).
    pub total_bytes: Option<u64>,
    /// Packets of any protocol.
    pub packets: u64,
}

/// Gives the TCP packets of one or several files.
pub struct Reader {
    options: Options,
    todo: std::collections::VecDeque<Pending>,
    current: Option<Opened>,
    room: Room,
    meter: Meter,
    total_bytes: Option<u64>,
    tally: Tally,
    finished: bool,
}

/// Why a file's pump stopped.
enum Stop {
    Pause,
    End,
    Fault(Fault),
    /// The stream ends within a packet longer than the window, whose head was given already.
    Inside(Fault),
}

/// Opens the files of one capture: pcap, pcapng or snoop, plain or in gzip, zstd or xz; `-` is standard input.
/// Several are taken as one rotation, in the order of their first packets.
pub fn open(paths: &[PathBuf], options: &Options) -> Result<Reader, Error> {
    open_with(paths, options, None)
}

/// The same; where a signal interrupts the wait for more, `patience` is asked whether to go on. What was read until
/// it says no is the capture.
pub fn open_with(paths: &[PathBuf], options: &Options, patience: Option<Patience>) -> Result<Reader, Error> {
    let meter = Meter::patient(patience);
    let rotation = prepare(paths, &options.reach, &meter)?;
    let total_bytes = rotation.files.iter().try_fold(0, |sum, f| f.source.len().map(|n| sum + n));
    let mut reader = Reader {
        options: options.clone(),
        todo: rotation.files.into(),
        current: None,
        room: rotation.room,
        meter,
        total_bytes,
        tally: Tally::new(options, rotation.warnings),
        finished: false,
    };
    reader.next_file();
    reader.refresh();
    Ok(reader)
}

impl Reader {
    /// Fills `out` (cleared first) with the next TCP packets, `max` at most. False once nothing is left: then
    /// `out` is empty. True with nothing in `out` means that much was read and none of it selected.
    pub fn read_batch(&mut self, out: &mut Vec<Packet>, max: usize) -> bool {
        out.clear();
        let max = max.max(1);
        out.reserve(max.min(1 << 16));
        let more = self.fill(out, max);
        self.refresh();
        more
    }

    fn fill(&mut self, out: &mut Vec<Packet>, max: usize) -> bool {
        let stop_at = self.tally.info.packets + FRAMES_PER_CALL;
        loop {
            self.give_more(out, max);
            self.give_late(out, max);
            if out.len() >= max || self.tally.info.packets >= stop_at {
                return true;
            }
            let Some(current) = &mut self.current else {
                self.finish();
                self.give_late(out, max);
                return !out.is_empty();
            };
            match current.pump(&mut self.tally, out, max, stop_at) {
                Stop::Pause => {}
                Stop::End => self.end_file(None, 1),
                Stop::Fault(fault) => self.end_file(Some(fault), 1),
                Stop::Inside(fault) => self.end_file(Some(fault), 0),
            }
        }
    }

    /// Segments of the last frame behind its first.
    fn give_more(&mut self, out: &mut Vec<Packet>, max: usize) {
        while out.len() < max
            && let Some(p) = self.tally.decoder.more.pop_front()
        {
            self.tally.segment(p, out);
        }
    }

    /// Segments whose last fragments never came.
    fn give_late(&mut self, out: &mut Vec<Packet>, max: usize) {
        let t = &mut self.tally;
        if t.previous != Time(i64::MIN) {
            t.decoder.fragments.expire(t.previous);
        }
        while out.len() < max
            && let Some(p) = t.decoder.fragments.late.pop_front()
        {
            // One of its frames, counted as a fragment before, is the segment.
            t.info.others.fragments = t.info.others.fragments.saturating_sub(1);
            t.segment(p, out);
        }
    }

    fn next_file(&mut self) {
        while !self.stopped()
            && let Some(pending) = self.todo.pop_front()
        {
            match pending.open(&self.meter, &mut self.room) {
                Ok(mut opened) => {
                    opened.info.before = self.tally.info.packets;
                    self.tally.info.files.push(opened.info.clone());
                    self.current = Some(opened);
                    self.tally.file_starts();
                    return;
                }
                Err(e) => self.tally.info.warnings.push(e.to_string()),
            }
        }
    }

    /// Damage is in the packet that is `next` behind the last one given.
    fn end_file(&mut self, fault: Option<Fault>, next: u64) {
        let Some(mut opened) = self.current.take() else { return };
        let compression = opened.info.compression;
        let start = opened.window.offset();
        let found = match fault {
            _ if self.meter.stopped() => None,
            Some(fault) => Some(explain(fault, &mut opened.window, compression)),
            None => ended(&mut opened.window, compression).map(|what| (start, what)),
        };
        let info = &mut self.tally.info;
        opened.info.packets = info.packets - opened.info.before;
        opened.info.damage = found.map(|(byte, what): (u64, What)| Damage {
            file: opened.info.name.clone(),
            byte,
            packet: opened.info.packets + next,
            what,
            decompressed: compression.is_some(),
        });
        if let Some(damage) = &opened.info.damage {
            info.warnings.push(damage.to_string());
            info.damage.get_or_insert_with(|| damage.clone());
        }
        if opened.timeless() > 0 {
            let n = crate::error::counted(opened.timeless(), "simple packet");
            let name = &opened.info.name;
            info.warnings.push(format!("{name}: {n} without a time: each got that of the packet before it"));
        }
        let place = info.files.len() - 1;
        info.files[place] = opened.info;
        opened.window.leave(&mut self.room);
        self.tally.settle();
        self.next_file();
    }

    fn finish(&mut self) {
        if !std::mem::replace(&mut self.finished, true) {
            self.tally.decoder.fragments.finish();
            self.tally.warn();
        }
    }

    /// SYNs that passed before `from`, since this was last asked: what they negotiate holds from there on.
    pub fn take_earlier(&mut self) -> Vec<Packet> {
        std::mem::take(&mut self.tally.earlier)
    }

    /// UDP that was read since this was last asked.
    pub fn take_datagrams(&mut self) -> Vec<Datagrams> {
        self.tally.beside.take()
    }

    /// True if patience ended before the capture did.
    pub fn stopped(&self) -> bool {
        self.meter.stopped()
    }

    /// What was read so far; complete once [`Reader::read_batch`] has returned false.
    pub fn info(&self) -> &Info {
        &self.tally.info
    }

    fn refresh(&mut self) {
        if let Some(current) = &self.current
            && let Some(file) = self.tally.info.files.last_mut()
        {
            // Drop counts follow at the file's end: there may be very many interfaces.
            file.sections = current.info.sections;
            file.interfaces.extend_from_slice(&current.info.interfaces[file.interfaces.len()..]);
            file.packets = self.tally.info.packets - file.before;
        }
        self.tally.settle();
    }

    pub fn options(&self) -> &Options {
        &self.options
    }

    pub fn progress(&self) -> Progress {
        Progress {
            done_bytes: self.meter.bytes(),
            total_bytes: self.total_bytes,
            packets: self.tally.info.packets,
        }
    }
}

impl Opened {
    fn pump(&mut self, tally: &mut Tally, out: &mut Vec<Packet>, max: usize, stop_at: u64) -> Stop {
        let Opened { window, info, framed, peeked } = self;
        if let Some(peeked) = peeked.take() {
            match peeked {
                Ok(Some(record)) => {
                    tally.frame(&record, record.data(window), window.offset(), out);
                    if let missing @ 1.. = window.skip(record.total) {
                        return Stop::Inside(Fault::Short { needs: missing });
                    }
                }
                Ok(None) => return Stop::End,
                Err(fault) => return Stop::Fault(fault),
            }
        }
        match framed {
            Framed::Pcap(f) => run(f, window, info, tally, out, max, stop_at),
            Framed::Pcapng(f) => run(f, window, info, tally, out, max, stop_at),
            Framed::Snoop(f) => run(f, window, info, tally, out, max, stop_at),
        }
    }
}

/// The loop that everything waits for.
#[inline(never)]
fn run<F: Framing>(
    framing: &mut F,
    window: &mut crate::window::Window,
    file: &mut FileInfo,
    tally: &mut Tally,
    out: &mut Vec<Packet>,
    max: usize,
    stop_at: u64,
) -> Stop {
    while out.len() < max && tally.info.packets < stop_at && tally.decoder.more.is_empty() {
        let record = match framing.next(window, file) {
            Ok(Some(record)) => record,
            Ok(None) => return Stop::End,
            Err(fault) => return Stop::Fault(fault),
        };
        tally.frame(&record, record.data(window), window.offset(), out);
        let missing = window.skip(record.total);
        if missing > 0 {
            return Stop::Inside(Fault::Short { needs: missing });
        }
    }
    Stop::Pause
}
