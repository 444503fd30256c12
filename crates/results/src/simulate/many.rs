//! Many runs on all cores. Counted only, no packet is looked at and each costs one pass; where rows are wanted, each is
//! analysed as a single run is.

use super::Progress;
use super::gather::{Gather, Gathered, Keep, Place};
use super::report::{Losses, Report};
use super::series::{AllSeries, Series};
use instant::Span;
use scenario::model::{Record, Scenario};
use sim::{End, Simulation};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A run that was counted, or why there is none.
pub type Counted = Result<Report, String>;

/// What is run: a scenario's number and a seed each.
pub struct Plan<'a> {
    pub scenarios: &'a [Scenario],
    pub runs: &'a [(usize, u64)],
    pub threads: usize,
    /// Without it runs are only counted.
    pub keep: Option<Keep>,
    /// How long the intervals of the series are; without it there is none.
    pub width: Option<Span>,
    /// What each thread does its work within.
    pub within: &'a (dyn Fn(&mut dyn FnMut()) + Sync),
}

/// Within nothing.
pub fn plainly(work: &mut dyn FnMut()) {
    work();
}

/// What became of a plan.
pub struct Outcome {
    /// In the order of the plan; `None` where it was stopped before that.
    pub runs: Vec<Option<Counted>>,
    pub rows: Option<Gathered>,
    pub series: Option<AllSeries>,
}

/// How often the caller is asked, if nothing ends meanwhile.
const ASK_EVERY: Duration = Duration::from_millis(50);

/// Runs what is planned. `go_on` hears how many are done, on the thread that calls this; once it says no, what has not ended
/// is left out.
pub fn run(plan: &Plan<'_>, go_on: &mut dyn FnMut(usize) -> bool) -> Outcome {
    let mut results: Vec<Option<Counted>> = plan.runs.iter().map(|_| None).collect();
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let gather = plan.keep.as_ref().map(|keep| Mutex::new(Gather::new(keep, plan.runs.len())));
    let mut series: Vec<Option<Series>> = plan.runs.iter().map(|_| None).collect();
    let (ended, endings) = mpsc::channel();
    let goes_on = || !stopped.load(Ordering::Relaxed);
    let work = |ended: mpsc::Sender<(usize, Counted, Option<Series>)>| {
        while goes_on() {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(&(which, seed)) = plan.runs.get(at) else { return };
            let Some(scenario) = plan.scenarios.get(which) else { return };
            let go_on = &mut |_| goes_on();
            let mut in_time = plan.width.map(|width| Series::new(scenario, width));
            let done = match (&plan.keep, &gather) {
                (Some(keep), Some(gather)) => {
                    let analysed = kept(keep, gather, at, scenario, seed, go_on);
                    // Another pass, which goes the same way.
                    match (&analysed, in_time.is_some()) {
                        (Some(Ok(_)), true) => counted(scenario, seed, &mut in_time, go_on).and(analysed),
                        _ => analysed,
                    }
                }
                _ => counted(scenario, seed, &mut in_time, go_on),
            };
            let Some(done) = done else { return };
            if ended.send((at, done, in_time)).is_err() {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..plan.threads.clamp(1, plan.runs.len().max(1)) {
            let ended = ended.clone();
            scope.spawn(|| {
                let mut ended = Some(ended);
                (plan.within)(&mut || ended.take().map_or((), &work));
            });
        }
        drop(ended);
        let mut done = 0;
        loop {
            match endings.recv_timeout(ASK_EVERY) {
                Ok((at, counted, in_time)) => {
                    results[at] = Some(counted);
                    series[at] = in_time;
                    done += 1;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if !go_on(done) {
                stopped.store(true, Ordering::Relaxed);
            }
        }
    });
    let gathered = gather.map(|g| g.into_inner().unwrap_or_else(PoisonError::into_inner));
    let places = places(plan.runs, &results);
    let series = plan.width.map(|_| AllSeries::of(&places, series));
    let rows = gathered.map(|g| g.seal(places));
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
    gather: &Mutex<Gather>,
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
    let taken = gather.lock().unwrap_or_else(PoisonError::into_inner).take(at, &found, &played);
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

    fn plan<'a>(scenarios: &'a [Scenario], runs: &'a [(usize, u64)], threads: usize) -> Plan<'a> {
        Plan { scenarios, runs, threads, keep: None, width: None, within: &plainly }
    }

    #[test]
    fn many_runs_stand_in_order_and_are_the_same_on_any_number_of_threads() {
        let told = |threads| -> Vec<Vec<u8>> {
            let done = run(&plan(&[scenario(UPLOAD, OUTAGE)], &seeds(12), threads), &mut |_| true);
            done.runs.into_iter().map(|r| r.expect("not stopped").expect("a run").json()).collect()
        };
        let alone = told(1);
        assert_eq!(alone, told(4));
        for (seed, text) in alone.iter().enumerate() {
            assert!(String::from_utf8_lossy(text).contains(&format!("\"seed\":{seed},")));
        }
    }

    #[test]
    fn what_was_done_when_it_was_stopped_is_kept() {
        let done = run(&plan(&[scenario(UPLOAD, OUTAGE)], &seeds(50), 1), &mut |done| done < 3);
        let there: Vec<bool> = done.runs.iter().map(Option::is_some).collect();
        // The one that was running when it was asked may still come.
        let n = there.iter().filter(|there| **there).count();
        assert!((3..50).contains(&n) && there[..n].iter().all(|there| *there), "{there:?}");
    }
}
