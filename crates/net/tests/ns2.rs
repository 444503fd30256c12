//! Links against ns-2.35's own event traces: hosts repeat what the reference's hosts sent, and every hop's events
//! must come at the same times (1 us, as printed), in the same order, with the same drops.
//!
//! What a host sends on an ACK is sent on the same ACK here; what its timer sends, at the printed time.

use flate2::read::GzDecoder;
use instant::{Span, Time};
use links::channel::list;
use links::queue::droptail;
use links::spec::*;
use links::watch::{Backlog, Watch};
use links::{Cause, Class, Facts};
use net::{Duplex, Event, LinkId, Net, NodeId, TimerId, Topology};
use std::collections::BTreeMap;
use std::io::Read;

const FH: NodeId = NodeId(0);
const MH: NodeId = NodeId(2);
/// ns-2 prints six digits.
const PRINTED: Span = Span(1_000);

#[derive(Clone, Debug)]
struct Row {
    time: Time,
    event: String,
    packet: u32,
}

fn reference(name: &str) -> Vec<Row> {
    let path = format!("{}/../../tests/reference/ns-2.35/{name}.csv.gz", env!("CARGO_MANIFEST_DIR"));
    let file = std::fs::File::open(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).unwrap();
    text.lines().skip(1).map(row).collect()
}

fn row(line: &str) -> Row {
    let mut fields = line.split(',');
    let mut field = || fields.next().unwrap();
    let time = Time::ZERO + Span::from_secs_f64(field().parse().unwrap());
    Row { time, event: field().to_owned(), packet: field().parse().unwrap_or(u32::MAX) }
}

/// What the sender does, in the order of what makes it do so.
#[derive(Default)]
struct Script {
    /// Packets sent on the n-th ACK.
    on_ack: Vec<Vec<u32>>,
    /// Packets sent at a time that is no ACK's.
    timed: Vec<(Time, Vec<u32>)>,
}

fn script(rows: &[Row], ack: &str, sends: &[&str]) -> Script {
    let mut script = Script::default();
    let mut last_ack = None;
    for row in rows {
        if row.event == ack {
            script.on_ack.push(vec![]);
            last_ack = Some(row.time);
        } else if sends.contains(&row.event.as_str()) {
            if last_ack == Some(row.time) {
                script.on_ack.last_mut().unwrap().push(row.packet);
            } else if script.timed.last().is_some_and(|(t, _)| *t == row.time) {
                script.timed.last_mut().unwrap().1.push(row.packet);
            } else {
                script.timed.push((row.time, vec![row.packet]));
            }
        }
    }
    script
}

fn link(rate_bps: u64, delay_ms: i64, packets: u32, channel: Option<ChannelSpec>) -> LinkSpec {
    LinkSpec {
        rate_bps: Some(rate_bps),
        delay: Span::from_millis(delay_ms),
        framing_bytes: 0,
        queue: QueueSpec::DropTail(droptail::Params { limit: Limit::Packets(packets) }),
        channels: channel.into_iter().collect(),
        arq: None,
    }
}

fn down(up: Span, length: Span) -> ChannelSpec {
    let schedule = Schedule::Periodic { every: up + length, length, phase: up };
    let outage = Outage { schedule, anchor: Anchor::Start, hold: false, flush: Flush::Flight };
    ChannelSpec {
        name: "down".into(),
        at: Place::Wire,
        only: Only::All,
        flows: vec![],
        kind: ChannelKind::Outage(outage),
    }
}

/// FH - BS - MH. ns-2's drop-tail queue of n packets drops the packet that would be its n-th: it holds n - 1.
fn wireless(queue: u32, outage: Option<ChannelSpec>, lost: Option<ChannelSpec>) -> Topology {
    let pair = |name: &str, a, b, forward, back| Duplex { name: name.into(), between: (a, b), forward, back };
    let near = (link(1_500_000, 10, queue - 1, lost), link(1_500_000, 10, queue - 1, None));
    let far = link(800_000, 100, queue - 1, outage);
    let links =
        vec![pair("FH-BS", FH, NodeId(1), near.0, near.1), pair("BS-MH", NodeId(1), MH, far.clone(), far)];
    Topology { nodes: 3, links }
}

/// Events by name, as (time, packet), in the order in which they came.
#[derive(Default)]
struct Seen(BTreeMap<String, Vec<(Time, u32)>>);

impl Seen {
    fn add(&mut self, event: &str, time: Time, packet: u32) {
        self.0.entry(event.to_owned()).or_default().push((time, packet));
    }
}

const TO_BS: LinkId = LinkId::forward(0);
const TO_MH: LinkId = LinkId::forward(1);

impl Watch<u32> for Seen {
    fn dequeued(&mut self, link: LinkId, now: Time, _: &Facts, p: &u32, _: Span, _: Backlog) {
        match link {
            TO_BS => self.add("data_tx_start_FH", now, *p),
            TO_MH => self.add("data_tx_start_BS", now, *p),
            _ => {}
        }
    }
    fn dropped(&mut self, link: LinkId, now: Time, facts: &Facts, p: &u32, cause: Cause) {
        let event = match (facts.class, cause) {
            (Class::Ack, _) => "ack_drop",
            (_, Cause::Channel(_)) if link == TO_MH => "data_drop_linkdown_untraced",
            _ => "data_drop",
        };
        self.add(event, now, *p);
    }
    fn delivered(&mut self, link: LinkId, now: Time, _: &Facts, p: &u32) {
        match link {
            TO_BS => self.add("data_arrive_BS", now, *p),
            TO_MH => self.add("data_arrive_MH", now, *p),
            _ if link == TO_MH.twin() => self.add("ack_arrive_BS", now, *p),
            _ => self.add("ack_arrive_FH", now, *p),
        }
    }
}

