//! No copy is called lost that an ACK proves to have arrived: a cumulative ACK for its data, sent before any other copy of it
//! could have arrived. Held against every capture at hand, and against transfers with needless repairs drawn from a seed.

mod story;

use analysis::rows::{BurstRow, FlowId, PacketRow, Vantage};
use analysis::{Analyzer, Config, Rows, Wanted};
use capture::Options;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use story::random::Random;
use story::{MSS, Story};
use wire::{Span, Time};

const SEEDS: u64 = 200;

/// Where a cumulative ACK moved: its packet, when it passed, and what it acknowledges.
struct Acks(Vec<(u64, Time, u64)>);

impl Acks {
    fn of(rows: &Rows, flow: FlowId) -> Acks {
        let theirs = |p: &&PacketRow| match p.data {
            false => p.flow == flow,
            true => p.flow == flow ^ 1,
        };
        let mut moved: Vec<(u64, Time, u64)> = Vec::new();
        for p in rows.packets.iter().filter(theirs) {
            let Some(ack) = p.ack else { continue };
            if moved.last().is_none_or(|(.., most)| ack > *most) {
                moved.push((p.packet, p.time, ack));
            }
        }
        Acks(moved)
    }
    /// The first that acknowledges all before `end`.
    fn first_for(&self, end: u64) -> Option<(u64, Time)> {
        let i = self.0.partition_point(|(.., ack)| *ack < end);
        self.0.get(i).map(|(packet, time, _)| (*packet, *time))
    }
}

/// How many copies an ACK proves to have arrived although others of the same data were sent, and which of them are called
/// lost.
#[derive(Default)]
struct Proofs {
    proven: u64,
    refuted: Vec<String>,
}

fn end(p: &PacketRow) -> u64 {
    p.seq + u64::from(p.len)
}

fn proofs(rows: &Rows) -> Proofs {
    let mut out = Proofs::default();
    for flow in &rows.flows {
        let acks = Acks::of(rows, flow.flow);
        let mut copies = BTreeMap::<u64, Vec<&PacketRow>>::new();
        for p in rows.packets.iter().filter(|p| p.flow == flow.flow && p.data && p.len > 0) {
            copies.entry(p.seq).or_default().push(p);
        }
        let bursts: Vec<&BurstRow> = rows.bursts.iter().filter(|b| b.flow == flow.flow).collect();
        match flow.vantage {
            Vantage::Receiver => unseen(&copies, &acks, &bursts, &mut out),
            _ => seen(rows, &copies, &acks, &bursts, &mut out),
        }
    }
    out
}

/// Where data arrives: a copy that was never seen is called lost, and was acknowledged before another one came.
fn unseen(copies: &BTreeMap<u64, Vec<&PacketRow>>, acks: &Acks, bursts: &[&BurstRow], out: &mut Proofs) {
    for (seq, of) in copies {
        let first = of[0];
        let Some((by, _)) = acks.first_for(end(first)).filter(|(by, _)| *by < first.packet) else { continue };
        out.proven += 1;
        let lost = bursts.iter().any(|b| (b.seq_start..b.seq_end.max(b.seq_start + 1)).contains(seq));
        if lost && first.cause.is_some() {
            out.refuted.push(format!(
                "byte {seq}, which packet {by} had acknowledged before packet {}",
                first.packet
            ));
        }
    }
}

/// Elsewhere: of all copies only one left a round trip before the ACK.
fn seen(
    rows: &Rows,
    copies: &BTreeMap<u64, Vec<&PacketRow>>,
    acks: &Acks,
    bursts: &[&BurstRow],
    out: &mut Proofs,
) {
    let once = copies.values().filter(|of| of.len() == 1);
    let answered = once.filter_map(|of| acks.first_for(end(of[0])).map(|(by, at)| (by, at, of[0])));
    let trips = answered.filter(|(by, _, p)| *by > p.packet).map(|(_, at, p)| at - p.time);
    let Some(least) = trips.min() else { return };
    // What is sent again may be answered a little sooner than what was sent once: a receiver does not delay that ACK.
    let least = least.scale(0.95) - Span::from_micros(50);
    for (seq, of) in copies.iter().filter(|(_, of)| of.len() > 1) {
        let longest = of.iter().map(|p| end(p)).max().unwrap_or(0);
        let Some((by, at)) = acks.first_for(longest) else { continue };
        let mut could = (0..of.len()).filter(|&i| of[i].packet < by && of[i].time + least <= at);
        let (Some(i), None) = (could.next(), could.next()) else { continue };
        out.proven += 1;
        let copy = of[i];
        let in_burst =
            |b: &&BurstRow| (b.start..=b.last).contains(&copy.time) && (b.seq_start..b.seq_end).contains(seq);
        let lost = match i {
            0 => bursts.iter().any(in_burst),
            _ => rows.retransmissions.iter().any(|r| r.packet == copy.packet && r.lost == Some(true)),
        };
        if lost {
            out.refuted.push(format!("packet {} (byte {seq}), which packet {by} acknowledged", copy.packet));
        }
    }
}

