//! Who watches the network: the recorder, and what packets will need where they go.

use crate::connection::Connection;
use crate::frame::Frame;
use crate::recorder::Recorder;
use instant::{Span, Time};
use links::watch::{Backlog, Held};
use links::{Cause, Facts, LinkId, Watch};

/// The recorder, and the connections that packets come to.
pub struct Watcher<'a, R> {
    pub recorder: &'a mut R,
    pub connections: &'a [Connection],
}

impl<R: Recorder> Watch<Frame> for Watcher<'_, R> {
    const IS_ON: bool = R::IS_ON;

    #[inline(always)]
    fn coming(&self, frame: &Frame) {
        if let Some(connection) = self.connections.get(frame.connection as usize) {
            connection.prefetch(frame.forward);
        }
    }
    #[inline(always)]
    fn enqueued(&mut self, link: LinkId, now: Time, facts: &Facts, frame: &Frame, backlog: Backlog) {
        self.recorder.enqueued(link, now, facts, frame, backlog);
    }
    #[inline(always)]
    fn dequeued(
        &mut self,
        link: LinkId,
        now: Time,
        facts: &Facts,
        frame: &Frame,
        waited: Span,
        backlog: Backlog,
    ) {
        self.recorder.dequeued(link, now, facts, frame, waited, backlog);
    }
    #[inline(always)]
    fn sending(&mut self, link: LinkId, now: Time, facts: &Facts, frame: &Frame, until: Time) {
        self.recorder.sending(link, now, facts, frame, until);
    }
    #[inline(always)]
    fn held(&mut self, link: LinkId, facts: &Facts, frame: &Frame, held: Held) {
        self.recorder.held(link, facts, frame, held);
    }
    #[inline(always)]
    fn dropped(&mut self, link: LinkId, now: Time, facts: &Facts, frame: &Frame, cause: Cause) {
        self.recorder.dropped(link, now, facts, frame, cause);
    }
    #[inline(always)]
    fn marked(&mut self, link: LinkId, now: Time, facts: &Facts, frame: &Frame) {
        self.recorder.marked(link, now, facts, frame);
    }
    #[inline(always)]
    fn copied(&mut self, link: LinkId, now: Time, facts: &Facts, frame: &Frame) {
        self.recorder.copied(link, now, facts, frame);
    }
    #[inline(always)]
    fn delivered(&mut self, link: LinkId, now: Time, facts: &Facts, frame: &Frame) {
        self.recorder.delivered(link, now, facts, frame);
    }
}
