//! What happens between two captures, one thing a test.

mod join_support;

use analysis::join::{Joined, Joiner, Side, Warning};
use analysis::rows::{FlowRow, Vantage};
use analysis::{Analyzer, Config, Fate, Rows};
use join_support::synthetic::{MS, MSS, Path, Random, upload};
use join_support::{is_exact, join, lost, warned};
use std::collections::BTreeSet;
use wire::{Host, Notes, Packet, Span, Time};

/// What the analysis of the sender's capture makes of the upload, told every fate.
fn flow(joined: &mut Joined, sender: &[Packet]) -> FlowRow {
    let config = Config { vantage: Some(Vantage::Both), ..Config::default() };
    let mut analyzer = Analyzer::new(config, Rows::default());
    for p in sender {
        analyzer.push_with_fate(p, joined.fate(p));
    }
    let (_, rows) = analyzer.finish();
    rows.flows.into_iter().find(|f| f.sender == upload().src).unwrap()
}

#[test]
fn a_clock_that_is_ahead_and_gains_is_seen_through() {
    let path = Path { packets: 20_000, ahead: 3200 * MS, gains_ppm: 50, jitter: 3 * MS, ..Path::default() };
    let story = path.story();
    let clock = is_exact(&story).clock.unwrap();
    assert!((clock.drift_ppm - 50.0).abs() < 5.0, "{clock:?}");
    let start = story.captures[0][0].time;
    assert!((clock.offset_at(start) - Span::from_millis(3200)).0.abs() < MS / 5, "{clock:?}");
    assert!((clock.rtt_floor.unwrap() - Span::from_millis(20)).0.abs() < MS / 5, "{clock:?}");
}

#[test]
fn a_clock_that_was_never_set_is_no_hindrance() {
    // the receiver believes it is 1970
    let story = Path { ahead: -1_700_000_000_000 * MS, ..Path::default() }.story();
    let clock = is_exact(&story).clock.unwrap();
    assert!((clock.offset.0 + 1_700_000_000_000 * MS).abs() < MS, "{clock:?}");
}

#[test]
fn what_the_receivers_capture_lacks_and_an_ack_covers_was_not_lost() {
    let mut story = Path { lost_one_in: 0, repeats_one_in: 0, ..Path::default() }.story();
    let mut data = 0;
    story.captures[1].retain(|p| {
        data += u64::from(p.seg.payload > 0);
        p.seg.payload == 0 || data % 50 != 0
    });
    let mut joined = join(&story.captures);
    assert_eq!(lost(&joined, Side::Sender).len(), 60, "the comparison alone cannot tell");
    let flow = flow(&mut joined, &story.captures[0]);
    assert_eq!((flow.lost_copies, flow.lost_segments, flow.bursts), (Some(0), Some(0), 0));
}

#[test]
fn what_the_network_doubles_is_counted_and_not_lost() {
    let story = Path { twice_one_in: 10, jitter: 5 * MS, ..Path::default() }.story();
    let joined = is_exact(&story);
    assert_eq!([joined.sender.came_twice, joined.receiver.came_twice], story.came_twice);
    assert_eq!(joined.sender.not_captured + joined.receiver.not_captured, 0);
}

#[test]
fn what_a_capture_holds_twice_is_counted_and_not_lost() {
    let mut story = Path { lost_one_in: 0, ..Path::default() }.story();
    let doubled: Vec<Packet> = story.captures[0].iter().flat_map(|p| [*p, *p]).collect();
    story.captures[0] = doubled;
    for (i, p) in story.captures[0].iter_mut().enumerate() {
        p.number = i as u64 + 1;
    }
    let joined = is_exact(&story);
    assert!(joined.sender.captured_twice > 2990, "{}", joined.sender.captured_twice);
}

