//! A scenario run on the live bench and analysed: the hosts' captures go through the analysis like any other two, and
//! what only the bridge knows is kept beside it.

mod outages;
mod report;
mod rows;
mod sides;

use crate::pair;
use crate::run::{self, Asker, Findings};
use crate::simulate::tables::Book;
use crate::simulate::{At, Played};
use crate::spool::Listing;
use analysis::join::Side;
use analysis::rows::{FlowRow, Vantage};
use analysis::{Config, Wanted};
use live::report::{End, Outcome};
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
}

/// Runs, and analyses. `go_on` is asked about fifty times a second; once it says no the run ends there, and what was
/// captured is the answer.
pub fn run(request: &Request, go_on: &mut dyn FnMut(Progress) -> bool) -> Result<(Findings, Played), Error> {
    let plan = Plan::new(&request.scenario)?;
    let failed = |e: std::io::Error| Error::Failed(format!("a folder for the captures: {e}"));
    let (passing, folder) = match &request.captures {
        Some(folder) => (None, folder.clone()),
        None => {
            let folder = tempfile::Builder::new().prefix("rexmit-").tempdir().map_err(failed)?;
            let path = folder.path().to_owned();
            (Some(folder), path)
        }
    };
    let outcome = live::run(&plan, &folder, go_on)?;
    let mut found = analyse(request, &plan, &outcome)?;
    let played = record(request, &plan, &outcome, &mut found)?;
    drop(passing);
    Ok((found, played))
}

fn analyse(request: &Request, plan: &Plan, outcome: &Outcome) -> Result<Findings, Error> {
    let all = Wanted { retransmissions: true, intervals: true, rtts: true, packets: true };
    let vantage = match request.at {
        At::Both => Vantage::Both,
        At::Sender => Vantage::Sender,
        At::Receiver => Vantage::Receiver,
    };
    let config = Config { wanted: all, vantage: Some(vantage), ..request.config.clone() };
    let wanted = run::Request { config, listing: request.listing, ..run::Request::default() };
    let sides = Sides::new(plan, outcome);
    let open = |side| sides.open(side);
    let one = |side, vantage| {
        let config = Config { vantage: Some(vantage), ..wanted.config.clone() };
        let wanted = run::Request { config, ..wanted.clone() };
        run::analyze_source(&wanted, open(side)?, &mut Asker::new(&mut |_| true))
    };
    let found = match request.at {
        At::Sender => one(Side::Sender, Vantage::Sender),
        At::Receiver => one(Side::Receiver, Vantage::Receiver),
        // Where nothing reached the other host, its capture is empty.
        At::Both => pair::analyze_sources(&wanted, &open, &mut Asker::new(&mut |_| true))
            .or_else(|_| one(Side::Sender, Vantage::Sender)),
    };
    let mut found = found.map_err(|why| match &outcome.end {
        End::Failed(first) => Error::Failed(format!("{first}; {why}")),
        _ => Error::Failed(why),
    })?;
    sides.label(&mut found.shelf, request.at).map_err(|e| Error::Failed(e.to_string()))?;
    Ok(found)
}

/// What the bridge knows, with the names that it has in the analysis.
fn record(request: &Request, plan: &Plan, outcome: &Outcome, found: &mut Findings) -> Result<Played, Error> {
    let scenario = &request.scenario;
    let mut names = rows::names(scenario, plan, outcome);
    let failed = |e: std::io::Error| Error::Failed(e.to_string());
    for row in found.shelf.rows::<FlowRow>().map_err(failed)? {
        rows::learn(&mut names, outcome, &row.map_err(failed)?);
    }
    let labels = outages::labels(scenario, outcome, &names, plan.seed, &found.shelf).map_err(failed)?;
    names.label(labels);
    let report = report::report(scenario, request.at, plan, outcome);
    let record = Record { drops: true, retransmissions: false, packets: false, ..scenario.record.clone() };
    let book = Book::new(rows::kept(plan, outcome), names, &record);
    let facts = &mut found.facts;
    facts.warnings.extend(report.warnings());
    facts.warnings.extend(book.complaints());
    facts.interrupted = outcome.end == End::Stopped;
    facts.origin = outcome.origin;
    facts.simulation = Some(report.json());
    Ok(Played { report, book })
}
