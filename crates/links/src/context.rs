//! What surrounds a link while it handles an event: lent by whoever owns the links, used by link and queue alike.

use crate::counters::Counters;
use crate::facts::{Cause, LinkId};
use crate::key::{Key, Orders};
use crate::lanes::Lanes;
use crate::pool::{PacketId, Pool};
use crate::watch::Watch;

/// Around a link: which one it is, which event is being handled, and what all links share.
pub struct Context<'a, P, W> {
    pub link: LinkId,
    /// The event that is being handled. Its time is now.
    pub key: Key,
    pub orders: &'a mut Orders,
    pub pool: &'a mut Pool<P>,
    pub lanes: &'a mut Lanes,
    pub watch: &'a mut W,
}

impl<P, W> Context<'_, P, W> {
    /// For a call that is rarely made: a context that is lent only to what is part of its caller stays in registers.
    #[inline(always)]
    pub(crate) fn copy(&mut self) -> Context<'_, P, W> {
        let Context { link, key, orders, pool, lanes, watch } = self;
        Context { link: *link, key: *key, orders, pool, lanes, watch }
    }
}

/// A packet ends here, with its cause.
pub(crate) fn lose<P: Copy, W: Watch<P>>(
    cx: &mut Context<P, W>,
    counters: &mut Counters,
    id: PacketId,
    cause: Cause,
) {
    counters.drop(cause);
    cx.watch.dropped(cx.link, cx.key.time, cx.pool.facts(id), cx.pool.content(id), cause);
    cx.pool.free(id);
}