#[test]
fn before_a_capture_begins_and_after_it_ends_nothing_is_called_lost() {
    let mut story = Path::default().story();
    let whole = story.captures[1].clone();
    let part = whole.len() / 3..whole.len() * 2 / 3;
    story.captures[1] = whole[part.clone()].to_vec();
    let (from, to) = (whole[part.start].time, whole[part.end - 1].time);
    let seen = |p: &&Packet| p.time > from - Span::from_millis(10) && p.time < to - Span::from_millis(11);
    let numbers: BTreeSet<u64> = story.captures[0].iter().filter(seen).map(|p| p.number).collect();
    story.lost[0].retain(|n| numbers.contains(n));
    story.lost[1].retain(|n| (part.start as u64 + 1..=part.end as u64).contains(n));
    let mut joined = is_exact(&story);
    assert!(joined.sender.outside > 1800, "{}", joined.sender.outside);
    assert_eq!((joined.sender.not_captured, joined.receiver.not_captured), (0, 0));
    let first = story.captures[0][500];
    assert_eq!(joined.fate(&first), Fate::Unknown);
    assert!(warned(&joined, |w| matches!(w, Warning::Outside { side: Side::Sender, .. })));
}

/// A path of 1 Gbit/s, which a full-sized packet occupies for 12 µs: whichever capture begins in mid-transfer, what passed
/// its place shortly before its first packet was not lost.
#[test]
fn a_capture_that_begins_in_the_middle_of_a_fast_transfer_makes_no_losses() {
    for (side, delay) in [(0, 10 * MS), (1, 10 * MS), (0, 20_000), (1, 20_000)] {
        let path = Path { packets: 20_000, gap: 12_000, delay, lost_one_in: 0, ..Path::default() };
        let mut story = path.story();
        let half = story.captures[side].len() / 2;
        story.captures[side].drain(..half);
        let joined = join(&story.captures);
        assert_eq!((joined.sender.lost.len(), joined.receiver.lost.len()), (0, 0), "{side}, {delay}");
        assert_eq!((joined.sender.not_captured, joined.receiver.not_captured), (0, 0), "{side}, {delay}");
    }
}

/// Until the end of the shorter capture: what was on its way then has not come, and is not lost.
#[test]
fn a_capture_that_ends_early_makes_no_losses_however_uneven_the_path() {
    for seed in 0..40 {
        let (delay, jitter) = (10 * MS, 40 * MS);
        let mut story = Path { seed, delay, jitter, lost_one_in: 10, ..Path::default() }.story();
        let keep = story.captures[1].len() / 2 + seed as usize * 17;
        story.captures[1].truncate(keep);
        let end = story.captures[1][keep - 1].time;
        let joined = join(&story.captures);
        let found = lost(&joined, Side::Sender);
        assert!(found.is_subset(&story.lost[0]), "seed {seed}: {:?}", found.difference(&story.lost[0]));
        let sure = |n: &&u64| story.captures[0][**n as usize - 1].time + Span(delay + jitter + MS) < end;
        let missed = story.lost[0].iter().filter(sure).find(|n| !found.contains(n));
        assert_eq!(missed, None, "seed {seed}");
        story.lost[1].retain(|n| *n <= keep as u64);
        assert_eq!(lost(&joined, Side::Receiver), story.lost[1], "seed {seed}");
        let said =
            |w: &Warning| matches!(w, Warning::Outside { side: Side::Sender, ended_earlier_by: Some(_), .. });
        assert!(warned(&joined, said), "seed {seed}: {:?}", joined.warnings);
        assert_eq!(joined.receiver.not_captured, 0, "seed {seed}: ACKs of later have left after its end");
    }
}

/// A queue that fills: each copy takes longer than the one before it.
#[test]
fn what_waits_in_a_queue_as_a_capture_ends_is_not_lost() {
    let mut story = Path { lost_one_in: 0, ..Path::default() }.story();
    let start = story.captures[1][0].time;
    for p in story.captures[1].iter_mut().filter(|p| p.seg.payload > 0) {
        p.time = p.time + (p.time - start).scale(0.2);
    }
    story.captures[1].sort_by_key(|p| p.time);
    story.captures[1].truncate(3000);
    let joined = join(&story.captures);
    assert_eq!((joined.sender.lost.len(), joined.receiver.lost.len()), (0, 0));
    assert!(joined.sender.outside > 400, "{}", joined.sender.outside);
}

