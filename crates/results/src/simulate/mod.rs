//! A scenario run and analysed: what the simulator's hosts send and receive goes through the analysis as packets of
//! a capture would, and what only the simulator knows is kept beside it.

pub mod captures;
mod fates;
pub mod gather;
mod held;
pub mod kept;
pub mod labelled;
pub mod many;
pub mod needs;
pub mod outages;
pub mod report;
pub mod rows;
pub mod series;
pub mod sides;
mod sinks;
pub mod tables;

use crate::facts::{Facts, Failures, Pair};
use crate::pair::with_lost_acks;
use crate::run::Findings;
use crate::spool::{Listing, Spool};
use analysis::join::Side;
use analysis::rows::{FlowRow, Vantage};
use analysis::{Analyzer, Config};
use capture::Info;
use captures::Captures;
use fates::Known;
use instant::{Span, Time};
use kept::Kept;
use needs::Guard;
use outages::Taken;
use report::Report;
use scenario::model::{Flow, Link, Record, Scenario, Transport};
use sides::Sides;
use sim::{End, Simulation, Summary};
use sinks::{Done, Recording, Told};
use std::path::PathBuf;
use tables::{Names, RunRows};
use tcp::stack::{EcnUse, Kind};

/// Where the packets that are analysed were seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum At {
    /// At both ends: every loss is known.
    #[default]
    Both,
    Sender,
    Receiver,
}

impl At {
    pub const ALL: [(&'static str, At); 3] =
        [("both", At::Both), ("sender", At::Sender), ("receiver", At::Receiver)];

    pub fn name(self) -> &'static str {
        match self {
            At::Both => "both",
            At::Sender => "sender",
            At::Receiver => "receiver",
        }
    }
}

/// Which of the simulator's own rows to keep, besides those that the scenario records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    pub state: bool,
    pub queues: bool,
    pub drops: bool,
    pub truth: bool,
    pub hosts: bool,
    pub applications: bool,
    pub blocked: bool,
    pub held: bool,
}

#[derive(Clone, Debug)]
pub struct Request {
    pub scenario: Scenario,
    pub seed: u64,
    pub at: At,
    pub config: Config,
    pub listing: Listing,
    pub wish: Wish,
    /// The folder for the captures that the scenario asks for; without one none is written.
    pub captures: Option<PathBuf>,
    /// Bytes that the run may take.
    pub max_memory: Option<u64>,
}

/// How far all passes together are, in the run's own time: of two passes each counts half.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    pub done: Span,
    /// `None` if the scenario has no end of its own.
    pub total: Option<Span>,
    pub events: u64,
    /// It was told to stop: is there time to make an answer of what was seen?
    pub ending: bool,
}

/// What a run leaves besides what its packets tell.
pub struct Played {
    pub report: Report,
    pub run_rows: RunRows,
    /// The captures that it wrote.
    pub captures: Vec<PathBuf>,
}

/// Runs, and analyses. `go_on` is asked every few thousand events; once it says no, the run ends there, and what was
/// seen is the answer: of two passes the second may have seen less, as it is asked whether there is time left.
///
/// One pass is enough, unless so many packets would have to wait for the fate of one that memory would not be bounded.
pub fn run(request: &Request, go_on: &mut dyn FnMut(Progress) -> bool) -> Result<(Findings, Played), String> {
    run_holding(request, held::MOST, go_on)
}

/// The same where so many packets may wait.
fn run_holding(
    request: &Request,
    most: usize,
    go_on: &mut dyn FnMut(Progress) -> bool,
) -> Result<(Findings, Played), String> {
    let sides = Sides::new(&request.scenario);
    let scenario = recording(request, &sides);
    let guard = Guard::new(request.max_memory);
    let mut clock = Passes { go_on, passes: 1, pass: 0, stop_at: None, guard, exceeded: None };
    let told = if request.at == At::Both { Told::as_it_goes(most) } else { Told::Nothing };
    let (done, summary) = play(request, &scenario, &sides, told, &mut clock)?;
    if done.analysed {
        return answer(request, &scenario, &sides, done, &summary, None, &mut clock);
    }
    (clock.passes, clock.pass) = (2, 1);
    let told = done.known.as_ref().map_or(Told::Nothing, Told::Before);
    let (again, summary) = play(request, &scenario, &sides, told, &mut clock)?;
    answer(request, &scenario, &sides, again, &summary, done.known, &mut clock)
}

