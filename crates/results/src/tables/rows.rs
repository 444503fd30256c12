//! The columns of every table but `flows`.

use super::column::*;
use crate::connections::{CauseRow, OwnerRow};
use crate::names::{needless as needless_word, proof};
use analysis::rows::*;
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, Schema};
use std::sync::Arc;

table! { BurstColumns of BurstRow {
        flow, start, last, back, lost_copies, lost_segments, lost_bytes, lost_acks, trigger, first_repair, silence,
        seq_start, seq_end, episode, rtt_before, timer_ran_us: _, neighbours: _, told: _,
    } =>
    flow: Id, start: Stamp, last: Stamp, back: MaybeStamp, lost_copies: MaybeInt, lost_segments: Int,
    lost_bytes: Int, lost_acks: MaybeInt, trigger: Word, first_repair: MaybeStamp,
    silence_s: MaybeSecs = silence,
    seq_start: Int, seq_end: Int, episode: MaybeInt,
    rtt_before_s: MaybeSecs = rtt_before,
}

table! { EpisodeColumns of EpisodeRow {
        flow, number, start, first_repair, end, kind, trigger, bursts, lost_copies, lost_segments, lost_acks, retransmissions,
        needless, timeouts, probes, max_backoff, delivered_bytes, rate_before_bps, cost, flight_bytes, silence, silence_before: _, last_repair: _,
        sent_after_loss_bytes, limit, told: _,
    } and { tail = EpisodeRow::is_tail } =>
    flow: Id, number: Int, start: Stamp, first_repair: Stamp, end: MaybeStamp,
    duration_s: MaybeSecs = end.map(|end| end - start),
    kind: Word, bursts: Int, lost_copies: MaybeInt, lost_segments: Int, lost_acks: MaybeInt,
    retransmissions: Int, needless: Int, timeouts: Int, probes: Int, max_backoff: Int, delivered_bytes: Int,
    rate_before_bps: MaybeReal,
    cost_s: MaybeSecs = cost,
    flight_bytes: Int,
    silence_s: MaybeSecs = silence,
    sent_after_loss_bytes: Int, limit: Word, trigger: Word, tail: Bool,
}

table! { RetransmissionColumns of RetransmissionRow {
        flow, packet, time, seq_start, seq_end, segments, cause, other_candidate, evidence, trigger, backoff, copy,
        since_previous, needless, lost, episode,
    } =>
    flow: Id, packet: Int, time: Stamp, seq_start: Int, seq_end: Int, segments: Int, cause: Word,
    evidence: Word, trigger: Word, backoff: Int, copy: Int,
    since_previous_s: MaybeSecs = since_previous,
    needless: MaybeBool = needless_word(needless),
    needless_proof: MaybeWord = proof(needless),
    lost: MaybeBool, episode: MaybeInt, other_candidate: MaybeWord,
}

table! { ProbeColumns of ProbeRow { flow, packet, time, new_data, known, after, seq_start, seq_end } =>
    flow: Id, packet: Int, time: Stamp, new_data: Bool, known: Bool,
    after_s: Secs = after,
    seq_start: Int, seq_end: Int,
}

table! { IdleColumns of IdleRow { flow, start, end, excess, cause, flight_bytes, told: _ } =>
    flow: Id, start: Stamp, end: Stamp,
    length_s: Secs = end - start,
    excess_s: Secs = excess,
    cause: Word, flight_bytes: Int,
}

table! { IntervalColumns of IntervalRow {
        flow, start, sent_bytes, new_bytes, acked_bytes, retransmitted_segments, duplicate_acks, flight_max_bytes,
        window_max_bytes, window_min_bytes,
    } =>
    flow: Id, start: Stamp, sent_bytes: Int, new_bytes: Int, acked_bytes: Int, retransmitted_segments: Int,
    duplicate_acks: Int, flight_max_bytes: Int, window_max_bytes: MaybeInt, window_min_bytes: MaybeInt,
}

table! { RttColumns of RttRow { flow, time, seq, rtt, kind } =>
    flow: Id, time: Stamp, seq: Int,
    rtt_s: Secs = rtt,
    kind: Word,
}

table! { PacketColumns of PacketRow {
        flow, packet, time, data, flags, seq, len, ack, window_bytes, sack, dsack, ts_val, ts_ecr, cause,
        flight_bytes, class, release,
    } =>
    flow: Id, packet: Int, time: Stamp, data: Bool, flags: Int, seq: Int, len: Int, ack: MaybeInt,
    window_bytes: MaybeInt,
    sack1_start: MaybeInt = sack[0].map(|b| b.0), sack1_end: MaybeInt = sack[0].map(|b| b.1),
    sack2_start: MaybeInt = sack[1].map(|b| b.0), sack2_end: MaybeInt = sack[1].map(|b| b.1),
    sack3_start: MaybeInt = sack[2].map(|b| b.0), sack3_end: MaybeInt = sack[2].map(|b| b.1),
    sack4_start: MaybeInt = sack[3].map(|b| b.0), sack4_end: MaybeInt = sack[3].map(|b| b.1),
    dsack: Bool, ts_val: MaybeInt, ts_ecr: MaybeInt, cause: MaybeWord, flight_bytes: Int, class: Word, release: MaybeWord,
}

table! { RoundColumns of RoundRow {
        flow, start, end, sent_bytes, resent_bytes, delivered_bytes, flight_bytes, window_min_bytes, window_max_bytes,
        rtt_n, rtt_min, rtt_sum, waited, train_bytes, train, quiet,
    } =>
    flow: Id, start: Stamp, end: Stamp, sent_bytes: Int, resent_bytes: Int, delivered_bytes: Int,
    flight_bytes: Int, window_min_bytes: MaybeInt, window_max_bytes: MaybeInt, rtt_n: Int,
    rtt_min_s: MaybeSecs = rtt_min,
    rtt_mean_s: MaybeSecs = (rtt_n > 0).then(|| rtt_sum / i64::from(rtt_n)),
    waited_window_s: Secs = waited.window,
    waited_ack_s: Secs = waited.ack,
    waited_application_s: Secs = waited.application,
    waited_other_s: Secs = waited.other,
    waits: Int = waited.times,
    turn_s: MaybeSecs = waited.turn_mean(),
    train_bytes: Int,
    train_s: Secs = train,
    quiet_s: Secs = quiet,
}

table! { WaitColumns of WaitRow { flow, start, end, host, waits_for, time, bytes, turns } =>
    flow: Id, start: Stamp, end: Stamp, host: Word, waits_for: Word,
    time_s: Secs = time,
    bytes: Int, turns: Int,
}

table! { OwnerColumns of OwnerRow { flow, start, end, cause, by, certainty } =>
    flow: Id, start: Stamp, end: Stamp,
    cause: Word, by: MaybeWord, certainty: Word,
}

table! { CauseColumns of CauseRow { flow, cause, by, time, share, certainty, is_answer, bytes } =>
    flow: Id, cause: Word, by: MaybeWord,
    seconds: Secs = time,
    share: Real, certainty: Word,
    answer: Bool = is_answer,
    bytes: Int,
}
