//! A one-way agent as TOML.

use params::Lines;
use params::units::show_bytes;
use tcp::stack::{OneWay, OneWayVariant};

pub(super) fn one_way(o: &OneWay, out: &mut Lines) {
    let variant = match o.variant {
        OneWayVariant::Tahoe => "tahoe",
        OneWayVariant::Reno => "reno",
        OneWayVariant::NewReno => "newreno",
        OneWayVariant::Sack1 => "sack1",
        OneWayVariant::Vegas => "vegas",
    };
    out.text("variant", variant);
    out.span("rto_min", o.rto_min);
    out.span("rto_max", o.rto_max);
    out.text("window", packets(o.window_packets));
    out.text("initial_window", packets(o.initial_window_packets));
    out.text("initial_ssthresh", o.initial_ssthresh_packets.map_or("window".to_owned(), packets));
    out.text("max_cwnd", o.max_cwnd_packets.map_or("unlimited".to_owned(), packets));
    out.text("packet", show_bytes(o.packet_bytes.into()));
    out.text("ack", show_bytes(o.ack_bytes.into()));
    out.flag("syn", o.syn);
    out.flag("delay_growth", o.delay_growth);
    out.span("tick", o.tick);
    out.number("tick_phase", o.tick_phase);
    out.span("rto_initial", o.rto_initial);
    out.flag("min_before_backoff", o.min_before_backoff);
    out.flag("timer_after_rtt", o.timer_after_rtt);
    out.flag("timestamps", o.timestamps);
    out.text(
        "timestamp_bytes",
        if o.timestamp_bytes == 0 { "none".to_owned() } else { show_bytes(o.timestamp_bytes.into()) },
    );
    out.flag("timestamps_end_backoff", o.timestamps_end_backoff);
    out.whole("dupthresh", o.dupthresh.into());
    out.flag("limited_transmit", o.limited_transmit);
    out.text("max_burst", o.max_burst_packets.map_or("unlimited".to_owned(), packets));
    out.flag("burst_on_old_acks", o.burst_on_old_acks);
    out.span("overhead", o.overhead);
    out.flag("restart_after_idle", o.restart_after_idle);
    out.flag("restart_keeps_ssthresh", o.restart_keeps_ssthresh);
    out.flag("bug_fix", o.bug_fix);
    out.flag("bug_fix_first_window", o.bug_fix_first_window);
    out.flag("exact_halving", o.exact_halving);
    out.flag("clean_exit", o.clean_exit);
    out.flag("newreno_partial_deflation", o.newreno_partial_deflation);
    out.flag("newreno_impatient", o.newreno_impatient);
    out.flag("newreno_hoe", o.newreno_hoe);
    out.flag("newreno_less_careful", o.newreno_less_careful);
    out.flag("newreno_exit_by_flight", o.newreno_exit_by_flight);
    out.flag("sack_limited_transmit_pipe", o.sack_limited_transmit_pipe);
    out.flag("sack_partial_ack_sends", o.sack_partial_ack_sends);
    out.flag("sack_pipe_from_cwnd", o.sack_pipe_from_cwnd);
    out.number("vegas_alpha", o.vegas_alpha);
    out.number("vegas_beta", o.vegas_beta);
    out.number("vegas_gamma", o.vegas_gamma);
    out.whole("delayed_ack", o.delayed_ack.into());
    out.span("delayed_ack_timeout", o.delayed_ack_timeout);
    out.flag("delayed_ack_gaps_at_once", o.delayed_ack_gaps_at_once);
    out.flag("delayed_ack_syn_at_once", o.delayed_ack_syn_at_once);
    out.whole("sack_blocks", o.sack_blocks.into());
    out.flag("dsack", o.dsack);
}

fn packets(n: u32) -> String {
    format!("{n} packets")
}