fn captures(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        match path.is_dir() {
            true => captures(&path, out),
            false if name.contains(".pcap") || name.contains(".cap") => out.push(path),
            false => {}
        }
    }
}

fn analysed(path: &Path) -> Option<Rows> {
    let mut reader = capture::open(&[path.to_owned()], &Options::default()).ok()?;
    let wanted = Wanted { retransmissions: true, packets: true, ..Wanted::default() };
    let mut analyzer = Analyzer::new(Config { wanted, ..Config::default() }, Rows::default());
    let mut batch = Vec::new();
    while reader.read_batch(&mut batch, 128) {
        analyzer.push(&batch);
    }
    Some(analyzer.finish().1)
}

#[test]
fn in_no_capture_at_hand_is_a_copy_called_lost_that_an_ack_proves_to_have_arrived() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths = Vec::new();
    for folder in ["tests/data", "../shared/captures"] {
        captures(&root.join(folder), &mut paths);
    }
    paths.sort();
    let (mut proven, mut refuted) = (0, Vec::new());
    for path in &paths {
        let Some(rows) = analysed(path) else { continue };
        let of_it = proofs(&rows);
        proven += of_it.proven;
        refuted.extend(of_it.refuted.iter().map(|what| format!("{}: {what}", path.display())));
    }
    println!("{} captures: {proven} copies are proven to have arrived", paths.len());
    assert!(proven > 0, "no proof in {} captures", paths.len());
    assert!(refuted.is_empty(), "{} of {proven} are called lost:\n{}", refuted.len(), refuted.join("\n"));
}

/// Flights of which some segments are lost and some sent again needlessly, less than a round trip before their ACK comes.
fn repaired_too_soon(seed: u64) -> Story {
    let mut r = Random::new(seed);
    // Half of it is whole milliseconds, too, as the handshake's are.
    let rtt = r.within(3, 100) * 2000;
    let place = r.pick(&[Vantage::Sender, Vantage::Middle]);
    // From here to the receiver and back.
    let forth = if place == Vantage::Sender { rtt } else { rtt / 2 };
    let mut t = Story::from(place);
    if r.one_in(2) {
        t = t.sack_permitted();
    }
    t = t.handshake(rtt / 1000);
    let (mut seq, mut at, mut id) = (1, rtt * 2, 0);
    for _ in 0..40 {
        let flight = r.within(2, 9) as u32;
        for k in 0..flight {
            id += 1;
            t = t.id(id).at_us(at + u64::from(k) * 30).data(seq + k * MSS, MSS);
        }
        let again = r.below(u64::from(flight)) as u32;
        if r.one_in(3) {
            let soon = r.within(forth / 10 + 1, forth * 9 / 10);
            id += 1;
            t = t.id(id).at_us(at + forth - soon + u64::from(again) * 30).data(seq + again * MSS, MSS);
        }
        for k in 0..flight {
            t = t.at_us(at + forth + u64::from(k) * 30).ack(seq + (k + 1) * MSS);
        }
        seq += flight * MSS;
        at += rtt * 2 + r.below(400_000);
    }
    t
}

#[test]
fn of_needless_repairs_no_first_copy_is_called_lost() {
    let mut proven = 0;
    for seed in 1..=SEEDS {
        let all = repaired_too_soon(seed).ends_with_all();
        let of_it = proofs(&all.rows);
        proven += of_it.proven;
        assert!(of_it.refuted.is_empty(), "seed {seed}: {}", of_it.refuted.join("\n"));
    }
    assert!(proven > 1000, "{proven} proofs");
}
