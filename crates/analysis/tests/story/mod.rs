//! A transfer as a timeline: what passed the vantage point and when, and the rows that the analysis makes of it.
//!
//! One host sends (`data`, `fin`), the other acknowledges (`ack`, `sack`) or says something of its own
//! (`request`, `reply_fin`). Numbers are relative: the SYN is 0, the first byte 1. What is set (`at`, `id`,
//! `ttl`, `window`, …) holds until it is set again.
#![allow(dead_code)] // each test file uses its own part

pub mod random;
pub mod sender;

use analysis::rows::{FlowRow, IdleCause, Vantage};
use analysis::{Analyzer, Config, Rows, Totals, Wanted};
use wire::{Endpoint, Flags, Host, Notes, Packet, Segment, Seq, Time, Timestamps, Tuple};

const REPLIES_FROM: u32 = 900_000;
const STAMPS_FROM: u32 = 7_000;

pub const MSS: u32 = 1000;

/// A connection from before the capture: neither SYN was seen.
pub fn mid_stream() -> Story {
    Story::from(Vantage::Unknown)
}

/// A handshake of 20 ms, seen at `at`, that ends at 20 ms.
pub fn opened(at: Vantage) -> Story {
    Story::from(at).handshake(20)
}

/// The SYN is lost twice, and the connection opens at 3.02 s; then twenty segments, one a round trip of 20 ms.
pub fn opened_by_the_third_syn() -> Story {
    let t = Story::from(Vantage::Sender).at(0).syn().at(1_000).syn().at(3_000).syn();
    let mut t = t.at(3_020).syn_ack().ack_of_syn();
    for k in 0..20 {
        t = t.at(3_020 + 20 * u64::from(k)).data(1 + k * MSS, MSS);
        t = t.at(3_040 + 20 * u64::from(k)).ack(1 + (k + 1) * MSS);
    }
    t
}

/// Five SYNs in 15 s, and no answer.
pub fn never_answered() -> Told {
    let t = Story::from(Vantage::Unknown).at(0).syn().at(1_000).syn().at(3_000).syn().at(7_000).syn();
    let all = t.at(15_000).syn().ends_with_all();
    Told { flow: all.flows[0].clone(), rows: all.rows }
}

/// Fifty pieces of 100 bytes, each sent at once when the delayed ACK of the one before comes, after 210 ms (RFC 896: at most
/// one small segment unacknowledged).
pub fn small_pieces_behind_delayed_acks() -> Story {
    let mut t = opened(Vantage::Sender);
    for k in 0..50u32 {
        let sent = 30 + u64::from(k) * 210;
        t = t.at_us(sent * 1_000 + 20).data(1 + k * 100, 100).at(sent + 210).ack(1 + (k + 1) * 100);
    }
    t
}

/// Ten segments and two repairs of the first are lost; the third repair, at 2.2 s, comes through.
pub fn repairs_lost_in_an_outage() -> Story {
    let mut t = opened(Vantage::Sender).sack_permitted();
    for k in 0..20u32 {
        t = t.at(u64::from(30 + 3 * k)).data(1 + k * MSS, MSS);
    }
    for k in 0..10 {
        t = t.at(u64::from(90 + 3 * k)).ack(1 + (k + 1) * MSS);
    }
    t = t.at(400).data(1 + 10 * MSS, MSS).at(1_000).data(1 + 10 * MSS, MSS).at(2_200).data(1 + 10 * MSS, MSS);
    t = t.at(2_220).ack(1 + 11 * MSS);
    for k in 11..20 {
        t = t.at(u64::from(2_210 + k)).data(1 + k * MSS, MSS);
    }
    t.at(2_260).ack(1 + 20 * MSS)
}

/// Idle gaps, each with its cause and its length in milliseconds.
pub fn causes(rows: &Rows) -> Vec<(IdleCause, i64)> {
    rows.idle.iter().map(|i| (i.cause, (i.end - i.start).0 / 1_000_000)).collect()
}

/// What a host puts into its packets besides.
#[derive(Clone, Copy)]
struct Said {
    isn: u32,
    next: u32,
    id: u16,
    ttl: u8,
    window: u16,
}

#[derive(Clone)]
pub struct Story {
    packets: Vec<Packet>,
    vantage: Vantage,
    time: Time,
    sender: Said,
    receiver: Said,
    sack_permitted: bool,
    stamped: bool,
    window_scale: Option<u8>,
}

