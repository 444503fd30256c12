//! A transfer between two endpoints of ours is captured at its sender and replayed.

use super::*;
use std::collections::VecDeque;
use tcp::endpoint::Endpoint;
use tcp::stack::{Kind as StackKind, Wire};
use wire::{Flags, Packet, Segment, Seq, Span, Time, Tuple};

fn stack(name: &str) -> Wire {
    match scenario::describe::load(name).map(|s| s.kind) {
        Ok(StackKind::Wire(wire)) => *wire,
        other => panic!("{name}: {other:?}"),
    }
}

/// The stacks that are real endpoints.
fn all_wire() -> impl Iterator<Item = &'static str> {
    let is_wire =
        |name: &&str| scenario::describe::load(name).is_ok_and(|s| matches!(s.kind, StackKind::Wire(_)));
    scenario::built_in_stacks().filter(is_wire)
}

const DELAY: Span = Span::from_millis(20);
/// A segment of 1500 bytes at 12 Mbps.
const SPACING: Span = Span::from_millis(1);

/// A path that loses chosen packets of data, by their place among those sent.
struct Path {
    lost: fn(usize) -> bool,
    bytes: u64,
    receiver: &'static str,
    /// The sender's buffer holds packets of so many segments; 0: all of it is one.
    buffered: usize,
    /// Where the pace ends just behind an ACK, new data leaves before what is lost.
    overtakes: bool,
    /// The first ACKs of each forty are lost, and of what the next one releases most waits in the sender's host.
    holds: bool,
    /// A segment takes so long on it.
    spacing: Span,
}

fn ends() -> (wire::Endpoint, wire::Endpoint) {
    let at = |host: &str, port| wire::Endpoint {
        host: host.parse::<std::net::IpAddr>().map(Into::into).unwrap_or_else(|e| panic!("{e}")),
        port,
    };
    (at("10.0.0.1", 40_000), at("10.0.0.2", 80))
}

/// What the sender's host sees of a transfer.
fn captured(sender: &str, path: &Path) -> Vec<Packet> {
    captured_where_timers_are_late(sender, path, Span::ZERO)
}

/// The same on a host whose timers fire so much late.
fn captured_where_timers_are_late(sender: &str, path: &Path, late: Span) -> Vec<Packet> {
    captured_of(&stack(sender), path, late)
}

fn captured_of(sender: &Wire, path: &Path, late: Span) -> Vec<Packet> {
    captured_through(sender, path, late, DELAY, 0)
}

/// Over a path of that delay, whose bottleneck lets so many packets of data pass at once.
fn captured_through(sender: &Wire, path: &Path, late: Span, delay: Span, at_once: usize) -> Vec<Packet> {
    let a = Endpoint::connect(sender, Seq(4_000_000_000), Time(0));
    let b = Endpoint::listen(&stack(path.receiver), Seq(7_000));
    captured_between(a, b, 0, path, late, delay, at_once)
}

