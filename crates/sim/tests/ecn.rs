//! ECN end to end (RFC 3168): a queue marks instead of dropping, the receiver echoes, the sender reduces its window, and
//! nothing has to be sent again.

mod support;

use sim::{Rows, Summary};
use support::{run, scenario};

/// 10 Mbps, 40 ms there and back, CoDel that marks.
fn over(ecn: &str) -> (Summary, Rows) {
    let text = format!(
        "name = \"t\"\nduration = \"20s\"\n[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[link]]\nname = \"l\"\n\
         between = [\"a\", \"b\"]\nrate = \"10Mbps\"\ndelay = \"20ms\"\n\
         queue = {{ kind = \"codel\", packets = 1000, ecn = true }}\n\
         [[stack]]\nname = \"s\"\nbased_on = \"linux-6-cubic\"\n[stack.options]\necn = \"{ecn}\"\n\
         [[flow]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nstack = \"s\"\nreceiver = \"linux-6-cubic\"\n\
         workload = {{ kind = \"endless\" }}\n[record]\nqueues = true\nstate = true\ndrops = true\n"
    );
    run(&scenario(&text), 1)
}

fn carried_mbps(s: &Summary) -> f64 {
    s.connections[0].ways[0].delivered_bytes as f64 * 8.0 / 20e6
}

#[test]
fn where_both_ends_agree_the_window_follows_marks_and_nothing_is_lost() {
    // The receiver is passive, as Linux ships: that the opening side asks is what makes the difference.
    let (with, rows) = over("on");
    assert!(rows.drops.is_empty(), "{} drops", rows.drops.len());
    assert_eq!(with.connections[0].ways[0].resent_packets, 0);
    assert!(carried_mbps(&with) > 9.0, "{} Mbps", carried_mbps(&with));
    let reductions =
        rows.states.windows(2).filter(|w| w[1].state.ssthresh_bytes < w[0].state.ssthresh_bytes).count();
    assert!(reductions >= 3, "{reductions}");

    let (without, rows) = over("off");
    assert!(!rows.drops.is_empty());
    assert!(without.connections[0].ways[0].resent_packets > 0);
}