/// What the analysis made of it; `flow`: the sender's.
pub struct Told {
    pub flow: FlowRow,
    pub rows: Rows,
}

pub struct All {
    pub flows: Vec<FlowRow>,
    pub totals: Totals,
    pub rows: Rows,
}

fn tuple() -> Tuple {
    Tuple {
        src: Endpoint { host: Host::v4([10, 0, 0, 1]), port: 40_000 },
        dst: Endpoint { host: Host::v4([10, 0, 0, 2]), port: 80 },
    }
}

impl Story {
    /// `Unknown`: where it is seen from is to be inferred.
    pub fn from(vantage: Vantage) -> Story {
        let sender = Said { isn: 1_000, next: 1, id: 0, ttl: 64, window: 65_535 };
        Story {
            packets: Vec::new(),
            vantage,
            time: Time(0),
            sender,
            receiver: Said { isn: REPLIES_FROM, ..sender },
            sack_permitted: false,
            stamped: false,
            window_scale: None,
        }
    }

    /// Each host numbers its packets in the IP identification.
    pub fn numbered(mut self) -> Story {
        for (k, p) in self.packets.iter_mut().enumerate() {
            p.ip_id = k as u16 + if p.tuple == tuple() { 100 } else { 40_000 };
        }
        self
    }
    /// Each packet is captured once more, so much later.
    pub fn doubled(mut self, ms: i64) -> Story {
        let later = |p: &Packet| Packet { time: Time(p.time.0 + ms * 1_000_000), ..*p };
        let copies: Vec<Packet> = self.packets.iter().map(later).collect();
        self.packets.extend(copies);
        self.packets.sort_by_key(|p| p.time);
        (1..).zip(&mut self.packets).for_each(|(number, p)| p.number = number);
        self
    }

    /// The clock, in milliseconds since the story began.
    pub fn at(mut self, ms: u64) -> Story {
        self.time = Time(ms as i64 * 1_000_000);
        self
    }
    pub fn at_us(mut self, us: u64) -> Story {
        self.time = Time(us as i64 * 1_000);
        self
    }
    /// The sender's initial sequence number.
    pub fn seq(mut self, isn: u32) -> Story {
        self.sender.isn = isn;
        self
    }
    pub fn id(mut self, id: u16) -> Story {
        self.sender.id = id;
        self
    }
    pub fn ttl(mut self, ttl: u8) -> Story {
        self.sender.ttl = ttl;
        self
    }
    pub fn reply_id(mut self, id: u16) -> Story {
        self.receiver.id = id;
        self
    }
    pub fn reply_ttl(mut self, ttl: u8) -> Story {
        self.receiver.ttl = ttl;
        self
    }
    /// What the sender advertises.
    pub fn offers(mut self, bytes: u16) -> Story {
        self.sender.window = bytes;
        self
    }
    /// What the receiver advertises.
    pub fn window(mut self, bytes: u16) -> Story {
        self.receiver.window = bytes;
        self
    }
    /// Both hosts offer SACK.
    pub fn sack_permitted(mut self) -> Story {
        self.sack_permitted = true;
        self
    }
    /// Both hosts stamp what they send with their milliseconds; what an ACK echoes is told by `echoing`.
    pub fn stamped(mut self) -> Story {
        self.stamped = true;
        self
    }
    /// The last packet echoes what was sent at that time.
    pub fn echoing(mut self, ms: u32) -> Story {
        if let Some(t) = self.packets.last_mut().and_then(|p| p.seg.timestamps.as_mut()) {
            t.ecr = STAMPS_FROM + ms;
        }
        self
    }

    /// The last packet left at that time, by its host's clock.
    pub fn left(mut self, ms: u32) -> Story {
        if let Some(t) = self.packets.last_mut().and_then(|p| p.seg.timestamps.as_mut()) {
            t.val = STAMPS_FROM + ms;
        }
        self
    }

