//! A scenario run on the live bench and analysed: the hosts' captures go through the analysis like any other two, and
//! what only the bridge knows is kept beside it.

mod in_time;
pub mod many;
mod outages;
mod report;
mod rows;
mod sides;

use crate::facts::Facts;
use crate::pair;
use crate::run::{self, Asker, Findings};
use crate::simulate::report::{Live, Report};
use crate::simulate::tables::RunRows;
use crate::simulate::{At, Played};
use crate::spool::Listing;
use analysis::join::Side;
use analysis::rows::{FlowRow, Vantage};
use analysis::{Config, Wanted};
use capture::Info;
use instant::{Span, Time};
use live::report::{End, Outcome};
use live::scratch::Scratch;
use live::{Error, Plan};
use scenario::model::{Record, Scenario};
use sides::Sides;
use std::path::PathBuf;

pub use live::Progress;

pub struct Request {
    pub scenario: Scenario,
    pub at: At,
    pub config: Config,
    pub listing: Listing,
    /// The folder in which the captures stay; without one they are gone after the analysis.
    pub captures: Option<PathBuf>,
    /// What passes is counted by intervals of this length.
    pub bin: Option<Span>,
    /// Verdicts are given even if the bridge kept no time.
    pub accept_late: bool,
    /// Times count from the beginning of the run, as a simulated one's do, and are not the wall clock's.
    pub from_zero: bool,
}

/// A run that is over, with its captures.
pub struct Ran {
    plan: Plan,
    outcome: Outcome,
    /// Where the captures lie, if they are not to stay.
    _passing: Option<Scratch>,
}

impl Ran {
    pub fn was_stopped(&self) -> bool {
        self.outcome.end == End::Stopped
    }
    pub fn report(&self, request: &Request) -> Report {
        report::report(request, &self.plan, &self.outcome)
    }
    /// What the tables say the time of its beginning is.
    fn origin(&self, request: &Request) -> Time {
        if request.from_zero { Time::ZERO } else { self.outcome.origin }
    }
}

/// Runs, and analyses. `go_on` is asked about fifty times a second; once it says no the run ends there, and what was
/// captured is the answer.
pub fn run(request: &Request, go_on: &mut dyn FnMut(Progress) -> bool) -> Result<(Findings, Played), Error> {
    tell(request, &play(request, go_on)?)
}

fn play(request: &Request, go_on: &mut dyn FnMut(Progress) -> bool) -> Result<Ran, Error> {
    let mut plan = Plan::new(&request.scenario)?;
    plan.bin = request.bin;
    let failed = |e: std::io::Error| Error::Failed(format!("a folder for the captures: {e}"));
    let (passing, folder) = match &request.captures {
        Some(folder) => (None, folder.clone()),
        None => {
            let folder = Scratch::create().map_err(failed)?;
            let path = folder.path().to_owned();
            (Some(folder), path)
        }
    };
    let outcome = live::run(&plan, &folder, go_on)?;
    Ok(Ran { plan, outcome, _passing: passing })
}

/// What it tells.
fn tell(request: &Request, ran: &Ran) -> Result<(Findings, Played), Error> {
    let mut found = analyse(request, ran)?;
    let played = record(request, ran, &mut found)?;
    Ok((found, played))
}

/// A run cannot be repeated: whatever its captures are worth, what the bridge knows is there.
fn analyse(request: &Request, ran: &Ran) -> Result<Findings, Error> {
    let Ran { plan, outcome, .. } = ran;
    let all = Wanted { retransmissions: true, intervals: true, rtts: true, packets: true };
    let vantage = match request.at {
        At::Both => Vantage::Both,
        At::Sender => Vantage::Sender,
        At::Receiver => Vantage::Receiver,
    };
    let config = Config { wanted: all, vantage: Some(vantage), ..request.config.clone() };
    let wanted = run::Request { config, listing: request.listing, ..run::Request::default() };
    let sides = Sides::new(plan, outcome, ran.origin(request));
    let whole = sides.whole(outcome);
    let open = |side| sides.open(side);
    let one = |side, vantage| {
        let config = Config { vantage: Some(vantage), ..wanted.config.clone() };
        let wanted = run::Request { config, perhaps_empty: true, ..wanted.clone() };
        run::analyze_source(&wanted, open(side)?, &mut Asker::new(&mut |_| true))
    };
    let found = match request.at {
        At::Sender => one(Side::Sender, Vantage::Sender),
        At::Receiver => one(Side::Receiver, Vantage::Receiver),
        // Where nothing reached the other host, its capture is empty.
        At::Both => pair::analyze_sources(&wanted, &open, whole.as_ref(), &mut Asker::new(&mut |_| true))
            .or_else(|_| one(Side::Sender, Vantage::Sender)),
    };
    let mut found = found.unwrap_or_else(|why| {
        let facts = Facts { warnings: vec![why], ..Facts::default() };
        Findings { shelf: wanted.spool().seal(), facts }
    });
    sides.label(&mut found.shelf, request.at).map_err(|e| Error::Failed(e.to_string()))?;
    Ok(found)
}

/// Why what the captures show is not all of the run.
fn cut(outcome: &Outcome, seen: &Info) -> Option<String> {
    let why = outcome.captures.iter().find_map(|taken| taken.error.as_deref())?;
    let end = match seen.last {
        Some(last) => format!("{:.3} s into a run of", (last - outcome.origin).as_secs()),
        None => "before the end of a run of".to_owned(),
    };
    let lasted = (outcome.time - Time::ZERO).as_secs();
    Some(format!("the captures end {end} {lasted:.3} s ({why}): what came after that does not show"))
}

/// What the bridge knows, with the names that it has in the analysis.
fn record(request: &Request, ran: &Ran, found: &mut Findings) -> Result<Played, Error> {
    let (scenario, Ran { plan, outcome, .. }) = (&request.scenario, ran);
    let origin = ran.origin(request);
    let mut names = rows::names(scenario, plan, outcome);
    let failed = |e: std::io::Error| Error::Failed(e.to_string());
    for row in found.shelf.rows::<FlowRow>().map_err(failed)? {
        rows::learn(&mut names, outcome, &row.map_err(failed)?);
    }
    let labels = outages::labels(scenario, outcome, &names, origin, &found.shelf).map_err(failed)?;
    names.label(labels);
    let report = ran.report(request);
    let Record { capture, snap_bytes, state, queues, .. } = scenario.record.clone();
    let record = Record { capture, snap_bytes, state, queues, drops: true, ..Record::default() };
    let run_rows = RunRows::new(rows::kept(plan, outcome, origin), names, &record);
    let facts = &mut found.facts;
    // What the run itself has to say goes before what its captures are worth.
    facts.warnings.splice(0..0, report.warnings());
    facts.warnings.extend(run_rows.complaints());
    facts.interrupted = outcome.end == End::Stopped;
    facts.origin = origin;
    facts.cut = cut(outcome, &facts.info);
    facts.simulation = Some(report.json());
    facts.withheld = report.live.as_ref().is_some_and(Live::is_withheld);
    let stay = request.captures.is_some();
    let captures = outcome.captures.iter().filter(|_| stay).map(|taken| taken.path.clone()).collect();
    Ok(Played { report, run_rows, captures })
}
