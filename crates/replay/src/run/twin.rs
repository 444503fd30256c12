//! The replayed sender, and a copy of it that is asked what it would send.
//!
//! A sender can only be asked by letting it send, so that a copy is asked. A copy costs as much as the window holds. While
//! the sender makes what was recorded, the copy that was asked and the sender itself come to the same state: it is kept and
//! hears what the sender hears. Whatever else changes the sender drops it.

use std::ops::{Deref, DerefMut};
use tcp::endpoint::Endpoint;
use wire::{Segment, Time};

pub(super) struct Twin {
    end: Endpoint,
    /// In the same state as `end`, where there is one.
    copy: Option<Endpoint>,
}

impl Twin {
    pub(super) fn new(end: Endpoint) -> Twin {
        Twin { end, copy: None }
    }

    /// A copy that may be asked.
    pub(super) fn ahead(&mut self) -> Endpoint {
        self.copy.take().unwrap_or_else(|| self.end.clone())
    }

    /// A segment comes in; what it holds is read at once.
    pub(super) fn hear(&mut self, now: Time, seg: &Segment) {
        self.both(|end| {
            end.receive(now, seg);
            end.read(now, u64::MAX);
        });
    }

    pub(super) fn write_up_to(&mut self, offset: u64) {
        self.both(|end| end.write_up_to(offset));
    }

    /// `step` is what `copy` did last: the sender does the same, and the copy is kept.
    pub(super) fn do_as(&mut self, copy: Endpoint, step: impl FnOnce(&mut Endpoint)) {
        step(&mut self.end);
        self.copy = Some(copy);
    }

    fn both(&mut self, step: impl Fn(&mut Endpoint)) {
        step(&mut self.end);
        self.copy.iter_mut().for_each(step);
    }
}

impl Deref for Twin {
    type Target = Endpoint;
    fn deref(&self) -> &Endpoint {
        &self.end
    }
}

impl DerefMut for Twin {
    fn deref_mut(&mut self) -> &mut Endpoint {
        self.copy = None;
        &mut self.end
    }
}