    fn put(mut self, from_sender: bool, flags: Flags, seq: u32, ack: u32, payload: u32) -> Story {
        let (mine, other) = match from_sender {
            true => (self.sender, self.receiver),
            false => (self.receiver, self.sender),
        };
        let syn = flags.has(Flags::SYN);
        let ms = (self.time.0 / 1_000_000) as u32;
        let seg = Segment {
            seq: Seq(mine.isn.wrapping_add(seq)),
            ack: Seq(if flags.has(Flags::ACK) { other.isn.wrapping_add(ack) } else { 0 }),
            payload,
            window: mine.window,
            flags,
            mss: syn.then_some(1000),
            window_scale: self.window_scale.filter(|_| syn),
            sack_permitted: syn && self.sack_permitted,
            timestamps: self.stamped.then_some(Timestamps { val: STAMPS_FROM + ms, ecr: STAMPS_FROM }),
            header_len: 20,
            ..Segment::default()
        };
        let said = [seg.seq.0, seg.ack.0, payload, u32::from(flags.0), u32::from(seg.window)];
        let checksum = said.iter().fold(7u32, |sum, n| (sum ^ n).wrapping_mul(0x9e37_79b9)) >> 16;
        self.packets.push(Packet {
            time: self.time,
            number: self.packets.len() as u64 + 1,
            tuple: if from_sender { tuple() } else { tuple().reversed() },
            seg,
            ip_id: mine.id,
            ttl: mine.ttl,
            checksum: checksum as u16,
            ..Packet::default()
        });
        self
    }

    // The sender

    pub fn syn(self) -> Story {
        self.put(true, Flags::SYN, 0, 0, 0)
    }
    /// Its SYN once more, as the answer to another's.
    pub fn syn_again_with_ack(self) -> Story {
        self.put(true, Flags::SYN.with(Flags::ACK), 0, 1, 0)
    }
    /// The third packet of the handshake, or a bare ACK.
    pub fn ack_of_syn(self) -> Story {
        let (seq, ack) = (self.sender.next, self.receiver.next);
        self.put(true, Flags::ACK, seq, ack, 0)
    }
    pub fn data(mut self, seq: u32, len: u32) -> Story {
        self.sender.next = self.sender.next.max(seq + len);
        let ack = self.receiver.next;
        self.put(true, Flags::ACK.with(Flags::PSH), seq, ack, len)
    }
    /// Data of which more waits to be sent: no PSH.
    pub fn amid_data(mut self, seq: u32, len: u32) -> Story {
        self.sender.next = self.sender.next.max(seq + len);
        let ack = self.receiver.next;
        self.put(true, Flags::ACK, seq, ack, len)
    }
    /// Data on a SYN (RFC 7413).
    pub fn syn_with_data(mut self, len: u32) -> Story {
        self.sender.next = 1 + len;
        self.put(true, Flags::SYN, 0, 0, len)
    }
    /// A bare segment with the given number: a keep-alive, a probe of the window.
    pub fn bare(self, seq: u32) -> Story {
        let ack = self.receiver.next;
        self.put(true, Flags::ACK, seq, ack, 0)
    }
    /// A keep-alive with one byte (RFC 9293 §3.8.4).
    pub fn keep_alive(self, seq: u32) -> Story {
        let ack = self.receiver.next;
        self.put(true, Flags::ACK, seq, ack, 1)
    }
    /// The last packet has these flags, too; and it came with a mark of a router.
    pub fn flagged(mut self, flags: Flags) -> Story {
        if let Some(p) = self.packets.last_mut() {
            p.seg.flags = p.seg.flags.with(flags);
        }
        self
    }
    pub fn marked(mut self) -> Story {
        if let Some(p) = self.packets.last_mut() {
            p.notes = p.notes.with_ecn(3);
        }
        self
    }
    /// The last packet's checksum is wrong.
    pub fn damaged(mut self) -> Story {
        if let Some(packet) = self.packets.last_mut() {
            packet.notes.add(Notes::BAD_CHECKSUM);
        }
        self
    }
    /// The snap length cut the last packet's options off.
    pub fn cut(mut self) -> Story {
        if let Some(packet) = self.packets.last_mut() {
            packet.seg.options_cut = true;
        }
        self
    }
    pub fn fin(mut self, seq: u32) -> Story {
        self.sender.next = seq + 1;
        let ack = self.receiver.next;
        self.put(true, Flags::ACK.with(Flags::FIN), seq, ack, 0)
    }
    pub fn reset(self) -> Story {
        let (seq, ack) = (self.sender.next, self.receiver.next);
        self.put(true, Flags::RST.with(Flags::ACK), seq, ack, 0)
    }

    // The receiver

