//! Runs one scenario and says what it cost: `simulate SCENARIO.toml [--record] [--share F] [--seed N] [--stack NAME …]`.
//!
//! One line of JSON. With `--record` everything is recorded, into a counter. Time is CPU time of this process. Stacks are run
//! in turns, so that a machine whose speed drifts treats all alike; a line is the best of each, beside the first one's time a
//! packet.

use instant::Span;
use net::NodeId;
use scenario::model::{Record, Scenario, Transport};
use sim::rows::{AppRow, BlockedRow, DropRow, HeldRow, HostRow, QueueRow, ResentRow, StateRow};
use sim::{End, Frame, Simulation, Sink, Summary};
use std::path::Path;
use std::process::ExitCode;
use wire::Packet;

const USAGE: &str = "simulate SCENARIO.toml [--record] [--share F] [--seed N]
  --record    record everything, into a counter, instead of nothing
  --share F   run that share of the scenario's duration, 0.1 for a tenth
  --seed N    instead of the scenario's
  --stack A   both ends of all flows have this stack; more than one are compared
  --turns N   how often each stack is run, 3 unless told";

struct Wanted {
    scenario: String,
    record: bool,
    share: f64,
    seed: Option<u64>,
    stacks: Vec<String>,
    turns: u32,
}

fn wanted() -> Option<Wanted> {
    let mut args = std::env::args().skip(1);
    let scenario = args.next()?;
    let mut w = Wanted { scenario, record: false, share: 1.0, seed: None, stacks: Vec::new(), turns: 3 };
    while let Some(option) = args.next() {
        match option.as_str() {
            "--record" => w.record = true,
            "--share" => w.share = args.next()?.parse().ok().filter(|s| *s > 0.0)?,
            "--seed" => w.seed = Some(args.next()?.parse().ok()?),
            "--stack" => w.stacks.push(args.next()?),
            "--turns" => w.turns = args.next()?.parse().ok().filter(|n| *n > 0)?,
            _ => return None,
        }
    }
    Some(w)
}

/// Takes every row and looks at it, so that none can be left out; keeps only how many there were.
#[derive(Default)]
struct Counter {
    rows: u64,
}

impl Counter {
    fn count<T>(&mut self, row: &T) {
        std::hint::black_box(row);
        self.rows += 1;
    }
}

impl Sink for Counter {
    fn packet(&mut self, _: NodeId, _: &Frame, packet: &Packet) {
        self.count(packet);
    }
    fn host(&mut self, row: &HostRow) {
        self.count(row);
    }
    fn state(&mut self, row: &StateRow) {
        self.count(row);
    }
    fn queue(&mut self, row: &QueueRow) {
        self.count(row);
    }
    fn dropped(&mut self, row: &DropRow) {
        self.count(row);
    }
    fn resent(&mut self, row: &ResentRow) {
        self.count(row);
    }
    fn application(&mut self, row: &AppRow) {
        self.count(row);
    }
    fn blocked(&mut self, row: &BlockedRow) {
        self.count(row);
    }
    fn held(&mut self, row: &HeldRow) {
        self.count(row);
    }
}

/// Captures at every node, the state of every sender, every queue, every packet.
fn everything(scenario: &Scenario) -> Record {
    Record {
        capture: (0..scenario.nodes.len()).collect(),
        snap_bytes: None,
        state: (0..scenario.flows.len()).collect(),
        queues: (0..scenario.links.len()).collect(),
        drops: true,
        retransmissions: true,
        packets: true,
        applications: true,
        blocked: true,
        held: true,
    }
}

fn load(w: &Wanted, stack: Option<&str>) -> Result<Scenario, String> {
    let mut scenario = scenario::load(Path::new(&w.scenario), &[]).map_err(|e| e.to_string())?;
    if let Some(name) = stack {
        scenario.stacks = vec![scenario::describe::load(name).map_err(|e| e.to_string())?];
        for flow in &mut scenario.flows {
            if let Transport::Tcp { stack, receiver } = &mut flow.transport {
                (*stack, *receiver) = (0, 0);
            }
        }
    }
    scenario.seed = w.seed.unwrap_or(scenario.seed);
    scenario.duration = scenario.duration.map(|d| Span((d.0 as f64 * w.share) as i64));
    if w.record {
        scenario.record = everything(&scenario);
    }
    Ok(scenario)
}

