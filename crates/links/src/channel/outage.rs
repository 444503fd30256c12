//! An interval in which the link delivers nothing: packets are dropped, or kept until it ends.

use super::{Answer, Calendar};
use crate::random::Stream;
use crate::spec;
use instant::Time;

#[derive(Clone, Debug)]
pub(crate) struct Outage {
    calendar: Calendar,
    hold: bool,
}

impl Outage {
    pub fn new(spec: &spec::Outage, schedule: Stream) -> Outage {
        Outage { calendar: Calendar::new(spec, schedule), hold: spec.hold }
    }
    pub fn anchor(&mut self, at: Time) {
        self.calendar.anchor(at);
    }
    #[inline]
    pub fn answer(&mut self, at: Time) -> Answer {
        match self.calendar.outage_at(at) {
            None => Answer::Deliver,
            Some(end) if self.hold => Answer::Hold(end),
            Some(_) => Answer::Drop,
        }
    }
}
