//! ns-2.35's traces, from scenario text to the packet: every send, arrival, ACK and drop in the same order and to the
//! microsecond, every value of the state traces to its printed digits, and every hop of the outages.
//!
//! The scenarios beside the traces are made by `validation/reference.py` from `cases.txt`.

mod support;

use instant::Time;
use links::{Cause, LinkId};
use scenario::model::Scenario;
use sim::rows::{DropRow, HostRow, QueueEvent, QueueRow, State, StateRow};
use sim::{Simulation, Sink};
use std::collections::BTreeMap;
use support::{lines, reference, scenario};

/// Printed with six digits: half a microsecond is rounding.
const EVENT_TOLERANCE_S: f64 = 0.6e-6;
/// Printed with five digits, which are compared after rounding.
const STATE_TOLERANCE_S: f64 = 0.6e-5;
const VARIANTS: [&str; 5] = ["tahoe", "reno", "newreno", "sack", "vegas"];

const FH: u32 = 0;
const MH: u32 = 2;
const FH_BS: LinkId = LinkId::forward(0);
const BS_FH: LinkId = LinkId::back(0);
const BS_MH: LinkId = LinkId::forward(1);
const MH_BS: LinkId = LinkId::back(1);

/// A line of a trace: time, seconds; event or variable; packet or value.
type Line = (f64, String, String);

/// What a run records, in the order in which it happens.
#[derive(Default)]
struct Log {
    events: Vec<(Time, What)>,
    states: Vec<StateRow>,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Host(HostRow),
    Queue(QueueRow),
    Drop(DropRow),
}

impl Sink for Log {
    fn host(&mut self, row: &HostRow) {
        self.events.push((row.time, What::Host(*row)));
    }
    fn queue(&mut self, row: &QueueRow) {
        self.events.push((row.time, What::Queue(*row)));
    }
    fn dropped(&mut self, row: &DropRow) {
        self.events.push((row.time, What::Drop(*row)));
    }
    fn state(&mut self, row: &StateRow) {
        self.states.push(*row);
    }
}

fn read(folder: &str, name: &str) -> String {
    lines(&reference(&format!("{folder}/{name}.toml"))).join("\n")
}

fn run(folder: &str, name: &str) -> (Scenario, Log) {
    let scenario = scenario(&read(folder, name));
    let mut run = Simulation::recorded(&scenario, scenario.seed, Log::default()).expect("a net can be built");
    run.run(&mut |_| true);
    (scenario, run.finish().1)
}

fn trace(folder: &str, name: &str) -> Vec<Line> {
    let line = |line: &String| {
        let mut columns = line.split(',');
        let mut next = || columns.next().expect("three columns").to_owned();
        (next().parse().expect("a time"), next(), next())
    };
    lines(&reference(&format!("{folder}/{name}.csv.gz")))[1..].iter().map(line).collect()
}

/// Lost by a link that was down already: ns-2 leaves no trace of these.
fn is_unseen(scenario: &Scenario, row: &DropRow) -> bool {
    let link = &scenario.links[row.link.pair()];
    let spec = if row.link.is_forward() { &link.forward } else { &link.back };
    let is_outage =
        |index: u16| matches!(spec.channels[usize::from(index)].kind, links::spec::ChannelKind::Outage(_));
    matches!(row.cause, Cause::Channel(index) if is_outage(index))
}

/// ns-2's number of the packet: that of a data packet, or the last that an ACK acknowledges.
fn number(packet: &sim::rows::PacketFacts) -> i64 {
    packet.offset as i64 - i64::from(!packet.forward)
}

// ---- end to end ----

/// Sends at FH, arrivals at MH, ACKs at FH, drops. A packet on the list is lost before the queue: it is not sent.
fn end_to_end(scenario: &Scenario, log: &Log) -> Vec<Line> {
    let mut out: Vec<Line> = Vec::new();
    for (time, what) in &log.events {
        let (name, packet) = match what {
            What::Host(row) => match (row.node, row.sent) {
                (FH, true) => ("send", row.packet),
                (FH, false) => ("ack", row.packet),
                (MH, false) => ("arrive", row.packet),
                _ => continue,
            },
            What::Drop(row) if is_unseen(scenario, row) => continue,
            What::Drop(row) => {
                if row.link == FH_BS && matches!(row.cause, Cause::Channel(_)) {
                    out.pop();
                }
                (if row.packet.forward { "drop" } else { "drop_ack" }, row.packet)
            }
            What::Queue(_) => continue,
        };
        out.push((time.as_secs(), name.to_owned(), number(&packet).to_string()));
    }
    out
}

