//! Bulk transfers, seen at their sender: a window kept full, losses repaired by SACK, ACKs coming back.

use crate::pcap::{Carrier, Writer};
use crate::random::Random;
use crate::receiver::{Ack, Receiver};
use crate::sender::{Loss, Send, Sender};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io::{self, Write};
use wire::{Endpoint, Flags, Host, SackBlocks, Segment, Seq, Span, Time, Timestamps, Tuple};

/// A full segment on Ethernet with timestamps.
const MSS: u64 = 1448;
/// 2024-01-01, so that the times look like times.
const EPOCH: Time = Time(1_704_067_200_000_000_000);

#[derive(Clone, Copy, Debug)]
pub struct Bulk {
    pub flows: u32,
    /// Chance that a data packet is lost; as many are then sent again.
    pub loss: f64,
    /// Segments kept in flight by each flow.
    pub window: u64,
    pub seed: u64,
}

/// One transfer and everything of it that is under way.
struct Transfer {
    tuple: Tuple,
    isn: [u32; 2],
    ip_ids: [u16; 2],
    one_way: Span,
    spacing: Span,
    sender: Sender,
    receiver: Receiver,
    loss: Loss,
    phase: Phase,
    last_arrival: Time,
    last_send: Time,
    /// Copies that arrived since the last ACK.
    arrived: Vec<u64>,
    /// ACKs on their way, with the copies each of them tells of.
    acks: VecDeque<(Time, Ack, [Option<u64>; 2])>,
}

/// How far a transfer has come, and when the next packet of its handshake is due.
enum Phase {
    Syn(Time),
    SynAck(Time),
    Established,
}

/// The clock of the timestamps option, milliseconds.
fn ticks(at: Time) -> u32 {
    (at.0 / 1_000_000) as u32
}

impl Transfer {
    fn new(bulk: &Bulk, number: u32) -> Transfer {
        let mut random = Random::stream(bulk.seed, u64::from(number));
        let host = (number + 1).to_be_bytes();
        Transfer {
            tuple: Tuple {
                src: Endpoint {
                    host: Host::v4([10, 1, host[2], host[3]]),
                    port: 32_768 + random.below(28_000) as u16,
                },
                dst: Endpoint { host: Host::v4([10, 2, 0, (number % 16) as u8 + 1]), port: 443 },
            },
            isn: [random.bits() as u32, random.bits() as u32],
            ip_ids: [random.bits() as u16, random.bits() as u16],
            one_way: Span::from_micros(5_000 + random.below(20_000) as i64),
            spacing: Span::from_micros(60 + random.below(60) as i64),
            sender: Sender::new(bulk.window),
            receiver: Receiver::default(),
            loss: Loss { probability: bulk.loss, random },
            // one new connection each millisecond
            phase: Phase::Syn(EPOCH + Span::from_millis(i64::from(number))),
            last_arrival: Time::ZERO,
            last_send: Time::ZERO,
            arrived: Vec::new(),
            acks: VecDeque::new(),
        }
    }

    /// When the next packet comes back or, if none will, the timer fires.
    fn next_event(&self) -> Time {
        match (&self.phase, self.acks.front()) {
            (Phase::Syn(at) | Phase::SynAck(at), _) => *at,
            (Phase::Established, Some((at, ..))) => *at,
            (Phase::Established, None) => self.last_send + self.one_way * 2 + Span::from_millis(200),
        }
    }

    fn emit<W: Write>(&mut self, out: &mut Writer<W>, at: Time, back: bool, seg: &Segment) -> io::Result<()> {
        let id = &mut self.ip_ids[usize::from(back)];
        *id = id.wrapping_add(1);
        let carrier = Carrier { ip_id: *id, ttl: if back { 57 } else { 64 } };
        let tuple = if back { self.tuple.reversed() } else { self.tuple };
        out.write(at, &tuple, seg, carrier)
    }

    fn syn<W: Write>(&mut self, out: &mut Writer<W>, now: Time) -> io::Result<()> {
        let syn = Segment {
            seq: Seq(self.isn[0]),
            flags: Flags::SYN,
            window: 64_240,
            mss: Some(1460),
            window_scale: Some(10),
            sack_permitted: true,
            timestamps: Some(Timestamps { val: ticks(now), ecr: 0 }),
            ..Segment::default()
        };
        self.phase = Phase::SynAck(now + self.one_way * 2);
        self.emit(out, now, false, &syn)
    }

    /// SYN-ACK and ACK (RFC 9293 §3.5), then the first window.
    fn establish<W: Write>(&mut self, out: &mut Writer<W>, now: Time) -> io::Result<()> {
        let [ours, theirs] = self.isn;
        let answered = now - self.one_way;
        let syn_ack = Segment {
            seq: Seq(theirs),
            ack: Seq(ours) + 1,
            flags: Flags::SYN.with(Flags::ACK),
            window: 65_160,
            mss: Some(1460),
            window_scale: Some(10),
            sack_permitted: true,
            timestamps: Some(Timestamps { val: ticks(answered), ecr: ticks(answered - self.one_way) }),
            ..Segment::default()
        };
        self.emit(out, now, true, &syn_ack)?;
        let ack = Segment {
            seq: Seq(ours) + 1,
            ack: Seq(theirs) + 1,
            flags: Flags::ACK,
            window: 64,
            timestamps: Some(Timestamps { val: ticks(now), ecr: ticks(answered) }),
            ..Segment::default()
        };
        self.emit(out, now, false, &ack)?;
        self.phase = Phase::Established;
        self.fill_window(out, now)
    }

    fn number(&self, segment: u64) -> Seq {
        Seq(self.isn[0]) + 1 + (segment * MSS) as u32
    }

