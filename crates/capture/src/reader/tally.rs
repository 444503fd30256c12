//! What each frame is: decoded, counted, and given on if it is a segment that is asked for.

use crate::beside::Beside;
use crate::decode::{Decoder, Found, SHORTEST_SEGMENT, plain};
use crate::info::{ENCRYPTED, Info, LONG_STEP, Tunnel};
use crate::link::LinkType;
use crate::options::Options;
use crate::record::Record;
use wire::{Flags, Notes, Packet, Time};

/// Everything that is updated by each frame.
pub(super) struct Tally {
    pub(super) info: Info,
    pub(super) decoder: Decoder,
    options: Options,
    picks: bool,
    /// Absolute times of `from` and `to`, from the first packet on.
    bounds: Option<(Time, Time)>,
    bounded: bool,
    pub(super) previous: Time,
    latest: Time,
    earliest: Time,
    /// SYNs from before `from`, not asked for yet.
    pub(super) earlier: Vec<Packet>,
    pub(super) beside: Beside,
}

impl Tally {
    pub(super) fn new(options: &Options, warnings: Vec<String>) -> Tally {
        Tally {
            info: Info { warnings, ..Info::default() },
            decoder: Decoder { verify: options.verify_checksums, ..Decoder::default() },
            options: options.clone(),
            picks: options.picks(),
            bounds: None,
            bounded: options.from.is_some() || options.to.is_some(),
            previous: Time(i64::MIN),
            latest: Time(i64::MIN),
            earliest: Time(i64::MAX),
            earlier: Vec::new(),
            beside: Beside::default(),
        }
    }

    #[inline(always)]
    pub(super) fn frame(&mut self, record: &Record, data: &[u8], byte: u64, out: &mut Vec<Packet>) {
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
                if self.decoder.verify || tcp_len == SHORTEST_SEGMENT {
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
        self.decoder.more.clear();
    }

    pub(super) fn segment(&mut self, packet: Packet, out: &mut Vec<Packet>) {
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
            Found::Udp | Found::Quic => {
                info.others.udp += 1;
                info.quic += u64::from(found == Found::Quic);
                self.beside.note(&packet);
            }
            Found::Icmp => info.others.icmp += 1,
            Found::OtherIp => info.others.other_ip += 1,
            Found::NonIp | Found::Llc => info.others.non_ip += 1,
            Found::Encrypted => info.others.encrypted += 1,
            Found::Fragment => info.others.fragments += 1,
            Found::Truncated => info.others.truncated += 1,
            Found::Malformed(wrong) => {
                info.malformed.count += 1;
                if info.malformed.first.is_none() {
                    let file = info.files.last().map_or(String::new(), |f| f.name.clone());
                    info.malformed.first = Some((file, info.packets, byte, wrong.to_string()));
                }
            }
            Found::Unsupported => info.unsupported.note(LinkType(record.link)),
        }
    }

    pub(super) fn file_starts(&mut self) {
        if let Some(file) = self.info.files.last()
            && let (Some(first), Some(last)) = (file.first, self.info.last)
            && first < last
        {
            self.info.warnings.push(file.overlap());
        }
        (self.latest, self.earliest) = (Time(i64::MIN), Time(i64::MAX));
    }

    /// Brings the times of the file that is read into its description and the whole's.
    pub(super) fn settle(&mut self) {
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
    pub(super) fn warn(&mut self) {
        use crate::error::{counted, grouped};
        self.settle();
        let info = &mut self.info;
        let mut say = Vec::new();
        for u in info.unsupported.iter() {
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
        if info.others.encrypted > 0 {
            let n = counted(info.others.encrypted, "frame");
            say.push(format!("{n} left out, {ENCRYPTED}"));
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
