//! Reading: the files of a capture in turn, their frames decoded, their packets given in batches.

use crate::decode::{Decoder, Found, plain};
use crate::error::{Damage, Error, What};
use crate::info::{FileInfo, Info, LONG_STEP, Tunnel, Unsupported};
use crate::link::LinkType;
use crate::options::Options;
use crate::record::{Fault, Framing, Record, ended, explain};
use crate::rotation::{Framed, Opened, Pending, prepare};
use crate::source::{Meter, Patience};
use crate::window::Room;
use std::path::PathBuf;
use wire::{Flags, Notes, Packet, Time};

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

/// Everything that is updated by each frame.
struct Tally {
    info: Info,
    decoder: Decoder,
    options: Options,
    picks: bool,
    /// Absolute times of `from` and `to`, from the first packet on.
    bounds: Option<(Time, Time)>,
    bounded: bool,
    previous: Time,
    latest: Time,
    earliest: Time,
    /// SYNs from before `from`, not asked for yet.
    earlier: Vec<Packet>,
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
    let rotation = prepare(paths, &meter)?;
    let total_bytes = rotation.files.iter().try_fold(0, |sum, f| f.source.len().map(|n| sum + n));
    let bounded = options.from.is_some() || options.to.is_some();
    let decoder = Decoder { verify: options.verify_checksums, ..Decoder::default() };
    let tally = Tally {
        info: Info { warnings: rotation.warnings, ..Info::default() },
        decoder,
        options: options.clone(),
        picks: options.picks(),
        bounds: None,
        bounded,
        previous: Time(i64::MIN),
        latest: Time(i64::MIN),
        earliest: Time(i64::MAX),
        earlier: Vec::new(),
    };
    let mut reader = Reader {
        options: options.clone(),
        todo: rotation.files.into(),
        current: None,
        room: rotation.room,
        meter,
        total_bytes,
        tally,
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
    while out.len() < max && tally.info.packets < stop_at {
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

impl Tally {
    #[inline(always)]
    fn frame(&mut self, record: &Record, data: &[u8], byte: u64, out: &mut Vec<Packet>) {
        let info = &mut self.info;
        info.packets += 1;
        info.bytes += u64::from(record.wire_len);
        info.captured_bytes += u64::from(record.captured);
        let time = record.time;
        // Backwards is a large number, too.
        if (time - self.previous).0 as u64 > LONG_STEP {
            info.note_step(self.previous, time);
        }
        self.previous = time;
        self.latest = self.latest.max(time);
        self.earliest = self.earliest.min(time);
        if self.bounded && self.out_of_bounds(time) {
            self.keep_opening(*record, data);
            return;
        }
        if record.link == LinkType::ETHERNET.0 {
            // Filled where it stays: a packet is moved at most once from here to the analysis.
            out.push(Packet::default());
            if let Some(packet) = out.last_mut()
                && let Some(tcp_len) = plain(record, data, self.info.packets, packet)
            {
                if self.decoder.verify {
                    let segment = &data[34..data.len().min(34 + tcp_len as usize)];
                    self.decoder.check(packet, segment, tcp_len);
                }
                self.count_last(out);
                return;
            }
            out.pop();
        }
        self.slow(*record, data, byte, out);
    }

    #[cold]
    fn out_of_bounds(&mut self, time: Time) -> bool {
        let options = &self.options;
        let (from, to) = *self.bounds.get_or_insert_with(|| {
            let from = options.from.map_or(Time(i64::MIN), |s| time + s);
            (from, options.to.map_or(Time(i64::MAX), |s| time + s))
        });
        let out = time < from || time > to;
        self.info.outside += u64::from(out);
        out
    }

    /// What a connection negotiated before the part that is asked for holds in it, too.
    #[cold]
    fn keep_opening(&mut self, record: Record, data: &[u8]) {
        if self.bounds.is_none_or(|(from, _)| record.time >= from) {
            return;
        }
        let mut packet = Packet::default();
        let ethernet = record.link == LinkType::ETHERNET.0;
        let found = ethernet && plain(&record, data, self.info.packets, &mut packet).is_some()
            || matches!(self.decoder.any(&record, data, self.info.packets, &mut packet).0, Found::Tcp);
        if found && packet.seg.flags.has(Flags::SYN) && self.options.picked(&packet) {
            self.earlier.push(packet);
        }
    }

    fn segment(&mut self, packet: Packet, out: &mut Vec<Packet>) {
        out.push(packet);
        self.count_last(out);
    }

    /// Counts the segment at the end of `out`, and takes it out again if it is not selected.
    #[inline(always)]
    fn count_last(&mut self, out: &mut Vec<Packet>) {
        let Some(packet) = out.last() else { return };
        let info = &mut self.info;
        info.tcp_packets += 1;
        info.options_cut += u64::from(packet.seg.options_cut);
        let odd = Notes::ZERO_IP_LENGTH.0 | Notes::JUMBO.0 | Notes::FRAGMENTED.0 | Notes::BAD_CHECKSUM.0;
        if packet.notes.has(Notes(odd)) {
            info.zero_ip_length += u64::from(packet.notes.has(Notes::ZERO_IP_LENGTH));
            info.jumbo += u64::from(packet.notes.has(Notes::JUMBO));
            info.reassembled += u64::from(packet.notes.has(Notes::FRAGMENTED));
            info.checksums_bad += u64::from(packet.notes.has(Notes::BAD_CHECKSUM));
        }
        match self.picks && !self.options.picked(packet) {
            true => drop(out.pop()),
            false => info.selected += 1,
        }
    }

    /// Everything but plain TCP in IPv4 in Ethernet.
    #[cold]
    fn slow(&mut self, record: Record, data: &[u8], byte: u64, out: &mut Vec<Packet>) {
        let mut packet = Packet::default();
        let (found, tunnels) = self.decoder.any(&record, data, self.info.packets, &mut packet);
        let info = &mut self.info;
        match found {
            Found::Tcp => {
                for t in Tunnel::ALL {
                    info.tunnels[t as usize] += u64::from(tunnels >> t as u8 & 1);
                }
                self.segment(packet, out);
            }
            Found::Arp => info.others.arp += 1,
            Found::Udp => info.others.udp += 1,
            Found::Icmp => info.others.icmp += 1,
            Found::OtherIp => info.others.other_ip += 1,
            Found::NonIp | Found::Llc => info.others.non_ip += 1,
            Found::Fragment => info.others.fragments += 1,
            Found::Truncated => info.others.truncated += 1,
            Found::Malformed(wrong) => {
                info.malformed.count += 1;
                if info.malformed.first.is_none() {
                    let file = info.files.last().map_or(String::new(), |f| f.name.clone());
                    info.malformed.first = Some((file, info.packets, byte, wrong.to_string()));
                }
            }
            Found::Unsupported => {
                let link = LinkType(record.link);
                match info.unsupported.iter_mut().find(|u| u.link == link) {
                    Some(u) => u.packets += 1,
                    None => info.unsupported.push(Unsupported { link, packets: 1 }),
                }
            }
        }
    }

    fn file_starts(&mut self) {
        if let Some(file) = self.info.files.last()
            && let (Some(first), Some(last)) = (file.first, self.info.last)
            && first < last
        {
            let name = &file.name;
            let text =
                format!("{name}: starts before the file in front of it ends: are they of one rotation?");
            self.info.warnings.push(text);
        }
        (self.latest, self.earliest) = (Time(i64::MIN), Time(i64::MAX));
    }

    /// Brings the times of the file that is read into its description and the whole's.
    fn settle(&mut self) {
        if self.latest < self.earliest {
            return;
        }
        let info = &mut self.info;
        if let Some(file) = info.files.last_mut() {
            (file.first, file.last) = (Some(self.earliest), Some(self.latest));
        }
        info.first = Some(info.first.map_or(self.earliest, |t| t.min(self.earliest)));
        info.last = Some(info.last.map_or(self.latest, |t| t.max(self.latest)));
        info.checksums_verified = self.decoder.verify.then_some(self.decoder.verified);
    }

    /// One sentence for each thing that limits what the packets can tell.
    fn warn(&mut self) {
        use crate::error::{counted, grouped};
        self.settle();
        let info = &mut self.info;
        let mut say = Vec::new();
        for u in &info.unsupported {
            let n = counted(u.packets, "packet");
            say.push(format!("{n} of link type {} left out: it is not read", u.link));
        }
        if let Some((file, packet, byte, why)) = &info.malformed.first {
            let (n, at) = (counted(info.malformed.count, "packet"), grouped(*packet));
            say.push(format!(
                "{file}: {n} left out as malformed, first packet {at} (byte {}): {why}",
                grouped(*byte)
            ));
        }
        if info.others.truncated > 0 {
            let n = counted(info.others.truncated, "packet");
            say.push(format!("{n} left out, cut by the snap length before the end of the TCP header: capture with -s 128 or more"));
        }
        if info.options_cut > 0 {
            let n = counted(info.options_cut, "segment");
            say.push(format!("{n} with TCP options cut off by the snap length (SACK and timestamps may be missing): capture with -s 128 or more"));
        }
        match info.checksums_verified {
            Some(all @ 1..) if 2 * info.checksums_bad >= all => say.push(format!(
                "{} of the {} whose TCP checksum could be verified failed: too many for damage, so they were left to a \
                 network card, or the packets were rewritten since",
                grouped(info.checksums_bad),
                counted(all, "segment")
            )),
            Some(all @ 1..) if info.checksums_bad > 0 => say.push(format!(
                "{} of the {} whose TCP checksum could be verified failed: the host that they reach drops them",
                grouped(info.checksums_bad),
                counted(all, "segment")
            )),
            Some(0) if info.tcp_packets > 0 => say.push(
                "no TCP checksum could be verified: all segments are cut by the snap length, or their checksums were \
                 left to the network card"
                    .into(),
            ),
            _ => {}
        }
        if info.clock_jumps > 0 {
            say.push(format!(
                "the capture's clock jumps by more than a year, {} (first at packet {}): durations and waits across \
                 that tell nothing",
                if info.clock_jumps == 1 { "once".into() } else { format!("{} times", grouped(info.clock_jumps)) },
                grouped(info.first_jump)
            ));
        }
        if let Some(n @ 1..) = info.dropped() {
            say.push(format!("the capture lost {}, by its own count", counted(n, "packet")));
        }
        info.warnings.extend(say);
    }
}
