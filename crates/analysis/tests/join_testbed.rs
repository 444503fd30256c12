//! Both captures of real transfers, held against the bridge's own log of what it dropped.

mod join_support;

use analysis::Fate;
use analysis::join::{Joined, Side, Warning};
use join_support::{data_dir, dropped, join, lost, pair, shared_dir};
use std::path::Path;
use wire::{Packet, Span};

/// Every lost copy of either direction, no other; what the fates say packet by packet is the same.
fn is_exact(dir: &Path, name: &str) -> (Joined, [Vec<Packet>; 2]) {
    let captures = pair(dir, name);
    let truth = dropped(&dir.join(format!("{name}.drops.csv.gz")), &captures);
    let mut joined = join(&captures);
    for side in Side::BOTH {
        assert_eq!(lost(&joined, side), truth[side as usize], "{name}: {side}");
        for p in &captures[side as usize] {
            let leaves = joined.leaves_receiver_side(p.tuple) == (side == Side::Receiver);
            let expected = match truth[side as usize].contains(&p.number) {
                true => Fate::Lost,
                false if leaves => Fate::Arrived,
                false => Fate::SeenArriving,
            };
            assert_eq!(joined.fate_at(side, p), expected, "{name}: {side}, packet {}", p.number);
        }
    }
    assert!(joined.warnings.is_empty(), "{name}: {:?}", joined.warnings);
    // one clock at both ends
    let clock = joined.clock.unwrap();
    assert!(clock.offset.0.abs() < Span::from_millis(1).0, "{name}: {clock:?}");
    assert!(clock.drift_ppm.abs() < 20.0, "{name}: {clock:?}");
    println!(
        "{name}: lost {} data, {} ACKs; offset {}, drift {:.2} ± {:.2} ppm, residual {}, RTT floor {}",
        joined.sender.lost.len(),
        joined.receiver.lost.len(),
        clock.offset,
        clock.drift_ppm,
        clock.drift_error_ppm,
        clock.residual,
        clock.rtt_floor.unwrap()
    );
    (joined, captures)
}

#[test]
fn every_lost_copy_of_the_interrupted_transfer_is_found_and_no_other() {
    let (joined, captures) = is_exact(&data_dir(), "interruption");
    assert_eq!((joined.sender.lost.len(), joined.receiver.lost.len()), (1282, 13));
    // the lost ACKs can be asked for by the data they acknowledge
    let data = captures[0].iter().find(|p| p.seg.payload > 0).unwrap().tuple;
    let acks = joined.lost_ack_segments();
    let (first, last) = (captures[0][0].time, captures[0].last().unwrap().time);
    assert_eq!(acks.between(data, first, last), 13);
    assert_eq!(acks.between(data.reversed(), first, last), 0);
    let in_the_first_outage =
        acks.between(data, first + Span::from_millis(4900), first + Span::from_millis(5300));
    assert_eq!(in_the_first_outage, 5);
}

#[test]
fn timeouts_bursts_and_transfers_without_sack_are_joined_exactly_too() {
    for name in ["A1_reno_22M_deep_200ms", "H1_reno_22M_shallow_200ms_nosack", "F1_cubic_22M_GE"] {
        is_exact(&data_dir(), name);
    }
}

#[test]
fn every_run_of_the_test_bed_is_joined_exactly() {
    let dir = shared_dir("testbed");
    let Ok(entries) = std::fs::read_dir(&dir) else {
        println!("skipped: {} is not there", dir.display());
        return;
    };
    let names = entries
        .filter_map(|e| e.ok()?.file_name().to_str()?.strip_suffix(".drops.csv.gz").map(str::to_owned));
    let mut names: Vec<String> = names.collect();
    names.sort();
    assert!(!names.is_empty(), "{} holds no runs", dir.display());
    for name in names {
        is_exact(&dir, &name);
    }
}

/// Packets of either direction, counted by who sent them; what was sent less what was lost is what arrived.
fn is_conserved(name: &str, captures: &[Vec<Packet>; 2], joined: &Joined) {
    let near = captures[0][0].tuple.src.host;
    for (side, seen) in [(Side::Sender, &joined.sender), (Side::Receiver, &joined.receiver)] {
        let outward = side == Side::Sender;
        let bytes = |c: &[Packet]| -> u64 {
            let sent = c.iter().filter(|p| (p.tuple.src.host == near) == outward);
            sent.map(|p| u64::from(p.seg.payload)).sum()
        };
        let lost: u64 = seen.lost.iter().map(|l| u64::from(l.bytes)).sum();
        let (there, here) = (&captures[side.other() as usize], &captures[side as usize]);
        assert_eq!(bytes(here) - lost, bytes(there), "{name}: {side}");
        assert_eq!(
            (seen.not_captured, seen.came_twice, seen.captured_twice, seen.outside),
            (0, 0, 0, 0),
            "{name}"
        );
    }
    assert!(!joined.swapped, "{name}");
}

#[test]
fn super_packets_are_joined_segment_by_segment() {
    for (name, packets, acks) in [("tsoloss", 17, 0), ("tsoblk", 14, 15)] {
        let captures = pair(&data_dir(), name);
        let mut joined = join(&captures);
        is_conserved(name, &captures, &joined);
        // whole super-packets vanished here, so what was sent less what arrived is their number
        assert_eq!((joined.sender.lost.len(), joined.receiver.lost.len()), (packets, acks), "{name}");
        let lost: Vec<&Packet> = captures[0].iter().filter(|p| joined.fate(p) == Fate::Lost).collect();
        assert_eq!(lost.len(), packets, "{name}");
        let offloads = |w: &&Warning| matches!(w, Warning::Offloads { .. });
        assert_eq!(joined.warnings.iter().filter(offloads).count(), joined.warnings.len(), "{name}");
        assert_eq!(joined.warnings.len(), 2, "{name}: {:?}", joined.warnings);
    }
}

/// The kernels' own counters say how many packets a queue or a coin dropped, not which.
#[test]
fn totals_agree_with_what_the_bottleneck_counted() {
    let dir = shared_dir("kernel");
    if !dir.exists() {
        println!("skipped: {} is not there", dir.display());
        return;
    }
    // random_drops and bottleneck_queue_drops of the truth file; outages take more, which it does not count
    for (name, counted, outages) in
        [("renoblk", 177, true), ("cubicloss", 646, false), ("nosack", 139 + 30, true)]
    {
        let captures = pair(&dir, name);
        let joined = join(&captures);
        is_conserved(name, &captures, &joined);
        let lost = joined.sender.lost.len();
        assert!(
            if outages { lost >= counted } else { lost == counted },
            "{name}: {lost} lost, {counted} counted"
        );
        println!("{name}: lost {lost} data, {} ACKs; {:?}", joined.receiver.lost.len(), joined.clock);
    }
}
