//! A flow's own figures as members of its JSON object.

use super::write::{By, Millis, Put, Raw, apart, members, object};
use crate::replay::Like;
use analysis::rows::*;
use std::sync::LazyLock;
use wire::{Span, Time};

/// Counts of retransmitted segments, each under the name of its cause.
pub fn by_cause(counts: &ByCause) -> impl Put + '_ {
    By(move |out: &mut Vec<u8>| {
        for (i, (cause, count)) in Cause::ALL.iter().zip(counts).enumerate() {
            out.push(if i == 0 { b'{' } else { b',' });
            cause.name().put(out);
            out.push(b':');
            count.put(out);
        }
        out.push(b'}');
    })
}

/// What is left in a place that has no samples.
const NO_RTT: &[u8] = br#"{"n":0,"min_ms":null,"mean_ms":null,"stddev_ms":null,"max_ms":null}"#;

impl Put for Summary {
    fn put(&self, out: &mut Vec<u8>) {
        let Summary { n, min, mean, stddev, max } = self;
        match n {
            0 => Raw(NO_RTT).put(out),
            _ => object!(out,
                n,
                "min_ms": Millis(*min),
                "mean_ms": Millis(*mean),
                "stddev_ms": Millis(*stddev),
                "max_ms": Millis(*max),
            ),
        }
    }
}

/// Only what limits the answer is named.
impl Put for Limits {
    fn put(&self, out: &mut Vec<u8>) {
        if *self == Limits::default() {
            return Raw(b"{}").put(out);
        }
        apart!(*self => Limits {
            mid_stream, one_way, options_cut, missing_bytes, acks_missing, unfilled_gaps, not_followed, super_packets,
            largest_payload, captured_twice, out_of_capture_order, duplicated, reordered, bad_checksums,
            partial_checksums,
        });
        let truths = [("mid_stream", mid_stream), ("one_way", one_way)];
        let counts = [
            ("options_cut", options_cut),
            ("missing_bytes", missing_bytes),
            ("acks_missing", acks_missing),
            ("unfilled_gaps", unfilled_gaps),
            ("not_followed", not_followed),
            ("super_packets", super_packets),
            ("largest_payload", u64::from(largest_payload)),
            ("captured_twice", captured_twice),
            ("out_of_capture_order", out_of_capture_order),
            ("duplicated", duplicated),
            ("reordered", reordered),
            ("bad_checksums", bad_checksums),
            ("partial_checksums", partial_checksums),
        ];
        let start = out.len();
        let key = |out: &mut Vec<u8>, name: &str| {
            out.push(if out.len() == start { b'{' } else { b',' });
            name.put(out);
            out.push(b':');
        };
        for (name, holds) in truths {
            if holds {
                key(out, name);
                true.put(out);
            }
        }
        for (name, n) in counts {
            if n > 0 {
                key(out, name);
                n.put(out);
            }
        }
        out.push(b'}');
    }
}

impl Put for Timers {
    fn put(&self, out: &mut Vec<u8>) {
        let Timers { compared, best, error, srtt, rttvar, rto } = self;
        object!(out,
            compared, best, error,
            "srtt_s": srtt,
            "rttvar_s": rttvar,
            "rto_s": rto,
        );
    }
}

/// An inferred figure: value and confidence, or null for "cannot tell".
struct Told<T>(Inferred<T>);
impl<T: Put> Put for Told<T> {
    fn put(&self, out: &mut Vec<u8>) {
        match &self.0 {
            None => out.extend_from_slice(b"null"),
            Some((value, confidence)) => object!(out, "value": value, "confidence": confidence),
        }
    }
}

impl Put for Like {
    fn put(&self, out: &mut Vec<u8>) {
        object!(out, "value": self.stack, "confidence": self.confidence, "equals": self.equals);
    }
}

/// What a flow of a few segments says about its sender.
static CANNOT_TELL: LazyLock<Vec<u8>> =
    LazyLock::new(|| text(|out| put_inference(&Inference::default(), None, out)));

/// What was inferred of a sender, and the stack that it is like.
struct Known<'a>(&'a Inference, Option<&'a Like>);
impl Put for Known<'_> {
    fn put(&self, out: &mut Vec<u8>) {
        match (*self.0 == Inference::default(), self.1) {
            (true, None) => out.extend_from_slice(&CANNOT_TELL),
            (_, like) => put_inference(self.0, like, out),
        }
    }
}