/// The scenario with what this run needs to be told: the packets at the ends of every connection, and each loss.
fn recording(request: &Request, sides: &Sides) -> Scenario {
    let mut scenario = request.scenario.clone();
    let (flows, links) = (scenario.flows.len(), scenario.links.len());
    let record = &mut scenario.record;
    let all_if = |wanted: bool, asked: &[usize], n: usize| match (wanted, asked.is_empty()) {
        (true, true) => (0..n).collect(),
        _ => asked.to_vec(),
    };
    *record = Record {
        capture: sides.ends(&record.capture),
        state: all_if(request.wish.state, &record.state, flows),
        queues: all_if(request.wish.queues, &record.queues, links),
        drops: true,
        retransmissions: record.retransmissions || request.wish.truth,
        packets: record.packets || request.wish.hosts,
        applications: record.applications || request.wish.applications,
        blocked: record.blocked || request.wish.blocked,
        held: record.held || request.wish.held,
        snap_bytes: record.snap_bytes,
    };
    scenario
}

/// What stops a run, over its passes: the second ends where the first was stopped.
struct Passes<'a> {
    go_on: &'a mut dyn FnMut(Progress) -> bool,
    passes: u32,
    pass: u32,
    stop_at: Option<u64>,
    guard: Guard,
    /// What stopped it, if that was neither its end nor the caller.
    exceeded: Option<String>,
}

impl Passes<'_> {
    fn goes_on(&mut self, p: sim::Progress) -> bool {
        if self.stop_at.is_some_and(|events| p.events >= events) {
            return false;
        }
        let (pass, passes) = (i64::from(self.pass), i64::from(self.passes));
        let elapsed = p.now - Time::ZERO;
        let progress = Progress {
            done: p.duration.map_or(elapsed, |d| d / passes * pass + elapsed / passes),
            total: p.duration,
            events: p.events,
            ending: self.stop_at.is_some(),
        };
        if self.stop_at.is_some() {
            return (self.go_on)(progress);
        }
        self.exceeded = self.guard.exceeded();
        if self.exceeded.is_some() || !(self.go_on)(progress) {
            self.stop_at = Some(p.events);
            return false;
        }
        true
    }
}

/// A pass: packets into the analysis, rows onto the shelf, captures onto the disk.
fn play(
    request: &Request,
    scenario: &Scenario,
    sides: &Sides,
    told: Told<'_>,
    clock: &mut Passes<'_>,
) -> Result<(Done, Summary), String> {
    let vantage = match request.at {
        At::Both => Vantage::Both,
        At::Sender => Vantage::Sender,
        At::Receiver => Vantage::Receiver,
    };
    let vantage = request.config.vantage.or(Some(vantage));
    let config = Config { vantage, may_hold_twice: false, ..request.config.clone() };
    let spool = Spool::listing(config.wanted, request.listing);
    let captures = match &request.captures {
        Some(folder) => Captures::open(folder, &request.scenario).map_err(|e| e.to_string())?,
        None => Captures::none(),
    };
    let side = if request.at == At::Receiver { Side::Receiver } else { Side::Sender };
    let analyzer = Analyzer::new(config, sides.labelling(spool, request.at));
    let kept = Kept::new(request.wish.drops || request.scenario.record.drops);
    let sink = Recording::new(sides, side, analyzer, told, kept, Taken::new(scenario), captures);
    let mut simulation = Simulation::recorded_while(scenario, request.seed, sink, &mut |p| clock.goes_on(p))
        .map_err(|e| e.to_string())?;
    let mut summary = simulation.run(&mut |p| clock.goes_on(p));
    let (_, sink) = simulation.finish();
    if clock.stop_at.is_some() {
        summary.end = End::Stopped;
    }
    Ok((sink.finish(), summary))
}

