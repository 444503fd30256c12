//! A link's way to its queue and out of it where RED, CoDel or FQ-CoDel manages it.

use super::Link;
use crate::context::{Context, lose};
use crate::facts::Cause;
use crate::key::Key;
use crate::pool::PacketId;
use crate::queue::{Admission, Coming};
use crate::watch::Watch;
use instant::Time;

impl Link {
    pub(super) fn admit_managed<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>, id: PacketId) {
        let bytes = self.weight(cx, id);
        let idle = self.is_idle(cx.key) && self.backlog().packets == 0;
        let coming = self.coming(cx, id, bytes, idle);
        let Link { extras, counters, .. } = self;
        let Some(extras) = extras else { return self.admit_plain(cx, id) };
        match extras.manager.admit(cx, counters, coming) {
            Admission::Chain => self.admit_plain(cx, id),
            Admission::Refused => lose(cx, counters, id, Cause::Aqm),
            Admission::Taken if idle => self.send_next(cx),
            Admission::Taken => self.wait_for_done(),
        }
    }

    fn coming<P: Copy, W>(&self, cx: &Context<P, W>, id: PacketId, bytes: u32, idle: bool) -> Coming {
        let idle = idle.then(|| {
            let since = self.done.time.max(Time::ZERO);
            (cx.key.time - since, self.rate.duration(bytes))
        });
        let waiting_packets = self.queue.backlog().packets;
        Coming { id, bytes, framing: self.framing, idle, waiting_packets }
    }

    /// What waits is looked at when the transmitter is free.
    fn wait_for_done(&mut self) {
        if self.backlog().packets > 0 {
            self.due = self.done;
        }
    }

    pub(super) fn take_managed<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>) -> Option<PacketId> {
        let framing = self.framing;
        let Link { extras, counters, queue, .. } = self;
        match extras {
            Some(extras) => extras.manager.take(cx, counters, queue, framing),
            None => queue.pop(cx.pool, framing),
        }
    }

    /// What waits, one after the other, for an outage that destroys it.
    pub(super) fn flush_queue<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>, cause: Cause) {
        let framing = self.framing;
        while let Some(id) = self.queue.pop(cx.pool, framing) {
            self.lose(cx, id, cause);
        }
        while let Some(id) = self.extras.as_mut().and_then(|e| e.manager.take_any_of_own(cx, framing)) {
            self.lose(cx, id, cause);
        }
        if !self.is_sending_specially() {
            self.due = Key::NEVER;
        }
    }
}
