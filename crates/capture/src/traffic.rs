//! What a capture holds, frame by frame, whatever the protocol: shares, and counts in bins of time.

use crate::decode::{Decoder, Found};
use crate::error::{Error, counted, grouped};
use crate::info::{FileInfo, Unread, dropped};
use crate::link::LinkType;
use crate::reader::Progress;
use crate::record::{Fault, Record, explain};
use crate::rotation::prepare;
use crate::sets::set;
use crate::source::{Meter, Patience};
use reach::Reach;
use std::collections::VecDeque;
use std::path::PathBuf;
use wire::{Span, Time};

/// More bins than this are refused: 64 MiB of counts.
pub const MOST_BINS: usize = 1 << 22;
/// Frames between two calls of `go_on`.
const FRAMES_PER_CALL: u64 = 1 << 14;

/// Packets, and their bytes on the wire as the capture gives them (without the frame check sequence, mostly).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub packets: u64,
    pub bytes: u64,
}

impl Tally {
    fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }
}

set! {
    /// What a frame carries, by its outermost headers: a datagram in a tunnel counts as the tunnel's. VLAN tags, MPLS
    /// labels and PPP are looked through.
    Kind {
        Ipv4Tcp = "ipv4.tcp",
        Ipv4Udp = "ipv4.udp",
        Ipv4Icmp = "ipv4.icmp",
        Ipv4Other = "ipv4.other",
        Ipv6Tcp = "ipv6.tcp",
        Ipv6Udp = "ipv6.udp",
        Ipv6Icmp = "ipv6.icmp",
        Ipv6Other = "ipv6.other",
        /// ARP and RARP.
        Arp = "arp",
        /// IEEE 802.2 logical link control that carries neither IP nor ARP: spanning tree, NetBIOS, IS-IS, ...
        Llc = "llc",
        /// Other types of frame.
        Other = "other",
        /// Not known: cut off or damaged before it was clear, or of a link type that is not read.
        Unread = "unread",
    }
}

impl Kind {
    /// An IP datagram by its version and the protocol of its payload; each fragment says it.
    fn of_ip(v4: bool, protocol: u8) -> Kind {
        match (v4, protocol) {
            (true, 6) => Kind::Ipv4Tcp,
            (true, 17) => Kind::Ipv4Udp,
            (true, 1) => Kind::Ipv4Icmp,
            (true, _) => Kind::Ipv4Other,
            (false, 6) => Kind::Ipv6Tcp,
            (false, 17) => Kind::Ipv6Udp,
            (false, 58) => Kind::Ipv6Icmp,
            (false, _) => Kind::Ipv6Other,
        }
    }

    fn of(found: Found, outer: Option<(bool, u8)>) -> Kind {
        match (outer, found) {
            (Some((v4, protocol)), _) => Kind::of_ip(v4, protocol),
            (None, Found::Arp) => Kind::Arp,
            (None, Found::Llc) => Kind::Llc,
            (None, Found::NonIp | Found::Encrypted) => Kind::Other,
            (None, _) => Kind::Unread,
        }
    }
}

/// What was counted.
#[derive(Clone, Debug, Default)]
pub struct Traffic {
    pub files: Vec<FileInfo>,
    pub total: Tally,
    /// In the order of [`Kind::ALL`].
    pub kinds: [Tally; Kind::ALL.len()],
    /// When the first bin begins: at the earliest frame.
    pub origin: Option<Time>,
    pub last: Option<Time>,
    /// The last one may be cut short by the capture's end.
    pub bins: Vec<Tally>,
    pub unsupported: Unread,
    pub warnings: Vec<String>,
    /// It was stopped before the end.
    pub interrupted: bool,
}

impl Traffic {
    pub fn of(&self, kind: Kind) -> Tally {
        self.kinds[kind as usize]
    }
}

