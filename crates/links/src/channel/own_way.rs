//! Some flows of a link go a way of their own (one of several equal paths): what holds them up holds up nobody else.

use super::Answer;
use crate::facts::Facts;
use crate::line::Ordering;
use instant::Time;
use std::ops::Range;

#[derive(Clone, Debug)]
pub(super) struct OwnWay {
    flows: Vec<Range<u32>>,
    /// When the last of them that was held up goes on.
    last: Time,
}

impl OwnWay {
    pub fn new(flows: Vec<Range<u32>>) -> OwnWay {
        OwnWay { flows, last: Time(i64::MIN) }
    }

    #[inline]
    pub fn takes(&self, facts: &Facts) -> bool {
        self.flows.iter().any(|range| range.contains(&facts.flow))
    }

    /// They keep their order among themselves, and leave the rest of the link's packets alone.
    pub fn keep_order(&mut self, now: Time, answer: Answer) -> Answer {
        let (goes_on, held) = match answer {
            Answer::Deliver => (now, false),
            Answer::Hold(until, Ordering::Kept) => (now.max(until), true),
            Answer::Late(by, Ordering::Kept) => (now + by, false),
            other => return other,
        };
        let goes_on = goes_on.max(self.last);
        self.last = goes_on;
        match held {
            _ if goes_on == now => Answer::Deliver,
            true => Answer::Hold(goes_on, Ordering::StepsAside),
            false => Answer::Late(goes_on - now, Ordering::StepsAside),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use instant::Span;

    #[test]
    fn what_is_held_keeps_its_order_and_steps_out_of_the_others_way() {
        let mut way = OwnWay::new(vec![2..4, 8..10]);
        assert!(way.takes(&Facts { flow: 3, ..Facts::default() }));
        assert!(!way.takes(&Facts { flow: 4, ..Facts::default() }));
        let late = |by| Answer::Late(Span(by), Ordering::Kept);
        assert_eq!(way.keep_order(Time(10), late(50)), Answer::Late(Span(50), Ordering::StepsAside));
        assert_eq!(way.keep_order(Time(20), late(10)), Answer::Late(Span(40), Ordering::StepsAside));
        assert_eq!(way.keep_order(Time(30), Answer::Deliver), Answer::Late(Span(30), Ordering::StepsAside));
        assert_eq!(way.keep_order(Time(60), Answer::Deliver), Answer::Deliver);
        let held = Answer::Hold(Time(90), Ordering::Kept);
        assert_eq!(way.keep_order(Time(70), held), Answer::Hold(Time(90), Ordering::StepsAside));
        assert_eq!(way.keep_order(Time(80), Answer::Drop), Answer::Drop);
        let free = Answer::Late(Span(5), Ordering::Overtakes);
        assert_eq!(way.keep_order(Time(80), free), free, "who may overtake does");
    }
}
