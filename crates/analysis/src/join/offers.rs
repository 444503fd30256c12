//! Compares the options of a SYN where it leaves and where it arrives: a router may clamp the MSS, and a firewall remove options.

use super::Side;
use rustc_hash::FxHashMap;
use std::fmt;
use wire::{Flags, Packet};

/// The options of one SYN, or SYN-ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    pub mss: Option<u16>,
    pub window_scale: Option<u8>,
    pub sack_permitted: bool,
    pub timestamps: bool,
}

/// An offer that did not arrive as it left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rewritten {
    pub sent: Offer,
    pub arrived: Offer,
}

/// The first offer of each direction, as either capture shows it.
#[derive(Debug, Default)]
pub(super) struct Offers {
    by_direction: FxHashMap<u32, [Option<Offer>; 2]>,
}

impl Offers {
    pub fn note(&mut self, side: Side, direction: u32, p: &Packet) {
        if p.seg.flags.has(Flags::SYN) && !p.seg.options_cut {
            let seen = &mut self.by_direction.entry(direction).or_default()[side as usize];
            seen.get_or_insert(Offer {
                mss: p.seg.mss,
                window_scale: p.seg.window_scale,
                sack_permitted: p.seg.sack_permitted,
                timestamps: p.seg.timestamps.is_some(),
            });
        }
    }

    pub fn held(&self) -> u64 {
        (self.by_direction.len() * size_of::<(u32, [Option<Offer>; 2])>()) as u64
    }

    /// Those that did not arrive as they left, in order; `outward`: the direction leaves from the sender's side.
    pub fn rewritten(&self, outward: impl Fn(u32) -> Option<bool>) -> Vec<Rewritten> {
        let mut all: Vec<_> = self.by_direction.iter().collect();
        all.sort_unstable_by_key(|(direction, _)| **direction);
        let found = all.into_iter().filter_map(|(direction, seen)| {
            let [Some(here), Some(there)] = *seen else { return None };
            let (sent, arrived) = if outward(*direction)? { (here, there) } else { (there, here) };
            (sent != arrived).then_some(Rewritten { sent, arrived })
        });
        found.collect()
    }
}

impl fmt::Display for Rewritten {
    /// `MSS 1460 became 1380, SACK was taken out`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rewritten { sent, arrived } = self;
        let offered = |there: bool| if there { "was put in" } else { "was taken out" };
        let mut said = Vec::new();
        match (sent.mss, arrived.mss) {
            (a, b) if a == b => {}
            (Some(a), Some(b)) => said.push(format!("MSS {a} became {b}")),
            (_, b) => said.push(format!("the MSS {}", offered(b.is_some()))),
        }
        match (sent.window_scale, arrived.window_scale) {
            (a, b) if a == b => {}
            (Some(a), Some(b)) => said.push(format!("window scale {a} became {b}")),
            (_, b) => said.push(format!("window scaling {}", offered(b.is_some()))),
        }
        if sent.sack_permitted != arrived.sack_permitted {
            said.push(format!("SACK {}", offered(arrived.sack_permitted)));
        }
        if sent.timestamps != arrived.timestamps {
            said.push(format!("the timestamps option {}", offered(arrived.timestamps)));
        }
        f.write_str(&said.join(", "))
    }
}
