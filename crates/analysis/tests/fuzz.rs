//! Whatever the packets, the analysis neither panics nor contradicts itself.
//!
//! Two kinds of traffic, drawn from a seed: *wild* packets, whose every field is arbitrary with a liking for edges,
//! and *damaged* transfers, which begin as real ones and are then lost, doubled, shuffled, cut and restarted. A
//! failure names its seed; `FUZZ_SEED=… cargo test -p rexmit-analysis --test fuzz` repeats just that case.

#[path = "story/random.rs"]
mod random;

use analysis::rows::*;
use analysis::{Analyzer, Config, Fate, Rows, Totals, Wanted};
use random::Random;
use std::collections::HashMap;
use wire::{Endpoint, Flags, Host, Notes, Packet, SackBlocks, Segment, Seq, Span, Time, Timestamps, Tuple};

const CASES: u64 = 600;

/// Says which seed it was if the case ends in a panic, wherever that came from.
struct Named(&'static str, u64);

impl Drop for Named {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "failed on {} traffic; repeat: FUZZ_SEED={} cargo test -p rexmit-analysis --test fuzz",
                self.0, self.1
            );
        }
    }
}

fn seeds() -> Vec<u64> {
    match std::env::var("FUZZ_SEED").ok().and_then(|s| s.parse().ok()) {
        Some(seed) => vec![seed],
        None => (1..=CASES).collect(),
    }
}

fn tuple(r: &mut Random) -> Tuple {
    let end =
        |n: u64| Endpoint { host: Host::v4([10, 0, 0, 1 + (n / 2) as u8]), port: 1000 + (n % 2) as u16 };
    Tuple { src: end(r.below(4)), dst: end(r.below(4)) }
}

/// A number near an edge of the number space, near another edge, or anywhere.
fn number(r: &mut Random) -> Seq {
    let near = r.pick(&[0, 1, 1448, 0x7fff_ffff, 0x8000_0000, u32::MAX]);
    match r.below(4) {
        0 => Seq(r.bits() as u32),
        1 => Seq(near),
        _ => Seq(near.wrapping_add((r.below(5) * 1448) as u32)),
    }
}

fn wild(r: &mut Random, count: usize) -> Vec<Packet> {
    let absurd = r.one_in(3);
    let mut now = Time(r.pick(&[0, -5_000_000_000, 1_700_000_000_000_000_000, 4_102_444_800_000_000_000]));
    (0..count)
        .map(|n| {
            now +=
                Span(r.pick(&[0, 0, 1_000, 1_000_000, 40_000_000, 900_000_000, 90_000_000_000, -3_000_000]));
            if absurd && r.one_in(8) {
                now += Span(r.pick(&[i64::MIN / 2, i64::MAX / 2, 1 << 61, -1 << 60, 1 << 55, -1 << 55]));
                now = r.pick(&[now, now, Time(0), Time(i64::MAX / 2), Time(i64::MIN / 2), Time(1 << 62)]);
            }
            let mut sack = SackBlocks::NONE;
            for _ in 0..r.below(10).saturating_sub(5) {
                sack.push(number(r), number(r));
            }
            let seg = Segment {
                seq: number(r),
                ack: number(r),
                payload: r.pick(&[0, 0, 1, 536, 1448, 1448, 65_160, 1 << 31, u32::MAX - 60]),
                window: r.pick(&[0, 1, 512, u16::MAX]),
                flags: if r.one_in(3) { Flags(r.bits() as u8) } else { Flags::ACK },
                mss: r.one_in(4).then(|| r.pick(&[0, 1, 536, 1460, u16::MAX])),
                window_scale: r.one_in(4).then(|| r.pick(&[0, 7, 14, 15, u8::MAX])),
                sack_permitted: r.one_in(2),
                options_cut: r.one_in(20),
                timestamps: r.one_in(2).then(|| Timestamps { val: number(r).0, ecr: number(r).0 }),
                sack,
                ..Segment::default()
            };
            Packet {
                time: now,
                number: n as u64 + 1,
                tuple: tuple(r),
                seg,
                wire_len: r.bits() as u32,
                ip_id: r.bits() as u16,
                checksum: r.bits() as u16,
                ttl: r.bits() as u8,
                notes: if r.one_in(8) { Notes(r.bits() as u16) } else { Notes::default() },
            }
        })
        .collect()
}

