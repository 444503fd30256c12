//! A link's way to its queue and out of it where RED, CoDel or FQ-CoDel manages it.

use super::Link;
use crate::context::{Context, lose};
use crate::facts::{Cause, Ecn};
use crate::key::Key;
use crate::pool::PacketId;
use crate::queue::codel::Source;
use crate::queue::red::{Found, Verdict};
use crate::queue::{Manager, red::Red};
use crate::watch::Watch;
use instant::Time;

impl Link {
    pub(super) fn admit_managed<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>, id: PacketId) {
        let bytes = self.weight(cx, id);
        let idle = self.is_idle(cx.key) && self.backlog().packets == 0;
        let found = self.found(cx, id, bytes, idle);
        let framing = self.framing;
        let Link { extras, counters, .. } = self;
        match extras.as_mut().map(|extras| &mut extras.manager) {
            None | Some(Manager::None) => {}
            Some(Manager::Red(red)) => {
                if !survives(red, found, cx, id) {
                    return lose(cx, counters, id, Cause::Aqm);
                }
            }
            Some(Manager::Codel(_, codel)) if idle => codel.passed_idle(bytes),
            Some(Manager::Codel(_, codel)) => codel.saw(bytes),
            Some(Manager::FqCodel(fq)) => {
                fq.enqueue(cx, counters, id, bytes, framing);
                return if idle { self.send_next(cx) } else { self.wait_for_done() };
            }
        }
        self.admit_plain(cx, id);
    }

    fn found<P: Copy, W>(&self, cx: &Context<P, W>, id: PacketId, bytes: u32, idle: bool) -> Found {
        let idle = idle.then(|| {
            let since = self.done.time.max(Time::ZERO);
            (cx.key.time - since, self.rate.duration(bytes))
        });
        Found {
            waiting_packets: self.queue.backlog().packets,
            idle,
            ecn_capable: cx.pool.facts(id).ecn.is_capable(),
        }
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
        match extras.as_mut().map(|extras| &mut extras.manager) {
            None | Some(Manager::None | Manager::Red(_)) => queue.pop(cx.pool, framing),
            Some(Manager::Codel(law, codel)) => {
                codel.dequeue(*law, cx, counters, Source { queue, elsewhere_bytes: 0, framing })
            }
            Some(Manager::FqCodel(fq)) => fq.dequeue(cx, counters, framing),
        }
    }

    /// What waits, one after the other, for an outage that destroys it.
    pub(super) fn flush_queue<P: Copy, W: Watch<P>>(&mut self, cx: &mut Context<P, W>, cause: Cause) {
        let framing = self.framing;
        while let Some(id) = self.queue.pop(cx.pool, framing) {
            self.lose(cx, id, cause);
        }
        while let Some(Manager::FqCodel(fq)) = self.extras.as_mut().map(|extras| &mut extras.manager) {
            let Some(id) = fq.pop_any(cx, framing) else { break };
            self.lose(cx, id, cause);
        }
        if !self.is_sending_specially() {
            self.due = Key::NEVER;
        }
    }
}

fn survives<P: Copy, W: Watch<P>>(red: &mut Red, found: Found, cx: &mut Context<P, W>, id: PacketId) -> bool {
    match red.verdict(found) {
        Verdict::Admit => true,
        Verdict::Drop => false,
        Verdict::Mark => {
            cx.pool.facts_mut(id).ecn = Ecn::Marked;
            cx.watch.marked(cx.link, cx.key.time, cx.pool.facts(id), cx.pool.content(id));
            true
        }
    }
}
