//! Both captures of real transfers, held against the bridge's own log of what it dropped.

mod join_support;

use analysis::Fate;
use analysis::join::{Joined, Side};
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
            let expected = if truth[side as usize].contains(&p.number) { Fate::Lost } else { Fate::Arrived };
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
    let acks = joined.lost_acks();
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

#[test]
fn super_packets_are_joined_segment_by_segment() {
    for name in ["tsoloss", "tsoblk"] {
        let captures = pair(&data_dir(), name);
        let mut joined = join(&captures);
        println!(
            "{name}: lost {:?} {:?} {:?} {:?} matched {} {:?}",
            joined.sender.lost.len(),
            joined.receiver.lost.len(),
            joined.sender.not_captured,
            joined.receiver.not_captured,
            joined.matched,
            joined.clock
        );
        for w in &joined.warnings {
            println!("  {w}");
        }
        // conservation of bytes: sent less lost is what arrived
        let bytes = |side: usize| -> u64 {
            captures[side]
                .iter()
                .filter(|p| p.tuple.src.host == captures[0][0].tuple.src.host)
                .map(|p| u64::from(p.seg.payload))
                .sum()
        };
        let lost: u64 = joined.sender.lost.iter().map(|l| u64::from(l.bytes)).sum();
        assert_eq!(bytes(0) - lost, bytes(1), "{name}");
        let fates = captures[0].iter().filter(|p| joined.fate(p) == Fate::Lost).count();
        assert!(fates > 0);
    }
}
