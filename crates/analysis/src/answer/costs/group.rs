//! Episodes and pauses of one sort, put together: how many, what they cost, how sure that is.

use super::super::flow_facts::arriving;
use super::super::grounds::{self, Sure};
use super::super::reason::{Wait, wait};
use crate::rows::{EpisodeKind, EpisodeRow, FlowRow};

/// Episodes of one sort together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Group {
    pub n: u64,
    pub cost_s: f64,
    /// Episodes with a timeout, and timeouts in all.
    pub timed_out: u64,
    pub timeouts: u64,
    /// Episodes that a probe began to repair.
    pub probed: u64,
    /// Copies; where they cannot be counted, segments.
    pub lost: u64,
    /// ACKs that were lost meanwhile, and segments that were sent again although they had arrived.
    pub lost_acks: u64,
    pub needless: u64,
    /// It was never over.
    pub for_good: bool,
    /// How sure all of it is.
    pub sure: Option<Sure>,
    /// Those that had to wait for a timer, by the reason: how many, and the one with the largest window.
    waits: [(u64, Option<Wait>); 4],
}

impl Group {
    pub(super) fn add(&mut self, e: &EpisodeRow, cost_s: f64, away: bool, flow: &FlowRow) {
        self.n += 1;
        both(&mut self.sure, grounds::of_episode(flow, e));
        self.cost_s += cost_s;
        self.timed_out += u64::from(e.timeouts > 0);
        self.timeouts += u64::from(e.timeouts);
        self.lost += lost(e);
        self.probed += u64::from(e.kind == EpisodeKind::TimerProbe);
        self.lost_acks += e.lost_acks.map_or(0, u64::from);
        self.needless += u64::from(e.needless);
        // What held the sender back does not show where only its data arrives.
        let why = wait(e, away).map(|w| if arriving(flow) { Wait::NothingArrived } else { w });
        if let Some(why) = why {
            let (at, size) = match why {
                Wait::WindowSentOut { bytes, .. } => (0, bytes),
                Wait::Tail => (1, 0),
                Wait::FewInFlight => (2, 0),
                Wait::NothingArrived => (3, 0),
            };
            let (n, shown) = &mut self.waits[at];
            *n += 1;
            let larger = |w: Wait| matches!(w, Wait::WindowSentOut { bytes, .. } if bytes >= size);
            if !shown.is_some_and(larger) {
                *shown = Some(why);
            }
        }
    }
    /// The reason that more than half of the waits share.
    pub fn common_wait(&self) -> Option<Wait> {
        let all: u64 = self.waits.iter().map(|w| w.0).sum();
        self.waits.iter().find(|w| w.0 * 2 > all).and_then(|w| w.1)
    }
}

pub(super) fn lost(e: &EpisodeRow) -> u64 {
    u64::from(e.lost_copies.unwrap_or(e.lost_segments))
}

/// Idle time of one cause.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gaps {
    pub n: u64,
    pub total_s: f64,
    pub longest_s: f64,
    pub sure: Option<Sure>,
}

/// What is said of several is as sure as the least sure of them.
pub(super) fn both(all: &mut Option<Sure>, one: Sure) {
    *all = Some(all.map_or(one, |a| a.and(one)));
}