/// What `a`'s host sees of what it sends to `b`, whichever calls, once it was asked by so many bytes.
fn captured_between(
    mut a: Endpoint,
    mut b: Endpoint,
    mut asked: u64,
    path: &Path,
    late: Span,
    delay: Span,
    at_once: usize,
) -> Vec<Packet> {
    let (src, dst) = ends();
    let (mut to_b, mut to_a) = (VecDeque::<(Time, Segment)>::new(), VecDeque::<(Time, Segment)>::new());
    let mut packets: Vec<Packet> = Vec::new();
    let (mut now, mut left, mut free, mut data) = (Time(0), path.bytes, Time(0), 0);
    let (mut heard, mut overtakes) = (Time::FAR_PAST, false);
    let (mut acks, mut resumes) = (0, Time::FAR_PAST);
    let mut see = |time: Time, out: bool, seg: Segment| {
        let tuple = if out { Tuple { src, dst } } else { Tuple { src: dst, dst: src } };
        packets.push(Packet { time, number: packets.len() as u64 + 1, tuple, seg, ..Packet::default() });
    };
    let asks = b.write(asked);
    assert_eq!(asks, asked);
    while now < Time(1_000_000_000_000) {
        asked -= a.read(now, asked);
        left -= if asked == 0 { a.write(left) } else { 0 };
        // Who is called and has closed before is not there.
        if left == 0 && a.is_established() {
            a.close();
        }
        let ends = if path.buffered > 0 { path.buffered - data % path.buffered } else { 0 };
        if (1..4).contains(&ends) {
            a.end_packet(ends as u32);
        }
        a.hold_repairs(overtakes || (path.holds && now == resumes));
        let mut burst = 0;
        while now >= resumes
            && let Some(sent) = a.transmit(now)
        {
            see(now, true, sent.seg);
            data += usize::from(sent.seg.payload > 0);
            burst += 1;
            if path.holds && burst == HELD {
                a.hold_repairs(false);
                if now != resumes && would_send(&a, now) > HELD {
                    resumes = now + HOLD;
                }
            }
            if sent.seg.payload == 0 || !(path.lost)(data) {
                free = free.max(now) + if data >= at_once { path.spacing } else { Span(1_000) };
                to_b.push_back((free + delay, sent.seg));
            }
        }
        b.read(now, u64::MAX);
        if b.at_end() {
            b.close();
        }
        a.hold_repairs(false);
        while let Some(sent) = b.transmit(now) {
            acks += 1;
            if !path.holds || acks % 40 >= 8 {
                to_a.push_back((now + delay, sent.seg));
            }
        }
        let arrivals = [to_b.front().map(|f| f.0), to_a.front().map(|f| f.0)];
        let wakes = [a.next_wakeup().map(|t| t + late), b.next_wakeup()];
        let Some(next) =
            arrivals.into_iter().chain(wakes).chain([Some(resumes).filter(|&t| t > now)]).flatten().min()
        else {
            break;
        };
        now = next.max(now);
        overtakes = path.overtakes && a.pace() == Some(now) && now - heard < Span::from_micros(90);
        a.wake(now);
        b.wake(now);
        if let Some((_, seg)) = to_b.pop_front_if(|f| f.0 <= now) {
            b.receive(now, &seg);
        }
        if let Some((_, seg)) = to_a.pop_front_if(|f| f.0 <= now) {
            see(now, false, seg);
            heard = now;
            a.receive(now, &seg);
        }
        if a.is_closed() && b.is_closed() {
            break;
        }
    }
    packets
}

fn replayed(packets: &[Packet], by: &str) -> Replay {
    let transfer = Transfer::new(packets, ends().0).unwrap_or_else(|u| panic!("{}", u.says()));
    replay(&transfer, &stack(by))
}

/// Bursts, a lost repair, and a tail.
fn bad(k: usize) -> bool {
    matches!(k, 30..=34 | 90 | 150..=170 | 200 | 216 | 399) || k.is_multiple_of(97)
}
const BAD: Path = Path {
    lost: bad,
    bytes: 600_000,
    receiver: "rfc-sack",
    buffered: 0,
    overtakes: false,
    holds: false,
    spacing: SPACING,
};

#[test]
fn a_stack_does_what_it_did_itself() {
    for name in all_wire() {
        let packets = captured(name, &BAD);
        let found = replayed(&packets, name);
        // Windows 7 gives the connection up after five timeouts in a row.
        assert!(found.all.sends > 150, "{name}: {:?}", found.all);
        assert!(found.retransmissions.sends >= 10, "{name}: {:?}", found.retransmissions);
        assert_eq!(found.differences.first(), None, "{name}: of {:?}", found.all);
        assert_eq!(found.all.right, found.all.sends, "{name}");
        assert_eq!(found.unusable, Unusable::default(), "{name}");
    }
}

/// A download: the sender's host was called, its SYN-ACK leaves once, and it may send nothing before it is asked.
#[test]
fn a_stack_that_was_called_does_what_it_did_itself() {
    for name in all_wire() {
        let a = Endpoint::listen(&stack(name), Seq(4_000_000_000));
        let b = Endpoint::connect(&stack(BAD.receiver), Seq(7_000), Time(0));
        for asked in [0, 80] {
            let packets = captured_between(a.clone(), b.clone(), asked, &BAD, Span::ZERO, DELAY, 0);
            let found = replayed(&packets, name);
            assert!(found.all.sends > 150, "{name}: {:?}", found.all);
            assert_eq!(found.differences.first(), None, "{name}: of {:?}", found.all);
        }
    }
}