#[test]
fn late_packets_are_those_that_one_sent_after_them_overtook() {
    let mut story = Path { lost_one_in: 0, ..Path::default() }.story();
    let mut overtaken = BTreeSet::new();
    for at in [300, 900, 1500, 1501] {
        let data: Vec<usize> = (0..story.captures[1].len())
            .filter(|&i| story.captures[1][i].seg.payload > 0)
            .skip(at)
            .take(4)
            .collect();
        let p = story.captures[1].remove(data[0]);
        overtaken.insert(p.seg.timestamps.map(|t| t.val));
        let time = story.captures[1][data[3] - 1].time;
        story.captures[1].insert(data[3], Packet { time, ..p });
    }
    for (i, p) in story.captures[1].iter_mut().enumerate() {
        p.number = i as u64 + 1;
    }
    let mut joined = is_exact(&story);
    let late = story.captures[0].iter().filter(|p| joined.fate(p) == Fate::Late);
    let late: BTreeSet<_> = late.map(|p| p.seg.timestamps.map(|t| t.val)).collect();
    assert_eq!(late, overtaken);
    assert_eq!(flow(&mut joined, &story.captures[0]).limits.reordered, overtaken.len() as u64);
}

/// A pure ACK that overtakes data, and data that overtake a pure ACK, whichever clock is ahead: where the receiver's is
/// behind by more than the transfer takes, its packets wait for the sender's.
#[test]
fn reordered_are_data_packets_whatever_overtook_them_and_whichever_clock_is_ahead() {
    for ahead in [0, -600_000 * MS, 600_000 * MS] {
        let mut story = Path { lost_one_in: 0, repeats_one_in: 0, ahead, ..Path::default() }.story();
        let is_data = |p: &Packet| p.tuple == upload() && p.seg.payload > 0;
        // Every hundredth data packet becomes a pure ACK of its direction.
        let mut bare = BTreeSet::new();
        for p in story.captures[0].iter().filter(|p| is_data(p)).skip(99).step_by(100).take(28) {
            bare.insert(p.ip_id);
        }
        for p in story.captures.iter_mut().flatten().filter(|p| is_data(p)) {
            if bare.contains(&p.ip_id) {
                p.seg.payload = 0;
            }
        }
        let receiver = &mut story.captures[1];
        let mut overtaken = BTreeSet::new();
        for (n, ack) in bare.iter().enumerate() {
            // By turns one or several of its neighbours: the data before it come after it, or it after those behind it.
            let up: Vec<usize> = (0..receiver.len()).filter(|&i| receiver[i].tuple == upload()).collect();
            let at = up.iter().position(|&i| receiver[i].ip_id == *ack).unwrap();
            let (from, to) = if n % 2 == 0 { (at, at - 1 - n % 3) } else { (at, at + 1 + n % 3) };
            let (moved, time) = (receiver[up[from]], receiver[up[to]].time);
            if to < from {
                overtaken.extend(up[to..from].iter().map(|&i| receiver[i].ip_id));
            }
            receiver.remove(up[from]);
            receiver.insert(up[to], Packet { time, ..moved });
        }
        for (i, p) in receiver.iter_mut().enumerate() {
            p.number = i as u64 + 1;
        }
        let mut joined = is_exact(&story);
        let late = story.captures[0].iter().filter(|p| joined.fate(p) == Fate::Late);
        assert_eq!(late.map(|p| p.ip_id).collect::<BTreeSet<_>>(), overtaken, "{ahead}");
    }
}

