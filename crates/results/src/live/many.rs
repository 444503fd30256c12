//! Runs on the live bench one after the other: two at once would be in each other's way.

use super::{Request, in_time, play, tell};
use crate::simulate::gather::{Gather, Keep, Place};
use crate::simulate::many::{Counted, Outcome, places};
use crate::simulate::series::{AllSeries, Series};
use crate::spool::Listing;
use instant::Span;
use live::{Error, Plan, Progress};
use scenario::model::{Record, Scenario};

/// Runs what is planned: a scenario's number and a seed each. `go_on` hears how many are done, and how far the one is
/// that runs; once it says no, that one is left out, and so are those after it. What the bench cannot run is an error
/// before anything runs, with the scenario's number; a run that cannot go on is one of the results.
pub fn run(
    scenarios: &[Scenario],
    runs: &[(usize, u64)],
    keep: Option<&Keep>,
    width: Option<Span>,
    go_on: &mut dyn FnMut(usize, Progress) -> bool,
) -> Result<Outcome, (usize, Error)> {
    for (which, scenario) in scenarios.iter().enumerate() {
        Plan::new(scenario).map_err(|e| (which, e))?;
    }
    let mut results: Vec<Option<Counted>> = runs.iter().map(|_| None).collect();
    let mut gather = keep.map(|keep| Gather::new(keep, runs.len()));
    let mut series: Vec<Option<Series>> = runs.iter().map(|_| None).collect();
    for (done, &(which, seed)) in runs.iter().enumerate() {
        let Some(scenario) = scenarios.get(which) else { continue };
        let request = Request { bin: width, ..request(scenario, seed, keep) };
        let counted = one(&request, done, gather.as_mut(), &mut series[done], &mut |p| go_on(done, p));
        match counted {
            Ok(None) => break,
            Ok(Some(counted)) => results[done] = Some(counted),
            Err(e @ (Error::Scenario(_) | Error::Machine(_))) => return Err((which, e)),
            Err(Error::Failed(why)) => results[done] = Some(Err(why)),
        }
    }
    let places: Vec<Option<Place>> = places(runs, &results);
    let series = width.map(|_| AllSeries::of(&places, series));
    Ok(Outcome { runs: results, rows: gather.map(|g| g.seal(places)), series })
}

/// `None` if it was stopped.
fn one(
    request: &Request,
    place: usize,
    gather: Option<&mut Gather>,
    series: &mut Option<Series>,
    go_on: &mut dyn FnMut(Progress) -> bool,
) -> Result<Option<Counted>, Error> {
    let ran = play(request, go_on)?;
    if ran.was_stopped() {
        return Ok(None);
    }
    match in_time::series(&request.scenario, &ran.plan, &ran.outcome) {
        Ok(found) => *series = found,
        Err(why) => return Ok(Some(Err(why))),
    }
    let Some(gather) = gather else { return Ok(Some(Ok(ran.report(request).counts()))) };
    let (found, played) = tell(request, &ran)?;
    let taken = gather.take(place, &found, &played);
    Ok(Some(taken.map(|()| played.report.counts()).map_err(|e| e.to_string())))
}

fn request(scenario: &Scenario, seed: u64, keep: Option<&Keep>) -> Request {
    let all_if = |wanted: bool, asked: &[usize], n: usize| match (wanted, asked.is_empty()) {
        (true, true) => (0..n).collect(),
        (true, false) => asked.to_vec(),
        (false, _) => Vec::new(),
    };
    let (asked, wish) = (&scenario.record, keep.map(|k| k.wish).unwrap_or_default());
    let record = Record {
        state: all_if(wish.state, &asked.state, scenario.flows.len()),
        queues: all_if(wish.queues, &asked.queues, scenario.links.len()),
        snap_bytes: asked.snap_bytes,
        ..Record::default()
    };
    Request {
        scenario: Scenario { seed, record, ..scenario.clone() },
        at: keep.map(|k| k.at).unwrap_or_default(),
        config: keep.map(|k| k.config.clone()).unwrap_or_default(),
        listing: Listing::default(),
        captures: None,
        bin: None,
        accept_late: true,
        from_zero: true,
    }
}