#[test]
fn another_stack_is_told_by_what_it_would_not_have_sent() {
    let packets = captured("linux-6-reno", &BAD);
    for (name, most) in [("linux-6-cubic", 0.98), ("rfc-sack", 0.9), ("rfc-reno", 0.8), ("rfc-tahoe", 0.8)] {
        let found = replayed(&packets, name);
        let share = found.all.right as f64 / found.all.sends as f64;
        assert!(share < most, "{name}: {share}");
        let first = found.differences[0];
        assert!(first.packet.is_none() == (first.kind == Kind::MadeBesides), "{first:?}");
        // All that was recorded is judged, and all that was made besides.
        let besides = found.differences.iter().filter(|d| d.kind == Kind::MadeBesides).count() as u64;
        let recorded = packets.iter().filter(|p| p.tuple.src == ends().0 && p.seg.payload > 0).count() as u64;
        assert_eq!(found.all.sends, recorded + besides, "{name}");
        assert_eq!(found.all.right + found.differences.len() as u64, found.all.sends, "{name}");
        let by_state = [found.open, found.recovery, found.loss];
        assert_eq!(by_state.iter().map(|c| c.sends).sum::<u64>(), found.all.sends, "{name}");
    }
}

/// Each burst leaves later than its pace allowed: the pace goes on from there, and so does the replayed one.
#[test]
fn a_paced_sender_whose_timers_are_late_is_followed() {
    let packets = captured_where_timers_are_late("linux-6-bbr", &BAD, Span::from_micros(700));
    let found = replayed(&packets, "linux-6-bbr");
    // Of some bursts an ACK that comes in between makes repairs.
    assert!(found.all.right + 5 >= found.all.sends, "{:?} {:?}", found.all, found.differences);
    let latest = found.apart.last().copied().unwrap_or_default();
    assert!(latest >= Span::from_micros(500) && latest <= Span::from_millis(5), "{latest:?}");
}

/// Pacing is the host's (fq, SO_MAX_PACING_RATE; Linux, sk_pacing_status): the replay finds out, and says so.
#[test]
fn a_sender_that_its_host_paced_is_told_by_its_pauses() {
    let mut paced = stack("linux-6-reno");
    paced.send.pacing = true;
    let packets = captured_of(&paced, &BAD, Span::ZERO);
    let found = replayed(&packets, "linux-6-reno");
    assert!(found.paced);
    assert_eq!(found.differences.first(), None, "{:?}", found.all);
    assert!(!replayed(&captured("linux-6-reno", &BAD), "linux-6-reno").paced);
    // What does not hand packets to offload has no such host.
    let other = replayed(&packets, "rfc-sack");
    assert!(!other.paced && other.all.right * 10 < other.all.sends * 9, "{:?}", other.all);
}

/// A packet of its buffer ended with some segments, which the stack would hold back for more.
#[test]
fn where_a_packet_of_the_buffer_ends_all_of_it_leaves() {
    let mut paced = stack("linux-6-reno");
    paced.send.pacing = true;
    for sender in [paced, stack("linux-6-reno")] {
        let path = Path { buffered: 25, spacing: Span::from_micros(300), bytes: 3_000_000, ..BAD };
        let packets = captured_through(&sender, &path, Span::ZERO, Span::from_millis(1), 0);
        let found = replayed(&packets, "linux-6-reno");
        assert!(found.packet_ends > 5, "{}", found.packet_ends);
        // Where a packet ended with its second segment while cwnd had room for one, both stories go on differently.
        assert!(found.wrong() * 100 < found.all.sends, "{:?}", found.all);
    }
}

/// An ACK comes, the pace ends some microseconds later, and the host was about to look for new data then.
#[test]
fn new_data_that_overtook_repairs_as_the_pace_ended_is_right() {
    let mut paced = stack("linux-6-reno");
    paced.send.pacing = true;
    let path = Path { overtakes: true, bytes: 3_000_000, ..BAD };
    let found = replayed(&captured_of(&paced, &path, Span::ZERO), "linux-6-reno");
    assert!(found.overtaken > 0);
    assert_eq!(found.differences.first(), None, "{:?}", found.all);
    let plain = captured_of(&paced, &Path { bytes: 3_000_000, ..BAD }, Span::ZERO);
    assert_eq!(replayed(&plain, "linux-6-reno").overtaken, 0);
}

const HELD: usize = 6;
const HOLD: Span = Span::from_millis(3);