/// A sender with a window that repairs on duplicate ACKs or after a silence, and a receiver with SACK; then
/// damage. What comes out need not be right, only of the kind that captures hold.
fn damaged(r: &mut Random, count: usize) -> Vec<Packet> {
    let there = Tuple {
        src: Endpoint { host: Host::v4([10, 0, 0, 1]), port: 4000 },
        dst: Endpoint { host: Host::v4([10, 0, 0, 2]), port: 80 },
    };
    let (loss, mss, window) = (r.pick(&[3, 10, 50, 1000]), r.pick(&[1, 536, 1448, 20_000]), 1 + r.below(40));
    let (isn, with_sack, with_time) = (number(r), r.one_in(2), !r.one_in(4));
    let mut now = Time(1_000_000_000);
    let mut made: Vec<Packet> = Vec::new();
    let (mut una, mut next, mut got) = (0u64, 0u64, vec![false; count + 64]);
    let put = |made: &mut Vec<Packet>, at: Time, tuple: Tuple, mut seg: Segment| {
        let ms = (at.0 / 1_000_000) as u32;
        seg.timestamps = with_time.then_some(Timestamps { val: ms, ecr: ms.saturating_sub(20) });
        let number = made.len() as u64 + 1;
        let wire_len = seg.payload + 66;
        made.push(Packet { time: at, number, tuple, seg, wire_len, ttl: 64, ..Packet::default() });
    };
    if !r.one_in(4) {
        let syn = Segment {
            seq: Seq(isn.0.wrapping_sub(1)),
            flags: Flags::SYN,
            mss: Some(1460),
            window_scale: Some(7),
            sack_permitted: with_sack,
            ..Segment::default()
        };
        put(&mut made, now, there, syn);
        let answer = Segment { seq: Seq(999), ack: isn, flags: Flags::SYN.with(Flags::ACK), ..syn };
        put(&mut made, now + Span::from_millis(20), there.reversed(), answer);
    }
    let offset = |segment: u64| isn + (segment * mss) as u32;
    while made.len() < count {
        now += Span::from_micros(r.pick(&[1, 100, 1_000, 20_000, 300_000]));
        // Again from the first hole, or on with what is new.
        let again = una < next && r.one_in(6);
        let segment = if again || next >= una + window { una } else { next };
        next = next.max(segment + 1);
        let flags = if r.one_in(9) { Flags::ACK.with(Flags::PSH) } else { Flags::ACK };
        let data = Segment {
            seq: offset(segment),
            ack: Seq(1000),
            payload: mss as u32,
            window: 500,
            flags,
            ..Segment::default()
        };
        put(&mut made, now, there, data);
        if r.one_in(loss) || segment as usize >= got.len() {
            continue;
        }
        got[segment as usize] = true;
        while got.get(una as usize).copied().unwrap_or(false) {
            una += 1;
        }
        let mut sack = SackBlocks::NONE;
        if with_sack && segment > una {
            sack.push(offset(segment), offset(segment + 1));
        }
        let window = if r.one_in(60) { 0 } else { 800 };
        let ack = Segment {
            seq: Seq(1000),
            ack: offset(una),
            window,
            flags: Flags::ACK,
            sack,
            ..Segment::default()
        };
        if !r.one_in(loss * 2) {
            put(&mut made, now + Span::from_millis(20), there.reversed(), ack);
        }
    }
    damage(r, made)
}