/// What happened, and how many rows were recorded. The scenario is let go before the run: it is large if there
/// are many links.
fn run(scenario: Scenario, record: bool) -> Result<(Summary, u64), String> {
    let (seed, name) = (scenario.seed, scenario.name.clone());
    let failed = |e: net::BuildError| format!("{name}: {e}");
    if record {
        let mut simulation = Simulation::recorded(&scenario, seed, Counter::default()).map_err(failed)?;
        drop(scenario);
        let summary = simulation.run(&mut |_| true);
        let (_, counter) = simulation.finish();
        Ok((summary, counter.rows))
    } else {
        let mut simulation = Simulation::new(&scenario, seed).map_err(failed)?;
        drop(scenario);
        Ok((simulation.run(&mut |_| true), 0))
    }
}

/// Data packets that reached the applications in order: bytes delivered over the mean payload of a packet.
fn data_packets(summary: &Summary) -> f64 {
    let ways = summary.connections.iter().flat_map(|c| c.ways);
    let of = |w: sim::stats::Way| match w.data_packets {
        0 => 0.0,
        packets => w.delivered_bytes as f64 * packets as f64 / w.data_bytes as f64,
    };
    ways.map(of).sum()
}

/// Packets that came to the end of a link.
fn crossings(summary: &Summary) -> u64 {
    summary.links.iter().flatten().map(|l| l.delivered).sum()
}

fn line(summary: &Summary, rows: u64, cpu_s: f64) -> String {
    let packets = data_packets(summary).round();
    let resent: u64 = summary.connections.iter().flat_map(|c| c.ways).map(|w| w.resent_packets).sum();
    let timeouts: u64 = summary.connections.iter().flat_map(|c| c.ways).map(|w| w.timeouts).sum();
    let (_, peak_mib) = used();
    let each = |n: f64| if n > 0.0 { cpu_s * 1e9 / n } else { 0.0 };
    format!(
        "{{\"simulated_s\": {:.3}, \"data_packets\": {packets:.0}, \"resent\": {resent}, \"timeouts\": {timeouts}, \
         \"events\": {}, \"crossings\": {}, \"rows\": {rows}, \"cpu_s\": {cpu_s:.3}, \"ns_per_event\": {:.1}, \
         \"ns_per_packet\": {:.1}, \"peak_mib\": {peak_mib:.1}}}",
        summary.time.0 as f64 * 1e-9,
        summary.events,
        crossings(summary),
        each(summary.events as f64),
        each(packets),
    )
}

/// CPU seconds of this process so far, user and system, and the most memory it had resident, MiB.
fn used() -> (f64, f64) {
    // SAFETY: rusage is plain data for which all zeroes is valid, and getrusage only writes into it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 * 1e-6;
    (seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss as f64 / 1024.0)
}

fn main() -> ExitCode {
    let Some(w) = wanted() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let answer = if w.stacks.is_empty() { one(&w) } else { compare(&w) };
    answer.unwrap_or_else(|sentence| {
        eprintln!("{sentence}");
        ExitCode::from(2)
    })
}

fn one(w: &Wanted) -> Result<ExitCode, String> {
    let (summary, rows) = run(load(w, None)?, w.record)?;
    println!("{}", line(&summary, rows, used().0));
    Ok(match summary.end {
        End::Stuck { .. } | End::Standstill { .. } => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    })
}

/// Each stack in its turn, and again; of each the best.
fn compare(w: &Wanted) -> Result<ExitCode, String> {
    let mut best = vec![(f64::INFINITY, String::new()); w.stacks.len()];
    for _ in 0..w.turns {
        for (name, best) in w.stacks.iter().zip(&mut best) {
            let scenario = load(w, Some(name))?;
            let before = used().0;
            let (summary, rows) = run(scenario, w.record)?;
            let cpu_s = used().0 - before;
            let each_s = cpu_s / data_packets(&summary);
            if each_s < best.0 {
                *best = (each_s, line(&summary, rows, cpu_s));
            }
        }
    }
    for (name, (each_s, line)) in w.stacks.iter().zip(&best) {
        let ratio = each_s / best[0].0;
        println!("{{\"stack\": \"{name}\", \"time_to_first\": {ratio:.3}, \"run\": {line}}}");
    }
    Ok(ExitCode::SUCCESS)
}