/// What the sender seems to be made of; `like`: the stack that it was found to be like, where its transfer was replayed.
pub fn put_inference(inference: &Inference, like: Option<&Like>, out: &mut Vec<u8>) {
    apart!(*inference => Inference {
        initial_window_segments, decrease_factor, growth, recovery, tail_loss_probes, f_rto,
    });
    object!(out,
        "initial_window_segments": Told(initial_window_segments),
        "decrease_factor": Told(decrease_factor),
        "growth": Told(growth),
        "recovery": Told(recovery),
        "tail_loss_probes": Told(tail_loss_probes),
        "f_rto": Told(f_rto),
        "stack": like,
    );
}

/// Whole bits a second; null where no time passed.
pub fn rate_bps(bytes: u64, took: Span) -> Option<u64> {
    (took.0 > 0).then(|| (bytes as f64 * 8e9 / took.0 as f64).round() as u64)
}

impl Put for Ecn {
    fn put(&self, out: &mut Vec<u8>) {
        let Ecn { agreed, capable, marked_packets, echoes, reductions, reductions_by_marks } = self;
        object!(out, agreed, capable, marked_packets, echoes, reductions, reductions_by_marks);
    }
}

/// Packets that vanished for their size; times from the start of the capture.
struct Vanished(TooLarge, Time);
impl Put for Vanished {
    fn put(&self, out: &mut Vec<u8>) {
        let Vanished(TooLarge { lost_from_bytes, through_to_bytes, lost, since, until }, origin) = *self;
        object!(out,
            lost_from_bytes, through_to_bytes,
            "copies": lost,
            "since_s": since - origin,
            "until_s": until.map(|t| t - origin),
        );
    }
}

/// What was sent again, and by which timers.
#[derive(PartialEq)]
struct Repairs {
    retransmitted_segments: u64,
    retransmitted_packets: u64,
    retransmitted_bytes: u64,
    causes: ByCause,
    needless: u64,
    needless_unknown: u64,
    most_copies: u32,
    /// New data, repeat, keep-alive, window, and those of the window that had no answer.
    probes: [u64; 5],
}

/// Nothing: true of most flows where there are many, and so written once.
const NO_REPAIRS: Repairs = Repairs {
    retransmitted_segments: 0,
    retransmitted_packets: 0,
    retransmitted_bytes: 0,
    causes: [0; Cause::ALL.len()],
    needless: 0,
    needless_unknown: 0,
    most_copies: 1,
    probes: [0; 5],
};
static NOTHING_REPAIRED: LazyLock<Vec<u8>> = LazyLock::new(|| text(|out| NO_REPAIRS.put_members(out)));

impl Repairs {
    fn put(&self, out: &mut Vec<u8>) {
        match *self == NO_REPAIRS {
            true => out.extend_from_slice(&NOTHING_REPAIRED),
            false => self.put_members(out),
        }
    }
    fn put_members(&self, out: &mut Vec<u8>) {
        let [new_data, repeat, keep_alive, window, window_unanswered] = self.probes;
        members!(out, ",",
            "retransmissions": {
                "total": self.retransmitted_segments,
                "packets": self.retransmitted_packets,
                "bytes": self.retransmitted_bytes,
                "by_cause": by_cause(&self.causes),
                self.{ needless, needless_unknown },
                "most_copies_of_one_segment": self.most_copies,
            },
            "probes": {
                "new_data": new_data,
                "repeat": repeat,
                "keep_alive": keep_alive,
                "window": window,
                "window_unanswered": window_unanswered,
            },
        );
    }
}

fn text(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out);
    out
}