fn damage(r: &mut Random, mut packets: Vec<Packet>) -> Vec<Packet> {
    if r.one_in(2) {
        packets.sort_by_key(|p| p.time);
    }
    if r.one_in(4) {
        packets.retain(|p| p.tuple.src.port == 4000); // one direction only
    }
    if r.one_in(4) {
        packets.drain(..packets.len() / 3); // begins in the middle
    }
    for _ in 0..r.pick(&[0, 0, 3, 40]) {
        if packets.is_empty() {
            break;
        }
        let i = r.below(packets.len() as u64) as usize;
        let mut p = packets[i];
        match r.below(8) {
            0 => packets.insert(i, p),
            1 => packets.truncate(i),
            2 => packets.swap(i, 0),
            3 => packets[i].seg.options_cut = true,
            4 => packets[i].seg.flags = Flags(r.bits() as u8),
            5 => {
                packets[i].time += Span(r.pick(&[-1_000_000_000, 7_000_000_000, i64::MAX / 2, i64::MIN / 2]))
            }
            6 => {
                // a keep-alive, or the port used again
                p.seg = Segment { seq: Seq(p.seg.seq.0.wrapping_sub(1)), payload: 0, ..p.seg };
                p.seg.flags = r.pick(&[Flags::ACK, Flags::SYN, Flags::RST]);
                packets.insert(i, p);
            }
            _ => packets[i].seg.payload = r.pick(&[0, 1, 65_160]),
        }
    }
    packets
}

fn config(r: &mut Random) -> Config {
    Config {
        vantage: r.pick(&[None, None, Some(Vantage::Sender), Some(Vantage::Receiver), Some(Vantage::Middle)]),
        idle: r.pick(&[None, Some(Span::ZERO), Some(Span::from_millis(100))]),
        interval: Span::from_millis(r.pick(&[1_000, 1_000, 10_000])),
        wanted: Wanted { retransmissions: true, intervals: true, rtts: true, packets: true },
        may_hold_twice: r.pick(&[true, true, false]),
        ..Config::default()
    }
}

fn analyse(config: &Config, packets: &[Packet], batch: usize) -> (Totals, Rows) {
    let mut analyzer = Analyzer::new(config.clone(), Rows::default());
    packets.chunks(batch).for_each(|some| analyzer.push(some));
    analyzer.finish()
}

fn of<T>(rows: &[T], flow: impl Fn(&T) -> FlowId) -> HashMap<FlowId, Vec<&T>> {
    let mut by_flow: HashMap<FlowId, Vec<&T>> = HashMap::new();
    for row in rows {
        by_flow.entry(flow(row)).or_default().push(row);
    }
    by_flow
}

fn summary_is_ordered(s: &Summary) {
    if s.n > 0 {
        assert!(s.min <= s.mean * (1.0 + 1e-9) && s.mean <= s.max * (1.0 + 1e-9), "{s:?}");
        assert!(s.min >= 0.0 && s.stddev >= 0.0, "{s:?}");
    }
}

