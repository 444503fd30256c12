//! Very many small exchanges of ten packets: open, ask, answer, close.

use crate::pcap::{Carrier, Writer};
use crate::random::Random;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};
use wire::{Endpoint, Flags, Host, Segment, Seq, Span, Time, Timestamps, Tuple};

pub const PACKETS_A_FLOW: u64 = 10;

const EPOCH: Time = Time(1_704_067_200_000_000_000);
const REQUEST: u32 = 380;
const ANSWER: u32 = 1_200;

#[derive(Clone, Copy, Debug)]
pub struct Short {
    pub flows: u32,
    /// How many are open at once, on average.
    pub open: u32,
    pub seed: u64,
}

/// The ten packets: who sends, flags, payload, and how far both sides' bytes have come before it.
struct Step {
    from_client: bool,
    flags: u8,
    payload: u32,
    client: u32,
    server: u32,
}

const fn step(from_client: bool, flags: u8, payload: u32, client: u32, server: u32) -> Step {
    Step { from_client, flags, payload, client, server }
}

const STEPS: [Step; PACKETS_A_FLOW as usize] = [
    step(true, 0x02, 0, 0, 0),
    step(false, 0x12, 0, 1, 0),
    step(true, 0x10, 0, 1, 1),
    step(true, 0x18, REQUEST, 1, 1),
    step(false, 0x10, 0, 1 + REQUEST, 1),
    step(false, 0x18, ANSWER, 1 + REQUEST, 1),
    step(true, 0x10, 0, 1 + REQUEST, 1 + ANSWER),
    step(true, 0x11, 0, 1 + REQUEST, 1 + ANSWER),
    step(false, 0x11, 0, 2 + REQUEST, 1 + ANSWER),
    step(true, 0x10, 0, 2 + REQUEST, 2 + ANSWER),
];

/// Flows begin this far apart: 100,000 a second, a busy front end.
const APART: Span = Span::from_micros(10);

impl Short {
    /// How long one lives on average, so that as many as wanted are open at once.
    fn life(&self) -> Span {
        APART * i64::from(self.open)
    }

    /// How long after a flow's packet `n` the next one comes: nine gaps, the longest before the FIN.
    fn gap(&self, n: usize, random: &mut Random) -> Span {
        let share = if n == 6 { 0.52 } else { 0.06 };
        // between half and one and a half times the share
        self.life().scale(share * (0.5 + random.below(1_000) as f64 / 1_000.0))
    }

    fn tuple(&self, flow: u32) -> Tuple {
        // 50 ports a client: addresses and ports both vary, as behind a load balancer.
        let client = (flow / 50).to_be_bytes();
        let port = 32_768 + (flow % 50) as u16 * 7;
        Tuple {
            src: Endpoint { host: Host::v4([10, client[1] | 64, client[2], client[3]]), port },
            dst: Endpoint { host: Host::v4([10, 2, 0, (flow % 4) as u8 + 1]), port: 443 },
        }
    }

    fn segment(&self, flow: u32, n: usize, at: Time) -> Segment {
        let s = &STEPS[n];
        let isn = Random::stream(self.seed, u64::from(flow)).bits();
        let (client, server) = (Seq(isn as u32) + s.client, Seq((isn >> 32) as u32) + s.server);
        let syn = s.flags & Flags::SYN.0 != 0;
        let (seq, ack) = if s.from_client { (client, server) } else { (server, client) };
        let ticks = (at.0 / 1_000_000) as u32;
        Segment {
            seq,
            ack: if n == 0 { Seq(0) } else { ack },
            payload: s.payload,
            window: if syn { 64_240 } else { 502 },
            flags: Flags(s.flags),
            mss: syn.then_some(1460),
            window_scale: syn.then_some(7),
            sack_permitted: syn,
            timestamps: Some(Timestamps { val: ticks, ecr: if n == 0 { 0 } else { ticks - 1 } }),
            ..Segment::default()
        }
    }
}

/// Writes every flow of `short`, or until `out` is full.
pub fn write<W: Write>(short: &Short, out: &mut Writer<W>) -> io::Result<()> {
    let mut random = Random::new(short.seed);
    let mut due: BinaryHeap<Reverse<(Time, u32, usize)>> = BinaryHeap::new();
    let mut begun = 0;
    while !out.is_full() {
        let start = EPOCH + APART * i64::from(begun);
        let ready = due.peek().map(|Reverse(next)| next.0);
        let (at, flow, n) = if begun < short.flows && ready.is_none_or(|r| start <= r) {
            begun += 1;
            (start, begun - 1, 0)
        } else if let Some(Reverse(next)) = due.pop() {
            next
        } else {
            break;
        };
        let tuple = short.tuple(flow);
        let from_client = STEPS[n].from_client;
        let tuple = if from_client { tuple } else { tuple.reversed() };
        let carrier = Carrier { ip_id: (flow as u16) ^ n as u16, ttl: if from_client { 57 } else { 64 } };
        out.write(at, &tuple, &short.segment(flow, n, at), carrier)?;
        if n + 1 < STEPS.len() {
            due.push(Reverse((at + short.gap(n, &mut random), flow, n + 1)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use wire::ip;

    /// The most flows open at once, and the packets of each flow.
    fn followed(short: &Short) -> (usize, Vec<u64>) {
        let mut out = Writer::new(Vec::new(), 96, u64::MAX).unwrap();
        write(short, &mut out).unwrap();
        let file = out.finish().unwrap();
        let mut counts: HashMap<[u8; 12], u64> = HashMap::new();
        let (mut open, mut most, mut at) = (0, 0, 24);
        while at < file.len() {
            let kept = u32::from_le_bytes(file[at + 8..at + 12].try_into().unwrap()) as usize;
            let frame = &file[at + 16..at + 16 + kept];
            assert!(ip::parse(&frame[14..]).is_ok());
            let mut key: [u8; 12] = frame[26..38].try_into().unwrap();
            if frame[34..36] == [1, 187] {
                key.copy_from_slice(
                    &[&frame[30..34], &frame[26..30], &frame[36..38], &frame[34..36]].concat(),
                );
            }
            let seen = counts.entry(key).or_default();
            *seen += 1;
            open += usize::from(*seen == 1);
            most = most.max(open);
            open -= usize::from(*seen == PACKETS_A_FLOW);
            at += 16 + kept;
        }
        (most, counts.into_values().collect())
    }

    #[test]
    fn each_flow_has_ten_packets_and_about_as_many_are_open_as_asked_for() {
        let (most, counts) = followed(&Short { flows: 20_000, open: 1_000, seed: 1 });
        assert_eq!(counts.len(), 20_000);
        assert!(counts.iter().all(|&n| n == PACKETS_A_FLOW));
        assert!((900..1_150).contains(&most), "{most}");
    }

    #[test]
    fn all_flows_can_be_open_at_the_same_time() {
        let short = Short { flows: 2_000, open: 2_000 * 8, seed: 1 };
        assert_eq!(followed(&short).0, 2_000);
    }
}