/// The members of a flow's object that stand before its lists. The row is taken apart by name, so that no field
/// is lost.
pub fn put_members(row: &FlowRow, like: Option<&Like>, out: &mut Vec<u8>, origin: Time) {
    apart!(row => FlowRow {
        flow, fault, sender, receiver, vantage, start, end, observed_until, first_data, last_data, last_answer: _, fin: _, bytes, acked_bytes, packets,
        segments, acks, duplicate_acks, mss, sack_permitted, timestamps, window_scale, ecn, closed, reset,
        syn_retransmissions, handshake, handshake_resent, retransmitted_segments, retransmitted_packets,
        retransmitted_bytes, by_cause: causes, needless, needless_unknown, dsacks: _, most_copies_of_one_segment,
        probes_new_data, probes_repeat, keep_alives, window_probes, window_probes_unanswered, zero_windows, zero_window_time, lost_copies,
        lost_segments, bursts, mean_burst, largest_burst, episodes, timeouts, max_backoff, cost, idle_total,
        idle_blocked, idle_longest, idle_gaps, rtt_ack, rtt_timestamps, flight_max_bytes, window_scale_fits, window_max_bytes,
        window_min_bytes, timers, inference, ack_way, none_missing, too_large, limits,
    });
    let repairs = Repairs {
        retransmitted_segments: *retransmitted_segments,
        retransmitted_packets: *retransmitted_packets,
        retransmitted_bytes: *retransmitted_bytes,
        causes: *causes,
        needless: *needless,
        needless_unknown: *needless_unknown,
        most_copies: *most_copies_of_one_segment,
        probes: [*probes_new_data, *probes_repeat, *keep_alives, *window_probes, *window_probes_unanswered],
    };
    let took = *end - *start;
    let rtt = if rtt_ack.n > 0 { rtt_ack } else { rtt_timestamps };
    let throughput = rate_bps(row.delivered_bytes(), took);
    members!(out, "",
        flow, sender, receiver, vantage, bytes, acked_bytes, packets, segments, mss,
        "start_s": *start - origin,
        "end_s": *end - origin,
        "observed_until_s": *observed_until - origin,
        "duration_s": took,
        "first_data_s": first_data.map(|t| t - origin),
        "last_data_s": last_data.map(|t| t - origin),
        "throughput_bps": throughput,
        closed,
        "reset_by": reset.map(Reset::by),
        "reset_s": reset.map(|r| r.time - origin),
        "handshake": {
            "time_s": handshake,
            syn_retransmissions,
            "resent": handshake_resent,
            sack_permitted, timestamps, window_scale,
        },
        ecn,
    );
    repairs.put(out);
    members!(out, ",",
        "lost": { "copies": lost_copies, "segments": lost_segments },
        "burst_count": bursts,
        "burst_mean": mean_burst,
        "burst_largest": largest_burst,
        "none_missing": none_missing,
        "too_large": too_large.map(|t| Vanished(t, origin)),
        "episode_count": episodes,
        timeouts, max_backoff,
        "cost_s": cost,
        "lost_s": row.lost(),
        "unanswered": row.is_unanswered(),
        "idle_count": idle_gaps,
        "idle_total_s": idle_total,
        "idle_blocked_s": idle_blocked,
        "idle_longest_s": idle_longest,
        "acks": {
            "total": acks,
            "duplicate": duplicate_acks,
            "lost": ack_way.lost,
            "held": ack_way.held,
            "looped": ack_way.looped,
            "sack_of_nothing": ack_way.sack_of_nothing,
        },
        flight_max_bytes,
        "window": {
            "max_bytes": window_max_bytes,
            "min_bytes": window_min_bytes,
            "zero_count": zero_windows,
            "zero_s": zero_window_time,
            "scale_fits": window_scale_fits,
        },
        "rtt": { "ack": rtt_ack, "timestamps": rtt_timestamps },
        "paper_rto": {
            "throughput_bps": throughput,
            "retransmissions": retransmitted_segments,
            "most_retransmissions_of_one_segment": most_copies_of_one_segment.saturating_sub(1),
            "rtt_mean_ms": (rtt.n > 0).then_some(Millis(rtt.mean)),
            "rtt_deviation_ms": (rtt.n > 0).then_some(Millis(rtt.stddev)),
            "idle_largest_s": idle_longest,
            "idle_total_s": idle_total,
            "loss_percent": lost_copies.filter(|_| *segments > 0).map(|n| n as f64 * 100.0 / *segments as f64),
            "burst_mean": mean_burst,
            "burst_largest": largest_burst,
        },
        timers,
        "inference": Known(inference, like),
        limits,
    );
    if let Some(fault) = fault {
        put_fault(out, fault);
    }
}

/// Only of a flow in whose analysis rexmit failed.
pub fn put_fault(out: &mut Vec<u8>, fault: &str) {
    members!(out, ",", "fault": fault);
}