    fn fill_window<W: Write>(&mut self, out: &mut Writer<W>, now: Time) -> io::Result<()> {
        while let Some(send) = self.sender.send() {
            let push = if send.segment % 44 == 43 { Flags::PSH } else { Flags::default() };
            let seg = Segment {
                seq: self.number(send.segment),
                ack: Seq(self.isn[1]) + 1,
                payload: MSS as u32,
                window: 64,
                flags: Flags::ACK.with(push),
                timestamps: Some(Timestamps { val: ticks(now), ecr: ticks(now - self.one_way) }),
                ..Segment::default()
            };
            self.emit(out, now, false, &seg)?;
            self.last_send = now;
            self.travel(now, send);
        }
        Ok(())
    }

    /// The copy crosses the path, or is lost; the receiver's ACK starts its way back.
    fn travel(&mut self, now: Time, send: Send) {
        if self.loss.strikes() {
            return;
        }
        self.last_arrival = (self.last_arrival + self.spacing).max(now + self.one_way);
        self.arrived.push(send.order);
        if let Some(ack) = self.receiver.arrives(send.segment, ticks(now)) {
            let tells = [self.arrived.first().copied(), self.arrived.get(1).copied()];
            self.arrived.clear();
            self.acks.push_back((self.last_arrival + self.one_way, ack, tells));
        }
    }

    fn step<W: Write>(&mut self, out: &mut Writer<W>, now: Time) -> io::Result<()> {
        match self.phase {
            Phase::Syn(_) => return self.syn(out, now),
            Phase::SynAck(_) => return self.establish(out, now),
            Phase::Established => {}
        }
        match self.acks.pop_front() {
            Some((_, ack, tells)) => {
                let mut sack = SackBlocks::NONE;
                for (start, end) in ack.sack.into_iter().flatten() {
                    sack.push(self.number(start), self.number(end));
                }
                let seg = Segment {
                    seq: Seq(self.isn[1]) + 1,
                    ack: self.number(ack.cumulative),
                    window: 4_096,
                    flags: Flags::ACK,
                    timestamps: Some(Timestamps { val: ticks(now - self.one_way), ecr: ack.ts_echo }),
                    sack,
                    ..Segment::default()
                };
                self.emit(out, now, true, &seg)?;
                tells.into_iter().flatten().for_each(|order| self.sender.delivered(order));
            }
            None => self.sender.timeout(),
        }
        self.fill_window(out, now)
    }
}

/// Writes `bulk` until `out` is full.
pub fn write<W: Write>(bulk: &Bulk, out: &mut Writer<W>) -> io::Result<()> {
    let mut transfers: Vec<Transfer> = (0..bulk.flows).map(|n| Transfer::new(bulk, n)).collect();
    let mut due: BinaryHeap<_> =
        transfers.iter().enumerate().map(|(n, t)| Reverse((t.next_event(), n))).collect();
    while let Some(Reverse((now, n))) = due.pop().filter(|_| !out.is_full()) {
        transfers[n].step(out, now)?;
        due.push(Reverse((transfers[n].next_event(), n)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{ip, tcp};

    fn capture(bulk: &Bulk, packets: u64) -> Vec<u8> {
        let mut out = Writer::new(Vec::new(), 96, packets).unwrap();
        write(bulk, &mut out).unwrap();
        out.finish().unwrap()
    }

    /// Time, source port and segment of each packet.
    fn packets(file: &[u8]) -> Vec<(u64, u16, Segment)> {
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
        let mut at = 24;
        let mut all = Vec::new();
        while at < file.len() {
            let time = u64::from(word(at)) * 1_000_000 + u64::from(word(at + 4));
            let frame = &file[at + 16..at + 16 + word(at + 8) as usize];
            let ip = ip::parse(&frame[14..]).unwrap();
            let tcp = tcp::parse(&frame[34..], ip.payload_len.unwrap()).unwrap();
            all.push((time, tcp.src_port, tcp.seg));
            at += 16 + frame.len();
        }
        all
    }

    #[test]
    fn one_data_packet_in_ten_is_sent_again_where_one_in_ten_is_lost() {
        let bulk = Bulk { flows: 1, loss: 0.1, window: 100, seed: 1 };
        let mut seen = std::collections::HashSet::new();
        let data: Vec<_> =
            packets(&capture(&bulk, 100_000)).into_iter().filter(|p| p.2.payload > 0).collect();
        let again = data.iter().filter(|p| !seen.insert(p.2.seq)).count();
        let share = again as f64 / data.len() as f64;
        assert!((0.095..0.105).contains(&share), "{share}");
    }

    #[test]
    fn without_loss_there_are_two_data_packets_for_an_ack_and_no_sack() {
        let bulk = Bulk { flows: 1, loss: 0.0, window: 100, seed: 1 };
        let all = packets(&capture(&bulk, 30_000));
        let data = all.iter().filter(|p| p.2.payload > 0).count();
        assert!((19_900..20_150).contains(&data), "{data}");
        assert!(all.iter().all(|p| p.2.sack.is_empty()));
    }

    #[test]
    fn many_flows_interleave_in_order_of_time() {
        let bulk = Bulk { flows: 240, loss: 0.1, window: 24, seed: 2 };
        let all = packets(&capture(&bulk, 100_000));
        assert!(all.is_sorted_by_key(|p| p.0));
        let changes = all[50_000..].windows(2).filter(|w| w[0].1 != w[1].1).count();
        assert!(changes > 20_000, "{changes} changes of flow in 50,000 packets");
    }

    #[test]
    fn a_shorter_capture_is_the_beginning_of_a_longer_one() {
        let bulk = Bulk { flows: 3, loss: 0.1, window: 24, seed: 3 };
        let (short, long) = (capture(&bulk, 1_000), capture(&bulk, 2_000));
        assert_eq!(short[..], long[..short.len()]);
    }
}