/// The clock at one end is set during the handshake, so that its first packets say the wrong thing about which direction
/// leaves from which side.
#[test]
fn a_clock_that_is_set_during_the_handshake_reorders_nothing() {
    let mut story = Path { lost_one_in: 0, ..Path::default() }.story();
    // The data leave from the side of the receiver's capture; the other capture began earlier.
    story.captures.swap(0, 1);
    let mut earlier = vec![story.captures[0][0]; 60];
    for (i, p) in earlier.iter_mut().enumerate() {
        (p.tuple.src.port, p.seg.seq) = (999, p.seg.seq + 1_000_000);
        p.time = p.time - Span::from_millis(1000 - i as i64);
    }
    story.captures[0][0].time = story.captures[0][0].time - Span::from_secs(2);
    // The SYN-ACK is sent twice.
    for side in 0..2 {
        let mut again = story.captures[side][1];
        again.ip_id = 5;
        again.time += Span::from_micros(100);
        story.captures[side].insert(2, again);
    }
    earlier.append(&mut story.captures[0]);
    story.captures[0] = earlier;
    for p in story.captures.iter_mut() {
        p.iter_mut().enumerate().for_each(|(i, p)| p.number = i as u64 + 1);
    }
    let mut joined = join(&story.captures);
    let late = story.captures[1].iter().filter(|p| joined.fate_at(Side::Receiver, p) == Fate::Late).count();
    assert_eq!((late, joined.matched > 5000), (0, true));
}

#[test]
fn an_ack_that_came_damaged_tells_the_sender_nothing() {
    let mut story = Path { lost_one_in: 0, ..Path::default() }.story();
    let whole = story.captures[0].clone();
    for p in story.captures[0].iter_mut().filter(|p| p.seg.payload == 0).skip(100).step_by(100) {
        p.notes.add(Notes::BAD_CHECKSUM);
    }
    let damaged = |p: &&Packet| p.notes.has(Notes::BAD_CHECKSUM);
    let good = story.captures[0].iter().filter(|p| !damaged(p)).copied().collect();
    let mut joined = join(&[good, story.captures[1].clone()]);
    let n = story.captures[0].iter().filter(damaged).count();
    assert_eq!(joined.receiver.lost.len(), n);
    let [all, fewer] = [&whole, &story.captures[0]].map(|c| flow(&mut joined, c));
    assert_eq!(all.acks - fewer.acks, n as u64);
}

#[test]
fn a_capture_that_starts_ten_minutes_earlier_is_compared_from_where_the_other_begins() {
    let mut story = Path { lost_one_in: 0, ..Path::default() }.story();
    let earlier = Span::from_secs(600);
    let mut early = Path { packets: 60_000, lost_one_in: 0, ..Path::default() }.story().captures[0].clone();
    for p in &mut early {
        p.time = p.time - earlier;
        p.seg.seq = p.seg.seq + (1 << 30);
    }
    early.append(&mut story.captures[0]);
    for (i, p) in early.iter_mut().enumerate() {
        p.number = i as u64 + 1;
    }
    story.captures[0] = early;
    let joined = is_exact(&story);
    assert_eq!(joined.sender.lost, []);
    assert!(joined.sender.outside > 60_000);
}

#[test]
fn with_one_direction_captured_losses_are_exact_and_the_delay_is_not_known() {
    let mut story = Path { ahead: 500 * MS, ..Path::default() }.story();
    for side in 0..2 {
        story.captures[side].retain(|p| p.tuple == upload());
    }
    story.lost[1].clear();
    let joined = is_exact(&story);
    let clock = joined.clock.unwrap();
    assert_eq!(clock.rtt_floor, None);
    assert!((clock.offset - Span::from_millis(510)).0.abs() < MS, "{clock:?}");
    assert!(warned(&joined, |w| matches!(w, Warning::OneDirection)));
}

#[test]
fn a_direction_that_one_capture_lacks_is_unknown_and_not_lost() {
    let mut story = Path::default().story();
    story.captures[0].retain(|p| p.tuple == upload());
    story.lost[1].clear();
    let mut joined = is_exact(&story);
    assert!(warned(&joined, |w| matches!(w, Warning::OneSided { shown_by: Side::Receiver, directions: 1 })));
    let ack = story.captures[1].iter().find(|p| p.tuple != upload()).copied().unwrap();
    assert_eq!(joined.fate_at(Side::Receiver, &ack), Fate::Unknown);
}

