//! Several runs, one after the other: a block of what an engine has made. Counted only, no packet is looked at and each
//! costs one pass; where rows are wanted, each is analysed as a single run is.

use super::Progress;
use super::gather::{Gather, Gathered, Keep, Place};
use super::report::{Losses, Report};
use super::series::{AllSeries, Series};
use instant::Span;
use scenario::model::{Record, Scenario};
use sim::{End, Simulation};

/// A run that was counted, or why there is none.
pub type Counted = Result<Report, String>;

/// What is run: a scenario's number and a seed each.
pub struct Plan<'a> {
    pub scenarios: &'a [Scenario],
    pub runs: &'a [(usize, u64)],
    /// Without it runs are only counted.
    pub keep: Option<Keep>,
    /// How long the intervals of the series are; without it there is none.
    pub width: Option<Span>,
}

/// What became of a plan.
pub struct Outcome {
    /// In the order of the plan; `None` where it was stopped before that.
    pub runs: Vec<Option<Counted>>,
    pub rows: Option<Gathered>,
    pub series: Option<AllSeries>,
}

/// Runs what is planned. `go_on` hears how many are done; once it says no, what has not ended is left out.
pub fn run(plan: &Plan<'_>, go_on: &mut dyn FnMut(usize) -> bool) -> Outcome {
    let mut results: Vec<Option<Counted>> = plan.runs.iter().map(|_| None).collect();
    let mut series: Vec<Option<Series>> = plan.runs.iter().map(|_| None).collect();
    let mut gather = plan.keep.as_ref().map(|keep| Gather::new(keep, plan.runs.len()));
    for (at, &(which, seed)) in plan.runs.iter().enumerate() {
        let Some(scenario) = plan.scenarios.get(which) else { break };
        let go_on_within = &mut |_| go_on(at);
        let mut in_time = plan.width.map(|width| Series::new(scenario, width));
        let done = match (&plan.keep, &mut gather) {
            (Some(keep), Some(gather)) => {
                let analysed = kept(keep, gather, at, scenario, seed, go_on_within);
                // Another pass, which goes the same way.
                match (&analysed, in_time.is_some()) {
                    (Some(Ok(_)), true) => counted(scenario, seed, &mut in_time, go_on_within).and(analysed),
                    _ => analysed,
                }
            }
            _ => counted(scenario, seed, &mut in_time, go_on_within),
        };
        let Some(done) = done else { break };
        results[at] = Some(done);
        series[at] = in_time;
        if !go_on(at + 1) {
            break;
        }
    }
    let places = places(plan.runs, &results);
    let series = plan.width.map(|_| AllSeries::of(&places, series));
    let rows = gather.map(|g| g.seal(places));
    Outcome { runs: results, rows, series }
}

/// Those that are done, numbered in the order of the plan.
pub fn places(plan: &[(usize, u64)], results: &[Option<Counted>]) -> Vec<Option<Place>> {
    let mut done = 0..;
    let place = |(&(variant, seed), result): (&(usize, u64), &Option<Counted>)| {
        result.as_ref().and_then(|_| done.next()).map(|run| Place { run, variant, seed })
    };
    plan.iter().zip(results).map(place).collect()
}

/// A run that is analysed. `None` if it was stopped.
fn kept(
    keep: &Keep,
    gather: &mut Gather,
    at: usize,
    scenario: &Scenario,
    seed: u64,
    go_on: &mut dyn FnMut(Progress) -> bool,
) -> Option<Counted> {
    let (found, played) = match super::run(&keep.request(scenario, seed), go_on) {
        Ok(done) => done,
        Err(e) => return Some(Err(e)),
    };
    if found.facts.interrupted {
        return None;
    }
    let taken = gather.take(at, &found, &played);
    Some(taken.map(|()| played.report.counts()).map_err(|e| e.to_string()))
}

/// A run that is only counted; `series`, if there is one, takes what happens in time. `None` if it was stopped.
fn counted(
    scenario: &Scenario,
    seed: u64,
    series: &mut Option<Series>,
    go_on: &mut dyn FnMut(Progress) -> bool,
) -> Option<Counted> {
    let record = Record { drops: true, packets: series.is_some(), ..Record::default() };
    let quiet = Scenario { record, ..scenario.clone() };
    let counting = Counting { losses: Losses::default(), series: series.take() };
    let mut told = |p: sim::Progress| {
        let (done, total) = (p.now - instant::Time::ZERO, p.duration);
        go_on(Progress { done, total, events: p.events, ending: false })
    };
    let mut simulation = match Simulation::recorded_while(&quiet, seed, counting, &mut told) {
        Ok(simulation) => simulation,
        Err(e) => return Some(Err(e.to_string())),
    };
    let summary = simulation.run(&mut told);
    let (_, counting) = simulation.finish();
    if summary.end == End::Stopped {
        return None;
    }
    if let Some(mut found) = counting.series {
        if let Err(why) = found.end(summary.time) {
            return Some(Err(why));
        }
        *series = Some(found);
    }
    Some(Ok(Report::unrecorded(scenario, &summary, &counting.losses)))
}

/// Which channel lost how many is known only as they are lost, and so is when what was sent.
struct Counting {
    losses: Losses,
    series: Option<Series>,
}

impl sim::Sink for Counting {
    fn host(&mut self, row: &sim::rows::HostRow) {
        if let Some(series) = &mut self.series {
            series.host(row);
        }
    }
    fn dropped(&mut self, row: &sim::rows::DropRow) {
        self.losses.add(row.link, row.cause);
        if let Some(series) = &mut self.series {
            series.dropped(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::tests::{OUTAGE, UPLOAD, scenario};

    fn seeds(n: u64) -> Vec<(usize, u64)> {
        (0..n).map(|seed| (0, seed)).collect()
    }

    fn plan<'a>(scenarios: &'a [Scenario], runs: &'a [(usize, u64)]) -> Plan<'a> {
        Plan { scenarios, runs, keep: None, width: None }
    }

    #[test]
    fn runs_stand_in_order_and_do_not_depend_on_what_ran_before_them() {
        let told = |runs: &[(usize, u64)]| -> Vec<Vec<u8>> {
            let done = run(&plan(&[scenario(UPLOAD, OUTAGE)], runs), &mut |_| true);
            done.runs.into_iter().map(|r| r.expect("not stopped").expect("a run").json()).collect()
        };
        let all = seeds(12);
        let together = told(&all);
        let apart: Vec<Vec<u8>> = all.chunks(5).flat_map(told).collect();
        assert_eq!(together, apart);
        for (seed, text) in together.iter().enumerate() {
            assert!(String::from_utf8_lossy(text).contains(&format!("\"seed\":{seed},")));
        }
    }

    #[test]
    fn what_was_done_when_it_was_stopped_is_kept() {
        let done = run(&plan(&[scenario(UPLOAD, OUTAGE)], &seeds(50)), &mut |done| done < 3);
        let there: Vec<bool> = done.runs.iter().map(Option::is_some).collect();
        assert_eq!(there.iter().filter(|there| **there).count(), 3);
        assert!(there[..3].iter().all(|there| *there), "{there:?}");
    }
}
