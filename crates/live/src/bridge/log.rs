//! What the net tells of its links while packets cross it.

use super::Inside;
use crate::frames::{FrameId, Frames, segment};
use crate::observed::Observed;
use crate::passed::{Queued, Which};
use instant::{Span, Time};
use links::watch::Backlog;
use links::{Cause, Facts, LinkId, Watch};

/// Every frame inside the bridge, and what became of those that have left it.
pub(super) struct Log {
    pub frames: Frames,
    pub which: Vec<Option<Which>>,
    pub observed: Observed,
    /// By pair of directions: its queues are recorded.
    pub queues: Vec<bool>,
}

impl Log {
    /// What was neither lost nor delivered.
    pub fn carried(&self) -> Vec<Inside> {
        let all = self.which.iter().zip((0..).map(FrameId));
        let carried = all.filter_map(|(which, frame)| {
            let (which, uses) = ((*which)?, usize::from(self.frames.uses(frame)));
            let segment = || segment(self.frames.bytes(frame), which.came);
            (uses > 0).then(|| std::iter::repeat_n(Inside { which, segment: segment() }, uses))
        });
        carried.flatten().collect()
    }

    fn queued(&mut self, link: LinkId, time: Time, frame: FrameId, waited: Option<Span>, b: Backlog) {
        if self.queues.get(link.pair()) == Some(&true)
            && let Some(which) = self.which[frame.0 as usize]
        {
            let row = Queued { time, link, waited, until: None, packets: b.packets, bytes: b.bytes, which };
            self.observed.queued.push(row);
        }
    }
}

impl Watch<FrameId> for Log {
    fn enqueued(&mut self, link: LinkId, now: Time, _: &Facts, frame: &FrameId, b: Backlog) {
        self.queued(link, now, *frame, None, b);
    }
    fn dequeued(&mut self, link: LinkId, now: Time, _: &Facts, frame: &FrameId, waited: Span, b: Backlog) {
        self.queued(link, now, *frame, Some(waited), b);
    }
    fn sending(&mut self, link: LinkId, now: Time, _: &Facts, _: &FrameId, until: Time) {
        // What is sent again was not told of just before.
        if let Some(row) = self.observed.queued.last_mut()
            && row.link == link
            && row.time == now
            && row.waited.is_some()
        {
            row.until = Some(until);
        }
    }
    fn dropped(&mut self, link: LinkId, time: Time, _: &Facts, frame: &FrameId, cause: Cause) {
        if let Some(which) = self.which[frame.0 as usize] {
            self.observed.drops.push(crate::passed::Drop { time, link, cause, which });
        }
        self.frames.release(*frame);
    }
    fn marked(&mut self, _: LinkId, _: Time, _: &Facts, frame: &FrameId) {
        self.frames.mark(*frame);
    }
    fn copied(&mut self, _: LinkId, _: Time, _: &Facts, frame: &FrameId) {
        self.frames.another(*frame);
    }
}