/// What the last pass left, as an answer. `before`: what an earlier pass knows of the packets.
fn answer(
    request: &Request,
    scenario: &Scenario,
    sides: &Sides,
    done: Done,
    summary: &Summary,
    before: Option<Known>,
    clock: &mut Passes<'_>,
) -> Result<(Findings, Played), String> {
    let known = before.or(done.known);
    let shelf = match &known {
        Some(known) => with_lost_acks(done.spool, &known.lost_acks).map_err(|e| e.to_string())?,
        None => done.spool.seal(),
    };
    let mut names = Names::new(scenario);
    for row in shelf.rows::<FlowRow>().map_err(|e| e.to_string())? {
        names.learn(sides, &row.map_err(|e| e.to_string())?);
    }
    let labels = done.taken.join(scenario, sides, summary, &shelf).map_err(|e| e.to_string())?;
    names.label(labels);
    let mut report = Report::new(&request.scenario, request.at, summary, done.losses);
    report.exceeded = clock.exceeded.take();
    let mut warnings = report.warnings();
    warnings.extend(unmarked(scenario));
    warnings.extend(done.captures.complaints());
    let run_rows = RunRows::new(done.kept, names, &scenario.record);
    warnings.extend(run_rows.complaints());
    let facts = Facts {
        cut: None,
        origin: Time::ZERO,
        info: done.info,
        connections: connections(summary),
        swapped: false,
        interrupted: summary.end == End::Stopped,
        not_analysed: 0,
        warnings,
        pair: known.map(|known| pair(&known, done.opposite)),
        simulation: Some(report.json()),
        like: None,
        withheld: false,
        failures: Failures::default(),
    };
    Ok((Findings { shelf, facts }, Played { report, run_rows, captures: done.captures.paths() }))
}

/// Queues that are to mark packets, and meet none that can be marked, since no connection agrees on ECN (RFC 3168 §6.1.1).
fn unmarked(scenario: &Scenario) -> Option<String> {
    if scenario.flows.iter().any(|flow| agrees_on_ecn(scenario, flow)) {
        return None;
    }
    let marks = |l: &&Link| l.forward.queue.marks() || l.back.queue.marks();
    let links: Vec<&str> = scenario.links.iter().filter(marks).map(|l| l.name.as_str()).collect();
    let which = if links.len() == 1 { "link" } else { "links" };
    (!links.is_empty()).then(|| {
        format!(
            "queue.ecn = true of {which} {} changes nothing: no flow's sender asks for ECN (options.ecn = \"on\" of its \
             stack; the receiver's is not to be \"off\")",
            links.join(", ")
        )
    })
}

/// The side that opens the connection asks, and the other does not refuse.
fn agrees_on_ecn(scenario: &Scenario, flow: &Flow) -> bool {
    let Transport::Tcp { stack, receiver } = flow.transport else { return false };
    let ecn = |index: usize| match scenario.stacks.get(index).map(|stack| &stack.kind) {
        Some(Kind::Wire(wire)) => wire.options.ecn,
        _ => EcnUse::Off,
    };
    ecn(stack) == EcnUse::On && ecn(receiver) != EcnUse::Off
}

/// Connections that began.
fn connections(summary: &Summary) -> u64 {
    summary.connections.iter().filter(|c| c.ways[0].first_sent.is_some()).count() as u64
}

fn pair(known: &Known, receiver: Info) -> Pair {
    Pair {
        receiver,
        clock: Some(known.clock),
        matched: known.matched,
        lost: known.lost,
        not_captured: [0; 2],
        outside: known.under_way,
    }
}

#[cfg(test)]
mod tests;
