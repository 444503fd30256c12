//! What is said of a real kernel's repairs at the receiver's side, beside its own counters; over captures that lie
//! beside the project, if they do.

mod join_support;

use analysis::rows::Cause;
use analysis::{Analyzer, Config, Rows, Wanted};
use join_support::{packets, shared_dir};

#[test]
fn without_sack_the_receivers_side_tells_recovery_slow_start_and_timers_apart() {
    let dir = shared_dir("kernel");
    if !dir.exists() {
        println!("skipped: {} is not there", dir.display());
        return;
    }
    let config =
        Config { wanted: Wanted { retransmissions: true, ..Wanted::default() }, ..Config::default() };
    let mut analyzer = Analyzer::new(config, Rows::default());
    analyzer.push(&packets(&dir.join("nosack.rcv.pcap.gz")));
    let (_, rows) = analyzer.finish();
    // truth.toml: fast_retransmissions, slow_start_retransmissions, timeouts. Four repairs did not arrive.
    for (cause, counted) in [(Cause::Recovery, 120), (Cause::LossState, 202), (Cause::Timeout, 13)] {
        let said = rows.retransmissions.iter().filter(|r| r.cause == cause).count();
        assert!(
            said.abs_diff(counted) <= 4 + counted / 50,
            "{cause:?}: {said}, the kernel counted {counted}"
        );
    }
}
