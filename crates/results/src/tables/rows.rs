//! The columns of every table but `flows`.

use super::column::*;
use crate::names::{needless as needless_word, proof};
use analysis::rows::*;
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema};
use std::sync::Arc;

pub(super) fn int(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
fn opt<N: Into<u64>>(n: Option<N>) -> Option<i64> {
    n.map(|n| int(n.into()))
}

table! { BurstColumns of BurstRow {
        flow, start, last, back, lost_copies, lost_segments, lost_bytes, lost_acks, trigger, first_repair, silence,
        seq_start, seq_end, episode, rtt_before, timer_ran_us: _, neighbours: _, told: _,
    } =>
    flow: Id = flow,
    start: Stamp = start,
    last: Stamp = last,
    back: MaybeStamp = back,
    lost_copies: MaybeInt = opt(lost_copies),
    lost_segments: Int = lost_segments.into(),
    lost_bytes: Int = int(lost_bytes),
    lost_acks: MaybeInt = opt(lost_acks),
    trigger: Word = trigger.name(),
    first_repair: MaybeStamp = first_repair,
    silence_s: MaybeSecs = silence,
    seq_start: Int = int(seq_start),
    seq_end: Int = int(seq_end),
    episode: MaybeInt = opt(episode),
    rtt_before_s: MaybeSecs = rtt_before,
}

table! { EpisodeColumns of EpisodeRow {
        flow, number, start, first_repair, end, kind, bursts, lost_copies, lost_segments, lost_acks, retransmissions,
        needless, timeouts, probes, max_backoff, delivered_bytes, rate_before_bps, cost, flight_bytes, silence, silence_before: _,
        sent_after_loss_bytes, limit, told: _,
    } =>
    flow: Id = flow,
    number: Int = number.into(),
    start: Stamp = start,
    first_repair: Stamp = first_repair,
    end: MaybeStamp = end,
    duration_s: MaybeSecs = end.map(|end| end - start),
    kind: Word = kind.name(),
    bursts: Int = bursts.into(),
    lost_copies: MaybeInt = opt(lost_copies),
    lost_segments: Int = lost_segments.into(),
    lost_acks: MaybeInt = opt(lost_acks),
    retransmissions: Int = retransmissions.into(),
    needless: Int = needless.into(),
    timeouts: Int = timeouts.into(),
    probes: Int = probes.into(),
    max_backoff: Int = max_backoff.into(),
    delivered_bytes: Int = int(delivered_bytes),
    rate_before_bps: MaybeReal = rate_before_bps,
    cost_s: MaybeSecs = cost,
    flight_bytes: Int = int(flight_bytes),
    silence_s: MaybeSecs = silence,
    sent_after_loss_bytes: Int = int(sent_after_loss_bytes),
    limit: Word = limit.name(),
}

table! { RetransmissionColumns of RetransmissionRow {
        flow, packet, time, seq_start, seq_end, segments, cause, other_candidate, evidence, trigger, backoff, copy,
        since_previous, needless, lost, episode,
    } =>
    flow: Id = flow,
    packet: Int = int(packet),
    time: Stamp = time,
    seq_start: Int = int(seq_start),
    seq_end: Int = int(seq_end),
    segments: Int = segments.into(),
    cause: Word = cause.name(),
    evidence: Word = evidence.name(),
    trigger: Word = trigger.name(),
    backoff: Int = backoff.into(),
    copy: Int = copy.into(),
    since_previous_s: MaybeSecs = since_previous,
    needless: MaybeBool = needless_word(needless),
    needless_proof: MaybeWord = proof(needless).map(|p| p.name()),
    lost: MaybeBool = lost,
    episode: MaybeInt = opt(episode),
    other_candidate: MaybeWord = other_candidate.map(|c| c.name()),
}

table! { ProbeColumns of ProbeRow { flow, packet, time, new_data, known, after, seq_start, seq_end } =>
    flow: Id = flow,
    packet: Int = int(packet),
    time: Stamp = time,
    new_data: Bool = new_data,
    known: Bool = known,
    after_s: Secs = after,
    seq_start: Int = int(seq_start),
    seq_end: Int = int(seq_end),
}

table! { IdleColumns of IdleRow { flow, start, end, excess, cause, flight_bytes, told: _ } =>
    flow: Id = flow,
    start: Stamp = start,
    end: Stamp = end,
    length_s: Secs = end - start,
    excess_s: Secs = excess,
    cause: Word = cause.name(),
    flight_bytes: Int = int(flight_bytes),
}

table! { IntervalColumns of IntervalRow {
        flow, start, sent_bytes, new_bytes, acked_bytes, retransmitted_segments, duplicate_acks, flight_max_bytes,
        window_max_bytes, window_min_bytes,
    } =>
    flow: Id = flow,
    start: Stamp = start,
    sent_bytes: Int = int(sent_bytes),
    new_bytes: Int = int(new_bytes),
    acked_bytes: Int = int(acked_bytes),
    retransmitted_segments: Int = retransmitted_segments.into(),
    duplicate_acks: Int = duplicate_acks.into(),
    flight_max_bytes: Int = int(flight_max_bytes),
    window_max_bytes: MaybeInt = window_max_bytes.map(int),
    window_min_bytes: MaybeInt = window_min_bytes.map(int),
}

table! { RttColumns of RttRow { flow, time, seq, rtt, kind } =>
    flow: Id = flow,
    time: Stamp = time,
    seq: Int = int(seq),
    rtt_s: Secs = rtt,
    kind: Word = kind.name(),
}

table! { PacketColumns of PacketRow {
        flow, packet, time, data, flags, seq, len, ack, window_bytes, sack, dsack, ts_val, ts_ecr, cause,
        flight_bytes, class,
    } =>
    flow: Id = flow,
    packet: Int = int(packet),
    time: Stamp = time,
    data: Bool = data,
    flags: Int = flags.into(),
    seq: Int = int(seq),
    len: Int = len.into(),
    ack: MaybeInt = opt(ack),
    window_bytes: MaybeInt = window_bytes.map(int),
    sack1_start: MaybeInt = opt(sack[0].map(|b| b.0)),
    sack1_end: MaybeInt = opt(sack[0].map(|b| b.1)),
    sack2_start: MaybeInt = opt(sack[1].map(|b| b.0)),
    sack2_end: MaybeInt = opt(sack[1].map(|b| b.1)),
    sack3_start: MaybeInt = opt(sack[2].map(|b| b.0)),
    sack3_end: MaybeInt = opt(sack[2].map(|b| b.1)),
    sack4_start: MaybeInt = opt(sack[3].map(|b| b.0)),
    sack4_end: MaybeInt = opt(sack[3].map(|b| b.1)),
    dsack: Bool = dsack,
    ts_val: MaybeInt = opt(ts_val),
    ts_ecr: MaybeInt = opt(ts_ecr),
    cause: MaybeWord = cause.map(|c| c.name()),
    flight_bytes: Int = int(flight_bytes),
    class: Word = class.name(),
}

table! { RoundColumns of RoundRow {
        flow, start, end, sent_bytes, resent_bytes, delivered_bytes, flight_bytes, window_min_bytes, window_max_bytes,
        rtt_n, rtt_min, rtt_sum, waited, train_bytes, train,
    } =>
    flow: Id = flow,
    start: Stamp = start,
    end: Stamp = end,
    sent_bytes: Int = int(sent_bytes),
    resent_bytes: Int = int(resent_bytes),
    delivered_bytes: Int = int(delivered_bytes),
    flight_bytes: Int = int(flight_bytes),
    window_min_bytes: MaybeInt = window_min_bytes.map(int),
    window_max_bytes: MaybeInt = window_max_bytes.map(int),
    rtt_n: Int = rtt_n.into(),
    rtt_min_s: MaybeSecs = rtt_min,
    rtt_mean_s: MaybeSecs = (rtt_n > 0).then(|| rtt_sum / i64::from(rtt_n)),
    waited_window_s: Secs = waited.window,
    waited_ack_s: Secs = waited.ack,
    waited_application_s: Secs = waited.application,
    waited_other_s: Secs = waited.other,
    waits: Int = waited.times.into(),
    turn_s: MaybeSecs = waited.turn_mean(),
    train_bytes: Int = int(train_bytes),
    train_s: Secs = train,
}
