//! A one-way agent from its checked values.

use super::{bounds, count, size};
use params::problem::Problems;
use params::{Value, Values};
use tcp::stack::{OneWay, OneWayVariant};

pub(super) fn one_way(v: &Values, p: &mut Problems) -> Option<OneWay> {
    let variant = match v.word("variant")? {
        "tahoe" => OneWayVariant::Tahoe,
        "reno" => OneWayVariant::Reno,
        "newreno" => OneWayVariant::NewReno,
        "sack1" => OneWayVariant::Sack1,
        "vegas" => OneWayVariant::Vegas,
        _ => return None,
    };
    let (rto_min, rto_max) = bounds(v, "rto_min", "rto_max", p)?;
    Some(OneWay {
        variant,
        window_packets: count(v.item("window")?, p)?,
        initial_window_packets: count(v.item("initial_window")?, p)?,
        initial_ssthresh_packets: maybe_count(v, "initial_ssthresh", p)?,
        max_cwnd_packets: maybe_count(v, "max_cwnd", p)?,
        packet_bytes: size(v.item("packet")?, 65_535, p)? as u32,
        ack_bytes: size(v.item("ack")?, 65_535, p)? as u32,
        syn: v.flag("syn"),
        delay_growth: v.flag("delay_growth"),
        tick: v.span("tick")?,
        tick_phase: v.number("tick_phase")?,
        rto_initial: v.span("rto_initial")?,
        rto_min,
        rto_max,
        min_before_backoff: v.flag("min_before_backoff"),
        timer_after_rtt: v.flag("timer_after_rtt"),
        timestamps: v.flag("timestamps"),
        timestamp_bytes: maybe_size(v, "timestamp_bytes", p)?,
        timestamps_end_backoff: v.flag("timestamps_end_backoff"),
        dupthresh: v.whole("dupthresh")? as u32,
        limited_transmit: v.flag("limited_transmit"),
        max_burst_packets: maybe_count(v, "max_burst", p)?,
        burst_on_old_acks: v.flag("burst_on_old_acks"),
        overhead: v.span("overhead")?,
        restart_after_idle: v.flag("restart_after_idle"),
        restart_keeps_ssthresh: v.flag("restart_keeps_ssthresh"),
        bug_fix: v.flag("bug_fix"),
        bug_fix_first_window: v.flag("bug_fix_first_window"),
        exact_halving: v.flag("exact_halving"),
        clean_exit: v.flag("clean_exit"),
        newreno_partial_deflation: v.flag("newreno_partial_deflation"),
        newreno_impatient: v.flag("newreno_impatient"),
        newreno_hoe: v.flag("newreno_hoe"),
        newreno_less_careful: v.flag("newreno_less_careful"),
        newreno_exit_by_flight: v.flag("newreno_exit_by_flight"),
        sack_limited_transmit_pipe: v.flag("sack_limited_transmit_pipe"),
        sack_partial_ack_sends: v.flag("sack_partial_ack_sends"),
        sack_pipe_from_cwnd: v.flag("sack_pipe_from_cwnd"),
        vegas_alpha: v.number("vegas_alpha")?,
        vegas_beta: v.number("vegas_beta")?,
        vegas_gamma: v.number("vegas_gamma")?,
        delayed_ack: v.whole("delayed_ack")? as u32,
        delayed_ack_timeout: v.span("delayed_ack_timeout")?,
        delayed_ack_gaps_at_once: v.flag("delayed_ack_gaps_at_once"),
        delayed_ack_syn_at_once: v.flag("delayed_ack_syn_at_once"),
        sack_blocks: v.whole("sack_blocks")? as u32,
        dsack: v.flag("dsack"),
    })
}

/// Packets, or a word for none of them.
fn maybe_count(v: &Values, key: &str, p: &mut Problems) -> Option<Option<u32>> {
    let item = v.item(key)?;
    match item.value {
        Value::Word(_) => Some(None),
        _ => count(item, p).map(Some),
    }
}

/// Bytes, or a word for none.
fn maybe_size(v: &Values, key: &str, p: &mut Problems) -> Option<u32> {
    let item = v.item(key)?;
    match item.value {
        Value::Word(_) => Some(0),
        _ => size(item, 65_535, p).map(|bytes| bytes as u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stacks::build::defaults;
    use crate::tree::parse;

    #[test]
    fn what_a_file_leaves_open_is_as_ns_2_35_comes() {
        assert!(defaults("oneway").is_none(), "the variant has no default");
        let text = "variant = \"newreno\"";
        let mut problems = Problems::default();
        let table = crate::keys::STACK.keys.iter().find_map(|k| match k.kind {
            crate::keys::Kind::Table(table) if k.name == "oneway" => Some(table),
            _ => None,
        });
        let table = table.expect("there is such a section");
        let node = parse(text, &"x.toml".into(), table, &mut problems).expect("it is such a table");
        let values = crate::check::table(&node, table, "oneway", &mut problems);
        let read = one_way(&values, &mut problems).expect("nothing is wrong");
        assert!(problems.is_empty());
        assert_eq!(read, OneWay::ns2_35(OneWayVariant::NewReno));
    }
}
