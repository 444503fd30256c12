//! Counts over all flows, added up as the flows end.

use crate::json::flow::by_cause;
use crate::json::write::object;
use analysis::rows::{ByCause, FlowRow, Vantage};
use wire::Span;

/// What adds up.
trait Adds {
    fn add(&mut self, more: Self);
}
impl Adds for u64 {
    fn add(&mut self, more: u64) {
        *self += more;
    }
}
impl Adds for Span {
    fn add(&mut self, more: Span) {
        *self += more;
    }
}
/// Over those that are known.
impl Adds for Option<u64> {
    fn add(&mut self, more: Option<u64>) {
        if let Some(n) = more {
            *self = Some(self.unwrap_or(0) + n);
        }
    }
}
impl<const N: usize> Adds for [u64; N] {
    fn add(&mut self, more: [u64; N]) {
        self.iter_mut().zip(more).for_each(|(sum, n)| *sum += n);
    }
}
/// The largest of all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Most(pub u32);
impl Adds for Most {
    fn add(&mut self, more: Most) {
        self.0 = self.0.max(more.0);
    }
}

/// Declares the counts: each with its type and what it is of one flow.
macro_rules! sums {
    ($row:ident: $( $(#[$about:meta])* $seen:vis $name:ident: $kind:ty = $of:expr; )*) => {
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Sums { $( $(#[$about])* $seen $name: $kind ),* }

        impl Sums {
            pub fn add(&mut self, $row: &FlowRow) {
                $( self.$name.add($of); )*
            }
            /// Takes in the counts over other flows.
            pub fn take_in(&mut self, part: &Sums) {
                $( self.$name.add(part.$name); )*
            }
        }
    };
}

sums! { row:
    pub flows: u64 = 1;
    /// Those whose analysis failed.
    pub faults: u64 = row.fault.is_some().into();
    /// Those that carried any: a SYN that nobody answered is a flow, too.
    pub flows_with_data: u64 = row.first_data.is_some().into();
    /// Flows in which something was sent again or an episode stands.
    pub flows_with_trouble: u64 = (row.retransmitted_segments > 0 || row.episodes > 0).into();
    pub bytes: u64 = row.bytes;
    pub acked_bytes: u64 = row.acked_bytes;
    pub packets: u64 = row.packets;
    pub segments: u64 = row.segments;
    pub acks: u64 = row.acks;
    pub retransmitted_segments: u64 = row.retransmitted_segments;
    pub retransmitted_packets: u64 = row.retransmitted_packets;
    pub retransmitted_bytes: u64 = row.retransmitted_bytes;
    pub by_cause: ByCause = row.by_cause;
    pub needless: u64 = row.needless;
    pub needless_unknown: u64 = row.needless_unknown;
    pub probes_new_data: u64 = row.probes_new_data;
    pub probes_repeat: u64 = row.probes_repeat;
    /// Over the flows where they are known, and in how many they are not.
    pub lost_copies: Option<u64> = row.lost_copies;
    pub lost_segments: Option<u64> = row.lost_segments;
    pub loss_unknown_flows: u64 = row.lost_copies.is_none().into();
    pub bursts: u64 = row.bursts.into();
    pub episodes: u64 = row.episodes.into();
    pub timeouts: u64 = row.timeouts;
    pub syn_retransmissions: u64 = row.syn_retransmissions.into();
    pub cost: Span = row.cost.unwrap_or(Span::ZERO);
    pub cost_unknown_flows: u64 = (row.cost.is_none() && row.episodes > 0).into();
    pub idle: Span = row.idle_total;
    pub idle_gaps: u64 = row.idle_gaps.into();
    pub super_packets: u64 = row.limits.super_packets;
    pub largest_payload: Most = Most(row.limits.largest_payload);
    pub partial_checksums: u64 = row.limits.partial_checksums;
    pub missing_bytes: u64 = row.limits.missing_bytes;
    /// Bytes of the flows seen from each vantage point.
    seen_from: [u64; Vantage::ALL.len()] = seen_from(row);
}

fn seen_from(row: &FlowRow) -> [u64; Vantage::ALL.len()] {
    let mut seen_from = [0; Vantage::ALL.len()];
    seen_from[row.vantage as usize] = row.bytes.max(1);
    seen_from
}

impl Sums {
    /// Where the capture was taken: what holds for the flows that carry nine tenths of the bytes, or `mixed`. Two captures
    /// were taken at both ends, whichever sends.
    pub fn vantage(&self) -> &'static str {
        let all: u64 = self.seen_from.iter().sum();
        if self.seen_from[Vantage::Both as usize] > 0 {
            return Vantage::Both.name();
        }
        let most = Vantage::ALL.iter().max_by_key(|v| self.seen_from[**v as usize]);
        match most {
            Some(v) if all > 0 && self.seen_from[*v as usize] >= all - all / 10 => v.name(),
            _ if all > 0 => "mixed",
            _ => "unknown",
        }
    }

    /// The `totals` of the answer.
    pub fn put(&self, out: &mut Vec<u8>, connections: u64) {
        object!(out,
            "connections": connections,
            self.{ flows, flows_with_data, flows_with_trouble, bytes, acked_bytes, packets, segments, acks },
            "retransmissions": {
                "total": self.retransmitted_segments,
                "packets": self.retransmitted_packets,
                "bytes": self.retransmitted_bytes,
                "by_cause": by_cause(&self.by_cause),
                self.{ needless, needless_unknown },
            },
            "probes": { "new_data": self.probes_new_data, "repeat": self.probes_repeat },
            "lost": {
                "copies": self.lost_copies,
                "segments": self.lost_segments,
                "unknown_flows": self.loss_unknown_flows,
            },
            self.{ bursts, episodes, timeouts, syn_retransmissions },
            "cost_s": self.cost,
            "cost_unknown_flows": self.cost_unknown_flows,
            "idle_s": self.idle,
            "idle_gaps": self.idle_gaps,
        );
    }
}