fn would_send(a: &Endpoint, now: Time) -> usize {
    let mut a = a.clone();
    std::iter::from_fn(|| a.transmit(now)).take(1000).count()
}

/// Six segments of a burst leave; then new data, as the writer has the socket, and the rest, while ACKs come.
#[test]
fn what_the_host_held_back_is_right_where_cwnd_is_full_soon_after() {
    let few = |k: usize| matches!(k, 200..=240);
    let path = Path { lost: few, bytes: 3_000_000, holds: true, ..BAD };
    let found = replayed(&captured("linux-6-reno", &path), "linux-6-reno");
    assert!(found.held_back > 5, "{}", found.held_back);
    assert_eq!(found.differences.first(), None, "{:?} {}", found.all, found.held_back);
    let plain = captured("linux-6-reno", &Path { holds: false, ..path });
    assert_eq!(replayed(&plain, "linux-6-reno").held_back, 0);
    // A window that is too large is none that was held back.
    let mut large = stack("linux-6-reno");
    large.congestion.initial_window = tcp::stack::InitialWindow::Segments(40);
    let transfer = Transfer::new(&plain, ends().0).unwrap_or_else(|u| panic!("{}", u.says()));
    let wrong = replay(&transfer, &large);
    assert!(wrong.held_back == 0 && wrong.wrong() > 20, "{} {:?}", wrong.held_back, wrong.all);
}

/// The application's last segment was short, and it wrote on within the same ACK's time.
#[test]
fn what_was_written_behind_a_short_segment_waits_for_it() {
    let (src, dst) = ends();
    let packets = captured("linux-6-reno", &Path { lost: |_| false, bytes: 100_000, ..BAD });
    // Of one data packet in the middle, and of no other, half a segment is left: what follows moves up by as much.
    let at = packets.iter().position(|p| p.number > 60 && p.seg.payload == 1448).unwrap_or(0);
    let cut = packets[at].seg.seq;
    let moved: Vec<Packet> = packets
        .iter()
        .map(|p| {
            let mut p = *p;
            if p.tuple == (Tuple { src, dst }) && p.seg.payload > 0 {
                if p.seg.seq == cut {
                    p.seg.payload = 724;
                } else if p.seg.seq - cut > 0 {
                    p.seg.seq = p.seg.seq + 724_u32.wrapping_neg();
                }
            } else if p.tuple.src == dst && p.seg.ack - cut > 0 {
                p.seg.ack = p.seg.ack + 724_u32.wrapping_neg();
            }
            p
        })
        .collect();
    let found = replayed(&moved, "linux-6-reno");
    assert!(found.wrong() <= 2, "{:?} {:?}", found.all, found.differences);
}

/// RACK compares when copies left: segments of one packet left at once, whatever a capture shows between them.
#[test]
fn segments_of_one_packet_left_at_once() {
    // The smallest RTT is some microseconds, so that RACK waits for less than one.
    let path = Path { lost: |k| k % 90 == 80, ..BAD };
    let near = Span::from_micros(1);
    let mut packets = captured_through(&stack("linux-6-reno"), &path, Span::ZERO, near, 24);
    let before = replayed(&packets, "linux-6-reno");
    let (mut at, mut k) = (Time::FAR_PAST, 0);
    for p in packets.iter_mut().filter(|p| p.tuple.src == ends().0 && p.seg.payload > 0) {
        k = if p.time == at { k + 1 } else { 0 };
        at = p.time;
        p.time += Span(400 * k);
    }
    let found = replayed(&packets, "linux-6-reno");
    assert_eq!(found.retransmissions, before.retransmissions, "{:?}", found.all);
}

/// With SACK such a host leaves it to time (tcp_rack_reo_wnd), and lets the window grow by what is SACKed
/// (tcp_may_raise_cwnd).
#[test]
fn with_sack_a_sender_whose_host_remembers_reordering_waits_for_time_to_tell() {
    let few = Path { lost: |k| k % 130 == 100, bytes: 3_000_000, ..BAD };
    for remembered in [Some(300), None] {
        let mut sender = stack("linux-6-reno");
        sender.detect.remembered = remembered;
        let found = replayed(&captured_of(&sender, &few, Span::ZERO), "linux-6-reno");
        assert_eq!(found.remembered, remembered);
        assert!(found.all.right + 5 >= found.all.sends, "{remembered:?}: {:?}", found.all);
    }
}

