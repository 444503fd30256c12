//! Counts over all flows, added up as the flows end.

use crate::json::flow::by_cause;
use crate::json::write::object;
use analysis::rows::{FlowRow, Vantage};
use wire::Span;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sums {
    pub flows: u64,
    /// Those that carried any: a SYN that nobody answered is a flow, too.
    pub flows_with_data: u64,
    /// Flows in which something was sent again or an episode stands.
    pub flows_with_trouble: u64,
    pub bytes: u64,
    pub acked_bytes: u64,
    pub packets: u64,
    pub segments: u64,
    pub acks: u64,
    pub retransmitted_segments: u64,
    pub retransmitted_packets: u64,
    pub retransmitted_bytes: u64,
    pub by_cause: [u64; 7],
    pub needless: u64,
    pub needless_unknown: u64,
    pub probes_new_data: u64,
    pub probes_repeat: u64,
    /// Over the flows where they are known, and in how many they are not.
    pub lost_copies: Option<u64>,
    pub lost_segments: Option<u64>,
    pub loss_unknown_flows: u64,
    pub bursts: u64,
    pub episodes: u64,
    pub timeouts: u64,
    pub syn_retransmissions: u64,
    pub cost: Span,
    pub cost_unknown_flows: u64,
    pub idle: Span,
    pub idle_gaps: u64,
    pub super_packets: u64,
    pub largest_payload: u32,
    pub partial_checksums: u64,
    pub missing_bytes: u64,
    /// Bytes of the flows seen from the sender, receiver, middle, both, unknown.
    seen_from: [u64; 5],
}

fn add(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(n) = more {
        *sum = Some(sum.unwrap_or(0) + n);
    }
}

impl Sums {
    pub fn add(&mut self, flow: &FlowRow) {
        self.take_in(&Sums::of(flow));
    }

    fn of(r: &FlowRow) -> Sums {
        let mut seen_from = [0; 5];
        seen_from[r.vantage as usize] = r.bytes.max(1);
        Sums {
            flows: 1,
            flows_with_data: u64::from(r.first_data.is_some()),
            flows_with_trouble: u64::from(r.retransmitted_segments > 0 || r.episodes > 0),
            bytes: r.bytes,
            acked_bytes: r.acked_bytes,
            packets: r.packets,
            segments: r.segments,
            acks: r.acks,
            retransmitted_segments: r.retransmitted_segments,
            retransmitted_packets: r.retransmitted_packets,
            retransmitted_bytes: r.retransmitted_bytes,
            by_cause: r.by_cause,
            needless: r.needless,
            needless_unknown: r.needless_unknown,
            probes_new_data: r.probes_new_data,
            probes_repeat: r.probes_repeat,
            lost_copies: r.lost_copies,
            lost_segments: r.lost_segments,
            loss_unknown_flows: u64::from(r.lost_copies.is_none()),
            bursts: u64::from(r.bursts),
            episodes: u64::from(r.episodes),
            timeouts: r.timeouts,
            syn_retransmissions: u64::from(r.syn_retransmissions),
            cost: r.cost.unwrap_or(Span::ZERO),
            cost_unknown_flows: u64::from(r.cost.is_none() && r.episodes > 0),
            idle: r.idle_total,
            idle_gaps: u64::from(r.idle_gaps),
            super_packets: r.limits.super_packets,
            largest_payload: r.limits.largest_payload,
            partial_checksums: r.limits.partial_checksums,
            missing_bytes: r.limits.missing_bytes,
            seen_from,
        }
    }

    /// Takes in the counts over other flows.
    pub fn take_in(&mut self, part: &Sums) {
        self.flows += part.flows;
        self.flows_with_data += part.flows_with_data;
        self.flows_with_trouble += part.flows_with_trouble;
        self.bytes += part.bytes;
        self.acked_bytes += part.acked_bytes;
        self.packets += part.packets;
        self.segments += part.segments;
        self.acks += part.acks;
        self.retransmitted_segments += part.retransmitted_segments;
        self.retransmitted_packets += part.retransmitted_packets;
        self.retransmitted_bytes += part.retransmitted_bytes;
        for (sum, n) in self.by_cause.iter_mut().zip(part.by_cause) {
            *sum += n;
        }
        self.needless += part.needless;
        self.needless_unknown += part.needless_unknown;
        self.probes_new_data += part.probes_new_data;
        self.probes_repeat += part.probes_repeat;
        add(&mut self.lost_copies, part.lost_copies);
        add(&mut self.lost_segments, part.lost_segments);
        self.loss_unknown_flows += part.loss_unknown_flows;
        self.bursts += part.bursts;
        self.episodes += part.episodes;
        self.timeouts += part.timeouts;
        self.syn_retransmissions += part.syn_retransmissions;
        self.cost += part.cost;
        self.cost_unknown_flows += part.cost_unknown_flows;
        self.idle += part.idle;
        self.idle_gaps += part.idle_gaps;
        self.super_packets += part.super_packets;
        self.largest_payload = self.largest_payload.max(part.largest_payload);
        self.partial_checksums += part.partial_checksums;
        self.missing_bytes += part.missing_bytes;
        for (sum, n) in self.seen_from.iter_mut().zip(part.seen_from) {
            *sum += n;
        }
    }

    /// Where the capture was taken: what holds for the flows that carry nine tenths of the bytes, or `mixed`.
    pub fn vantage(&self) -> &'static str {
        const ALL: [Vantage; 5] =
            [Vantage::Sender, Vantage::Receiver, Vantage::Middle, Vantage::Both, Vantage::Unknown];
        let all: u64 = self.seen_from.iter().sum();
        let most = ALL.into_iter().max_by_key(|v| self.seen_from[*v as usize]);
        match most {
            Some(v) if all > 0 && self.seen_from[v as usize] >= all - all / 10 => v.name(),
            _ if all > 0 => "mixed",
            _ => "unknown",
        }
    }

    /// The `totals` of the answer.
    pub fn put(&self, out: &mut Vec<u8>, connections: u64) {
        object!(out,
            "connections": connections,
            "flows": self.flows,
            "flows_with_data": self.flows_with_data,
            "flows_with_trouble": self.flows_with_trouble,
            "bytes": self.bytes,
            "acked_bytes": self.acked_bytes,
            "packets": self.packets,
            "segments": self.segments,
            "acks": self.acks,
            "retransmissions": {
                "total": self.retransmitted_segments,
                "packets": self.retransmitted_packets,
                "bytes": self.retransmitted_bytes,
                "by_cause": by_cause(&self.by_cause),
                "needless": self.needless,
                "needless_unknown": self.needless_unknown,
            },
            "probes": { "new_data": self.probes_new_data, "repeat": self.probes_repeat },
            "lost": {
                "copies": self.lost_copies,
                "segments": self.lost_segments,
                "unknown_flows": self.loss_unknown_flows,
            },
            "bursts": self.bursts,
            "episodes": self.episodes,
            "timeouts": self.timeouts,
            "syn_retransmissions": self.syn_retransmissions,
            "cost_s": self.cost,
            "cost_unknown_flows": self.cost_unknown_flows,
            "idle_s": self.idle,
            "idle_gaps": self.idle_gaps,
        );
    }
}
