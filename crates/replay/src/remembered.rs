//! How many duplicates a sender without SACK waited for before it repaired: its host may remember more of earlier connections
//! (Linux, tcp_metrics: the reordering that was seen, tcp_max_reordering at most) than its stack begins with.

use crate::transfer::{BURST, Event, Transfer};
use std::collections::BTreeMap;
use tcp::stack::{DetectRule, Wire};
use wire::{Flags, Time};

/// tcp_max_reordering.
const MOST: u32 = 300;

impl Transfer {
    /// The duplicates that came before most of the first repairs, if the stack waits for another number. With SACK time
    /// tells of losses before as many come: the most that a host remembers stands for all.
    pub(crate) fn remembered_duplicates(&self, stack: &Wire) -> Option<u32> {
        if !stack.send.offload {
            return None;
        }
        if self.sacks() {
            return (stack.detect.rule == DetectRule::Rack).then_some(MOST);
        }
        let mut counted = BTreeMap::<u32, u32>::new();
        let (mut una, mut max, mut duplicates) = (1, 1, 0);
        let (mut last, mut repaired) = (Time::FAR_PAST, 0);
        for event in &self.events {
            match *event {
                Event::In(time, seg) if seg.flags.has(Flags::ACK) => {
                    let acked = self.acknowledged(&seg);
                    if acked > una {
                        (una, duplicates) = (acked, 0);
                    } else if acked == una && max > una && seg.payload == 0 {
                        duplicates += 1;
                    }
                    last = time;
                }
                Event::Out(k) => {
                    let out = &self.outs[k];
                    let first = out.again && out.offset == una && repaired < una;
                    if first && duplicates > 0 && out.time - last <= BURST {
                        *counted.entry(duplicates).or_default() += 1;
                    }
                    if first {
                        repaired = max;
                    }
                    max = max.max(out.end());
                }
                _ => {}
            }
        }
        let (duplicates, times) = counted.into_iter().max_by_key(|&(_, times)| times)?;
        (times > 1 && duplicates != stack.detect.dupthresh).then_some(duplicates)
    }
}
