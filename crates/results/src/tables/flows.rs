//! The columns of the `flows` table.

use super::column::*;
use crate::json::flow::rate_bps;
use analysis::rows::*;
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema};
use std::sync::Arc;

/// A figure of a distribution in seconds, null where it has no samples.
fn seconds(s: &Summary, figure: f64) -> Option<f64> {
    (s.n > 0).then_some(figure)
}
fn word<T: ClosedSet>(told: Inferred<T>) -> Option<&'static str> {
    told.map(|(value, _)| value.name())
}
fn value<T: Copy>(told: Inferred<T>) -> Option<T> {
    told.map(|(value, _)| value)
}
fn confidence<T>(told: Inferred<T>) -> Option<f64> {
    told.map(|(_, c)| f64::from(c))
}

table! { FlowColumns of FlowRow {
        flow, fault, sender, receiver, vantage, start, end, observed_until, first_data, last_data, last_answer: _, fin: _, bytes, acked_bytes, packets,
        segments, acks, duplicate_acks, mss, sack_permitted, timestamps, window_scale,
        ecn: Ecn { agreed, capable, marked_packets, echoes, reductions, reductions_by_marks },
        closed, reset, syn_retransmissions, handshake, handshake_resent,
        retransmitted_segments, retransmitted_packets, retransmitted_bytes,
        by_cause, needless, needless_unknown, dsacks: _,
        most_copies_of_one_segment, probes_new_data, probes_repeat, keep_alives, window_probes, window_probes_unanswered,
        zero_windows, zero_window_time, lost_copies, lost_segments, bursts, mean_burst, largest_burst, episodes, timeouts,
        max_backoff, cost, idle_total, idle_blocked, idle_longest, idle_gaps, rtt_ack, rtt_timestamps, flight_max_bytes,
        window_scale_fits, window_max_bytes, window_min_bytes, none_missing,
        too_large,
        ack_way,
        timers: Timers { compared, best, error, srtt, rttvar, rto },
        inference: Inference {
            initial_window_segments, decrease_factor, growth, recovery, tail_loss_probes, f_rto,
        },
        limits: Limits {
            mid_stream, one_way, options_cut, missing_bytes, acks_missing, unfilled_gaps, not_followed, super_packets,
            largest_payload, captured_twice, out_of_capture_order, duplicated, reordered, bad_checksums, partial_checksums,
        },
    } and { unanswered = FlowRow::is_unanswered, lost = FlowRow::lost } =>
    flow: Id,
    sender: Text = sender.to_string(),
    receiver: Text = receiver.to_string(),
    vantage: Word, start: Stamp, end: Stamp,
    duration_s: Secs = end - start,
    first_data: MaybeStamp, last_data: MaybeStamp, bytes: Int, acked_bytes: Int,
    throughput_bps: MaybeReal = rate_bps(delivered(vantage, one_way, bytes, acked_bytes), end - start).map(|r| r as f64),
    packets: Int, segments: Int, acks: Int, duplicate_acks: Int, mss: Int, sack_permitted: MaybeBool,
    timestamps: MaybeBool, window_scale: MaybeInt,
    ecn: MaybeWord = agreed, ecn_capable: Bool = capable, ecn_marked_packets: MaybeInt = marked_packets,
    ecn_echoes: MaybeInt = echoes, ecn_reductions: MaybeInt = reductions,
    ecn_reductions_by_marks: MaybeInt = reductions_by_marks,
    closed: Word,
    reset_by: MaybeWord = reset.map(Reset::by),
    reset: MaybeStamp = reset.map(|r| r.time),
    syn_retransmissions: Int,
    handshake_s: MaybeSecs = handshake,
    handshake_resent: Int, retransmitted_segments: Int, retransmitted_packets: Int,
    retransmitted_bytes: Int,
    retransmitted: EachCause = by_cause,
    needless: Int, needless_unknown: Int, most_copies_of_one_segment: Int, probes_new_data: Int,
    probes_repeat: Int, keep_alives: Int, window_probes: Int, zero_windows: Int,
    zero_window_s: Secs = zero_window_time,
    lost_copies: MaybeInt, lost_segments: MaybeInt, bursts: Int, mean_burst: Real, largest_burst: Int,
    none_missing: Bool,
    too_large_from_bytes: MaybeInt = too_large.map(|t| t.lost_from_bytes),
    too_large_through_bytes: MaybeInt = too_large.map(|t| t.through_to_bytes),
    episodes: Int, timeouts: Int, max_backoff: Int,
    cost_s: MaybeSecs = cost,
    idle_total_s: Secs = idle_total,
    idle_blocked_s: Secs = idle_blocked,
    idle_longest_s: Secs = idle_longest,
    idle_gaps: Int,
    rtt_ack_n: Int = rtt_ack.n,
    rtt_ack_min_s: MaybeReal = seconds(&rtt_ack, rtt_ack.min),
    rtt_ack_mean_s: MaybeReal = seconds(&rtt_ack, rtt_ack.mean),
    rtt_ack_stddev_s: MaybeReal = seconds(&rtt_ack, rtt_ack.stddev),
    rtt_ack_max_s: MaybeReal = seconds(&rtt_ack, rtt_ack.max),
    rtt_timestamps_n: Int = rtt_timestamps.n,
    rtt_timestamps_min_s: MaybeReal = seconds(&rtt_timestamps, rtt_timestamps.min),
    rtt_timestamps_mean_s: MaybeReal = seconds(&rtt_timestamps, rtt_timestamps.mean),
    rtt_timestamps_stddev_s: MaybeReal = seconds(&rtt_timestamps, rtt_timestamps.stddev),
    rtt_timestamps_max_s: MaybeReal = seconds(&rtt_timestamps, rtt_timestamps.max),
    flight_max_bytes: Int, window_max_bytes: MaybeInt, window_min_bytes: MaybeInt,
    timers_compared: Int = compared,
    timers_best: MaybeWord = best,
    timers_error: MaybeReal = error,
    timers_srtt_s: MaybeSecs = srtt,
    timers_rttvar_s: MaybeSecs = rttvar,
    timers_rto_s: MaybeSecs = rto,
    initial_window_segments: MaybeInt = value(initial_window_segments),
    initial_window_confidence: MaybeReal = confidence(initial_window_segments),
    decrease_factor: MaybeReal = value(decrease_factor),
    decrease_factor_confidence: MaybeReal = confidence(decrease_factor),
    growth: MaybeWord = word(growth),
    growth_confidence: MaybeReal = confidence(growth),
    recovery: MaybeWord = word(recovery),
    recovery_confidence: MaybeReal = confidence(recovery),
    tail_loss_probes: MaybeBool = value(tail_loss_probes),
    tail_loss_probes_confidence: MaybeReal = confidence(tail_loss_probes),
    f_rto: MaybeBool = value(f_rto),
    f_rto_confidence: MaybeReal = confidence(f_rto),
    mid_stream: Bool, one_way: Bool, options_cut: Int, missing_bytes: Int, unfilled_gaps: Int,
    not_followed: Int, super_packets: Int, largest_payload: Int, captured_twice: Int,
    out_of_capture_order: Int, duplicated: Int, reordered: Int, bad_checksums: Int, partial_checksums: Int,
    acks_missing: Int,
    observed_until: Stamp, window_probes_unanswered: Int,
    window_scale_fits: MaybeInt,
    acks_lost: MaybeInt = ack_way.lost,
    acks_held: Int = ack_way.held,
    acks_looped: Int = ack_way.looped,
    sacks_of_nothing: Int = ack_way.sack_of_nothing,
    unanswered: Bool,
    lost_s: Secs = lost,
    fault: MaybeShared = fault.map(Arc::from),
}
