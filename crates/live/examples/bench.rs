//! Runs a scenario on the live bench, and prints how well the bridge kept time; or runs its flows over a bridge of
//! the kernel's, without any of the scenario's links, and prints how long packets take through that.
//!
//! `bench SCENARIO FOLDER [--json] [--plain [--pace=BPS] | --floor] [KEY=VALUE ...]`: `--json` prints one line of
//! figures, in nanoseconds; `--pace` holds the senders to so many bits of payload a second; `--floor` sends nothing
//! for the scenario's duration, and says how late a thread with the bridge's priority is that only looks at the clock.

#[cfg(target_os = "linux")]
mod figures {
    use live::Plan;
    use live::report::{Ended, Lateness};
    use std::error::Error;
    use std::path::Path;

    pub const USAGE: &str = "bench SCENARIO FOLDER [--json] [--plain [--pace=BPS] | --floor] [KEY=VALUE ...]";

    /// Bytes that came, by the time from the first to the last of them; of all connections together.
    fn through_bps(ended: &[Ended]) -> f64 {
        let received = ended.iter().filter_map(|e| e.sides[1].as_ref());
        let rate = |side: &live::report::Side| {
            let span = side.last? - side.first?;
            (span.0 > 0).then(|| side.came_bytes as f64 * 8e9 / span.0 as f64)
        };
        received.filter_map(rate).sum()
    }

    fn line(times: &Lateness, through: f64, more: &str) {
        let at = |share| times.quantile(share).unwrap_or_default().0;
        println!(
            "{{\"p50\": {}, \"p99\": {}, \"p999\": {}, \"max\": {}, \"over_1ms\": {}, \"packets\": {}, \
             \"through_bps\": {through:.0}, {more}}}",
            at(0.5),
            at(0.99),
            at(0.999),
            times.max.0,
            times.over_1ms,
            times.packets
        );
    }

    fn words(times: &Lateness) {
        for (what, share) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)] {
            println!("{what} {}", times.quantile(share).unwrap_or_default());
        }
    }

    /// Over a bridge of the kernel's.
    pub fn plain(plan: &Plan, folder: &Path, json: bool) -> Result<(), Box<dyn Error>> {
        let ran = live::bench::plain::run(plan, folder)?;
        let (transit, through) = (&ran.transit, through_bps(&ran.ended));
        let dropped: u64 = ran.captures.iter().map(|c| c.dropped).sum();
        if json {
            let more = format!("\"unseen\": {}, \"capture_dropped\": {dropped}", transit.unseen);
            line(&transit.times, through, &more);
            return Ok(());
        }
        println!(
            "a bridge of the kernel's, which has no rate and no delay of its own: {:.1} Mbps; from host to host:",
            through / 1e6
        );
        words(&transit.times);
        println!(
            "max {}, {} longer than 1 ms, of {} packets; {} seen on their way out only; {dropped} missed by captures",
            transit.times.max, transit.times.over_1ms, transit.times.packets, transit.unseen
        );
        Ok(())
    }

    /// Over nothing.
    pub fn floor(plan: &Plan, json: bool) -> Result<(), Box<dyn Error>> {
        let late = live::floor::run(plan.limit, plan.real_time)?;
        if json {
            line(&late, 0.0, "\"overload\": 0");
            return Ok(());
        }
        println!("a thread that only looks at the clock is late by:");
        words(&late);
        println!("max {}", late.max);
        Ok(())
    }

    /// Over rexmit's bridge.
    pub fn rexmit(plan: &Plan, folder: &Path, json: bool) -> Result<(), Box<dyn Error>> {
        let outcome = live::run(plan, folder, &mut |_| true)?;
        let q = &outcome.quality;
        if json {
            let more = format!("\"overload\": {}, \"real_time\": {}", q.overload, q.real_time);
            line(&q.lateness, through_bps(&outcome.ended), &more);
            return Ok(());
        }
        println!(
            "{:?} after {}; {} packets, {} lost, {} inside",
            outcome.end,
            outcome.time,
            outcome.packets,
            outcome.drops.len(),
            outcome.inside.len()
        );
        words(&q.lateness);
        println!(
            "max {}, {} later than 1 ms; {} wake-ups, {} of them coalesced; shifted {} by at most {}; retried {}; overload {}; ignored {}; real time {:?} {:?}",
            q.lateness.max,
            q.lateness.over_1ms,
            q.wake_ups,
            q.coalesced_wake_ups,
            q.shifted,
            q.most_shifted,
            q.retried,
            q.overload,
            q.ignored,
            q.real_time,
            q.no_real_time
        );
        for (passed, ended) in outcome.passed.iter().zip(&outcome.ended) {
            println!("{passed:?}\n{ended:?}");
        }
        println!("{:?}\n{:?}", outcome.captures, outcome.warnings);
        Ok(())
    }
}

fn main() {
    #[cfg(target_os = "linux")]
    if let Err(e) = run() {
        eprintln!("{e}");
        std::process::exit(1);
    }
}

#[cfg(target_os = "linux")]
fn run() -> Result<(), Box<dyn std::error::Error>> {
    let (options, words): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|w| w.starts_with("--"));
    let (mut json, mut plain, mut floor, mut pace) = (false, false, false, None);
    for option in &options {
        match option.split_once('=').unwrap_or((option, "")) {
            ("--json", "") => json = true,
            ("--plain", "") => plain = true,
            ("--floor", "") => floor = true,
            ("--pace", bps) => pace = Some(bps.parse::<u64>()?),
            _ => return Err(figures::USAGE.into()),
        }
    }
    let [scenario, folder, overrides @ ..] = &words[..] else { return Err(figures::USAGE.into()) };
    let overrides: Vec<scenario::Override> = overrides
        .iter()
        .filter_map(|w| w.split_once('='))
        .map(|(key, value)| scenario::Override { key: key.to_owned(), value: value.to_owned(), label: "" })
        .collect();
    let scenario = scenario::load(scenario.as_ref(), &overrides).map_err(|e| e.to_string())?;
    let mut plan = live::Plan::new(&scenario)?;
    plan.connections.iter_mut().for_each(|c| c.pace_bps = pace);
    match (plain, floor) {
        (_, true) => figures::floor(&plan, json),
        (true, _) => figures::plain(&plan, folder.as_ref(), json),
        _ => figures::rexmit(&plan, folder.as_ref(), json),
    }
}