#[test]
fn packets_that_a_capture_dropped_are_told_apart_from_lost_ones() {
    let mut story = Path { lost_one_in: 0, ..Path::default() }.story();
    // the sender's capture misses every seventh packet, leaving and arriving
    let missing = |p: &Packet| p.number % 7 == 5;
    let [leaving, arriving] = [true, false]
        .map(|out| story.captures[0].iter().filter(|p| missing(p) && (p.tuple == upload()) == out).count());
    assert!(leaving > 400 && arriving > 400);
    story.captures[0].retain(|p| !missing(p));
    let joined = join(&story.captures);
    assert_eq!(joined.sender.lost, []);
    assert_eq!(joined.sender.not_captured, leaving as u64);
    // nothing tells an ACK that was lost from one that arrived unseen; the answer says that there are such
    assert_eq!(joined.receiver.lost.len(), arriving);
    assert!(warned(&joined, |w| matches!(w, Warning::NotCaptured { lacked_by: Side::Sender, .. })));
}

#[test]
fn sequence_numbers_wrap_in_the_middle() {
    is_exact(&Path { first_seq: u32::MAX - 1000 * MSS, ..Path::default() }.story());
}

#[test]
fn swapped_captures_are_told_and_still_joined() {
    let mut story = Path::default().story();
    story.captures.swap(0, 1);
    story.lost.swap(0, 1);
    let joined = is_exact(&story);
    assert!(joined.swapped && warned(&joined, |w| matches!(w, Warning::Swapped)));
    assert!(!is_exact(&Path::default().story()).swapped);
}

#[test]
fn one_capture_given_as_both_tells_nothing_of_losses() {
    let story = Path::default().story();
    let again = |n: usize| [story.captures[n].clone(), story.captures[n].clone()];
    for captures in [again(0), again(1)] {
        let joined = join(&captures);
        assert!(!joined.comparable && joined.warnings == [Warning::OnePlace], "{:?}", joined.warnings);
    }
    // Another clock is no other place.
    let [sender, mut late] = again(0);
    late.iter_mut().for_each(|p| p.time += Span::from_millis(70));
    assert!(!join(&[sender, late]).comparable);
    assert!(is_exact(&story).comparable);
}

#[test]
fn captures_of_different_transfers_are_not_compared() {
    let mut story = Path::default().story();
    for p in &mut story.captures[1] {
        p.tuple = wire::Tuple { src: p.tuple.dst, dst: p.tuple.src };
        p.seg.seq = p.seg.seq + 777_777;
        p.seg.ack = p.seg.ack + 55_555;
    }
    let joined = join(&story.captures);
    assert!(!joined.comparable && joined.matched == 0, "{:?}", joined.warnings);
}

#[test]
fn a_host_behind_address_translation_is_recognised() {
    let rewrite = |p: &mut Packet| {
        let outside = wire::Endpoint { host: Host::v4([192, 0, 2, 200]), port: 61_234 };
        let end = if p.tuple.src == upload().src { &mut p.tuple.src } else { &mut p.tuple.dst };
        *end = outside;
    };
    let story = Path { rewrite, ..Path::default() }.story();
    let mut joined = is_exact(&story);
    assert!(warned(&joined, |w| matches!(w, Warning::Translated { .. })));
    assert_eq!(joined.lost_ack_segments().of(upload()).len(), story.lost[1].len());
    let fates = story.captures[0].iter().filter(|p| joined.fate(p) == Fate::Lost).count();
    assert_eq!(fates, story.lost[0].len());
}

#[test]
fn rewritten_ip_identification_leaves_the_timestamps_to_tell_copies_apart() {
    let joined = is_exact(&Path { rewrite: |p| p.ip_id ^= 0x5aa5, ..Path::default() }.story());
    assert!(warned(&joined, |w| matches!(w, Warning::FieldsIgnored { ip_id: true, options: false, .. })));
}