/// Runs both hosts by the script. ACK numbers are those that a cumulative receiver gives.
fn run(topology: &Topology, script: &Script, end: Time) -> Seen {
    let mut seen = Seen::default();
    let mut net = Net::new(topology, 1).unwrap();
    for (n, (time, _)) in script.timed.iter().enumerate() {
        net.set_timer(TimerId(n as u32), Some(*time));
    }
    let (mut acks, mut got, mut next) = (0, std::collections::BTreeSet::new(), 0u32);
    let data = Facts { len: 1024, class: Class::Data, ..Facts::default() };
    let ack = Facts { len: 40, class: Class::Ack, ..Facts::default() };
    while let Some((now, event)) = net.step_until(end, &mut seen) {
        let send = match event {
            Event::Timer(TimerId(n)) => &script.timed[n as usize].1,
            Event::Arrived { at: MH, packet, .. } => {
                got.insert(packet);
                while got.remove(&next) {
                    next += 1;
                }
                net.send(now, MH, FH, ack, next.saturating_sub(1), &mut seen);
                continue;
            }
            Event::Arrived { .. } => {
                acks += 1;
                let Some(send) = script.on_ack.get(acks - 1) else { continue };
                send
            }
        };
        for packet in send {
            net.send(now, FH, MH, data, *packet, &mut seen);
        }
    }
    for link in 0..4 {
        let c = net.counters(LinkId(link));
        assert_eq!(c.offered, c.delivered + c.dropped() + c.inside());
    }
    seen
}

/// The rows of each event, in order and in time.
fn compare(name: &str, rows: &[Row], seen: &Seen, events: &[(&str, &str)]) {
    for (theirs, ours) in events {
        let theirs: Vec<&Row> = rows.iter().filter(|r| r.event == *theirs).collect();
        let empty = vec![];
        let ours_seen = seen.0.get(*ours).unwrap_or(&empty);
        for (n, (t, o)) in theirs.iter().zip(ours_seen).enumerate() {
            let close = (o.0 - t.time).0.abs() <= PRINTED.0;
            assert!(close && o.1 == t.packet, "{name}, {ours} {n}: {o:?} is not {t:?}");
        }
        assert_eq!(ours_seen.len(), theirs.len(), "{name}: number of {ours}");
    }
}

fn outage(name: &str, up: f64, length: f64, least_rows: usize) {
    let rows = reference(name);
    assert!(rows.len() >= least_rows);
    let script = script(&rows, "ack_arrive_FH", &["data_enqueue_FH", "data_retransmit_enqueue_FH"]);
    let channel = down(Span::from_secs_f64(up), Span::from_secs_f64(length));
    let end = rows.last().unwrap().time + PRINTED;
    let seen = run(&wireless(50, Some(channel), None), &script, end);
    let same = [
        "data_tx_start_FH",
        "data_arrive_BS",
        "data_tx_start_BS",
        "data_arrive_MH",
        "ack_arrive_BS",
        "ack_arrive_FH",
        "ack_drop",
        "data_drop",
        "data_drop_linkdown_untraced",
    ];
    compare(name, &rows, &seen, &same.map(|e| (e, e)));
}

/// Everything in queue or in flight, both directions, is lost when the link goes down, the queue first; what
/// comes while it is down is lost too.
#[test]
fn link_down_3_s_up_300_ms_down() {
    outage("outage_trace_all_variants", 3.0, 0.3, 3700);
}

#[test]
fn link_down_1_s_up_100_ms_down() {
    outage("outage_fig2_up1_down0.1_all_variants", 1.0, 0.1, 300);
}

#[test]
fn link_down_5_s_up_2_s_down() {
    outage("outage_fig3_up5_down2_all_variants", 5.0, 2.0, 3400);
}

/// Without Sack, whose ACKs grow with their blocks: what a host sends is not the subject here.
const VARIANTS: [&str; 4] = ["tahoe", "reno", "newreno", "vegas"];

fn lost_at_ingress(ordinals: &[u64]) -> ChannelSpec {
    let kind = ChannelKind::List(list::Params { ordinals: ordinals.to_vec() });
    ChannelSpec { name: "list".into(), at: Place::Ingress, only: Only::All, flows: vec![], kind }
}

fn end_to_end(name: &str, topology: &Topology, sends: &[&str]) {
    let rows = reference(name);
    assert!(rows.len() > 1500, "{name} has {} rows", rows.len());
    let script = script(&rows, "ack", sends);
    let seen = run(topology, &script, rows.last().unwrap().time + PRINTED);
    let same = [("arrive", "data_arrive_MH"), ("ack", "ack_arrive_FH"), ("drop", "data_drop")];
    compare(name, &rows, &seen, &same);
}

/// Queues of 6 packets: the same packets find no room.
#[test]
fn short_queues_drop_the_same_packets() {
    for variant in VARIANTS {
        end_to_end(&format!("queue6_{variant}_old"), &wireless(6, None, None), &["send"]);
    }
}

#[test]
fn listed_drops_take_no_time_of_the_link() {
    for variant in VARIANTS {
        for (name, lost) in [("drop2", &[30, 32][..]), ("drop4_run", &[30, 31, 32, 33])] {
            let topology = wireless(50, None, Some(lost_at_ingress(lost)));
            // A packet that is dropped before the queue has no row of its being sent.
            end_to_end(&format!("{name}_{variant}_old"), &topology, &["send", "drop"]);
        }
    }
}