fn compare(got: &[Line], want: &[Line], tolerance_s: f64) -> Result<(), String> {
    for (at, (g, w)) in got.iter().zip(want).enumerate() {
        if (g.0 - w.0).abs() > tolerance_s || (&g.1, &g.2) != (&w.1, &w.2) {
            return Err(format!("line {}: {g:?}, ns-2.35 has {w:?}", at + 2));
        }
    }
    if got.len() != want.len() {
        return Err(format!("{} lines, ns-2.35 has {}{}", got.len(), want.len(), tally(got, want)));
    }
    Ok(())
}

fn tally(got: &[Line], want: &[Line]) -> String {
    let mut counts: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    got.iter().for_each(|r| counts.entry(&r.1).or_default()[0] += 1);
    want.iter().for_each(|r| counts.entry(&r.1).or_default()[1] += 1);
    let odd = counts.into_iter().filter(|(_, [g, w])| g != w);
    odd.map(|(name, [g, w])| format!("; {name}: {g} against {w}")).collect()
}

// ---- state ----

const VARIABLES: [&str; 5] = ["cwnd_", "ssthresh_", "dupacks_", "backoff_", "rtt_"];

/// As ns-2 prints it.
fn printed(variable: &str, s: &State) -> String {
    let packets = |bytes: f64| bytes / f64::from(s.smss_bytes);
    match variable {
        "cwnd_" => format!("{:.3}", packets(s.cwnd_bytes)),
        "ssthresh_" => format!("{:.0}", packets(s.ssthresh_bytes.expect("a one-way agent has one"))),
        "dupacks_" => s.dupacks.to_string(),
        "backoff_" => (1u64 << s.backoff).to_string(),
        _ => format!("{:.3}", s.rtt.map_or(0.0, |rtt| rtt.as_secs())),
    }
}

/// ns-2 traces each assignment; what is left when the event is over is what counts. A variable without a line after
/// the first was not traced.
fn compare_states(states: &[StateRow], want: &[Line]) -> Result<(), String> {
    for variable in VARIABLES {
        let got = states.iter().map(|r| (digits(r.time), variable.to_owned(), printed(variable, &r.state)));
        let got = settled(got);
        let want = settled(want.iter().filter(|r| r.1 == variable).cloned());
        if !want.is_empty() {
            compare(&got, &want, STATE_TOLERANCE_S)?;
        }
    }
    Ok(())
}

/// As printed with five digits.
fn digits(t: Time) -> f64 {
    (t.as_secs() * 1e5).round() / 1e5
}

/// The last value at each time, where it differs from the one before.
fn settled(lines: impl Iterator<Item = Line>) -> Vec<Line> {
    let mut out: Vec<Line> = Vec::new();
    for line in lines {
        match out.last_mut() {
            Some(last) if (last.0 - line.0).abs() < STATE_TOLERANCE_S => *last = line,
            _ => out.push(line),
        }
    }
    out.dedup_by(|b, a| a.2 == b.2);
    out
}

// ---- tests ----

fn assert_same(folder: &str, name: &str) {
    let (scenario, log) = run(folder, name);
    let events = compare(&end_to_end(&scenario, &log), &trace(folder, name), EVENT_TOLERANCE_S);
    let states = compare_states(&log.states, &trace(folder, &format!("{name}_state")));
    if let Err(e) = events.and(states) {
        panic!("{name}: {e}");
    }
}

/// Both ages of all variants.
fn all_same(program: &str) {
    for variant in VARIANTS {
        for age in ["old", "new"] {
            assert_same("ns-2.35", &format!("{program}_{variant}_{age}"));
        }
    }
}

#[test]
fn one_loss() {
    all_same("drop1");
}
#[test]
fn two_losses_in_a_window() {
    all_same("drop2");
}
#[test]
fn three_losses_in_a_window() {
    all_same("drop3");
}
#[test]
fn a_run_of_four_losses() {
    all_same("drop4_run");
}
#[test]
fn a_run_of_lost_acks() {
    all_same("ackdrop");
}
#[test]
fn queues_of_six_packets() {
    all_same("queue6");
}