#[test]
fn of_directions_that_differ_in_other_fields_each_kind_is_said_with_its_number() {
    let rewrite = |p: &mut Packet| match p.tuple == upload() {
        true => p.ip_id ^= 0x5aa5,
        false => p.seg.timestamps = Some(wire::Timestamps { val: 3, ecr: 4 }),
    };
    let joined = is_exact(&Path { rewrite, ..Path::default() }.story());
    let ignored = |w: &&Warning| matches!(w, Warning::FieldsIgnored { .. });
    let found: Vec<Warning> = joined.warnings.iter().filter(ignored).copied().collect();
    let of = |ip_id, options| Warning::FieldsIgnored { ip_id, options, ack: false, directions: 1 };
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.contains(&of(true, false)) && found.contains(&of(false, true)), "{found:?}");
}

#[test]
fn options_cut_off_in_one_capture_leave_the_ip_identification() {
    let rewrite = |p: &mut Packet| {
        p.seg.timestamps = None;
        p.seg.options_cut = true;
    };
    let joined = is_exact(&Path { rewrite, ..Path::default() }.story());
    assert!(warned(&joined, |w| matches!(w, Warning::FieldsIgnored { ip_id: false, options: true, .. })));
}

#[test]
fn a_snap_length_that_cuts_only_sack_blocks_loses_no_ack() {
    let rewrite = |p: &mut Packet| {
        if !p.seg.sack.is_empty() {
            p.seg.sack = wire::SackBlocks::NONE;
            p.seg.options_cut = true;
        }
    };
    let story = Path { rewrite, ..Path::default() }.story();
    let whole = story.captures[0].iter().filter(|p| !p.seg.sack.is_empty()).count();
    assert!(whole > 500 && whole < 700, "{whole}");
    is_exact(&story);
}

#[test]
fn captures_of_different_transfers_are_said_to_be_that() {
    let mine = Path::default().story();
    let mut other = Path { seed: 99, first_seq: 77, ..Path::default() }.story();
    for p in &mut other.captures[1] {
        p.seg.ack = p.seg.ack + 123_456;
        p.seg.seq = p.seg.seq + 99;
        for end in [&mut p.tuple.src, &mut p.tuple.dst] {
            end.port += 1;
        }
    }
    let captures = [mine.captures[0].clone(), other.captures[1].clone()];
    let mut joined = join(&captures);
    assert_eq!((joined.matched, joined.clock), (0, None));
    assert_eq!(joined.warnings, [Warning::OtherTransfers]);
    assert_eq!(joined.fate(&captures[0][9]), Fate::Unknown);
    // nothing at all is no panic either
    assert_eq!(join(&[vec![], vec![]]).matched, 0);
    assert_eq!(join(&[captures[0].clone(), vec![]]).sender.lost, []);
}

#[test]
fn a_connection_that_never_got_through_is_lost_and_other_traffic_is_not() {
    let mut story = Path { lost_one_in: 0, ..Path::default() }.story();
    let at = |p: &Packet| p.time + Span::from_millis(1);
    let syn = |port: u16, to: Host, time: Time| {
        let mut p = Packet { time, tuple: upload(), ip_id: 9, ..Packet::default() };
        (p.tuple.src.port, p.tuple.dst.host, p.seg.flags) = (port, to, wire::Flags::SYN);
        p
    };
    let same = syn(50_000, upload().dst.host, at(&story.captures[0][300]));
    let elsewhere = syn(50_001, Host::v4([10, 9, 9, 9]), at(&story.captures[0][300]));
    story.captures[0].splice(301..301, [same, elsewhere]);
    for (i, p) in story.captures[0].iter_mut().enumerate() {
        p.number = i as u64 + 1;
    }
    story.lost[0] = BTreeSet::from([302]);
    let mut joined = is_exact(&story);
    let packet = story.captures[0][302];
    assert_eq!(packet.tuple, elsewhere.tuple);
    assert_eq!(joined.fate(&packet), Fate::Unknown);
}

