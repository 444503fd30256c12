//! Extra propagation delay from given times on (a hand-over).

use super::{Answer, Asked, Channel, Passing, REORDERS, Seeds, Standing, order, times};
use crate::check::{Checked, LONGEST, require};
use crate::line::Ordering;
use crate::spec::{LinkSpec, Place};
use instant::{Span, Time};
use params::keys::{Kind, NOT_NEGATIVE_TIME, Sign, Variant, key, variant};
use params::problem::Problems;
use params::units::show_span;
use params::{Lines, Values};

/// Extra propagation delay from `at` on (the last step that has passed counts; may be negative down to minus the link's
/// delay). Packets under way are not overtaken unless `reorders`.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    pub steps: Vec<(Time, Span)>,
    pub reorders: bool,
}

impl params::Params for Params {
    const VARIANT: Variant = variant(
        "delay-step",
        "Extra propagation delay from given times on (a hand-over).",
        &[
            key(
                "steps",
                Kind::List { of: &Kind::Tuple(&[NOT_NEGATIVE_TIME, Kind::Time(Sign::Any)]), least: 1 },
                "Time and extra delay from then on, in order: `[[\"15s\", \"40ms\"], [\"30s\", \"0s\"]]`. It may be negative, \
                 down to minus the link's delay.",
            ),
            REORDERS,
        ],
    );
    fn read(v: &Values, p: &mut Problems) -> Option<Params> {
        let mut steps: Vec<(Time, Span)> = Vec::new();
        for (pair, at, by) in times(v.item("steps")?)? {
            if steps.last().is_some_and(|(before, _)| *before >= at) {
                pair.refuse(p, "does not come after the step before it");
            }
            steps.push((at, by));
        }
        Some(Params { steps, reorders: v.flag("reorders") })
    }
    fn write(&self, out: &mut Lines) {
        out.times("steps", &self.steps);
        out.flag("reorders", self.reorders);
    }
}

impl Channel for Params {
    type Law = DelayStep;
    fn law(&self, _: &str, _: Seeds) -> Option<DelayStep> {
        Some(DelayStep::new(&self.steps, self.reorders))
    }
    fn check(&self, on: &Standing) -> Checked {
        let key = on.key("steps");
        let ascending = self.steps.windows(2).all(|pair| pair[0].0 < pair[1].0);
        require(ascending, &key, "not ascending", "times that ascend")?;
        for (time, by) in &self.steps {
            let in_time = *time >= Time::ZERO && *time < Time::ZERO + LONGEST;
            require(in_time, &key, time, "not before the start")?;
            // Before the queue and at the far end nothing can be taken from the propagation any more.
            let least = if on.channel.at == Place::Wire { -on.link.delay } else { Span::ZERO };
            let allowed = "not below minus the link's delay (below zero only at the wire)";
            require(*by >= least && *by < LONGEST, &key, by, allowed)?;
        }
        Ok(())
    }
    fn fits(&self, link: &LinkSpec, v: &Values, p: &mut Problems) {
        let Some(item) = v.item("steps") else { return };
        for ((_, by), step) in self.steps.iter().zip(item.list()) {
            if link.delay.0 + by.0 < 0 {
                step.refuse(p, format!("takes more than the link's delay of {}", show_span(link.delay)));
            }
        }
    }
    fn reorders(&self) -> bool {
        self.reorders
    }
}

impl Asked for DelayStep {
    fn ask(&mut self, packet: Passing) -> Answer {
        self.answer(packet.time)
    }
}

/// Extra delay from given times on.
#[derive(Clone, Debug)]
pub(crate) struct DelayStep {
    steps: Vec<(Time, Span)>,
    /// Those that have passed; the last of them counts.
    passed: usize,
    order: Ordering,
}

impl DelayStep {
    pub fn new(steps: &[(Time, Span)], reorders: bool) -> DelayStep {
        DelayStep { steps: steps.to_vec(), passed: 0, order: order(reorders) }
    }
    #[inline]
    pub fn answer(&mut self, now: Time) -> Answer {
        while self.steps.get(self.passed).is_some_and(|(at, _)| *at <= now) {
            self.passed += 1;
        }
        let by = self.passed.checked_sub(1).map_or(Span::ZERO, |last| self.steps[last].1);
        Answer::Late(by, self.order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_step_that_has_passed_counts() {
        let steps = [(Time(100), Span(5)), (Time(200), Span(-3)), (Time(300), Span(0))];
        let mut channel = DelayStep::new(&steps, false);
        let seen: Vec<Answer> = [0, 99, 100, 199, 250, 300, 900].map(|t| channel.answer(Time(t))).into();
        let late = |by| Answer::Late(Span(by), Ordering::Kept);
        assert_eq!(seen, [late(0), late(0), late(5), late(5), late(-3), late(0), late(0)]);
    }
}