/// What scripts set beside the defaults, and a run of fifteen losses. Three of the twenty are no scenarios: a wait drawn from ns-2's own
/// generator, and applications that write at given times; `crates/tcp/tests` replays those.
#[test]
fn switches_that_scripts_set() {
    let folder = reference("ns-2.35-more");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("a folder")
        .filter_map(|e| Some(e.ok()?.file_name().into_string().ok()?.strip_suffix(".toml")?.to_owned()))
        .collect();
    names.sort();
    assert_eq!(names.len(), 17, "{names:?}");
    names.iter().for_each(|name| assert_same("ns-2.35-more", name));
}

// ---- outages, hop by hop ----

fn hops(scenario: &Scenario, log: &Log) -> Vec<Line> {
    let mut highest = -1;
    let mut out = Vec::new();
    for (time, what) in &log.events {
        let (names, packet): (&[&str], _) = match what {
            What::Host(row) => (at_host(row), row.packet),
            What::Queue(row) => (at_queue(row, &mut highest), row.packet),
            What::Drop(row) if !row.packet.forward => (&["ack_drop"], row.packet),
            What::Drop(row) if is_unseen(scenario, row) => {
                (&["data_arrive_BS", "data_drop_linkdown_untraced"], row.packet)
            }
            What::Drop(row) => (&["data_drop"], row.packet),
        };
        let line = |name: &&str| (time.as_secs(), (*name).to_owned(), number(&packet).to_string());
        out.extend(names.iter().map(line));
    }
    out
}

fn at_host(row: &HostRow) -> &'static [&'static str] {
    match (row.node, row.sent) {
        (FH, false) => &["ack_arrive_FH"],
        (MH, false) => &["data_arrive_MH"],
        (MH, true) => &["ack_send_MH"],
        _ => &[],
    }
}

/// What arrives at BS is in the next queue at once.
fn at_queue(row: &QueueRow, highest: &mut i64) -> &'static [&'static str] {
    match (row.link, row.event) {
        (FH_BS, QueueEvent::Enqueued) if number(&row.packet) <= *highest => &["data_retransmit_enqueue_FH"],
        (FH_BS, QueueEvent::Enqueued) => {
            *highest = number(&row.packet);
            &["data_enqueue_FH"]
        }
        (FH_BS, QueueEvent::Dequeued) => &["data_tx_start_FH"],
        (BS_MH, QueueEvent::Enqueued) => &["data_arrive_BS"],
        (BS_MH, QueueEvent::Dequeued) => &["data_tx_start_BS"],
        (BS_FH, QueueEvent::Enqueued) => &["ack_arrive_BS"],
        (BS_FH | MH_BS, _) => &[],
        _ => unreachable!("two links"),
    }
}

/// What happens together, in any order: packets that a link loses as it goes down are listed in ns-2's own.
fn by_time(mut lines: Vec<Line>) -> Vec<Line> {
    let ten_microseconds = |s: f64| (s * 1e5).round() as i64;
    lines.sort_by(|a, b| (ten_microseconds(a.0), &a.1, &a.2).cmp(&(ten_microseconds(b.0), &b.1, &b.2)));
    lines
}

/// Paper `wireless`: Tahoe, Reno, NewReno and Sack1 are one and the same there.
fn outages_same(program: &str) {
    let want = trace("ns-2.35", &format!("{program}_all_variants"));
    let want = by_time(want.into_iter().filter(|l| !l.1.starts_with("link_")).collect());
    for variant in &VARIANTS[..4] {
        let (scenario, log) = run("ns-2.35", &format!("{program}_{variant}"));
        if let Err(e) = compare(&by_time(hops(&scenario, &log)), &want, EVENT_TOLERANCE_S) {
            panic!("{program}, {variant}: {e}");
        }
    }
}

#[test]
fn outages_of_figure_5() {
    outages_same("outage_trace");
}
#[test]
fn outages_of_figure_2() {
    outages_same("outage_fig2_up1_down0.1");
}
#[test]
fn outage_of_figure_3() {
    outages_same("outage_fig3_up5_down2");
}