#[test]
fn what_waits_is_what_is_in_flight_or_lately_lost() {
    let story = Path { packets: 60_000, lost_one_in: 100, ..Path::default() }.story();
    let mut joiner = Joiner::new();
    let mut batches = story.captures.each_ref().map(|c| c.chunks(64));
    let mut most = 0;
    loop {
        let side = joiner.wants();
        let Some(batch) = batches[side as usize].next() else { break };
        joiner.push(side, batch);
        most = most.max(joiner.waiting());
    }
    // 10 s of losses at 2000 packets a second and one in 100 lost, 20 ms of flight, two batches
    assert!((200..200 + 40 + 128 + 60).contains(&most), "{most}");
}

/// Damaged captures hold anything: any times, lengths and numbers in any order.
#[test]
fn nonsense_is_survived() {
    for seed in 0..60 {
        let mut random = Random(seed);
        let whole = [0, 1, u64::MAX, 1 << 31, 1 << 63, 1448];
        let any = |r: &mut Random| if r.one_in(2) { r.next() } else { whole[r.below(6) as usize] };
        let mut captures = [Vec::new(), Vec::new()];
        for n in 0..2000 {
            let mut p = Packet { number: n / 2, tuple: upload(), ..Packet::default() };
            p.time = Time(if random.one_in(3) { any(&mut random) as i64 } else { n as i64 * MS });
            (p.seg.seq, p.seg.ack) = (wire::Seq(any(&mut random) as u32), wire::Seq(any(&mut random) as u32));
            p.seg.payload = any(&mut random) as u32;
            p.ip_id = random.below(3) as u16;
            p.seg.flags = wire::Flags(any(&mut random) as u8);
            p.seg.mss = random.one_in(5).then_some(any(&mut random) as u16);
            if random.one_in(2) {
                p.tuple = p.tuple.reversed();
            }
            let to = random.below(3);
            for (side, capture) in captures.iter_mut().enumerate() {
                if to == 2 || to == side as u64 {
                    capture.push(p);
                }
            }
        }
        let mut joined = join(&captures);
        let fates = captures[0].iter().map(|p| joined.fate(p)).filter(|f| *f != Fate::Unknown).count();
        assert!(fates > 0, "seed {seed}");
        joined.warnings.iter().for_each(|w| assert!(!w.to_string().is_empty()));
    }
}

/// Any losses, reordering, duplication and clock: exactly what was dropped, packet by packet.
#[test]
fn exactly_the_dropped_packets_are_lost_whatever_the_path() {
    let again = std::env::var("JOIN_SEED").ok().and_then(|s| s.parse().ok());
    let seeds = again.map_or(0..150, |seed: u64| seed..seed + 1);
    for seed in seeds {
        let mut random = Random(seed);
        let rewrites: [fn(&mut Packet); 3] =
            [|_| (), |p| p.ip_id = p.ip_id.wrapping_mul(5) ^ 0x77, |p| p.seg.window = 9];
        let path = Path {
            seed,
            packets: 200 + random.below(2500) as u32,
            gap: MS,
            delay: 1000 + random.below(200 * MS as u64) as i64,
            jitter: random.below(40 * MS as u64) as i64,
            lost_one_in: 1 + random.below(60),
            twice_one_in: random.below(30),
            repeats_one_in: 10,
            ahead: random.below(7200 * 1000 * MS as u64) as i64 - 3600 * 1000 * MS,
            gains_ppm: random.below(200) as i64 - 100,
            first_seq: random.next() as u32,
            rewrite: rewrites[random.below(3) as usize],
        };
        let story = path.story();
        let joined = join(&story.captures);
        for side in Side::BOTH {
            assert!(
                lost(&joined, side) == story.lost[side as usize],
                "seed {seed}, {side}: {} lost, {} dropped; {path:?}; {:?}; repeat with \
                 JOIN_SEED={seed} cargo test -p rexmit-analysis --test join_stories exactly",
                lost(&joined, side).len(),
                story.lost[side as usize].len(),
                joined.warnings
            );
        }
    }
}