/// What Linux remembers of earlier connections to the same host (tcp_metrics) is told by when it repairs.
#[test]
fn a_sender_whose_host_remembers_reordering_is_told_by_its_duplicates() {
    let few = Path { lost: |k| k % 130 == 100, bytes: 3_000_000, ..BAD };
    for (dupthresh, told) in [(12, Some(12)), (3, None)] {
        let mut sender = stack("linux-6-reno");
        sender.options.sack = false;
        sender.detect.dupthresh = dupthresh;
        let found = replayed(&captured_of(&sender, &few, Span::ZERO), "linux-6-reno");
        assert_eq!(found.remembered, told, "{:?}", found.all);
        assert!(found.all.right + 5 >= found.all.sends, "{dupthresh}: {:?}", found.all);
    }
}

#[test]
fn of_all_stacks_the_one_that_sent_it_explains_it_best() {
    let names: Vec<_> = all_wire().collect();
    let stacks: Vec<_> = names.iter().map(|name| stack(name)).collect();
    for sender in [
        "linux-6-cubic",
        "linux-6-reno",
        "linux-6-bbr",
        "linux-2.6-cubic",
        "linux-2.2",
        "rfc-sack",
        "freebsd-14",
    ] {
        let packets = captured(sender, &BAD);
        let transfer = Transfer::new(&packets, ends().0).unwrap_or_else(|u| panic!("{}", u.says()));
        let found: Vec<_> = stacks.iter().map(|s| replay(&transfer, s)).collect();
        let order = by_fit(&found);
        let best = &found[order[0]];
        let equal: Vec<_> =
            order.iter().filter(|&&k| !best.against(&found[k], &transfer).is_ahead()).collect();
        assert_eq!(best.wrong(), 0, "{sender}: {}", names[order[0]]);
        assert!(equal.iter().any(|&&k| names[k] == sender), "{sender}: like {}", names[order[0]]);
        assert!(equal.len() <= 3, "{sender}: {:?}", equal.iter().map(|&&k| names[k]).collect::<Vec<_>>());
    }
}

#[test]
fn two_that_do_the_same_are_not_told_apart() {
    let packets = captured("linux-6-cubic", &Path { lost: |_| false, bytes: 10_000, ..BAD });
    let transfer = Transfer::new(&packets, ends().0).unwrap_or_else(|u| panic!("{}", u.says()));
    let [cubic, reno] = ["linux-6-cubic", "linux-6-reno"].map(|name| replay(&transfer, &stack(name)));
    let against = cubic.against(&reno, &transfer);
    assert_eq!(against, Against::default());
    assert!(!against.is_ahead());
    assert_eq!(by_fit([&reno, &cubic]), [0, 1]);
}

#[test]
fn a_sender_that_only_ever_sends_new_data_has_all_but_the_retransmissions_right() {
    let found = replayed(&captured("linux-6-reno", &BAD), "linux-6-reno");
    assert_eq!(found.retransmissions.null_right, 0);
    assert_eq!(found.all.null_right, found.all.sends - found.retransmissions.sends);
}

#[test]
fn what_a_capture_must_hold_is_said_where_it_does_not() {
    let packets = captured("rfc-sack", &Path { lost: |_| false, bytes: 30_000, ..BAD });
    let refused = |packets: &[Packet]| Transfer::new(packets, ends().0).map(|_| ()).unwrap_err();
    // A capture that begins within the transfer, without an ACK of what it shows, or without any.
    assert_eq!(refused(&packets[3..5]), Unknown::NoAcks);
    let before: Vec<Packet> = [&packets[1..2], &packets[3..5]].concat();
    assert_eq!(refused(&without_syn(before)), Unknown::NoRoundTrip);
    let own: Vec<Packet> = packets.iter().copied().filter(|p| p.tuple.src == ends().0).collect();
    assert_eq!(refused(&own), Unknown::HalfHandshake);
    assert_eq!(refused(&packets[..3]), Unknown::NoData);
    let mut cut = packets.clone();
    cut[0].seg.options_cut = true;
    assert_eq!(refused(&cut), Unknown::OptionsCut);
}

fn without_syn(mut packets: Vec<Packet>) -> Vec<Packet> {
    for p in &mut packets {
        p.seg.flags = p.seg.flags.without(Flags::SYN);
    }
    packets
}

