//! Runs a scenario on the live bench, and prints how well the bridge kept time: `bench SCENARIO FOLDER [KEY=VALUE …]`.

fn main() {
    #[cfg(target_os = "linux")]
    if let Err(e) = run() {
        eprintln!("{e}");
        std::process::exit(1);
    }
}

#[cfg(target_os = "linux")]
fn run() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let scenario = words.next().ok_or("bench SCENARIO FOLDER [KEY=VALUE ...]")?;
    let folder = words.next().ok_or("bench SCENARIO FOLDER [KEY=VALUE ...]")?;
    let overrides: Vec<scenario::Override> = words
        .filter_map(|w| w.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned())))
        .map(|(key, value)| scenario::Override { key, value, label: "" })
        .collect();
    let scenario = scenario::load(scenario.as_ref(), &overrides).map_err(|e| e.to_string())?;
    let plan = live::Plan::new(&scenario)?;
    let outcome = live::run(&plan, folder.as_ref(), &mut |_| true)?;
    let q = &outcome.quality;
    println!(
        "{:?} after {}; {} packets, {} lost, {} inside",
        outcome.end,
        outcome.time,
        outcome.packets,
        outcome.drops.len(),
        outcome.inside
    );
    for (what, share) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)] {
        println!("{what} {}", q.lateness.quantile(share).unwrap_or_default());
    }
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
