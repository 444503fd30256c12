//! The one-way agents against every trace of ns-2.35 in `tests/reference/ns-2.35`: the same packets in the same
//! order, times to a microsecond, state to the printed digits.

mod oneway_net;

use oneway_net::{
    Case, Net, listed, matches_events, matches_outage, matches_state, read, stack, variant_named,
};

const VARIANTS: [&str; 5] = ["tahoe", "reno", "newreno", "sack", "vegas"];
const SEED: i64 = 2;

/// The run's events and states are those of two files.
fn assert_matches(case: &Case, folder: &str, name: &str) {
    let net = Net::run(case);
    if let Err(e) = matches_events(&net, &read(folder, &format!("{name}.csv.gz"))) {
        panic!("{name}: {e}");
    }
    if let Err(e) = matches_state(&net, case.stack.tick, &read(folder, &format!("{name}_state.csv.gz"))) {
        panic!("{name}, state: {e}");
    }
}

/// Both ages of all variants on one program, which `change` makes of the plain case.
fn all_match(program: &str, change: impl Fn(&mut Case)) {
    for variant in VARIANTS {
        for age in ["old", "new"] {
            let mut case = Case::new(stack(variant_named(variant), age, SEED));
            change(&mut case);
            assert_matches(&case, "ns-2.35", &format!("{program}_{variant}_{age}"));
        }
    }
}

#[test]
fn one_loss() {
    all_match("drop1", |c| c.drops = vec![30]);
}

#[test]
fn two_losses_in_a_window() {
    all_match("drop2", |c| c.drops = vec![30, 32]);
}

#[test]
fn three_losses_in_a_window() {
    all_match("drop3", |c| c.drops = vec![30, 32, 34]);
}

#[test]
fn a_run_of_four_losses() {
    all_match("drop4_run", |c| c.drops = vec![30, 31, 32, 33]);
}

#[test]
fn a_run_of_lost_acks() {
    all_match("ackdrop", |c| c.ack_drops = vec![20, 21, 22, 23, 24]);
}

#[test]
fn queues_of_six_packets() {
    all_match("queue6", |c| {
        c.queue_packets = 6;
        c.end_s = 20.0;
    });
}

/// Paper `wireless`, Figs. 5, 2 and 3: Tahoe, Reno, NewReno and Sack1 are one and the same there, hop for hop.
fn outages_match(file: &str, end_s: f64, outages: &[(f64, f64)]) {
    let want = read("ns-2.35", file);
    for variant in &VARIANTS[..4] {
        let mut case = Case::new(stack(variant_named(variant), "old", SEED));
        (case.outages, case.end_s) = (outages.to_vec(), end_s);
        if let Err(e) = matches_outage(&Net::run(&case), &want) {
            panic!("{file}, {variant}: {e}");
        }
    }
}

#[test]
fn outages_of_figure_5() {
    let outages = [(3.0, 3.3), (6.3, 6.6), (9.6, 9.9)];
    outages_match("outage_trace_all_variants.csv.gz", 10.0, &outages);
}

#[test]
fn outages_of_figure_2() {
    let outages: Vec<_> = (0..9).map(|k| 1.0 + 1.1 * f64::from(k)).map(|down| (down, down + 0.1)).collect();
    outages_match("outage_fig2_up1_down0.1_all_variants.csv.gz", 10.0, &outages);
}

#[test]
fn outage_of_figure_3() {
    outages_match("outage_fig3_up5_down2_all_variants.csv.gz", 10.0, &[(5.0, 7.0)]);
}

/// What scripts set beside the defaults; `tests/reference/ns-2.35-more` says how these were made.
#[test]
fn switches_that_scripts_set() {
    let cases = listed();
    assert_eq!(cases.len(), 16);
    for (name, case) in cases {
        assert_matches(&case, "ns-2.35-more", &name);
    }
}
