//! Cases of `tests/reference/ns-2.35-more/cases.txt`: a name, a variant, an age, and what `run.tcl` is to set.

use super::random::Mrg32k3a;
use super::{Case, reference};
use std::str::FromStr;
use tcp::stack::{OneWay, OneWayVariant};
use wire::time::Span;

pub fn listed() -> Vec<(String, Case)> {
    let path = reference::folder("ns-2.35-more").join("cases.txt");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.lines().map(case).collect()
}

fn case(line: &str) -> (String, Case) {
    let mut words = line.split(' ');
    let mut next = || words.next().unwrap_or_else(|| panic!("cut off: {line}"));
    let (name, variant, age) = (next(), next(), next());
    let mut case = Case::new(stack(variant_named(variant), age, 2));
    case.end_s = 8.0;
    for setting in words {
        let (key, value) = setting.split_once('=').unwrap_or_else(|| panic!("no value: {setting}"));
        match key.rsplit_once(':') {
            Some((_, variable)) => set_variable(&mut case.stack, variable, value),
            None => set(&mut case, key, value),
        }
    }
    (name.to_string(), case)
}

pub fn variant_named(name: &str) -> OneWayVariant {
    match name {
        "tahoe" => OneWayVariant::Tahoe,
        "reno" => OneWayVariant::Reno,
        "newreno" => OneWayVariant::NewReno,
        "sack" => OneWayVariant::Sack1,
        "vegas" => OneWayVariant::Vegas,
        _ => panic!("no variant: {name}"),
    }
}

/// `boot_time_` is drawn at each reset of the agent: the simulator draws the first number, an agent is reset once
/// when made, Vegas twice.
pub fn stack(variant: OneWayVariant, age: &str, seed: i64) -> OneWay {
    let mut random = Mrg32k3a::new(seed);
    let draws = if variant == OneWayVariant::Vegas { 3 } else { 2 };
    let phase = (0..draws).map(|_| random.draw()).last();
    let stack = match age {
        "old" => OneWay::of_1998(variant),
        _ => OneWay::ns2_35(variant),
    };
    OneWay { tick_phase: phase.unwrap_or(0.0), ..stack }
}

fn number<T: FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("no number: {text}"))
}

fn numbers<T: FromStr>(list: &str) -> Vec<T> {
    list.split(',').map(number).collect()
}

fn pairs(list: &str) -> Vec<(f64, f64)> {
    numbers(list).chunks(2).map(|p| (p[0], p[1])).collect()
}

fn set(case: &mut Case, key: &str, value: &str) {
    match key {
        "drops" => case.drops = numbers(value),
        "ackdrops" => case.ack_drops = numbers(value),
        "q" => case.queue_packets = number(value),
        "end" => case.end_s = number(value),
        "outage" => case.outages = pairs(value),
        "delack" => case.stack.delayed_ack = 2,
        "maxpkts" => case.writes[0].1 = number(value),
        "more" => case.writes.extend(pairs(value).into_iter().map(|(at, packets)| (at, packets as u64))),
        _ => panic!("no setting: {key}"),
    }
}

fn set_variable(s: &mut OneWay, variable: &str, value: &str) {
    let on = || matches!(value, "true" | "1");
    match variable {
        "window_" => s.window_packets = number(value),
        "windowInit_" => s.initial_window_packets = number(value),
        "maxcwnd_" => s.max_cwnd_packets = Some(number(value)),
        "syn_" => s.syn = on(),
        "rfc2988_" => s.min_before_backoff = on(),
        "timestamps_" => s.timestamps = on(),
        "ts_resetRTO_" => s.timestamps_end_backoff = on(),
        "numdupacks_" => s.dupthresh = number(value),
        "maxburst_" => s.max_burst_packets = Some(number(value)),
        "overhead_" => s.overhead = Span::from_secs_f64(number(value)),
        "slow_start_restart_" => s.restart_after_idle = on(),
        "restart_bugfix_" => s.restart_keeps_ssthresh = on(),
        "bugFix_" => s.bug_fix = on(),
        "exitFastRetrans_" => s.clean_exit = on(),
        "newreno_changes_" => s.newreno_hoe = on(),
        "newreno_changes1_" => s.newreno_impatient = on(),
        "lessCareful_" => s.newreno_less_careful = on(),
        "exit_recovery_fix_" => s.newreno_exit_by_flight = on(),
        "LimTransmitFix_" => s.sack_limited_transmit_pipe = on(),
        "partial_ack_" => s.sack_partial_ack_sends = on(),
        "oldCode_" => s.sack_pipe_from_cwnd = on(),
        "maxSackBlocks_" => s.sack_blocks = number(value),
        "generateDSacks_" => s.dsack = on(),
        "v_alpha_" => s.vegas_alpha = number(value),
        "v_beta_" => s.vegas_beta = number(value),
        "v_gamma_" => s.vegas_gamma = number(value),
        _ => panic!("no variable: {variable}"),
    }
}
