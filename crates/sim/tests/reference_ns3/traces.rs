//! Every segment, every change of cwnd and every change of the sender's queue.

use super::support::{lines, reference};
use super::{cwnd_changes, run};
use sim::Rows;
use sim::rows::QueueEvent;
use wire::{Flags, Packet, Seq, Time};

fn seconds(ns: i64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

/// The first line in which two lists differ, with what came before.
fn compare(what: &str, expected: &[String], found: &[String]) {
    for (i, (e, f)) in expected.iter().zip(found).enumerate() {
        if e != f {
            let from = i.saturating_sub(6);
            panic!(
                "{what}: line {} is {f}, expected {e}\nbefore:\n{}\nthen expected:\n{}\nfound:\n{}",
                i + 1,
                expected[from..i].join("\n"),
                expected[i..expected.len().min(i + 6)].join("\n"),
                found[i..found.len().min(i + 6)].join("\n")
            );
        }
    }
    assert_eq!(expected.len(), found.len(), "{what}: lines");
}

/// Lines of one moment in one order.
fn by_time(mut lines: Vec<String>) -> Vec<String> {
    let time = |line: &str| line.split(',').next().map(str::to_owned);
    lines.sort_by(|a, b| time(a).cmp(&time(b)).then_with(|| a.cmp(b)));
    lines
}

/// As the trace has them: received when they come up from node 0's device, sent when the device begins to send
/// them; sequence numbers count from each side's SYN.
fn segments(rows: &Rows) -> Vec<String> {
    let client = rows.packets[0].1.tuple;
    let first = |of_client: bool| {
        let syn = |p: &&Packet| p.seg.flags.has(Flags::SYN) && (p.tuple == client) == of_client;
        rows.packets.iter().map(|(_, p)| p).find(syn).map_or(Seq(0), |p| p.seg.seq)
    };
    let isns = [first(true), first(false)];
    let line = |time: Time, p: &Packet| {
        let sent = p.tuple == client;
        let [own, other] = if sent { isns } else { [isns[1], isns[0]] };
        let ack = if p.seg.flags.has(Flags::ACK) { p.seg.ack - other } else { 0 };
        // ns-3 has no PSH.
        let flags = p.seg.flags.0 & !Flags::PSH.0;
        let event = if sent { "send" } else { "recv" };
        format!("{},{event},{},{},{ack},{flags}", seconds(time.0), p.seg.seq - own, p.seg.payload)
    };
    // At node 0 each captured packet has its row: that knows the copy, and the queue when it left.
    let here = rows.hosts.iter().filter(|r| r.node == 0);
    let mut packets: Vec<(u64, &Packet)> =
        here.zip(&rows.packets).map(|(host, (_, packet))| (host.packet.copy, packet)).collect();
    packets.sort_by_key(|(copy, _)| *copy);
    let leaving = rows.queues.iter().filter(|q| q.link.is_forward() && q.event == QueueEvent::Dequeued);
    let sent = leaving.filter_map(|q| {
        let at = packets.binary_search_by_key(&q.packet.copy, |(copy, _)| *copy).ok()?;
        Some(line(q.time, packets[at].1))
    });
    let received = packets.iter().filter(|(_, p)| p.tuple != client).map(|(_, p)| line(p.time, p));
    sent.chain(received).collect()
}

fn expected(name: &str, what: &str) -> Vec<String> {
    lines(&reference(&format!("ns-3.20/full_{name}_{what}.csv.gz")))
}

fn replays(name: &str) {
    let rows = run(&format!("full_{name}"));

    compare(&format!("{name} segments"), &by_time(expected(name, "segments")), &by_time(segments(&rows)));

    let cwnd: Vec<String> = cwnd_changes(&rows)
        .iter()
        .map(|(time, before, after)| format!("{},{before},{after}", seconds(*time)))
        .collect();
    compare(&format!("{name} cwnd"), &expected(name, "cwnd"), &cwnd);

    let queue: Vec<String> = rows
        .queues
        .iter()
        .filter(|r| r.link.is_forward())
        .map(|r| {
            assert!(r.event == QueueEvent::Enqueued || r.event == QueueEvent::Dequeued);
            format!("{},{}", seconds(r.time.0), r.packets)
        })
        .collect();
    compare(&format!("{name} queue"), &expected(name, "queue"), &queue);
}

#[test]
fn tahoe_sends_what_ns3_sends() {
    replays("Tahoe");
}
#[test]
fn reno_sends_what_ns3_sends() {
    replays("Reno");
}
#[test]
fn newreno_sends_what_ns3_sends() {
    replays("NewReno");
}
#[test]
fn newreno_with_errors_sends_what_ns3_sends() {
    replays("base");
}
