//! What a recorder may see of a link.

use crate::facts::{Cause, Facts, LinkId};
use instant::{Span, Time};

/// Called at each event of each link, in the order of time. Every method does nothing unless it is written, so
/// that a run without a recorder pays nothing.
#[allow(unused_variables)]
pub trait Watch<P> {
    /// Whether anything is made of what is told; where not, it is not even looked up.
    const IS_ON: bool = true;
    /// Came into the queue; the backlog counts it. A packet that finds the link idle passes through the queue too.
    #[inline(always)]
    fn enqueued(&mut self, link: LinkId, now: Time, facts: &Facts, packet: &P, backlog: Backlog) {}
    /// Left the queue and is being sent from now on; the backlog no longer counts it.
    #[inline(always)]
    fn dequeued(
        &mut self,
        link: LinkId,
        now: Time,
        facts: &Facts,
        packet: &P,
        waited: Span,
        backlog: Backlog,
    ) {
    }
    /// Is being sent from now until then; again if a link layer repeats it. Follows [`Watch::dequeued`] at once.
    #[inline(always)]
    fn sending(&mut self, link: LinkId, now: Time, facts: &Facts, packet: &P, until: Time) {}
    /// A channel keeps it back, or makes it late, from one time until another.
    #[inline(always)]
    fn held(&mut self, link: LinkId, facts: &Facts, packet: &P, held: Held) {}
    #[inline(always)]
    fn dropped(&mut self, link: LinkId, now: Time, facts: &Facts, packet: &P, cause: Cause) {}
    /// A queue set "congestion experienced".
    #[inline(always)]
    fn marked(&mut self, link: LinkId, now: Time, facts: &Facts, packet: &P) {}
    /// A channel made another copy of it; the copy is in the link from now on.
    #[inline(always)]
    fn copied(&mut self, link: LinkId, now: Time, facts: &Facts, packet: &P) {}
    /// Will most likely be delivered next, where it goes to: what belongs to it may be fetched.
    #[inline(always)]
    fn coming(&self, packet: &P) {}
    /// Arrived at the far end.
    #[inline(always)]
    fn delivered(&mut self, link: LinkId, now: Time, facts: &Facts, packet: &P) {}
}

/// How long a channel kept a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The first channel that did, by its place in the link's list.
    pub channel: u16,
    /// It was kept until a time at which all that is kept goes on; else it only took longer.
    pub kept: bool,
    pub from: Time,
    pub until: Time,
}

/// What waits in a queue; the packet being sent is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    pub packets: u32,
    /// Framing included.
    pub bytes: u64,
}

/// No recorder.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;
impl<P> Watch<P> for Unwatched {
    const IS_ON: bool = false;
}
