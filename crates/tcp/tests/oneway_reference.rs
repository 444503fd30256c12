//! The one-way agents against every trace of ns-2.35 in `tests/reference/ns-2.35`: the same packets in the same
//! order, times to a microsecond, state to the printed digits.

mod oneway_net;

use oneway_net::{Case, Net, matches_events, matches_outage, matches_state, read};
use tcp::stack::{OneWay, OneWayVariant};

const VARIANTS: [(&str, OneWayVariant); 5] = [
    ("tahoe", OneWayVariant::Tahoe),
    ("reno", OneWayVariant::Reno),
    ("newreno", OneWayVariant::NewReno),
    ("sack", OneWayVariant::Sack1),
    ("vegas", OneWayVariant::Vegas),
];

/// `boot_time_`, drawn from ns-2's generator, seed 2, at each reset of the agent: the simulator draws the first
/// number, an agent is reset once when made, Vegas twice.
const PHASE: f64 = 0.111_761_432_193_108_56;
const PHASE_VEGAS: f64 = 0.028_404_048_657_232_92;

fn stack(variant: OneWayVariant, age: &str) -> OneWay {
    let mut stack = match age {
        "old" => OneWay::of_1998(variant),
        _ => OneWay::ns2_35(variant),
    };
    stack.tick_phase = if variant == OneWayVariant::Vegas { PHASE_VEGAS } else { PHASE };
    stack
}

/// Both ages of all variants on one program, which `change` makes of the plain case.
fn all_match(program: &str, change: impl Fn(&mut Case)) {
    for (name, variant) in VARIANTS {
        for age in ["old", "new"] {
            let mut case = Case::new(stack(variant, age));
            change(&mut case);
            let net = Net::run(&case);
            let file = format!("{program}_{name}_{age}");
            if let Err(e) = matches_events(&net, &read(&format!("{file}.csv.gz"))) {
                panic!("{file}: {e}");
            }
            if let Err(e) = matches_state(&net, &read(&format!("{file}_state.csv.gz"))) {
                panic!("{file}, state: {e}");
            }
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
    let want = read(file);
    for (name, variant) in &VARIANTS[..4] {
        let mut case = Case::new(stack(*variant, "old"));
        (case.outages, case.end_s) = (outages.to_vec(), end_s);
        if let Err(e) = matches_outage(&Net::run(&case), &want) {
            panic!("{file}, {name}: {e}");
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
