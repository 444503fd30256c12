//! A scenario run on the live bench and analysed: the hosts' captures go through the analysis like any other two, and
//! what only the bridge knows is kept beside it.

mod report;
mod rows;

use crate::run::{self, Findings};
use crate::simulate::tables::Book;
use crate::simulate::{At, Played};
use crate::spool::Listing;
use analysis::rows::{FlowRow, Vantage};
use analysis::{Config, Wanted};
use live::report::{End, Outcome};
use live::{Error, Plan};
use scenario::model::{Record, Scenario};
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

/// The captures that the answer is made of: the senders', the receivers'.
fn sides(plan: &Plan, outcome: &Outcome) -> [Vec<PathBuf>; 2] {
    let sent = |node: usize| -> u64 {
        let address = u32::from(plan.address(node));
        let of = |p: &live::report::Passed| {
            let ends = [p.ends.client.0, p.ends.server.0];
            ends.iter()
                .zip(p.payload_bytes)
                .filter(|(end, _)| **end == address)
                .map(|(_, bytes)| bytes)
                .sum::<u64>()
        };
        outcome.passed.iter().map(of).sum()
    };
    let mut taken: Vec<&live::report::Taken> = outcome.captures.iter().collect();
    taken.sort_by_key(|t| std::cmp::Reverse(sent(t.node)));
    let of = |at: usize| taken.get(at).map(|t| t.path.clone()).into_iter().collect();
    [of(0), of(1)]
}

fn analyse(request: &Request, plan: &Plan, outcome: &Outcome) -> Result<Findings, Error> {
    let [sender, receiver] = sides(plan, outcome);
    let all = Wanted { retransmissions: true, intervals: true, rtts: true, packets: true };
    let config = Config { wanted: all, ..request.config.clone() };
    let wanted = |paths: &[PathBuf], receiver: &[PathBuf], vantage| run::Request {
        paths: paths.to_vec(),
        receiver: receiver.to_vec(),
        config: Config { vantage: config.vantage.or(vantage), ..config.clone() },
        listing: request.listing,
        ..run::Request::default()
    };
    let one = |paths: &[PathBuf], vantage| run::analyze(&wanted(paths, &[], Some(vantage)), &mut |_| true);
    let found = match request.at {
        At::Sender => one(&sender, Vantage::Sender),
        At::Receiver => one(&receiver, Vantage::Receiver),
        // Where nothing reached the other host, its capture is empty.
        At::Both => run::analyze(&wanted(&sender, &receiver, None), &mut |_| true)
            .or_else(|_| one(&sender, Vantage::Sender)),
    };
    found.map_err(|why| match &outcome.end {
        End::Failed(first) => Error::Failed(format!("{first}; {why}")),
        _ => Error::Failed(why),
    })
}

/// What the bridge knows, with the names that it has in the analysis.
fn record(request: &Request, plan: &Plan, outcome: &Outcome, found: &mut Findings) -> Result<Played, Error> {
    let scenario = &request.scenario;
    let mut names = rows::names(scenario, plan, outcome);
    let failed = |e: std::io::Error| Error::Failed(e.to_string());
    for row in found.shelf.rows::<FlowRow>().map_err(failed)? {
        rows::learn(&mut names, outcome, &row.map_err(failed)?);
    }
    let report = report::report(scenario, request.at, plan, outcome);
    let record = Record { drops: true, retransmissions: false, packets: false, ..scenario.record.clone() };
    let book = Book::new(rows::kept(outcome), names, &record);
    let facts = &mut found.facts;
    facts.warnings.extend(report.warnings());
    facts.warnings.extend(book.complaints());
    facts.interrupted = outcome.end == End::Stopped;
    facts.origin = outcome.origin;
    facts.simulation = Some(report.json());
    Ok(Played { report, book })
}