/// What must hold between the rows of one answer.
fn agree(totals: &Totals, rows: &Rows, packets: &[Packet]) {
    assert_eq!(totals.packets, packets.len() as u64);
    assert_eq!(totals.flows, rows.flows.len() as u64);
    let resent = of(&rows.retransmissions, |r| r.flow);
    let bursts = of(&rows.bursts, |r| r.flow);
    let episodes = of(&rows.episodes, |r| r.flow);
    let probes = of(&rows.probes, |r| r.flow);
    let idle = of(&rows.idle, |r| r.flow);
    let rtts = of(&rows.rtts, |r| r.flow);
    let mut known = std::collections::HashSet::new();
    for f in &rows.flows {
        assert!(known.insert(f.flow), "flow {} has two rows", f.flow);
        let resent = resent.get(&f.flow).map_or(&[][..], |v| v);
        assert_eq!(f.by_cause.iter().sum::<u64>(), f.retransmitted_segments);
        for (cause, &count) in Cause::ALL.iter().zip(&f.by_cause) {
            let said: u64 = resent.iter().filter(|r| r.cause == *cause).map(|r| u64::from(r.segments)).sum();
            assert_eq!(said, count, "rows and count of {}", cause.name());
        }
        // SYNs and bare FINs are sent again, and are no data packets.
        let bare = resent.iter().filter(|r| r.seq_end <= r.seq_start + 1).count() as u64;
        let bare = bare.max(u64::from(f.syn_retransmissions));
        assert!(f.retransmitted_packets <= f.packets + bare, "{f:?}");
        assert!(f.retransmitted_segments <= f.segments + bare, "{f:?}");
        assert!(f.needless + f.needless_unknown <= f.retransmitted_segments, "{f:?}");

        let bursts = bursts.get(&f.flow).map_or(&[][..], |v| v);
        assert_eq!(bursts.len(), f.bursts as usize);
        if let Some(lost) = f.lost_copies {
            let said: Option<u64> = bursts.iter().map(|b| b.lost_copies.map(u64::from)).sum();
            assert_eq!(said, Some(lost), "copies lost in bursts and in all");
        }
        let episodes = episodes.get(&f.flow).map_or(&[][..], |v| v);
        assert_eq!(episodes.len(), f.episodes as usize);
        let mut numbers: Vec<u32> = episodes.iter().map(|e| e.number).collect();
        numbers.sort_unstable();
        assert!(numbers.iter().copied().eq(0..f.episodes), "episodes are numbered {numbers:?}");
        assert!(bursts.iter().all(|b| b.episode.is_none_or(|n| n < f.episodes)));
        assert!(resent.iter().all(|r| r.episode.is_none_or(|n| n < f.episodes)));
        assert!(episodes.iter().map(|e| u64::from(e.timeouts)).sum::<u64>() <= f.timeouts);

        let probes = probes.get(&f.flow).map_or(&[][..], |v| v);
        assert_eq!(probes.iter().filter(|p| p.new_data).count() as u64, f.probes_new_data);
        assert_eq!(probes.iter().filter(|p| !p.new_data).count() as u64, f.probes_repeat);
        assert_eq!(idle.get(&f.flow).map_or(0, Vec::len), f.idle_gaps as usize);
        assert!(f.idle_longest <= f.idle_total && f.idle_total >= Span::ZERO, "{f:?}");
        let cost = episodes.iter().filter_map(|e| e.cost).reduce(|all, one| all + one);
        assert_eq!(f.cost, cost.map(|c| c.max(Span::ZERO)), "what all episodes cost together");
        let rtts = rtts.get(&f.flow).map_or(&[][..], |v| v);
        for (kind, counted) in [(RttKind::Ack, f.rtt_ack.n), (RttKind::Timestamps, f.rtt_timestamps.n)] {
            let rows = rtts.iter().filter(|r| r.kind == kind).count() as u64;
            assert_eq!(rows, counted, "round trips by {kind:?}");
        }
        summary_is_ordered(&f.rtt_ack);
        summary_is_ordered(&f.rtt_timestamps);
    }
    for b in &rows.bursts {
        assert!(known.contains(&b.flow) && b.start <= b.last && b.seq_start <= b.seq_end, "{b:?}");
        assert!(b.lost_copies.is_none_or(|n| n > 0 && n >= b.lost_segments), "{b:?}");
        assert_eq!(b.first_repair.is_none(), b.trigger == Trigger::Unrepaired, "{b:?}");
    }
    for e in &rows.episodes {
        assert!(known.contains(&e.flow) && e.end.is_none_or(|end| end >= e.start), "{e:?}");
        assert!(e.needless <= e.retransmissions && e.max_backoff <= e.timeouts, "{e:?}");
        assert!(e.cost.is_none() || e.rate_before_bps.is_some_and(f64::is_finite), "{e:?}");
    }
    for r in &rows.retransmissions {
        // What lies before the first number of the stream is placed at 0, so a row may be empty there.
        assert!(
            known.contains(&r.flow) && r.copy >= 2 && r.segments >= 1 && r.seq_start <= r.seq_end,
            "{r:?}"
        );
    }
    assert!(rows.idle.iter().all(|i| i.start <= i.end && i.excess <= i.end - i.start));
    assert!(rows.rtts.iter().all(|r| r.rtt >= Span::ZERO));
}