/// In slow start, and beyond it after a loss: the rest of a transfer is replayed from the second round trip on. How far the
/// window had grown towards its next segment is not in the capture: what leaves beyond it raises it, and is wrong.
#[test]
fn a_transfer_under_way_is_taken_up_after_a_round_trip() {
    for (name, lost, from, slow_start, least) in [
        ("linux-6-reno", (|_| false) as fn(usize) -> bool, 60, true, 0.95),
        ("rfc-sack", |k| k == 100, 700, false, 0.95),
        ("linux-6-reno", |k| k == 100, 700, false, 0.95),
    ] {
        let packets = captured(name, &Path { lost, bytes: 1_500_000, receiver: "linux-6-cubic", ..BAD });
        let later = &packets[from..];
        let transfer = Transfer::new(later, ends().0).unwrap_or_else(|u| panic!("{name}: {}", u.says()));
        assert!(transfer.assumed().is_some_and(|said| said.len() >= 2), "{name}");
        let found = replay(&transfer, &stack(name));
        let entered = found.entered.unwrap_or_else(|| panic!("{name}"));
        eprintln!(
            "{name} {entered:?} {:?} {:?}",
            found.all,
            &found.differences[..6.min(found.differences.len())]
        );
        assert_eq!(entered.slow_start, slow_start, "{name}: {entered:?}");
        let recorded = later.iter().filter(|p| p.tuple.src == ends().0 && p.seg.payload > 0).count() as u64;
        let besides = found.differences.iter().filter(|d| d.kind == Kind::MadeBesides).count() as u64;
        assert_eq!(found.all.sends + entered.not_judged, recorded + besides, "{name}");
        assert!(found.all.sends > 200, "{name}: {:?}", found.all);
        let share = found.all.right as f64 / found.all.sends as f64;
        assert!(share > least, "{name}: {share} {:?}", &found.differences[..5.min(found.differences.len())]);
    }
}

/// While ACKs come within 0.1 ms of what is sent, the capture does not tell which of them the host took first: the transfer
/// is judged from the first ACK on that does not, with what was out for cwnd.
#[test]
fn a_transfer_whose_first_acks_come_at_once_is_taken_up_behind_them() {
    let path = Path { lost: |k| matches!(k, 150 | 160..=170), ..BAD };
    let packets = captured_through(&stack("linux-6-reno"), &path, Span::ZERO, Span::from_micros(20), 24);
    let found = replayed(&packets, "linux-6-reno");
    let entered = found.entered.unwrap_or_else(|| panic!("{:?}", found.all));
    assert!(entered.slow_start && entered.not_judged > 10, "{entered:?}");
    let recorded = packets.iter().filter(|p| p.tuple.src == ends().0 && p.seg.payload > 0).count() as u64;
    let besides = found.differences.iter().filter(|d| d.kind == Kind::MadeBesides).count() as u64;
    assert_eq!(found.all.sends + entered.not_judged, recorded + besides);
    assert!(entered.not_judged * 4 < recorded, "{entered:?} of {recorded}");
    assert!(found.all.right * 100 > found.all.sends * 98, "{entered:?} {:?}", found.all);
    // Its handshake is known: nothing of it is assumed.
    let transfer = Transfer::new(&packets, ends().0).unwrap_or_else(|u| panic!("{}", u.says()));
    assert_eq!(transfer.assumed(), None);
    assert_eq!(replayed(&captured("linux-6-reno", &BAD), "linux-6-reno").entered, None);
}

#[test]
fn data_that_the_capture_misses_is_of_no_use_and_the_rest_goes_on() {
    let mut packets = captured("rfc-sack", &Path { lost: |_| false, bytes: 300_000, ..BAD });
    let sends = |packets: &[Packet]| {
        packets
            .iter()
            .enumerate()
            .filter(|(_, p)| p.tuple.src == ends().0 && p.seg.payload > 0)
            .map(|(at, _)| at)
            .nth(40)
    };
    let gone = sends(&packets).unwrap_or(0);
    packets.remove(gone);
    let found = replayed(&packets, "rfc-sack");
    assert!(found.unusable.sends() > 0, "{:?}", found.unusable);
    assert!(found.all.right + 3 >= found.all.sends, "{:?} {:?}", found.all, found.differences);
}