    pub fn syn_ack(self) -> Story {
        self.put(false, Flags::SYN.with(Flags::ACK), 0, 1, 0)
    }
    /// The SYN of a host that opens at the same time (RFC 9293 §3.5).
    pub fn crossing_syn(self) -> Story {
        self.put(false, Flags::SYN, 0, 0, 0)
    }
    pub fn ack(self, ack: u32) -> Story {
        let seq = self.receiver.next;
        self.put(false, Flags::ACK, seq, ack, 0)
    }
    pub fn sack(self, ack: u32, blocks: &[(u32, u32)]) -> Story {
        let isn = self.sender.isn;
        let mut story = self.ack(ack);
        if let Some(packet) = story.packets.last_mut() {
            for (left, right) in blocks {
                packet.seg.sack.push(Seq(isn.wrapping_add(*left)), Seq(isn.wrapping_add(*right)));
            }
        }
        story
    }
    /// Data of the receiver's own, which acknowledges all that was sent.
    pub fn request(mut self, len: u32) -> Story {
        let (seq, ack) = (self.receiver.next, self.sender.next);
        self.receiver.next += len;
        self.put(false, Flags::ACK.with(Flags::PSH), seq, ack, len)
    }
    pub fn reply_fin(mut self) -> Story {
        let (seq, ack) = (self.receiver.next, self.sender.next);
        self.receiver.next += 1;
        self.put(false, Flags::ACK.with(Flags::FIN), seq, ack, 0)
    }
    /// Its FIN, sent before anything from `ack` on had reached it.
    pub fn reply_fin_before(mut self, ack: u32) -> Story {
        let seq = self.receiver.next;
        self.receiver.next += 1;
        self.put(false, Flags::ACK.with(Flags::FIN), seq, ack, 0)
    }
    /// A reset in the receiver's name.
    pub fn stray_reset(self) -> Story {
        self.put(false, Flags::RST, 500_000_000, 0, 0)
    }
    /// Nobody listens there.
    pub fn refused(self) -> Story {
        self.put(false, Flags::RST.with(Flags::ACK), 0, 1, 0)
    }

    /// A handshake over a path of `rtt` milliseconds, half of it on either side of a capture in the middle. It
    /// ends when that time is over.
    pub fn handshake(self, rtt: u64) -> Story {
        let (there, back) = match self.vantage {
            Vantage::Receiver => (0, rtt),
            Vantage::Middle => (rtt / 2, rtt),
            _ => (rtt, rtt),
        };
        self.at(0).syn().at(there).syn_ack().at(back).ack_of_syn()
    }

    /// Every packet stands in the capture once more for each of these delays, in microseconds: as a mirror port hands it on.
    pub fn mirrored(mut self, delays: &[i64]) -> Story {
        let copies = |p: &Packet| {
            let time = p.time;
            let p = *p;
            let later = delays.iter().map(move |us| Packet { time: Time(time.0 + us * 1_000), ..p });
            std::iter::once(p).chain(later).collect::<Vec<_>>()
        };
        self.packets = self.packets.iter().flat_map(copies).collect();
        self.packets.sort_by_key(|p| p.time);
        for (number, packet) in (1..).zip(&mut self.packets) {
            packet.number = number;
        }
        self
    }

    // What comes of it

    pub fn packets(&self) -> &[Packet] {
        &self.packets
    }
    pub fn ends_with_all(self) -> All {
        self.all_after(&[])
    }
    fn all_after(self, earlier: &[Packet]) -> All {
        let vantage = (self.vantage != Vantage::Unknown).then_some(self.vantage);
        let wanted = Wanted { retransmissions: true, intervals: true, packets: true, ..Wanted::default() };
        let mut analyzer = Analyzer::new(Config { vantage, wanted, ..Config::default() }, Rows::default());
        analyzer.note_earlier(earlier);
        analyzer.push(&self.packets);
        let (totals, rows) = analyzer.finish();
        All { flows: rows.flows.clone(), totals, rows }
    }
    /// The sender's flow, which must be the only one it has.
    pub fn ends(self) -> Told {
        self.ends_with(&[])
    }
    /// The same, where only this part of the capture was asked for: `before` is what passed before.
    pub fn ends_after(self, before: &Story) -> Told {
        self.ends_with(&before.packets)
    }
    fn ends_with(self, earlier: &[Packet]) -> Told {
        let all = self.all_after(earlier);
        let mut mine = all.flows.iter().filter(|f| f.sender == tuple().src && f.packets > 0);
        let flow = mine.next().unwrap_or_else(|| panic!("the sender has no flow: {:#?}", all.flows)).clone();
        assert!(mine.next().is_none(), "the sender has more than one flow: {:#?}", all.flows);
        Told { flow, rows: all.rows }
    }
}