fn the_same(a: &Rows, b: &Rows) {
    assert_eq!(a.flows, b.flows);
    assert_eq!(a.bursts, b.bursts);
    assert_eq!(a.episodes, b.episodes);
    assert_eq!(a.retransmissions, b.retransmissions);
    assert_eq!((&a.probes, &a.idle), (&b.probes, &b.idle));
    assert_eq!((&a.intervals, &a.rtts, &a.packets), (&b.intervals, &b.rtts, &b.packets));
}

fn each_seed(kind: &'static str, make: fn(&mut Random, usize) -> Vec<Packet>) {
    for seed in seeds() {
        let _named = Named(kind, seed);
        let mut r = Random::new(seed);
        let count = r.pick(&[1, 2, 20, 200, 600]);
        let packets = make(&mut r, count);
        let config = config(&mut r);
        let (totals, rows) = analyse(&config, &packets, 64);
        agree(&totals, &rows, &packets);
        let (_, again) = analyse(&config, &packets, 1);
        the_same(&rows, &again);
    }
}

#[test]
fn wild_packets_give_an_answer_that_agrees_with_itself() {
    each_seed("wild", wild);
}

#[test]
fn damaged_transfers_give_an_answer_that_agrees_with_itself() {
    each_seed("damaged", damaged);
}

#[test]
fn fates_that_contradict_the_packets_do_no_harm() {
    for seed in seeds() {
        let _named = Named("fated", seed);
        let mut r = Random::new(seed);
        let packets = if r.one_in(2) { wild(&mut r, 200) } else { damaged(&mut r, 200) };
        let mut analyzer = Analyzer::new(config(&mut r), Rows::default());
        for packet in &packets {
            let fate = r.pick(&[Fate::Unknown, Fate::Arrived, Fate::SeenArriving, Fate::Lost]);
            analyzer.push_with_fate(packet, fate);
        }
        let (totals, rows) = analyzer.finish();
        agree(&totals, &rows, &packets);
    }
}

/// Packets of a transfer that runs on go a short way where they are seen at the sender, unless every one of them is to
/// have a row: the answer must be the same.
#[test]
fn the_short_way_of_ordinary_packets_leads_to_the_same_answer() {
    for seed in seeds().into_iter().take(200) {
        let _named = Named("ordinary", seed);
        let mut r = Random::new(seed);
        let mut packets = damaged(&mut r, 2000);
        let (strange, alike) = (r.pick(&[2, 20, 500, 100_000]), r.one_in(3));
        let mut ids = [r.bits() as u16; 2];
        for p in &mut packets {
            let side = usize::from(p.tuple.src.port == 80);
            let odd = r.one_in(strange);
            ids[side] = if odd { r.bits() as u16 } else { ids[side].wrapping_add(1) };
            p.ip_id = ids[side];
            p.checksum = if alike { 7 } else { r.bits() as u16 };
        }
        let vantage = r.pick(&[None, Some(Vantage::Sender), Some(Vantage::Sender), Some(Vantage::Both)]);
        let long = Config { vantage, ..config(&mut r) };
        let short = Config {
            wanted: Wanted { retransmissions: true, rtts: true, ..Wanted::default() },
            ..long.clone()
        };
        let (_, mut one) = analyse(&long, &packets, 64);
        let (_, other) = analyse(&short, &packets, 64);
        one.intervals.clear();
        one.packets.clear();
        the_same(&one, &other);
    }
}