/// Counts all frames of the files of one capture, in bins of `width`. `go_on` is asked now and then, `patience` where a
/// signal comes while there is nothing to read; once one says no, what was counted is the answer.
pub fn traffic(
    paths: &[PathBuf],
    width: Span,
    patience: Option<Patience>,
    mut go_on: impl FnMut(Progress) -> bool,
) -> Result<Traffic, Error> {
    let meter = Meter::patient(patience);
    let mut rotation = prepare(paths, &Reach::Anywhere, &meter)?;
    let total_bytes = rotation.files.iter().try_fold(0, |sum, f| f.source.len().map(|n| sum + n));
    let mut count = Count { width: width.0.max(1), ..Count::default() };
    count.done.warnings = rotation.warnings;
    for pending in rotation.files {
        let mut opened = match pending.open(&meter, &mut rotation.room) {
            Ok(opened) => opened,
            Err(e) => {
                count.done.warnings.push(e.to_string());
                continue;
            }
        };
        let before = count.done.total.packets;
        let fault = loop {
            let found = match opened.peeked.take() {
                Some(peeked) => peeked,
                None => opened.framed.next(&mut opened.window, &mut opened.info),
            };
            let record = match found {
                Ok(Some(record)) => record,
                Ok(None) => break None,
                Err(fault) => break Some(fault),
            };
            count.frame(&record, record.data(&opened.window))?;
            let missing = opened.window.skip(record.total);
            if missing > 0 {
                break Some(Fault::Short { needs: missing });
            }
            if count.done.total.packets.is_multiple_of(FRAMES_PER_CALL) {
                let done_bytes = meter.bytes();
                let progress = Progress { done_bytes, total_bytes, packets: count.done.total.packets };
                if !go_on(progress) {
                    count.done.interrupted = true;
                    break None;
                }
            }
        };
        opened.info.packets = count.done.total.packets - before;
        count.done.interrupted |= meter.stopped();
        count.file_ends(opened.info, fault.filter(|_| !meter.stopped()), &mut opened.window);
        opened.window.leave(&mut rotation.room);
        if count.done.interrupted {
            break;
        }
    }
    Ok(count.finish())
}

#[derive(Default)]
struct Count {
    done: Traffic,
    decoder: Decoder,
    /// What becomes of [`Traffic::bins`]: a capture may go back in time with each frame.
    bins: VecDeque<Tally>,
    /// Of a bin, ns.
    width: i64,
}

impl Count {
    fn frame(&mut self, record: &Record, data: &[u8]) -> Result<(), Error> {
        let done = &mut self.done;
        done.total.add(record.wire_len);
        let (found, outer) = self.decoder.kind(record, data);
        if found == Found::Unsupported {
            done.unsupported.note(LinkType(record.link));
        }
        done.kinds[Kind::of(found, outer) as usize].add(record.wire_len);
        done.last = Some(done.last.map_or(record.time, |t| t.max(record.time)));
        let bin = self.bin(record.time)?;
        self.bins[bin].add(record.wire_len);
        Ok(())
    }

    /// The bin of a time, made if it is not there yet. A frame from before the first moves the origin.
    fn bin(&mut self, time: Time) -> Result<usize, Error> {
        let bins = &mut self.bins;
        let origin = *self.done.origin.get_or_insert(time);
        let place = i128::from(time.0) - i128::from(origin.0);
        let bin = place.div_euclid(i128::from(self.width));
        let needed = if bin < 0 { bins.len() as i128 - bin } else { (bin + 1).max(bins.len() as i128) };
        if needed > MOST_BINS as i128 {
            let from = if bin < 0 { time } else { origin };
            let to = self.done.last.unwrap_or(time);
            let seconds = (i128::from(to.0) - i128::from(from.0)) as f64 / 1e9;
            return Err(Error::TooManyBins {
                seconds,
                width: self.width as f64 / 1e9,
                most: MOST_BINS as u64,
            });
        }
        if bin < 0 {
            let more = -bin as usize;
            (0..more).for_each(|_| bins.push_front(Tally::default()));
            // A damaged time may lie less than a bin above the first time that there is.
            self.done.origin = Some(Time(origin.0.saturating_sub((more as i64).saturating_mul(self.width))));
            return Ok(0);
        }
        bins.resize(needed as usize, Tally::default());
        Ok(bin as usize)
    }

    fn file_ends(&mut self, mut info: FileInfo, fault: Option<Fault>, window: &mut crate::window::Window) {
        if let Some(fault) = fault {
            let compression = info.compression;
            let (byte, what) = explain(fault, window, compression);
            let damage = crate::error::Damage {
                file: info.name.clone(),
                byte,
                packet: info.packets + 1,
                what,
                decompressed: compression.is_some(),
            };
            self.done.warnings.push(damage.to_string());
            info.damage = Some(damage);
        }
        self.done.files.push(info);
    }

    fn finish(mut self) -> Traffic {
        self.done.bins = self.bins.into();
        for u in self.done.unsupported.iter() {
            let n = counted(u.packets, "packet");
            self.done.warnings.push(format!("{n} of link type {} counted as unread: it is not read", u.link));
        }
        if let Some(n @ 1..) = dropped(&self.done.files) {
            self.done.warnings.push(format!(
                "the capture lost {} packets, by its own count: they are in no bin",
                grouped(n)
            ));
        }
        self.done
    }
}
