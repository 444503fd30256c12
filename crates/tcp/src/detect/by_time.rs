//! A detector that goes by time: RACK, or one of somebody's own ([`crate::own::OwnTimeDetector`]).

use super::rack::{Copy, Delivery, Horizon, Patience, Rack};
use crate::own::OwnTimeDetector;
use wire::{Span, Time};

/// Enum dispatch: at nearly every ACK of a connection with RACK there is no indirect call.
#[derive(Clone, Debug)]
pub(crate) enum ByTime {
    Rack(Rack),
    Own(Box<dyn OwnTimeDetector>),
}

impl ByTime {
    /// See [`Rack::note_plain`].
    #[inline]
    pub(crate) fn note_plain(&mut self, newest: Copy, now: Time) {
        match self {
            ByTime::Rack(rack) => rack.note_plain(newest, now),
            ByTime::Own(rule) => rule.note_plain(newest, now),
        }
    }
    pub(crate) fn note(&mut self, d: &Delivery) {
        match self {
            ByTime::Rack(rack) => rack.note(d),
            ByTime::Own(rule) => rule.note(d),
        }
    }

    /// See [`Rack::look`].
    pub(crate) fn look(&mut self, p: &Patience, now: Time) -> Option<Horizon> {
        match self {
            ByTime::Rack(rack) => rack.look(p, now),
            ByTime::Own(rule) => rule.look(p, now),
        }
    }
    /// See [`Rack::horizon`].
    pub(crate) fn horizon(&mut self, p: &Patience, now: Time) -> Option<Horizon> {
        match self {
            ByTime::Rack(rack) => Some(rack.horizon(p, now)),
            ByTime::Own(rule) => rule.horizon(p, now),
        }
    }

    /// See [`Rack::spared_since`].
    pub(crate) fn spared_since(&self, now: Time) -> Time {
        match self {
            ByTime::Rack(rack) => rack.spared_since(now),
            ByTime::Own(rule) => rule.spared_since(now),
        }
    }

    pub(crate) fn recovery_ended(&mut self) {
        match self {
            ByTime::Rack(rack) => rack.recovery_ended(),
            ByTime::Own(rule) => rule.recovery_ended(),
        }
    }
    pub(crate) fn taken_back(&mut self) {
        match self {
            ByTime::Rack(rack) => rack.taken_back(),
            ByTime::Own(rule) => rule.taken_back(),
        }
    }
    pub(crate) fn taken_back_by_dsack(&mut self) {
        match self {
            ByTime::Rack(rack) => rack.taken_back_by_dsack(),
            ByTime::Own(rule) => rule.taken_back_by_dsack(),
        }
    }

    /// Segments may come so far out of order.
    pub(crate) fn reordering(&self, dupthresh: u32) -> u32 {
        match self {
            ByTime::Rack(rack) => rack.reordering(),
            ByTime::Own(rule) => rule.reordering(dupthresh),
        }
    }
    /// How often they did.
    pub(crate) fn reordering_seen(&self) -> u32 {
        match self {
            ByTime::Rack(rack) => rack.reordering_seen(),
            ByTime::Own(rule) => rule.reordering_seen(),
        }
    }

    // ---- beside FACK, which rules of one's own are not ----

    pub(crate) fn is_beside_fack(&self) -> bool {
        matches!(self, ByTime::Rack(rack) if rack.is_beside_fack())
    }
    pub(crate) fn goes_by_order(&self) -> bool {
        matches!(self, ByTime::Rack(rack) if rack.goes_by_order())
    }
    pub(crate) fn look_beside_fack(&mut self, min_rtt: Option<Span>) -> Option<Horizon> {
        match self {
            ByTime::Rack(rack) => rack.look_beside_fack(min_rtt),
            ByTime::Own(_) => None,
        }
    }
}
